"""How many machines to own: the best mix of a problem, and the pure options it is compared with."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import NamedTuple

import numpy as np

from sweetspot.mixes.dispatch import SLIGHT, DispatchResult, dispatch
from sweetspot.mixes.problem import Counts, Problem, finite
from sweetspot.mixes.timing import MINIMUM_SAVING

MAXIMUM_MACHINES = 10_000  # of a kind, far beyond any team's
TINY = 1e-9  # hours per month, or machines
TRIED_WITH_LIMITS = 24  # numbers of a kind that are tried where limits must be kept
BEST, THERE, BOUGHT, RENTED, SOLD = "best", "there", "bought", "rented", "sold"


class Mix(NamedTuple):
    """One way to do the work.

    Parameters
    ----------
    kind
        BEST, THERE (nothing else), BOUGHT or RENTED (one source beside what is owned; rented
        without a `source`: several), SOLD (what is owned and can be sold).
    source
        The only machine or offer beside what is owned; empty: any.
    done
        Its dispatch on all samples.
    filled
        As of a `Problem`.
    fixed_usd
        Expected USD per month with nothing timed first, where something is.
    """

    kind: str
    source: str
    done: DispatchResult
    filled: float = 1.0
    fixed_usd: float = np.nan

    @property
    def counts(self) -> Counts:
        """Machines of each owned kind."""
        return self.done.counts

    @property
    def problem(self) -> Problem:
        """What it is a mix of, with the offers that it may use."""
        return self.done.problem

    @property
    def key(self) -> str:
        """Its key in all tables: BEST, THERE, or that of its source."""
        return self.kind if self.kind == BEST else self.source or self.kind

    @property
    def expected(self) -> float:
        """Expected USD per month."""
        return float(self.done.usd.mean())

    @property
    def one_offer(self) -> bool:
        """Whether it rents on one offer all that this can do."""
        return self.kind == RENTED and bool(self.source)

    @property
    def bought(self) -> dict[str, int]:
        """How many machines of each kind are bought or committed to."""
        return {name: change for name, change in self._changes.items() if change > 0}

    @property
    def sold(self) -> dict[str, int]:
        """How many owned machines of each kind are sold."""
        return {name: -change for name, change in self._changes.items() if change < 0}

    @property
    def _changes(self) -> dict[str, int]:
        kinds = zip(self.problem.held, self.counts, strict=True)
        return {kind.name: count - kind.there for kind, count in kinds}

    @property
    def timed(self) -> frozenset[str]:
        """Keys of the speeds that are timed first."""
        return self.problem.timed

    @property
    def saving(self) -> float:
        """Expected USD per month saved by timing first, trials paid."""
        return self.fixed_usd - self.expected if self.timed else 0.0

    def at(self, problem: Problem) -> DispatchResult:
        """Return its dispatch at other values of the same sources."""
        allowed = _allowed(problem, self.kind, self.source)
        return dispatch(replace(allowed, filled=self.filled, timed=self.timed), self.counts)

    def renting_sooner(self, filled: float) -> "Mix":
        """Return the same machines, filled no further than that."""
        result = dispatch(replace(self.problem, filled=filled), self.counts)
        return self._replace(filled=filled, done=result)


def _allowed(problem: Problem, kind: str, source: str) -> Problem:
    return replace(problem, rented=()) if kind == THERE else problem.only(source)


class MixLimits:
    """What a team allows of a mix; here nothing is limited."""

    @property
    def any(self) -> bool:
        """Whether anything is limited."""
        return False

    def keeps(self, mix: Mix) -> bool:
        """Return whether a mix keeps all limits."""
        return True

    def ease(self, mix: Mix) -> Mix:
        """Return the mix with as much rented sooner as a limit requires."""
        return mix


NO_LIMITS = MixLimits()


@dataclass
class MixSearch:
    """The mixes of a problem by their numbers of machines, each dispatched once."""

    problem: Problem
    limits: MixLimits = NO_LIMITS
    _by_counts: dict[Counts, Mix] = field(default_factory=dict)

    def mix(self, counts: Counts) -> Mix:
        """Return so many machines and whatever is cheapest beside them."""
        if counts not in self._by_counts:
            self._by_counts[counts] = self.limits.ease(Mix(BEST, "", dispatch(self.problem, counts)))
        return self._by_counts[counts]

    def usd(self, counts: Counts) -> float:
        """Return expected USD per month; infinite where the mix breaks a limit."""
        mix = self.mix(counts)
        return mix.expected if self.limits.keeps(mix) else np.inf

    def cheapest(self, starts: Iterable[Counts], kinds: Sequence[int]) -> Mix:
        """Return the mix that steps in some kinds lead to from the cheapest start."""
        start = min(starts, key=self.usd)
        return self.mix(climb(start, self.usd, kinds, self.problem.minimum, useful_counts(self.problem)))

    def best_number(self, mix: Mix) -> Mix:
        """Return a purchase of one kind with the cheapest number of it, one at least."""
        if mix.kind != BOUGHT:
            return mix
        owned = self.problem.owned
        index = [kind.name for kind in self.problem.held].index(mix.source)
        maximum = tuple(map(max, useful_counts(self.problem), mix.counts))
        counts = climb(mix.counts, self.usd, [index], step(owned, index, 1), maximum)
        cheapest = self.mix(counts)._replace(kind=BOUGHT, source=mix.source)
        return cheapest if self.usd(counts) < np.inf else mix

    def select(self, candidates: Iterable[Mix], default: Mix) -> Mix:
        """Return the cheapest mix that keeps the limits."""
        feasible = (mix for mix in candidates if self.limits.keeps(mix))
        return min(feasible, key=expected_usd, default=default)

    def with_timings(self, mix: Mix, timings: Iterable[frozenset[str]]) -> Mix:
        """Return the mix with the cheapest of `timings` first, if that saves MINIMUM_SAVING."""
        if mix.one_offer:
            return mix
        problems = (replace(mix.problem, timed=keys, filled=1.0) for keys in timings)
        results = (dispatch(problem, mix.counts) for problem in problems)
        timed_mixes = [self.limits.ease(Mix(mix.kind, mix.source, result, 1.0, mix.expected)) for result in results]
        best = self.select([min(timed_mixes, key=expected_usd, default=mix)], mix)
        return best if best.expected < mix.expected * (1.0 - MINIMUM_SAVING) else mix

    def best(self, fixed: Mix, candidates: Iterable[Mix], kinds: Sequence[int]) -> Mix:
        """Return the best of a mix without timings, candidates, and mixes with timings."""
        timings = timings_worth(self.problem, (fixed.counts, self.problem.owned))
        candidates = [self.with_timings(fixed, timings), *candidates]
        for keys in timings:
            timed_search = MixSearch(replace(self.problem, timed=keys), self.limits)
            candidates.append(timed_search.cheapest([fixed.counts, self.problem.owned], kinds))
        best = self.select(candidates, fixed)
        if best.timed and not best.expected < fixed.expected * (1.0 - MINIMUM_SAVING):
            best = fixed
        return best._replace(kind=BEST, fixed_usd=fixed.expected)


def expected_usd(mix: Mix) -> float:
    """Return expected USD per month, as a key."""
    return mix.expected


def mixes(problem: Problem, limits: MixLimits = NO_LIMITS) -> list[Mix]:
    """Return the best mix first, then each pure option, the cheapest first.

    Where the best buys or sells, renting on several offers is an option too if it is cheaper
    than on any single one. The best keeps the limits where any mix found does. No pure option is
    ever cheaper than the best.
    """
    search = MixSearch(problem, limits)
    pure = sorted(map(limits.ease, _pure(problem)), key=expected_usd)
    starts = [problem.owned, *(mix.counts for mix in pure)]
    if limits.any:  # What keeps a limit may lie beyond what breaks it.
        for mix in pure:
            for index in problem.for_sale:
                numbers = range(1, min(TRIED_WITH_LIMITS, 2 * mix.counts[index]) + 1)
                starts += [step(mix.counts, index, n - mix.counts[index]) for n in numbers]
    best = search.cheapest(starts, problem.adjustable)
    pure = [search.best_number(mix) for mix in pure]
    fixed = search.select((best, *pure), best)
    timings = timings_worth(problem, (fixed.counts, problem.owned))
    pure = sorted((search.with_timings(mix, timings) for mix in pure), key=expected_usd)
    first = search.best(fixed, pure, problem.adjustable)
    rented = search.mix(problem.owned)._replace(kind=RENTED)
    rented = search.with_timings(rented, timings)
    singles = min((mix.expected for mix in pure if mix.one_offer), default=0.0)
    if first.counts != problem.owned and rented.expected < singles * (1.0 - SLIGHT):
        pure = sorted([rented, *pure], key=expected_usd)
    return [first, *pure]


def best_mix(problem: Problem, starts: Sequence[Counts], kinds: Sequence[int], limits: MixLimits = NO_LIMITS) -> Mix:
    """Return the best mix where it is known which kinds of machines are worth a look.

    Parameters
    ----------
    problem
        All samples of the work.
    starts
        Numbers of machines; steps begin at the cheapest of them.
    kinds
        Indices of the owned kinds of which more or fewer are tried.
    limits
        What the team allows.

    Returns
    -------
    Mix
        The cheapest found, with the strategy that costs less.
    """
    search = MixSearch(problem, limits)
    return search.best(search.cheapest(starts, kinds), [], kinds)


def timings_worth(problem: Problem, candidates: Iterable[Counts]) -> list[frozenset[str]]:
    """Return the sets of speeds worth timing first with each of several numbers of machines."""
    rented = (dispatch(problem, counts).rented for counts in dict.fromkeys(candidates))
    timings = dict.fromkeys(problem.speeds_to_time(jobs.mean(axis=(1, 2))) for jobs in rented)
    return [keys for keys in timings if keys]


def climb(
    start: Counts, usd: Callable[[Counts], float], kinds: Sequence[int], minimum: Counts, maximum: Counts
) -> Counts:
    """Return numbers of machines that no step makes cheaper.

    A step is one machine more or fewer of a kind, or one exchanged for another kind. A step that
    gains is repeated at twice the length. If `start` does not do the work, begin at the maximum.

    Parameters
    ----------
    start
        Numbers to begin with.
    usd
        Expected cost of some numbers of machines.
    kinds
        Indices of the kinds that may change.
    minimum, maximum
        Bounds of each kind.

    Returns
    -------
    Counts
        The cheapest numbers found.
    """
    full = tuple(maximum[n] if n in kinds else count for n, count in enumerate(start))
    best = full if usd(start) == np.inf > usd(full) else start
    changes = [{index: sign} for index in kinds for sign in (-1, 1)]
    changes += [{index: -1, added: 1} for index, added in permutations(kinds, 2)]

    def stepped(change: dict[int, int], size: int) -> Counts:
        """Return the counts after a step, or as they are where it leaves the bounds."""
        counts = best
        for index, number in change.items():
            counts = step(counts, index, size * number)
        inside = all(minimum[n] <= counts[n] <= maximum[n] for n in change)
        return counts if inside else best

    while True:
        change = min(changes, key=lambda change: usd(stepped(change, 1)), default={})
        size, before = 1, best
        while usd(further := stepped(change, size)) < usd(best):
            best, size = further, 2 * size
        if best == before:
            return best


def step(counts: Counts, index: int, change: int) -> Counts:
    """Return the counts with some machines more of one kind."""
    return (*counts[:index], counts[index] + change, *counts[index + 1 :])


def useful_counts(problem: Problem) -> Counts:
    """Return the machines of each kind that do all they can of the busiest month."""
    busiest = problem.jobs.max(axis=(1, 2))
    numbers = []
    for kind in problem.held:
        hours = float((busiest[:, None] * finite(kind.hours)).sum(axis=0).max())
        needed = int(np.ceil(hours / max(float(kind.capacity.min()), TINY)))
        number = max(kind.there, min(MAXIMUM_MACHINES, needed)) if kind.for_sale else kind.there
        numbers.append(number)
    return tuple(numbers)


def _pure(problem: Problem) -> Iterator[Mix]:
    """Yield what is owned with one source beside it, and nothing of what can be sold.

    What a source cannot do, the rest does at their least cost.
    """
    owned = problem.owned
    options = [(THERE, "", owned)] if any(owned) else []
    for index in problem.for_sale:
        kind = problem.held[index]
        if np.isfinite(kind.hours).any():
            number = max(machines_for(problem, index) - kind.there, 1)
            options.append((BOUGHT, kind.name, step(owned, index, number)))
    rentable = [offer.name for offer in problem.rented if np.isfinite(offer.usd).any()]
    options += [(RENTED, name, owned) for name in rentable]
    if problem.minimum != owned:
        options.append((SOLD, "", problem.minimum))
    for name, source, counts in options:
        yield Mix(name, source, dispatch(_allowed(problem, name, source), counts))


def machines_for(problem: Problem, index: int) -> int:
    """Return how many of a kind do, beside what is owned, all they can of the mean month."""
    kind, remaining = problem.held[index], problem.jobs.mean(axis=2)
    for owned in (machine for machine in problem.held if machine.there):
        # Owned machines take the same share of all classes.
        needed = (remaining * finite(owned.hours)).sum(axis=0)
        share = np.minimum(1.0, owned.there * owned.capacity / np.maximum(needed, TINY))
        remaining = np.where(np.isfinite(owned.hours), remaining * (1.0 - share), remaining)
    hours = float((remaining * finite(kind.hours)).sum(axis=0).mean())
    return kind.there + int(np.ceil(hours / kind.capacity.mean() - TINY))
