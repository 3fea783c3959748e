"""Figures on the page, each with its basis, source, date and interval behind it, and tables made of them."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from operator import mul
from typing import Any

import pandas as pd
from markupsafe import Markup, escape

from sweetspot.report.notation import BASIS_SIGNS, Row, interval_text, missing, number, records, text
from sweetspot.report.tables import Tables, table_of, titles_of, unit_of, works
from sweetspot.study.study import Study
from sweetspot.wording import percent

IN_A_TOOLTIP = 60  # characters of a source
ROWS = 400  # of one table in the page, the most telling first; the files beside it hold all
Cell = Markup | str
Origin = tuple[str, str, str]
Cells = str | Callable[[Row], Cell]  # of a column: a name of the table's, words for `filled`, or a function of a row
Kind = Callable[[Row], str]
NAME = re.compile(r"{(\w+)}")


@dataclass
class Provenance:
    """Origins of the figures shown, numbered in order of appearance; each figure links to its origin's row."""

    rows: dict[Origin, int] = field(default_factory=dict)
    shown: Counter[Origin] = field(default_factory=Counter)

    def cite(
        self,
        value: object,
        basis: object = "",
        source: object = "",
        date: object = "",
        low: object = None,
        high: object = None,
        unit: str = "",
        level: str = "90 %",
        digits: int = 3,
    ) -> Markup:
        """A number as a link to its origin, of which its tooltip has the beginning. Missing values are a dash."""
        told = number(value, digits)
        if told == "–":
            return Markup('<span class="none" title="no figure">–</span>')
        key = (text(basis), text(source) or "computed from this report's tables", text(date)[:10])
        row = self.rows.setdefault(key, len(self.rows) + 1)
        self.shown[key] += 1
        span = interval_text(low, high, digits)
        parts = [key[0].replace("_", "-"), f"{span} ({level})" if span else "no interval", _begun(key[1], row), key[2]]
        title = " · ".join(part for part in parts if part)
        sign = BASIS_SIGNS.get(key[0], "")
        mark = f'<i aria-hidden="true">{escape(sign)}</i>' if sign else ""
        shown = f"{escape(told)} {escape(unit)}" if unit else escape(told)
        # Every part is escaped here: Markup.format would do so too, at three times the cost for thousands of figures.
        return Markup(
            f'<a class="n {escape(key[0] or "computed")}" href="#p{row}" title="{escape(title)}">{shown}{mark}</a>'
        )

    def table(self) -> list[dict[str, object]]:
        """Rows for the page: number, basis, source, date, how often it is shown."""
        return [
            {"row": row, "basis": key[0], "source": key[1], "date": key[2], "shown": self.shown[key]}
            for key, row in self.rows.items()
        ]


def _begun(source: str, row: int) -> str:
    """The source, if it is long its beginning: some are chains of hundreds of letters, beside a thousand figures."""
    return source if len(source) <= IN_A_TOOLTIP else f"{source[:IN_A_TOOLTIP].rstrip()} … (origin {row})"


@dataclass(frozen=True)
class Part:
    """A table of the page; `classes`: one a row; `left_out`: rows that only the files hold."""

    head: tuple[str, ...]
    rows: list[list[Cell]]
    classes: list[str]
    left_out: int = 0

    def named(self, words: Callable[[str], str]) -> "Part":
        """The same with other words in its head."""
        return replace(self, head=tuple(words(name) for name in self.head))


def filled(words: str, row: Row) -> str:
    """`words` with the texts of a row's columns for their {names}."""
    return NAME.sub(lambda found: text(row.get(found[1])), words) if "{" in words else words


def _texts(cell: str) -> Callable[[Row], Cell]:
    return lambda row: text(row.get(cell)) if cell.isidentifier() else filled(cell, row)


class Cited:
    """Makes tables of a study's `tables`, each figure of which is cited in `origin`.

    `machines`: names for people by instance; one without has its key.
    """

    def __init__(
        self, tables: Tables, study: Study, origin: Provenance, machines: Mapping[str, str] | None = None
    ) -> None:
        self.tables, self.study, self.origin = tables, study, origin
        self.unit = unit_of(tables)
        self._machines, self._works, self._titles = dict(machines or {}), works(tables), titles_of(tables)

    def table(self, name: str) -> pd.DataFrame:
        """That table; empty where the study lacks it."""
        return table_of(self.tables, name)

    def part(
        self,
        table: pd.DataFrame,
        head: str,
        *cells: Cells,
        kind: Callable[[Row], str] | str = "",
        of: int | None = None,
    ) -> Part:
        """A table of the page: the first ROWS of `table`, which has `of` rows in the files.

        `head`: names parted by `|`; `kind`: makes the class of a row, or the column whose rows are good.
        """
        found = records(table.head(ROWS))
        makers = [_texts(cell) if isinstance(cell, str) else cell for cell in cells]
        rows = [[cell(row) for cell in makers] for row in found]
        classes = [("good" if kind and row[kind] else "") if isinstance(kind, str) else kind(row) for row in found]
        return Part(tuple(head.split("|")), rows, classes, (len(table) if of is None else of) - len(rows))

    def cited(
        self, name: str, source: str = "{source}", basis: str = "{basis}", date: str = "", ends: str = "", **more: Any
    ) -> Callable[[Row], Markup]:
        """Cells of figures with these origins (`filled`); their interval is `ends`_low and `ends`_high.

        `show`: a function that makes the text of a figure.
        """
        show = more.pop("show", None)

        def cell(row: Row) -> Markup:
            low, high = (row.get(f"{ends or name}_{end}") for end in ("low", "high"))
            value = None if missing(row.get(name)) else show(row[name]) if show else row[name]
            facts = filled(basis, row), filled(source, row), filled(date, row)
            return self.origin.cite(value, *facts, low, high, **more)

        return cell

    def made(self, name: str, step: str, ends: str = "", **more: Any) -> Callable[[Row], Markup]:
        """Cells of figures that a step of the workflow computed."""
        return self.cited(name, step, "{basis}", str(self.study.as_of), ends, **more)

    def each(self, step: str, *names: str) -> list[Cells]:
        """Columns of such figures."""
        return [self.made(name, step) for name in names]

    def share(self, name: str, step: str) -> Callable[[Row], Markup]:
        """Cells of shares as percentages."""
        return self.made(name, step, "none", show=partial(mul, 100), digits=2, unit="%")

    def probability(self, name: str, step: str, none: bool = False) -> Callable[[Row], Cell]:
        """Cells of shares of draws: a finite number of them never shows that something is certain.

        `none`: one that is missing is no figure that could be known.
        """
        told = self.made(name, step, "none", show=percent)
        return lambda row: "" if none and missing(row.get(name)) else told(row)

    def machine(self, instance: object) -> str:
        """The name for people of an instance."""
        return self._machines.get(text(instance), text(instance))

    def machine_of(self, row: Row) -> str:
        """That of a row's instance."""
        return self.machine(row["instance"])

    def work(self, row: Row) -> str:
        """The name for people of a row's workload."""
        return self._works.get(text(row["workload"]), text(row["workload"]))

    def model(self, row: Row) -> str:
        """The name for people of a row's model; of all models together "any"."""
        return self.study.model_title(text(row["model"]))

    def title(self, option: object) -> str:
        """The name for people of an option."""
        return self._titles.get(text(option), text(option))

    def option(self, row: Row) -> str:
        """That of a row's option."""
        return self.title(row["option"])
