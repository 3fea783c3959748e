"""How many machines to own: the best mix of a problem, and the pure options for comparison."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import NamedTuple

import numpy as np

from sweetspot.mixes.dispatch import SLIGHT, DispatchResult, dispatch
from sweetspot.mixes.problem import Counts, Problem, finite
from sweetspot.mixes.timing import MINIMUM_SAVING, Indices

MAXIMUM_MACHINES = 10_000  # of a kind, far beyond any team's
TINY = 1e-9  # hours per month
BEST, OWNED, BOUGHT, RENTED, RESALE = "best", "there", "bought", "rented", "sold"
Timings = Iterable[frozenset[str]]


class Mix(NamedTuple):
    """One way to run the jobs: numbers of owned machines, rental offers, and the dispatch with its costs.

    Parameters
    ----------
    kind
        BEST, OWNED (nothing else), BOUGHT or RENTED (one source beside what is owned; rented without
        a `source`: several), RESALE (what is owned and can be sold).
    source
        Name of the only machine or offer beside owned machines; empty: any.
    done
        The mix's dispatch on all samples.
    fixed_usd
        Expected USD per month of the mix without timings; NaN if none was compared.
    """

    kind: str
    source: str
    done: DispatchResult
    fixed_usd: float = np.nan

    @property
    def counts(self) -> Counts:
        """Number of machines of each owned kind, in the order of `problem.held`."""
        return self.done.counts

    @property
    def problem(self) -> Problem:
        """The dispatched problem, with the offers that the mix may use."""
        return self.done.problem

    @property
    def key(self) -> str:
        """Key of the mix in all tables: BEST, else the name of its source, else its kind."""
        return self.kind if self.kind == BEST else self.source or self.kind

    @property
    def expected(self) -> float:
        """USD per month, averaged over the samples."""
        return float(self.done.usd.mean())

    @property
    def one_offer(self) -> bool:
        """Whether the mix rents everything that one offer can run on that offer (kind RENTED)."""
        return self.kind == RENTED and bool(self.source)

    @property
    def bought(self) -> dict[str, int]:
        """Number of machines bought or committed to, by kind; kinds without any are left out."""
        return self._changes(1)

    @property
    def sold(self) -> dict[str, int]:
        """Number of owned machines sold, by kind; kinds without any are left out."""
        return self._changes(-1)

    def _changes(self, sign: int) -> dict[str, int]:
        kinds = zip(self.problem.held, self.counts, strict=True)
        changes = {kind.name: sign * (count - kind.there) for kind, count in kinds}
        return {name: change for name, change in changes.items() if change > 0}

    @property
    def timed(self) -> frozenset[str]:
        """Correlation keys of the speeds that are timed before jobs are given to machines."""
        return self.problem.timed

    @property
    def saving(self) -> float:
        """Expected USD per month saved by timing machines first, costs of timing deducted; 0 without timings."""
        return self.fixed_usd - self.expected if self.timed else 0.0

    def at(self, problem: Problem) -> DispatchResult:
        """Return the mix's dispatch of another problem that has the same sources at other values."""
        allowed = _allowed(problem, self.kind, self.source)
        return dispatch(replace(allowed, timed=self.timed), self.counts)


def _allowed(problem: Problem, kind: str, source: str) -> Problem:
    return replace(problem, first=source, rented=() if kind == OWNED else problem.rented)


class MixLimits:
    """Base class for the budget that a team sets; this one allows every number of machines."""

    def affords(self, counts: Counts) -> bool:
        """Return whether these numbers of machines keep the budget; here always True."""
        return True


@dataclass(frozen=True)
class MixSearch:
    """Searches the cheapest numbers of machines for a problem; each mix is dispatched once and cached."""

    problem: Problem
    limits: MixLimits
    _by_counts: dict[Counts, Mix] = field(default_factory=dict)

    def mix(self, counts: Counts) -> Mix:
        """Return the mix of these numbers of owned machines and the cheapest rentals beside them."""
        if counts not in self._by_counts:
            self._by_counts[counts] = Mix(BEST, "", dispatch(self.problem, counts))
        return self._by_counts[counts]

    def usd(self, counts: Counts) -> float:
        """Return expected USD per month of these numbers of machines; infinite beyond the budget."""
        return self.mix(counts).expected if self.limits.affords(counts) else np.inf

    def cheapest(self, starts: Iterable[Counts], kinds: Sequence[int]) -> Mix:
        """Return the mix that `climb` reaches from the cheapest start, changing only `kinds` (indices)."""
        start = min(starts, key=self.usd)
        return self.mix(climb(start, self.usd, kinds, self.problem.minimum, useful_counts(self.problem)))

    def purchase(self, index: int) -> Mix:
        """Return the mix (kind BOUGHT) of owned machines and the cheapest number, at least 1, of a kind."""
        owned, useful = self.problem.owned, useful_counts(self.problem)
        start = minimum = step(owned, index, 1)
        counts = climb(start, self.usd, [index], minimum, tuple(map(max, useful, minimum)))
        return self.mix(counts)._replace(kind=BOUGHT, source=self.problem.held[index].name)

    def with_timings(self, mix: Mix, timings: Timings) -> Mix:
        """Return the mix with the cheapest set of `timings`; unchanged if it saves under MINIMUM_SAVING."""
        if mix.one_offer:
            return mix
        candidates = []
        for timed in timings:
            result = dispatch(replace(mix.problem, timed=timed), mix.counts)
            candidates.append(Mix(mix.kind, mix.source, result, mix.expected))
        best = self.select(candidates, mix)
        return best if best.expected < mix.expected * (1.0 - MINIMUM_SAVING) else mix

    def select(self, candidates: Iterable[Mix], default: Mix) -> Mix:
        """Return the candidate of least expected USD within the budget; `default` if none is."""
        affordable = (mix for mix in candidates if self.limits.affords(mix.counts))
        return min(affordable, key=expected_usd, default=default)

    def best(self, fixed: Mix, candidates: Iterable[Mix], kinds: Sequence[int]) -> Mix:
        """Return, as kind BEST, the cheapest of `fixed` (no timings), `candidates` and mixes with timings."""
        starts = [fixed.counts, self.problem.owned]
        timings = timings_worth(self.problem, starts)
        searches = [MixSearch(replace(self.problem, timed=timed), self.limits) for timed in timings]
        timed_mixes = [search.cheapest(starts, kinds) for search in searches]
        best = self.select([*candidates, *timed_mixes], fixed)
        if not best.expected < fixed.expected * (1.0 - MINIMUM_SAVING * bool(best.timed)):
            best = fixed
        return best._replace(kind=BEST, fixed_usd=fixed.expected)


def expected_usd(mix: Mix) -> float:
    """Return a mix's expected USD per month; used as a sort key."""
    return mix.expected


def mixes(problem: Problem, limits: MixLimits) -> list[Mix]:
    """Return the best mix first, then each pure option, the cheapest first.

    The best keeps the budget where any mix found does. No pure option is ever cheaper than the
    best. Where the best buys or sells, renting on several offers is one too if it is cheaper than on
    any single offer. Jobs that cannot run on a pure option's source run where they cost least.
    """
    search, owned = MixSearch(problem, limits), problem.owned
    pure = [search.purchase(index) for index in problem.for_sale if np.isfinite(problem.held[index].hours).any()]
    starts = [owned, problem.minimum, *(mix.counts for mix in pure)]
    options = [(RENTED, offer.name, owned) for offer in problem.rented if np.isfinite(offer.usd).any()]
    options += [(OWNED, "", owned)] * any(owned)
    options += [(RESALE, "", problem.minimum)] * (problem.minimum != owned)
    for kind, source, counts in options:
        pure.append(Mix(kind, source, dispatch(_allowed(problem, kind, source), counts)))
    best = search.cheapest(starts, problem.adjustable)
    fixed = search.select([best, *pure], best)
    timings = timings_worth(problem, (fixed.counts, owned))
    pure = [search.with_timings(mix, timings) for mix in pure]
    first = search.best(fixed, pure, problem.adjustable)
    several = search.with_timings(search.mix(owned)._replace(kind=RENTED), timings)
    single_usd = min((mix.expected for mix in pure if mix.one_offer), default=0.0)
    if first.counts != owned and several.expected < single_usd * (1.0 - SLIGHT):
        pure.append(several)
    return [first, *sorted(pure, key=expected_usd)]


def best_mix(problem: Problem, starts: Sequence[Counts], kinds: Sequence[int], limits: MixLimits) -> Mix:
    """Return the best mix, searched only over given kinds of machines from given numbers.

    Parameters
    ----------
    problem
        All samples of the work.
    starts
        Numbers of machines; steps begin at the cheapest of them.
    kinds
        Indices of the owned kinds of which more or fewer are tried.
    limits
        Budget of the team that the mix must keep.

    Returns
    -------
    Mix
        The cheapest mix found, of kind BEST, with or without timings.
    """
    search = MixSearch(problem, limits)
    return search.best(search.cheapest(starts, kinds), [], kinds)


def timings_worth(problem: Problem, candidates: Iterable[Counts]) -> list[frozenset[str]]:
    """Return sets of keys of speeds worth timing first, one per candidate's rented jobs; no empty sets."""
    rented = (dispatch(problem, counts).remaining for counts in dict.fromkeys(candidates))
    timings = dict.fromkeys(problem.speeds_to_time(jobs.mean(axis=(1, 2))) for jobs in rented)
    return [keys for keys in timings if keys]


def climb(
    start: Counts, usd: Callable[[Counts], float], kinds: Sequence[int], minimum: Counts, maximum: Counts
) -> Counts:
    """Return numbers of machines that no step makes cheaper.

    A step is one machine more or fewer of a kind, or one exchanged for another kind. A step that
    gains is repeated at twice the length. If `start` costs infinity, the search begins at the maximum.

    Parameters
    ----------
    start
        Numbers to begin with.
    usd
        Function that returns the expected USD per month of numbers of machines.
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
    best = start if usd(start) < np.inf else min(start, full, key=usd)
    unit = np.eye(len(start), dtype=int)
    moves = [sign * unit[index] for index in kinds for sign in (0, -1, 1)]
    moves += [unit[added] - unit[index] for index, added in permutations(kinds, 2)]

    def counts_after(move: Indices, size: int) -> Counts:
        """Return the counts after `size` steps of `move`; the best counts where the bounds are left."""
        counts = np.add(best, size * move)
        is_inside = (counts == np.clip(counts, minimum, maximum)) | (move == 0)
        return tuple(counts.tolist()) if is_inside.all() else best

    while moves:
        size, before = 1, best
        move = min(moves, key=lambda move: usd(counts_after(move, 1)))
        while usd(further := counts_after(move, size)) < usd(best):
            best, size = further, 2 * size
        if best == before:
            break
    return best


def step(counts: Counts, index: int, change: int) -> Counts:
    """Return `counts` with `change` more machines of the kind at `index`."""
    return (*counts[:index], counts[index] + change, *counts[index + 1 :])


def useful_counts(problem: Problem) -> Counts:
    """Return the number of machines of each kind that runs all its jobs of the busiest month."""
    busiest = problem.jobs.max(axis=(1, 2))
    counts = []
    for kind in problem.held:
        hours = float((busiest @ finite(kind.hours)).max())
        needed = math.ceil(hours / max(float(kind.capacity.min()), TINY))
        counts.append(max(kind.there, min(MAXIMUM_MACHINES, needed) * kind.for_sale))
    return tuple(counts)
