"""What a mix is chosen from: classes of jobs, machines that one holds, offers by the hour; with draws."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Counts = tuple[int, ...]  # machines of each kind held
NEVER = np.inf  # hours or USD of a job where it cannot run


@dataclass(frozen=True)
class Held:
    """A kind of machine that is paid for by the month, used or not: there already, bought, or committed to. `there`:
    how many are there; `for_sale`: whether more can be had; `fixed`: USD a month of one, by draw; `capacity`:
    machine-hours a month in which one works, by draw; `hours`: machine-hours that a job takes (its share of the
    machine; NEVER where it cannot run), by class and draw; `running`: USD of a job for its use, by class and draw;
    `devices`: of one machine; `present`: share of each month in which a machine is there that comes later, draw x month
    or one for all of either; `sellable`: those there may be sold, and to keep one costs what it would bring.
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


@dataclass(frozen=True)
class Rented:
    """An offer by the hour, as many as are wanted. `usd`: of a job (NEVER where it cannot run), `device_hours`: that it
    takes; both by class and draw. `there`: the chance that one is there in time for a job; `fallback`: the same for a
    job that found another offer taken, 0 where its class does not fall back on this one; class x draw, or one for all.
    Offers of one `event` are there or not together (none: an event of its own).
    """

    name: str
    usd: Array
    device_hours: Array
    there: Array = field(default_factory=lambda: np.ones((1, 1)))
    fallback: Array = field(default_factory=lambda: np.ones((1, 1)))
    event: str = ""

    def draws(self, places: npt.NDArray[np.int_]) -> "Rented":
        """It in some of the draws; made once each, as most offers stay when a figure moves."""
        key = places.tobytes()
        if key not in self._some:
            there, fallback = (np.broadcast_to(one, self.usd.shape)[:, places] for one in (self.there, self.fallback))
            about = (self.usd[:, places], self.device_hours[:, places], there, fallback)
            self._some[key] = Rented(self.name, *about, self.event)
        return self._some[key]

    @cached_property
    def _some(self) -> dict[bytes, "Rented"]:
        return {}


@dataclass(frozen=True)
class Problem:
    """`jobs`: number of jobs by class, draw and month; the draws of all parts are the same. `filled`: share of the
    hours of what is held that is worked in at most; beyond it jobs are rented. `first`: the offer by the hour that each
    job is tried on first (none: the cheapest), where one may not be there.
    """

    classes: tuple[str, ...]
    jobs: Array
    held: tuple[Held, ...]
    rented: tuple[Rented, ...]
    filled: float = 1.0
    first: str = ""

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

    @cached_property
    def rent(self) -> Array:
        """USD of a job that is rented (NEVER: none can), class x draw: on the offer that does it for the least, or as
        the mean over those that do (`taken`).
        """
        usd = np.stack([np.full(self.jobs.shape[:2], NEVER), *(offer.usd for offer in self.rented)])
        least = np.asarray(np.min(usd, axis=0))
        if self.taken is None:
            return least
        return np.where(np.isfinite(least), np.einsum("jod,ojd->jd", self.taken, finite(usd[1:])), NEVER)

    @cached_property
    def cheapest(self) -> npt.NDArray[np.int_]:
        """Which rented offer does a job for the least, -1 where none can; class x draw."""
        usd = [np.full(self.jobs.shape[:2], NEVER), *(offer.usd for offer in self.rented)]
        return np.asarray(np.argmin(usd, axis=0) - 1)

    @cached_property
    def taken(self) -> Array | None:
        """Share of the rented jobs that each offer does, class x offer x draw; None where all are always there. The
        `first` or cheapest offer is tried; who finds none there takes the next cheapest on which the class falls back,
        and so on; who finds none at all waits for the first. Events are independent: 1 - prod(1 - p) find one.
        """
        if all(bool((offer.there == 1.0).all()) for offer in self.rented):
            return None
        size = self.jobs.shape[:2]
        usd = np.stack([offer.usd for offer in self.rented], axis=1)
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
        """The share of the rented jobs that an offer does, class x draw."""
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
        can = np.isfinite(chosen.usd)
        others = [replace(one, usd=np.where(can, NEVER, one.usd)) for one in self.rented if one.name != name]
        return replace(self, rented=(chosen, *others))

    def to(self, filled: float, name: str = "") -> "Problem":
        """`only` that offer, what is held filled that far: made once each, as many numbers of machines are tried."""
        if (filled, name) not in self._variants:
            chosen = self.only(name)
            self._variants[filled, name] = chosen if chosen.filled == filled else replace(chosen, filled=filled)
        return self._variants[filled, name]

    @cached_property
    def _variants(self) -> dict[tuple[float, str], "Problem"]:
        return {}

    def months(self, places: npt.NDArray[np.int_]) -> "Problem":
        """Some of its months."""
        every = self.jobs.shape[1:]
        held = [replace(one, present=np.broadcast_to(one.present, every)[:, places]) for one in self.held]
        return replace(self, jobs=self.jobs[:, :, places], held=tuple(held))

    def draws(self, places: npt.NDArray[np.int_], months: npt.NDArray[np.int_]) -> "Problem":
        """The draws `places`, each with one of its months: a small problem to decide on."""
        held = [
            replace(
                kind,
                fixed=np.full(len(places), kind.fixed.mean()),  # what is bought is paid in all of them
                capacity=kind.capacity[places],
                hours=kind.hours[:, places],
                running=kind.running[:, places],
                present=np.broadcast_to(kind.present, self.jobs.shape[1:])[places, months][:, None],
            )
            for kind in self.held
        ]
        rented = [one.draws(places) for one in self.rented]
        return replace(self, jobs=self.jobs[:, places, months][:, :, None], held=tuple(held), rented=tuple(rented))


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
