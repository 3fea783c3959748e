"""The throughput of a person's workload on devices where nobody has run it, with its interval and its warnings. Where
all devices are in the pool of published figures the relation of devices counts. A device that is known by its data
sheet only gets the plain ratio of memory bandwidths: on figures held back no model was better.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.transfer.figures import shipped_figures, with_features
from sweetspot.transfer.mfu import TO_BOUNDS
from sweetspot.transfer.relation import Relation, condition, fit_relation, predict
from sweetspot.transfer.specifications import Device, precision_name
from sweetspot.warnings import warning

RATES = ["images_per_s", "images_per_s_low", "images_per_s_high"]
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
    log_sd: float = 0.0


@cache
def learn_devices(studies: Path = STUDIES) -> Relation:
    """Return the Relation fitted to the published figures in `studies`. Raises UserError for a faulty file."""
    return fit_relation(shipped_figures(studies))


def era_of(architectures: Iterable[str]) -> str:
    """Return 'older' if one of the devices came before 2020, else 'modern'."""
    return "older" if any(name in OLDER_ARCHITECTURES for name in architectures) else "modern"


def transferred(measured: Sequence[Measured], targets: Sequence[Device], relation: Relation) -> pd.DataFrame:
    """Predict how fast a workload runs on devices where nobody ran it (`targets`), from speeds of the same workload on
    others. A row per target: gpu, images_per_s of one device with `_low` and `_high` (90 % prediction interval), and
    warnings. A device that cannot run the precision has NaN and the warning `cannot_run`.

    Parameters
    ----------
    measured, targets, relation
        Speeds of one workload, each on one device; data sheets of the devices to predict for; the relation of
        `learn_devices`, which says how speeds on devices are correlated.
    """
    first, count = measured[0], len(measured)
    precision = precision_name(first.precision)
    names = [device.gpu for device in (*(figure.device for figure in measured), *targets)]
    cells = pd.DataFrame({"device": names, "model": first.model, "precision": precision})
    cells = with_features(cells).assign(workload="asked", stack="asked")
    log_rates, log_sds = np.array([(math.log(figure.images_per_s), figure.log_sd) for figure in measured]).T
    mean, covariance = condition(predict(relation, cells), list(range(count)), log_rates, log_sds)
    by_bandwidth = cells["bandwidth"] + np.mean(log_rates - cells["bandwidth"][:count])
    is_sheet_only = ~cells["device"].isin(relation.figures["device"])
    rows = []
    for position, target in enumerate(targets, count):
        involved = cells.iloc[[*range(count), position]]
        era, sheet_only = era_of(involved["architecture"]), involved["device"][is_sheet_only].unique()
        log_rate, half_width = mean[position], RELATION_WIDTH[era] * math.sqrt(covariance[position, position])
        if len(sheet_only):
            log_rate = by_bandwidth[position]
            half_width = math.hypot(RATIO_HALF_WIDTH[era], RELATION_WIDTH[era] * np.mean(log_sds))
        notes = [warning("specified_only", f"{gpu} is known by its specifications only") for gpu in sheet_only]
        if not target.computes(precision):
            log_rate, notes = math.nan, [warning("cannot_run", f"{target.gpu} does not compute in {precision}")]
        rows.append((target.gpu, *np.exp(log_rate + half_width * TO_BOUNDS), notes))
    return pd.DataFrame(rows, columns=["gpu", *RATES, "warnings"])
