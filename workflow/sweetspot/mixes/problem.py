"""What a mix is chosen from: classes of jobs, machines that one holds, offers by the hour; with draws."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
NEVER = np.inf  # hours or USD of a job where it cannot run


@dataclass(frozen=True)
class Held:
    """A kind of machine that is paid for by the month, used or not: there already, bought, or committed to.

    `there`: how many are there; `for_sale`: whether more can be had; `fixed`: USD a month of one, by draw;
    `capacity`: machine-hours a month in which one works, by draw; `hours`: machine-hours that a job takes (its share of
    the machine; NEVER where it cannot run), by class and draw; `running`: USD of a job for its use, by class and draw;
    `devices`: of one machine.
    """

    name: str
    there: int
    for_sale: bool
    fixed: Array
    capacity: Array
    hours: Array
    running: Array
    devices: int = 1


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
    """`jobs`: number of jobs by class, draw and month; the draws of all parts are the same."""

    classes: tuple[str, ...]
    jobs: Array
    held: tuple[Held, ...]
    rented: tuple[Rented, ...]

    @property
    def there(self) -> tuple[int, ...]:
        """What is there of each kind held."""
        return tuple(kind.there for kind in self.held)

    def only(self, name: str) -> "Problem":
        """The problem with one rented offer for all that it can do; what it cannot, the others do."""
        chosen = next(offer for offer in self.rented if offer.name == name)
        can = np.isfinite(chosen.usd).any(axis=1, keepdims=True)
        others = [replace(one, usd=np.where(can, NEVER, one.usd)) for one in self.rented if one.name != name]
        return replace(self, rented=(chosen, *others))

    def draws(self, places: npt.NDArray[np.int_], months: npt.NDArray[np.int_]) -> "Problem":
        """The draws `places`, each with one of its months: a small problem to decide on."""
        held = tuple(
            replace(
                kind,
                fixed=np.full(len(places), kind.fixed.mean()),  # what is bought is paid in all of them
                capacity=kind.capacity[places],
                hours=kind.hours[:, places],
                running=kind.running[:, places],
            )
            for kind in self.held
        )
        rented = tuple(
            replace(one, usd=one.usd[:, places], device_hours=one.device_hours[:, places]) for one in self.rented
        )
        return replace(self, jobs=self.jobs[:, places, months][:, :, None], held=held, rented=rented)


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
