"""Tables as columns: what the bills compute on. Arrow tables are read and written, numpy computes.

Not pandas: bills are arithmetic on whole columns with nothing to align, which numpy does in a quarter less time on
50,000 cells, and a job on a node of a cluster starts without importing it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sweetspot import warnings

if TYPE_CHECKING:
    from sweetspot.study.terms import Amount

# All columns have one length. Numbers: float64, null is nan (int64 where none can be null). Texts, flags and lists:
# objects, null is None.
Columns = dict[str, np.ndarray]
Array = npt.NDArray[np.float64]
ENDS = ("", "_low", "_high")


def ranged(*names: str) -> tuple[str, ...]:
    """Each column with those of its low and its high end."""
    return tuple(f"{name}{end}" for name in names for end in ENDS)


TEXTS = (
    "price_list", "instance", "purchase", "provider", "gpu", "framework", "model", "precision", "variant", "basis",
    "status", "source", "as_of", "workload", "plan", "phase", "line", "charged", "name", "unit", "severity", "rule",
    "message", "price_list_title", "power_basis", "power_source", "grid_source", "energy_lacks", "side_basis",
    "side_source", "trend", "trend_kind", "energy_source", "speed_of", "offer_until",
)  # fmt: skip
TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(TEXTS, pa.string()),
    **dict.fromkeys(("batch_size", "gpus", "jobs", "month"), pa.int64()),
    **dict.fromkeys(("prorated", "spot_beats_on_demand", "headline", "logical", "offer_ended"), pa.bool_()),
    # years since the purchase, share of the purchase that it is sold for
    "residual_points": pa.list_(pa.struct([("years", pa.float64()), ("kept", pa.float64())])),
    "warnings": pa.list_(pa.struct([(name, pa.string()) for name in warnings.Warned._fields])),
}


Triple = tuple[float, float, float]  # value, low, high


def triple(amount: "Amount | None") -> Triple:
    """An amount as (value, low, high); zeros where there is none."""
    return alike(0.0) if amount is None else (amount.value, *amount.ends)


def alike(value: float) -> Triple:
    """A number that is certain as (value, low, high)."""
    return (value, value, value)


def times(left: Triple, right: Triple) -> Triple:
    """Product end by end; both must not be negative."""
    return (left[0] * right[0], left[1] * right[1], left[2] * right[2])


def plus(*parts: Triple) -> Triple:
    """Sum end by end."""
    return (sum(p[0] for p in parts), sum(p[1] for p in parts), sum(p[2] for p in parts))


def spread(name: str, values: Triple) -> dict[str, float]:
    """A value with its ends as columns `name`, `name_low`, `name_high`."""
    return dict(zip(ranged(name), values, strict=True))


def objects(values: Iterable[Any]) -> np.ndarray:
    """A column of texts, flags or lists; numpy itself would make a matrix of lists."""
    items = list(values)
    column = np.empty(len(items), dtype=object)
    for number, item in enumerate(items):
        column[number] = item
    return column


def size(table: Columns) -> int:
    """Number of rows."""
    return len(next(iter(table.values())))


def take(table: Columns, rows: np.ndarray) -> Columns:
    """The rows of a mask or of an array of row numbers."""
    return {name: values[rows] for name, values in table.items()}


def stacked(tables: Sequence[Columns]) -> Columns:
    """Tables of the same columns below each other; at least one."""
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def numbers(table: Columns, *names: str) -> list[Array]:
    """Columns as arrays of floats, null as 0."""
    return [np.where(np.isnan(column), 0.0, column) for column in (table[name].astype(float) for name in names)]


def from_rows(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Columns:
    """The columns `names` of rows; null where a row has none."""
    table = {}
    for name in names:
        values = [row.get(name) for row in rows]
        kind = TYPES.get(name, pa.float64())
        if pa.types.is_integer(kind):
            table[name] = np.array(values, dtype=np.int64)
        elif pa.types.is_floating(kind):
            table[name] = np.array([np.nan if value is None else value for value in values], dtype=float)
        else:
            table[name] = objects(values)
    return table


def to_rows(table: Columns) -> list[dict[str, Any]]:
    """The rows of a table."""
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def from_arrow(table: pa.Table, names: Sequence[str]) -> Columns:
    """The columns `names` of an Arrow table; a column of nulls reads as its name says."""
    columns = {}
    for name in names:
        values, kind = table[name], TYPES.get(name, pa.float64())
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            columns[name] = values.to_numpy().astype(kind.to_pandas_dtype())
        else:
            columns[name] = objects(values.to_pylist())
    return columns


def to_arrow(table: Columns, names: Sequence[str]) -> pa.Table:
    """The columns `names` as an Arrow table, of the same types whether it has rows or not."""
    kinds = [TYPES.get(name, pa.float64()) for name in names]
    arrays = [pa.array(table[name], type=kind, from_pandas=True) for name, kind in zip(names, kinds, strict=True)]
    return pa.Table.from_arrays(arrays, names=list(names))
