"""The width of an interval from errors on what was left out of a fit."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

FEWEST = 3  # groups that a class needs to have a width of its own, since one is left out


class Goal(NamedTuple):
    """What is asked of errors on what was left out: median, 90th percentile, and 85 to 95 % in the 90 % interval."""

    median: float
    p90: float

    def told(self, row: Mapping[str, float]) -> str:
        """The goal in words, and whether a row (median_abs_error, p90_abs_error, coverage90) holds it, as printed."""
        median, p90, inside = (row[name] for name in ("median_abs_error", "p90_abs_error", "coverage90"))
        missed = {
            "median": round(median, 3) > self.median, "90th percentile": round(p90, 2) > self.p90,
            "coverage": not 0.85 <= round(inside, 2) <= 0.95,
        }  # fmt: skip
        words = " and ".join(name for name, wrong in missed.items() if wrong)
        asked = f"{100 * self.median:g} %, {100 * self.p90:g} %, 85 to 95 %"
        return f"{asked}: {words} missed" if words else f"{asked}: held"


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
