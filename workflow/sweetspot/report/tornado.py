"""The tornado: how far each assumption moves the cost ratio of the runner-up to the best."""

from collections.abc import Sequence

from markupsafe import Markup

from sweetspot.report.notation import Row, finite, missing, records, rows_where, text
from sweetspot.report.outcome import AnswerPart, Outcome
from sweetspot.report.scales import Axis
from sweetspot.report.sentences import markup
from sweetspot.report.tables import Tables, of_jobs, of_plans
from sweetspot.wording import Money

FIRST_PAGE_BARS = 5


class TornadoBar(AnswerPart):
    """One assumption, and the cost ratio of the runner-up to the best at either end of its range."""

    assumption: str
    unit: str
    low: float
    high: float
    ratio_low: float
    ratio_high: float
    turning_value: float | None
    turning_factor: float | None


class Tornado(AnswerPart):
    """The assumptions that move the answer most, the widest first."""

    best: str
    runner_up: str
    ratio: float
    can_change: bool
    same_commitment: bool
    bars: list[TornadoBar]


def bar_of(row: Row) -> TornadoBar:
    """Return the bar of the chart "what would change the answer" for a row of the table `tornado`. It has one
    assumption, and the cost ratio of runner-up to best at both ends of its range.
    """
    columns = {
        "ratio_low": "margin_low",
        "ratio_high": "margin_high",
        "turning_value": "flip_value",
        "turning_factor": "flip_factor",
    }
    return TornadoBar.of(row, **{field: finite(row, column) for field, column in columns.items()})


def tornado_of(tables: Tables, verdict: Outcome) -> Tornado | None:
    """Return the page's tornado for the verdict's work: what is compared, and the FIRST_PAGE_BARS widest bars, or None.
    None where no row of the table `tornado` for this work (or, of a single job, its models) has a ratio at both ends.
    """
    rows = [row for row in records(of_plans(tables, "tornado")) if row["workload"] == verdict.workload]
    if not rows:
        models = {row["model"] for row in rows_where(tables, "options", workload=verdict.workload)}
        rows = [row for row in records(of_jobs(tables, "tornado")) if row["model"] in models]
    bounded = [row for row in rows if None not in (finite(row, "margin_low"), finite(row, "margin_high"))]
    if not bounded:
        return None
    bars, first = [bar_of(row) for row in bounded], bounded[0]
    commitments = {row["title"]: row["commitment"] for row in rows_where(tables, "choices")}
    best = commitments.get(first.get("best_title"))
    return Tornado(
        best=text(first.get("best_title")),
        runner_up=text(first.get("rival_title")),
        ratio=first["margin"],
        can_change=any(min(bar.ratio_low, bar.ratio_high) < 1 for bar in bars),
        same_commitment=not missing(best) and best == commitments.get(first.get("rival_title")),
        bars=bars[:FIRST_PAGE_BARS],
    )


def tornado_chart(
    bars: Sequence[TornadoBar], best: str, runner_up: str, baseline: float, money: Money | None = None
) -> Markup:
    """Return the HTML of a tornado, what would change the answer: bars of the cost ratio of runner-up to best.

    Parameters
    ----------
    bars, best, runner_up
        The assumptions, from the top; names of the choice that is cheaper at ratios above 1, and of the one below.
    baseline, money
        The planned ratio, marked by a thin line; the currency to show USD in (None: the values are converted already).
    """
    ratios = [1.0, baseline, *(ratio for bar in bars for ratio in (bar.ratio_low, bar.ratio_high))]
    return markup("tornado", bars, Axis(min(ratios), max(ratios)), best, runner_up, baseline, money or Money())
