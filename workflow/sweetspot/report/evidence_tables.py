"""The tables of the evidence page: declared in templates/evidence_tables.yaml, filled by `EvidenceTables.build`."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from sweetspot.bills.energy import ESTIMATED
from sweetspot.report.cited import NO_FIGURE, Provenance
from sweetspot.report.evidence_text import RULES
from sweetspot.report.notation import BASIS_SIGNS, Row, missing, records, text
from sweetspot.report.tables import (
    AS_PRINTED,
    Tables,
    asked_model,
    bills_decide,
    energy_columns,
    hours_differ,
    in_words,
    leading,
    money_of,
    table_of,
    titles_of,
    unit_of,
    works,
)
from sweetspot.study.study import Study
from sweetspot.study.yamlfile import load_yaml
from sweetspot.titles import SCALING_METHODS, class_title, framework_title
from sweetspot.warnings import pairs
from sweetspot.wording import ROUNDS, SHARE, percent

DECLARATIONS = Path(__file__).parent / "templates" / "evidence_tables.yaml"
ROW_LIMIT = 40
FIGURES = ("number", "share", "probability")
PLACEHOLDER = re.compile(r"{([^}?]+)(?:\?([^}]*))?}")
# The columns that describe one cell of the matrix; variants of a cell differ in none of them.
CELL_COLUMNS = ["base_instance", "instance", "framework", "model", "batch_size", "gpus", "precision", "basis"]
BOUNDS = {"equals": "", "at_least": "at least", "at_most": "at most"}
POWER_SIGNS = {"measured": BASIS_SIGNS["measured"], ESTIMATED: "≈", "declared": ""}

Filter = Callable[[Any], str]
HtmlCell = Markup | str


@dataclass(frozen=True)
class Column:
    """One column of a table as evidence_tables.yaml declares it; the header of that file describes the fields."""

    heading: str
    show: str
    source: str = ""
    basis: str = "{basis}"
    date: str = "{study_date}"
    interval: str = ""
    unit: str = ""
    level: str = "90 %"
    digits: int = 3
    prefix: str = ""
    blank: bool = False
    only: str = ""


@dataclass(frozen=True)
class TableDeclaration:
    """One table of the evidence page as evidence_tables.yaml declares it: source table, filter, order, columns."""

    table: str
    columns: Sequence[Column]
    where: str = ""
    order: str = ""
    limit: int = ROW_LIMIT
    shade: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class EvidenceTable:
    """A built table of the page: headings, HTML cells by row, CSS class by row, number of rows not shown, its name."""

    head: Sequence[str]
    rows: list[list[HtmlCell]]
    classes: list[str]
    omitted_rows: int
    file: str


@lru_cache(maxsize=1)
def declarations() -> dict[str, TableDeclaration]:
    """Return {name: declared table of the evidence page} from templates/evidence_tables.yaml, in the file's order."""
    declared = {}
    for name, facts in load_yaml(DECLARATIONS).items():
        origin = {key: facts.pop(key) for key in ("source", "basis", "date") if key in facts}
        columns = [
            Column(heading, **(origin | ({"show": column} if isinstance(column, str) else column)))
            for heading, column in facts.pop("columns").items()
        ]
        declared[name] = TableDeclaration(columns=columns, **facts)
    return declared


def best_variants(table: pd.DataFrame) -> pd.Series:
    """Return a bool per row of a table of speeds: whether `best` is true and the same cell has further variants."""
    cell_columns = list(table.columns.intersection(CELL_COLUMNS))
    return table["best"].eq(True) & table.duplicated(cell_columns, keep=False)


class EvidenceTables:
    """The tables of one study's evidence page, built as templates/evidence_tables.yaml declares them. `tables` are
    result tables by name, in the currency of the page; `study` has its date, currency and titles. `origin` collects the
    origin of every figure that is shown. `machines`: titles by instance.
    """

    def __init__(
        self, tables: Tables, study: Study, origin: Provenance, machines: Mapping[str, str] | None = None
    ) -> None:
        self.tables, self.study, self.origin = tables, study, origin
        phases, unit = leading(tables) == ROUNDS, unit_of(tables)
        choices = table_of(tables, "choices")
        self._headings = {"unit": unit, "best": "best" if phases else "best mix"}
        self._facts = {
            "timed": hours_differ(tables),
            "ranked": not bills_decide(tables),
            "phases": phases,
            "months": not phases,
            **dict.fromkeys(energy_columns(tables), True),
        }
        # What `where` and `order` of a declaration may refer to.
        self._scope = {
            "asked_model": asked_model(tables),
            "job_workloads": list(choices.loc[choices["cost"] == SHARE, "workload"]) if len(choices) else [],
        }
        self._filters: dict[str, Filter] = {
            "": text,
            "machine": _lookup(machines or {}),
            "option": _lookup(titles_of(tables)),
            "work": _lookup(works(tables)),
            "method": _lookup(SCALING_METHODS),
            "bound": _lookup(BOUNDS),
            "power_sign": _lookup(POWER_SIGNS),
            "unit": _lookup({"relative": unit, "x": "×"}),
            "rule": lambda rule: RULES.get(text(rule), text(rule).replace("_", " ")),
            "words": lambda key: text(key).replace("_", " "),
            "model": lambda key: study.model_title(text(key)),
            "provider": lambda key: study.provider_title(text(key)),
            "framework": lambda key: framework_title(text(key)),
            "job_class": lambda key: class_title(text(key)),
            "day": lambda date: text(date)[:10],
            "change": lambda change: "" if missing(change) else f"{change:+.1%}",
            "list": lambda entries: "; ".join(map(text, entries)) or "nothing",
            "warnings": _warnings_text,
        }

    def build_all(self) -> dict[str, EvidenceTable]:
        """Return every declared table, built, by name; a table without results in the study has no rows."""
        return {name: self.build(name) for name in declarations()}

    def build(self, name: str) -> EvidenceTable:
        """Return the table `name` of evidence_tables.yaml as the page shows it for this study: headings and HTML cells.
        No more than the declared limit of rows; the record counts the others.
        """
        declared = declarations()[name]
        columns = [column for column in declared.columns if not column.only or self._facts.get(column.only)]
        headings = [self.fill(column.heading, self._headings) for column in columns]
        if declared.table not in AS_PRINTED:
            headings = [in_words(heading, money_of(self.study)) for heading in headings]
        selected = self._select(declared)
        visible = records(selected.head(declared.limit))
        cells = [[self._cell(column, row) for column in columns] for row in visible]
        classes = [_row_class(row, declared.shade) for row in visible]
        return EvidenceTable(headings, cells, classes, len(selected) - len(cells), declared.table)

    def fill(self, template: str, row: Row) -> str:
        """Return a text of evidence_tables.yaml with its placeholders replaced by values of `row` ({column: value}),
        for a cell. They are `{column}`, `{column|filter}`, `{column|filter/other column}` (the first that is not
        empty), or `{column?text if the column is true}`.
        """

        def replacement(match: re.Match[str]) -> str:
            """Return the text that replaces a placeholder of a declaration (match of PLACEHOLDER): the row's value."""
            alternatives, text_if_true = match.groups()
            if text_if_true is not None:
                value = row.get(alternatives)
                return text_if_true if not missing(value) and value else ""
            pipes = (alternative.partition("|") for alternative in alternatives.split("/"))
            return next(filter(None, (self._filters[name](row.get(column)) for column, _, name in pipes)), "")

        return PLACEHOLDER.sub(replacement, template) if "{" in template else template

    def _select(self, declared: TableDeclaration) -> pd.DataFrame:
        """Return the rows that a declared table of the page shows: those of its result table that match, in its order.
        The column `study_date` is added, for prices and figures without a date of their own.
        """
        table = table_of(self.tables, declared.table)
        if declared.where and len(table):
            table = table.query(declared.where, engine="python", local_dict=self._scope)
        if table.empty:
            return table
        if declared.order:
            ranks = table.eval(declared.order, engine="python", local_dict=self._scope)
            table = table.assign(_rank=ranks).sort_values("_rank", kind="stable")
        if {"best", "variant"} <= set(table.columns):
            table = table.assign(best_variant=best_variants(table))
        return table.assign(study_date=self.study.as_of)

    def _cell(self, column: Column, row: Row) -> HtmlCell:
        """Return the HTML cell of a declared `column` for a `row` of the result table, {column: value}. It is a text,
        or a number that links to its origin (basis, source, date); a missing number is a dash or empty.
        """
        kind, _, name = column.show.partition(" ")
        if kind not in FIGURES:
            return self.fill(column.show if "{" in column.show else f"{{{column.show}}}", row)
        value: Any = row.get(name)
        if missing(value):
            return "" if column.blank else NO_FIGURE
        interval = column.interval or (name if kind == "number" else "none")
        figure = self.origin.cite(
            {"number": value, "share": 100 * value, "probability": percent(value)}[kind],
            self.fill(column.basis, row),
            self.fill(column.source, row),
            self.fill(column.date, row),
            row.get(f"{interval}_low"),
            row.get(f"{interval}_high"),
            column.unit,
            column.level,
            column.digits,
        )
        prefix = self.fill(column.prefix, row)
        return Markup("{} {}").format(prefix, figure) if prefix else figure


def _lookup(names: Mapping[str, str]) -> Filter:
    """Return a function from a key to its title in `names`; a key without a title is returned as text."""
    return lambda key: names.get(text(key), text(key))


def _warnings_text(cell: object) -> str:
    """Return a cell of the column `warnings` as text, `rule: message; rule: message`."""
    return "; ".join(dict.fromkeys(f"{pair.rule.replace('_', ' ')}: {pair.message}" for pair in pairs(cell)))


def _row_class(row: Row, shade: Mapping[str, Mapping[str, str]]) -> str:
    """Return the CSS class of a row: the first in `shade` ({column: {value: class}}) for the row's values, or ''."""
    return next(filter(None, (classes.get(text(row.get(name))) for name, classes in shade.items())), "")
