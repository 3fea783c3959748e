"""What a claim is checked against: tables on disk, the options that it names, whose figures it rests on."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.json

from sweetspot.cells import INTERRUPTIBLE
from sweetspot.files import read_arrow, write_arrow
from sweetspot.study.claims import Base, Choice

Row = Mapping[str, Any]
LEAST_FIRST = ("usd", "hours")
TIMES = ("hours", "images_per_s")  # measures that need no price


class CannotCheckError(Exception):
    """The tables do not hold what a claim speaks of."""


class Figure(NamedTuple):
    """A figure that a check used: what of what machine ("speed", "p3.2xlarge"), how it came to be, and from where."""

    kind: str
    name: str
    basis: str
    source: str


@dataclass(frozen=True)
class Recomputed:
    """Recomputed values (one a model, or a single one), what to say of them, and the figures that they rest on.

    `ends`: lowest and highest that the rounding of the numbers used allows; None: the values themselves.
    """

    values: dict[str, float]
    note: str | None = None
    figures: tuple[Figure, ...] = ()
    ends: tuple[float, float] | None = None


@dataclass(frozen=True)
class Evidence:
    """The tables that claims are checked against, as rows by the table's name.

    `options` (comparison/options.parquet), `offers`, `costs`, `bills`, `throughput`, `extrapolation`, `efficiency`
    (results/<study>/). A table that is not there has no rows; a number that is not there is None.
    """

    tables: Mapping[str, Sequence[Row]]

    def rows(self, table: str) -> Sequence[Row]:
        """The rows of a table."""
        return self.tables.get(table, [])

    @cached_property
    def by_model(self) -> dict[str, list[Row]]:
        """The options with a throughput by model that fit, without the repetition by workload."""
        found: dict[str, dict[str, Row]] = {}
        for row in self.rows("options"):
            if (row["images_per_s"] or 0) > 0 and row.get("fits") is not False:
                found.setdefault(row["model"], {}).setdefault(row["option"], row)
        return {model: list(options.values()) for model, options in sorted(found.items())}

    @cached_property
    def offered(self) -> list[Row]:
        """All offers, whether or not a throughput is known."""
        return with_persistence(self.rows("offers"))

    @cached_property
    def boxes(self) -> dict[str, Row]:
        """The owned reference of each model."""
        return {
            model: row
            for model, rows in self.by_model.items()
            for row in rows
            if row["is_reference"] and row["purchase"] == "own"
        }

    def prices(self, options: Iterable[Row]) -> list[Row]:
        """The offers of options."""
        keys = {(row["price_list"], row["instance"], row["purchase"]) for row in options}
        return [row for row in self.offered if (row["price_list"], row["instance"], row["purchase"]) in keys]

    def models(self, wanted: Sequence[str]) -> dict[str, list[Row]]:
        """The options of the models that a claim speaks of, by default of all."""
        names = list(wanted) or list(self.by_model)
        lacking = [name for name in names if name not in self.by_model]
        if lacking or not names:
            raise CannotCheckError(f"no priced figure of {lacking[0] if lacking else 'any model'}")
        return {name: self.by_model[name] for name in names}


def with_persistence(rows: Iterable[Row]) -> list[Row]:
    """Rows of offers, costs or bills with `persistent`: whether nobody takes the machine away."""
    return [{**row, "persistent": row["purchase"] not in INTERRUPTIBLE} for row in rows]


def chosen(rows: Sequence[Row], choice: Choice) -> list[Row]:
    """The rows that fit every key of `choice`; an instance without a purchase means its persistent offer, if any."""
    given = choice.model_dump(exclude_none=True)
    found = [row for row in rows if all(row.get(key) == value for key, value in given.items())]
    if not found:
        what = ", ".join(f"{key} {value}" for key, value in given.items())
        raise CannotCheckError(f"no priced figure of {what}")
    if choice.instance and choice.purchase is None:
        return [row for row in found if row["persistent"]] or found
    return found


def known(value: float | None) -> bool:
    """Whether a number is there."""
    return value is not None and not math.isnan(value)


def number(row: Row, name: str) -> float:
    """A number of an option or offer. Raises CannotCheckError where there is none."""
    if not known(row[name]):
        raise CannotCheckError(f"{row['instance']} has no {name}")
    return float(row[name])


def best(rows: Sequence[Row], measure: str) -> Row:
    """The first row with the best figure: the least of USD and hours, the most of all others."""
    figures = [row for row in rows if known(row[measure])]
    if not figures:
        raise CannotCheckError(f"no {measure} there")
    return (min if measure in LEAST_FIRST else max)(figures, key=lambda row: row[measure])


def sentences(*parts: str | None) -> str:
    """The parts that there are, as sentences; the last one without its stop."""
    return ". ".join(part.rstrip(".") for part in parts if part)


def named(what: str, rows: Sequence[Row]) -> str:
    """The options used, by model where they differ."""
    options = sorted({row["option"] for row in rows})
    if len(options) == 1:
        return f"{what} {options[0]}"
    return f"{what} " + ", ".join(f"{row['option']} on {row['model']}" for row in rows)


OWN = "the source's own figures"
# What a figure of the source itself may be: printed there, or made of such by its own factors.
OWN_BASES = ("published", "scaled")
NAMED = 3  # machines named before the rest is counted


def cited(claims: Iterable[Base]) -> frozenset[str]:
    """The publications whose claims these are: the first word of each claim's source."""
    return frozenset(re.split(r"[,:\s]", claim.source)[0] for claim in claims)


def foreign(figures: Iterable[Figure], own: frozenset[str]) -> list[str]:
    """In words, the figures that the publications `own` do not print: each kind of origin with what it is used for."""
    origins: dict[tuple[str, str], list[str]] = {}
    for figure in dict.fromkeys(figures):
        origin = _foreign_origin(figure, own)
        if origin is not None:
            names = origins.setdefault((figure.kind, origin), [])
            names += [figure.name] if figure.name not in names else []
    return [
        f"{kind} of {_together(names)}" + (f" ({origin})" if names != [origin] else "")
        for (kind, origin), names in origins.items()
    ]


def _foreign_origin(figure: Figure, own: frozenset[str]) -> str | None:
    """Why a figure is not the source's own: its basis, or the first link of its chain that names none of `own`."""
    if figure.basis not in OWN_BASES:
        return figure.basis.replace("_", "-") or "no basis"
    parts = [part for part in figure.source.split(";") if part.strip()]
    others = [part for part in parts if not any(name in part for name in own)]
    if parts and not others:
        return None
    return re.split(r"[,:(]", others[0])[0].strip() if others else "no source"


def _together(names: Sequence[str]) -> str:
    if len(names) <= NAMED + 1:
        return ", ".join(names)
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"


def sourced(kind: str, rows: Iterable[Row]) -> tuple[Figure, ...]:
    """The figures that rows of offers, costs, throughput or efficiency are."""
    return tuple(dict.fromkeys(_figure(kind, row, "basis", "source") for row in rows))


def speeds(options: Iterable[Row]) -> tuple[Figure, ...]:
    """The speeds of options."""
    return tuple(dict.fromkeys(_figure("speed", row, "throughput_basis", "throughput_source") for row in options))


def _figure(kind: str, row: Row, basis: str, source: str) -> Figure:
    return Figure(kind, row["instance"], row.get(basis) or "", row.get(source) or "")


# Plain rows instead of pandas: importing it takes twice the time of all checks of a study.
COLUMNS = {
    "options": (
        "option", "instance", "purchase", "provider", "price_list", "persistent", "is_reference", "model",
        "images_per_s", "images_per_usd", "hours", "usd", "usd_per_hour", "throughput_basis", "throughput_source",
        "capex_usd", "fits",
        "fixed_usd_per_month", "variable_usd_per_hour",
    ),
    "offers": (
        "price_list", "instance", "purchase", "provider", "usd_per_hour", "days_per_month", "downtime_share",
        "fixed_usd_per_month", "energy_usd_per_hour", "basis", "source",
    ),
    "costs": ("price_list", "instance", "purchase", "provider", "workload", "gpus", "usd", "basis", "source"),
    "bills": ("price_list", "instance", "purchase", "workload", "gpus", "line", "usd"),
    "throughput": ("instance", "model", "batch_size", "images_per_s", "basis", "status", "source"),
    "extrapolation": ("instance", "base_instance", "model", "batch_size", "method", "images_per_s"),
    "efficiency": ("instance", "model", "batch_size", "basis", "efficiency", "source"),
}  # fmt: skip
TEXTS, NUMBERS = ("id", "kind", "text"), ("printed", "computed", "computed_low", "computed_high")
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in TEXTS),
        *((name, pa.float64()) for name in NUMBERS),
        *((name, pa.string()) for name in ("unit", "verdict", "reason", "source", "rests_on", "detail", "relation")),
        ("lead", pa.bool_()),
    ]
)


class TableFiles(Mapping[str, list[Row]]):
    """Rows by the table's name, with the COLUMNS that claims speak of; each table is read when it is first asked for.

    `files`: the Parquet file or files of each table, as in the rule's input.
    """

    def __init__(self, files: Mapping[str, str | Sequence[str]]) -> None:
        self._files = {name: [paths] if isinstance(paths, str) else list(paths) for name, paths in files.items()}
        self._read: dict[str, list[Row]] = {}

    def __getitem__(self, name: str) -> list[Row]:
        if name not in self._read:
            self._read[name] = [row for path in self._files[name] for row in _rows(path, COLUMNS[name])]
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def _rows(path: str | Path, columns: Sequence[str]) -> list[Row]:
    lacking = dict.fromkeys(columns)
    return [{**lacking, **row} for row in read_arrow(path, columns).to_pylist()]


def write_claims(rows: Sequence[Row], path: str | Path) -> None:
    """Write comparison/claims.parquet whole."""
    write_arrow(_table(rows), path)


def _table(rows: Sequence[Row]) -> pa.Table:
    # By way of JSON: pyarrow imports pandas to convert a single Python object, and reads JSON by itself.
    lines = "\n".join(json.dumps(row) for row in rows)
    if not lines:
        return SCHEMA.empty_table()
    parsing = pyarrow.json.ParseOptions(explicit_schema=SCHEMA, unexpected_field_behavior="error")
    reading = pyarrow.json.ReadOptions(use_threads=False)
    return pyarrow.json.read_json(pa.py_buffer(lines.encode()), reading, parsing).select(SCHEMA.names)
