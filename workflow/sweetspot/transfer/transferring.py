"""The throughput of a person's workload on devices where nobody has run it, with its interval and its warnings.

Where all devices are in the pool of published figures the relation of devices counts. A device that is known by its
data sheet only gets the plain ratio of memory bandwidths: on figures held back no model was better.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.spelling import slipped
from sweetspot.transfer.figures import network_name, shipped_devices, shipped_figures, with_features
from sweetspot.transfer.plausibility import beyond_peak_factor
from sweetspot.transfer.relation import Relation, condition, fit_relation, predict
from sweetspot.transfer.specifications import Device, precision_name
from sweetspot.warnings import warning

# Seconds. One figure in a hundred of the pool has a shorter step; below, starting the kernels counts, which no data
# sheet tells.
SHORT_STEP = 0.010
MIN_OF_PEAK = 1e-6  # a figure below has another unit
BATCHED_UNITS = ("images", "samples", "sequences")
OLDER_ARCHITECTURES = ("kepler", "maxwell", "pascal", "volta", "turing", "vega", "tpu")  # Before 2020, or not learnt.
# Half widths of the 90 % interval by era, of the relation in its standard deviations and of the ratio of bandwidths in
# the logarithm: from workloads, or programs and devices, left out in turn (research/transfer_errors.py).
RELATION_WIDTH = {"older": 1.476037, "modern": 1.391269}
RATIO_HALF_WIDTH = {"older": 0.877, "modern": 0.489}


class Measured(NamedTuple):
    """A measured throughput of one device; batch_size: samples of a step (NaN: unknown); log_sd: spread of its log."""

    device: Device
    images_per_s: float
    model: str
    precision: str
    framework: str
    batch_size: float = math.nan
    unit: str = "images"
    log_sd: float = 0.0

    @property
    def step_s(self) -> float:
        """Seconds of one training step; infinite if the batch is not stated or `unit` does not count batch samples."""
        batched = self.unit in BATCHED_UNITS and self.batch_size > 0
        return self.batch_size / self.images_per_s if batched else math.inf


def check_figure(figure: Measured, relation: Relation) -> None:
    """Raise UserError for a figure with a misspelt model, a precision its device lacks, or a rate above its peak."""
    model, device, rate = figure.model, figure.device, figure.images_per_s
    meant = slipped(network_name(model), sorted(set(relation.figures["network"])))
    if meant is not None:
        raise UserError(f"the model is {model!r}; did you mean '{meant}'? (another network needs another name)")
    if not device.computes(precision_name(figure.precision)):
        raise UserError(f"{device.gpu} does not compute in {figure.precision}; expected another precision")
    factor = beyond_peak_factor(device, figure.precision, model, rate)
    if factor < MIN_OF_PEAK:
        raise UserError(f"{rate:,.6g} per second of {model} are {factor:.1g} of what {device.gpu} can do; wrong unit?")
    if factor > 1:
        raise UserError(
            f"{rate:,.6g} per second of {model} are {factor:,.3g} times what {device.gpu} can do at its dense peak; "
            f"expected at most {rate / factor:,.4g}"
        )


@cache
def learn_devices(studies: Path = STUDIES) -> Relation:
    """Return the Relation fitted to the published figures in `studies`. Raises UserError for a faulty file."""
    return fit_relation(shipped_figures(studies))


def era_of(architectures: Iterable[str]) -> str:
    """Return 'older' if one of the devices came before 2020, else 'modern'."""
    return "older" if any(name in OLDER_ARCHITECTURES for name in architectures) else "modern"


def transferred(measured: Sequence[Measured], targets: Sequence[Device], relation: Relation) -> pd.DataFrame:
    """Predict the throughput of a workload on further devices from figures of the same workload on others.

    Parameters
    ----------
    measured
        Figures of one workload, each of one device.
    targets
        Devices to predict for.
    relation
        The relation of devices, fitted to published figures (`learn_devices`).

    Returns
    -------
    DataFrame
        One row for each target: gpu, images_per_s of one device with `_low` and `_high` (90 % prediction interval),
        warnings. A device that cannot run the precision has NaN and the warning `cannot_run`.
    """
    first, count, pool = measured[0], len(measured), relation.figures
    names = [*(figure.device.gpu for figure in measured), *(device.gpu for device in targets)]
    precision = precision_name(first.precision)
    cells = pd.DataFrame({"device": names, "model": first.model, "precision": precision})
    cells = with_features(cells, shipped_devices()).assign(workload="asked", stack="asked")
    log_rates, log_sds = np.array([(math.log(figure.images_per_s), figure.log_sd) for figure in measured]).T
    mean, covariance = condition(predict(relation, cells), list(range(count)), log_rates, log_sds)
    by_bandwidth = cells["bandwidth"] + np.mean(log_rates - cells["bandwidth"][:count])
    step_s = min(figure.step_s for figure in measured)
    rows = []
    for position, target in enumerate(targets, count):
        involved = cells.iloc[[*range(count), position]]
        era, sheet_only = era_of(involved["architecture"]), involved["device"][~involved["device"].isin(pool["device"])]
        log_rate, half_width = mean[position], RELATION_WIDTH[era] * math.sqrt(covariance[position, position])
        if len(sheet_only):
            log_rate = by_bandwidth[position]
            half_width = math.hypot(RATIO_HALF_WIDTH[era], RELATION_WIDTH[era] * np.mean(log_sds))
        can_run = target.computes(precision)
        rate = math.exp(log_rate) if can_run else math.nan
        new_step_s = step_s * first.images_per_s / rate
        notes = [warning("specified_only", f"{gpu} is known by its specifications only") for gpu in sheet_only.unique()]
        if min(step_s, new_step_s) < SHORT_STEP:
            message = f"a step is below {1000 * SHORT_STEP:g} ms: starting kernels may decide it, the interval is wider"
            notes.append(warning("short_step", message))
        rows.append(
            {
                "gpu": target.gpu,
                "images_per_s": rate,
                # No device shortens the start of kernels: the faster one gains less, the slower one loses less.
                "images_per_s_low": rate * math.exp(-half_width) * min(1.0, new_step_s / SHORT_STEP),
                "images_per_s_high": rate * math.exp(half_width) * max(1.0, SHORT_STEP / step_s),
                "warnings": notes
                if can_run
                else [warning("cannot_run", f"{target.gpu} does not compute in {precision}")],
            }
        )
    return pd.DataFrame(rows)
