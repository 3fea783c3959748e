"""The 2018 study's rule: n devices deliver n x one device x the mean efficiency of the families it measured."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

NEEDED = ("batch_size", "efficiency", "families", "spread")


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
