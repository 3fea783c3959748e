"""A queue by its events: jobs arrive, take devices of one machine and give them back; first come, first served."""

import heapq
import random
from collections.abc import Iterator, Sequence
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
    queue = _served(devices, _drawn(kinds, jobs, seed))
    return [begun - arrival for arrival, begun, _ in queue][min(SETTLING, jobs // 2) :]


def capacity(devices: int, kinds: Sequence[Kind], jobs: int = JOBS, seed: int = SEED) -> float:
    """Jobs an hour that the machine finishes where one always waits, in that mixture: the most there can be."""
    waiting = ((0.0, hours, needed) for _, hours, needed in _drawn(kinds, jobs, seed))
    return jobs / max(end for _, _, end in _served(devices, waiting))


def _drawn(kinds: Sequence[Kind], jobs: int, seed: int) -> Iterator[tuple[float, float, int]]:
    """Arrival, hours and devices of each job."""
    draw, now = random.Random(seed), 0.0
    rate, weights = sum(kind.per_hour for kind in kinds), [kind.per_hour for kind in kinds]
    for _ in range(jobs):
        now += draw.expovariate(1.0) / rate
        (kind,) = draw.choices(kinds, weights)
        shape = 1 / kind.spread**2 if kind.spread > 0 else 0.0
        hours = draw.gammavariate(shape, kind.hours / shape) if shape else kind.hours
        yield now, hours, kind.devices


def _served(devices: int, jobs: Iterator[tuple[float, float, int]]) -> Iterator[tuple[float, float, float]]:
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
