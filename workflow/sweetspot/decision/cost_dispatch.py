"""The cost of classes of jobs a month: machines held, in their numbers, and what is rented beside them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sweetspot.decision.assumption import Assumption, Moved
from sweetspot.decision.dispatch_problem import Posed
from sweetspot.decision.dispatch_tables import Worked
from sweetspot.decision.pays import Apart
from sweetspot.decision.question import EXACT, FURTHEST, LOOKS, Costs, Turn
from sweetspot.mixes.dispatch import Done, dispatch
from sweetspot.mixes.problem import Counts, Problem
from sweetspot.mixes.search import climb, most_useful
from sweetspot.wording import the

NEAR = 1.6  # times the best: a kind of machine that is dearer is looked at only where its own figures move
SLIGHTLY = 1e-3  # of a factor, either side of a turning point
JUMP = 0.1  # of the rise over two slight steps: more at the crossing itself is no crossing but a jump
FARTHEST_STEP = 0.1  # in the logarithm of a factor, from what quick looks say
MONTHS_DRAWN = 6  # months of each draw, for the interval of where a machine pays
QUICK = 250  # draws of a quick look, one month of each


class Way(NamedTuple):
    """One choice of a problem: machines of each kind held, as planned; `source`: the only offer by the hour that may
    be rented for what it can do, empty for the cheapest of each job. `kinds`: places of the kinds that are bought, of
    which the number follows the case.
    """

    counts: Counts
    source: str
    kinds: tuple[int, ...]

    def done(self, problem: Problem, counts: Counts) -> Done:
        """The jobs, with so many machines."""
        return dispatch(problem.only(self.source), counts)


@dataclass
class Dispatch:
    """A workload of months with its ways, and what they cost at any values of its assumptions.

    A quick look dispatches one month of QUICK draws, and adds by how much that is off as planned.
    """

    worked: Worked
    ways: list[Way]
    titles: list[str]
    assumptions: tuple[Assumption, ...]
    _off: dict[tuple[Way, Counts], float] = field(default_factory=dict)

    @property
    def posed(self) -> Posed:
        """The workload as problems."""
        return self.worked.posed

    def problem(self, moved: Moved) -> Problem:
        """The problem with assumptions moved (one case), on all draws."""
        return self.posed.moved(moved) if moved.values else self.posed.drawn

    def quick(self, problem: Problem) -> Problem:
        """One month of QUICK draws; what is bought is paid in all of them."""
        draws, months = problem.jobs.shape[1:]
        places = np.unique(np.linspace(0, draws - 1, QUICK).round().astype(int))
        return problem.draws(places, places % months)

    def usd(self, quick: Problem, way: Way, counts: Counts) -> float:
        """Expected USD of the project by a quick look."""
        if (way, counts) not in self._off:
            planned = self.posed.drawn
            off = self.exact(planned, way, counts) - self.exact(self.quick(planned), way, counts)
            self._off[way, counts] = off if np.isfinite(off) else 0.0
        return self.exact(quick, way, counts) + self._off[way, counts]

    def exact(self, problem: Problem, way: Way, counts: Counts) -> float:
        """Expected USD of the project on all draws of a problem."""
        return float(way.done(problem, counts).usd.mean()) * self.posed.work.months

    def best_of(self, quick: Problem, way: Way) -> tuple[Counts, float]:
        """The numbers of the machines that a way buys at which it costs the least (one at least), and its USD."""
        known = dict[Counts, float]()

        def usd(counts: Counts) -> float:
            if counts not in known:
                known[counts] = self.usd(quick, way, counts)
            return known[counts]

        least = tuple(count + (place in way.kinds) for place, count in enumerate(quick.there))
        best = climb(way.counts, usd, way.kinds, least, most_useful(quick)) if way.kinds else way.counts
        return best, usd(best)

    def cost(self, moved: Moved) -> Costs:
        """The costs of all ways in every case. Which offer is rented most says which alternative a way is that buys
        nothing.
        """
        shape = (len(self.ways), moved.cases)
        usd, counts, names = np.full(shape, np.inf), np.zeros(shape), np.zeros(shape, dtype=int)
        for case in range(moved.cases):
            one = {each: float(np.broadcast_to(values, moved.cases)[case]) for each, values in moved.values.items()}
            quick = self.quick(self.problem(Moved(1, one)))
            for place, way in enumerate(self.ways):
                if self._worth_a_look(way, moved):
                    numbers, usd[place, case] = self.best_of(quick, way)
                    counts[place, case] = sum(numbers) - sum(quick.there)
                names[place, case] = self._alternative(quick, place, way)
        return Costs(usd, counts, names)

    def _worth_a_look(self, way: Way, moved: Moved) -> bool:
        """Whether a way may be the best: near it as planned, or its own figures move."""
        if way in self._near_ways or not moved.values:
            return True
        bought = [self.posed.source(self.posed.drawn.held[place].name) for place in way.kinds]
        return any(moved.touches(label) for source in bought for label in source.labels)

    @cached_property
    def _near_ways(self) -> list[Way]:
        usd = {way: self.exact(self.posed.drawn, way, way.counts) for way in self.ways if not way.source}
        # However dear: the best is held against something, whatever moves.
        other = min((paid for way, paid in usd.items() if way.kinds != self.ways[0].kinds), default=np.inf)
        return [way for way, paid in usd.items() if paid <= max(NEAR * min(usd.values()), other)]

    def _alternative(self, quick: Problem, place: int, way: Way) -> int:
        """A number for what a way is: itself where it buys, else the offer that it rents most."""
        if way.kinds or way.source:
            return place
        lead = way.done(quick, way.counts).lead
        return len(self.ways) + [offer.name for offer in quick.rented].index(lead) if lead else place

    def title(self, place: int, count: float, alternative: int | None) -> str:
        """A way in words: with the machines that it buys in a case, or with what it rents most."""
        way, posed, planned = self.ways[place], self.posed, self.posed.drawn
        if alternative is not None and alternative >= len(self.ways):
            offer = the(posed.title(planned.rented[alternative - len(self.ways)].name))
            return f"nothing bought, {'the rest' if any(planned.there) else 'all'} on {offer}"
        if len(way.kinds) != 1 or count == sum(way.counts) - sum(planned.there):
            return self.titles[place]
        return f"{count:g} × {posed.title(planned.held[way.kinds[0]].name)}"

    def settled(self, assumption: Assumption, turn: Turn) -> Turn:
        """A turning point found by quick looks, made exact."""
        ours, theirs = self.ways[0], self.ways[turn.to]
        if ours == theirs:  # another offer is rented most: no cost crosses another
            return turn
        factor, usd = self._crossing(assumption, turn.factor, (ours, theirs))
        return turn._replace(factor=factor, usd=usd)

    def _crossing(self, assumption: Assumption, factor: float, pair: tuple[Way, Way]) -> tuple[float, float]:
        """Where two ways cost the same, near a factor that quick looks found, and what the first costs there.

        One look at all draws, and a step of Newton's with the slope of the quick looks, which are off by less than a
        percent in it: what is left is the square of that.
        """
        at = float(np.log(factor))

        def apart(place: float) -> float:
            quick = self.quick(self.problem(_single(assumption, np.exp(place))))
            first, second = (self.best_of(quick, way)[1] for way in pair)
            return second - first

        problem = self.problem(_single(assumption, factor))
        quick = self.quick(problem)
        first, second = (self.exact(problem, way, self.best_of(quick, way)[0]) for way in pair)
        rise = apart(at + SLIGHTLY) - apart(at - SLIGHTLY)
        # At a jump (a job that is in time from here on) there is no slope to follow: quick looks are not near 0 there.
        smooth = np.isfinite(rise) and abs(apart(at)) < JUMP * abs(rise) and np.isfinite(second - first)
        step = -(second - first) * 2 * SLIGHTLY / rise if smooth else 0.0
        return float(np.exp(at + step if abs(step) < FARTHEST_STEP else at)), first

    def pays(self, place: int, assumption: Assumption) -> tuple[Apart, Callable[[float], float]]:
        """What one machine of a kind and what is there cost more than what is there and rentals alone; and how a factor
        from which it pays is made exact.
        """
        there = self.posed.drawn.there
        one, without = Way((*there[:place], there[place] + 1, *there[place + 1 :]), "", ()), Way(there, "", ())
        most = assumption.most / assumption.value
        steps = [1.0, *LOOKS, FURTHEST]
        factors = np.array([1 / step for step in reversed(steps[1:])] + [step for step in steps if step < most])
        if 1 < most < FURTHEST:
            factors = np.append(factors, most)

        def look(factor: float) -> float:
            quick = self.quick(self.problem(_single(assumption, factor)))
            return self.usd(quick, one, one.counts) - self.usd(quick, without, there)

        drawn = []
        for factor in factors:
            problem = self.problem(_single(assumption, factor))
            few = replace(problem, jobs=problem.jobs[:, :, :MONTHS_DRAWN])
            drawn.append(dispatch(few, one.counts).usd - dispatch(few, there).usd)
        planned = np.array([[look(factor) for factor in factors]])
        same = np.zeros(factors.size, bool)

        def exact(factor: float) -> float:
            after = int(np.searchsorted(factors, factor))
            inner, outer = float(factors[max(after - 1, 0)]), float(factors[after])
            while np.log(outer / inner) > EXACT:
                middle = float(np.sqrt(inner * outer))
                inner, outer = (inner, middle) if look(middle) <= 0 else (middle, outer)
            return self._crossing(assumption, outer, (without, one))[0]

        return Apart(factors, planned, np.stack(drawn, axis=1), factors, same, same), exact


def _single(assumption: Assumption, factor: float) -> Moved:
    return Moved(1, {assumption: float(factor)})
