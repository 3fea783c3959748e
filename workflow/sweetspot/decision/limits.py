"""What a team allows itself: money up front, money a month, hours of waiting; and what each of these limits costs."""

import math
from dataclasses import replace
from functools import lru_cache

from sweetspot.bills.queue import wait_for
from sweetspot.bills.rates import or_zero
from sweetspot.decision.options import Row
from sweetspot.decision.posed import Broken, Posed
from sweetspot.decision.waiting import pool
from sweetspot.mixes.problem import Counts
from sweetspot.mixes.search import Mix

PERCENT = 100
UP_FRONT, A_MONTH, WAIT = LIMITS = ("at_most_up_front", "at_most_a_month", "mean_wait_at_most")


def limited(posed: Posed, usd_per_unit: float) -> Posed:
    """The workload with its ways held to its limits, and what each of them costs; where no way found keeps them they
    do not count.

    `usd_per_unit`: of the study's currency, in which limits of money are.
    """
    most = most_of(posed, usd_per_unit)
    if not most:
        return posed
    held, free = _held_to(posed, most), posed.mixes[0]
    kept = not held.breaks(held.mixes[0])
    limits = []
    for one in held.breaks(free):
        others = {name: allowed for name, allowed in most.items() if name != one.limit}
        less = held.mixes[0].expected - _held_to(posed, others).mixes[0].expected
        limits.append((one, less if kept else math.nan))
    return replace(held if kept else posed, limits=tuple(limits))


def most_of(posed: Posed, usd_per_unit: float) -> dict[str, float]:
    """The limits that a workload states: USD, or hours."""
    stated = {name: getattr(posed.work, name) for name in LIMITS}
    return {name: most * (1.0 if name == WAIT else usd_per_unit) for name, most in stated.items() if most is not None}


def up_front(posed: Posed, counts: Counts) -> float:
    """USD that the machines of these numbers cost before they do anything, beyond what is there."""
    paid = 0.0
    for kind, count in zip(posed.drawn.held, counts, strict=True):
        paid += max(0, count - kind.there) * price_of(posed.source(kind.name).offer)
    return paid


def price_of(row: Row) -> float:
    """USD that one machine or contract costs up front."""
    return or_zero(row["capex_usd"] if row["purchase"] == "own" else row.get("upfront_usd"))


def by_the_month(posed: Posed, mix: Mix) -> float:
    """USD that a mix pays in a mean month beside what it pays up front: rent, contracts, electricity, care."""
    paid = mix.expected
    for kind, count in zip(mix.problem.held, mix.counts, strict=True):
        row = posed.source(kind.name).offer
        if row["purchase"] == "own":
            care = or_zero(row["maintenance_usd_per_month"]) + or_zero(row["staff_usd_per_month"])
            paid -= count * float(kind.fixed.mean() - care * kind.present.mean())
    return paid


_wait = lru_cache(maxsize=256)(wait_for)  # some queues are simulated


def mean_wait(posed: Posed, mix: Mix) -> float:
    """Hours that a job waits on average for the machines that a mix holds, infinite where they cannot keep up."""
    streams = tuple(one.stream(0) for one in pool(posed, mix))
    return float(_wait(streams).hours) if streams else 0.0


def eased(posed: Posed, mix: Mix, most: float) -> Mix:
    """A mix whose jobs wait `most` hours on average, where they would wait longer: its machines are filled to so many
    whole percent of their hours and no further, the rest is rented. As it is where nothing can be rented for that.
    """
    if mean_wait(posed, mix) <= most:
        return mix
    low, high = 0, PERCENT
    while high - low > 1:
        middle = (low + high) // 2
        kept = mean_wait(posed, mix._replace(filled=middle / PERCENT)) <= most
        low, high = (middle, high) if kept else (low, middle)
    sooner = mix.renting_sooner(low / PERCENT)
    return sooner if low and math.isfinite(sooner.expected) else mix


def _held_to(posed: Posed, most: dict[str, float]) -> Posed:
    if not most:
        return replace(posed, held_to=None)
    found = {UP_FRONT: lambda one: up_front(posed, one.counts), A_MONTH: lambda one: by_the_month(posed, one),
             WAIT: lambda one: mean_wait(posed, one)}  # fmt: skip

    def broken(one: Mix) -> list[Broken]:
        values = {name: found[name](one) for name in most}
        return [Broken(name, most[name], value) for name, value in values.items() if not value <= most[name]]

    allowed = most.get(UP_FRONT, math.inf)

    def sooner(one: Mix) -> Mix:
        return eased(posed, one, most[WAIT]) if WAIT in most else one

    def affords(counts: Counts) -> bool:
        return up_front(posed, counts) <= allowed

    return replace(posed, held_to=broken, stated=most, affords=affords, eased=sooner)
