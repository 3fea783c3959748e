"""What a mix is chosen from: classes of jobs, machines that one holds, offers by the hour; with draws."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sweetspot.mixes.timing import NEVER, Array, SpeedErrors, foreseen_values, select_speeds_to_time

Counts = tuple[int, ...]  # machines of each kind held


@dataclass(frozen=True)
class Held:
    """A kind of machine that is paid for by the month, used or not: there already, bought, or committed to. `there`:
    how many are there; `for_sale`: whether more can be had; `fixed`: USD a month of one, by draw; `capacity`:
    machine-hours a month in which one works, by draw; `hours`: machine-hours that a job takes (its share of the
    machine; NEVER where it cannot run), by class and draw; `running`: USD of a job for its use, by class and draw;
    `devices`: of one machine; `present`: share of each month in which a machine is there that comes later, draw x month
    or one for all of either; `sellable`: those there may be sold, and to keep one costs what it would bring.

    Choices are made on expectations (means over the draws unless they are given): `expected_hours`,
    `expected_running`, class x 1. Once the speed of a class with one of the `speed_keys` is known, its hours are those
    of the draw and its USD are `running_given_speed`, class x draw.
    """

    name: str
    there: int
    for_sale: bool
    fixed: Array
    capacity: Array
    hours: Array
    running: Array
    devices: int = 1
    present: Array = field(default_factory=lambda: np.ones((1, 1)))
    sellable: bool = False
    speed_keys: tuple[str, ...] = ()
    expected_hours: Array | None = None
    expected_running: Array | None = None
    running_given_speed: Array | None = None

    @property
    def least(self) -> int:
        """The fewest that one may have."""
        return 0 if self.sellable else self.there

    @property
    def room(self) -> Array:
        """Machine-hours of each month in which one is there and works, draw x month (one for all months alike)."""
        return self.capacity[:, None] * self.present

    @cached_property
    def usd(self) -> Array:
        """USD of a job for its use; NEVER where it cannot run."""
        return np.where(np.isfinite(self.hours), self.running, NEVER)

    @property
    def device_hours(self) -> Array:
        """Device-hours that a job takes."""
        return self.hours * self.devices

    @cached_property
    def expectations(self) -> tuple[Array, Array]:
        """Hours and USD of a job as expected before anything is timed, class x 1."""
        hours = self.hours.mean(axis=1, keepdims=True) if self.expected_hours is None else self.expected_hours
        running = self.running.mean(axis=1, keepdims=True) if self.expected_running is None else self.expected_running
        return hours, running

    def foreseen(self, timed: frozenset[str], factors: Mapping[str, Array]) -> tuple[Array, Array]:
        """Hours and USD of a job as expected once the speeds in `timed` are known (`foreseen_values`)."""
        hours, running = self.expectations
        given = self.running if self.running_given_speed is None else self.running_given_speed
        return (
            foreseen_values(hours, self.hours, self.speed_keys, timed, factors),
            foreseen_values(running, given, self.speed_keys, timed, factors),
        )


@dataclass(frozen=True)
class Rented:
    """An offer by the hour, as many as are wanted. `usd`: of a job (NEVER where it cannot run), `device_hours`: that it
    takes; both by class and draw. `there`: the chance that one is there in time for a job; `fallback`: the same for a
    job that found another offer taken, 0 where its class does not fall back on this one; class x draw, or one for all.
    Offers of one `event` are there or not together (none: an event of its own).

    `path`: its price in each month over the mean of the project, draw x month (one for all of either: it stays).

    Choices are made on expectations: `expected` USD of a job, class x 1 (None: the mean over the draws); once the speed
    of a class with one of the `speed_keys` is known, `usd_given_speed`, class x draw (None: `usd`).
    """

    name: str
    usd: Array
    device_hours: Array
    there: Array = field(default_factory=lambda: np.ones((1, 1)))
    fallback: Array = field(default_factory=lambda: np.ones((1, 1)))
    event: str = ""
    speed_keys: tuple[str, ...] = ()
    expected: Array | None = None
    usd_given_speed: Array | None = None
    path: Array = field(default_factory=lambda: np.ones((1, 1)))

    @property
    def stays(self) -> bool:
        """Whether its price is the same in all months."""
        return self.path.size == 1

    @cached_property
    def expected_usd(self) -> Array:
        """USD of a job as expected before anything is timed, class x 1."""
        return self.usd.mean(axis=1, keepdims=True) if self.expected is None else self.expected

    def foreseen(self, timed: frozenset[str], factors: Mapping[str, Array]) -> Array:
        """USD of a job as expected once the speeds in `timed` are known (`foreseen_values`)."""
        if timed not in self._foreseen:
            given = self.usd if self.usd_given_speed is None else self.usd_given_speed
            self._foreseen[timed] = foreseen_values(self.expected_usd, given, self.speed_keys, timed, factors)
        return self._foreseen[timed]

    @cached_property
    def _foreseen(self) -> dict[frozenset[str], Array]:
        return {}

    def at_factors(self, usd: Array, device_hours: Array) -> "Rented":
        """The offer at factors of what a job costs and of the hours that it takes, class x 1."""
        given = self.usd if self.usd_given_speed is None else self.usd_given_speed
        return replace(
            self,
            usd=self.usd * usd,
            device_hours=self.device_hours * device_hours,
            expected=self.expected_usd * usd,
            usd_given_speed=given * usd,
        )

    def without(self, classes: npt.NDArray[np.bool_]) -> "Rented":
        """The offer with no job of some `classes`."""
        rows, given = classes[:, None], self.usd_given_speed
        return replace(
            self,
            usd=np.where(rows, NEVER, self.usd),
            expected=np.where(rows, NEVER, self.expected_usd),
            usd_given_speed=None if given is None else np.where(rows, NEVER, given),
        )

    def draws(self, places: npt.NDArray[np.int_], months: npt.NDArray[np.int_]) -> "Rented":
        """It in some of the draws, each with one of the months; made once each, as most offers stay when a figure
        moves.
        """
        key = places.tobytes() + (b"" if self.stays else months.tobytes())
        if key not in self._some:
            given = self.usd_given_speed
            usd = self.usd[:, places]
            self._some[key] = replace(
                self,
                usd=usd if self.stays else usd * self.path[places, months],
                device_hours=self.device_hours[:, places],
                there=self.there if self.there.size == 1 else self.there[:, places],
                fallback=self.fallback if self.fallback.size == 1 else self.fallback[:, places],
                expected=self.expected_usd,
                usd_given_speed=(self.usd if given is None else given)[:, places],
                path=np.ones((1, 1)),
            )
        return self._some[key]

    def months(self, places: npt.NDArray[np.int_]) -> "Rented":
        """It in some of the months."""
        return self if self.stays else replace(self, path=self.path[:, places], expected=self.expected_usd)

    @cached_property
    def _some(self) -> dict[bytes, "Rented"]:
        return {}


@dataclass(frozen=True)
class Problem:
    """`jobs`: number of jobs by class, draw and month; the draws of all parts are the same. `filled`: share of the
    hours of what is held that is worked in at most; beyond it jobs are rented. `first`: the offer by the hour that each
    job is tried on first (none: the cheapest), where one may not be there.

    `trials`: USD a month that it costs to time a machine, by the key of the speed that it reveals; `timed`: the speeds
    that are known when each class is given a machine; `errors`: how speeds are off, and which together. Who does a job
    follows what is expected with the timed speeds alone; what it costs is that of each draw.
    """

    classes: tuple[str, ...]
    jobs: Array
    held: tuple[Held, ...]
    rented: tuple[Rented, ...]
    filled: float = 1.0
    first: str = ""
    trials: Mapping[str, float] = field(default_factory=dict)
    timed: frozenset[str] = frozenset()
    errors: SpeedErrors = field(default_factory=SpeedErrors)

    @property
    def there(self) -> Counts:
        """What is there of each kind held."""
        return tuple(kind.there for kind in self.held)

    @property
    def least(self) -> Counts:
        """The fewest of each kind that one may have."""
        return tuple(kind.least for kind in self.held)

    @property
    def for_sale(self) -> list[int]:
        """Places of the kinds of which more can be had."""
        return [place for place, kind in enumerate(self.held) if kind.for_sale]

    @property
    def movable(self) -> list[int]:
        """Places of the kinds of which more or fewer can be had."""
        return [place for place, kind in enumerate(self.held) if kind.for_sale or kind.least < kind.there]

    @property
    def trial_usd(self) -> float:
        """USD a month of timing what is timed."""
        return sum(self.trials[key] for key in sorted(self.timed))

    @property
    def cost_factors(self) -> dict[str, Array]:
        """What the timings say of the cost of a job, by key of its speed and draw (`SpeedErrors.cost_factors`)."""
        return self.errors.cost_factors(self.timed)

    def speeds_to_time(self, jobs: Array) -> frozenset[str]:
        """The speeds that are worth timing before so many jobs a month (by class) are rented, by their key."""
        expected = dict[str, Array]()
        for offer in self.rented:
            for row, key in enumerate(offer.speed_keys or [""] * len(self.classes)):
                costs = expected.setdefault(key, np.full(len(self.classes), NEVER))
                costs[row] = min(costs[row], offer.expected_usd[row, 0])
        return select_speeds_to_time(expected, jobs, self.trials, self.errors)

    @cached_property
    def _assigned(self) -> tuple[npt.NDArray[np.int_], Array]:
        """Which rented offer is expected to do a job for the least, -1 where none can, and its expected USD; class x 1,
        or x draw if speeds are known.
        """
        place = np.full((len(self.classes), 1), -1)
        least = np.full((len(self.classes), 1), NEVER)
        for number, offer in enumerate(self.rented):
            usd = offer.foreseen(self.timed, self.cost_factors)
            cheaper = usd < least
            place, least = np.where(cheaper, number, place), np.where(cheaper, usd, least)
        return place, least

    @property
    def cheapest(self) -> npt.NDArray[np.int_]:
        """Which rented offer is expected to do a job for the least, -1 where none can; class x 1, or x draw."""
        return self._assigned[0]

    @cached_property
    def foreseen_rent(self) -> Array:
        """USD of a rented job as expected when its machine is chosen, class x 1, or x draw if speeds are known."""
        least = self._assigned[1]
        if self.taken is None:
            return least
        shares = self.taken if least.shape[1] > 1 else self.taken.mean(axis=2, keepdims=True)
        usd = np.stack([offer.foreseen(self.timed, self.cost_factors) for offer in self.rented])
        return np.where(np.isfinite(least), np.einsum("jod,ojd->jd", shares, finite(usd)), NEVER)

    @cached_property
    def rent(self) -> Array:
        """USD of a job that is rented (NEVER: none can), class x draw: on the offer that it is given to, or as the mean
        over those that do it (`taken`).
        """
        rent = np.full(self.jobs.shape[:2], NEVER)
        if self.taken is None:
            for number in self.used:
                rent = np.where(self.cheapest == number, self.rented[number].usd, rent)
            return rent
        mean = np.einsum("jod,ojd->jd", self.taken, finite(np.stack([offer.usd for offer in self.rented])))
        return np.where(np.isfinite(self._assigned[1]), mean, NEVER)

    @cached_property
    def used(self) -> list[int]:
        """Places of the offers that are given jobs in some draw."""
        if self.taken is None:
            return [int(number) for number in np.unique(self.cheapest) if number >= 0]
        return [number for number in range(len(self.rented)) if self.taken[:, number].any()]

    def rent_of(self, jobs: Array) -> Array:
        """USD of renting jobs (class x draw x month), draw x month: each month at its own prices."""
        moving = [number for number in self.used if not self.rented[number].stays]
        usd = np.asarray(np.einsum("jdt,jd->dt", jobs, finite(self.rent)))
        for number in moving:
            offer = self.rented[number]
            mean = np.einsum("jdt,jd->dt", jobs, self.share_of(number) * finite(offer.usd))
            usd = usd + mean * (offer.path - 1.0)
        return usd

    @cached_property
    def taken(self) -> Array | None:
        """Share of the rented jobs that each offer does, class x offer x draw; None where all are always there. The
        `first` or cheapest offer is tried; who finds none there takes the next cheapest on which the class falls back,
        and so on; who finds none at all waits for the first. Events are independent: 1 - prod(1 - p) find one.
        """
        if all(bool((offer.there == 1.0).all()) for offer in self.rented):
            return None
        size = self.jobs.shape[:2]
        foreseen = [offer.foreseen(self.timed, self.cost_factors) for offer in self.rented]
        usd = np.stack([np.broadcast_to(each, size) for each in foreseen], axis=1)
        tried_first = np.array([offer.name == self.first for offer in self.rented])[:, None] & np.isfinite(usd)
        order = np.argsort(np.where(tried_first, -NEVER, usd), axis=1, kind="stable")
        there, fallback = (
            np.stack([np.broadcast_to(getattr(offer, name), size) for offer in self.rented], axis=1)
            for name in ("there", "fallback")
        )
        events = np.unique([offer.event or offer.name for offer in self.rented], return_inverse=True)[1]
        shares, tried, left = np.zeros(usd.shape), np.zeros(usd.shape, bool), np.ones(size)
        row, draw = np.ogrid[: size[0], : size[1]]
        for turn in range(len(self.rented)):
            place = order[:, turn]
            event, chance = events[place], (there if turn == 0 else fallback)[row, place, draw]
            open_ = np.isfinite(usd[row, place, draw]) & ~tried[row, event, draw]
            shares[row, place, draw] = found = left * np.where(open_, chance, 0.0)
            tried[row, event, draw], left = True, left - found
        shares[row, order[:, 0], draw] += left
        return shares

    def share_of(self, number: int) -> Array:
        """The share of the rented jobs that an offer does, class x 1, or x draw."""
        return (self.cheapest == number).astype(float) if self.taken is None else self.taken[:, number]

    @cached_property
    def by_running(self) -> list[int]:
        """Kinds by what a unit of work costs to run there, the cheapest first: over the least, mean over the classes.
        What a class would pay where it cannot run says nothing of the kind.
        """
        running = np.stack([kind.usd.mean(axis=1) for kind in self.held]) if self.held else np.zeros((0, 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(np.isfinite(running), running / running.min(axis=0, initial=NEVER), np.nan)
        known = ~np.isnan(ratio)
        order = np.where(known, ratio, 0.0).sum(axis=1) / np.maximum(1, known.sum(axis=1))
        return [int(place) for place in np.argsort(order, kind="stable")]

    def only(self, name: str) -> "Problem":
        """The problem with one rented offer for all that it can do; what it cannot, the others do, and what does not
        find it there. As it is where no offer has that name.
        """
        chosen = next((offer for offer in self.rented if offer.name == name), None)
        if chosen is None:
            return self
        if self.taken is not None:
            return replace(self, first=name)
        can = np.asarray(np.isfinite(chosen.usd).any(axis=1))
        others = [one.without(can) for one in self.rented if one.name != name]
        return replace(self, rented=(chosen, *others))

    def to(self, filled: float, name: str = "", timed: frozenset[str] = frozenset()) -> "Problem":
        """The problem for one way to do the work: how far machines are filled, the only offer by the hour (`only`), and
        which speeds are known first; made once.
        """
        key = (filled, name, timed)
        if key not in self._variants:
            self._variants[key] = replace(self.only(name), filled=filled, timed=timed)
        return self._variants[key]

    @cached_property
    def dispatched(self) -> dict[Counts, Any]:
        """Its dispatches by numbers of machines (`dispatch_once`)."""
        return {}

    @cached_property
    def _variants(self) -> dict[tuple[float, str, frozenset[str]], "Problem"]:
        return {}

    def months(self, places: npt.NDArray[np.int_]) -> "Problem":
        """Some of its months."""
        every = self.jobs.shape[1:]
        held = tuple(replace(one, present=np.broadcast_to(one.present, every)[:, places]) for one in self.held)
        rented = tuple(one.months(places) for one in self.rented)
        return replace(self, jobs=self.jobs[:, :, places], held=held, rented=rented)

    def draws(self, places: npt.NDArray[np.int_], months: npt.NDArray[np.int_]) -> "Problem":
        """The draws `places`, each with one of its months: a small problem to decide on, with all that is expected."""
        held = [
            replace(
                kind,
                fixed=np.full(len(places), kind.fixed.mean()),  # what is bought is paid in all of them
                capacity=kind.capacity[places],
                hours=kind.hours[:, places],
                running=kind.running[:, places],
                present=np.broadcast_to(kind.present, self.jobs.shape[1:])[places, months][:, None],
                expected_hours=kind.expectations[0],
                expected_running=kind.expectations[1],
                running_given_speed=None if kind.running_given_speed is None else kind.running_given_speed[:, places],
            )
            for kind in self.held
        ]
        rented = [one.draws(places, months) for one in self.rented]
        return replace(
            self,
            jobs=self.jobs[:, places, months][:, :, None],
            held=tuple(held),
            rented=tuple(rented),
            errors=self.errors.samples(places),
        )


def finite(values: Array) -> Array:
    """The values, 0 where a job cannot run."""
    return np.where(np.isfinite(values), values, 0.0)


def month_noise(source: np.random.Generator, draws: int, months: int, alike: float) -> Array:
    """Standard normal noise, draws x months, whose months have the correlation `alike` with each other. 1: one number
    for all months of a project, which nobody knows yet; 0: each month has its own.
    """
    project = source.standard_normal((draws, 1))
    month = source.standard_normal((draws, months))
    noise: Array = np.sqrt(alike) * project + np.sqrt(1.0 - alike) * month
    return noise


def load_duration(load: Array, shares: Array) -> Array:
    """The load by source in the months, the busiest first: sources x shares. `load`: device-hours by source and month
    (all draws' months in one row); `shares` of the months, 0 to 1. Each is the mean over a window of the months around
    that share, so that the sources add up to the load.
    """
    order = np.argsort(-load.sum(axis=0), kind="stable")
    months = len(order)
    width = max(1, months // (2 * max(1, len(shares) - 1)))
    windows = [order[max(0, place - width) : place + width + 1] for place in np.rint(shares * (months - 1)).astype(int)]
    return np.stack([load[:, window].mean(axis=1) for window in windows], axis=1)
