"""What each assumption does to the plan that leads: how far the second-cheapest is from the best, low to high."""

from typing import TYPE_CHECKING

from sweetspot.report.assumption_bars import assumption_bars
from sweetspot.report.charts import Chart
from sweetspot.report.marks import TEXT, Drawing, empty
from sweetspot.report.tables import of_plans
from sweetspot.wording import ROUNDS

if TYPE_CHECKING:
    from sweetspot.report.chart_data import ChartData

KINDS = ("the same is cheapest", "another is cheapest")


def draw(data: "ChartData") -> Drawing:
    """The assumptions of the plan that leads, with the best at either end."""
    rows = of_plans(data.tables, "tornado")
    rows = rows[(rows["workload"] == rows["workload"].iloc[0]) & rows["margin"].notna()] if len(rows) else rows
    if rows.empty:
        return empty("No figure moves the plan against the next best option.")
    choices = data.table("choices")
    phases = rows["workload"].iloc[0] in set(choices.loc[choices["cost"] == ROUNDS, "workload"])
    best = "best" if phases else "best mix"
    more = {"winner_low": f"{best} at low{TEXT}", "winner_high": f"{best} at high{TEXT}"}
    of_months = ["USD of the best with one source beside", "the machines you own / USD of the best mix"]
    axis = "USD of the second-cheapest / USD of the answer" if phases else of_months
    return assumption_bars(rows, axis, KINDS, "the plan", more)


CHART = Chart(
    title="What each assumption does to the plan",
    caption="How the cost ratio of the second-cheapest to the cheapest changes as one assumption varies; for work of "
    "months the second is the cheapest with a single source beside the machines you own. Where another is cheapest the "
    "verdict may stay: it may be another seller.",
    stage="price",
    section="plan",
    order=2,
    draw=draw,
    needs="tornado",
    fits=lambda tables: len(of_plans(tables, "tornado")) > 0,
)
