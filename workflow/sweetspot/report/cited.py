"""Figures on the page, each with its basis, source, date and interval behind it."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from sweetspot.report.notation import missing
from sweetspot.report.provenance import Provenance
from sweetspot.report.tables import Tables, table_of
from sweetspot.report.words import unit_of
from sweetspot.study.study import Study
from sweetspot.wording import percent

Row = Mapping[str, object]


def text(value: object) -> str:
    """A value as text; nothing for a missing one."""
    return "" if missing(value) else str(value)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table, each a dict by column."""
    names, columns = [str(name) for name in table.columns], [table[name].tolist() for name in table.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


class Cited:
    """Writes figures of a study's `tables`, and cites each in `origin`."""

    def __init__(self, tables: Tables, study: Study, origin: Provenance) -> None:
        self.tables, self.study, self.origin = tables, study, origin
        self.unit = unit_of(tables)

    def table(self, name: str) -> pd.DataFrame:
        """That table; empty where the study lacks it."""
        return table_of(self.tables, name)

    def made(self, row: Row, name: str, step: str, ends: str = "", **more: object) -> Markup:
        """A figure that a step of the workflow computed; its interval is `ends`_low and `ends`_high."""
        low, high = (row.get(f"{ends or name}_{end}") for end in ("low", "high"))
        facts = (row.get("basis", ""), step, self.study.as_of, low, high)
        return self.origin.cite(row.get(name), *facts, **more)  # type: ignore[arg-type]

    def share(self, row: Row, name: str, step: str) -> Markup:
        """A share as percentage."""
        value = row.get(name)
        basis = row.get("basis", "")
        hundredths = None if missing(value) else 100 * float(value)  # type: ignore[arg-type]
        return self.origin.cite(hundredths, basis, step, self.study.as_of, digits=2, unit="%")

    def probability(self, row: Row, name: str, step: str) -> Markup:
        """A share of draws: a finite number of them never shows that something is certain."""
        value = row.get(name)
        words = None if missing(value) else percent(float(value))  # type: ignore[arg-type]
        return self.origin.cite(words, row.get("basis", ""), step, self.study.as_of)
