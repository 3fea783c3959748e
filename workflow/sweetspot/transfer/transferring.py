"""The throughput of a person's workload on devices where nobody has run it, with its interval and its warnings.

Where all devices are in the pool of published figures the relation of devices counts. A device that is known by its
data sheet only gets the plain ratio of memory bandwidths: on figures held back no model was better.
"""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.cells import CELL_COLUMNS, USABLE
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.spelling import slipped
from sweetspot.throughput.gather import measured_table
from sweetspot.transfer.figures import BITS, UNKNOWN, kind_of, network_name, shipped_devices, shipped_figures
from sweetspot.transfer.plausibility import beyond_peak_factor
from sweetspot.transfer.relation import JointPrediction, Relation, condition, fit_relation, predict
from sweetspot.transfer.specifications import Device, Devices, precision_name, with_features
from sweetspot.warnings import joined, warning

COLUMNS = ("gpu", "images_per_s", "images_per_s_low", "images_per_s_high", "method", "warnings")
RELATION, BANDWIDTH_RATIO = "relation", "bandwidth_ratio"
# Seconds. One figure in a hundred of the pool has a shorter step; below, starting the kernels counts, which no data
# sheet tells. A tenth of it is refused: such a figure says nothing of another device.
SHORT_STEP, REFUSED_STEP = 0.010, 0.001
BATCHED_UNITS = ("images", "samples", "sequences")
SD_95 = 1.959964  # Standard deviations to either end of a 95 % interval.
UNSTEADY_LOG_SD = 0.05  # Standard deviation of the log of a figure whose steps were not steady.
OLDER_ARCHITECTURES = ("kepler", "maxwell", "pascal", "volta", "turing", "vega")  # Before 2020.
# Half widths of the 90 % interval by era, of the relation in its standard deviations and of the ratio of bandwidths in
# the logarithm: from workloads, or programs and devices, left out in turn (research/transfer_errors.py).
RELATION_WIDTH = {"older": 1.476037, "modern": 1.391269}
RATIO_HALF_WIDTH = {"older": 0.877, "modern": 0.489}


class Measured(NamedTuple):
    """One figure of one device.

    log_sd: standard deviation of its logarithm (0: taken as it stands); batch_size: samples of a step (NaN: not
    stated); warnings: those that it has already.
    """

    device: Device
    images_per_s: float
    model: str
    precision: str
    framework: str
    batch_size: float = math.nan
    unit: str = "images"
    log_sd: float = 0.0
    warnings: tuple[dict[str, str], ...] = ()

    @property
    def step_s(self) -> float:
        """Seconds of a step; infinite where the batch is not stated, or not counted in the unit of the figure."""
        batched = self.unit in BATCHED_UNITS and self.batch_size > 0
        return self.batch_size / self.images_per_s if batched else math.inf


def measured_from_row(row: Any, device: Device, unsteady: str) -> Measured:
    """Return the figure of a row of throughput.parquet; an unsteady one has a wider log_sd and a warning.

    Parameters
    ----------
    row
        Named tuple of the table's columns; its ends are those of a 95 % interval.
    device
        Its device.
    unsteady
        Message of the warning.
    """
    high = row.images_per_s_high
    log_sd = math.log(high / row.images_per_s) / SD_95 if high > row.images_per_s else 0.0
    warnings = (warning("unstable", unsteady),) if row.status == "unstable" else ()
    cell = str(row.model), str(row.precision), str(row.framework), float(row.batch_size), str(row.unit)
    return Measured(
        device, float(row.images_per_s), *cell, max(log_sd, UNSTEADY_LOG_SD) if warnings else log_sd, warnings
    )


def check_below_peak(figure: Measured) -> None:
    """Refuse a throughput whose arithmetic exceeds the dense peak of its device.

    The check uses the operations of facts/network_operations.csv; a network that is not in there passes. Raises
    UserError.
    """
    rate, gpu = figure.images_per_s, figure.device.gpu
    factor = beyond_peak_factor(gpu, 1, figure.precision, figure.model, "", rate)
    if factor > 1.0:
        raise UserError(
            f"{rate:,.6g} {figure.unit} per second of {figure.model} are {factor:,.3g} times what one {gpu} can do at "
            f"its dense peak in {figure.precision}; expected at most {rate / factor:,.4g}"
        )


@cache
def learn_devices(studies: Path = STUDIES) -> Relation:
    """Fit the relation of devices to what the project ships in `studies`. Raises UserError."""
    return fit_relation(shipped_figures(studies))


def era_of(architectures: Sequence[str]) -> str:
    """Return 'older' if one of the devices came before 2020, else 'modern'."""
    return "older" if any(name in OLDER_ARCHITECTURES for name in architectures) else "modern"


def transferred(measured: Sequence[Measured], targets: Sequence[Device], relation: Relation) -> pd.DataFrame:
    """Predict the workload of measured figures on further devices.

    Parameters
    ----------
    measured
        Figures of one workload, each of one device.
    targets
        Devices to predict for.
    relation
        What was learnt of devices.

    Returns
    -------
    DataFrame
        COLUMNS, one row for each target: throughput of one device in the unit of `measured` with its 90 % prediction
        interval. A device that cannot run the precision has no figure and the warning `cannot_run`.

    Raises
    ------
    UserError
        If a measured device cannot run the precision, if no target can, or if a step is too short to say anything.
    """
    precision = precision_name(measured[0].precision)
    _check(measured, precision, relation)
    able = [device for device in targets if device.computes(precision)]
    if not able:
        names = ", ".join(device.gpu for device in targets)
        raise UserError(f"{measured[0].model}: none of {names} computes in {precision}; expected a device that does")
    prediction = _predict_together(measured, able, precision, relation)
    pool = {gpu: shipped_devices().by_gpu[gpu] for gpu in relation.figures["device"]}
    makers = {device.maker for device in pool.values()}
    log_sd = float(np.mean([figure.log_sd for figure in measured]))
    rows: dict[str, dict[str, object]] = {
        device.gpu: {"gpu": device.gpu, "warnings": [cannot_run(device, precision)]} for device in targets
    }
    for position, target in enumerate(able, len(measured)):
        involved = [*(figure.device for figure in measured), target]
        era = era_of([device.architecture for device in involved])
        unknown = [gpu for gpu in dict.fromkeys(device.gpu for device in involved) if gpu not in pool]
        if not unknown:
            method, rate = RELATION, math.exp(prediction.mean[position])
            half_width = RELATION_WIDTH[era] * math.sqrt(prediction.covariance[position, position])
        else:
            method, rate = BANDWIDTH_RATIO, _by_bandwidth(measured, target)
            if not {device.maker for device in involved} <= makers:
                era = "older"  # Nothing is known of such devices: the widest interval.
            half_width = math.hypot(RATIO_HALF_WIDTH[era], RELATION_WIDTH[era] * log_sd)
        low, high, short_step = _short_step(measured, rate, half_width)
        warnings = joined(
            [pair for figure in measured for pair in figure.warnings],
            _limits(measured[0], precision, relation),
            [warning("specified_only", f"{gpu} is known by its specifications only") for gpu in unknown],
            short_step,
        )
        rows[target.gpu] = dict(zip(COLUMNS, (target.gpu, rate, low, high, method, warnings), strict=True))
    return pd.DataFrame([rows[device.gpu] for device in targets], columns=list(COLUMNS))


def _predict_together(
    measured: Sequence[Measured], targets: Sequence[Device], precision: str, relation: Relation
) -> JointPrediction:
    """Predict the measured devices and the targets, given what was measured."""
    first, network = measured[0], network_name(measured[0].model)
    cells = pd.DataFrame({"device": [*(figure.device.gpu for figure in measured), *(device.gpu for device in targets)]})
    cells = cells.assign(
        workload="asked", precision=precision, framework=first.framework, stack=f"asked {first.framework}",
        network=network, kind=kind_of(network, first.unit), bits=BITS.get(precision, 32),
    )  # fmt: skip
    prediction = predict(relation, with_features(cells, shipped_devices()))
    log_rates, log_sds = np.array([(math.log(figure.images_per_s), figure.log_sd) for figure in measured]).T
    return condition(prediction, list(range(len(measured))), log_rates, log_sds)


def _by_bandwidth(measured: Sequence[Measured], device: Device) -> float:
    """Return the geometric mean of the measured throughputs, each times the ratio of memory bandwidths."""
    ratios = [figure.images_per_s / figure.device.memory_bandwidth_gb_s for figure in measured]
    return device.memory_bandwidth_gb_s * math.exp(np.mean(np.log(ratios)))


def cannot_run(device: Device, precision: str) -> dict[str, str]:
    """Return the warning of a device that has no unit for a precision."""
    return warning("cannot_run", f"{device.gpu} does not compute in {precision}")


def measured_from_run_files(files: Sequence[str], devices: Devices) -> Measured:
    """Return the figure of runs of one cell on one device.

    Raises UserError: no run file, a run that failed, of several or of logical devices, of a processor, of two cells.
    """
    cells = list(measured_table(files, {}).itertuples())
    if len(cells) != 1:
        names = ", ".join(CELL_COLUMNS)
        raise UserError(f"{files[0]}: the run files are of {len(cells)} cells ({names}); expected one")
    (cell,) = cells
    if cell.status not in USABLE:
        raise UserError(f"{files[0]}: the run has the status {cell.status!r} and no figure; expected one that ran")
    if cell.gpus != 1 or cell.logical:
        kind = "logical devices" if cell.logical else "devices"
        raise UserError(f"{files[0]}: a figure of {cell.gpus} {kind}; expected one of a single device")
    return measured_from_row(cell, devices.get(str(cell.gpu)), "the measured figure is not steady")


def _check(measured: Sequence[Measured], precision: str, relation: Relation) -> None:
    """Refuse figures from which nothing follows. Raises UserError."""
    name = measured[0].model
    meant = slipped(network_name(name), sorted(set(relation.figures["network"])))
    if meant is not None:
        raise UserError(f"the model is {name!r}; did you mean '{meant}'? (another network needs another name)")
    for figure in measured:
        if not figure.device.computes(precision):
            precisions = ", ".join(name for name, peak in figure.device.peaks.items() if peak > 0)
            raise UserError(
                f"{figure.model} on {figure.device.gpu}: it does not compute in {precision}; expected a precision of "
                f"{precisions}"
            )
        if figure.step_s < REFUSED_STEP:
            raise UserError(
                f"{figure.model} on {figure.device.gpu}: a step of {1000 * figure.step_s:.2g} ms is spent on starting "
                f"kernels and says nothing of another device; expected at least "
                f"{1000 * REFUSED_STEP:g} ms, such as by a larger batch"
            )


def _short_step(
    measured: Sequence[Measured], rate: float, half_width: float
) -> tuple[float, float, list[dict[str, str]]]:
    """Return low, high and a warning where a step is so short that starting kernels, which no device shortens, counts.

    The faster device gains less then, the slower one loses less.
    """
    low, high = rate * math.exp(-half_width), rate * math.exp(half_width)
    step_s = min(figure.step_s for figure in measured)
    new_step_s = step_s * measured[0].images_per_s / rate
    if min(step_s, new_step_s) >= SHORT_STEP:
        return low, high, []
    message = (
        f"a step of {1000 * min(step_s, new_step_s):.2g} ms is shorter than those learnt from "
        f"({1000 * SHORT_STEP:g} ms): starting kernels may decide it, the interval is widened"
    )
    low, high = low * min(1.0, new_step_s / SHORT_STEP), high * max(1.0, SHORT_STEP / step_s)
    return low, high, [warning("short_step", message)]


def _limits(figure: Measured, precision: str, relation: Relation) -> list[dict[str, str]]:
    """Return a warning for each thing about the workload that nothing was learnt of."""
    warnings = []
    if kind_of(network_name(figure.model), figure.unit) == UNKNOWN:
        message = f"whether {figure.model} works on images, text or speech is not known: devices are related by what "
        warnings.append(warning("kind_unknown", f"{message}all kinds have in common, the interval is wider"))
    if BITS.get(precision, 32) not in set(relation.figures["bits"]):
        message = f"no figure in {precision} was learnt from: how devices are related in it is known by their peaks"
        warnings.append(warning("unknown_precision", f"{message} only"))
    if math.isinf(figure.step_s) and figure.unit in BATCHED_UNITS:
        message = "the batch is not stated: whether starting kernels decides is not checked"
        warnings.append(warning("batch_unknown", message))
    return warnings
