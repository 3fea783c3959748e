"""The width of an interval from errors on what was left out of a fit."""

import numpy as np

FEWEST = 3  # groups that a class needs to have a width of its own, since one is left out


def calibrate(score: np.ndarray, families: np.ndarray, level: float) -> float:
    """Return the score that a share `level` of held-out figures does not exceed (split conformal, weighted by family).

    Parameters
    ----------
    score, families, level
        Error (at least 0) of each held-out figure, in units of its predicted spread; its family (a row weighs with the
        root of its family's share, so that a device with hundreds of logs does not set the width alone); the coverage,
        such as 0.9. The figure to be predicted counts as one row of infinite score, so a short calibration set gives a
        wider interval; where it would be infinite, the largest score is returned; NaN without any.

    References
    ----------
    Vovk et al. 2005; weights, Tibshirani et al. 2019.
    """
    if len(score) == 0:
        return float("nan")
    _, inverse, count = np.unique(families, return_inverse=True, return_counts=True)
    weight = count[inverse] ** -0.5
    order = np.argsort(score)
    share = np.cumsum(weight[order]) / (weight.sum() + weight.mean())
    index = min(int(np.searchsorted(share, level - 1e-9)), len(score) - 1)
    return float(score[order][index])
