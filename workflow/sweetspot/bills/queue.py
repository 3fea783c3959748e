"""How long jobs wait for machines that several people share: Erlang C, with the correction for other spreads.

Poisson arrivals at rate a on c servers with exponential hours wait as in M/M/c (Erlang 1917; recursion for Erlang B:
Cooper 1981, sec. 3.2). For other spreads the mean wait is multiplied by (C_a^2 + C_s^2) / 2 (Allen 1990, Cunneen),
which is exact for one server and Poisson arrivals (Pollaczek-Khinchine). Where jobs take different shares, by events.
"""

import heapq
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sweetspot.bills.columns import Array
from sweetspot.bills.renting import ROUNDING

JOBS = 20_000
SETTLING = 2_000  # the first jobs find the machine empty
SEED = 2018


def rounds(jobs: npt.ArrayLike, slots: npt.ArrayLike, machines: npt.ArrayLike) -> tuple[Array, Array]:
    """Rounds of jobs on the machine that has most of them, and of all machines together; dealt out evenly.

    Machines beyond those that the jobs fill stand idle.
    """
    used = np.minimum(machines, np.ceil(np.asarray(jobs) / slots))
    share, more = np.divmod(jobs, used)
    whole, longer = np.ceil(share / slots), np.ceil((share + 1) / slots)
    return np.where(more > 0, longer, whole), longer * more + whole * (used - more)


def more_boxes(boxes: Array, hours: Array, room: Array, most: float) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The next number of machines to try where so many take more `hours` than one works (`room`), never above `most`;
    and where they do.
    """
    short = np.isfinite(hours) & (hours > room * (1.0 + ROUNDING))
    needed = np.ceil(boxes * np.where(short, hours, 0.0) / room - ROUNDING)
    return np.where(short, np.maximum(boxes, np.minimum(most, needed)), boxes), short


class Kind(NamedTuple):
    """Jobs: arrivals an hour, mean hours, their coefficient of variation, devices that one takes."""

    per_hour: float
    hours: float
    spread: float
    devices: int


def waits(devices: int, kinds: Sequence[Kind], jobs: int = JOBS) -> list[float]:
    """Hours that each job waits for its devices, in the order of arrival, without the first SETTLING.

    Arrivals are Poisson, hours gamma with the kind's mean and spread (exponential at 1, alike at 0). A job starts when
    its devices are free and all that came before it have started. The same draws for every rate: more arrivals never
    shorten a wait.
    """
    rate = sum(kind.per_hour for kind in kinds)
    arrivals, hours, needed = _drawn(_mixture(kinds), jobs)
    queue = _served(devices, zip((one / rate for one in arrivals), hours, needed, strict=True))
    return [begun - arrival for arrival, begun, _ in queue][min(SETTLING, jobs // 2) :]


def capacity(devices: int, kinds: Sequence[Kind], jobs: int = JOBS) -> float:
    """Jobs an hour that the machine finishes where one always waits, in that mixture: the most there can be."""
    return _capacity(devices, _mixture(kinds), jobs)


def _mixture(kinds: Sequence[Kind]) -> tuple[Kind, ...]:
    """Kinds by their share of the arrivals: the same whatever the rate, so that they are drawn once."""
    rate = sum(kind.per_hour for kind in kinds)
    return tuple(kind._replace(per_hour=round(kind.per_hour / rate, 9)) for kind in kinds)


@lru_cache(maxsize=64)
def _capacity(devices: int, mixture: tuple[Kind, ...], jobs: int) -> float:
    _, hours, needed = _drawn(mixture, jobs)
    return jobs / max(end for _, _, end in _served(devices, zip([0.0] * jobs, hours, needed, strict=True)))


@lru_cache(maxsize=64)
def _drawn(mixture: tuple[Kind, ...], jobs: int) -> tuple[list[float], list[float], list[int]]:
    """Arrival at one job an hour, hours and devices of each job."""
    draw, now = random.Random(SEED), 0.0
    arrivals, hours = [], []
    chosen = draw.choices(mixture, [kind.per_hour for kind in mixture], k=jobs)
    for _, mean, spread, _ in chosen:
        now += draw.expovariate(1.0)
        arrivals.append(now)
        hours.append(draw.gammavariate(1 / spread**2, mean * spread**2) if spread > 0 else mean)
    return arrivals, hours, [kind.devices for kind in chosen]


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


NINETY = 0.9
FULL = 1e-9  # of the hours; what is less than so much away from all of them is all of them
LEVELS = 20  # of how full machines are; from half a level below full on, their queue grows without end
CLOSE = 1e-6, 1e-3  # how near a bisection ends, by formula and where each step simulates a queue


class Stream(NamedTuple):
    """Jobs of one kind that arrive at a machine.

    per_hour: arrivals; hours: mean time of a job; spread: its coefficient of variation (standard deviation / mean);
    servers: such jobs that the machine works on at once.
    """

    per_hour: float
    hours: float
    spread: float
    servers: int


class Wait(NamedTuple):
    """What a job waits. utilisation: share of the machine's time that the work takes, above 1 where it has not so much;
    hours: mean; ninety: what nine in ten jobs wait at most. Both are nan where the queue grows without end.
    """

    utilisation: float
    hours: float
    ninety: float

    @property
    def overloaded(self) -> bool:
        """Whether more work arrives than the machine can do."""
        return math.isnan(self.hours)


class Tail(NamedTuple):
    """Who waits how long: `waits_at_all`, the share of jobs that do; `relaxed`, their mean wait in hours, taken as
    exponential; where the queue was simulated the waits themselves, `seen`, in order.
    """

    waits_at_all: float
    relaxed: float
    seen: tuple[float, ...] = ()

    def beyond(self, hours: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The share of jobs that wait longer than so many hours; all of them longer than a negative number."""
        if self.seen:
            later: npt.NDArray[np.float64] = 1.0 - np.searchsorted(self.seen, hours, side="right") / len(self.seen)
            return later
        with np.errstate(invalid="ignore"):
            left = np.exp(-np.maximum(hours, 0.0) / self.relaxed) if self.relaxed > 0 else np.zeros_like(hours)
        return np.where(hours < 0, 1.0, self.waits_at_all * left)


NOBODY, EVERYBODY = Tail(0.0, 0.0), Tail(1.0, math.inf)  # none waits; the queue grows without end


def erlang_b(servers: int, load: float) -> float:
    """Share of arrivals that find all `servers` taken and are lost; `load`: arrivals an hour x mean hours.

    By B(0) = 1, B(c) = a B(c - 1) / (c + a B(c - 1)), which no factorial overflows.
    """
    lost = 1.0
    for server in range(1, servers + 1):
        lost = load * lost / (server + load * lost)
    return lost


def erlang_c(servers: int, load: float) -> float:
    """Share of arrivals that wait, of those that may: M/M/c with `load` < `servers`; 1 from there on."""
    if load >= servers:
        return 1.0
    lost = erlang_b(servers, load)
    return lost / (1.0 - load / servers * (1.0 - lost))


def wait_for(streams: Sequence[Stream]) -> Wait:
    """The wait of a job of any of `streams`, which arrive at random (Poisson), first come first served.

    Where all take the same share of the machine: M/M/c, corrected by (1 + C_s^2) / 2, where hours and C_s are those of
    the streams' mixture; the tail is taken as exponential with that mean, so ninety = relaxed ln(P / 0.1), 0 where
    fewer than one in ten wait. Where some take more of the machine than others, a job that needs more than is free
    holds up all behind it, for which there is no formula: the queue is simulated by its events, same draws each time
    (`queue_events`), and its mean has an error of some percent.
    """
    busy, tail = utilisation(streams), tail_of(streams)
    if tail == EVERYBODY:
        return Wait(busy, math.nan, math.nan)
    if tail.seen:
        return Wait(busy, sum(tail.seen) / len(tail.seen), tail.seen[math.ceil(NINETY * len(tail.seen)) - 1])
    some = tail.waits_at_all > 1 - NINETY
    ninety = tail.relaxed * math.log(tail.waits_at_all / (1 - NINETY)) if some else 0.0
    return Wait(busy, tail.waits_at_all * tail.relaxed, ninety)


def utilisation(streams: Sequence[Stream]) -> float:
    """Share of the machine's time that its jobs take; above 1 where it has not so much."""
    return sum(stream.per_hour * stream.hours / stream.servers for stream in streams)


def tail_of(streams: Sequence[Stream]) -> Tail:
    """The waits of the jobs of `streams`, as `wait_for` finds them; EVERYBODY where the queue grows without end."""
    streams = [stream for stream in streams if stream.per_hour > 0]
    busy = utilisation(streams)
    if not streams:
        return NOBODY
    if busy >= 1 - FULL:
        return EVERYBODY
    if len({stream.servers for stream in streams}) > 1:
        return _simulated(streams)
    often, servers = sum(stream.per_hour for stream in streams), streams[0].servers
    mean = sum(stream.per_hour * stream.hours for stream in streams) / often
    square = sum(stream.per_hour * stream.hours**2 * (1 + stream.spread**2) for stream in streams) / often
    relaxed = mean / (servers * (1 - busy)) * (square / mean**2) / 2  # 1 + C_s^2 = square / mean^2
    return Tail(erlang_c(servers, servers * busy), relaxed)


def _simulated(streams: Sequence[Stream]) -> Tail:
    devices = math.lcm(*(stream.servers for stream in streams))
    kinds = [Kind(one.per_hour, one.hours, one.spread, devices // one.servers) for one in streams]
    if capacity(devices, kinds) <= sum(kind.per_hour for kind in kinds):
        return EVERYBODY
    found = tuple(sorted(waits(devices, kinds)))
    return Tail(sum(wait > 0 for wait in found) / len(found), math.nan, found)


class Queue(NamedTuple):
    """`mean`: hours that a job waits at central figures (nan: the machines are full); `tails`: who waits how long, by
    how full they are; `level`: which of these holds in each draw x month.
    """

    mean: float
    tails: Sequence[Tail]
    level: npt.NDArray[np.int_]

    def in_time(self, spare: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Share of the jobs of each draw x month that wait no longer than the hours that the draw leaves (`spare`)."""
        early = np.stack([1.0 - tail.beyond(spare) for tail in self.tails])
        return np.asarray(early[self.level, np.arange(len(spare))[:, None]])


AT_ONCE = Queue(0.0, [NOBODY], np.zeros((1, 1), int))  # of a rented machine


def queue_at(streams: Sequence[Stream], full: npt.NDArray[np.float64]) -> Queue:
    """The queue of machines that are so `full` in each draw x month, with jobs in the proportions of `streams`."""
    levels, level = np.unique(np.rint(full * LEVELS), return_inverse=True)
    busy, tails = utilisation(streams) or math.inf, []
    for share in levels / LEVELS:
        part = [one._replace(per_hour=one.per_hour * float(share) / busy) for one in streams]
        tails.append(tail_of(part) if share < 1 else EVERYBODY)
    return Queue(wait_for(streams).hours, tails, level.reshape(full.shape))


def outgrown(streams: Sequence[Stream], own_hours: float, limit: float) -> float:
    """How many times today's arrivals there may be until a job of `own_hours` is done later than after `limit` hours.

    0 where that is so without any wait; inf without arrivals. The wait grows without bound before the machine is full,
    so there always is such a number.
    """
    if own_hours > limit:
        return 0.0
    busy = utilisation(streams)
    if busy <= 0:
        return math.inf
    low, high = 0.0, 1.0 / busy
    close = CLOSE[len({stream.servers for stream in streams}) > 1]
    while high - low > close * max(high, 1e-3 / busy):  # a thousandth of what there may be is nothing
        middle = (low + high) / 2
        more = wait_for([stream._replace(per_hour=middle * stream.per_hour) for stream in streams])
        low, high = (middle, high) if own_hours + more.hours <= limit else (low, middle)
    return low
