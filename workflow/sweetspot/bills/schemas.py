"""Columns of the tables that a price list makes (columns.csv), as data frames and as Arrow tables."""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from sweetspot import warnings

if TYPE_CHECKING:
    from sweetspot.study.base import Ranged

FloatArray = npt.NDArray[np.float64]
Number = float | FloatArray
Columns = dict[str, Any]  # of a row, by name
SUFFIXES = ("", "_low", "_high")
TYPES: dict[str, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "flag": pa.bool_(),
    "number": pa.float64(),
    # A resale curve: years since the purchase, and the share of the purchase price.
    "curve": pa.list_(pa.struct([("years", pa.float64()), ("kept", pa.float64())])),
    "warnings": warnings.arrow_type(),
}


@cache
def csv_rows(name: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a CSV file beside this module, e.g. `lint/rules`."""
    file = Path(__file__).parent / f"{name}.csv"
    with file.open(encoding="utf-8", newline="") as text:
        return tuple(csv.DictReader(text))


def with_bounds(*names: str) -> tuple[str, ...]:
    """Return each column name, followed by those of its low and its high value."""
    return tuple(f"{name}{suffix}" for name in names for suffix in SUFFIXES)


def _column_types() -> dict[str, dict[str, pa.DataType]]:
    """Return the type of each column by table."""
    tables: dict[str, dict[str, pa.DataType]] = {}
    for row in csv_rows("columns"):
        names = with_bounds(row["column"]) if row["bounds"] else [row["column"]]
        tables.setdefault(row["table"], {}).update(dict.fromkeys(names, TYPES[row["type"]]))
    return tables


TABLES = _column_types()
COLUMN_TYPES = {name: kind for columns in TABLES.values() for name, kind in columns.items()}


def _types(columns: Sequence[str]) -> dict[str, pa.DataType]:
    """Return the type of each column; those of the throughput and extrapolation tables alone are flags."""
    return {name: COLUMN_TYPES.get(name, TYPES["flag"]) for name in columns}


def table_of(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return records as a data frame with these columns; keys that a record lacks are missing values."""
    return with_types(pd.DataFrame(list(rows), columns=list(columns)))


def with_types(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with floats, integers, and objects (texts, flags, lists), even if it is empty."""
    types = {
        name: kind.to_pandas_dtype() if kind in (TYPES["number"], TYPES["integer"]) else object
        for name, kind in _types(list(table)).items()
    }
    return table.astype(types).copy()  # A copy holds columns of one type together, which makes further ones cheap.


def to_arrow_table(table: pd.DataFrame, columns: Sequence[str]) -> pa.Table:
    """Return the columns as an Arrow table whose types do not depend on its rows."""
    schema = pa.schema(_types(columns))
    return pa.Table.from_pandas(table[list(columns)], schema, preserve_index=False).replace_schema_metadata()


def concat(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all tables below each other; the columns are those of the first."""
    filled = [table for table in tables if len(table)]
    return pd.concat(filled, ignore_index=True) if filled else tables[0]


def bounds(amount: "Ranged | None") -> FloatArray:
    """Return an amount as [value, low, high]; zeros for None."""
    return np.zeros(3) if amount is None else np.array(amount.three)


def expand(**values: Any) -> Columns:
    """Return the values of a row; an array [value, low, high] becomes three columns."""
    row: Columns = {}
    for name, value in values.items():
        is_array = isinstance(value, np.ndarray)
        row |= dict(zip(with_bounds(name), value.tolist(), strict=True)) if is_array else {name: value}
    return row


def numbers(table: pd.DataFrame, *names: str) -> list[FloatArray]:
    """Return columns as arrays, with 0 for missing values."""
    return list(table[list(names)].astype(float).fillna(0.0).to_numpy().T)
