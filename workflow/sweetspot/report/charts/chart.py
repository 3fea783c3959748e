"""A chart of the evidence page: which rows it draws, how, and what the workflow needs to know of it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from sweetspot.report import pd
from sweetspot.report.chart_data import MODELS, ChartData
from sweetspot.report.finished import ASSETS
from sweetspot.report.marks import Drawing, empty
from sweetspot.report.tables import Tables, in_words
from sweetspot.wording import Money

# Sections of the page that hold charts, and what they are called in Snakemake's own report.
SECTIONS = {"whatif": "Decision", "costs": "Costs", "speed": "Speed"}
# Title and caption of each chart by its name; {units}, {Units}: what the study counts, {models}: how many are drawn.
WORDS: dict[str, tuple[str, str]] = json.loads((ASSETS / "charts.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Chart:
    """A chart of the page and of Snakemake's report. title, caption: of WORDS. stage: `speed` charts are drawn again
    only when throughput or scaling change, `price` charts after every comparison. section: part of the page, a key of
    SECTIONS. select: returns the rows to draw; plot: draws them. needs: name of a table that must have rows. fits:
    whether the chart suits a study with these tables.
    """

    name: str
    title: str
    caption: str
    stage: Literal["speed", "price"]
    section: str
    select: Callable[[ChartData], "pd.DataFrame"]
    plot: Callable[[ChartData, "pd.DataFrame"], Drawing]
    needs: str
    fits: Callable[[Tables], bool] = bool

    @property
    def category(self) -> str:
        """The heading under which the chart is listed in Snakemake's own report."""
        return SECTIONS[self.section]

    def has_content(self, tables: Tables) -> bool:
        """Return whether `tables` (by name) have the rows that the chart needs, and it fits the study."""
        return len(tables.get(self.needs, ())) > 0 and self.fits(tables)

    def draw(self, data: ChartData) -> Drawing:
        """Return the drawing of the rows of the study's tables; without rows a drawing that says `Nothing to draw`."""
        rows = self.select(data) if len(data.table(self.needs)) else pd.DataFrame()
        return empty(f"Nothing to draw: {self.title}") if rows.empty else self.plot(data, rows)

    def worded(self, unit: str, money: Money) -> "Chart":
        """Return the chart with title and caption as readers see them: `unit` (such as `images`) and the currency
        filled in. `money`: the currency in which the study shows amounts.
        """
        title, caption = (
            in_words(text.format(units=unit, Units=unit.capitalize(), models=MODELS), money)
            for text in (self.title, self.caption)
        )
        return replace(self, title=title, caption=caption)
