"""The charts of the evidence page, in their order there; rules, page and captions take everything from CHARTS.

Rule files import this before anything runs: pandas and Altair come from `sweetspot.report`.
"""

from typing import Literal

from sweetspot.report.charts.chart import SECTIONS as SECTIONS
from sweetspot.report.charts.chart import Chart as Chart
from sweetspot.report.charts.cost_charts import BILL, FRONT
from sweetspot.report.charts.speed_charts import EFFICIENCY, THROUGHPUT

CHARTS = {chart.name: chart for chart in (FRONT, BILL, THROUGHPUT, EFFICIENCY)}


def of_stage(stage: Literal["speed", "price"]) -> list[Chart]:
    """Return the charts drawn at a stage of the workflow: after `speed` tables change, or after `price` tables do."""
    return [chart for chart in CHARTS.values() if chart.stage == stage]
