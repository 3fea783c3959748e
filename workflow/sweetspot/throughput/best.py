"""The columns of throughput.parquet, and which of several figures counts: the best evidence, the fastest variant."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.cells import BASES, CELL_COLUMNS, USABLE
from sweetspot.declared_tables import columns_of

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import StudyCells

TABLE_COLUMNS = [name for name in columns_of("throughput") if name != "best"]


def best_figures(table: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """Return one row per combination of values in the columns `key`: the fastest of the best `basis`, best first.

    `table` has `basis` and `images_per_s`; a row without the latter is the last of its basis. `status` is ignored.
    """
    order = pd.Categorical(table["basis"], BASES)
    ranked = table.assign(_order=order).sort_values(["_order", "images_per_s"], ascending=[True, False], kind="stable")
    return ranked.drop_duplicates(list(key)).drop(columns="_order")


def mark_best(table: pd.DataFrame, value: str, key: Sequence[str]) -> pd.DataFrame:
    """Add a bool column `best`: whether a row has the highest `value` among the rows with equal columns `key`.

    Parameters
    ----------
    table, value, key
        Rows to mark (with a column `status`, only usable ones can be the best); the column of numbers (a row without
        one is never the best); the columns that make up a group.
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
    """Return the row {column: value} of a cell on all devices of a machine: its seven key columns, `gpu`, `nodes`.

    Parameters
    ----------
    question, instances, name, model, batch_size, variant
        The study's cells, for the precision (and the framework where the machine states none); its machines, the name
        of one of them, and the other columns of the cell; the batch is per device.
    """
    from sweetspot.study.instances import nodes_of  # Lazily: its models take longer to import than `compare` has.

    instance = instances[name]
    framework = instance.framework or question.framework
    cell = (name, framework, model, batch_size, instance.gpus, question.precision, variant)
    facts = {"gpu": instance.gpu, "nodes": nodes_of(instances, name, instance.gpus)}
    return dict(zip(CELL_COLUMNS, cell, strict=True)) | facts
