"""The width of an interval from errors on what was left out of a fit."""

import numpy as np


def calibrate(score: np.ndarray, families: np.ndarray, level: float) -> float:
    """The score that `level` of held-out figures keep: split-conformal quantile, weighted by family.

    A row weighs with the root of its family's share, so that a device with hundreds of logs does not set the width
    alone. The figure to be predicted counts as one row of infinite score, so a short calibration set gives a wider
    interval; where it would be infinite, the largest score seen is returned. Source: Vovk et al. 2005; weights,
    Tibshirani et al. 2019.
    """
    if len(score) == 0:
        return float("nan")
    _, inverse, count = np.unique(families, return_inverse=True, return_counts=True)
    weight = count[inverse] ** -0.5
    order = np.argsort(score)
    share = np.cumsum(weight[order]) / (weight.sum() + weight.mean())
    place = min(int(np.searchsorted(share, level - 1e-9)), len(score) - 1)
    return float(score[order][place])
