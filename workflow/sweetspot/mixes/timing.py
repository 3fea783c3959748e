"""Timing machines before work is given to them: what a timing says, and which machines are worth one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
NEVER = np.inf  # hours or USD of a job where it cannot run
UNRELATED = 0.1  # correlation of two errors below which it is that of the sample: 1,000 samples of none have 0.03
MINIMUM_SAVING = 0.01  # share of the expected cost that a timing saves at least: for less nobody sets a machine up
SELECTION_SAMPLES = 250  # of the samples, on which the machines to time are selected


@dataclass(frozen=True)
class SpeedErrors:
    """Uncertain speeds, one row per correlation key, and what the timing of some says of the others.

    Parameters
    ----------
    keys
        Correlation keys: the speeds of one key are off by one factor.
    logs
        Logarithm of each speed, key x sample.
    places
        The samples that are looked at; None: all. Expectations are always those over all.
    whole
        The errors with all samples, of which these are some.

    """

    keys: tuple[str, ...] = ()
    logs: Array = field(default_factory=lambda: np.zeros((0, 1)))
    places: npt.NDArray[np.int_] | None = None
    whole: "SpeedErrors | None" = None

    def samples(self, places: npt.NDArray[np.int_]) -> "SpeedErrors":
        """The same errors, looked at in some of the samples."""
        key = places.tobytes()
        if key not in self._chosen:
            whole = self if self.whole is None else self.whole
            self._chosen[key] = SpeedErrors(
                self.keys, self.logs, places if self.places is None else self.places[places], whole
            )
        return self._chosen[key]

    @cached_property
    def _chosen(self) -> dict[bytes, "SpeedErrors"]:
        return {}

    @property
    def central(self) -> "SpeedErrors":
        """One sample in which no speed is off."""
        return SpeedErrors(self.keys, np.zeros((len(self.keys), 1)))

    @cached_property
    def _factors(self) -> dict[frozenset[str], dict[str, Array]]:
        return {}

    @cached_property
    def _covariance(self) -> Array:
        """Covariance of the logarithms, 0 where they are unrelated."""
        covariance = np.atleast_2d(np.cov(self.logs, bias=True)) if len(self.keys) else np.zeros((0, 0))
        deviation = np.sqrt(np.diag(covariance))
        related = np.abs(covariance) >= UNRELATED * np.outer(deviation, deviation)
        return np.where(related, covariance, 0.0)

    def cost_factors(self, timed: frozenset[str]) -> dict[str, Array]:
        """Expected cost of a job by what timings say, over that expected without, by key and sample.

        Of a timed speed its inverse; of one that is related to timed ones (software that all of them run, say) what the
        best linear prediction of its logarithm says. Keys of which the timings say nothing are left out. Each factor
        has the mean 1: nothing becomes cheaper by being known.
        """
        if timed not in self._factors:
            if self.whole is None:
                self._factors[timed] = self._predicted(timed)
            else:
                every = self.whole.cost_factors(timed)
                self._factors[timed] = {key: values[self.places] for key, values in every.items()}
        return self._factors[timed]

    def _predicted(self, timed: frozenset[str]) -> dict[str, Array]:
        known = [place for place, key in enumerate(self.keys) if key in timed]
        if not known:
            return {}
        apart = self.logs - self.logs.mean(axis=1, keepdims=True)
        weights = np.linalg.lstsq(self._covariance[np.ix_(known, known)], self._covariance[known], rcond=None)[0]
        factors = {}
        for place, key in enumerate(self.keys):
            if place in known or weights[:, place].any():
                factor = np.exp(-(apart[place] if place in known else weights[:, place] @ apart[known]))
                factors[key] = factor / factor.mean()
        return factors


def foreseen_values(
    expected: Array, given_speed: Array, keys: tuple[str, ...], timed: frozenset[str], factors: Mapping[str, Array]
) -> Array:
    """Hours or USD of a job as expected when its machine is chosen.

    Parameters
    ----------
    expected
        As expected before anything is timed, class x 1.
    given_speed
        As expected once its own speed is known, class x sample.
    keys
        Correlation key of the speed of each class; empty where it is certain.
    timed
        The keys that are timed.
    factors
        `SpeedErrors.cost_factors` of these.

    Returns
    -------
    Array
        Class x sample where a timing says something, else class x 1.

    """
    if not any(key in factors for key in keys):
        return expected
    values = np.broadcast_to(expected, given_speed.shape).copy()
    for row, key in enumerate(keys):
        if key in timed:
            values[row] = given_speed[row]
        elif key in factors:
            values[row] *= factors[key]
    return values


def select_speeds_to_time(
    expected: Mapping[str, Array], jobs: Array, trials: Mapping[str, float], errors: SpeedErrors
) -> frozenset[str]:
    """Select the speeds that are worth timing before jobs are given to machines that are rented.

    Forward selection: beginning with none, the timing is added that lowers the expected cost of the jobs most, its
    trial paid, as long as one saves MINIMUM_SAVING of it. With some speeds known, each class goes in each sample to the
    offer that is expected to cost the least. A timing reveals speeds: future prices, stock and the number of jobs stay
    expectations.

    Parameters
    ----------
    expected
        USD of a job of each class on the cheapest offer of each correlation key, before anything is timed; NEVER where
        none can do it. The empty key: offers whose speed is certain.
    jobs
        Jobs a month that are rented, by class.
    trials
        USD a month that a timing costs, by key; only these can be timed.
    errors
        How the speeds are off.

    Returns
    -------
    frozenset of str
        The keys of the speeds to time; empty where no timing is worth its trial.

    """
    count = errors.logs.shape[1]
    places = np.unique(np.linspace(0, count - 1, min(count, SELECTION_SAMPLES)).round().astype(int))
    wanted, few = jobs > 0, errors.samples(places)
    costs = {key: usd[wanted] for key, usd in expected.items()}
    candidates = sorted(key for key in costs if key in trials and key in errors.keys)

    def usd_of(timed: frozenset[str]) -> float:
        factors = few.cost_factors(timed)
        least = np.full((int(wanted.sum()), len(places)), NEVER)
        for key, usd in costs.items():
            least = np.minimum(least, np.outer(usd, factors[key]) if key in factors else usd[:, None])
        each = np.where(np.isfinite(least), least, 0.0).mean(axis=1)
        return float(jobs[wanted] @ each) + sum(trials[key] for key in sorted(timed))

    timed = frozenset[str]()
    if not candidates or not wanted.any():
        return timed
    usd = usd_of(timed)
    while left := [key for key in candidates if key not in timed]:
        found = {key: usd_of(timed | {key}) for key in left}
        best = min(left, key=lambda key: found[key])
        if not found[best] < usd * (1.0 - MINIMUM_SAVING):
            break
        timed, usd = timed | {best}, found[best]
    return timed
