"""The tornado: how far each assumption moves the cost ratio of the runner-up to the best, on both pages."""

from collections.abc import Sequence

from markupsafe import Markup
from pydantic import Field

from sweetspot.report.notation import Row, records, text
from sweetspot.report.outcome import Outcome, Part, finite
from sweetspot.report.scales import Axis
from sweetspot.report.sentences import markup
from sweetspot.report.tables import Tables, of_jobs, of_plans, table_of
from sweetspot.wording import Money

MIN_SWING = 0.005  # of the ratio: assumptions that move it less and change nothing have no bar
MAX_BARS = 10
FIRST_PAGE_BARS = 5


class TornadoBar(Part):
    """One assumption, and the cost ratio of the runner-up to the best at either end of its range."""

    assumption: str = Field(description="Name for people")
    unit: str = Field(description="Of low, high and turning_value")
    low: float = Field(description="Low end of its range")
    high: float = Field(description="High end of its range")
    ratio_low: float = Field(description="USD of the runner-up / USD of the best at the low end")
    ratio_high: float = Field(description="The same at the high end")
    turning_value: float | None = Field(description="From where on another choice is the cheapest; null: none")
    turning_factor: float | None = Field(description="The same, times what is planned")


class Tornado(Part):
    """The assumptions that move the answer most, the widest first."""

    best: str = Field(description="Title of the cheapest choice as planned")
    runner_up: str = Field(description="Title of what it is compared with")
    ratio: float = Field(description="USD of the runner-up / USD of the best as planned")
    can_change: bool = Field(description="Whether an assumption within its range makes the runner-up cheaper")
    bars: list[TornadoBar] = Field(description="One an assumption")


def bar_of(row: Row) -> TornadoBar:
    """Return the bar of a row of comparison/tornado.parquet."""
    return TornadoBar(
        assumption=str(row["assumption"]),
        unit=str(row["unit"]),
        low=float(row["low"]),
        high=float(row["high"]),
        ratio_low=float(row["margin_low"]),
        ratio_high=float(row["margin_high"]),
        turning_value=finite(row, "flip_value"),
        turning_factor=finite(row, "flip_factor"),
    )


def widest_bars(rows: Sequence[Row]) -> list[TornadoBar]:
    """Return bars of at most MAX_BARS assumptions, the widest first; what moves nothing has none."""
    moving = [row for row in rows if row["swing"] > MIN_SWING or bool(row["flips"])]
    return [bar_of(row) for row in sorted(moving, key=lambda row: -row["swing"])[:MAX_BARS]]


def tornado_of(tables: Tables, verdict: Outcome) -> Tornado | None:
    """Return the assumptions that move the verdict most; None where no assumption has a ratio at both ends."""
    plans, options = of_plans(tables, "tornado"), table_of(tables, "options")
    rows = plans[plans["workload"] == verdict.workload] if len(plans) else plans
    if rows.empty:
        jobs = of_jobs(tables, "tornado")
        models = options.loc[options["workload"] == verdict.workload, "model"] if len(options) else ()
        rows = jobs[jobs["model"].isin(models)] if len(jobs) else jobs
    bounded = [row for row in records(rows) if _is_bounded(row)]
    if not bounded:
        return None
    bars = [bar_of(row) for row in bounded]
    return Tornado(
        best=text(bounded[0].get("best_title")),
        runner_up=text(bounded[0].get("rival_title")),
        ratio=float(bounded[0]["margin"]),
        can_change=any(min(bar.ratio_low, bar.ratio_high) < 1 for bar in bars),
        bars=bars[:FIRST_PAGE_BARS],
    )


def _is_bounded(row: Row) -> bool:
    return finite(row, "margin_low") is not None and finite(row, "margin_high") is not None


def tornado_chart(
    bars: Sequence[TornadoBar], best: str, runner_up: str, baseline: float, money: Money | None = None
) -> Markup:
    """Draw the bars on one axis of the cost ratio.

    Parameters
    ----------
    bars
        The assumptions, in order.
    best, runner_up
        What is cheaper right and left of the line at a ratio of 1.
    baseline
        The ratio as planned; a thin line stands there.
    money
        The currency to show USD in; None where the values have been converted.

    Returns
    -------
    markupsafe.Markup
        HTML for a page with the styles of bars.css.
    """
    ratios = [ratio for bar in bars for ratio in (bar.ratio_low, bar.ratio_high)]
    axis = Axis(min(1.0, baseline, *ratios), max(1.0, baseline, *ratios))
    return markup("tornado", bars, axis, best, runner_up, baseline, money or Money())
