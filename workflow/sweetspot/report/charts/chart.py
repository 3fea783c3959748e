"""What the workflow needs to know of a chart."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sweetspot.report.chart_data import ChartData
from sweetspot.report.marks import Drawing
from sweetspot.report.tables import Tables

# Sections of the page that hold charts, and what they are called in Snakemake's own report.
SECTIONS = {"plan": "Decision", "whatif": "Decision", "costs": "Costs", "speed": "Speed"}


@dataclass(frozen=True)
class Chart:
    """A chart of the page and of Snakemake's report.

    title, caption: words with {units} and {Units} (what the study counts) and {models} (how many are drawn). stage:
    `speed` is drawn again only when throughput or scaling change, `price` after every comparison. section: where on
    the page, a key of SECTIONS. needs: the table without whose rows the chart has nothing to say. fits: whether what
    it shows ranks the options of a study at all. A chart that lacks either is not on the page.
    """

    name: str
    title: str
    caption: str
    stage: Literal["speed", "price"]
    section: str
    draw: Callable[[ChartData], Drawing]
    needs: str = ""
    fits: Callable[[Tables], bool] | None = None

    @property
    def category(self) -> str:
        """Where it stands in Snakemake's own report."""
        return SECTIONS[self.section]

    def has_content(self, tables: Tables) -> bool:
        """Whether the chart says something about a study with these tables."""
        has_rows = not self.needs or len(tables.get(self.needs, ())) > 0
        return has_rows and (self.fits is None or self.fits(tables))
