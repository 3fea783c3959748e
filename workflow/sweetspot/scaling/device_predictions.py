"""Throughput of a workload on other devices and device counts, from figures that a reader measured."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.scaling.fitted import fit_shipped_scaling
from sweetspot.scaling.several_devices import scale_to_devices
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.transferring import Measured, check_figure, learn_devices, transferred

COLUMNS = (
    "gpu",
    "gpus",
    "interconnect",
    "images_per_s",
    "images_per_s_low",
    "images_per_s_high",
    "basis",
    "warnings",
)


def predict_throughput(
    figures: Sequence[Measured],
    gpus: Sequence[str],
    counts: Sequence[int],
    interconnect: str | None,
    studies: Path = STUDIES,
) -> pd.DataFrame:
    """Predict the throughput of a workload on each device and count.

    Parameters
    ----------
    figures
        Figures of one workload, measured on single devices.
    gpus
        Devices by name.
    counts
        How many of each device.
    interconnect
        What joins several devices; None: by the form of the device.
    studies
        Folder of the studies whose published figures the models learn from.

    Returns
    -------
    pandas.DataFrame
        COLUMNS, one row per device and count in the order given; `_low` and `_high` are the 90 % interval. A device
        without a prediction has one row with nan.

    Raises
    ------
    UserError
        The figures are of several workloads, one exceeds the peak of its device, or a device is unknown.
    """
    workloads = sorted({(figure.model, figure.precision, figure.framework) for figure in figures})
    if len(workloads) > 1:
        names = " and ".join(f"{model} in {precision}" for model, precision, _ in workloads)
        raise UserError(f"--measured: figures of {names}; expected several devices with one workload")
    devices = {device.gpu: device for device in map(shipped_devices().get, gpus)}
    relation = learn_devices(studies)
    for figure in figures:
        check_figure(figure, relation)
    single = transferred(figures, list(devices.values()), relation)
    tables = [single.assign(gpus=1, interconnect="", basis="transferred")]
    predicted = single[single["images_per_s"].notna()]
    several = [count for count in counts if count > 1]
    if several and len(predicted):
        scaling = fit_shipped_scaling(studies)
        scaled = scale_to_devices(predicted, several, figures[0], interconnect, scaling)
        tables.append(scaled.assign(basis="extrapolated"))
    table = pd.concat(tables, ignore_index=True)
    order = {gpu: index for index, gpu in enumerate(devices)}
    table = table.assign(order=table["gpu"].map(order)).sort_values(["order", "gpus"])
    return table.loc[table["gpus"].isin(counts) | table["images_per_s"].isna(), list(COLUMNS)]
