"""What a mix is chosen from: classes of jobs, owned machines and rental offers, with samples."""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from types import EllipsisType
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int_]
NEVER = np.inf  # hours or USD of a job where it cannot run
Counts = tuple[int, ...]  # machines of each kind that are owned or committed to
ALWAYS = np.ones((1, 1))
UNRELATED = 0.1  # Correlations below this are sampling noise: 1,000 unrelated samples have 0.03.
LARGEST_ARRAY = 5_000_000  # values of all options and samples: some twenty such arrays are held at once
MAXIMUM_SAMPLED_MONTHS = 36  # of a project; those of a longer one are spread over it


@dataclass(frozen=True, eq=False)
class SpeedErrors:
    """Relative errors of uncertain speeds: all speeds of one correlation key are off by the same factor.

    logs: logarithm of each factor, key x sample.
    """

    keys: tuple[str, ...]
    logs: Array

    @cached_property
    def deviations(self) -> Array:
        """Logarithms of the factors less their mean, key x sample."""
        return self.logs - self.logs.mean(axis=1, keepdims=True)


@lru_cache(maxsize=1024)
def cost_factors(errors: SpeedErrors, timed: frozenset[str]) -> dict[str, Array]:
    """Return by how much timing machines changes the expected cost of a job, to see which timings pay. The result is
    {speed key: expected cost with `timed` speed keys known / without, one per sample}. A timed speed gives its inverse,
    a related speed (common software, say) the best linear prediction of its log; unrelated keys are left out. Each
    factor has the mean 1: timing makes nothing cheaper.
    """
    rows = [row for row, key in enumerate(errors.keys) if key in timed]
    deviations = errors.deviations
    scale = errors.logs.std(axis=1)
    covariance = deviations[rows] @ deviations.T / errors.logs.shape[1]
    covariance[np.abs(covariance) < UNRELATED * np.outer(scale[rows], scale)] = 0.0
    weights = np.linalg.lstsq(covariance[:, rows], covariance, rcond=None)[0]
    related = np.flatnonzero(weights.any(axis=0))  # The others would fill the memory, a thousand times.
    factors = np.exp(-weights[:, related].T @ deviations[rows])
    factors /= factors.mean(axis=1, keepdims=True)
    return {errors.keys[row]: factor for row, factor in zip(related, factors, strict=True)}


@dataclass(frozen=True, eq=False, kw_only=True)
class OwnedMachine:
    """A kind of machine that is paid by the month: already owned, for sale, or committed to.

    name: key of its option. there: number already owned; 0: the kind is for sale.
    fixed: USD per month of one machine, by sample. capacity: hours per month in which one machine works, by sample.
    hours: machine-hours of a job (its share of the machine), class x sample; NEVER: it cannot run.
    running: USD of a job for electricity and other use, class x sample; running_at_speed: as expected once the speed
    is known. devices: of one machine. present: share of each month in which a machine is delivered, sample x month, or
    ALWAYS. speed_keys: correlation key of the speed of each class; empty where it is certain.
    """

    name: str
    there: int
    fixed: Array
    capacity: Array
    hours: Array
    running: Array
    running_at_speed: Array
    devices: int
    present: Array
    speed_keys: tuple[str, ...]

    @property
    def hours_per_month(self) -> Array:
        """Hours per month in which one machine is delivered and works, sample x month."""
        return self.capacity[:, None] * self.present

    @property
    def device_hours(self) -> Array:
        """Device-hours of a job, class x sample."""
        return self.hours * self.devices


@dataclass(frozen=True, eq=False, kw_only=True)
class RentalOffer:
    """An offer by the hour, of which as many machines as are needed can be rented.

    name: key of its option. usd: USD of a job at the mean rent, class x sample; NEVER where it cannot run.
    expected_usd: the same in the month of an average job before anything is timed, class x 1; usd_at_speed: once the
    speed is known, class x sample. device_hours: of a job, class x sample. speed_keys: correlation key of the speed of
    each class; empty where it is certain. path: price in each month / the mean rent, sample x month, or ALWAYS.
    """

    name: str
    usd: Array
    expected_usd: Array
    usd_at_speed: Array
    device_hours: Array
    speed_keys: tuple[str, ...]
    path: Array


@dataclass(frozen=True, eq=False)
class Problem:
    """The jobs of each month, and the machines and offers that can run them, all with the same samples.

    jobs: number in the selected samples and months, class x sample x month. held, rented: owned machines and rental
    offers, with all samples and months. trials: USD per month of timing a machine, by the key of the speed that it
    reveals. errors: of the speeds; jobs are given to machines by what is expected with the timed speeds alone, the cost
    of a job is that of each sample. first: the offer that each job tries first; empty: the one expected to be cheapest.
    timed: keys of the speeds that are known when each class is given a machine. samples, cells: which samples, and
    which parts of an array of sample x month, are selected.
    """

    jobs: Array
    held: tuple[OwnedMachine, ...]
    rented: tuple[RentalOffer, ...]
    trials: Mapping[str, float]
    errors: SpeedErrors
    first: str = ""
    timed: frozenset[str] = frozenset()
    samples: Indices | EllipsisType = ...
    cells: tuple[Any, ...] = ()

    @property
    def owned(self) -> Counts:
        """Number of machines already owned, by kind in the order of `held`."""
        return tuple(kind.there for kind in self.held)

    @property
    def trial_usd(self) -> float:
        """USD per month of all timings in `timed`."""
        return sum(self.trials[key] for key in sorted(self.timed))

    def by_month(self, values: Array) -> Array:
        """Return the selected samples and months of `values` (sample x month); ALWAYS is returned as is."""
        return values if values.size == 1 else values[self.cells]

    def forecast(self, expected: Array, at_speed: Array, keys: tuple[str, ...]) -> Array:
        """Return hours or USD of a job as expected when a machine is chosen for it, class x 1, or x sample if timed.

        Parameters
        ----------
        expected, at_speed, keys
            As expected before anything is timed, class x 1, and once the speed itself is known, class x sample;
            correlation key of the speed of each class (empty: it is certain).
        """
        factors = cost_factors(self.errors, self.timed)
        if factors.keys().isdisjoint(keys):
            return expected
        values = np.array(at_speed[:, self.samples])
        for row, key in enumerate(keys):
            if key not in self.timed:
                values[row] = expected[row] * (factors[key][self.samples] if key in factors else 1.0)
        return values

    @cached_property
    def owned_forecasts(self) -> list[tuple[Array, Array]]:
        """Expected (hours, USD) of a job by kind of owned machine, by which jobs are given to machines. Arrays, class
        of jobs x sample (or x 1, where no speed is timed); NEVER where it cannot run.
        """
        forecasts = []
        for kind in self.held:
            hours, usd = (
                self.forecast(values.mean(axis=1, keepdims=True), at_speed, kind.speed_keys)
                for values, at_speed in ((kind.hours, kind.hours), (kind.running, kind.running_at_speed))
            )
            forecasts.append((hours, np.where(np.isfinite(hours), usd, NEVER)))
        return forecasts

    @cached_property
    def expected_rent(self) -> tuple[Array, Indices]:
        """Expected USD of a job where it is rented, and that offer's index, class x sample (or x 1), against owning.
        All jobs go to the `first` offer or, where their class cannot run on it, to the offer that is expected to be the
        cheapest. Without an offer: NEVER, and the index -1.
        """
        forecasts = (self.forecast(offer.expected_usd, offer.usd_at_speed, offer.speed_keys) for offer in self.rented)
        usd = np.stack(np.broadcast_arrays(np.full((len(self.jobs), 1), NEVER), *forecasts))
        first = next((index for index, offer in enumerate(self.rented, 1) if offer.name == self.first), 0)
        chosen = np.where(np.isfinite(usd[first]), first, usd.argmin(axis=0))
        return np.take_along_axis(usd, chosen[None], axis=0)[0], chosen - 1

    @cached_property
    def used(self) -> dict[str, tuple[RentalOffer, Array, Array]]:
        """Offers that are given jobs, {name: (offer, chosen, USD)}, to sum up rents. chosen: 1 where jobs of a class go
        to this offer, else 0, class x sample or x 1; USD: of such a job at the mean rent, else 0, class x sample.
        """
        used = {}
        chosen = self.expected_rent[1]
        for index in np.unique(chosen[chosen >= 0]).tolist():
            offer, share = self.rented[index], np.asarray(chosen == index, float)
            used[offer.name] = offer, share, share * finite(offer.usd[:, self.samples])
        return used

    def rent(self, jobs: Array, *names: str) -> Array:
        """Return USD of rent for `jobs` (class x sample x month), sample x month, to price a dispatch.
        `names`: offers whose rents are summed up; none: all that are given jobs.
        """
        by_path: dict[int, tuple[Array, Array]] = {}  # Offers with the same prices by month are summed up at once.
        for name in names or self.used:
            offer, _, usd = self.used[name]
            _, total = by_path.get(id(offer.path), (usd, 0.0))
            by_path[id(offer.path)] = offer.path, total + usd
        rents = (np.einsum("jdt,jd->dt", jobs, usd) * self.by_month(path) for path, usd in by_path.values())
        return sum(rents, np.zeros((1, 1)))

    def select(self, samples: Indices | EllipsisType, months: Indices) -> "Problem":
        """Return the problem with some of its samples and months, to estimate faster; expectations stay those of all.

        Parameters
        ----------
        samples, months
            Indices of samples, each with the month at the same place in `months`; `...`: all samples, with `months`.
        """
        cells = (slice(None), months) if samples is ... else (samples[:, None], months[:, None])
        return replace(self, jobs=self.jobs[:, *cells], samples=samples, cells=cells)


def finite(values: Array) -> Array:
    """Return an array of the same shape, with 0 where a value is infinite or NaN (the job cannot run)."""
    return np.where(np.isfinite(values), values, 0.0)


def even_indices(count: int, maximum: int) -> Indices:
    """Return at most `maximum` of the indices 0 to `count` - 1, evenly spread from first to last."""
    return np.linspace(0, count - 1, min(count, maximum)).round().astype(int)


def affordable_samples(options: int, samples: int) -> int:
    """Return how many samples of so many options fit into memory, at most `samples`; fewer are said on stderr."""
    affordable = min(samples, max(LARGEST_ARRAY // max(options, 1), 100))
    if affordable < samples:
        print(f"note: {options:,} options are compared by {affordable:,} samples, not {samples:,}", file=sys.stderr)
    return affordable


def months_of(months: float) -> tuple[Array, float]:
    """Return the begin of each sampled month, in months from the project's start, and their length in months."""
    count = min(MAXIMUM_SAMPLED_MONTHS, math.ceil(months))
    return np.arange(count) * months / count, months / count


def growth_by_month(growth: Array, months: float) -> Array:
    """Return jobs in each month / jobs at the start, class x sample x month, at yearly `growth` (class x sample)."""
    starts, length = months_of(months)
    return np.asarray((1.0 + growth[:, :, None]) ** (starts + (length - 1.0) / 2.0))


def month_noise(generator: np.random.Generator, samples: int, months: int, correlation: float) -> Array:
    """Return standard normal noise, sample x month, with equal correlation between any two: busy and quiet months.

    Parameters
    ----------
    generator, samples, months, correlation
        The named stream; shape of the result; the correlation (1: one number for the whole project; 0: independent).
    """
    project = np.sqrt(correlation) * generator.standard_normal((samples, 1))
    return project + np.sqrt(1.0 - correlation) * generator.standard_normal((samples, months))
