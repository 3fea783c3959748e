"""A queue by its events: jobs arrive, take devices of one machine and give them back; first come, first served."""

import heapq
import random
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

JOBS = 20_000
SETTLING = 2_000  # the first jobs find the machine empty
SEED = 2018


class Kind(NamedTuple):
    """Jobs: arrivals an hour, mean hours, their coefficient of variation, devices that one takes."""

    per_hour: float
    hours: float
    spread: float
    devices: int


def waits(devices: int, kinds: Sequence[Kind], jobs: int = JOBS, seed: int = SEED) -> list[float]:
    """Hours that each job waits for its devices, in the order of arrival, without the first SETTLING.

    Arrivals are Poisson, hours gamma with the kind's mean and spread (exponential at 1, alike at 0). A job starts when
    its devices are free and all that came before it have started. The same draws for every rate: more arrivals never
    shorten a wait.
    """
    rate = sum(kind.per_hour for kind in kinds)
    arrivals, hours, needed = _drawn(_mixture(kinds), jobs, seed)
    queue = _served(devices, zip((one / rate for one in arrivals), hours, needed, strict=True))
    return [begun - arrival for arrival, begun, _ in queue][min(SETTLING, jobs // 2) :]


def capacity(devices: int, kinds: Sequence[Kind], jobs: int = JOBS, seed: int = SEED) -> float:
    """Jobs an hour that the machine finishes where one always waits, in that mixture: the most there can be."""
    return _capacity(devices, _mixture(kinds), jobs, seed)


Mixture = tuple[tuple[float, float, float, int], ...]


def _mixture(kinds: Sequence[Kind]) -> Mixture:
    """Share, hours, spread and devices of each kind: the same whatever the rate, so that it is drawn once."""
    rate = sum(kind.per_hour for kind in kinds)
    return tuple((round(kind.per_hour / rate, 9), kind.hours, kind.spread, kind.devices) for kind in kinds)


@lru_cache(maxsize=64)
def _capacity(devices: int, mixture: Mixture, jobs: int, seed: int) -> float:
    _, hours, needed = _drawn(mixture, jobs, seed)
    return jobs / max(end for _, _, end in _served(devices, zip([0.0] * jobs, hours, needed, strict=True)))


@lru_cache(maxsize=64)
def _drawn(mixture: Mixture, jobs: int, seed: int) -> tuple[list[float], list[float], list[int]]:
    """Arrival at one job an hour, hours and devices of each job."""
    draw, now = random.Random(seed), 0.0
    arrivals, hours = [], []
    chosen = draw.choices(mixture, [share for share, *_ in mixture], k=jobs)
    for _, mean, spread, _ in chosen:
        now += draw.expovariate(1.0)
        arrivals.append(now)
        hours.append(draw.gammavariate(1 / spread**2, mean * spread**2) if spread > 0 else mean)
    return arrivals, hours, [devices for *_, devices in chosen]


def _served(devices: int, jobs: Iterable[tuple[float, float, int]]) -> Iterator[tuple[float, float, float]]:
    """Arrival, start and end of each job."""
    free, running, last = devices, list[tuple[float, int]](), 0.0
    for arrival, hours, needed in jobs:
        begun = max(arrival, last)  # nobody overtakes
        while running and (running[0][0] <= begun or free < needed):
            end, back = heapq.heappop(running)
            begun, free = max(begun, end), free + back
        last, free = begun, free - needed
        heapq.heappush(running, (begun + hours, needed))
        yield arrival, begun, begun + hours
