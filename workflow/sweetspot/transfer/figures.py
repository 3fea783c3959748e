"""Single-device figures as the relation of devices reads them: workload and kind, device, program."""

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sweetspot.facts.shipped_tables import DEVICES, OF_DEVICES, STUDIES, figures_file, table
from sweetspot.throughput.published import read_published, with_machine_facts
from sweetspot.transfer.specifications import precision_name, read_devices, with_features

if TYPE_CHECKING:
    from sweetspot.transfer.specifications import Devices

COLUMNS = ("benchmark", "framework", "model", "batch_size", "precision", "dataset", "xla", "gpu", "images_per_s")
FIGURE_COLUMNS = ("workload", "device", "precision", "framework", "stack", "network", "kind", "bits", "log_rate")
BITS = {"fp16": 16, "bf16": 16, "fp8": 8, "fp4": 4}  # of a number, where it has fewer than 32
# Bound by the host, not by the device, or another program: distorted images are made by the processor, and Torch7
# without cuDNN computes by other kernels.
DISTORTED, WITHOUT_CUDNN = "distort", "cuDNN None"
ASIDE = re.compile(r"\(.*?\)")
TASK = re.compile(r"(squad)?(finetune|pretraining|squad)$")
VERSION = re.compile(r"(?<=net\d{2})v(1|15)$|(?<=net\d{3})v(1|15)$")
IMAGES, TEXT, SPEECH, UNKNOWN = "images", "text", "speech", "unknown"
KIND_BY_UNIT = {"tokens": TEXT, "sequences": TEXT, "mels": SPEECH}


def network_name(model: str) -> str:
    """Return a model's name without what sources add: `SSD300 (ResNet-50)`, `BERT-large SQuAD`, `ResNet-50 v1.5`."""
    letters = re.sub(r"[^a-z0-9]", "", ASIDE.sub("", model.lower()))
    return VERSION.sub("", TASK.sub("", letters))


def kind_of(network: str, unit: str = "") -> str:
    """Return IMAGES, TEXT or SPEECH by the name of a network, else by what its unit counts; else UNKNOWN.

    Images say nothing: they are also what a figure counts whose unit nobody stated.
    """
    letters = re.sub(r"[^a-z0-9]", "", network.lower())
    kinds = (row["kind"] for row in table("network_kinds") if letters.startswith(tuple(row["beginnings"].split())))
    return next(kinds, KIND_BY_UNIT.get(unit, UNKNOWN))


def as_figures(table: pd.DataFrame, devices: "Devices") -> pd.DataFrame:
    """Return one row for each workload and device.

    A workload is a benchmark's model at one precision, dataset, way of compiling and batch; where each device has one
    batch of its own (the largest that its memory holds) the batch is no part of it.

    Parameters
    ----------
    table
        COLUMNS of single-device rows (xla bool; batch_size NaN: not stated) and, where it is known, `unit`.
    devices
        The table of devices. Rows of other devices, and of such as cannot run the precision, are left out.

    Returns
    -------
    DataFrame
        FIGURE_COLUMNS and the features of `specifications.with_features`. Machines with the same device count as one,
        by the mean of the logarithms.
    """
    matches = [devices.find(str(gpu)) for gpu in table["gpu"]]
    precisions = [precision_name(str(text)) for text in table["precision"]]
    pairs = zip(matches, precisions, strict=True)
    able = [device is not None and device.computes(precision) for device, precision in pairs]
    rows = table.assign(
        device=[device.gpu if device else None for device in matches],
        precision=precisions,
        stack=[f"{ASIDE.sub('', str(row.benchmark)).strip()} {row.framework}" for row in table.itertuples()],
        network=[network_name(str(model)) for model in table["model"]],
        dataset=table["dataset"].fillna("").astype(str),
        log_rate=np.log(table["images_per_s"].astype(float)),
    )[able]
    units = rows["unit"].fillna("").astype(str) if "unit" in rows else [""] * len(rows)
    rows = rows.assign(
        workload=_workloads(rows),
        bits=rows["precision"].map(BITS).fillna(32).astype(int),  # What computes in TF32 counts as 32.
        kind=[kind_of(*pair) for pair in zip(rows["network"], units, strict=True)],
    )
    keys = [name for name in FIGURE_COLUMNS if name != "log_rate"]
    return with_features(rows.groupby(keys, sort=True)["log_rate"].mean().reset_index(), devices)


def _workloads(rows: pd.DataFrame) -> pd.Series:
    key = ["benchmark", "framework", "model", "precision", "dataset", "xla"]
    batch = rows["batch_size"].astype("float64").fillna(0.0)
    batches_of_device = rows.assign(batch=batch).groupby([*key, "device"])["batch"].transform("nunique")
    several = batches_of_device.groupby([rows[name] for name in key]).transform("max") > 1
    batch = batch.where(several, 0.0).map(lambda size: f"{size:g}" if size else "")
    return rows[key].astype(str).agg(" | ".join, axis=1) + " | " + batch


def related(figures: pd.DataFrame) -> pd.DataFrame:
    """Return the figures of workloads that several devices have run: what a relation of devices is learnt from."""
    return figures[figures.groupby("workload")["device"].transform("nunique") > 1].reset_index(drop=True)


def shipped_devices() -> "Devices":
    """Return the table of device specifications that comes with the library."""
    return read_devices(DEVICES)


@cache
def shipped_figures(studies: Path = STUDIES) -> pd.DataFrame:
    """Return what the library ships, as `as_figures` gives it, of workloads that several devices have run."""
    return related(as_figures(single_device_rows(studies), shipped_devices()))


@cache
def single_device_rows(studies: Path = STUDIES) -> pd.DataFrame:
    """Return rows of one device of OF_DEVICES, in COLUMNS and `unit`, without those that another part decides."""
    parts = (with_machine_facts(read_published(figures_file(name, studies))) for name in OF_DEVICES)
    table = pd.concat(parts, ignore_index=True)
    usable = (table["gpus"] == 1) & ~table["dataset"].str.contains(DISTORTED)
    usable &= ~table["framework_version"].str.contains(WITHOUT_CUDNN, regex=False)
    return table.loc[usable, [*COLUMNS, "unit"]].reset_index(drop=True)
