"""The cost of classes of jobs a month: machines held, in their numbers, and what is rented beside them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sweetspot.decision.assumption import Assumption, Moved
from sweetspot.decision.dispatch_problem import Posed
from sweetspot.decision.pays import Apart
from sweetspot.decision.question import EXACT, LOOKS, Costs, Turn
from sweetspot.decision_words import FURTHEST
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import Counts, Problem
from sweetspot.mixes.search import RENTED, Mix, climb, most_useful
from sweetspot.wording import the

NEAR = 1.6  # times the best: a kind of machine that is dearer is looked at only where its own figures move
SLIGHTLY = 1e-3  # of a factor, either side of a turning point
JUMP = 0.1  # of the rise over two slight steps: more at the crossing itself is no crossing but a jump
FARTHEST_STEP = 0.1  # in the logarithm of a factor, from what quick looks say
MONTHS_DRAWN = 6  # months of each draw, for the interval of where a machine pays
QUICK = 250  # draws of a quick look, one month of each


@dataclass
class Dispatch:
    """A workload of months with its ways, and what they cost at any values of its assumptions.

    A quick look dispatches one month of QUICK draws, and adds by how much that is off as planned.
    """

    posed: Posed
    ways: list[Mix]
    titles: list[str]
    assumptions: tuple[Assumption, ...]
    _off: dict[tuple[str, Counts], float] = field(default_factory=dict)

    def problem(self, moved: Moved) -> Problem:
        """The problem with assumptions moved (one case), on all draws."""
        return self.posed.moved(moved) if moved.values else self.posed.drawn

    def quick(self, problem: Problem) -> Problem:
        """One month of QUICK draws; what is bought is paid in all of them."""
        draws, months = problem.jobs.shape[1:]
        places = np.unique(np.linspace(0, draws - 1, QUICK).round().astype(int))
        return problem.draws(places, places % months)

    def usd(self, quick: Problem, source: str, counts: Counts) -> float:
        """Expected USD of the project by a quick look (`exact`)."""
        if (source, counts) not in self._off:
            planned = self.posed.drawn
            off = self.exact(planned, source, counts) - self.exact(self.quick(planned), source, counts)
            self._off[source, counts] = off if np.isfinite(off) else 0.0
        return self.exact(quick, source, counts) + self._off[source, counts]

    def exact(self, problem: Problem, source: str, counts: Counts) -> float:
        """Expected USD of the project on all draws of a problem; `source`: the only offer by the hour for what it can
        do, where it is one.
        """
        return float(dispatch(problem.only(source), counts).usd.mean()) * self.posed.work.months

    def best_of(self, quick: Problem, way: Mix) -> tuple[Counts, float]:
        """The numbers of the machines that a way buys at which it costs the least (one at least), and its USD."""
        known = dict[Counts, float]()

        def usd(counts: Counts) -> float:
            if counts not in known:
                known[counts] = self.usd(quick, way.source, counts)
            return known[counts]

        kinds = [place for place, kind in enumerate(quick.held) if kind.name in way.bought]
        least = tuple(count + (place in kinds) for place, count in enumerate(quick.there))
        best = climb(way.counts, usd, kinds, least, most_useful(quick)) if kinds else way.counts
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
                if self._worth_a_look(place, moved):
                    numbers, usd[place, case] = self.best_of(quick, way)
                    counts[place, case] = sum(numbers) - sum(quick.there)
                names[place, case] = self._alternative(quick, place)
        return Costs(usd, counts, names)

    def _worth_a_look(self, place: int, moved: Moved) -> bool:
        """Whether a way may be the best: near it as planned, or its own figures move."""
        bought = [self.posed.source(name) for name in self.ways[place].bought]
        own = any(moved.touches(label) for source in bought for label in source.labels)
        return own or not moved.values or place in self._near_ways

    @cached_property
    def _near_ways(self) -> list[int]:
        free = [place for place, way in enumerate(self.ways) if way.kind != RENTED]
        usd = {place: self.exact(self.posed.drawn, "", self.ways[place].counts) for place in free}
        # However dear: the best is held against something, whatever moves.
        best = self.ways[0].bought.keys()
        other = min((usd[place] for place in usd if self.ways[place].bought.keys() != best), default=np.inf)
        return [place for place, paid in usd.items() if paid <= max(NEAR * min(usd.values()), other)]

    def _alternative(self, quick: Problem, place: int) -> int:
        """A number for what a way is: itself where it buys, else the offer that it rents most."""
        way = self.ways[place]
        if way.bought or way.kind == RENTED:
            return place
        lead = dispatch(quick, way.counts).lead
        return len(self.ways) + [offer.name for offer in quick.rented].index(lead) if lead else place

    def title(self, place: int, count: float, alternative: int | None) -> str:
        """A way in words: with the machines that it buys in a case, or with what it rents most."""
        bought, posed, planned = self.ways[place].bought, self.posed, self.posed.drawn
        if alternative is not None and alternative >= len(self.ways):
            offer = the(posed.title(planned.rented[alternative - len(self.ways)].name))
            return f"nothing bought, {'the rest' if any(planned.there) else 'all'} on {offer}"
        if len(bought) != 1 or count in bought.values():
            return self.titles[place]
        return f"{count:g} × {posed.title(next(iter(bought)))}"

    def settled(self, assumption: Assumption, turn: Turn) -> Turn:
        """A turning point found by quick looks, made exact."""
        ours, theirs = ((way.source, way.counts) for way in (self.ways[0], self.ways[turn.to]))
        if ours == theirs:  # another offer is rented most: no cost crosses another
            return turn

        def numbers(quick: Problem) -> list[tuple[str, Counts]]:
            return [(way.source, self.best_of(quick, way)[0]) for way in (self.ways[0], self.ways[turn.to])]

        factor, usd = self._crossing(assumption, turn.factor, numbers)
        return turn._replace(factor=factor, usd=usd)

    def _crossing(
        self, assumption: Assumption, factor: float, pair: Callable[[Problem], list[tuple[str, Counts]]]
    ) -> tuple[float, float]:
        """Where two ways cost the same, near a factor that quick looks found, and what the first costs there; `pair`:
        the source and the machines of both.

        One look at all draws, and a step of Newton's with the slope of the quick looks, which are off by less than a
        percent in it: what is left is the square of that.
        """
        at = float(np.log(factor))

        def apart(place: float) -> float:
            quick = self.quick(self.problem(_single(assumption, np.exp(place))))
            first, second = (self.usd(quick, *one) for one in pair(quick))
            return second - first

        problem = self.problem(_single(assumption, factor))
        first, second = (self.exact(problem, *one) for one in pair(self.quick(problem)))
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
        one = (*there[:place], there[place] + 1, *there[place + 1 :])
        most = assumption.most / assumption.value
        steps = [1.0, *LOOKS, FURTHEST]
        factors = np.array([1 / step for step in reversed(steps[1:])] + [step for step in steps if step < most])
        if 1 < most < FURTHEST:
            factors = np.append(factors, most)

        def look(factor: float) -> float:
            quick = self.quick(self.problem(_single(assumption, factor)))
            return self.usd(quick, "", one) - self.usd(quick, "", there)

        drawn = []
        for factor in factors:
            problem = self.problem(_single(assumption, factor))
            few = replace(problem, jobs=problem.jobs[:, :, :MONTHS_DRAWN])
            drawn.append(dispatch(few, one).usd - dispatch(few, there).usd)
        planned = np.array([[look(factor) for factor in factors]])
        same = np.zeros(factors.size, bool)

        def exact(factor: float) -> float:
            after = int(np.searchsorted(factors, factor))
            inner, outer = float(factors[max(after - 1, 0)]), float(factors[after])
            while np.log(outer / inner) > EXACT:
                middle = float(np.sqrt(inner * outer))
                inner, outer = (inner, middle) if look(middle) <= 0 else (middle, outer)
            return self._crossing(assumption, outer, lambda _: [("", there), ("", one)])[0]

        return Apart(factors, planned, np.stack(drawn, axis=1), factors, same, same), exact


def _single(assumption: Assumption, factor: float) -> Moved:
    return Moved(1, {assumption: float(factor)})
