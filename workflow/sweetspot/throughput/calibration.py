"""The width of an interval from errors on what was left out of a fit."""

import numpy as np

FEWEST = 3  # groups that a class needs to have a width of its own, since one is left out


def calibrate(score: np.ndarray, families: np.ndarray, level: float) -> float:
    """Return how wide a prediction interval must be: the error score that a share `level` of held-out figures does not
    exceed. Multiplied by a prediction's own spread, it gives an interval with that coverage (split conformal
    prediction: Vovk et al. 2005; weights, Tibshirani et al. 2019). NaN without any figures.

    Parameters
    ----------
    score, families, level
        Error (at least 0) of each figure left out of the fit, in units of its predicted spread; the family of each,
        e.g. its device (a row weighs with the root of its family's share, so that a device with hundreds of logs does
        not set the width alone); the wanted coverage, such as 0.9. The figure to be predicted counts as one row of
        infinite score, so few figures give a wider interval; instead of infinity, the largest score.
    """
    if len(score) == 0:
        return float("nan")
    _, inverse, count = np.unique(families, return_inverse=True, return_counts=True)
    weight = count[inverse] ** -0.5
    order = np.argsort(score)
    share = np.cumsum(weight[order]) / (weight.sum() + weight.mean())
    index = min(int(np.searchsorted(share, level - 1e-9)), len(score) - 1)
    return float(score[order][index])
