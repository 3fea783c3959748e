"""A study's machines that have no figure of a workload: from figures of other devices, or by arithmetic."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.cells import READ, USABLE
from sweetspot.study.instances import Instance, cautions
from sweetspot.study.open_models import cell_work, flop_per_token
from sweetspot.study.study import StudyCells
from sweetspot.throughput.best import TABLE_COLUMNS, cell_columns, mark_best
from sweetspot.throughput.gather import CELL, SAME_BUT_VARIANT, complete_rows
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
from sweetspot.transfer.transferring import RATES, Measured, transferred
from sweetspot.warnings import joined, warning

SD_95 = 1.959964  # Standard deviations to either end of a 95 % interval.
USABLE_FIGURES = f"status in {USABLE} and images_per_s > 0"
# Read off a clock or out of a text, on whole devices.
READ_FIGURES = f"basis in {READ} and logical == False"


def with_transferred(
    table: pd.DataFrame, question: StudyCells, instances: Mapping[str, Instance], as_of: str, relation: Relation
) -> pd.DataFrame:
    """Add rows to a study's speeds for its single-device machines without a figure of a workload, predicted from
    figures of other devices, so that such machines can be compared too. Machines that can be measured, and processors,
    get none. The added rows have the basis `transferred` and 95 % intervals. Where a device cannot run the precision
    the row has the status `failed`, no figure and a warning. Raises UserError for a device that nobody has specified.

    Parameters
    ----------
    table, question, instances
        The table throughput.parquet; what the study measures; its machines by name.
    as_of, relation
        Date (text) of the added rows; the relation between devices, fitted to published figures.
    """
    precision, devices = question.precision, shipped_devices()
    usable = table.query(f"{USABLE_FIGURES} and model in @question.model and precision == @precision")
    figures = usable.query(f"{READ_FIGURES} and gpus == 1")
    # A processor, or a precision that is emulated, says nothing of other devices.
    matches = map(devices.find, figures["gpu"])
    figures = figures.loc[[device is not None and device.computes(precision_name(precision)) for device in matches]]
    rows: list[dict[str, Any]] = []
    for (framework, model, batch_size), group in figures.groupby(["framework", "model", "batch_size"]):
        batches = question.batches(model)
        if batches and batch_size not in batches:
            continue
        # Where the question names no batch, a machine's figure at a batch of its own counts.
        batch_condition = " and batch_size == @batch_size" if batches else ""
        timed = usable.query("framework == @framework and model == @model" + batch_condition)
        lacking = {
            name: devices.get(instance.gpu)
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
        log_sds = np.log((fastest["images_per_s_high"] / fastest["images_per_s"]).fillna(1)) / SD_95
        measured = [
            Measured(devices.get(row.gpu), row.images_per_s, model, precision, framework, batch_size, log_sd)
            for row, log_sd in zip(fastest.itertuples(), log_sds, strict=True)
        ]
        origin = " and ".join(f"{row.gpu} ({row.images_per_s:g} {row.unit}/s)" for row in fastest.itertuples())
        common = {"basis": "transferred", "source": f"transferred from {origin} ; {fastest['source'].iloc[-1]}"}
        common |= fastest[["unit", "xla"]].iloc[-1]
        # Machines of one device have the same figure to the last bit: it is one figure, with one error.
        predicted = transferred(measured, list(lacking.values()), relation).drop_duplicates("gpu").set_index("gpu")
        for name, device in lacking.items():
            rows.append(
                dict(predicted.loc[device.gpu]) | cell_columns(question, instances, name, model, batch_size) | common
            )
    return _with_rows(table, rows, instances, as_of)


def with_arithmetic(
    table: pd.DataFrame, question: StudyCells, instances: Mapping[str, Instance], as_of: str
) -> pd.DataFrame:
    """Add rows to a study's speeds for the training of language models on every machine without a figure, computed
    from operations per token and an expected share of the device's peak, so that a study needs no measurement at all.
    If the study has no figure of any such training, the basis is `arithmetic` and the interval leaves out the reader's
    software, whose error is common to all machines (`speed_errors.SOFTWARE`). If it has one, the share of the peak is
    learnt from it and the basis is `transferred`. Only slow links (PCIe) slow several devices down. Machines of an
    unknown device, without a peak of the precision, or that can be measured get no rows. The bounds are of 95 %.

    Parameters
    ----------
    table, question, instances, as_of
        The table throughput.parquet, what the study measures, its machines by name, and the date of the added rows.
    """
    usable = table.query(USABLE_FIGURES)
    timed_cells = set(zip(usable["instance"], usable["model"], strict=True))
    timings = [
        {
            "model": work[0].name,
            "gpu": row.gpu,
            "flop_per_s": row.images_per_s
            * flop_per_token(*work)
            / row.gpus
            / interconnect_factor(instances[row.instance].interconnect, row.gpus).middle,
        }
        for row in usable.query(READ_FIGURES).itertuples()
        if (work := cell_work(row.model)) is not None
    ]
    rows: list[dict[str, Any]] = []
    for model in question.model:
        if (work := cell_work(model)) is None:
            continue
        flop, mfu = flop_per_token(*work), expected_mfu(published_figures(), work[1], None, work[0].mixture).middle
        for name, instance in instances.items():
            timed = (name, model) in timed_cells or instance.measure is not None
            if timed or not (device := shipped_devices().find(instance.gpu)) or not device.computes(question.precision):
                continue
            peak = device.peak(question.precision) * FLOP_PER_TFLOP
            speed = range_around(mfu * peak, STACK_SD).times(maker_factor(device.maker))
            basis, origin = "arithmetic", "published figures of tokens-2026"
            if timings:
                speed = carry_speed(pd.DataFrame(timings), work[0], device)
                basis, origin = "transferred", "the figures of this study"
            speed = speed.times(interconnect_factor(instance.interconnect, instance.gpus))
            message = f"no figure of fine-tuning on {device.gpu}: its speed is what MLPerf's times say beside NVIDIA's"
            values = dict(zip(RATES, (flop_per_s * instance.gpus / flop for flop_per_s in speed), strict=True)) | {
                "basis": basis,
                "source": f"{flop:.3g} operations a token, {speed.middle / peak:.0%} of the dense peak, as {origin}",
                "warnings": [] if device.maker == "nvidia" else [warning("maker_without_figure", message)],
                "unit": "tokens",
                "xla": False,
            }
            rows += [cell_columns(question, instances, name, model, size) | values for size in question.batches(model)]
    return _with_rows(table, rows, instances, as_of)


def _with_rows(
    table: pd.DataFrame, rows: list[dict[str, Any]], instances: Mapping[str, Instance], as_of: str
) -> pd.DataFrame:
    """Return the study's speeds (throughput.parquet) with estimated rows added: completed to all columns and the date
    `as_of`, their 90 % bounds widened to the table's 95 %, and `best` marked anew. `rows`: {column: value} each.
    """
    if not rows:
        return table
    added = complete_rows(pd.DataFrame(rows), as_of, instances)
    rate = added["images_per_s"]
    for name in RATES[1:]:
        added[name] = rate * (added[name] / rate) ** (SD_95 / SD_90)
    added["status"] = np.where(rate > 0, "ok", "failed")
    added["warnings"] = [joined(row.warnings, cautions(instances, row.instance)) for row in added.itertuples()]
    present = table[TABLE_COLUMNS]
    combined = pd.concat([present, added.astype(present.dtypes) if len(present) else added])
    return mark_best(combined.sort_values(CELL, kind="stable", ignore_index=True), "images_per_s", SAME_BUT_VARIANT)
