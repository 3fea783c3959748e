"""A study's machines of one device that have no figure of a workload: transferred from those that have one."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.cells import CELL_COLUMNS, READ, USABLE
from sweetspot.errors import UserError
from sweetspot.study.instances import cautions
from sweetspot.throughput.best import TABLE_COLUMNS, mark_best
from sweetspot.throughput.gather import SAME_BUT_VARIANT
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.relation import Relation
from sweetspot.transfer.specifications import PROCESSOR, precision_name
from sweetspot.transfer.transferring import SD_95, measured_from_row, transferred
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import StudyCells

RATE_COLUMNS = ["images_per_s", "images_per_s_low", "images_per_s_high"]
SD_90 = 1.644854  # Standard deviations to either end of a 90 % interval.


def with_transferred(
    table: pd.DataFrame, question: "StudyCells", instances: Mapping[str, "Instance"], as_of: str, relation: Relation
) -> pd.DataFrame:
    """Add the question's workloads that machines of one device lack, transferred from figures of other single devices.

    Parameters
    ----------
    table
        throughput.parquet.
    question
        The study's cells.
    instances
        Machines by name. One that can be measured and a processor get nothing.
    as_of
        Day of the rows.
    relation
        What was learnt of devices.

    Returns
    -------
    DataFrame
        The table with rows of basis `transferred` and 95 % intervals. Where a device cannot run the precision, or the
        figures say nothing of others, the row has the status `failed`, no figure and a warning.

    Raises
    ------
    UserError
        If nobody has specified a device.
    """
    precision = precision_name(question.precision)
    usable = table[table["status"].isin(USABLE) & (table["images_per_s"] > 0)]
    usable = usable[usable["model"].isin(question.model) & (usable["precision"] == question.precision)]
    figures = usable[usable["basis"].isin(READ) & (usable["gpus"] == 1) & ~usable["logical"].astype(bool)]
    # A processor, or a precision that is emulated, says nothing of other devices.
    matches = [shipped_devices().find(gpu) for gpu in figures["gpu"]]
    figures = figures.loc[[device is not None and device.computes(precision) for device in matches]]
    rows: list[dict[str, Any]] = []
    for (framework, model, batch_size), group in figures.groupby(["framework", "model", "batch_size"]):
        batches = question.batches(model)
        if batches and batch_size not in batches:
            continue
        # Where the question names no batch, a machine's figure at a batch of its own counts.
        timed = usable[usable["model"] == model]
        if batches:
            timed = timed[(timed["framework"] == framework) & (timed["batch_size"] == batch_size)]
        lacking = {
            name: instance
            for name, instance in instances.items()
            if instance.gpus == 1
            and instance.measure is None
            and not PROCESSOR.search(instance.gpu)
            and (instance.framework or question.framework) == framework
            and name not in set(timed["instance"])
        }
        if not lacking:
            continue
        fastest = group.sort_values("images_per_s").drop_duplicates("gpu", keep="last")
        measured = [measured_from_row(row) for row in fastest.itertuples()]
        targets = [shipped_devices().get(instance.gpu) for instance in lacking.values()]
        devices = {device.gpu: device for device in targets}
        try:
            predicted = transferred(measured, list(devices.values()), relation).set_index("gpu")
        except UserError as error:
            predicted = pd.DataFrame(math.nan, list(devices), RATE_COLUMNS)
            predicted["warnings"] = [[warning("not_transferred", str(error))]] * len(devices)
        predicted = predicted.loc[[device.gpu for device in targets]]
        rate, first = predicted["images_per_s"], group.iloc[0]
        origin = " and ".join(f"{row.gpu} ({row.images_per_s:g} {row.unit}/s)" for row in fastest.itertuples())
        added = predicted.assign(
            **first[["framework", "model", "batch_size", "precision", "gpus", "unit", "xla"]],
            instance=list(lacking),
            gpu=[instance.gpu for instance in lacking.values()],
            variant="default",
            nodes=1,
            **{name: at_95(rate, predicted[name]) for name in RATE_COLUMNS},
            runs=0,
            basis="transferred",
            status=rate.map(lambda value: "ok" if value > 0 else "failed"),
            source=f"transferred from {origin} ; {first['source']}",
            warnings=[joined(pairs, cautions({name: instances[name]}, name)) for name, pairs in zip(lacking, predicted["warnings"], strict=True)],
            as_of=as_of,
            logical=False,
        )
        rows += added.to_dict("records")
    return with_rows(table, rows)


def at_95(middle: Any, end: Any) -> Any:
    """Return an end of a 95 % interval from that of one of 90 %: numbers, or columns of them."""
    return middle * (end / middle) ** (SD_95 / SD_90)


def with_rows(table: pd.DataFrame, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Add rows to throughput.parquet, in its order, with the best of a cell's variants marked."""
    if not rows:
        return table
    added = pd.DataFrame(rows).reindex(columns=list(TABLE_COLUMNS))
    plain = table[list(TABLE_COLUMNS)]
    both = pd.concat([plain, added.astype({name: plain[name].dtype for name in TABLE_COLUMNS if len(plain)})])
    ordered = both.sort_values(list(CELL_COLUMNS), kind="stable").reset_index(drop=True)
    return mark_best(ordered, "images_per_s", SAME_BUT_VARIANT)
