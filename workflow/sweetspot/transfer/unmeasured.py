"""A study's machines that have no figure of a workload: from figures of other devices, or by arithmetic."""

import math
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sweetspot.cells import CELL_COLUMNS, READ, USABLE
from sweetspot.study.instances import cautions
from sweetspot.study.open_models import cell_work, flop_per_token
from sweetspot.throughput.best import TABLE_COLUMNS, cell_columns, mark_best
from sweetspot.throughput.gather import SAME_BUT_VARIANT
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.mfu import (
    FLOP_PER_TFLOP,
    SD_90,
    STACK_SD,
    carry_speed,
    expected_mfu,
    interconnect_factor,
    maker_factor,
    published_figures,
    range_around,
)
from sweetspot.transfer.relation import Relation
from sweetspot.transfer.specifications import PROCESSOR, precision_name
from sweetspot.transfer.transferring import Measured, transferred
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import StudyCells

SD_95 = 1.959964  # Standard deviations to either end of a 95 % interval.
RATES = ("images_per_s", "images_per_s_low", "images_per_s_high")
USABLE_FIGURES = f"status in {USABLE} and images_per_s > 0"
# Read off a clock or out of a text, on whole devices.
READ_FIGURES = f"basis in {READ} and logical == False"


def with_transferred(
    table: pd.DataFrame, question: "StudyCells", instances: Mapping[str, "Instance"], as_of: str, relation: Relation
) -> pd.DataFrame:
    """Add rows for single-device machines without a figure of a workload, predicted from figures of other devices.

    Parameters
    ----------
    table
        The table throughput.parquet.
    question
        The cells that the study is about.
    instances
        Machines by name. Machines that can be measured, and processors, get no rows.
    as_of
        Date of the added rows.
    relation
        The relation of devices, fitted to published figures.

    Returns
    -------
    DataFrame
        The table with rows of basis `transferred` and 95 % intervals. Where a device cannot run the precision the row
        has the status `failed`, no figure and a warning.

    Raises
    ------
    UserError
        If nobody has specified a device.
    """
    precision, devices = question.precision, shipped_devices()
    usable = table.query(f"{USABLE_FIGURES} and model in @question.model and precision == @precision")
    figures = usable.query(f"{READ_FIGURES} and gpus == 1")
    # A processor, or a precision that is emulated, says nothing of other devices.
    matches = [devices.find(gpu) for gpu in figures["gpu"]]
    figures = figures.loc[[device is not None and device.computes(precision_name(precision)) for device in matches]]
    rows: list[dict[str, Any]] = []
    for (framework, model, batch_size), group in figures.groupby(["framework", "model", "batch_size"]):
        batches = question.batches(model)
        # Where the question names no batch, a machine's figure at a batch of its own counts.
        timed = usable[usable["model"] == model]
        if batches:
            timed = timed.query("framework == @framework and batch_size == @batch_size")
        lacking = {
            name: devices.get(instance.gpu)
            for name, instance in instances.items()
            if instance.gpus == 1
            and instance.measure is None
            and not PROCESSOR.search(instance.gpu)
            and (instance.framework or question.framework) == framework
            and name not in set(timed["instance"])
        }
        if not lacking or (batches and batch_size not in batches):
            continue
        fastest = group.sort_values("images_per_s").drop_duplicates("gpu", keep="last")
        log_sds = np.log((fastest["images_per_s_high"] / fastest["images_per_s"]).fillna(1)) / SD_95
        measured = [
            Measured(devices.get(row.gpu), row.images_per_s, model, precision, framework, batch_size, row.unit, log_sd)
            for row, log_sd in zip(fastest.itertuples(), log_sds, strict=True)
        ]
        targets = {device.gpu: device for device in lacking.values()}
        predicted = transferred(measured, list(targets.values()), relation).set_index("gpu")
        rate = predicted["images_per_s"]
        predicted = predicted.assign(**{name: at_95(rate, predicted[name]) for name in RATES})
        origin = " and ".join(f"{row.gpu} ({row.images_per_s:g} {row.unit}/s)" for row in fastest.itertuples())
        constant = {"basis": "transferred", "source": f"transferred from {origin} ; {fastest['source'].iloc[-1]}"}
        constant |= fastest[["unit", "xla"]].iloc[-1]
        for name, device in lacking.items():
            cell = cell_columns(question, instances, name, model, batch_size)
            rows.append({**cell, **predicted.loc[device.gpu], **constant})
    return _with_rows(table, rows, instances, as_of)


def with_arithmetic(
    table: pd.DataFrame, question: "StudyCells", instances: Mapping[str, "Instance"], as_of: str
) -> pd.DataFrame:
    """Add rows for trainings on tokens on every machine without a figure, by operations per token and share of peak.

    If the study has no figure of any such training, the basis is `arithmetic` and the interval leaves out the reader's
    software, whose error is common to all machines (`speed_errors.SOFTWARE`). If it has one, the share of the peak is
    learnt from it and the basis is `transferred`. Only slow links (PCIe) slow several devices down. Machines of an
    unknown device, without a peak of the precision, or that can be measured get no rows.

    Parameters
    ----------
    table
        The table throughput.parquet.
    question
        The cells that the study is about.
    instances
        Machines by name.
    as_of
        Date of the added rows.

    Returns
    -------
    DataFrame
        The table with further rows; their bounds are those of a 95 % interval.
    """
    usable = table.query(USABLE_FIGURES)
    timed_cells = set(zip(usable["instance"], usable["model"], strict=True))
    timings = _timings(usable.query(READ_FIGURES), instances)
    rows: list[dict[str, Any]] = []
    for model, (name, instance) in product(question.model, instances.items()):
        work, device = cell_work(model), shipped_devices().find(instance.gpu)
        if work is None or device is None or (name, model) in timed_cells or instance.measure is not None:
            continue
        peak, flop = device.peak(question.precision) * FLOP_PER_TFLOP * instance.gpus, flop_per_token(*work)
        if math.isnan(peak):
            continue
        if len(timings):
            speed, flop_per_unit = carry_speed(timings, work[0], device), float(instance.gpus)
            basis, origin = "transferred", "the figures of this study"
        else:
            mfu = expected_mfu(published_figures(), work[1], None, work[0].mixture).middle
            speed, flop_per_unit = range_around(mfu, STACK_SD).times(maker_factor(device.maker)), peak
            basis, origin = "arithmetic", "published figures of tokens-2026"
        speed = speed.times(interconnect_factor(instance.interconnect, instance.gpus))
        share = speed.middle * flop_per_unit / peak
        message = f"no figure of fine-tuning on {device.gpu}: its speed is what MLPerf's times say beside NVIDIA's"
        values = {
            **{name: at_95(speed.middle, end) * flop_per_unit / flop for name, end in zip(RATES, speed, strict=True)},
            "basis": basis,
            "source": f"{flop:.3g} operations a token, {share:.0%} of the dense peak, as {origin}",
            "warnings": [] if device.maker == "nvidia" else [warning("maker_without_figure", message)],
            "unit": "tokens",
            "xla": False,
        }
        rows += [cell_columns(question, instances, name, model, size) | values for size in question.batches(model)]
    return _with_rows(table, rows, instances, as_of)


def _timings(figures: pd.DataFrame, instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """Return columns model, gpu, flop_per_s (of one device) of each figure of a training on tokens."""
    timings = []
    for row in figures.itertuples():
        work = cell_work(row.model)
        if work is not None:
            link = interconnect_factor(instances[row.instance].interconnect, row.gpus)
            flop_per_s = row.images_per_s * flop_per_token(*work) / (row.gpus * link.middle)
            timings.append({"model": work[0].name, "gpu": row.gpu, "flop_per_s": flop_per_s})
    return pd.DataFrame(timings)


def at_95(middle: Any, end: Any) -> Any:
    """Return the bound of the 95 % interval from that of the 90 % interval (lognormal): numbers, or columns of them."""
    return middle * (end / middle) ** (SD_95 / SD_90)


def _with_rows(
    table: pd.DataFrame, rows: list[dict[str, Any]], instances: Mapping[str, "Instance"], as_of: str
) -> pd.DataFrame:
    """Return throughput.parquet with added rows, sorted by cell, and `best` set anew; unchanged without rows."""
    if not rows:
        return table
    added = pd.DataFrame(rows).assign(as_of=as_of, runs=0, logical=False)
    added["status"] = np.where(added["images_per_s"] > 0, "ok", "failed")
    added["warnings"] = [joined(row.warnings, cautions(instances, row.instance)) for row in added.itertuples()]
    present = table[list(TABLE_COLUMNS)]
    added = added.reindex(columns=present.columns)
    combined = pd.concat([present, added.astype(present.dtypes) if len(present) else added])
    ordered = combined.sort_values(list(CELL_COLUMNS), kind="stable").reset_index(drop=True)
    return mark_best(ordered, "images_per_s", SAME_BUT_VARIANT)
