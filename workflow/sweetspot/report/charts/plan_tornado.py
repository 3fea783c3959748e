"""What each assumption does to the plan of months: the next option's USD over the best mix's, from low to high."""

from typing import TYPE_CHECKING

from sweetspot.report.assumption_bars import LEAST, assumption_bars
from sweetspot.report.charts import Chart
from sweetspot.report.marks import TEXT, Drawing, empty

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData

KINDS = ("does not turn the plan", "turns the plan")


def draw(data: "ChartData") -> Drawing:
    """The assumptions of the first workload of months, with the best mix at either end."""
    rows = data.table("plan_tornado")
    rows = rows[(rows["workload"] == rows["workload"].iloc[0]) & rows["margin"].notna()] if len(rows) else rows
    if rows.empty or not ((rows["swing"] > LEAST) | rows["flips"].astype(bool)).any():
        return empty("No figure moves the plan of months against the next best option.")
    more = {"winner_low": f"best mix at low{TEXT}", "winner_high": f"best mix at high{TEXT}"}
    axis = ["USD of the best with one source beside", "what is there / USD of the best mix"]
    return assumption_bars(rows, axis, KINDS, "the plan", more)


CHART = Chart(
    title="What each assumption does to the plan",
    caption="How many times as much as the best mix the cheapest single source beside what is there costs, at the low "
    "and high end of each assumption; where one turns the plan another mix becomes the best.",
    stage="price",
    section="plan",
    order=2,
    draw=draw,
    needs="plan_tornado",
)
