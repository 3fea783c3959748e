"""The cost of classes of jobs a month: machines held, in their numbers, and what is rented beside them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sweetspot.decision.assumption import (
    ALL_JOBS,
    Array,
    Assumption,
    Moved,
)
from sweetspot.decision.dispatch_problem import Figures, Posed, Source
from sweetspot.decision.dispatch_tables import Words, Worked
from sweetspot.decision.options import Row
from sweetspot.decision.pays import Apart
from sweetspot.decision.question import EXACT, FURTHEST, LOOKS, Choice, Costs, Turn
from sweetspot.decision.rates import Factor, Number, possession, rates
from sweetspot.mixes.dispatch import Done, dispatch
from sweetspot.mixes.problem import Problem
from sweetspot.mixes.search import Counts, climb, most_useful
from sweetspot.wording import the

PER_MONTH = "per_month"  # quantity: jobs a month of one class
NEAR = 1.6  # times the best: a kind of machine that is dearer is looked at only where its own figures move
SLIGHTLY = 1e-3  # of a factor, either side of a turning point
JUMP = 0.1  # of the rise over two slight steps: more at the crossing itself is no crossing but a jump
FARTHEST_STEP = 0.1  # in the logarithm of a factor, from what quick looks say
MONTHS_DRAWN = 6  # months of each draw, for the interval of where a machine pays
QUICK = 250  # draws of a quick look, one month of each
OF_THE_MONTH = ("capex_usd", "residual_usd", "maintenance_usd_per_month", "months")


@dataclass(frozen=True)
class Way:
    """One choice of a problem: machines of each kind held, as planned; `source`: the only offer by the hour that may
    be rented for what it can do, empty for the cheapest of each job. `kinds`: places of the kinds that are bought, of
    which the number follows the case.
    """

    counts: Counts
    source: str
    kinds: tuple[int, ...]


@dataclass
class Dispatch:
    """A workload of months with its ways, and what they cost at any values of its assumptions.

    A quick look dispatches one month of QUICK draws, and adds by how much that is off as planned.
    """

    worked: Worked
    known: Mapping[tuple[str, int], Array]
    ways: list[Way]
    assumptions: tuple[Assumption, ...]
    _off: dict[tuple[Way, Counts], float] = field(default_factory=dict)

    @property
    def posed(self) -> Posed:
        """The workload as problems."""
        return self.worked.posed

    @cached_property
    def rows(self) -> dict[int, Row]:
        """The rows of the options that sources stand on, by label."""
        every = (row for source in self.posed.sources for row in (source.offer, *source.rows) if row is not None)
        return {row["row"]: row for row in every}

    @cached_property
    def places(self) -> Array:
        """The draws of a quick look."""
        return np.unique(np.linspace(0, self.posed.drawn.jobs.shape[1] - 1, QUICK).round().astype(int))

    def problem(self, moved: Moved) -> Problem:
        """The problem with assumptions moved (one case), on all draws."""
        if not moved.values:
            return self.posed.drawn
        figures, posed = self.posed.figures, self.posed
        columns = {name: getattr(figures, name).copy() for name in ("hours", "usd", "variable", "fixed", "days")}
        for label, row in self.rows.items():
            if moved.touches(label):
                for name, factor in self._factors(row, moved.of(label)).items():
                    columns[name][label] = columns[name][label] * factor
        sources = tuple(self._sooner(one, moved) for one in posed.sources)
        return posed.problem(sources, Figures(**columns), self._jobs(moved))

    def _factors(self, row: Row, factor: Factor) -> dict[str, Number]:
        """By how much the figures of one row change."""
        speed = factor("images_per_s")
        now, planned = rates(row, factor), rates(row, lambda _: 1.0)
        dearer = now.variable / planned.variable if planned.variable else 1.0
        found: dict[str, Number] = {"hours": 1.0 / speed, "usd": dearer / speed, "variable": dearer}
        if row["purchase"] == "own":
            found |= {"days": factor("days_per_month"), "fixed": self._month(row, factor)}
        return found

    def _month(self, row: Row, factor: Factor) -> Number:
        """A month of possession over that as drawn, in each draw."""
        if all(isinstance(found := factor(name), float) and found == 1.0 for name in OF_THE_MONTH):
            return 1.0

        def drawn(name: str) -> Number:
            values = self.known.get((name, row["row"]))
            return 1.0 if values is None or not row[name] > 0 else values / row[name]

        return possession(row, lambda name: drawn(name) * factor(name)) / possession(row, drawn)

    def _sooner(self, one: Source, moved: Moved) -> Source:
        """The source with the hours of its jobs at the speeds moved: they say who is in time."""
        found = tuple(
            row if row is None or not moved.touches(row["row"])
            else row | {"hours": row["hours"] / float(moved.of(row["row"])("images_per_s"))}
            for row in one.rows
        )  # fmt: skip
        return one._replace(rows=found)

    def _jobs(self, moved: Moved) -> Array:
        """Jobs by class, draw and month: more of a class are not more urgent ones, of which there are never more than
        of all.
        """
        planned, jobs = self.posed.drawn.jobs, self.posed.drawn.jobs.copy()
        classes, every = self.posed.classes, float(moved.work(ALL_JOBS))
        for place, one in enumerate(classes):
            if one.urgent:
                continue
            hurried = place + 1 if place + 1 < len(classes) and classes[place + 1].urgent else None
            urgent = 0.0 if hurried is None else planned[hurried]
            total = (planned[place] + urgent) * every * float(moved.work(PER_MONTH, one.name))
            if hurried is not None:
                urgent = np.minimum(total, urgent * every * float(moved.work(PER_MONTH, classes[hurried].name)))
                jobs[hurried] = urgent
            jobs[place] = total - urgent
        return jobs

    def quick(self, problem: Problem) -> Problem:
        """One month of QUICK draws; what is bought is paid in all of them."""
        months = problem.jobs.shape[2]
        return problem.draws(self.places, self.places % months)

    def usd(self, quick: Problem, way: Way, counts: Counts) -> float:
        """Expected USD of the project by a quick look."""
        if (way, counts) not in self._off:
            off = self.exact(self.posed.drawn, way, counts) - self._look(self.quick(self.posed.drawn), way, counts)
            self._off[way, counts] = off if np.isfinite(off) else 0.0
        return self._look(quick, way, counts) + self._off[way, counts]

    def exact(self, problem: Problem, way: Way, counts: Counts) -> float:
        """Expected USD of the project on all draws."""
        return self._look(problem, way, counts)

    def _look(self, problem: Problem, way: Way, counts: Counts) -> float:
        done = dispatch(problem.only(way.source) if way.source else problem, counts)
        return float(done.usd.mean()) * self.posed.work.months

    def best_of(self, quick: Problem, way: Way) -> tuple[Counts, float]:
        """The numbers of the machines that a way buys at which it costs the least (one at least), and its USD."""
        known = dict[Counts, float]()

        def usd(counts: Counts) -> float:
            if counts not in known:
                known[counts] = self.usd(quick, way, counts)
            return known[counts]

        there = self.posed.drawn.there
        least = tuple(count + (place in way.kinds) for place, count in enumerate(there))
        best = climb(way.counts, usd, way.kinds, least, most_useful(quick)) if way.kinds else way.counts
        return best, usd(best)

    def cost(self, moved: Moved) -> Costs:
        """The costs of all ways in every case. Which offer is rented most says which alternative a way is that buys
        nothing.
        """
        shape = (len(self.ways), moved.cases)
        usd, counts, names = np.full(shape, np.inf), np.zeros(shape), np.zeros(shape, dtype=int)
        there = sum(self.posed.drawn.there)
        for case in range(moved.cases):
            one = Moved(
                1, {each: float(np.broadcast_to(values, moved.cases)[case]) for each, values in moved.values.items()}
            )
            quick = self.quick(self.problem(one))
            for place, way in enumerate(self.ways):
                if self._worth_a_look(way, moved):
                    numbers, usd[place, case] = self.best_of(quick, way)
                    counts[place, case] = sum(numbers) - there
                names[place, case] = self._alternative(quick, place, way)
        return Costs(usd, counts, names)

    def _worth_a_look(self, way: Way, moved: Moved) -> bool:
        """Whether a way may be the best: near it as planned, or its own figures move."""
        if way not in self._near_ways and moved.values:
            own = {label for place in way.kinds for label in self._labels(self.posed.drawn.held[place].name)}
            return any(own & one.rows for one in moved.values)
        return True

    @cached_property
    def _near_ways(self) -> list[Way]:
        usd = {way: self.exact(self.posed.drawn, way, way.counts) for way in self.ways if not way.source}
        # However dear: the best is held against something, whatever moves.
        other = min((paid for way, paid in usd.items() if way.kinds != self.ways[0].kinds), default=np.inf)
        return [way for way, paid in usd.items() if paid <= max(NEAR * min(usd.values()), other)]

    def _labels(self, option: str) -> frozenset[int]:
        source = self.posed.source(option)
        return frozenset(row["row"] for row in (source.offer, *source.rows) if row is not None)

    def _alternative(self, quick: Problem, place: int, way: Way) -> int:
        """A number for what a way is: itself where it buys, else the offer that it rents most."""
        if way.kinds or way.source:
            return place
        lead = most_rented(quick, dispatch(quick, way.counts))
        return len(self.ways) + [offer.name for offer in quick.rented].index(lead) if lead else place

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

    def named(self, choices: Sequence[Choice], words: Words) -> Callable[[int, float, int | None], str]:
        """A way in words: with the machines that it buys in a case, or with what it rents most."""
        there = any(self.posed.drawn.there)
        offers = [offer.name for offer in self.posed.drawn.rented]

        def title(place: int, count: float, alternative: int | None) -> str:
            way = self.ways[place]
            if alternative is not None and alternative >= len(self.ways):
                offer = the(words.title(offers[alternative - len(self.ways)]))
                return f"nothing bought, the rest on {offer}" if there else f"nothing bought, all on {offer}"
            if len(way.kinds) != 1 or count == sum(way.counts) - sum(self.posed.drawn.there):
                return choices[place].title
            return f"{count:g} × {words.title(self.posed.drawn.held[way.kinds[0]].name)}"

        return title

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


def most_rented(problem: Problem, done: Done) -> str:
    """The offer by the hour with the most device-hours; empty where nothing is rented."""
    hours = {}
    for number in np.unique(done.chosen[done.chosen >= 0]):
        offer = problem.rented[number]
        taken = np.where(done.chosen == number, offer.device_hours, 0.0)
        hours[offer.name] = float(np.einsum("jdt,jd->", done.rented, taken))
    most = max(hours, key=lambda name: hours[name], default="")
    return most if most and hours[most] > 0 else ""
