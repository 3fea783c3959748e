"""What keeping, renting, contracts and buying cost along each control of the page."""

from collections.abc import Mapping, Sequence

from sweetspot.choice_kinds import KEEP
from sweetspot.report.notation import Row, missing, rows_where
from sweetspot.report.outcome import AnswerPart, Outcome
from sweetspot.report.scales import FAR
from sweetspot.report.tables import Tables

WORK = ("jobs", "per_month")  # quantities of the control that is the amount of work


class SweepLine(AnswerPart):
    """The cheapest choice of one kind at each value of a control."""

    kind: str
    """keep, rent, contract, buy"""
    titles: list[str]
    """The choice"""
    usd: list[float]
    """Its cost, central estimate"""
    low: list[float]
    """5th percentile"""
    high: list[float]
    """95th percentile"""
    p_cheapest: list[float]
    """Share of the samples in which it costs the least"""


class Sweep(AnswerPart):
    """Costs along one control, all else as planned."""

    quantity: str
    """Its key: jobs, per_month, months, capex_usd, rents, days_per_month, usd_per_kwh"""
    control: str
    """Name for people"""
    unit: str
    """Of its values; money in USD"""
    values: list[float]
    """Its values, each so many times the one before"""
    planned: int
    """Index of the planned value"""
    buying_pays_from: float | None
    """Times the planned work from which buying costs less; null: another control, or not on this axis"""
    lines: list[SweepLine]
    """One a kind; those that cost far more are left out"""

    def ranked(self, at: int) -> list[SweepLine]:
        """Return the lines sorted by their cost at the control's value with index `at`, the cheapest first."""
        return sorted(self.lines, key=lambda line: line.usd[at])

    @property
    def best(self) -> list[str]:
        """The kind (`buy`, ...) of the cheapest line at each value of the control."""
        return [self.ranked(at)[0].kind for at in range(len(self.values))]


def sweeps_of(tables: Tables, verdict: Outcome) -> list[Sweep]:
    """Return the costs of the verdict's work along each control (such as amount of work); [] for a single job."""
    rows = rows_where(tables, "sweeps", workload=verdict.workload)
    kinds = {row["commitment"]: row["kind"] for row in reversed(_eligible(tables, verdict))}
    sweeps = []
    for control in dict.fromkeys(row["control"] for row in rows):
        of_control = [row for row in rows if row["control"] == control]
        values = list(dict.fromkeys(row["value"] for row in of_control))
        planned = next(row["value"] for row in of_control if row["is_planned"])
        factor = verdict.work_factor or 0.0
        is_on_axis = of_control[0]["quantity"] in WORK and values[0] < factor * planned < values[-1]
        sweeps.append(
            Sweep.of(
                of_control[0],
                values=values,
                planned=values.index(planned),
                buying_pays_from=factor if is_on_axis else None,
                lines=_lines(of_control, len(values), kinds),
            )
        )
    return sweeps


def _eligible(tables: Tables, verdict: Outcome) -> Sequence[Row]:
    rows = rows_where(tables, "choices", workload=verdict.workload)
    return [row for row in rows if missing(row["why_not"]) and not missing(row["usd"])]


def _lines(rows: Sequence[Row], count: int, kinds: Mapping[str, str]) -> list[SweepLine]:
    """Return the lines of one control: those up to FAR times the cheapest as planned, and at least two."""
    costs = sorted(row["usd"] for row in rows if row["is_planned"])
    limit = max(FAR * costs[0], *costs[1:2])
    lines = []
    for commitment in dict.fromkeys(row["commitment"] for row in rows):
        line = [row for row in rows if row["commitment"] == commitment]
        if len(line) == count and any(row["is_planned"] and row["usd"] <= limit for row in line):
            kind = kinds.get(commitment, KEEP)
            columns = ("title", "usd", "usd_low", "usd_high", "p_cheapest")
            titles, usd, low, high, p_cheapest = ([row[column] for row in line] for column in columns)
            kind = "buy" if kind == "mix" else kind
            lines.append(SweepLine(kind=kind, titles=titles, usd=usd, low=low, high=high, p_cheapest=p_cheapest))
    return lines
