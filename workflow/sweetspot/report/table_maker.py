"""What makes the tables of the page: titles of machines and models, citing, and the order of their rows."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from sweetspot.report.cited import Cited, Row, records, text
from sweetspot.report.order import in_order
from sweetspot.report.part import Cell, Part
from sweetspot.report.provenance import Provenance
from sweetspot.report.tables import Tables, asked_model, of_jobs
from sweetspot.report.words import titles_of, works
from sweetspot.study.study import Study
from sweetspot.warnings import pairs

OF_JOBS = ("tornado", "break_even")
ROWS = 400  # of one table in the page, the most telling first; the files beside it hold all


def words(value: object) -> str:
    """A key that is made of words, as words."""
    return text(value).replace("_", " ")


def warned(row: Row) -> str:
    """The messages of a row's warnings, the names of their rules in words."""
    said = (f"{pair.rule.replace('_', ' ')}: {pair.message}" for pair in pairs(row.get("warnings")))
    return "; ".join(dict.fromkeys(said))


class TableMaker(Cited):
    """Makes tables of the page. `machines`: names for people by instance; one without has its key."""

    def __init__(
        self, tables: Tables, study: Study, origin: Provenance, machines: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(tables, study, origin)
        self._machines = dict(machines or {})
        self._works = works(tables)

    def machine(self, instance: object) -> str:
        """The name for people of an instance."""
        return self._machines.get(text(instance), text(instance))

    def work(self, row: Row) -> str:
        """The name for people of a row's workload."""
        name = text(row["workload"])
        return self._works.get(name, name)

    def model(self, row: Row) -> str:
        """The name for people of a row's model; of all models together "any"."""
        return self.study.model_title(text(row["model"]))

    def rows_of(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table that the page shows, the most telling first."""
        table = self._shown(name)
        return records((in_order(name, table, asked_model(self.tables)) if len(table) else table).head(ROWS))

    def _shown(self, name: str) -> pd.DataFrame:
        """A table's rows on this part of the page: of the analyses those of one job; plans have tables of their own."""
        return of_jobs(self.tables, name) if name in OF_JOBS else self.table(name)

    def title(self, option: object) -> str:
        """The name for people of an option."""
        return titles_of(self.tables).get(text(option), text(option))

    def part(self, name: str, head: str, rows: Iterable[list[Cell]], classes: Iterable[str] | None = None) -> Part:
        """A table of the page of the rows of that table."""
        every = list(rows)
        kinds = list(classes) if classes is not None else [""] * len(every)
        return Part(tuple(head.split("|")), every, kinds, len(self._shown(name)) - len(every))
