"""The named ways to tell the efficiency of several devices from one; all fit on the same tables and give the same."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from sweetspot.scaling import curves
from sweetspot.scaling.evidence import average_efficiency, sound
from sweetspot.scaling.pooled import ByEra, fit_eras, of_eras, predict_pooled

# What each is, for a reader of the report.
METHODS = {
    "mean_efficiency": "the 2018 rule: mean of the study's families at the same model and batch",
    "same_device_count": "mean of all device families with the same number of devices",
    "amdahl": "Amdahl's law, one serial share for each model and precision",
    "usl": "universal scalability law, two constants for each model and precision",
    "ring_allreduce": "ring all-reduce with latency, bandwidth and overlap of each link class",
    "pooled_ring": "ring model pooled over device families and machines (learned)",
}
BY_NETWORK = ("ring_allreduce", "pooled_ring")  # they ask what a network exchanges; the others know it by its name only
RULE_2018, LEARNED = "mean_efficiency", "pooled_ring"
NEEDED = ("batch_size", "efficiency", "families", "spread")
Predictor = Callable[[pd.DataFrame], pd.DataFrame]


def fit_method(method: str, evidence: pd.DataFrame, rule: pd.DataFrame, pooled: ByEra | None = None) -> Predictor:
    """Fit one of METHODS; the predictor takes cells and returns `efficiency` and `scale`, same index.

    evidence: EVIDENCE_COLUMNS; rows with a warning (super-linear, inconsistent) do not take part.
    pooled: `fit_eras` of this evidence where it is done already, the dearest of the fits.
    rule: the study's own efficiency table with `family`, on which the 2018 rule rests; empty: it takes evidence.
    cells: EVIDENCE_COLUMNS without efficiency. `scale` is the method's own sd in log units (1 where it has none);
    intervals follow by `validation`. Raises KeyError for a name that is not in METHODS.
    """
    rows = sound(evidence)
    if method == RULE_2018:
        table = rule if len(rule) else rows.assign(base_instance=rows["gpu"])
        average = average_efficiency(table)
        return lambda cells: mean_efficiency(average, cells)[["efficiency"]].assign(scale=1.0)
    if method == LEARNED:
        models = pooled or fit_eras(rows)
        return lambda cells: of_eras(models, cells, predict_pooled)
    fits = {name: getattr(curves, name) for name in METHODS if hasattr(curves, name)}
    curve = fits[method](rows)
    return lambda cells: pd.DataFrame({"efficiency": curve(cells), "scale": 1.0}, index=cells.index)


def mean_efficiency(average: pd.DataFrame, cells: pd.DataFrame, level: float = 0.9) -> pd.DataFrame:
    """Efficiency of each cell by the mean of the families at the same framework, model, batch and precision.

    average: `evidence.average_efficiency`. cells: columns framework, model, batch_size, precision (index kept).
    A framework without averages takes those of all others. Where the model is missing, the mean over all models at the
    nearest batch (in doublings) is taken; where the precision is, that of the other precisions; an unknown batch takes
    the mean over the batches.
    Returns efficiency, low, high (dimensionless): the interval is the `level` prediction interval of a further
    family, mean +- t(n-1) s sqrt(1 + 1/n); NaN with fewer than two families. Source: Parkopedia 2018, section 3.
    """
    finders = {name: _finder(rows) for name, rows in average.groupby("framework")}
    everything = _finder(average)
    batches = cells["batch_size"].astype(float).fillna(0.0)
    wanted = list(zip(cells["framework"], cells["model"], cells["precision"], batches, strict=True))
    known = {cell: _row(finders.get(cell[0], everything)(cell[1], cell[2]), cell[3], level) for cell in set(wanted)}
    rows = [known[cell] for cell in wanted]
    return pd.DataFrame(rows, columns=["efficiency", "low", "high"], index=cells.index)


def _finder(average: pd.DataFrame) -> Callable[[str, str], np.ndarray]:
    """Finds rows of NEEDED: of a model and precision, else of the model, else of the precision, else all."""
    rows = average[list(NEEDED)].to_numpy(dtype=float)
    places = [average.groupby(names, sort=False).indices for names in (["model", "precision"], "model", "precision")]

    def find(model: str, precision: str) -> np.ndarray:
        for place, value in zip(places, ((model, precision), model, precision), strict=True):
            if value in place:
                return rows[place[value]]
        return rows

    return find


def _row(near: np.ndarray, batch_size: float, level: float) -> tuple[float, float, float]:
    from scipy.special import stdtrit  # the t quantile; scipy.stats takes a second to import

    if len(near) and batch_size > 0:
        distance = np.abs(np.log2(near[:, 0] / batch_size))
        near = near[distance <= distance.min() + 1e-9]
    if not len(near):
        return math.nan, math.nan, math.nan
    _, efficiency, families, spread = near.T
    mean, count = float(efficiency.mean()), families.max()
    if count < 2:
        return mean, math.nan, math.nan
    half = float(stdtrit(count - 1, (1 + level) / 2) * np.nanmean(spread) * math.sqrt(1 + 1 / count))
    return mean, max(mean - half, 0.0), mean + half
