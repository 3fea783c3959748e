"""How many machines to have: the best mix of a problem, and the pure options that it is held against."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sweetspot.mixes.dispatch import Done, dispatch
from sweetspot.mixes.problem import Array, Problem

MOST = 10_000  # machines of a kind, far beyond any team's
DEAR = 1e3  # times the dearest job: what it costs in the programme that a job is not done
TINY = 1e-9  # hours of a month
SAMPLE = 60  # months of the sample that the integer programme decides on
Counts = tuple[int, ...]
BEST, THERE, BOUGHT, RENTED = "best", "there", "bought", "rented"


def numbers_to_have(problem: Problem) -> tuple[int, ...]:
    """Machines of each kind held, those that are there included, at the least expected cost over the problem's draws.

    A mixed-integer linear programme (HiGHS): numbers of machines are whole; in each draw and month the jobs of each
    class go to the kinds held, within their hours, and to the cheapest offer that can do them. Meant for a sample of
    tens of months; raises RuntimeError where the programme has no solution, which it always has.
    """
    from scipy.optimize import Bounds, milp

    kinds = len(problem.held)
    if not any(kind.for_sale for kind in problem.held):
        return problem.there
    rent, held = _costs(problem)
    classes, months = rent.shape
    cost = np.concatenate([[kind.fixed.mean() for kind in problem.held], held.ravel() / months, rent.ravel() / months])
    upper = [float(MOST if kind.for_sale else kind.there) for kind in problem.held]
    free = np.isfinite(held).ravel()
    bounds = Bounds(
        np.concatenate([problem.there, np.zeros(held.size + rent.size)]),
        np.concatenate([upper, np.where(free, np.inf, 0.0), np.full(rent.size, np.inf)]),
    )
    whole = np.concatenate([np.ones(kinds), np.zeros(held.size + rent.size)])
    limits = _constraints(problem, classes, months)
    found = milp(np.where(np.isfinite(cost), cost, 0.0), integrality=whole, bounds=bounds, constraints=limits)
    if found.x is None:
        raise RuntimeError(f"the programme of the purchase ended without a solution: {found.message}")
    return tuple(round(value) for value in found.x[:kinds])


def _costs(problem: Problem) -> tuple[Array, Array]:
    """USD of a job: rented, class x month; on each kind held, kind x class x month (a month of one draw)."""
    shape = problem.jobs.shape[:2]
    usd = [offer.usd for offer in problem.rented]
    rent = np.min(usd, axis=0) if usd else np.full(shape, np.inf)
    held = np.stack([np.where(np.isfinite(kind.hours), kind.running, np.inf) for kind in problem.held])
    finite = [part[np.isfinite(part)] for part in (rent, held)]
    dearest = max((float(part.max()) for part in finite if part.size), default=1.0)
    dear = DEAR * max(dearest, max(float(kind.fixed.mean()) for kind in problem.held))
    return np.where(np.isfinite(rent), rent, dear), held


def _constraints(problem: Problem, classes: int, months: int) -> list[Any]:
    """All jobs are done by somebody; no kind works longer than its machines have hours."""
    from scipy.optimize import LinearConstraint
    from scipy.sparse import coo_array, hstack, identity

    kinds, block = len(problem.held), classes * months
    each = identity(block)
    jobs = hstack([coo_array((block, kinds)), *[each] * kinds, each])
    demand = problem.jobs[:, :, 0].ravel()
    # A row is a kind in a month: kind x months + month. A column of `used` is a kind, a class, a month.
    row = np.arange(kinds * months).reshape(kinds, months)
    capacity = np.stack([kind.capacity for kind in problem.held])
    machines = coo_array((-capacity.ravel(), (row.ravel(), np.repeat(np.arange(kinds), months))), (row.size, kinds))
    hours = np.stack([np.where(np.isfinite(kind.hours), kind.hours, 0.0) for kind in problem.held])
    rows = np.broadcast_to(row[:, None, :], hours.shape).ravel()
    used = coo_array((hours.ravel(), (rows, np.arange(hours.size))), (row.size, hours.size))
    room = hstack([machines, used, coo_array((row.size, block))])
    return [LinearConstraint(jobs.tocsr(), demand, demand), LinearConstraint(room.tocsr(), -np.inf, 0.0)]


@dataclass(frozen=True)
class Mix:
    """One way to do the work: `counts` machines of each kind held, and what is rented (`problem.rented`).

    `kind`: best, there (nothing else), bought or rented (one source beside what is there); `source`: that source;
    `done`: its dispatch on all draws.
    """

    kind: str
    source: str
    counts: tuple[int, ...]
    problem: Problem
    done: Done

    @property
    def expected(self) -> float:
        """Expected USD a month."""
        return float(self.done.usd.mean())


def mixes(problem: Problem) -> list[Mix]:
    """The best mix first, then each pure option, the cheapest first; infinite ones last.

    The programme decides on SAMPLE months spread over the draws; the mix that it finds, its neighbours of one machine
    more or less and the pure options are then dispatched on all draws, and the one of least expected cost is the best:
    no pure option is ever cheaper.
    """
    pure = sorted(_pure(problem), key=lambda one: one.expected)
    starts = [problem.there, *(one.counts for one in pure)]
    if sum(kind.for_sale for kind in problem.held) > 1:  # of one kind the cost is convex: steps find the least
        starts.append(numbers_to_have(_sample(problem)))
    best = min((_made(problem, BEST, "", counts) for counts in dict.fromkeys(starts)), key=_expected)
    best = _improved(problem, best)
    cheaper = [one for one in pure if one.expected < best.expected]
    return [replace(cheaper[0], kind=BEST) if cheaper else best, *pure]


def _expected(one: Mix) -> float:
    return one.expected


def _made(problem: Problem, kind: str, source: str, counts: tuple[int, ...]) -> Mix:
    return Mix(kind, source, counts, problem, dispatch(problem, counts))


def _sample(problem: Problem) -> Problem:
    draws, months = problem.jobs.shape[1:]
    places = np.unique(np.linspace(0, draws - 1, SAMPLE).round().astype(int))
    return problem.draws(places, np.arange(len(places)) % months)


def _improved(problem: Problem, best: Mix) -> Mix:
    """The best of the mixes that machines more or less lead to."""
    known = {best.counts: best}

    def usd(counts: Counts) -> float:
        if counts not in known:
            known[counts] = _made(problem, BEST, "", counts)
        return known[counts].expected

    kinds = [place for place, kind in enumerate(problem.held) if kind.for_sale]
    return known[climb(best.counts, usd, kinds, problem.there, most_useful(problem))]


def climb(start: Counts, usd: Callable[[Counts], float], kinds: Sequence[int], least: Counts, most: Counts) -> Counts:
    """Numbers of machines of which none more or less of one of `kinds` is cheaper, from `start` on.

    The way that gains is gone on in steps twice as long each time; between `least` and `most` of each kind.
    """
    best = start
    while True:
        steps = [(place, step) for place in kinds for step in (-1, 1)]
        near = [(counts, move) for move in steps if (counts := _moved(best, *move, least, most)) is not None]
        found = min(near, key=lambda one: usd(one[0]), default=None)
        if found is None or not usd(found[0]) < usd(best):
            return best
        best, (place, step) = found
        while (further := _moved(best, place, step := 2 * step, least, most)) and usd(further) < usd(best):
            best = further


def _moved(counts: Counts, place: int, step: int, least: Counts, most: Counts) -> Counts | None:
    """So many machines of a kind more; None beyond the bounds."""
    number = counts[place] + step
    return (*counts[:place], number, *counts[place + 1 :]) if least[place] <= number <= most[place] else None


def most_useful(problem: Problem) -> Counts:
    """Machines of each kind that do all that it can do of the busiest month: more would stand idle."""
    busiest = problem.jobs.max(axis=(1, 2))
    found = []
    for kind in problem.held:
        hours = float((busiest[:, None] * _finite(kind.hours)).sum(axis=0).max())
        needed = int(np.ceil(hours / max(float(kind.capacity.min()), TINY)))
        found.append(max(kind.there, min(MOST, needed)) if kind.for_sale else kind.there)
    return tuple(found)


def neighbours(problem: Problem, counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Numbers of machines of one more or less of a kind that is for sale."""
    for place, kind in enumerate(problem.held):
        for step in (-1, 1) if kind.for_sale else ():
            if counts[place] + step >= kind.there:
                yield (*counts[:place], counts[place] + step, *counts[place + 1 :])


def _pure(problem: Problem) -> Iterator[Mix]:
    """What is there and one source beside it: as many of one machine as the work takes, or one offer by the hour.

    What a source cannot do (memory, deadline, no speed) others do for it, at their least cost, and so they do what a
    month has beyond the machines bought.
    """
    if any(problem.there):
        alone = replace(problem, rented=())
        yield _made(alone, THERE, "", problem.there)
    for place, kind in enumerate(problem.held):
        if kind.for_sale:
            more = machines_for(problem, place)
            if more:
                counts = (*problem.there[:place], more, *problem.there[place + 1 :])
                yield _made(problem, BOUGHT, kind.name, counts)
    for offer in problem.rented:
        if np.isfinite(offer.usd).any():
            yield _made(problem.only(offer.name), RENTED, offer.name, problem.there)


def machines_for(problem: Problem, place: int) -> int:
    """How many of a kind do, beside what is there, all that it can do of the mean month; 0 where it can do nothing."""
    kind = problem.held[place]
    left = problem.jobs.mean(axis=2)
    for other in problem.held:
        if other.there:
            left = left - _taken(left, other.hours, other.there * other.capacity)
    hours = float((left * _finite(kind.hours)).sum(axis=0).mean())
    return kind.there + int(np.ceil(hours / kind.capacity.mean() - 1e-9))


def _finite(hours: Array) -> Array:
    return np.where(np.isfinite(hours), hours, 0.0)


def _taken(jobs: Array, hours: Array, capacity: Array) -> Array:
    """Jobs that machines of so many hours take of all classes alike."""
    needed = (jobs * _finite(hours)).sum(axis=0)
    share = np.where(needed > 0, np.minimum(1.0, capacity / np.where(needed > 0, needed, 1.0)), 0.0)
    return np.where(np.isfinite(hours), jobs * share, 0.0)
