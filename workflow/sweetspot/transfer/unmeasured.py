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
from sweetspot.transfer.specifications import PROCESSOR, Device, precision_name
from sweetspot.transfer.transferring import (
    RELATION,
    SD_95,
    Measured,
    cannot_run,
    measured_from_row,
    transferred,
)
from sweetspot.warnings import joined, pairs, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import StudyCells

WORKLOAD = ["framework", "model", "batch_size", "precision"]
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
        If nobody has specified a device, or a processor is all that is known.
    """
    usable = table[table["status"].isin(USABLE) & table["images_per_s"].notna()]
    figures = usable[
        usable["basis"].isin(READ)
        & (usable["gpus"] == 1)
        & ~usable["logical"].astype(bool)
        & usable["model"].isin(question.model)
        & (usable["precision"] == question.precision)
    ]
    timed_cells = set(zip(usable["instance"], *(usable[name] for name in WORKLOAD), strict=True))
    rows: list[dict[str, Any]] = []
    for cell, group in figures.groupby(WORKLOAD, sort=True):
        framework, network, batch_size, _ = cell
        batches = question.batches(network)
        if batches and batch_size not in batches:
            continue
        # Where the question names no batch, a machine's figure at a batch of its own counts.
        of_network = usable[(usable["model"] == network) & (usable["precision"] == question.precision)]
        timed = set() if batches else set(of_network["instance"])
        lacking = {
            name: instance
            for name, instance in instances.items()
            if instance.gpus == 1
            and instance.measure is None
            and not PROCESSOR.search(instance.gpu)
            and (instance.framework or question.framework) == framework
            and (name, *cell) not in timed_cells
            and name not in timed
        }
        rows += _rows(group, lacking, relation, as_of) if lacking else []
    return with_rows(table, rows)


def at_95(middle: float, end: float) -> float:
    """Return an end of a 95 % interval from that of one of 90 %."""
    return float(middle * (end / middle) ** (SD_95 / SD_90))


def with_rows(table: pd.DataFrame, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Add rows to throughput.parquet, in its order, with the best of a cell's variants marked."""
    if not rows:
        return table
    added = pd.DataFrame(rows).reindex(columns=list(TABLE_COLUMNS))
    plain = table[list(TABLE_COLUMNS)]
    both = pd.concat([plain, added.astype({name: plain[name].dtype for name in TABLE_COLUMNS if len(plain)})])
    ordered = both.sort_values(list(CELL_COLUMNS), kind="stable").reset_index(drop=True)
    return mark_best(ordered, "images_per_s", SAME_BUT_VARIANT)


def _rows(
    group: pd.DataFrame, lacking: Mapping[str, "Instance"], relation: Relation, as_of: str
) -> list[dict[str, Any]]:
    """Return rows of TABLE_COLUMNS for machines, from the figures of one workload."""
    known, set_aside = _fastest_by_device(group)
    devices = {name: _device(name, instance.gpu) for name, instance in lacking.items()}
    predictions = _predict(known, list({device.gpu: device for device in devices.values()}.values()), relation)
    origin = " and ".join(f"{figure.device.gpu} ({figure.images_per_s:g} {figure.unit}/s)" for figure in known)
    first = group.iloc[0]
    rows = []
    for name, instance in lacking.items():
        prediction = predictions.get(devices[name].gpu, {"warnings": []})
        rate = prediction.get("images_per_s", math.nan)
        count = f"{len(relation.figures)} published figures of many devices"
        by = count if prediction.get("method") == RELATION else "the ratio of memory bandwidths"
        source = f"transferred from {origin} by {by}" if known else "nothing to transfer from"
        row = {
            "instance": name, "variant": "default", "gpu": instance.gpu, "nodes": 1, "images_per_s": rate,
            "runs": 0, "basis": "transferred", "status": "failed" if math.isnan(rate) else "ok",
            "source": f"{source} ; {first['source']}", "unit": first["unit"],
            "warnings": joined(set_aside, prediction["warnings"], cautions({name: instance}, name)),
            "as_of": as_of, "logical": False, "xla": bool(first["xla"]),
        }  # fmt: skip
        for end in ("images_per_s_low", "images_per_s_high"):
            row[end] = at_95(rate, prediction.get(end, math.nan))
        rows.append({column: first[column] for column in CELL_COLUMNS} | row)
    return rows


def _predict(known: list[Measured], devices: list[Device], relation: Relation) -> dict[str, dict[str, Any]]:
    """Return a row of `transferred` for each device; figures that say nothing of others become a warning."""
    if not known:
        return {}
    precision = precision_name(known[0].precision)
    able = [device for device in devices if device.computes(precision)]
    rows: dict[str, dict[str, Any]] = {device.gpu: {"warnings": [cannot_run(device, precision)]} for device in devices}
    try:
        predicted = transferred(known, able, relation).to_dict("records") if able else []
    except UserError as error:
        predicted = [{"gpu": device.gpu, "warnings": [warning("not_transferred", str(error))]} for device in able]
    return rows | {row["gpu"]: row for row in predicted}


def _fastest_by_device(group: pd.DataFrame) -> tuple[list[Measured], list[dict[str, str]]]:
    """Return one figure a device, its fastest, and a warning for each that emulates the precision.

    Processors only where nothing else is known, which is then refused.
    """
    rows = [row for row in group.itertuples() if not PROCESSOR.search(str(row.gpu))] or list(group.itertuples())
    fastest: dict[str, Measured] = {}
    warnings: list[dict[str, str]] = []
    for row in sorted(rows, key=lambda row: row.images_per_s):
        device, precision = shipped_devices().get(str(row.gpu)), precision_name(str(row.precision))
        if not device.computes(precision) or "emulation" in {pair.rule for pair in pairs(row.warnings)}:
            message = f"{device.gpu} has no unit for {precision}: its figure is emulated and says nothing of others"
            warnings.append(warning("emulated", message))
        else:
            fastest[device.gpu] = measured_from_row(row, device, f"the figure of {device.gpu} is not steady")
    return list(fastest.values()), warnings


def _device(name: str, gpu: str) -> Device:
    try:
        return shipped_devices().get(gpu)
    except UserError as error:
        message = f"{name} has no figure to be compared by and its gpu cannot get one: {error}"
        raise UserError(f"instances.yaml: {message}") from None
