"""What buying and renting cost against the amount of work, or against the days of use of a single job's machine."""

import math
from collections.abc import Callable

import pandas as pd
from pydantic import Field

from sweetspot.report.notation import Row, records
from sweetspot.report.outcome import Outcome, Part, finite
from sweetspot.report.tables import Tables, of_plans, table_of

STEPS_PER_PLAN, MAX_FACTOR = 5, 5.0  # points a line has up to the planned work; most times the planned work


class CostLine(Part):
    """What one kind of choice costs along the axis."""

    kind: str = Field(description="keep, rent, contract, buy, mix")
    x: list[float] = Field(description="Times the planned work, or days of use a month")
    usd: list[float] = Field(description="Cost at each of them, central estimate")
    low: list[float] = Field(description="5th percentile; empty: not known")
    high: list[float] = Field(description="95th percentile; empty: not known")


class BuyingPays(Part):
    """When buying pays: the cheapest purchase beside the cheapest choice that binds nobody."""

    unit: str = Field(description="Of x: times the planned work (USD in all), or days of use a month (USD a month)")
    planned: float = Field(description="Where the study stands on that axis")
    pays_from: float | None = Field(description="From where on buying costs less; null: not on this axis")
    lines: list[CostLine] = Field(description="One of what is bought, one of what is not")


BY_WORK, BY_DAYS = "times the planned work", "days of use a month"


def buying_pays(tables: Tables, verdict: Outcome) -> BuyingPays | None:
    """Return the two lines of the verdict's work; None where nothing can be bought, or nothing else taken."""
    choices = _rows_of(tables, "choices", verdict)
    choices = choices[choices["why_not"].isna() & choices["usd"].notna()] if len(choices) else choices
    bought, rented = _cheapest(choices, "buy"), _cheapest(choices, "nothing")
    if bought is None or rented is None:
        return None
    lines = _lines_of_phases(tables, choices, verdict, bought, rented) or _lines_of_months(
        tables, verdict, bought, rented
    )
    if lines:
        factor = verdict.work_factor
        on_axis = factor is not None and 0 < factor < lines[0].x[-1]
        return BuyingPays(unit=BY_WORK, planned=1.0, pays_from=factor if on_axis else None, lines=lines)
    return _by_days_of_use(tables, verdict, bought, rented)


def _rows_of(tables: Tables, name: str, verdict: Outcome) -> pd.DataFrame:
    table = table_of(tables, name)
    return table[table["workload"] == verdict.workload] if len(table) else table


def _cheapest(choices: pd.DataFrame, commitment: str) -> Row | None:
    rows = records(choices[choices["commitment"] == commitment].head(1)) if len(choices) else []
    return rows[0] if rows else None


def _line(row: Row, x: list[float], usd: list[float]) -> CostLine:
    """Return a line whose interval is, in proportion, that of the choice as planned."""
    low, high = float(row["usd_low"]) / float(row["usd"]), float(row["usd_high"]) / float(row["usd"])
    return CostLine(
        kind=row["kind"], x=x, usd=usd, low=[low * value for value in usd], high=[high * value for value in usd]
    )


def _lines_of_phases(
    tables: Tables, choices: pd.DataFrame, verdict: Outcome, bought: Row, rented: Row
) -> list[CostLine]:
    """Return the lines of a plan of phases: at each amount of work the cheapest machine of either kind."""
    figures = _rows_of(tables, "case_figures", verdict)
    hours = dict(zip(choices["choice"], choices["hours"], strict=True))
    figures = figures[figures["option"].isin(hours)] if len(figures) else figures
    if not {bought["choice"], rented["choice"]} <= set(figures.get("option", ())):
        return []
    end = min(MAX_FACTOR, max(2.0, 1.4 * (verdict.work_factor or 1.0)))
    factors = [step / STEPS_PER_PLAN for step in range(int(end * STEPS_PER_PLAN + 1e-9) + 1)]
    lines = []
    for row in (bought, rented):
        of_kind = figures[(figures["purchase"] == "own") == (row["purchase"] == "own")]
        costs = [cost_by_work(rows, hours[str(option)]) for option, rows in of_kind.groupby("option")]
        lines.append(_line(row, factors, [min(cost(factor) for cost in costs) for factor in factors]))
    return lines


def cost_by_work(rows: pd.DataFrame, hours: float) -> Callable[[float], float]:
    """Return the cost of a plan of phases on one option, in whole machines, as a function of the amount of work.

    Parameters
    ----------
    rows
        Its rows of comparison/case_figures.parquet, one a phase.
    hours
        Hours that the planned work takes on its machines.

    Returns
    -------
    callable
        USD by times the planned work.
    """
    ownership_usd, running_usd = float(rows["ownership_usd"].iloc[0]), float(rows["usd"].sum())
    machines, planned_hours = float(rows["machines"].iloc[0]), float(rows["room_hours"].iloc[0])

    def cost_usd(factor: float) -> float:
        needed = machines
        if planned_hours > 0:  # NaN: nobody counts the hours of a machine rented by the hour
            needed = max(1.0, math.ceil(hours * machines * factor / planned_hours - 1e-9))
        return ownership_usd / machines * needed + running_usd * factor

    return cost_usd


def _lines_of_months(tables: Tables, verdict: Outcome, bought: Row, rented: Row) -> list[CostLine]:
    """Return the lines of work of months through the three amounts of work of its tornado."""
    table = of_plans(tables, "tornado")
    if table.empty:
        return []
    rows = records(table[(table["workload"] == verdict.workload) & (table["quantity"] == "jobs")].head(1))
    if not rows or None in (finite(rows[0], "margin_low"), finite(rows[0], "margin_high")):
        return []
    row = rows[0]
    x = [float(row["low"]), 1.0, float(row["high"])]
    usd = [float(row[name]) for name in ("usd_low", "usd", "usd_high")]
    ratios = [float(row[name]) for name in ("margin_low", "margin", "margin_high")]
    cheaper, runner_up = sorted((bought, rented), key=lambda choice: float(choice["usd"]))
    return [
        _line(cheaper, x, usd),
        _line(runner_up, x, [cost * ratio for cost, ratio in zip(usd, ratios, strict=True)]),
    ]


def _by_days_of_use(tables: Tables, verdict: Outcome, bought: Row, rented: Row) -> BuyingPays | None:
    """Return what a month costs by days of use, for a single job."""
    options, gains = _rows_of(tables, "options", verdict), table_of(tables, "utilisation")
    owned = records(options[options["option"] == bought["choice"]].head(1)) if len(options) else []
    if not owned or gains.empty:
        return None
    rows = gains[(gains["option"] == rented["choice"]) & (gains["model"] == owned[0]["model"])]
    if rows.empty or owned[0]["option"] != rows["reference"].iloc[0]:
        return None
    hourly_usd = float(owned[0]["variable_usd_per_hour"])
    bought_usd = float(owned[0]["fixed_usd_per_month"]) + 24 * hourly_usd * rows["days"]
    x = rows["days"].tolist()
    costs = {name: (rows[name] * bought_usd).tolist() for name in ("gain", "gain_low", "gain_high")}
    return BuyingPays(
        unit=BY_DAYS,
        planned=float(owned[0]["days_per_month"]),
        pays_from=None,
        lines=[
            CostLine(kind="buy", x=x, usd=bought_usd.tolist(), low=[], high=[]),
            CostLine(kind="rent", x=x, usd=costs["gain"], low=costs["gain_low"], high=costs["gain_high"]),
        ],
    )
