"""What each assumption does to the plan of months: the next option's USD over the best mix's, from low to high."""

from typing import TYPE_CHECKING

from sweetspot.report.assumption_bars import assumption_bars
from sweetspot.report.charts import Chart
from sweetspot.report.marks import TEXT, Drawing, empty

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData

KINDS = ("does not turn the plan", "turns the plan")
SHOWN = 12  # assumptions, the widest first; the table has all
LEAST = 0.005  # of the margin: what moves it less is not drawn


def draw(data: "ChartData") -> Drawing:
    """The assumptions of the first workload of months, with the best mix at either end."""
    rows = data.table("plan_tornado")
    rows = rows[(rows["workload"] == rows["workload"].iloc[0]) & rows["margin"].notna()] if len(rows) else rows
    rows = rows[(rows["swing"] > LEAST) | rows["flips"].astype(bool)].head(SHOWN) if len(rows) else rows
    if rows.empty:
        return empty("No figure moves the plan of months against the next best option.")
    more = {"winner_low": f"best mix at low{TEXT}", "winner_high": f"best mix at high{TEXT}"}
    return assumption_bars(rows, "USD of the next pure option / USD of this mix", KINDS, "the plan", more)


CHART = Chart(
    title="What each assumption does to the plan",
    caption="How many times the best mix the cheapest pure option beside what is there costs, at the low and high end "
    "of each assumption; in one that turns the plan another mix becomes the best.",
    stage="price",
    section="plan",
    order=2,
    draw=draw,
    needs="plan_tornado",
)
