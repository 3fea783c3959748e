"""Columns of the tables that a price list makes, as data frames and as Arrow tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from sweetspot.declared_tables import schema_of

if TYPE_CHECKING:
    from sweetspot.study.base import Ranged

FloatArray = npt.NDArray[np.float64]
Number = float | FloatArray
Columns = dict[str, Any]  # of a row, by name
SUFFIXES = ("", "_low", "_high")
TABLES = {name: tuple(schema_of(name).names) for name in ("costs", "offers", "fees", "bills", "plans", "price_lint")}
COLUMN_TYPES = {
    field.name: field.type
    for name in (*TABLES, "cells", "lint", "throughput", "extrapolation")
    for field in schema_of(name)
}


def with_bounds(*names: str) -> tuple[str, ...]:
    """Return each column name followed by its names with `_low` and `_high`: a, a_low, a_high, b, ..."""
    return tuple(f"{name}{suffix}" for name in names for suffix in SUFFIXES)


def table_of(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return records as a data frame with these columns, one row each, in declared types; missing keys become null."""
    return with_types(pd.DataFrame(list(rows), columns=list(columns)))


def with_types(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with columns in their declared types (facts/tables.csv; else float), so that rows can be added."""
    kinds = {name: COLUMN_TYPES.get(name, pa.float64()) for name in table.columns}
    numeric = (pa.float64(), pa.int64())
    types = {name: kind.to_pandas_dtype() if kind in numeric else object for name, kind in kinds.items()}
    return table.astype(types).copy()  # A copy holds columns of one type together, which makes further ones cheap.


def to_arrow_table(table: pd.DataFrame, columns: Sequence[str]) -> pa.Table:
    """Return the named columns as an Arrow table whose types are the declared ones, whatever the rows hold."""
    schema = pa.schema({name: COLUMN_TYPES[name] for name in columns})
    return pa.Table.from_pandas(table[list(columns)], schema).replace_schema_metadata()


def concat(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all tables below each other; the columns are those of the first."""
    filled = [table for table in tables if len(table)]
    return pd.concat(filled, ignore_index=True) if filled else tables[0]


def bounds(amount: "Ranged | None") -> FloatArray:
    """Return an amount as an array [value, low, high] in its own unit; zeros for None."""
    return np.zeros(3) if amount is None else np.array([amount.value, *amount.ends])


def expand(**values: Any) -> Columns:
    """Return a table row {column: value}; an amount [value, low, high] becomes three columns: a, a_low, a_high."""
    row: Columns = {}
    for name, value in values.items():
        is_array = isinstance(value, np.ndarray)
        row |= dict(zip(with_bounds(name), value.tolist(), strict=True)) if is_array else {name: value}
    return row


def numbers(table: pd.DataFrame, *names: str) -> list[FloatArray]:
    """Return the named columns as float arrays, one per name, with 0 for missing values."""
    return list(table[list(names)].astype(float).fillna(0.0).to_numpy().T)
