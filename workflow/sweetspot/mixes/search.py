"""How many machines to own: the best mix of a problem, and the pure options for comparison."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np

from sweetspot.mixes.dispatch import DispatchResult, dispatch
from sweetspot.mixes.problem import NEVER, Array, Counts, Indices, Problem, cost_factors, even_indices, finite

MINIMUM_SAVING = 0.01  # share of the expected cost; nobody sets up a machine to save less
SELECTION_SAMPLES = 250  # samples on which the machines to time are selected
BEST, OWNED, BOUGHT, RENTED = "best", "there", "bought", "rented"


@lru_cache(maxsize=8)  # What is expected of its offers is computed once for all numbers of machines.
def _variant(problem: Problem, first: str, timed: frozenset[str]) -> Problem:
    """Return the problem with an offer that jobs try first (empty: any), and timed speeds."""
    return replace(problem, first=first, timed=timed)


class Mix(NamedTuple):
    """One way to run the jobs: numbers of owned machines, rental offers, and the dispatch with its costs.

    kind: BEST, OWNED (nothing else), BOUGHT or RENTED (one source beside what is owned; rented without a `source`:
    several). source: name of the only machine or offer beside owned machines; empty: any. done: the dispatch on all
    samples. fixed_usd: expected USD per month of the mix without timings; NaN if none was compared.
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
    def single_offer(self) -> bool:
        """Whether the mix rents everything that one offer can run on that offer (kind RENTED)."""
        return self.kind == RENTED and bool(self.source)

    @property
    def bought(self) -> dict[str, int]:
        """Number of machines bought or committed to, by kind; kinds without any are left out."""
        pairs = zip(self.problem.held, self.counts, strict=True)
        return {kind.name: count - kind.there for kind, count in pairs if count > kind.there}

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
        allowed = replace(problem, rented=()) if self.kind == OWNED else problem
        return dispatch(self.variant(allowed), self.counts)

    def variant(self, problem: Problem) -> Problem:
        """Return another problem with the mix's offer that jobs try first and its timed speeds."""
        return _variant(problem, self.source if self.single_offer else "", self.timed)


@dataclass(frozen=True)
class MixSearch:
    """Searches what to own, rent and time first: the cheapest numbers of machines, and the speeds worth measuring.

    affords: function that says whether numbers of machines stay within the team's budget.
    """

    problem: Problem
    affords: Callable[[Counts], bool]

    def mix(self, counts: Counts) -> Mix:
        """Return the mix of these numbers of owned machines and the cheapest rentals beside them."""
        return Mix(BEST, "", dispatch(self.problem, counts))

    def rank(self, mix: Mix) -> float:
        """Return a mix's USD per month for comparison: infinite beyond the budget; timings must save MINIMUM_SAVING."""
        usd = mix.expected / (1.0 - MINIMUM_SAVING * bool(mix.timed))
        return usd if self.affords(mix.counts) else np.inf

    def cheapest(self, starts: Iterable[Counts], kinds: Sequence[int]) -> Mix:
        """Return the mix (machines owned, offers rented) that `climb` reaches from the cheapest start.

        Parameters
        ----------
        starts, kinds
            Numbers of machines by owned kind to compare first; indices of the kinds whose numbers may change.
        """

        @cache
        def usd(counts: Counts) -> float:
            return self.rank(self.mix(counts))

        maximum = useful_counts(self.problem)
        return self.mix(climb(min(starts, key=usd), usd, kinds, self.problem.owned, maximum))

    @cached_property
    def timed(self) -> frozenset[str]:
        """Keys of the speeds that are worth timing on a rented machine before jobs are placed, if nothing is bought.
        Forward selection: the timing that lowers the expected cost most, its trial included, is added as long as it
        saves MINIMUM_SAVING. Each class then goes, in each sample, to the offer that is expected to cost the least. A
        timing reveals speeds: future prices, stock and the number of jobs stay expectations.
        """
        problem, timed = self.problem, frozenset[str]()
        jobs = self.mix(problem.owned).done.remaining.mean(axis=(1, 2))
        certain = np.ones(problem.jobs.shape[1])
        samples = even_indices(len(certain), SELECTION_SAMPLES)
        cheapest = dict[str, Array]()  # USD of a job of each class, by key of the speed; empty: a certain speed
        for offer in problem.rented:
            for row, key in enumerate(offer.speed_keys):
                usd = cheapest.setdefault(key, np.full(len(jobs), NEVER))
                usd[row] = min(usd[row], offer.expected_usd[row, 0])

        usd_by_key = np.array([*cheapest.values(), np.full(len(jobs), NEVER)])[:, :, None]

        def total_usd(timed: frozenset[str]) -> float:
            factors = cost_factors(problem.errors, timed)
            by_sample = np.array([factors.get(key, certain)[samples] for key in (*cheapest, "")])
            rent = (usd_by_key * by_sample[:, None]).min(axis=0)
            return float(jobs @ finite(rent).mean(axis=1)) + replace(problem, timed=timed).trial_usd

        candidates = sorted(cheapest.keys() & problem.trials.keys())
        while True:
            best = min((timed | {key} for key in candidates), key=total_usd, default=timed)
            if not total_usd(best) < total_usd(timed) * (1.0 - MINIMUM_SAVING):
                return timed
            timed = best

    def with_timings(self, mix: Mix) -> Mix:
        """Return a mix with the speeds `timed` (measured on rented machines) before jobs are placed, if that pays.
        Unchanged where it saves too little, or where all jobs go to one offer anyway.
        """
        if mix.single_offer or not self.timed:
            return mix
        timed_mix = Mix(mix.kind, mix.source, dispatch(replace(mix.problem, timed=self.timed), mix.counts))
        return min(mix, timed_mix, key=self.rank)._replace(fixed_usd=mix.expected)

    def best(self, starts: Iterable[Counts], kinds: Sequence[int], candidates: Iterable[Mix] = ()) -> Mix:
        """Return, as kind BEST, the cheapest mix found within the budget, with or without timings: the study's answer.

        Parameters
        ----------
        starts, kinds, candidates
            Numbers of machines by owned kind, the cheapest of which is the start; indices of the kinds of which more or
            fewer are tried; further mixes that are compared.
        """
        fixed = self.cheapest(starts, kinds)
        search = MixSearch(replace(self.problem, timed=self.timed), self.affords) if self.timed else self
        timed_mix = search.cheapest([fixed.counts, self.problem.owned], kinds)
        best = min([fixed, *candidates, timed_mix], key=self.rank)
        return best._replace(kind=BEST, fixed_usd=fixed.expected)


def mixes(problem: Problem, affords: Callable[[Counts], bool]) -> list[Mix]:
    """Return the best mix of owned and rented machines for a month's jobs first, then each pure option, the cheapest
    first. The best keeps the budget (`affords`) where any mix found does. No pure option (one source beside what is
    owned) is ever cheaper than the best. Where the best buys or sells, renting on several offers is one too if it is
    cheaper than on any single offer. Jobs that cannot run on a pure option's source run where they cost least.
    """
    search, owned = MixSearch(problem, affords), problem.owned
    options, pure = [], []
    for index, kind in enumerate(problem.held):
        if not kind.there and np.isfinite(kind.hours).any():
            single = step(owned, index, 1)
            reached = search.cheapest([single], [index]).counts
            options.append((BOUGHT, kind.name, tuple(map(max, reached, single))))
    starts = [owned, *(counts for _, _, counts in options)]
    options += [(RENTED, offer.name, owned) for offer in problem.rented if np.isfinite(offer.usd).any()]
    options += [(OWNED, "", owned)] * any(owned)
    for name, source, counts in options:
        allowed = replace(problem, first=source, rented=() if name == OWNED else problem.rented)
        pure.append(search.with_timings(Mix(name, source, dispatch(allowed, counts))))
    best = search.best(starts, range(len(problem.held)), pure)
    several = search.with_timings(search.mix(owned)._replace(kind=RENTED))
    single_usd = (mix.expected for mix in pure if mix.single_offer)
    if best.counts != owned and several.expected < min(single_usd, default=0.0):
        pure.append(several)
    return [best, *sorted(pure, key=lambda mix: mix.expected)]


def climb(
    start: Counts, usd: Callable[[Counts], float], kinds: Sequence[int], minimum: Counts, maximum: Counts
) -> Counts:
    """Return the numbers of machines, by owned kind, that no step makes cheaper: a local search for the best mix. A
    step is one machine more or fewer of a kind, or one exchanged for another kind. A step that gains is repeated at
    twice the length. If `start` costs infinity, the search begins at the maximum.

    Parameters
    ----------
    start, usd, kinds, minimum, maximum
        Numbers to begin with; function that returns the expected USD per month of numbers of machines; indices of the
        kinds that may change, and bounds of these.
    """
    best, lowest, highest = start, np.minimum(minimum, start), np.maximum(maximum, start)
    unit = np.eye(len(start), dtype=int)[list(kinds)]
    moves = [*-unit, *unit, *(added - removed for removed, added in permutations(unit, 2))]

    def counts_after(move: Indices, size: int) -> Counts:
        """Return the counts after `size` steps of `move` from the best, cut at the bounds."""
        return tuple(np.clip(np.add(best, size * move), lowest, highest).tolist())

    if usd(start) == np.inf:
        best = min(start, counts_after(unit.sum(axis=0), sum(maximum)), key=usd)
    while moves:
        size, before = 1, best
        move = min(moves, key=lambda move: usd(counts_after(move, 1)))
        while usd(further := counts_after(move, size)) < usd(best):
            best, size = further, 2 * size
        if best == before:
            break
    return best


def step(counts: Counts, index: int, change: int) -> Counts:
    """Return numbers of machines with one of them changed, from which searches begin.

    Parameters
    ----------
    counts, index, change
        Number of machines of each kind; index of the kind that changes; machines added (negative: removed).
    """
    return (*counts[:index], counts[index] + change, *counts[index + 1 :])


def useful_counts(problem: Problem) -> Counts:
    """Return the number of machines of each kind that runs all its jobs of the busiest month; owned ones as owned."""
    busiest = problem.jobs.max(axis=(1, 2))
    return tuple(
        kind.there or math.ceil((busiest @ finite(kind.hours)).max() / kind.capacity.min()) for kind in problem.held
    )
