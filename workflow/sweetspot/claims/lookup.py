"""What a claim is checked against, and how the options that it names are found."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from sweetspot.cells import INTERRUPTIBLE
from sweetspot.study.claims import Choice

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
