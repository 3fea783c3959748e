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
    """Relative errors of uncertain speeds, and what the timing of some says about the others.

    Parameters
    ----------
    keys
        Correlation keys: all speeds of one key are off by the same factor.
    logs
        Logarithm of each factor, key x sample.
    selected
        Indices of the samples for which factors are returned; None: all. Expectations are
        always those over all samples.
    """

    keys: tuple[str, ...] = ()
    logs: Array = field(default_factory=lambda: np.zeros((0, 1)))
    selected: Indices | None = None
    _factors: dict[frozenset[str], dict[str, Array]] = field(default_factory=dict)

    def select(self, samples: Indices) -> "SpeedErrors":
        """Return the errors of some samples, with expectations over all of them."""
        selected = samples if self.selected is None else self.selected[samples]
        return SpeedErrors(self.keys, self.logs, selected, self._factors)

    @property
    def central(self) -> "SpeedErrors":
        """A single sample in which no speed is off."""
        return SpeedErrors(self.keys, np.zeros((len(self.keys), 1)))

    def cost_factors(self, timed: frozenset[str]) -> dict[str, Array]:
        """Return the expected cost of a job given the timings, relative to that without them.

        A timed speed gives its inverse. A speed related to timed ones (by common software, say)
        gives what the best linear prediction of its logarithm says. Keys about which the timings
        say nothing are left out. Each factor has the mean 1: timing makes nothing cheaper.
        """
        if timed not in self._factors:
            self._factors[timed] = self._predict(timed)
        factors = self._factors[timed]
        if self.selected is None:
            return factors
        return {key: values[self.selected] for key, values in factors.items()}

    def _predict(self, timed: frozenset[str]) -> dict[str, Array]:
        rows = [row for row, key in enumerate(self.keys) if key in timed]
        if not rows:
            return {}
        deviations = self.logs - self.logs.mean(axis=1, keepdims=True)
        covariance = np.atleast_2d(np.cov(self.logs, bias=True))
        scale = np.sqrt(np.diag(covariance))
        related = np.abs(covariance) >= UNRELATED * np.outer(scale, scale)
        covariance = np.where(related, covariance, 0.0)
        weights = np.linalg.lstsq(covariance[np.ix_(rows, rows)], covariance[rows], rcond=None)[0]
        factors = {}
        for row, key in enumerate(self.keys):
            if row in rows or weights[:, row].any():
                error = deviations[row] if row in rows else weights[:, row] @ deviations[rows]
                factors[key] = np.exp(-error) / np.exp(-error).mean()
        return factors

    def forecast(self, expected: Array, at_speed: Array, keys: tuple[str, ...], timed: frozenset[str]) -> Array:
        """Return hours or USD of a job as expected when its machine is chosen.

        Parameters
        ----------
        expected
            As expected before anything is timed, class x 1.
        at_speed
            As expected once the speed itself is known, class x sample.
        keys
            Correlation key of the speed of each class; empty where the speed is certain.
        timed
            The keys that are timed.

        Returns
        -------
        Array
            Class x sample where a timing says something, else class x 1.
        """
        factors = self.cost_factors(timed)
        if not any(key in factors for key in keys):
            return expected
        values = np.broadcast_to(expected, at_speed.shape).copy()
        for row, key in enumerate(keys):
            if key in timed:
                values[row] = at_speed[row]
            elif key in factors:
                values[row] *= factors[key]
        return values


def select_speeds_to_time(
    expected: Mapping[str, Array], jobs: Array, trials: Mapping[str, float], errors: SpeedErrors
) -> frozenset[str]:
    """Select the speeds that are worth timing before jobs are given to rented machines.

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
    some_samples = errors.select(even_indices(errors.logs.shape[1], SELECTION_SAMPLES))

    def expected_usd(timed: frozenset[str]) -> float:
        factors = some_samples.cost_factors(timed)
        per_key = [np.outer(usd, factors.get(key, 1.0)) for key, usd in expected.items()]
        cheapest = np.full((len(jobs), 1), NEVER)
        for usd in per_key:
            cheapest = np.minimum(cheapest, usd)
        per_job = np.where(np.isfinite(cheapest), cheapest, 0.0).mean(axis=1)
        return float(jobs @ per_job) + sum(trials[key] for key in sorted(timed))

    timed = frozenset[str]()
    candidates = sorted(key for key in expected if key in trials and key in errors.keys)
    while candidates and jobs.any():
        best = min(candidates, key=lambda key: expected_usd(timed | {key}))
        if not expected_usd(timed | {best}) < expected_usd(timed) * (1.0 - MINIMUM_SAVING):
            break
        timed |= {best}
        candidates.remove(best)
    return timed


def even_indices(count: int, maximum: int) -> Indices:
    """Return at most `maximum` of `count` indices, evenly from the first to the last."""
    return np.unique(np.linspace(0, count - 1, min(count, maximum)).round().astype(int))
