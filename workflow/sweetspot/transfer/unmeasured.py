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
from sweetspot.transfer.specifications import PROCESSOR, Device, precision_name
from sweetspot.transfer.transferring import Learnt, Measured, cannot_run, figure_of, transferred
from sweetspot.warnings import joined, pairs, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import Question

GIVING = READ  # bases that a figure may be transferred from
WORKLOAD = ["framework", "model", "batch_size", "precision"]
Found = tuple[float, float, float, list[dict[str, str]]]  # rate, low, high, warnings
NONE = (math.nan, math.nan, math.nan)
SD_95, SD_90 = 1.959964, 1.644854  # standard deviations either side


def with_transferred(
    table: pd.DataFrame, question: "Question", instances: Mapping[str, "Instance"], as_of: str, learnt: Learnt
) -> pd.DataFrame:
    """`table` (throughput.parquet) and, for every machine of one device, the question's workloads that it lacks.

    Each is transferred from the figures of GIVING that other single devices have of the same framework, model, batch
    and precision; without one there is nothing to transfer. Where several machines have one device, its fastest figure
    counts; a processor, and a machine that can be measured, get nothing. A device that cannot run the precision
    (`cannot_run`), or a figure that says nothing of others (`emulated`, `not_transferred`), gives a row of status
    `failed`. Ends are those of a 95 % interval, as in the rest of the table. Raises UserError for a device that nobody
    has specified, and where a processor is all that is known.
    """
    known = table[
        table["basis"].isin(GIVING)
        & (table["gpus"] == 1)
        & table["status"].isin(USABLE)
        & ~table["logical"].astype(bool)
        & table["model"].isin(question.model)
        & (table["precision"] == question.precision)
    ]
    usable = table[table["status"].isin(USABLE) & table["images_per_s"].notna()]
    have = set(zip(usable["instance"], *(usable[name] for name in WORKLOAD), strict=True))
    rows = []
    for cell, own in known.groupby(WORKLOAD, sort=True):
        framework, model, batch_size, _ = cell
        asked = question.batches(model)
        if asked and batch_size not in asked:
            continue
        alike = usable[(usable["model"] == model) & (usable["precision"] == question.precision)]
        have_own = set() if asked else set(alike["instance"])  # a machine whose batch is its own: that figure counts
        wanted = {
            name: instance
            for name, instance in instances.items()
            if instance.gpus == 1
            and instance.measure is None
            and not PROCESSOR.search(instance.gpu)
            and (instance.framework or question.framework) == framework
            and (name, *cell) not in have
            and name not in have_own
        }
        rows += _rows(own, wanted, learnt, as_of) if wanted else []
    return with_rows(table, rows)


def _rows(own: pd.DataFrame, wanted: Mapping[str, "Instance"], learnt: Learnt, as_of: str) -> list[dict[str, Any]]:
    """Rows of TABLE_COLUMNS for the wanted machines, from figures of one workload.

    Status `failed` and no figure where there is none to be had; the row's warnings say why.
    """
    figures, told = _figures(own, learnt)
    devices = {name: _specified(name, instance.gpu, learnt) for name, instance in wanted.items()}
    found, source = _found(figures, list({device.gpu: device for device in devices.values()}.values()), learnt)
    first = own.iloc[0]
    rows = []
    for name, instance in wanted.items():
        rate, low, high, reasons = found.get(devices[name].gpu, (*NONE, []))
        row = {
            "instance": name, "variant": "default", "gpu": instance.gpu, "nodes": 1, "images_per_s": rate,
            "images_per_s_low": at_95(rate, low), "images_per_s_high": at_95(rate, high), "runs": 0,
            "basis": "transferred", "status": "failed" if math.isnan(rate) else "ok",
            "source": f"{source} ; {first['source']}", "unit": first["unit"],
            "warnings": joined(told, reasons, cautions({name: instance}, name)), "as_of": as_of, "logical": False,
            "xla": bool(first["xla"]),
        }  # fmt: skip
        rows.append({column: first[column] for column in CELL_COLUMNS} | row)
    return rows


def at_95(middle: float, end: float) -> float:
    """An end of a 95 % interval from that of one of 90 %."""
    return float(middle * (end / middle) ** (SD_95 / SD_90))


def _found(figures: list[Measured], devices: list[Device], learnt: Learnt) -> tuple[dict[str, Found], str]:
    """What is told of each device (rate, low, high, warnings), and by what. A figure that says nothing is a warning."""
    if not figures:
        return {}, "nothing to transfer from"
    precision = precision_name(figures[0].precision)
    found: dict[str, Found] = {device.gpu: (*NONE, [cannot_run(device, precision)]) for device in devices}
    able = [device for device in devices if device.computes(precision)]
    of = " and ".join(f"{one.device.gpu} ({one.images_per_s:g} {one.unit}/s)" for one in figures)
    source = f"transferred from {of} by {len(learnt.figures)} published figures of many devices"
    try:
        for row in transferred(figures, able, learnt).itertuples() if able else ():
            found[row.gpu] = (row.images_per_s, row.images_per_s_low, row.images_per_s_high, row.warnings)
    except UserError as error:
        found |= {device.gpu: (*NONE, [warning("not_transferred", str(error))]) for device in able}
    return found, source


def _figures(own: pd.DataFrame, learnt: Learnt) -> tuple[list[Measured], list[dict[str, str]]]:
    """One figure a device, its fastest, and warnings of those set aside since the device emulates the precision.

    Processors only where nothing else is known, which is then refused.
    """
    devices = [row for row in own.itertuples() if not PROCESSOR.search(str(row.gpu))] or list(own.itertuples())
    found: dict[str, Measured] = {}
    aside: list[dict[str, str]] = []
    for row in sorted(devices, key=lambda row: row.images_per_s):
        device, precision = learnt.devices.get(str(row.gpu)), precision_name(str(row.precision))
        if not device.computes(precision) or "emulation" in {pair.rule for pair in pairs(row.warnings)}:
            message = f"{device.gpu} has no unit for {precision}: its figure is emulated and says nothing of others"
            aside.append(warning("emulated", message))
        else:
            found[device.gpu] = figure_of(row, device, SD_95, f"the figure of {device.gpu} is not steady")
    return list(found.values()), aside


def _specified(name: str, gpu: str, learnt: Learnt) -> Device:
    try:
        return learnt.devices.get(gpu)
    except UserError as error:
        words = f"{name} has no figure to be compared by and its gpu cannot get one: {error}"
        raise UserError(f"instances.yaml: {words}") from None


def with_rows(table: pd.DataFrame, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """`table` (throughput.parquet) with more rows, in its order, the best of a cell's variants marked."""
    if not rows:
        return table
    added = pd.DataFrame(rows).reindex(columns=list(TABLE_COLUMNS))
    plain = table[list(TABLE_COLUMNS)]
    both = pd.concat([plain, added.astype({name: plain[name].dtype for name in TABLE_COLUMNS if len(plain)})])
    ordered = both.sort_values(list(CELL_COLUMNS), kind="stable").reset_index(drop=True)
    return mark_best(ordered, "images_per_s", SAME_BUT_VARIANT)
