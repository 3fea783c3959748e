"""Numbers and bases as text for people, and the rows of tables that hold them."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sweetspot.report import pd
from sweetspot.wording import amount, times

Row = Mapping[str, Any]
LARGEST_PERCENTAGE = 2.0  # times the plan: from here on no percentage is said
BASES_FILE = Path(__file__).parent / "assets" / "bases.json"


class Basis(NamedTuple):
    """How a basis (such as `measured`) is shown: its sign in text, its shape in charts, its name, its meaning."""

    sign: str
    shape: str
    word: str
    meaning: str


# Shapes, not colours alone, tell the bases apart.
BASIS_FACTS = {name: Basis(*facts) for name, facts in json.loads(BASES_FILE.read_text(encoding="utf-8")).items()}
BASIS_SIGNS = {name: basis.sign for name, basis in BASIS_FACTS.items()}


def missing(value: object) -> bool:
    """Return whether a value of a table's row is missing (None, NaN or pandas.NA), before it is compared or shown."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA refuses to be true or false
        return True


def finite(row: Row, name: str) -> float | None:
    """Return the number in column `name` of a row ({column: value}); None if missing or infinite, as JSON needs."""
    value = row.get(name)
    return None if missing(value) or math.isinf(value) else float(value)  # type: ignore[arg-type]


def number(value: object, digits: int = 3) -> str:
    """Return a number as text for people, `digits` significant digits (`1,234`); a dash if missing; a text as it is."""
    if missing(value):
        return "–"
    if isinstance(value, str):
        return value
    size = float(value)  # type: ignore[arg-type]
    if not math.isfinite(size):
        return str(size).replace("inf", "∞").replace("-", "–")
    if size == 0:
        return "0"
    exponent = int(f"{size:.{digits - 1}e}".split("e")[1])  # of the rounded number: 99.96 is 100
    rounded = f"{size:,.{min(6, max(0, digits - 1 - exponent))}f}"
    return rounded.rstrip("0").rstrip(".") if "." in rounded and digits > 3 else rounded


def off_plan(factor: float) -> str:
    """Return in words how a value = factor x planned differs from plan: `12 % higher than planned` for 1.12."""
    if factor >= LARGEST_PERCENTAGE:
        return f"{times(factor)} times what is planned"
    return f"{100 * abs(factor - 1):.2g} % {'higher' if factor > 1 else 'lower'} than planned"


def in_unit(value: float, unit: str, name: str = "") -> str:
    """Return a number with its unit in words, for sentences: `0.63 USD an hour`.

    Parameters
    ----------
    value, unit, name
        The number; its unit, such as `USD/hour`; name of the quantity (if it ends with "a month", `/month` is dropped).
    """
    unit = unit.removesuffix("/month") if name.endswith(" a month") else unit
    return f"{amount(value)} {unit.replace('/hour', ' an hour').replace('/month', ' a month')}"


def interval_text(low: object, high: object, digits: int = 3) -> str:
    """Return the text `low to high` for tooltips; '' if both are missing; a missing upper end is written as `never`."""
    if missing(low) and missing(high):
        return ""
    return f"{number(low, digits)} to {'never' if missing(high) else number(high, digits)}"


def text(value: object) -> str:
    """Return a value as text; '' for a missing value."""
    return "" if missing(value) else str(value)


def records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a table as a list of dicts, {column: value}."""
    names, columns = [str(name) for name in table.columns], [table[name].tolist() for name in table.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def rows_where(tables: "Mapping[str, pd.DataFrame]", name: str, **values: object) -> list[dict[str, Any]]:
    """Return the rows of table `name` whose columns equal `values`, as dicts ({column: value}), so that one is looked
    up. [] if the table or a column is missing. `tables`: DataFrames by name.
    """
    table = tables.get(name)
    if table is None or not {*values} <= {*table.columns}:
        return []
    for column, value in values.items():
        table = table[table[column] == value]
    return records(table)
