"""Margin of the box at each assumption's low and high end; where it crosses 1 the winner flips."""

from typing import TYPE_CHECKING

from sweetspot.report.assumption_bars import assumption_bars
from sweetspot.report.charts import Chart
from sweetspot.report.marks import Drawing, empty
from sweetspot.wording import the

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData

KINDS = ("does not turn the answer", "turns the answer")


def draw(data: "ChartData") -> Drawing:
    """The assumptions of the answer's model."""
    rows = data.table("tornado")
    rows = rows[rows["model"] == data.model] if len(rows) else rows
    if rows.empty:
        return empty("Nothing to own in this study: no assumption of owning to vary.")
    rows = rows.assign(unit=rows["unit"].replace("images/s", f"{data.unit}/s"))
    axis = [f"USD of {the(data.title(rows['rival'].iloc[0]))} /", f"USD of {the(data.box)}"]
    return assumption_bars(rows, axis, KINDS, "the answer")


CHART = Chart(
    title="What each assumption does to the margin of owning",
    caption="What the rival costs over what is owned, at the low and high end of each assumption, all others as "
    "planned; a bar that crosses the dashed line turns the answer. What moves it less than 0.5 % is not drawn.",
    stage="price",
    section="why",
    order=2,
    draw=draw,
    needs="utilisation",
)
