"""The charts of the evidence page, in their order there; rules, page and captions take everything from CHARTS.

Rule files import this before anything runs: pandas and Altair come from `sweetspot.report`.
"""

from typing import Literal

from sweetspot.report.charts.chart import SECTIONS as SECTIONS
from sweetspot.report.charts.chart import Chart as Chart
from sweetspot.report.charts.fronts import FRONT
from sweetspot.report.charts.scaling import EFFICIENCY
from sweetspot.report.charts.speeds import THROUGHPUT
from sweetspot.report.charts.stacks import BILL, MIX_LOAD

CHARTS = {chart.name: chart for chart in (MIX_LOAD, FRONT, BILL, THROUGHPUT, EFFICIENCY)}


def of_stage(stage: Literal["speed", "price"]) -> list[Chart]:
    """The charts that the rule of that stage draws."""
    return [chart for chart in CHARTS.values() if chart.stage == stage]


def in_words(text: str, unit: str, models: int) -> str:
    """A title or caption with the study's unit and the number of models drawn put in."""
    return text.format(units=unit, Units=unit.capitalize(), models=models)
