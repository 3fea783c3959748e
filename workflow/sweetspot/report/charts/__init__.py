"""The charts of the page, found by looking into the modules of this folder for each `Chart` that they have.

One without a name has its module's. Rules, page and captions take everything from here, so a chart is added by adding
its module. Rule files import this before anything runs: pandas and Altair come from `sweetspot.report`.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from sweetspot.report.chart_data import ChartData
from sweetspot.report.marks import Drawing
from sweetspot.report.tables import Tables

# Sections of the page that hold charts, and what they are called in Snakemake's own report.
SECTIONS = {"plan": "Decision", "whatif": "Decision", "why": "Decision", "costs": "Costs",
            "speed": "Speed", "unmeasured": "Speed"}  # fmt: skip


@dataclass(frozen=True)
class Chart:
    """What the workflow needs to know of a chart.

    title, caption: words on the page and in Snakemake's report, with {units} and {Units} (what the study counts) and
    {models} (how many are drawn). stage: `speed` is drawn again only when throughput or scaling change, `price` after
    every comparison. section: where on the page, a key of SECTIONS; order: its place there. needs: the table without
    whose rows the chart has nothing to say, and is not shown. fits: of a study's tables, whether what it shows ranks
    the options at all; it is not on the page where it does not.
    """

    title: str
    caption: str
    stage: Literal["speed", "price"]
    section: str
    order: int
    draw: Callable[[ChartData], Drawing]
    needs: str = ""
    fits: Callable[[Tables], bool] = lambda _: True
    name: str = ""

    @property
    def category(self) -> str:
        """Where it stands in Snakemake's own report."""
        return SECTIONS[self.section]


def _found() -> dict[str, Chart]:
    modules = [importlib.import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__)]
    charts = [
        replace(chart, name=chart.name or module.__name__.rpartition(".")[2])
        for module in modules
        for chart in vars(module).values()
        if isinstance(chart, Chart)
    ]
    for chart in charts:
        if chart.section not in SECTIONS:
            places = ", ".join(SECTIONS)
            raise ValueError(f"chart {chart.name}: section {chart.section!r} is unknown; expected one of {places}")
    return {
        chart.name: chart for chart in sorted(charts, key=lambda one: (list(SECTIONS).index(one.section), one.order))
    }


CHARTS = _found()


def of_stage(stage: Literal["speed", "price"]) -> list[Chart]:
    """The charts that the rule of that stage draws."""
    return [chart for chart in CHARTS.values() if chart.stage == stage]


def in_words(text: str, unit: str, models: int) -> str:
    """A title or caption with the study's unit and the number of models drawn put in."""
    return text.format(units=unit, Units=unit.capitalize(), models=models)
