"""The columns of throughput.parquet, and which of several figures counts: the best evidence, the fastest variant.

Who reads no run file needs no polars: it is not imported here.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.cells import BASES, CELL_COLUMNS, USABLE

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import Question

TABLE_COLUMNS = (
    *CELL_COLUMNS, "gpu", "nodes", "images_per_s", "images_per_s_low", "images_per_s_high", "runs", "basis", "status",
    "source", "unit", "warnings", "as_of", "logical", "xla", "stand_in_gpu", "stand_in_framework",
    "stand_in_batch_size", "stand_in_precision", "stand_in_years", "interval_df", "round", "rounds_behind",
    "peak_memory_gib", "peak_memory_source", "joules_per_sample", "energy_source", "others_cpu_share",
    "products",
)  # fmt: skip


def best_figures(table: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """One row of `table` for each value of the columns `key`: of the best `basis`, of those the fastest.

    table: rows with `basis` and `images_per_s`, of throughput.parquet or beside it; a status is the caller's choice.
    Sorted best first, with the rows' own labels; of equal rows the first stays. A row without a figure comes last of
    its basis.
    """
    order = table["basis"].map({basis: place for place, basis in enumerate(BASES)})
    ranked = table.assign(_order=order).sort_values(["_order", "images_per_s"], ascending=[True, False], kind="stable")
    return ranked.drop_duplicates(list(key)).drop(columns="_order")


def mark_best(table: pd.DataFrame, value: str, same: Sequence[str]) -> pd.DataFrame:
    """`table` with a column `best` (bool): the row has the highest `value` of those equal in the columns `same`.

    Equal values are all the best; a row without a figure, or whose `status` (where there is one) is unusable, never
    is; a row that stands alone is.
    """
    figures = table[value].astype("float64")
    if "status" in table.columns:
        figures = figures.where(table["status"].isin(USABLE))
    highest = figures.groupby([table[name] for name in same], dropna=False).transform("max")
    return table.assign(best=(figures == highest).astype(bool))


def asked_cell(
    question: "Question",
    instances: Mapping[str, "Instance"],
    name: str,
    model: str,
    batch_size: int,
    variant: str = "default",
) -> dict[str, Any]:
    """What a machine is asked: the columns of a cell on all its devices, `gpu` and `nodes`."""
    instance = instances[name]
    cell = (name, instance.framework or question.framework, model, batch_size, instance.gpus, question.precision)
    from sweetspot.study.instances import nodes_of  # lazily: its models take longer to import than the comparison

    nodes = nodes_of(instances, name, instance.gpus)
    return dict(zip(CELL_COLUMNS, (*cell, variant), strict=True)) | {"gpu": instance.gpu, "nodes": nodes}
