"""What a mix is chosen from: classes of jobs, owned machines and rental offers, with samples."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sweetspot.mixes.timing import NEVER, Array, Indices, SpeedErrors, select_speeds_to_time

Counts = tuple[int, ...]  # machines of each kind that are owned or committed to
ALWAYS = np.ones((1, 1))
MAXIMUM_SAMPLED_MONTHS = 36  # of a project; those of a longer one are spread over it
UNSET = np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class OwnedMachine:
    """A kind of machine that is paid by the month: already owned, for sale, or committed to.

    Parameters
    ----------
    name
        Its option.
    there
        How many are already owned.
    for_sale
        Whether more can be had.
    fixed
        USD per month of one machine, by sample.
    capacity
        Hours per month in which one machine works, by sample.
    hours
        Machine-hours of a job (its share of the machine), class x sample; NEVER: it cannot run.
    running
        USD of a job for electricity and other use, class x sample.
    devices
        Devices of one machine.
    present
        Share of each month in which a machine is delivered, sample x month.
    sellable
        Whether those owned may be sold; keeping one then costs what it would bring.
    speed_keys
        Correlation key of the speed of each class.
    expected_hours, expected_running
        Expectations before anything is timed, class x 1; by default the mean of the samples.
    running_at_speed
        USD of a job expected once its speed is known, class x sample; by default `running`.
    """

    name: str
    there: int
    for_sale: bool
    fixed: Array
    capacity: Array
    hours: Array
    running: Array
    devices: int = 1
    present: Array = field(default_factory=lambda: ALWAYS)
    sellable: bool = False
    speed_keys: tuple[str, ...] = ()
    expected_hours: Array = field(default_factory=lambda: UNSET)
    expected_running: Array = field(default_factory=lambda: UNSET)
    running_at_speed: Array = field(default_factory=lambda: UNSET)

    def __post_init__(self) -> None:
        _set_default(self, "expected_hours", self.hours.mean(axis=1, keepdims=True))
        _set_default(self, "expected_running", self.running.mean(axis=1, keepdims=True))
        _set_default(self, "running_at_speed", self.running)

    @property
    def minimum(self) -> int:
        """The smallest number that can be owned."""
        return 0 if self.sellable else self.there

    @property
    def hours_per_month(self) -> Array:
        """Hours of each month in which one machine is delivered and works, sample x month."""
        return self.capacity[:, None] * self.present

    @cached_property
    def usd(self) -> Array:
        """USD of a job for its use; NEVER where it cannot run."""
        return np.where(np.isfinite(self.hours), self.running, NEVER)

    @property
    def device_hours(self) -> Array:
        """Device-hours of a job."""
        return self.hours * self.devices

    def select(self, samples: Indices, present: Array) -> "OwnedMachine":
        """Return it in some samples, delivered for a share of their month; its price is expected."""
        return replace(
            self,
            fixed=np.full(len(samples), self.fixed.mean()),
            capacity=self.capacity[samples],
            hours=self.hours[:, samples],
            running=self.running[:, samples],
            running_at_speed=self.running_at_speed[:, samples],
            present=present,
        )


@dataclass(frozen=True, eq=False)
class RentalOffer:
    """An offer by the hour, of which as many machines as are needed can be rented.

    Parameters
    ----------
    name
        Its option.
    usd
        USD of a job, class x sample; NEVER where it cannot run.
    device_hours
        Device-hours of a job, class x sample.
    speed_keys
        Correlation key of the speed of each class.
    expected_usd
        Expected USD of a job before anything is timed, class x 1; by default the mean.
    usd_at_speed
        USD of a job expected once its speed is known, class x sample; by default `usd`.
    path
        Price in each month relative to the mean of the project, sample x month.
    """

    name: str
    usd: Array
    device_hours: Array
    speed_keys: tuple[str, ...] = ()
    expected_usd: Array = field(default_factory=lambda: UNSET)
    usd_at_speed: Array = field(default_factory=lambda: UNSET)
    path: Array = field(default_factory=lambda: ALWAYS)

    def __post_init__(self) -> None:
        _set_default(self, "expected_usd", self.usd.mean(axis=1, keepdims=True))
        _set_default(self, "usd_at_speed", self.usd)

    @property
    def stays(self) -> bool:
        """Whether its price is the same in all months."""
        return self.path.size == 1

    def scale(self, usd: Array, device_hours: Array) -> "RentalOffer":
        """Return the offer with USD and device-hours of a job multiplied, class x 1 each."""
        return replace(
            self,
            usd=self.usd * usd,
            device_hours=self.device_hours * device_hours,
            expected_usd=self.expected_usd * usd,
            usd_at_speed=self.usd_at_speed * usd,
        )

    def select(self, samples: Indices, months: Indices) -> "RentalOffer":
        """Return the offer in some samples, each with one month; cached, as most offers stay."""
        key = samples.tobytes() + (b"" if self.stays else months.tobytes())
        if key not in self._selections:
            usd = self.usd[:, samples]
            self._selections[key] = replace(
                self,
                usd=usd if self.stays else usd * self.path[samples, months],
                device_hours=self.device_hours[:, samples],
                usd_at_speed=self.usd_at_speed[:, samples],
                path=ALWAYS,
            )
        return self._selections[key]

    @cached_property
    def _selections(self) -> dict[bytes, "RentalOffer"]:
        return {}


@dataclass(frozen=True, eq=False)
class Problem:
    """The work of a month and what can do it. All parts have the same samples.

    Parameters
    ----------
    classes
        Names of the classes of jobs.
    jobs
        Number of jobs, class x sample x month.
    held, rented
        Owned machines and rental offers.
    filled
        Share of the hours of owned machines that is used at most; jobs beyond it are rented.
    first
        The offer that each job tries first; empty: the one expected to be the cheapest.
    trials
        USD per month of timing a machine, by the key of the speed that it reveals.
    timed
        Keys of the speeds that are known when each class is given a machine.
    errors
        Errors of the speeds. Who does a job follows what is expected with the timed speeds
        alone; what the job costs is that of each sample.
    """

    classes: tuple[str, ...]
    jobs: Array
    held: tuple[OwnedMachine, ...]
    rented: tuple[RentalOffer, ...]
    filled: float = 1.0
    first: str = ""
    trials: Mapping[str, float] = field(default_factory=dict)
    timed: frozenset[str] = frozenset()
    errors: SpeedErrors = field(default_factory=SpeedErrors)

    @property
    def owned(self) -> Counts:
        """The number of each kind that is already owned."""
        return tuple(kind.there for kind in self.held)

    @property
    def minimum(self) -> Counts:
        """The smallest number of each kind that can be owned."""
        return tuple(kind.minimum for kind in self.held)

    @property
    def for_sale(self) -> list[int]:
        """Indices of the kinds of which more can be had."""
        return [index for index, kind in enumerate(self.held) if kind.for_sale]

    @property
    def adjustable(self) -> list[int]:
        """Indices of the kinds of which more or fewer can be had."""
        return [n for n, kind in enumerate(self.held) if kind.for_sale or kind.minimum < kind.there]

    @property
    def trial_usd(self) -> float:
        """USD per month of timing what is timed."""
        return sum(self.trials[key] for key in sorted(self.timed))

    def owned_forecast(self, kind: OwnedMachine) -> tuple[Array, Array]:
        """Return hours and USD of a job on an owned machine as expected with the timed speeds."""
        keys, timed = kind.speed_keys, self.timed
        return (
            self.errors.forecast(kind.expected_hours, kind.hours, keys, timed),
            self.errors.forecast(kind.expected_running, kind.running_at_speed, keys, timed),
        )

    def speeds_to_time(self, jobs: Array) -> frozenset[str]:
        """Return the keys of the speeds worth timing before so many jobs (by class) are rented."""
        expected = dict[str, Array]()
        for offer in self.rented:
            for row, key in enumerate(offer.speed_keys or [""] * len(self.classes)):
                costs = expected.setdefault(key, np.full(len(self.classes), NEVER))
                costs[row] = min(costs[row], offer.expected_usd[row, 0])
        return select_speeds_to_time(expected, jobs, self.trials, self.errors)

    @cached_property
    def _rental_forecast(self) -> Array:
        """Expected USD of a job on each offer, class x offer x sample (1 where none is timed)."""
        none = np.full((len(self.classes), 1), NEVER)
        costs = [
            self.errors.forecast(offer.expected_usd, offer.usd_at_speed, offer.speed_keys, self.timed)
            for offer in self.rented
        ]
        return np.stack(np.broadcast_arrays(*costs, none), axis=1)[:, :-1]

    @cached_property
    def _shares(self) -> Array:
        """Share of the rented jobs that each offer does, class x offer x sample (or x 1).

        All go to the `first` offer or, where their class cannot run on it, to the one expected to be the cheapest.
        """
        expected = self._rental_forecast
        if not self.rented:
            return expected
        can_run = np.isfinite(expected)
        is_first = np.array([offer.name == self.first for offer in self.rented])[:, None] & can_run
        chosen = np.where(is_first, -NEVER, expected).argmin(axis=1)
        return np.where(np.arange(len(self.rented))[:, None] == chosen[:, None, :], can_run, 0.0)

    def share_of(self, index: int) -> Array:
        """Return the share of the rented jobs that an offer does, class x sample (or x 1)."""
        return np.asarray(self._shares[:, index])

    @cached_property
    def rentable(self) -> Array:
        """0 where some offer can do a job of a class, else NEVER; class x 1."""
        can = np.isfinite(self._rental_forecast).any(axis=(1, 2))
        return np.where(can, 0.0, NEVER)[:, None]

    @cached_property
    def expected_rent(self) -> Array:
        """Expected USD of a rented job, class x sample (or x 1); NEVER where none can do it."""
        return np.asarray((self._shares * finite(self._rental_forecast)).sum(axis=1) + self.rentable)

    @cached_property
    def rent(self) -> Array:
        """USD of a rented job, class x sample; NEVER where no offer can do it."""
        rent = np.zeros(self.jobs.shape[:2]) + self.rentable
        for index in self.used:
            rent += self.share_of(index) * finite(self.rented[index].usd)
        return rent

    @cached_property
    def used(self) -> list[int]:
        """Indices of the offers that are given jobs in some sample."""
        return [int(index) for index in np.flatnonzero(self._shares.any(axis=(0, 2)))]

    def rent_of(self, jobs: Array) -> Array:
        """Return USD of renting jobs (class x sample x month), sample x month, at its prices."""
        usd = np.asarray(np.einsum("jdt,jd->dt", jobs, finite(self.rent)))
        for index in self.used:
            offer = self.rented[index]
            if not offer.stays:
                per_job = self.share_of(index) * finite(offer.usd)
                usd = usd + np.einsum("jdt,jd->dt", jobs, per_job) * (offer.path - 1.0)
        return usd

    @cached_property
    def by_running(self) -> list[int]:
        """Indices of owned kinds by running cost over the least, mean over the classes they run."""
        if not self.held:
            return []
        usd = np.stack([kind.usd.mean(axis=1) for kind in self.held])
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = np.where(np.isfinite(usd), usd / usd.min(axis=0), np.nan)
        classes = np.maximum(1, (~np.isnan(ratios)).sum(axis=1))
        order = np.argsort(np.nansum(ratios, axis=1) / classes, kind="stable")
        return [int(index) for index in order]

    def only(self, name: str) -> "Problem":
        """Return the problem with one offer for all jobs that it can do and that find it."""
        return replace(self, first=name) if name in {offer.name for offer in self.rented} else self

    def variant(self, filled: float, name: str = "", timed: frozenset[str] = frozenset()) -> "Problem":
        """Return the problem of one way to do the work, made once.

        Parameters
        ----------
        filled
            Share of the hours of owned machines that is used at most.
        name
            The offer for all that it can do (`only`); empty: any.
        timed
            Keys of the speeds that are known first.
        """
        key = (filled, name, timed)
        if key not in self._variants:
            self._variants[key] = replace(self.only(name), filled=filled, timed=timed)
        return self._variants[key]

    @cached_property
    def results(self) -> dict[Counts, Any]:
        """Its dispatches by numbers of machines (`dispatch_once`)."""
        return {}

    @cached_property
    def _variants(self) -> dict[tuple[float, str, frozenset[str]], "Problem"]:
        return {}

    def select_months(self, months: Indices) -> "Problem":
        """Return the problem in some of its months."""
        return replace(
            self,
            jobs=self.jobs[:, :, months],
            held=tuple(replace(kind, present=_select_columns(kind.present, months)) for kind in self.held),
            rented=tuple(replace(offer, path=_select_columns(offer.path, months)) for offer in self.rented),
        )

    def select(self, samples: Indices, months: Indices) -> "Problem":
        """Return some samples, each with one month, and the expectations of all samples."""
        shape = self.jobs.shape[1:]
        held = [
            kind.select(samples, np.broadcast_to(kind.present, shape)[samples, months][:, None]) for kind in self.held
        ]
        return replace(
            self,
            jobs=self.jobs[:, samples, months][:, :, None],
            held=tuple(held),
            rented=tuple(offer.select(samples, months) for offer in self.rented),
            errors=self.errors.select(samples),
        )


def finite(values: Array) -> Array:
    """Return the values, with 0 where a job cannot run."""
    return np.where(np.isfinite(values), values, 0.0)


def _set_default(instance: object, name: str, value: Array) -> None:
    if getattr(instance, name) is UNSET:
        object.__setattr__(instance, name, value)


def _select_columns(values: Array, columns: Indices) -> Array:
    return values if values.shape[1] == 1 else values[:, columns]


def months_of(months: float) -> tuple[Array, float]:
    """Return when each sampled month of a project begins, in months from its start, and the length of each."""
    count = max(1, min(MAXIMUM_SAMPLED_MONTHS, math.ceil(months)))
    return np.arange(count) * months / count, months / count


def grown(growth: Array, months: float) -> Array:
    """Return jobs of each month over those of the first, by class and sample: (1 + growth) ** months since."""
    starts, length = months_of(months)
    return np.asarray((1.0 + growth[:, :, None]) ** (starts + (length - 1.0) / 2.0))


def month_noise(generator: np.random.Generator, samples: int, months: int, correlation: float) -> Array:
    """Return standard normal noise whose months are correlated.

    Parameters
    ----------
    generator
        The named stream.
    samples, months
        Shape of the result.
    correlation
        Of any two months. 1: one number for the whole project; 0: months are independent.

    Returns
    -------
    Array
        Sample x month.
    """
    project = generator.standard_normal((samples, 1))
    noise: Array = np.sqrt(1.0 - correlation) * generator.standard_normal((samples, months))
    return np.sqrt(correlation) * project + noise


def load_duration(load: Array, shares: Array) -> Array:
    """Return the load by source in the months, the busiest first.

    Parameters
    ----------
    load
        Device-hours, source x month (the months of all samples in one row).
    shares
        Shares of the months, 0 to 1.

    Returns
    -------
    Array
        Source x share: means over a window of the months around each share, so that the sources
        add up to the load.
    """
    order = np.argsort(-load.sum(axis=0), kind="stable")
    months = len(order)
    width = max(1, months // (2 * max(1, len(shares) - 1)))
    centres = np.rint(shares * (months - 1)).astype(int)
    windows = [order[max(0, centre - width) : centre + width + 1] for centre in centres]
    return np.stack([load[:, window].mean(axis=1) for window in windows], axis=1)
