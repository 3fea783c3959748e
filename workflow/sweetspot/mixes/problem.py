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
    """A kind of machine that is paid for by the month, used or not: there already, bought, or committed to.

    `there`: how many are there; `for_sale`: whether more can be had; `fixed`: USD a month of one, by draw;
    `capacity`: machine-hours a month in which one works, by draw; `hours`: machine-hours that a job takes (its share of
    the machine; NEVER where it cannot run), by class and draw; `running`: USD of a job for its use, by class and draw;
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
    takes; both by class and draw.
    """

    name: str
    usd: Array
    device_hours: Array


@dataclass(frozen=True)
class Problem:
    """`jobs`: number of jobs by class, draw and month; the draws of all parts are the same. `filled`: share of the
    hours of what is held that is worked in at most; beyond it jobs are rented.
    """

    classes: tuple[str, ...]
    jobs: Array
    held: tuple[Held, ...]
    rented: tuple[Rented, ...]
    filled: float = 1.0

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
        """USD of a job on the rented offer that does it for the least (NEVER: none can), class x draw."""
        return np.min([np.full(self.jobs.shape[:2], NEVER), *(offer.usd for offer in self.rented)], axis=0)

    @cached_property
    def cheapest(self) -> npt.NDArray[np.int_]:
        """Which rented offer that is, -1 where none can; class x draw."""
        usd = [np.full(self.jobs.shape[:2], NEVER), *(offer.usd for offer in self.rented)]
        return np.asarray(np.argmin(usd, axis=0) - 1)

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
        """The problem with one rented offer for all that it can do; what it cannot, the others do. As it is where no
        offer has that name.
        """
        chosen = next((offer for offer in self.rented if offer.name == name), None)
        if chosen is None:
            return self
        can = np.isfinite(chosen.usd)
        others = [replace(one, usd=np.where(can, NEVER, one.usd)) for one in self.rented if one.name != name]
        return replace(self, rented=(chosen, *others))

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
        rented = [replace(one, usd=one.usd[:, places], device_hours=one.device_hours[:, places]) for one in self.rented]
        return replace(self, jobs=self.jobs[:, places, months][:, :, None], held=tuple(held), rented=tuple(rented))


def finite(values: Array) -> Array:
    """The values, 0 where a job cannot run."""
    return np.where(np.isfinite(values), values, 0.0)


def month_noise(source: np.random.Generator, draws: int, months: int, alike: float) -> Array:
    """Standard normal noise, draws x months, whose months have the correlation `alike` with each other.

    1: one number for all months of a project, which nobody knows yet; 0: each month has its own.
    """
    project = source.standard_normal((draws, 1))
    month = source.standard_normal((draws, months))
    noise: Array = np.sqrt(alike) * project + np.sqrt(1.0 - alike) * month
    return noise


def load_duration(load: Array, shares: Array) -> Array:
    """The load by source in the months, the busiest first: sources x shares.

    `load`: device-hours by source and month (all draws' months in one row); `shares` of the months, 0 to 1. Each is the
    mean over a window of the months around that share, so that the sources add up to the load.
    """
    order = np.argsort(-load.sum(axis=0), kind="stable")
    months = len(order)
    width = max(1, months // (2 * max(1, len(shares) - 1)))
    windows = [order[max(0, place - width) : place + width + 1] for place in np.rint(shares * (months - 1)).astype(int)]
    return np.stack([load[:, window].mean(axis=1) for window in windows], axis=1)
