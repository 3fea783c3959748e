"""Throughput of a workload on other devices and device counts, from figures that a reader measured."""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.frameworks import ALWAYS_COMPILED
from sweetspot.scaling.fitted import FittedScaling, fit_shipped_scaling, predicted_rates
from sweetspot.scaling.intervals import LEARNED_METHOD
from sweetspot.scaling.networks import listed_networks
from sweetspot.scaling.step_facts import device_family
from sweetspot.spelling import slipped
from sweetspot.throughput.published import guessed_interconnect
from sweetspot.transfer.figures import network_name, shipped_devices
from sweetspot.transfer.plausibility import MIN_OF_PEAK, beyond_peak_factor
from sweetspot.transfer.specifications import precision_name
from sweetspot.transfer.transferring import RATES, Measured, learn_devices, transferred

COLUMNS = ["gpu", "gpus", "interconnect", *RATES, "basis", "warnings"]
DEVICES_PER_NODE = 8
# Families whose boards have full links between all devices.
BOARD_FAMILIES = re.compile(r"(p|v|[abh]|gh)[1-3]00|mi[23]\d\d")


def predict_throughput(
    figures: Sequence[Measured], gpus: Sequence[str], counts: Sequence[int], studies: Path = STUDIES
) -> pd.DataFrame:
    """Predict how fast a workload runs on each kind and number of devices, from what a reader measured: the answer of
    `sweetspot predict`. Returned are COLUMNS, a row per device and count in the order given; `images_per_s` is of all
    devices together, `_low` and `_high` its 90 % interval. A device without a prediction has one row with NaN. Raises
    UserError where the figures are of several workloads, one exceeds the peak of its device, or a device is unknown.

    Parameters
    ----------
    figures, gpus, counts, studies
        Measured speeds of one workload on single devices; names of the devices to predict; numbers of devices, for
        each name; folder of the studies whose published figures the models learn from.
    """
    workloads = sorted({(figure.model, figure.precision, figure.framework) for figure in figures})
    if len(workloads) > 1:
        names = " and ".join(f"{model} in {precision}" for model, precision, _ in workloads)
        raise UserError(f"--measured: figures of {names}; expected several devices with one workload")
    devices = {device.gpu: device for device in map(shipped_devices().get, gpus)}
    for figure in figures:
        check_figure(figure)
    single = transferred(figures, list(devices.values()), learn_devices(studies))
    tables = [single.assign(gpus=1, interconnect="", basis="transferred")]
    predicted = single[single["images_per_s"].notna()]
    several = [count for count in counts if count > 1]
    if several and len(predicted):
        scaled = scale_to_devices(predicted, several, figures[0], fit_shipped_scaling(studies))
        tables.append(scaled.assign(basis="extrapolated"))
    table = pd.concat(tables).sort_values("gpus")
    table = table.loc[table["gpus"].isin(counts) | table["images_per_s"].isna(), COLUMNS]
    return pd.concat([table[table["gpu"] == gpu] for gpu in devices])


def check_figure(figure: Measured) -> None:
    """Raise UserError if a speed that a reader measured cannot be used to predict others: a misspelt model, a
    precision that its device lacks, or a rate above its peak (probably another unit).
    """
    model, device, rate = figure.model, figure.device, figure.images_per_s
    meant = slipped(network_name(model), listed_networks().index)
    if meant is not None:
        raise UserError(f"the model is {model!r}; did you mean '{meant}'? (another network needs another name)")
    if not device.computes(precision_name(figure.precision)):
        raise UserError(f"{device.gpu} does not compute in {figure.precision}; expected another precision")
    factor = beyond_peak_factor(device, figure.precision, model, rate)
    if factor < MIN_OF_PEAK or factor > 1:
        raise UserError(
            f"{rate:,.6g} per second of {model} are {factor:,.3g} times what {device.gpu} can do at its dense peak; "
            f"expected at most {rate / factor:,.4g} (wrong unit?)"
        )


def usual_interconnect(gpu: str) -> str:
    """Return how devices of this name are usually linked within a machine (`ici`, `pcie`, `nvlink` or
    `nvlink_bridge`), needed to predict their scaling where no machine is given.
    """
    if gpu.startswith("TPU"):
        return "ici"
    if "PCI" in gpu.upper():
        return "pcie"
    has_board = BOARD_FAMILIES.fullmatch(device_family(gpu)) and not gpu.endswith("NVL")
    return "nvlink" if has_board else guessed_interconnect(gpu)


def scale_to_devices(
    single: pd.DataFrame, counts: Sequence[int], figure: Measured, scaling: FittedScaling
) -> pd.DataFrame:
    """Predict the speed of n devices of each kind from that of one: rows of `single` for each count, with images_per_s
    and its 90 % bounds for all devices together, gpus and interconnect.

    Parameters
    ----------
    single, counts, figure, scaling
        A row per kind of device (speed of one): gpu, images_per_s with `_low`, `_high` (90 %), warnings; numbers of
        devices; a measured figure of the workload, read for its model, batch, precision and framework; the fitted
        scaling model, whose error is independent of that of `single`.
    """
    base = single.rename(columns={name: f"base_{name}" for name in RATES})
    cells = base.merge(pd.DataFrame({"gpus": list(counts)}), how="cross")
    cells["interconnect"] = cells["gpu"].map(usual_interconnect)
    facts = cells.assign(
        **{name: getattr(figure, name) for name in ("model", "batch_size", "precision", "framework")},
        nodes=-(-cells["gpus"] // DEVICES_PER_NODE),
        framework_version="",
        xla=figure.framework in ALWAYS_COMPILED,
        exchange=True,
    )
    return cells.assign(**predicted_rates(cells, scaling.predict(LEARNED_METHOD, facts)))
