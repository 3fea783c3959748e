"""What timing a machine reveals of the speeds of all machines, before jobs are given to them."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int_]
UNRELATED = 0.1  # Correlations below this are sampling noise: 1,000 unrelated samples have 0.03.


@dataclass(frozen=True, eq=False)
class SpeedErrors:
    """Relative errors of uncertain speeds.

    Parameters
    ----------
    keys
        Correlation keys: all speeds of one key are off by the same factor.
    logs
        Logarithm of each factor, key x sample.
    """

    keys: tuple[str, ...]
    logs: Array

    @property
    def central(self) -> "SpeedErrors":
        """The same keys with a single sample in which every error is zero."""
        return SpeedErrors(self.keys, np.zeros((len(self.keys), 1)))


@lru_cache(maxsize=1024)
def cost_factors(errors: SpeedErrors, timed: frozenset[str]) -> dict[str, Array]:
    """Return, by key, expected costs of a job with `timed` speeds known over those without, by sample.

    A timed speed gives its inverse, a related speed (common software, say) the best linear
    prediction of its log; unrelated keys are left out. Each factor has the mean 1: timing makes
    nothing cheaper.
    """
    rows = [row for row, key in enumerate(errors.keys) if key in timed]
    if not rows:
        return {}
    deviations = errors.logs - errors.logs.mean(axis=1, keepdims=True)
    scale = errors.logs.std(axis=1)
    covariance = deviations[rows] @ deviations.T / errors.logs.shape[1]
    covariance[np.abs(covariance) < UNRELATED * np.outer(scale[rows], scale)] = 0.0
    weights = np.linalg.lstsq(covariance[:, rows], covariance, rcond=None)[0]
    factors = np.exp(-weights.T @ deviations[rows])
    factors /= factors.mean(axis=1, keepdims=True)
    return {errors.keys[row]: factors[row] for row in np.flatnonzero(weights.any(axis=0))}


def even_indices(count: int, maximum: int) -> Indices:
    """Return at most `maximum` of the indices 0 to `count` - 1, evenly spread from first to last."""
    return np.unique(np.linspace(0, count - 1, min(count, maximum)).round().astype(int))
