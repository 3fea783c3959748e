"""Classes of jobs a month as a question: machines held, in their numbers, and what is rented beside them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sweetspot.decision.assumption import (
    ALL_JOBS,
    ASSUMED_RANGE,
    FURTHEST,
    Array,
    Assumption,
    Choice,
    Moved,
    all_of,
    assumptions_of,
)
from sweetspot.decision.options import Row
from sweetspot.decision.posed import GROWTH, PER_MONTH, SOFTWARE_GAIN, Posed, grown, lighter
from sweetspot.decision.question import EXACT, LOOKS, Costs, Question, Turn
from sweetspot.decision.simulate import ends
from sweetspot.decision.sources import is_best, mix_title
from sweetspot.decision.turning import Apart, Held
from sweetspot.decision_words import beside_in_words
from sweetspot.mixes.dispatch import dispatch, dispatch_once
from sweetspot.mixes.problem import Counts, Problem
from sweetspot.mixes.search import BEST, Mix, climb, most_useful, step
from sweetspot.mixes.timing import spread_indices
from sweetspot.study.titles import model_title

if TYPE_CHECKING:
    from sweetspot.study.terms import Amount  # lazily: its models take longer to import than all this computes

NEAR = 1.6  # times the best: a kind of machine that is dearer is looked at only where its own figures move
SLIGHTLY = 1e-3  # of a factor, either side of a turning point
JUMP = 0.1  # of the rise over two slight steps: more at the crossing itself is no crossing but a jump
FARTHEST_STEP = 0.1  # in the logarithm of a factor, from what quick looks say
LEAD_OFF = 0.1  # in the logarithm of a factor: quick looks say nearer than that from where on another offer leads
# In logarithms of factors: so far beyond a turning point the answer decided anew has turned, so far before it not yet.
BEYOND, BEFORE = 2e-3, 8e-3
WORTH_DECIDING = 1.2  # times the best by quick looks: numbers of machines that are dearer are not looked at there
NEWTON, NEAREST = 4, 3e-8  # steps of Newton's at most, and one that is the last: a hundredth of it is left
MONTHS_DRAWN = 6  # months of each draw, for the interval of where a machine pays
MOST_GROWTH, MOST_GAIN = 0.5, 3.0  # a month, a year: beyond it nothing is looked for
WORK = "device_hours"  # quantity: all work of a month
QUICK = 250  # draws of a quick look, one month of each


class Way(NamedTuple):
    """One way to do the work: the `source` that is the only offer by the hour (empty: any), how many machines, how far
    they are `filled`, and which speeds are `timed` first.
    """

    source: str
    counts: Counts
    filled: float
    timed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, mix: Mix, source: str | None = None) -> "Way":
        """That of a mix; `source`: another one."""
        return cls(mix.source if source is None else source, mix.counts, mix.filled, mix.timed)


@dataclass
class Dispatch:
    """A workload of months with its ways, and what they cost at any values of its assumptions. A quick look dispatches
    one month of QUICK draws, and adds by how much that is off as planned.
    """

    posed: Posed
    ways: list[Mix]
    titles: list[str]
    assumptions: tuple[Assumption, ...]
    rival: int | None = None
    _off: dict[Way, float] = field(default_factory=dict)
    _paid_off: dict[Way, Array] = field(default_factory=dict)
    _at_factors: dict[Assumption, list[tuple[Problem, Problem]]] = field(default_factory=dict)

    def problem(self, moved: Moved) -> Problem:
        """The problem with assumptions moved (one case), on all draws."""
        return self.posed.moved(moved) if moved.values else self.posed.drawn

    def quick(self, problem: Problem) -> Problem:
        """One month of QUICK draws, of fewer draws several months; what is bought is paid in all of them."""
        draws, months = problem.jobs.shape[1:]
        if draws < QUICK:
            return problem.select(*np.divmod(spread_indices(draws * months, QUICK), months))
        places = spread_indices(draws, QUICK)
        return problem.select(places, places % months)

    def usd(self, quick: Problem, way: Way) -> float:
        """Expected USD by a quick look (`exact`)."""
        if way not in self._off:
            planned = self.posed.drawn
            off = self.exact(planned, way) - self.exact(self.quick(planned), way)
            self._off[way] = off if np.isfinite(off) else 0.0
        return self.exact(quick, way) + self._off[way]

    def exact(self, problem: Problem, way: Way) -> float:
        """Expected USD of so many months as the project has, on all draws of a problem; where a way has an offer it is
        the only one by the hour for what it can do.
        """
        chosen = problem.variant(way.filled, way.source, way.timed)
        done = (dispatch_once if chosen.jobs.shape[2] == 1 else dispatch)(chosen, way.counts)
        return float(done.usd.mean()) * self.posed.work.months

    def best_of(self, quick: Problem, way: Mix) -> tuple[Counts, float]:
        """The numbers of the machines that a way buys at which it costs the least (one at least), and its USD."""
        known = dict[Counts, float]()

        def usd(counts: Counts) -> float:
            if counts not in known:
                one = Way.of(way)._replace(counts=counts)
                known[counts] = self.usd(quick, one) if self.posed.team_limits.affords(counts) else np.inf
            return known[counts]

        kinds = [place for place, kind in enumerate(quick.held) if kind.name in way.bought]
        least = tuple(count + (place in kinds) for place, count in enumerate(quick.owned))
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
            quick, length = self.quick(self.problem(Moved(1, one))), float(Moved(1, one).work("months"))
            for place, way in enumerate(self.ways):
                if self._worth_a_look(place, moved):
                    numbers, paid = self.best_of(quick, way)
                    usd[place, case] = paid * length
                    counts[place, case] = sum(max(0, n - own) for n, own in zip(numbers, quick.owned, strict=True))
                names[place, case] = self._alternative(quick, place)
        return Costs(usd, counts, names)

    def _worth_a_look(self, place: int, moved: Moved) -> bool:
        """Whether a way may be the best: near it as planned, or its own figures move."""
        bought = [self.posed.source(name) for name in self.ways[place].bought]
        own = any(moved.touches(label) for source in bought for label in source.labels)
        return own or not moved.values or place in self._near_ways

    @cached_property
    def _near_ways(self) -> list[int]:
        free = [place for place, way in enumerate(self.ways) if not way.one_offer]
        ways = {place: Way.of(self.ways[place], "") for place in free}
        usd = {place: self.exact(self.posed.drawn, way) for place, way in ways.items()}
        # However dear: the best is held against something, whatever moves.
        best = self.ways[0].bought.keys()
        other = min((usd[place] for place in usd if self.ways[place].bought.keys() != best), default=np.inf)
        near = [place for place, paid in usd.items() if paid <= max(NEAR * min(usd.values()), other)]
        return near if np.isfinite(other) or self.rival is None else [*near, self.rival]

    def _alternative(self, quick: Problem, place: int) -> int:
        """A number for what a way is: itself where it buys, else the offer that it rents most."""
        way = self.ways[place]
        if way.bought or way.sold or way.one_offer:
            return place
        key = Way.of(way)
        if key not in self._paid_off:
            planned = self.posed.drawn
            self._paid_off[key] = self._paid(planned, way) - self._paid(self.quick(planned), way)
        paid = self._paid(quick, way) + self._paid_off[key]
        return len(self.ways) + int(paid.argmax()) if paid.max(initial=0.0) > 0 else place

    def _paid(self, problem: Problem, way: Mix) -> Array:
        """USD of a month that a way pays to each offer by the hour."""
        chosen = problem.variant(way.filled, "", way.timed)
        done = (dispatch_once if chosen.jobs.shape[2] == 1 else dispatch)(chosen, way.counts)
        return np.array([done.usd_by_use(one.name) if one.name in done.sources else 0.0 for one in problem.rented])

    def title(self, place: int, count: float, alternative: int | None) -> str:
        """A way in words: with the machines that it buys in a case, or with what it rents most."""
        bought, posed, planned = self.ways[place].bought, self.posed, self.posed.drawn
        if alternative is not None and alternative >= len(self.ways):
            rented = posed.title(planned.rented[alternative - len(self.ways)].name)
            return f"nothing bought, {beside_in_words(rented, posed.at_home)}"
        if len(bought) != 1 or count in bought.values():
            return self.titles[place]
        return f"{count:g} × {posed.title(next(iter(bought)))}"

    def settled(self, assumption: Assumption, turn: Turn) -> Turn | None:
        """A turning point found by quick looks, made exact; None where on all draws there is none.

        Quick looks keep the strategy of each way. What is worth timing first follows the figures too, so that the
        answer is decided anew on all draws a little before and beyond the point; where it turns elsewhere the point is
        looked for among such answers.
        """
        side = float(np.sign(np.log(turn.factor)))
        crossed = self._crossed(assumption, turn)
        found = abs(float(np.log((crossed or turn).factor)))
        beyond = self._decided_anew(assumption, side * (found + BEYOND))
        turns = crossed is not None and self._turned(beyond)
        if turns and found > BEFORE:
            turns = not self._turned(self._decided_anew(assumption, side * (found - BEFORE)))
        if crossed is not None and turns:
            return self._turn_to(assumption, crossed, beyond)
        return self._decided_elsewhere(assumption, turn, found)

    def _decided_elsewhere(self, assumption: Assumption, turn: Turn, found: float) -> Turn | None:
        """The turning point where the answer decided anew is first another, near a logarithm of the factor at which it
        does not begin to be another; None where it is the same up to FURTHEST.
        """
        side = float(np.sign(np.log(turn.factor)))
        limit = float(np.log(FURTHEST if side < 0 else min(FURTHEST, assumption.most / assumption.value)))
        nearer = [float(np.log(step)) for step in LOOKS if np.log(step) < found]
        further = [place for step in (1, 2, 4, 8) if (place := found + step * LEAD_OFF) < limit]
        inner, outer, mix = 0.0, 0.0, None
        for outer in (*nearer, max(found - BEFORE, 0.0), found + BEYOND, *further, limit):
            if self._turned(answer := self._decided_anew(assumption, side * outer)):
                mix = answer
                break
            inner = outer
        while mix is not None and outer - inner > EXACT:
            middle = (inner + outer) / 2
            if self._turned(answer := self._decided_anew(assumption, side * middle)):
                outer, mix = middle, answer
            else:
                inner = middle
        if mix is None:
            return None
        return self._turn_to(assumption, turn._replace(factor=float(np.exp(side * outer))), mix)

    def _decided_anew(self, assumption: Assumption, log: float) -> Mix:
        """The best mix on all draws with an assumption at the exponential of `log` times its value."""
        moved_one = _single(assumption, float(np.exp(log)))
        problem = self.problem(moved_one)
        quick, found = self.quick(problem), dict[Counts, float]()
        for place, way in enumerate(self.ways):
            if not way.one_offer and self._worth_a_look(place, moved_one):
                counts, usd = self.best_of(quick, way)
                found[counts] = min(usd, found.get(counts, np.inf))
        least = min(found.values())
        starts = {problem.owned, *(counts for counts, usd in found.items() if usd <= WORTH_DECIDING * least)}
        kinds = [place for place, there in enumerate(problem.owned) if any(one[place] != there for one in starts)]
        return self.posed.best_of(problem, sorted(starts), kinds)

    def _turned(self, mix: Mix) -> bool:
        """Whether a mix is another answer than the best as planned."""
        return _answer(mix) != _answer(self.ways[0])

    def _turn_to(self, assumption: Assumption, turn: Turn, mix: Mix) -> Turn | None:
        """A turning point with the mix that is the best beyond it; None where it is none of the ways."""
        offers, answer = [offer.name for offer in self.posed.drawn.rented], _answer(mix)
        ways = enumerate(self.ways)
        alike = [place for place, way in ways if not way.one_offer and _commitment(way) == _commitment(mix)]
        if not alike:
            return None
        to, count = alike[0], float(sum(mix.bought.values()))
        alternative = to if mix.bought or mix.sold or not mix.done.lead else len(self.ways) + offers.index(answer[-1])
        if alternative == turn.alternative and (turn.to == to or alternative >= len(self.ways)):
            return turn
        usd = mix.expected * self.posed.work.months * float(_single(assumption, turn.factor).work("months"))
        return Turn(turn.factor, to, usd, count, alternative)

    def _crossed(self, assumption: Assumption, turn: Turn) -> Turn | None:
        """A turning point where on all draws both ways cost the same, or another offer is rented most; None where there
        is none.
        """
        ours, theirs = (Way.of(way) for way in (self.ways[0], self.ways[turn.to]))
        if ours == theirs:  # another offer is rented most: no cost crosses another
            return self._rents_another(assumption, turn)

        def numbers(quick: Problem) -> list[Way]:
            pair = (self.ways[0], self.ways[turn.to])
            return [Way.of(way)._replace(counts=self.best_of(quick, way)[0]) for way in pair]

        factor, usd = self._crossing(assumption, turn.factor, numbers)
        length = float(_single(assumption, factor).work("months"))
        return turn._replace(factor=factor, usd=usd * length)

    def _rents_another(self, assumption: Assumption, turn: Turn) -> Turn | None:
        """From where on the best rents another offer most, by halving the stretch around what quick looks say."""
        best, offers = self.ways[0], [offer.name for offer in self.posed.drawn.rented]
        side, furthest = float(np.sign(np.log(turn.factor))), np.log(min(FURTHEST, assumption.most / assumption.value))

        def at(log: float) -> tuple[str, float]:
            problem = self.problem(_single(assumption, np.exp(side * log)))
            done = dispatch(problem.variant(best.filled, "", best.timed), best.counts)
            return done.lead, float(done.usd.mean())

        planned, found = best.done.lead, abs(float(np.log(turn.factor)))
        inner, outer, limit = found - LEAD_OFF, found, float(furthest if side > 0 else np.log(FURTHEST))
        inner = inner if inner > 0 and at(inner)[0] == planned else 0.0
        while at(outer)[0] == planned:
            if outer >= limit:
                return None
            inner, outer = outer, min(outer + LEAD_OFF, limit)
        while outer - inner > EXACT:
            middle = (inner + outer) / 2
            inner, outer = (middle, outer) if at(middle)[0] == planned else (inner, middle)
        lead, month = at(outer)
        usd = month * self.posed.work.months * float(_single(assumption, np.exp(side * outer)).work("months"))
        to = len(self.ways) + offers.index(lead) if lead in offers else turn.alternative
        return turn._replace(factor=float(np.exp(side * outer)), usd=usd, alternative=to)

    def _crossing(
        self, assumption: Assumption, factor: float, pair: Callable[[Problem], list[Way]]
    ) -> tuple[float, float]:
        """Where two ways cost the same, near a factor that quick looks found, and what the first costs there; `pair`:
        the source and the machines of both. Looks at all draws, and after each a step of Newton's with the slope of the
        quick looks, which are off by less than a percent in it: so much less is left after each.
        """
        start = at = float(np.log(factor))

        def apart(place: float) -> float:
            quick = self.quick(self.problem(_single(assumption, np.exp(place))))
            first, second = (self.usd(quick, one) for one in pair(quick))
            return second - first

        rise = apart(at + SLIGHTLY) - apart(at - SLIGHTLY)
        # At a jump (a job that is in time from here on) there is no slope to follow: quick looks are not near 0 there.
        smooth = np.isfinite(rise) and abs(apart(at)) < JUMP * abs(rise)
        both = pair(self.quick(self.problem(_single(assumption, factor))))
        for _ in range(NEWTON):
            problem = self.problem(_single(assumption, np.exp(at)))
            first, second = (self.exact(problem, one) for one in both)
            step = -(second - first) * 2 * SLIGHTLY / rise if smooth else np.inf
            if not abs(step) < FARTHEST_STEP:
                return float(np.exp(start)), first
            at += step
            if abs(step) < NEAREST:
                break
        return float(np.exp(at)), first

    def held(self, question: Question) -> Iterator[Held]:
        """Each machine for sale and contract with all work, one class's jobs, and the months of the project."""
        posed, best = self.posed, self.posed.mixes[0].done
        work = sum(float(best.device_hours(name).mean()) for name in best.sources)
        for place in (
            one for one in posed.drawn.for_sale if posed.team_limits.affords(_one_more(posed.drawn.owned, one))
        ):
            name = posed.drawn.held[place].name
            for one in question.assumptions:
                urgent, alone = one.subject.endswith("(urgent)"), len(posed.work.jobs) == 1
                if one.quantity == ALL_JOBS or (one.quantity == PER_MONTH and not urgent and alone):
                    told = ("the work of a month", WORK, work, "device-hours/month")
                elif (one.quantity == PER_MONTH and not urgent) or (
                    one.quantity == "months" and posed.source(name).offer["purchase"] == "own"
                ):
                    told = (one.name, one.quantity, one.value, one.unit)
                else:
                    continue
                apart, exact = self._pays(place, one)
                planned = apart.drawn[:, np.abs(np.log(apart.factors)).argmin()]
                yield Held(name, posed.title(name), one, *told, apart, float(np.mean(planned <= 0)), exact)

    def _eased(self, counts: Counts) -> Way:
        """So many machines and whatever is cheapest beside them by the best strategy, with what is rented sooner to
        keep a limit.
        """
        return Way.of(self.posed.with_strategy(Mix(BEST, "", dispatch(self.posed.drawn, counts))))

    def _few_of(self, assumption: Assumption, factor: float) -> tuple[Problem, Problem]:
        """The problem at a factor of an assumption: as a quick look, and some months of all draws."""
        problem = self.problem(_single(assumption, factor))
        return self.quick(problem), problem.select_months(spread_indices(problem.jobs.shape[2], MONTHS_DRAWN))

    def _pays(self, place: int, assumption: Assumption) -> tuple[Apart, Callable[[float, bool], float]]:
        """What one machine of a kind and what is there cost more than what is there and rentals alone; and how a factor
        from which it pays (`begins`), or up to which, is made exact.
        """
        there, one = self._eased(self.posed.drawn.owned), self._eased(_one_more(self.posed.drawn.owned, place))
        steps = (*LOOKS, FURTHEST)
        factors = np.unique([*(1 / step for step in steps), 1.0, *steps])
        if assumption not in self._at_factors:  # the same for each machine
            self._at_factors[assumption] = [self._few_of(assumption, float(factor)) for factor in factors]

        def apart(quick: Problem) -> float:
            return self.usd(quick, one) - self.usd(quick, there)

        def look(factor: float) -> float:
            return apart(self.quick(self.problem(_single(assumption, factor))))

        drawn = []
        for _, few in self._at_factors[assumption]:
            with np.errstate(invalid="ignore"):  # where neither does the work it does not pay
                chosen = ((few.variant(way.filled, "", way.timed), way.counts) for way in (one, there))
                mine, other = (dispatch_once(*each).usd for each in chosen)
                drawn.append(mine - other)
        planned = np.array([[apart(quick) for quick, _ in self._at_factors[assumption]]])
        same = np.zeros(factors.size, bool)

        def exact(factor: float, begins: bool) -> float:
            after = int(np.searchsorted(factors, factor)) + (not begins)
            inner, outer = float(factors[after - 1]), float(factors[after])
            while np.log(outer / inner) > EXACT:
                middle = float(np.sqrt(inner * outer))
                inner, outer = (inner, middle) if (look(middle) <= 0) == begins else (middle, outer)
            return self._crossing(assumption, outer, lambda _: [there, one])[0]

        return Apart(factors, planned, np.stack(drawn, axis=1), factors, same, same), exact


def dispatch_question(posed: Posed) -> Question | None:
    """The question of a workload of months; None where no mix does the work."""
    best, months = posed.mixes[0], posed.work.months
    if not np.isfinite(best.expected):
        return None
    other = (one for one in posed.mixes if not is_best(one, best) and posed.team_limits.keeps(one))
    shown = [best, *(one for one in other if np.isfinite(one.expected))]
    if ("", posed.drawn.owned) not in ((one.source, one.counts) for one in shown):
        shown.append(posed.with_strategy(Mix(BEST, "", dispatch(posed.drawn, posed.drawn.owned))))
    rows = [_row_of(one, posed) for one in shown]
    drawn = np.stack([one.done.usd * months for one in shown])
    rival = _rival(shown, drawn)
    cost = Dispatch(posed, shown, [mix_title(one, posed) for one in shown], _assumptions(posed), rival)
    return Question(
        workload=posed.name,
        months=months,
        choices=tuple(
            Choice(row["option"], title, row, str(place), frozenset(posed.rows))
            for place, (row, title) in enumerate(zip(rows, cost.titles, strict=True))
        ),
        assumptions=cost.assumptions,
        cost=cost.cost,
        drawn=drawn,
        against=rival,
        told=f"{months:g} months",
        word="best mix",
        drawn_work=tuple(_drawn_work(posed, cost.assumptions)),
        beside=_beside(best, months),
        rows=posed.rows,
        named=cost.title,
        dear=True,
        settled=cost.settled,
        held=cost.held,
    )


def _rival(ways: Sequence[Mix], drawn: Array) -> int | None:
    """The cheapest way that holds other machines than the best; else the cheapest other; None without one that does
    the work.
    """
    usd = drawn.mean(axis=1)
    others = [place for place in range(1, len(ways)) if usd[place] < np.inf]
    held = (ways[0].bought.keys(), ways[0].sold.keys())
    apart = [place for place in others if (ways[place].bought.keys(), ways[place].sold.keys()) != held]
    return min(apart or others, key=lambda place: float(usd[place]), default=None)


def _beside(best: Mix, months: float) -> Array | None:
    """USD by draw of the mixes of one machine more or less than the best that do the work."""
    problem = best.problem
    usd = []
    for index in problem.adjustable:
        kind, count = problem.held[index], best.counts[index]
        numbers = (count - 1, count + 1 if kind.for_sale or count < kind.there else -1)
        for number in numbers:
            if number >= kind.minimum:
                usd.append(dispatch(problem, step(best.counts, index, number - count)).usd * months)
    found = [one for one in usd if np.isfinite(one).all()]
    return np.stack(found) if found else None


def _commitment(mix: Mix) -> tuple[str, ...]:
    """The machines that a mix buys and sells."""
    return (*sorted(mix.bought), *sorted(mix.sold))


def _answer(mix: Mix) -> tuple[str, ...]:
    """What a mix buys and sells; of one that does neither the offer that it rents most."""
    return _commitment(mix) or (mix.done.lead,)


def _row_of(one: Mix, posed: Posed) -> Row:
    """The row of the options that a mix rests on most: the machine that it buys, else what it rents."""
    name = next(iter(one.bought), one.source or one.done.lead)
    return posed.source(name).offer if name else posed.sources[0].offer


def _assumptions(posed: Posed) -> tuple[Assumption, ...]:
    """Figures of the offers, then numbers of jobs of each class, of its urgent ones, and of all."""
    offers = [
        Choice.of(one.offer)._replace(alternative=one.offer["option"], labels=one.labels, there=bool(one.there))
        for one in posed.sources
    ]
    speeds = {row["row"]: row for one in posed.sources for row in one.rows if row is not None}
    of_offers = assumptions_of(offers, list(speeds.values()), posed.month_days)
    limited = [
        _with_resale_limit(one, posed.source(one.subject).offer) if one.figure == "residual_usd" else one
        for one in of_offers
    ]
    return (*limited, *_jobs(posed))


def _with_resale_limit(resale: Assumption, offer: Row) -> Assumption:
    """Limit a resale value to where its upper bound is the lowest price of the machine.

    Costs of months are means of samples, and a price list has no samples above that price: it refuses such an amount
    and cuts a curve there. A higher value, moved with its range, would not give the costs of any price list.
    """
    price, lowest_price, _ = ends(offer, "capex_usd")
    return resale._replace(most=resale.most * lowest_price / price) if lowest_price < price else resale


def _jobs(posed: Posed) -> Iterator[Assumption]:
    for one in posed.classes:
        title, most = model_title(one.job.name), one.job.per_month.value if one.urgent else np.inf
        told = f"{'urgent ' if one.urgent else ''}jobs of {title} a month"
        yield from _stated(one.number, (PER_MONTH, one.name, told, "jobs/month"), most)
        if not one.urgent:
            told = f"growth of the jobs of {title}"
            yield from _stated(one.job.growth_per_month, (GROWTH, one.name, told, "share/month"), MOST_GROWTH)
    gain = (SOFTWARE_GAIN, "", "gain of software a year", "share/year")
    yield from _stated(posed.work.software_gain_per_year, gain, MOST_GAIN)
    if len(posed.work.jobs) > 1:
        yield all_of("number of jobs a month")


def _stated(amount: "Amount", named: tuple[str, str, str, str], most: float) -> Iterator[Assumption]:
    """A number of the work above 0 as an assumption, with the range that it has or ASSUMED_RANGE."""
    value, (low, high) = amount.value, amount.ends
    if value > 0:
        ends = (low, high, "declared") if low < high else (
            value * (1 - ASSUMED_RANGE), value * (1 + ASSUMED_RANGE), "assumed")  # fmt: skip
        yield Assumption(*named, value, *ends, named[0], frozenset(), most)


def _drawn_work(posed: Posed, assumptions: Sequence[Assumption]) -> Iterator[tuple[Assumption, Array]]:
    """Mean jobs a month of the project but for their growth, by class, of one with urgent jobs these are among them;
    growth; and the gain of software.
    """
    months = posed.work.months
    alike = (posed.numbers / grown(posed.growth, months) / lighter(posed.gain, months)).mean(axis=2)
    values = {(PER_MONTH, one.name): jobs for one, jobs in zip(posed.classes, alike, strict=True)}
    values |= {(GROWTH, one.name): growth for one, growth in zip(posed.classes, posed.growth, strict=True)}
    values[SOFTWARE_GAIN, ""] = posed.gain
    for assumption in assumptions:
        drawn = values.get((assumption.quantity, assumption.subject))
        if drawn is not None and np.ptp(drawn) > 0:
            yield assumption, drawn


def _one_more(counts: Counts, place: int) -> Counts:
    return (*counts[:place], counts[place] + 1, *counts[place + 1 :])


def _single(assumption: Assumption, factor: float) -> Moved:
    return Moved(1, {assumption: float(factor)})
