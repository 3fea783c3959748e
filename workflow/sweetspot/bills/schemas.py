"""Columns of the tables that a price list makes, as data frames and as Arrow tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from sweetspot import warnings

if TYPE_CHECKING:
    from sweetspot.study.terms import Amount

FloatArray = npt.NDArray[np.float64]
SUFFIXES = ("", "_low", "_high")


def with_bounds(*names: str) -> tuple[str, ...]:
    """Return each column name, followed by those of its low and its high value."""
    return tuple(f"{name}{suffix}" for name in names for suffix in SUFFIXES)


TEXT_COLUMNS = (
    "price_list", "instance", "purchase", "provider", "gpu", "framework", "model", "precision", "variant", "basis",
    "status", "source", "as_of", "workload", "plan", "phase", "line", "charged", "name", "unit", "severity", "rule",
    "message", "price_list_title", "power_basis", "power_source", "grid_source", "energy_lacks", "side_basis",
    "side_source", "trend", "trend_kind", "energy_source", "speed_of", "offer_until",
)  # fmt: skip
INTEGER_COLUMNS = ("batch_size", "gpus", "jobs", "month")
FLAG_COLUMNS = ("prorated", "spot_beats_on_demand", "headline", "logical", "offer_ended")
# Every other column holds floating-point numbers.
COLUMN_TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(TEXT_COLUMNS, pa.string()),
    **dict.fromkeys(INTEGER_COLUMNS, pa.int64()),
    **dict.fromkeys(FLAG_COLUMNS, pa.bool_()),
    # A resale curve: years since the purchase, and the share of the purchase price.
    "residual_points": pa.list_(pa.struct([("years", pa.float64()), ("kept", pa.float64())])),
    "warnings": warnings.arrow_type(),
}


def table_of(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return records as a data frame with these columns; keys that a record lacks are missing values."""
    return with_types(pd.DataFrame(list(rows), columns=list(columns)))


def with_types(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with floats, integers, and objects (texts, flags, lists), even if it is empty."""
    dtypes = {}
    for name in table.columns:
        kind = COLUMN_TYPES.get(name, pa.float64())
        is_number = pa.types.is_floating(kind) or pa.types.is_integer(kind)
        dtypes[name] = kind.to_pandas_dtype() if is_number else object
    return table.astype(dtypes)


def to_arrow_table(table: pd.DataFrame, columns: Sequence[str]) -> pa.Table:
    """Return the columns as an Arrow table whose types do not depend on its rows."""
    types = [COLUMN_TYPES.get(name, pa.float64()) for name in columns]
    arrays = [
        pa.array(table[name].to_numpy(), type=kind, from_pandas=True) for name, kind in zip(columns, types, strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=list(columns))


def concat(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all tables below each other; the columns are those of the first."""
    filled = [table for table in tables if len(table)]
    return pd.concat(filled, ignore_index=True) if filled else tables[0]


def bounds(amount: "Amount | None") -> FloatArray:
    """Return an amount as [value, low, high]; zeros for None."""
    return np.zeros(3) if amount is None else np.array([amount.value, *amount.ends])


def bound_columns(name: str, values: FloatArray) -> dict[str, float]:
    """Return [value, low, high] as the columns `name`, `name_low` and `name_high`."""
    return dict(zip(with_bounds(name), np.broadcast_to(values, 3).tolist(), strict=True))


def numbers(table: pd.DataFrame, *names: str) -> list[FloatArray]:
    """Return columns as arrays, with 0 for missing values."""
    return [np.nan_to_num(table[name].to_numpy(float), posinf=np.inf, neginf=-np.inf) for name in names]
