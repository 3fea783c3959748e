"""How long jobs wait for machines that several people share: Erlang C, with the correction for other spreads.

Poisson arrivals at rate a on c servers with exponential hours wait as in M/M/c (Erlang 1917; recursion for Erlang B:
Cooper 1981, sec. 3.2). For other spreads the mean wait is multiplied by (C_a^2 + C_s^2) / 2 (Allen 1990, Cunneen),
which is exact for one server and Poisson arrivals (Pollaczek-Khinchine).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from sweetspot.bills.queue_events import Kind, capacity, waits

NINETY = 0.9
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
    streams = [stream for stream in streams if stream.per_hour > 0]
    busy = sum(stream.per_hour * stream.hours / stream.servers for stream in streams)
    if not streams:
        return Wait(0.0, 0.0, 0.0)
    if busy >= 1:
        return Wait(busy, math.nan, math.nan)
    if len({stream.servers for stream in streams}) > 1:
        return _simulated(streams, busy)
    often, servers = sum(stream.per_hour for stream in streams), streams[0].servers
    mean = sum(stream.per_hour * stream.hours for stream in streams) / often
    square = sum(stream.per_hour * stream.hours**2 * (1 + stream.spread**2) for stream in streams) / often
    waits_at_all = erlang_c(servers, servers * busy)
    relaxed = mean / (servers * (1 - busy)) * (square / mean**2) / 2  # 1 + C_s^2 = square / mean^2
    ninety = relaxed * math.log(waits_at_all / (1 - NINETY)) if waits_at_all > 1 - NINETY else 0.0
    return Wait(busy, waits_at_all * relaxed, ninety)


def _simulated(streams: Sequence[Stream], busy: float) -> Wait:
    devices = math.lcm(*(stream.servers for stream in streams))
    kinds = [Kind(one.per_hour, one.hours, one.spread, devices // one.servers) for one in streams]
    if capacity(devices, kinds) <= sum(kind.per_hour for kind in kinds):
        return Wait(busy, math.nan, math.nan)
    found = sorted(waits(devices, kinds))
    return Wait(busy, sum(found) / len(found), found[math.ceil(NINETY * len(found)) - 1])


def outgrown(streams: Sequence[Stream], own_hours: float, limit: float) -> float:
    """How many times today's arrivals there may be until a job of `own_hours` is done later than after `limit` hours.

    0 where that is so without any wait; inf without arrivals. The wait grows without bound before the machine is full,
    so there always is such a number.
    """
    if own_hours > limit:
        return 0.0
    busy = sum(stream.per_hour * stream.hours / stream.servers for stream in streams)
    if busy <= 0:
        return math.inf
    low, high = 0.0, 1.0 / busy
    close = CLOSE[len({stream.servers for stream in streams}) > 1]
    while high - low > close * max(high, 1e-3 / busy):  # a thousandth of what there may be is nothing
        middle = (low + high) / 2
        more = wait_for([stream._replace(per_hour=middle * stream.per_hour) for stream in streams])
        low, high = (middle, high) if own_hours + more.hours <= limit else (low, middle)
    return low
