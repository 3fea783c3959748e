"""The tables of the evidence page: declared in templates/evidence_tables.yaml, filled here.

A table is a heading, a kind and a column of a results table for each of its columns. What a declaration cannot say,
such as an order of rows or a derived column, is a method `rows_...` here.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from sweetspot.bills.energy import ESTIMATED, METERED
from sweetspot.cells import INTERRUPTIBLE
from sweetspot.claims.verdicts import CONTRADICTED, FAILED, HOLDS
from sweetspot.report.cited import Provenance
from sweetspot.report.notation import BASIS_SIGNS, Row, missing, records, text
from sweetspot.report.tables import (
    Tables,
    asked_model,
    bills_decide,
    energy_columns,
    hours_differ,
    leading,
    method_name,
    table_of,
    titles_of,
    unit_of,
    works,
)
from sweetspot.study.study import Study
from sweetspot.study.yamlfile import load_yaml
from sweetspot.titles import class_title, framework_title
from sweetspot.warnings import pairs
from sweetspot.wording import ROUNDS, SHARE, percent

DECLARATIONS = Path(__file__).parent / "templates" / "evidence_tables.yaml"
ROW_LIMIT = 40
MIN_WORTH_SHARE = 0.001  # of the cost of the project: knowledge worth less is worth nothing to a buyer
PLACEHOLDER = re.compile(r"{(\w+)}")
# The columns that describe one cell of the matrix; variants of a cell differ in none of them.
CELL_COLUMNS = ("base_instance", "instance", "framework", "model", "batch_size", "gpus", "precision", "basis")
BOUNDS = {"at_least": "at least", "at_most": "at most"}  # a claim of more or less than a number
POWER_SIGNS = {"measured": BASIS_SIGNS["measured"], METERED: BASIS_SIGNS["measured"], ESTIMATED: "≈"}
CLAIM_CLASSES = {HOLDS: "good", CONTRADICTED: "bad"}

HtmlCell = Markup | str


@dataclass(frozen=True)
class Column:
    """One declared column; the header of evidence_tables.yaml describes the fields."""

    heading: str
    kind: str
    column: str
    source: str = ""
    basis: str = ""
    date: str = ""
    interval: str = ""
    unit: str = ""
    level: str = "90 %"
    digits: int = 3
    prefix: str = ""
    blank: bool = False
    only: str = ""


@dataclass(frozen=True)
class Declaration:
    """One declared table."""

    name: str
    table: str
    rows: str
    limit: int
    shade: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class EvidenceTable:
    """A table of the page: HTML cells, a class for each row, and how many rows only the files hold."""

    head: tuple[str, ...]
    rows: list[list[HtmlCell]]
    classes: list[str]
    omitted_rows: int = 0
    file: str = ""

    def with_headings(self, rename: Callable[[str], str]) -> "EvidenceTable":
        """The same table with each heading renamed."""
        return replace(self, head=tuple(rename(heading) for heading in self.head))


@lru_cache(maxsize=1)
def declarations() -> dict[str, Declaration]:
    """Every declared table by name, in the order of the file."""
    return {name: _declaration(name, facts) for name, facts in load_yaml(DECLARATIONS).items()}


def _declaration(name: str, facts: Mapping[str, Any]) -> Declaration:
    origin = {"source": facts.get("source", ""), "basis": facts.get("basis", "{basis}")}
    origin["date"] = facts.get("date", "{study_date}")
    columns = []
    for heading, declared in facts["columns"].items():
        options = {"show": declared} if isinstance(declared, str) else dict(declared)
        kind, _, column = options.pop("show").partition(" ")
        columns.append(Column(heading, kind, column, **(origin | options)))
    limit = facts.get("limit", ROW_LIMIT)
    return Declaration(name, facts["table"], facts.get("rows", ""), limit, facts.get("shade", ""), tuple(columns))


def fill_placeholders(template: str, row: Row) -> str:
    """Replace each `{column}` of a template by the text of that column."""
    return PLACEHOLDER.sub(lambda match: text(row.get(match[1])), template) if "{" in template else template


def mark_best_variants(table: pd.DataFrame) -> list[str]:
    """`best` for each row whose column `best` is true and whose cell has several variants; else an empty text."""
    if "best" not in table.columns or table["variant"].nunique() < 2:
        return [""] * len(table)
    cell_columns = [name for name in CELL_COLUMNS if name in table.columns]
    variants = table.groupby(cell_columns, dropna=False)["variant"].transform("nunique")
    return ["best" if best else "" for best in table["best"].astype(bool) & (variants > 1)]


def first_rows(table: pd.DataFrame, column: str, value: object) -> pd.DataFrame:
    """The table with the rows that have `value` in `column` before all others."""
    return table.sort_values(column, key=lambda values: values != value, kind="stable")


class EvidenceTables:
    """Builds the declared tables from the tables of one study.

    Parameters
    ----------
    tables
        The study's tables by name, money in its currency.
    study
        Its settings: date and names for people.
    origin
        Collects the origin of every figure.
    machines
        Names for people by instance; an instance without one is shown by its key.
    """

    def __init__(
        self, tables: Tables, study: Study, origin: Provenance, machines: Mapping[str, str] | None = None
    ) -> None:
        self.tables, self.study, self.origin = tables, study, origin
        self.unit = unit_of(tables)
        self._machines = dict(machines or {})
        self._titles, self._works = titles_of(tables), works(tables)
        phases = leading(tables) == ROUNDS
        self._headings = {
            "unit": self.unit,
            "best": "best" if phases else "best mix",
            "total": "in all" if phases else "a month",
            "total_column": "usd" if phases else "usd_per_month",
        }
        self._facts = {
            "timed": hours_differ(tables),
            "ranked": not bills_decide(tables),
            **dict.fromkeys(energy_columns(tables), True),
        }

    def build_all(self) -> dict[str, EvidenceTable]:
        """Every declared table by name; one whose results table the study lacks has no rows."""
        return {name: self.build(name) for name in declarations()}

    def build(self, name: str) -> EvidenceTable:
        """One declared table, cut to its limit."""
        declared = declarations()[name]
        columns = [column for column in declared.columns if not column.only or self._facts.get(column.only)]
        headings = tuple(fill_placeholders(column.heading, self._headings) for column in columns)
        available = table_of(self.tables, declared.table)
        selected = available
        if len(available) and declared.rows:
            selected = getattr(self, f"rows_{declared.rows}")(available)
        visible_rows = records(selected.head(declared.limit))
        cells = [[self._cell(column, row) for column in columns] for row in visible_rows]
        classes = [_row_class(row, declared.shade) for row in visible_rows]
        total = len(available) if declared.rows.startswith("worth") else len(selected)
        return EvidenceTable(headings, cells, classes, max(0, total - len(cells)), declared.table)

    def _cell(self, column: Column, row: Row) -> HtmlCell:
        if column.kind in ("number", "share", "probability"):
            return self._figure(column, row)
        if column.kind in ("text", "words", "day", "change"):
            return _text_cell(column, row)
        return self._name(column.kind, row)

    def _name(self, kind: str, row: Row) -> str:
        """The name for people of what a row is about."""
        if kind == "machine":
            return self._machine(row["instance"])
        if kind == "model":
            return self.study.model_title(text(row["model"]))
        if kind == "option":
            return self._title(row["option"])
        if kind == "work":
            return self._work(row)
        if kind == "provider":
            return self.study.provider_title(text(row["provider"]))
        if kind == "framework":
            return framework_title(text(row.get("framework")))
        if kind == "method":
            return method_name(row["method"])
        if kind == "warnings":
            messages = (f"{pair.rule.replace('_', ' ')}: {pair.message}" for pair in pairs(row.get("warnings")))
            return "; ".join(dict.fromkeys(messages))
        raise ValueError(f"{DECLARATIONS.name}: kind of column {kind!r} is unknown")

    def _figure(self, column: Column, row: Row) -> HtmlCell:
        """A number with its origin; a share in per cent; a probability, which no number of samples makes certain."""
        name = fill_placeholders(column.column, self._headings)
        value: Any = row.get(name)
        unit, digits = column.unit, column.digits
        if missing(value):
            if column.blank:
                return ""
            value = None
        elif column.kind == "probability":
            value = percent(value)
        elif column.kind == "share":
            value, unit, digits = 100 * value, "%", 2
        interval = column.interval or ("none" if column.kind != "number" else name)
        facts = {**row, "study_date": self.study.as_of}
        basis, source, date = (
            fill_placeholders(template, facts) for template in (column.basis, column.source, column.date)
        )
        low, high = row.get(f"{interval}_low"), row.get(f"{interval}_high")
        figure = self.origin.cite(value, basis, source, date, low, high, unit, column.level, digits)
        prefix = "" if value is None else text(row.get(column.prefix))
        return Markup("{} {}").format(prefix, figure) if prefix else figure

    def _machine(self, instance: object) -> str:
        return self._machines.get(text(instance), text(instance))

    def _title(self, option: object) -> str:
        return self._titles.get(text(option), text(option))

    def _work(self, row: Row) -> str:
        return self._works.get(text(row["workload"]), text(row["workload"]))

    # Rows of tables, with derived columns. Each gets the table and returns the rows to show, in order.

    def rows_jobs(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rows of single jobs, those of the answer's model first."""
        return first_rows(table[table["model"].notna()], "model", asked_model(self.tables))

    def rows_plans(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rows of plans."""
        return table[table["model"].isna()]

    def rows_worth_of_jobs(self, table: pd.DataFrame) -> pd.DataFrame:
        """Figures worth more than their Monte Carlo error and than MIN_WORTH_SHARE of the project."""
        rows = self.rows_jobs(table)
        large = rows["evppi_usd"] >= MIN_WORTH_SHARE * rows["project_usd"]
        return rows[large & (rows["evppi_usd_low"] > 0)]

    def rows_worth_of_plans(self, table: pd.DataFrame) -> pd.DataFrame:
        """Figures of plans that are worth anything."""
        rows = self.rows_plans(table)
        return rows[rows["evppi_usd"] > 0]

    def rows_price_changes(self, table: pd.DataFrame) -> pd.DataFrame:
        """Prices that changed, the largest change first."""
        rows = table[table["what"].isin(["price", "new", "gone"])]
        rows = rows.sort_values("change", key=lambda change: -change.abs(), kind="stable")
        machines = rows["instance"].map(self._machine)
        dates = [
            " to ".join(dict.fromkeys(text(date)[:10] for date in pair if not missing(date)))
            for pair in zip(rows["as_of_before"], rows["as_of_after"], strict=True)
        ]
        return rows.assign(option=machines + ", " + rows["purchase"].map(_as_words), days=dates)

    def rows_scenarios(self, table: pd.DataFrame) -> pd.DataFrame:
        """One row per scenario, the study as it is first; another answer is shaded."""
        changes = ["; ".join(map(text, changes)) or "nothing" for changes in table["changes"]]
        return table.assign(changes=changes, differs=~table["same_answer"].astype(bool))

    def rows_ranks(self, table: pd.DataFrame) -> pd.DataFrame:
        """Every option; those that can be interrupted are marked."""
        interruptible = table["purchase"].isin(INTERRUPTIBLE)
        table = first_rows(table, "model", asked_model(self.tables))
        if "power_basis" in table.columns:
            table = table.assign(power_sign=table["power_basis"].map(POWER_SIGNS))
        return table.assign(row_class=interruptible.map({True: "interruptible", False: ""}))

    def rows_throughput(self, table: pd.DataFrame) -> pd.DataFrame:
        """Every cell, measured ones first; failed ones are marked."""
        units = [self.unit if unit == "relative" else _as_words(unit) for unit in table["unit"]]
        failed = table["status"].isin(["failed", "oom"]).map({True: "failed", False: ""})
        table = table.assign(unit=units, row_class=failed, of_variants=mark_best_variants(table))
        return first_rows(table, "basis", "measured")

    def rows_efficiency(self, table: pd.DataFrame) -> pd.DataFrame:
        """Scaling efficiency by pair of instances."""
        machines = [table[name].map(self._machine) for name in ("base_instance", "instance")]
        return table.assign(pair=machines[0] + " → " + machines[1], of_variants=mark_best_variants(table))

    def rows_extrapolation(self, table: pd.DataFrame) -> pd.DataFrame:
        """Predictions, those used for the answer first."""
        role = table["headline"].astype(bool).map({True: "used for the answer", False: ""})
        return first_rows(table.assign(role=role), "headline", True)

    def rows_validation(self, table: pd.DataFrame) -> pd.DataFrame:
        """Errors on held-out figures; a slice that is all of a method's figures would repeat the row of all."""
        overall = table[table["slice"] == "all"]
        counts = table["method"].map(dict(zip(overall["method"], overall["rows"], strict=True)))
        rows = table[(table["slice"] == "all") | (table["rows"] != counts)]
        return rows.assign(slice_title=rows["slice"].map(self._slice_title))

    def _slice_title(self, key: object) -> str:
        """Name a slice: `gpus=2` is 2 devices, `model=vgg16` is model: VGG-16."""
        name, _, value = text(key).partition("=")
        if name == "gpus" and value:
            return f"{value} devices"
        if not value:
            return _as_words(name)
        return f"{name}: {self.study.model_title(value) if name == 'model' else value}"

    def rows_claims(self, table: pd.DataFrame) -> pd.DataFrame:
        """What does not recompute first, of that what concerns the answer."""
        gravity = {verdict: index for index, verdict in enumerate(FAILED)}
        relation = table["relation"] if "relation" in table.columns else pd.Series("", table.index)
        table = table.assign(
            _gravity=table["verdict"].map(gravity).fillna(len(FAILED)),
            bound=relation.map(BOUNDS),
            unit=table["unit"].replace("x", "×"),
            row_class=table["verdict"].map(CLAIM_CLASSES).fillna(""),
        )
        return table.sort_values("_gravity", kind="stable")

    def rows_verdict_of_jobs(self, table: pd.DataFrame) -> pd.DataFrame:
        """Verdicts on single jobs."""
        choices = table_of(self.tables, "choices")
        jobs = set(choices.loc[choices["cost"] == SHARE, "workload"]) if len(choices) else set()
        return table[table["workload"].isin(jobs)]

    def rows_choices_of_plans(self, table: pd.DataFrame) -> pd.DataFrame:
        """Every choice of the plans; the best is shaded, what can be interrupted is marked."""
        rows = table[table["cost"] != SHARE]
        classes = rows["persistent"].astype(bool).map({True: "", False: "interruptible"})
        return rows.assign(row_class=classes.mask(rows["is_best"].astype(bool), "good"))

    def rows_job_classes(self, table: pd.DataFrame) -> pd.DataFrame:
        """One job of each class on each machine; where it does not run is marked."""
        titles = table["class"].map(class_title) + table["urgent"].map({True: " (urgent)", False: ""})
        at_once = ["" if missing(count) else f"{count:g}" for count in table["jobs_at_once"]]
        failed = table["status"].map(lambda status: "" if status == "fits" else "failed")
        return table.assign(class_title=titles, at_once=at_once, row_class=failed)

    def rows_deadlines(self, table: pd.DataFrame) -> pd.DataFrame:
        """The cheapest in time for each deadline that the study or its workloads state."""
        rows = table[table["is_asked"].astype(bool)]
        jobs = [self._work(row) if missing(row["class"]) else class_title(row["class"]) for row in records(rows)]
        return rows.assign(
            job=jobs,
            cheapest=_first_nonempty(rows, "verdict", "title", "status"),
            stated_in=rows["class"].isna().map({True: "study.yaml", False: "workloads.yaml"}),
        )


def _text_cell(column: Column, row: Row) -> str:
    """A text, keys as words, a day, or a change with its sign."""
    value = row.get(column.column)
    if column.kind == "words":
        return _as_words(value)
    if column.kind == "day":
        return text(value)[:10]
    if column.kind == "change":
        return text(row["what"]) if missing(value) else f"{value:+.1%}"
    return text(value)


def _as_words(key: object) -> str:
    return text(key).replace("_", " ")


def _first_nonempty(table: pd.DataFrame, *columns: str) -> list[str]:
    """The first text of these columns that is not empty, for each row."""
    return [next(filter(None, map(text, values)), "") for values in table[list(columns)].to_numpy()]


def _row_class(row: Row, shade: str) -> str:
    """The class of a row: the text of the column `shade`, or `good` where that column is true."""
    value = row.get(shade)
    if isinstance(value, str):
        return value
    return "good" if shade and not missing(value) and value else ""
