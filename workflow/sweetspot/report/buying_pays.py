"""What buying and renting cost against the amount of work."""

import math
from collections.abc import Mapping

from sweetspot.report.notation import Row, finite, missing, rows_where
from sweetspot.report.outcome import AnswerPart, Outcome
from sweetspot.report.tables import Tables

STEPS_PER_PLAN, MAX_FACTOR = 5, 5.0  # points a line has up to the planned work; most times the planned work
ROUNDING = 1e-9  # a machine that is filled exactly needs no second one


class CostLine(AnswerPart):
    """What one kind of choice costs along the axis."""

    kind: str
    """keep, rent, contract, buy, mix"""
    x: list[float]
    """Times the planned work"""
    usd: list[float]
    """Cost at each of them, central estimate"""
    low: list[float]
    """5th percentile; empty: not known"""
    high: list[float]
    """95th percentile; empty: not known"""


class BuyingPays(AnswerPart):
    """When buying pays: the cheapest purchase beside the cheapest choice that binds nobody."""

    pays_from: float | None
    """Times the planned work from which buying costs less; null: not on this axis"""
    lines: list[CostLine]
    """One of what is bought, one of what is not"""


def buying_pays(tables: Tables, verdict: Outcome) -> BuyingPays | None:
    """Return the two lines of the verdict's work; None for a single job, and where nothing can be bought or rented."""
    rows = rows_where(tables, "choices", workload=verdict.workload)
    choices = {row["choice"]: row for row in rows if missing(row["why_not"]) and not missing(row["usd"])}
    cheapest = {row["commitment"]: row for row in reversed(choices.values())}
    if not {"buy", "nothing"} <= {*cheapest}:
        return None
    compared = cheapest["buy"], cheapest["nothing"]
    lines = _lines_of_phases(tables, verdict, choices, compared) or _lines_of_months(tables, verdict, compared)
    pays_from = verdict.work_factor or 0.0
    on_axis = bool(lines) and 0 < pays_from < lines[0].x[-1]
    return BuyingPays(pays_from=pays_from if on_axis else None, lines=lines) if lines else None


def _lines_of_phases(
    tables: Tables, verdict: Outcome, choices: Mapping[str, Row], compared: tuple[Row, Row]
) -> list[CostLine]:
    """Return the lines of a plan of phases: at each amount of work the cheapest machine of either kind."""
    cases = rows_where(tables, "case_figures", workload=verdict.workload)
    cases = [case for case in cases if case["option"] in choices]
    end = min(MAX_FACTOR, max(2.0, 1.4 * (verdict.work_factor or 1.0)))
    factors = [step / STEPS_PER_PLAN for step in range(int(end * STEPS_PER_PLAN + ROUNDING) + 1)]
    lines = []
    for row in compared if cases else ():
        of_kind = [case for case in cases if (case["purchase"] == "own") == (row["purchase"] == "own")]
        usd = [
            min(phases_cost_usd(case, choices[case["option"]]["hours"], factor) for case in of_kind)
            for factor in factors
        ]
        lines.append(_line(row, factors, usd))
    return lines


def _lines_of_months(tables: Tables, verdict: Outcome, compared: tuple[Row, Row]) -> list[CostLine]:
    """Return the lines of work of months through the three amounts of work of its tornado."""
    cheaper, runner_up = sorted(compared, key=lambda choice: float(choice["usd"]))
    for row in rows_where(tables, "tornado", workload=verdict.workload, quantity="jobs")[:1]:
        if None in (finite(row, "margin_low"), finite(row, "margin_high")):
            return []
        x, suffixes = [row["low"], 1.0, row["high"]], ("_low", "", "_high")
        usd = [row[f"usd{end}"] for end in suffixes]
        runner_up_usd = [row[f"usd{end}"] * row[f"margin{end}"] for end in suffixes]
        return [_line(cheaper, x, usd), _line(runner_up, x, runner_up_usd)]
    return []


def _line(row: Row, x: list[float], usd: list[float]) -> CostLine:
    """Return a line whose interval is, in proportion, that of the choice as planned."""
    low, high = ([row[end] / row["usd"] * value for value in usd] for end in ("usd_low", "usd_high"))
    return CostLine(kind=row["kind"], x=x, usd=usd, low=low, high=high)


def phases_cost_usd(row: Row, hours: float, factor: float) -> float:
    """Return what a plan of phases costs on one option, in whole machines.

    Parameters
    ----------
    row
        Its row of comparison/case_figures.parquet; without `room_hours` nobody counts the hours of its machines.
    hours
        Hours that the planned work takes on its machines.
    factor
        Times the planned work.
    """
    planned_hours, machines = finite(row, "room_hours"), row["machines"]
    if planned_hours:
        machines = max(1.0, math.ceil(hours * machines * factor / planned_hours - ROUNDING))
    return float(row["ownership_usd"] / row["machines"] * machines + row["running_usd"] * factor)
