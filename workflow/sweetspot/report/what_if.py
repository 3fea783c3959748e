"""What keeping, renting, contracts and buying cost along each control of the page."""

from collections.abc import Mapping

import pandas as pd

from sweetspot.choice_kinds import KEEP
from sweetspot.report.notation import missing, records, rows_where
from sweetspot.report.outcome import AnswerPart, Outcome
from sweetspot.report.scales import FAR
from sweetspot.report.tables import Tables, table_of

WORK = ("jobs", "per_month")  # quantities of the control that is the amount of work


class SweepLine(AnswerPart):
    """The cheapest choice of one kind at each value of a control."""

    kind: str
    titles: list[str]
    usd: list[float]
    low: list[float]
    high: list[float]
    p_cheapest: list[float]


class Sweep(AnswerPart):
    """Costs along one control, all else as planned."""

    quantity: str
    control: str
    unit: str
    values: list[float]
    planned: int
    buying_pays_from: float | None
    lines: list[SweepLine]

    def ranked(self, at: int) -> list[SweepLine]:
        """Return the lines in the order of their cost at the control's value with index `at`, the cheapest first."""
        return sorted(self.lines, key=lambda line: line.usd[at])

    @property
    def best(self) -> list[str]:
        """The kind (`buy`, ...) of the cheapest line at each value of the control."""
        return [self.ranked(at)[0].kind for at in range(len(self.values))]


def sweeps_of(tables: Tables, verdict: Outcome) -> list[Sweep]:
    """Return the costs of the verdict's work along each control, for the page's sliders; [] for a single job. The table
    `sweeps` has a row per workload, control, value and commitment: USD with its range, title, p_cheapest.
    """
    table = table_of(tables, "sweeps", "workload", "control")
    choices = rows_where(tables, "choices", workload=verdict.workload)
    eligible = [row for row in choices if missing(row["why_not"]) and not missing(row["usd"])]
    kinds = {row["commitment"]: "buy" if row["kind"] == "mix" else row["kind"] for row in reversed(eligible)}
    sweeps = []
    for _, rows in table[table["workload"] == verdict.workload].groupby("control", sort=False):
        values, first = rows["value"].unique().tolist(), records(rows.head(1))[0]
        planned = values.index(rows.loc[rows["is_planned"], "value"].iloc[0])
        factor = verdict.work_factor or 0.0
        is_on_axis = first["quantity"] in WORK and values[0] < factor * values[planned] < values[-1]
        pays_from = factor if is_on_axis else None
        lines = _lines(rows, len(values), planned, kinds)
        sweeps.append(Sweep.of(first, values=values, planned=planned, buying_pays_from=pays_from, lines=lines))
    return sweeps


def _lines(rows: pd.DataFrame, count: int, planned: int, kinds: Mapping[str, str]) -> list[SweepLine]:
    """Return the lines of the chart of costs along one control: the cheapest choice of each commitment (buy, rent ...).
    `rows`: of the table `sweeps`; `count`: number of values that a line must have; `kinds`: by commitment. A line above
    FAR times the cheapest at index `planned` is left out, but for the runner-up.
    """
    lines = {str(name): line for name, line in rows.groupby("commitment", sort=False) if len(line) == count}
    costs = {name: line["usd"].iloc[planned] for name, line in lines.items()}
    planned_usd = sorted(costs.values())
    limit = max([FAR * planned_usd[0], *planned_usd[1:2]])
    return [
        SweepLine(
            kind=kinds.get(name, KEEP),
            titles=line["title"].tolist(),
            usd=line["usd"].tolist(),
            low=line["usd_low"].tolist(),
            high=line["usd_high"].tolist(),
            p_cheapest=line["p_cheapest"].tolist(),
        )
        for name, line in lines.items()
        if costs[name] <= limit
    ]
