"""Columns of the tables that a price list makes (columns.csv), as data frames and as Arrow tables."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
NUMBERS = (TYPES["number"], TYPES["integer"])


def with_bounds(*names: str) -> tuple[str, ...]:
    """Return each column name, followed by those of its low and its high value."""
    return tuple(f"{name}{suffix}" for name in names for suffix in SUFFIXES)


@dataclass(frozen=True)
class PriceColumn:
    """One column of columns.csv, which has a low and a high value too if `has_bounds`.

    `path` says where a price list states it, e.g. `own.capex`.
    """

    type: pa.DataType
    has_bounds: bool
    is_money: bool
    path: str


def _read_columns() -> dict[str, dict[str, PriceColumn]]:
    tables: dict[str, dict[str, PriceColumn]] = {}
    with Path(__file__).with_name("columns.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            column = PriceColumn(TYPES[row["type"]], bool(row["bounds"]), row["unit"].startswith("USD"), row["path"])
            tables.setdefault(row["table"], {})[row["column"]] = column
    return tables


def _types(columns: Mapping[str, PriceColumn]) -> dict[str, pa.DataType]:
    names = {name: with_bounds(name) if column.has_bounds else (name,) for name, column in columns.items()}
    return {name: column.type for key, column in columns.items() for name in names[key]}


COLUMNS = _read_columns()
TABLES = {table: _types(columns) for table, columns in COLUMNS.items()}
COLUMN_TYPES = {name: kind for columns in TABLES.values() for name, kind in columns.items()}
COLUMN_TYPES |= {"headline": pa.bool_(), "logical": pa.bool_(), "energy_source": pa.string()}


def table_of(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return records as a data frame with these columns; keys that a record lacks are missing values."""
    return with_types(pd.DataFrame(list(rows), columns=list(columns)))


def with_types(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with floats, integers, and objects (texts, flags, lists), even if it is empty."""
    kinds = {name: COLUMN_TYPES.get(name, pa.float64()) for name in table.columns}
    types = {name: kind.to_pandas_dtype() if kind in NUMBERS else object for name, kind in kinds.items()}
    return table.astype(types).copy()  # A copy holds columns of one type together, which makes further ones cheap.


def to_arrow_table(table: pd.DataFrame, columns: Sequence[str]) -> pa.Table:
    """Return the columns as an Arrow table whose types do not depend on its rows."""
    kinds = {name: COLUMN_TYPES.get(name, pa.float64()) for name in columns}
    arrays = [pa.array(table[name].to_numpy(), kind, from_pandas=True) for name, kind in kinds.items()]
    return pa.Table.from_arrays(arrays, names=list(columns))


def concat(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all tables below each other; the columns are those of the first."""
    filled = [table for table in tables if len(table)]
    return pd.concat(filled, ignore_index=True) if filled else tables[0]


def bounds(amount: "Ranged | None") -> FloatArray:
    """Return an amount as [value, low, high]; zeros for None."""
    return np.zeros(3) if amount is None else np.array(amount.three)


def expand(**values: Any) -> dict[str, Any]:
    """Return the values of a row; an array [value, low, high] becomes three columns."""
    row: dict[str, Any] = {}
    for name, value in values.items():
        is_array = isinstance(value, np.ndarray)
        row |= dict(zip(with_bounds(name), value.tolist(), strict=True)) if is_array else {name: value}
    return row


def numbers(table: pd.DataFrame, *names: str) -> list[FloatArray]:
    """Return columns as arrays, with 0 for missing values."""
    return [np.nan_to_num(table[name].to_numpy(float), posinf=np.inf, neginf=-np.inf) for name in names]
