"""What timing a machine reveals before jobs are given to it, and which machines are worth timing."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int_]
NEVER = np.inf  # hours or USD of a job where it cannot run
UNRELATED = 0.1  # Correlations below this are sampling noise: 1,000 unrelated samples have 0.03.
MINIMUM_SAVING = 0.01  # share of the expected cost; nobody sets up a machine to save less
SELECTION_SAMPLES = 250  # samples on which the machines to time are selected


@dataclass(frozen=True, eq=False)
class SpeedErrors:
    """Relative errors of uncertain speeds; predicts the errors of other speeds from timed ones.

    Parameters
    ----------
    keys
        Correlation keys: all speeds of one key are off by the same factor.
    logs
        Logarithm of each factor, key x sample.
    """

    keys: tuple[str, ...] = ()
    logs: Array = field(default_factory=lambda: np.zeros((0, 1)))
    _factors: dict[frozenset[str], dict[str, Array]] = field(default_factory=dict)

    @property
    def central(self) -> "SpeedErrors":
        """The same keys with a single sample in which every error is zero."""
        return SpeedErrors(self.keys, np.zeros((len(self.keys), 1)))

    def cost_factors(self, timed: frozenset[str]) -> dict[str, Array]:
        """Return, by key, expected costs of a job with `timed` speeds known over those without, by sample.

        A timed speed gives its inverse, a related speed (common software, say) the best linear prediction of its log;
        unrelated keys are left out. Each factor has the mean 1: timing makes nothing cheaper.
        """
        if timed not in self._factors:
            self._factors[timed] = self._predict(timed) if timed else {}
        return self._factors[timed]

    def _predict(self, timed: frozenset[str]) -> dict[str, Array]:
        """Return `cost_factors` by key, one value per sample, not cached."""
        rows = [row for row, key in enumerate(self.keys) if key in timed]
        deviations = self.logs - self.logs.mean(axis=1, keepdims=True)
        scale = self.logs.std(axis=1)
        covariance = deviations[rows] @ deviations.T / self.logs.shape[1]
        covariance[np.abs(covariance) < UNRELATED * np.outer(scale[rows], scale)] = 0.0
        weights = np.linalg.lstsq(covariance[:, rows], covariance, rcond=None)[0]
        factors = np.exp(-weights.T @ deviations[rows])
        factors /= factors.mean(axis=1, keepdims=True)
        return {self.keys[row]: factors[row] for row in np.flatnonzero(weights.any(axis=0))}


def select_speeds_to_time(
    expected: Mapping[str, Array], jobs: Array, trials: Mapping[str, float], errors: SpeedErrors
) -> frozenset[str]:
    """Return the keys of the speeds that are worth timing before jobs are given to rented machines.

    Forward selection: the timing that lowers the expected cost most, its trial included, is
    added as long as it saves MINIMUM_SAVING. Each class then goes, in each sample, to the offer
    that is expected to cost the least. A timing reveals speeds: future prices, stock and the
    number of jobs stay expectations.

    Parameters
    ----------
    expected
        USD of a job of each class on the cheapest offer of each correlation key, before anything
        is timed; NEVER where none can do it. The empty key: offers whose speed is certain.
    jobs
        Rented jobs per month, by class.
    trials
        USD per month that a timing costs, by key; only these can be timed.
    errors
        The errors of the speeds.

    Returns
    -------
    frozenset of str
        The keys of the speeds to time; empty where no timing is worth its trial.
    """
    samples = even_indices(errors.logs.shape[1], SELECTION_SAMPLES)

    def expected_usd(timed: frozenset[str]) -> float:
        factors, cheapest = errors.cost_factors(timed), np.full((len(jobs), 1), NEVER)
        for key, usd in expected.items():
            factor = factors[key][samples] if key in factors else np.ones(1)
            cheapest = np.minimum(cheapest, np.outer(usd, factor))
        return float(jobs @ finite(cheapest).mean(axis=1)) + sum(trials[key] for key in sorted(timed))

    timed = frozenset[str]()
    candidates = sorted(expected.keys() & trials.keys() & set(errors.keys))
    while True:
        options = [timed | {key} for key in candidates if key not in timed]
        best = min(options, key=expected_usd, default=timed)
        if not expected_usd(best) < expected_usd(timed) * (1.0 - MINIMUM_SAVING):
            return timed
        timed = best


def even_indices(count: int, maximum: int) -> Indices:
    """Return at most `maximum` of the indices 0 to `count` - 1, evenly spread from first to last."""
    return np.unique(np.linspace(0, count - 1, min(count, maximum)).round().astype(int))


def finite(values: Array) -> Array:
    """Return an array of the same shape, with 0 where a value is infinite or NaN (the job cannot run)."""
    return np.where(np.isfinite(values), values, 0.0)
