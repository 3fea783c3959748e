"""The columns of throughput.parquet, and which of several figures counts: the best evidence, the fastest variant."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.cells import BASES, CELL_COLUMNS, USABLE

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import StudyCells

TABLE_COLUMNS = (
    *CELL_COLUMNS, "gpu", "nodes", "images_per_s", "images_per_s_low", "images_per_s_high", "runs", "basis", "status",
    "source", "unit", "warnings", "as_of", "logical", "xla", "stand_in_gpu", "stand_in_framework",
    "stand_in_batch_size", "stand_in_precision", "stand_in_years", "interval_df", "round", "rounds_behind",
    "peak_memory_gib", "peak_memory_source", "joules_per_sample", "energy_source", "others_cpu_share",
    "products",
)  # fmt: skip


def best_figures(table: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """Return for each value of the columns `key` the fastest row of the best `basis`, best first.

    Of equal rows the first stays; a row without a figure comes last of its basis. The status does not count.
    """
    order = pd.Categorical(table["basis"], BASES, ordered=True)
    ranked = table.assign(_order=order).sort_values(["_order", "images_per_s"], ascending=[True, False], kind="stable")
    return ranked.drop_duplicates(list(key)).drop(columns="_order")


def mark_best(table: pd.DataFrame, value: str, key: Sequence[str]) -> pd.DataFrame:
    """Add a column `best`: whether a row has the highest usable `value` of those that are equal in the columns `key`.

    Parameters
    ----------
    table
        With a `status`, where it has one.
    value
        Column of numbers; a row without a number is never the best.
    key
        Columns of the group.
    """
    figures = table[value].astype("float64")
    if "status" in table.columns:
        figures = figures.where(table["status"].isin(USABLE))
    highest = figures.groupby([table[name] for name in key], dropna=False).transform("max")
    return table.assign(best=(figures == highest).astype(bool))


def cell_columns(
    question: "StudyCells",
    instances: Mapping[str, "Instance"],
    name: str,
    model: str,
    batch_size: int,
    variant: str = "default",
) -> dict[str, Any]:
    """Return the columns of a cell on all devices of a machine, `gpu` and `nodes`.

    Parameters
    ----------
    question
        The study's precision, and its framework where the machine has none.
    instances, name
        Machines, and the name of this one.
    model, batch_size, variant
        The rest of the cell; the batch is per device.
    """
    from sweetspot.study.instances import nodes_of  # Lazily: its models take longer to import than `compare` has.

    instance = instances[name]
    cell = (
        name,
        instance.framework or question.framework,
        model,
        batch_size,
        instance.gpus,
        question.precision,
        variant,
    )
    facts = {"gpu": instance.gpu, "nodes": nodes_of(instances, name, instance.gpus)}
    return dict(zip(CELL_COLUMNS, cell, strict=True)) | facts
