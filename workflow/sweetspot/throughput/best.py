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
    """Return the row to believe for each combination of values in the columns `key`: that of the strongest evidence
    (`basis`, ranked by `cells.BASES` from measured to arithmetic), of equal ones the fastest (`images_per_s`). So one
    speed per cell remains where several sources have one, strongest first; `status` is ignored.
    """
    order = pd.Categorical(table["basis"], BASES)
    ranked = table.assign(_order=order).sort_values(["_order", "images_per_s"], ascending=[True, False], kind="stable")
    return ranked.drop_duplicates(list(key)).drop(columns="_order")


def mark_best(table: pd.DataFrame, value: str, key: Sequence[str]) -> pd.DataFrame:
    """Add a bool column `best`, so that later steps can use only the fastest software variant of each machine and
    model: True where a row has the highest `value` among the rows with equal values in the columns `key`.

    Parameters
    ----------
    table, value, key
        Rows of speeds (with a column `status`, only `ok` and `unstable` rows can be the best); name of the column of
        numbers to compare (a row without a number is never the best); names of the columns that make up a group.
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
    """Return the identifying columns of a speed on all devices of one machine, as a row {column: value}, to which the
    caller adds the speed itself: the seven key columns of a cell (`cells.CELL_COLUMNS`: instance, framework, model,
    batch_size, gpus, precision, variant), `gpu` (name of the device) and `nodes` (number of hosts).

    Parameters
    ----------
    question, instances, name
        What the study measures; read for its precision, and its framework where the machine states none; the study's
        machines by name, and the name of the machine in question.
    model, batch_size, variant
        Network, batch per device (samples) and software variant of the cell.
    """
    from sweetspot.study.instances import nodes_of  # Lazily: its models take longer to import than `compare` has.

    instance = instances[name]
    framework = instance.framework or question.framework
    cell = (name, framework, model, batch_size, instance.gpus, question.precision, variant)
    facts = {"gpu": instance.gpu, "nodes": nodes_of(instances, name, instance.gpus)}
    return dict(zip(CELL_COLUMNS, cell, strict=True)) | facts
