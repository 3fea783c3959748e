"""What each assumption does to the plan that leads: the next option's USD over the best one's, from low to high."""

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
    """The assumptions of the plan that leads, with the best at either end."""
    rows = data.table("plan_tornado")
    rows = rows[(rows["workload"] == rows["workload"].iloc[0]) & rows["margin"].notna()] if len(rows) else rows
    phases = len(rows) > 0 and rows["workload"].iloc[0] in set(data.table("plan_options").get("workload", ()))
    rows = rows[(rows["swing"] > LEAST) | rows["flips"].astype(bool)].head(SHOWN) if len(rows) else rows
    if rows.empty:
        return empty("No figure moves the plan against the next best option.")
    best = "best" if phases else "best mix"
    more = {"winner_low": f"{best} at low{TEXT}", "winner_high": f"{best} at high{TEXT}"}
    axis = "USD of the next / USD of the answer" if phases else "USD of the next pure option / USD of this mix"
    return assumption_bars(rows, axis, KINDS, "the plan", more)


CHART = Chart(
    title="What each assumption does to the plan",
    caption="How many times as much as the best the next costs, at the low and high end of each assumption; for work "
    "of months the next is the cheapest pure option beside what is there. In one that turns the plan another becomes "
    "the best.",
    stage="price",
    section="plan",
    order=2,
    draw=draw,
    needs="plan_tornado",
)
