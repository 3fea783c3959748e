"""Single-device figures as the relation of devices reads them: workload and kind, device, program."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from sweetspot.facts.shipped_tables import DEVICES, OF_DEVICES, STUDIES, figures_file, table
from sweetspot.throughput.published import read_published, with_machine_facts
from sweetspot.transfer.specifications import Devices, bare_name, precision_name

BITS = {"fp16": 16, "bf16": 16, "fp8": 8, "fp4": 4}  # of a number, where it has fewer than 32


@cache
def network_name(model: str) -> str:
    """Return one name for all spellings of a network, e.g. 'bertlarge' for 'BERT-large SQuAD', so that figures of the
    same network from different sources are compared. Case, separators and a ResNet's version are ignored.
    """
    letters = bare_name(model)
    for row in table("networks"):
        if letters == row["network"] or letters in row["spellings"].split():
            return row["network"]
    return re.sub(r"v(1|15|2)$", "", letters)


def kind_of(network: str) -> str:
    """Return 'images', 'text' or 'speech' by the name of a network; else 'unknown'."""
    rows = table("network_kinds")
    return next((row["kind"] for row in rows if network.startswith(tuple(row["beginnings"].split()))), "unknown")


def with_features(figures: pd.DataFrame) -> pd.DataFrame:
    """Add to rows of model, device and precision the features from which speeds on other devices are predicted:
    network, kind (`images`, `text`, `speech`, `unknown`), bits (of a number), and of the device its architecture and
    the natural logs `peak` (dense TFLOP/s of the precision; NaN: cannot run it), `bandwidth` (GB/s), `memory` (GB) and
    `vector` (fp32 TFLOP/s outside of the matrix units).
    """
    devices = shipped_devices()
    sheet = devices.sheet.loc[figures["device"]].set_axis(figures.index)
    peaks = [devices.by_gpu[row.device].peak(row.precision) for row in figures.itertuples()]
    networks = figures["model"].map(network_name)
    return figures.assign(
        network=networks,
        kind=networks.map(kind_of),
        bits=figures["precision"].map(BITS).fillna(32),  # What computes in TF32 counts as 32.
        architecture=sheet["architecture"],
        peak=np.log(peaks),
        bandwidth=np.log(sheet["memory_bandwidth_gb_s"]),
        memory=np.log(sheet["memory_gb"]),
        # Where no fp32 is published: 60, as of the data-centre devices of the same years.
        vector=np.log(sheet["fp32_tflops"].fillna(60.0)),
    )


def as_figures(table: pd.DataFrame) -> pd.DataFrame:
    """Reduce published single-device speeds to one log rate for each workload and device, the data from which the
    relation between devices is fitted. A workload is a benchmark's model at one precision, dataset, way of compiling
    and batch; where each device was run at one batch only (the largest that fits its memory) the batch is not part of
    the workload. Columns of `table`: benchmark, framework, model, batch_size (NaN: not stated), precision, dataset,
    xla, gpu, images_per_s; rows of unknown devices, and of such as cannot run the precision, are left out. Returned
    are workload, device, stack (text: benchmark and framework), log_rate (mean log images/s) and `with_features`.
    """
    matches = [shipped_devices().find(str(gpu)) for gpu in table["gpu"]]
    rows = table.assign(
        device=[device.gpu if device else None for device in matches],
        precision=table["precision"].map(precision_name),
        stack=table["benchmark"].str.replace(r"\(.*?\)", "", regex=True).str.strip() + " " + table["framework"],
        log_rate=np.log(table["images_per_s"].astype(float)),
    )
    rows = with_features(rows[rows["device"].notna()]).dropna(subset="peak")
    names = ["benchmark", "framework", "model", "precision", "dataset", "xla"]
    rows["batches"] = rows.groupby([*names, "device"], dropna=False)["batch_size"].transform("nunique")
    is_swept = rows.groupby(names, dropna=False)["batches"].transform("max") > 1
    batches = rows["batch_size"].where(is_swept).map("{:g}".format)
    rows["workload"] = rows[names].fillna("").astype(str).agg(" | ".join, axis=1) + " | " + batches
    by_device = rows.groupby(["workload", "device"])
    return by_device.first().assign(log_rate=by_device["log_rate"].mean()).reset_index()


def related(figures: pd.DataFrame) -> pd.DataFrame:
    """Return the rows (of `as_figures`) whose workload was run on at least two devices, to fit a Relation to."""
    return figures[figures.groupby("workload")["device"].transform("nunique") > 1].reset_index(drop=True)


@cache
def shipped_devices() -> Devices:
    """Return the devices of facts/devices.csv, the specifications that are shipped with the library."""
    return Devices(pd.read_csv(DEVICES).fillna({"names": ""}))


@cache
def shipped_figures(studies: Path = STUDIES) -> pd.DataFrame:
    """Return the shipped single-device figures (columns of `as_figures`) of workloads run on several devices."""
    return related(as_figures(single_device_rows(studies)))


def single_device_rows(studies: Path = STUDIES) -> pd.DataFrame:
    """Return the published speeds of one device from which transfer between devices is learnt: rows (columns of
    throughput.csv and machine facts) of the studies OF_DEVICES, without runs that the host limits or that lack cuDNN.
    """
    parts = (with_machine_facts(read_published(figures_file(name, studies))) for name in OF_DEVICES)
    table = pd.concat(parts, ignore_index=True)
    # Bound by the host, not by the device, or another program: distorted images are made by the processor, and Torch7
    # without cuDNN computes by other kernels.
    is_excluded = table["dataset"].str.contains("distort") | table["framework_version"].str.contains("cuDNN None")
    return table[(table["gpus"] == 1) & ~is_excluded]
