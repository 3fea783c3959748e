"""Where the cheapest mix changes while one figure of a problem moves, and from where a machine of a kind pays."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from sweetspot.mixes.dispatch import Done, dispatch
from sweetspot.mixes.problem import Array, Problem
from sweetspot.mixes.search import neighbours

# Factors at which the best mix is looked for, either way of what is planned.
STEPS = (1.1, 1.25, 1.6, 2.5, 5.0)
FURTHEST = STEPS[-1]
EXACT = 1e-4  # of a factor
SLIGHTLY = 1e-3  # of a factor: just before a turning point
PENNY = 1e-6  # USD a month: mixes that cost the same
JUMP = 0.1  # of the rise over two slight steps: more at the crossing itself is no crossing but a jump
FARTHEST_STEP = 0.05  # in the logarithm of a factor, from what quick looks say
Counts = tuple[int, ...]
Move = Callable[[float], Problem]  # the problem with the figure at a factor of what is planned


class Choice(NamedTuple):
    """What the answer is about: machines of each kind held; where nothing is bought, who is rented most."""

    counts: Counts
    rented: str


class Turn(NamedTuple):
    """The best mix from `factor` on, and expected USD a month there."""

    factor: float
    choice: Choice
    usd: float


def thinned(problem: Problem) -> Problem:
    """One month of each draw, in turn: what quick looks are taken at."""
    draws, months = problem.jobs.shape[1:]
    places = np.arange(draws)
    return replace(problem, jobs=problem.jobs[:, places, places % months][:, :, None])


def most_rented(problem: Problem, done: Done) -> str:
    """The offer by the hour with the most device-hours; empty where nothing is rented."""
    hours = {}
    for number in np.unique(done.chosen[done.chosen >= 0]):
        offer = problem.rented[number]
        taken = np.where(done.chosen == number, offer.device_hours, 0.0)
        hours[offer.name] = float(np.einsum("jdt,jd->", done.rented, taken))
    most = max(hours, key=lambda name: hours[name], default="")
    return most if most and hours[most] > 0 else ""


def choice_of(problem: Problem, counts: Counts) -> Choice:
    """A mix as a choice: where nothing is bought, with the offer by the hour that does most."""
    if counts != problem.there:
        return Choice(counts, "")
    return Choice(counts, most_rented(problem, dispatch(problem, counts)))


def expected(problem: Problem, counts: Counts) -> float:
    """Expected USD a month of the machines `counts` and the rentals beside them."""
    return float(dispatch(problem, counts).usd.mean())


@dataclass
class Plans:
    """The best mix of a problem while a figure moves.

    `base`: the problem as planned; `starts`: numbers of machines that are looked at anyhow, the best as planned first.
    A quick look dispatches one month of each draw and adds by how much that is off for these machines as planned.
    """

    base: Problem
    starts: Sequence[Counts]
    _off: dict[Counts, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.thin = thinned(self.base)
        self.starts = [*dict.fromkeys([*self.starts, self.base.there])]
        self.choice = choice_of(self.thin, self.starts[0])

    def estimate(self, thin: Problem, counts: Counts) -> float:
        """Expected USD a month by a quick look."""
        if counts not in self._off:
            off = expected(self.base, counts) - expected(self.thin, counts)
            self._off[counts] = off if np.isfinite(off) else 0.0
        return expected(thin, counts) + self._off[counts]

    def best(self, problem: Problem) -> Choice:
        """The mix of the least expected cost by quick looks: from `starts`, machine by machine."""
        thin, known = thinned(problem), dict[Counts, float]()

        def usd(counts: Counts) -> float:
            if counts not in known:
                known[counts] = self.estimate(thin, counts)
            return known[counts]

        best = min(self.starts, key=usd)
        while True:
            near = min(neighbours(problem, best), key=usd, default=best)
            if not usd(near) < usd(best):
                return choice_of(thin, best)
            best = near


def turns(plans: Plans, move: Move, most: float = FURTHEST) -> list[Turn]:
    """Where the best mix changes first below what is planned and above it; none within a factor of FURTHEST.

    `most`: the largest factor that the figure can have. Between two of STEPS with another best mix each the point
    where both cost the same is found on all draws, to EXACT.
    """
    found = (_first(plans, move, list(_way(side, most))) for side in (-1, 1))
    return [turn for turn in found if turn is not None]


def _way(side: int, most: float) -> Iterator[float]:
    for step in STEPS:
        factor = step**side
        if factor >= most:
            if most > 1:
                yield most
            return
        yield factor


def _first(plans: Plans, move: Move, way: list[float]) -> Turn | None:
    inner = 1.0
    for outer in way:
        found = plans.best(move(outer))
        if found != plans.choice:
            return _refined(plans, move, inner, outer, found)
        inner = outer
    return None


def _refined(plans: Plans, move: Move, inner: float, outer: float, found: Choice) -> Turn:
    """The first change between two factors; what is the best beyond it may not be what is the best at `outer`."""
    base = plans.choice
    while True:
        if found.counts == base.counts:
            factor = _change(plans, move, inner, outer)
            problem = move(factor)
            return Turn(factor, plans.best(problem), expected(problem, base.counts))
        crossing = _crossing(plans, move, (base.counts, found.counts), inner, outer)
        sooner = plans.best(move(crossing.factor * (inner / outer) ** SLIGHTLY))
        if sooner in (base, found) or abs(np.log(crossing.factor / inner)) < EXACT:
            return Turn(crossing.factor, choice_of(move(crossing.factor), found.counts), crossing.usd)
        outer, found = crossing.factor, sooner


def _change(plans: Plans, move: Move, inner: float, outer: float) -> float:
    """The factor next beyond a change of the best mix, by halving."""
    while abs(np.log(outer / inner)) > EXACT:
        middle = float(np.sqrt(inner * outer))
        inner, outer = (middle, outer) if plans.best(move(middle)) == plans.choice else (inner, middle)
    return outer


class _Crossing(NamedTuple):
    """The factor at which two mixes cost the same, and USD a month of the first there."""

    factor: float
    usd: float


def _crossing(plans: Plans, move: Move, pair: tuple[Counts, Counts], inner: float, outer: float) -> _Crossing:
    """Where the second of two mixes becomes the cheaper between two factors.

    By quick looks first; then one look at all draws there, and a step of Newton's with the slope of the quick looks,
    which are off by less than a percent in it: what is left is the square of that.
    """

    def quick(place: float) -> float:
        thin = thinned(move(float(np.exp(place))))
        first, second = (plans.estimate(thin, counts) for counts in pair)
        return second - first

    place = _root(quick, np.log(inner), np.log(outer))
    problem = move(float(np.exp(place)))
    first, second = (expected(problem, counts) for counts in pair)
    rise = quick(place + SLIGHTLY) - quick(place - SLIGHTLY)
    # At a jump (a job that is in time from here on) there is no slope to follow: quick looks are not near 0 there.
    smooth = np.isfinite(rise) and abs(quick(place)) < JUMP * abs(rise) and np.isfinite(second - first)
    step = -(second - first) * 2 * SLIGHTLY / rise if smooth else 0.0
    return _Crossing(float(np.exp(place + step if abs(step) < FARTHEST_STEP else place)), first)


def _root(apart: Callable[[float], float], left: float, right: float) -> float:
    """Where a function that is above 0 at `left` and not at `right` changes its sign: false position (Illinois), or
    halving where it is not finite; `left` where it is not above 0 there, `right` where it is above 0 at both.
    """
    near, far = apart(left), apart(right)
    if near <= 0:
        return left
    if far > 0:
        return right
    while abs(right - left) > EXACT:
        known = bool(np.isfinite(near) and np.isfinite(far))
        middle = left + (right - left) * near / (near - far) if known else (left + right) / 2
        value = apart(middle)
        if abs(value) < PENNY:
            return middle
        if value > 0:
            left, near, far = middle, value, far / 2
        else:
            right, far, near = middle, value, near / 2
    return right


def pays_from(plans: Plans, move: Move, place: int, most: float = FURTHEST) -> float:
    """The factor from which one machine more of a kind, beside what is there, costs no more than without it.

    The smallest within a factor of FURTHEST either way; 0 where it pays at the smallest already, infinite where it pays
    nowhere. All that is rented is rented for the least.
    """
    without = plans.base.there
    one = _one_more(without, place)
    way = _grid(most)
    looks = [plans.estimate(thin, one) - plans.estimate(thin, without) for thin in (thinned(move(at)) for at in way)]
    if looks[0] <= 0:
        return 0.0
    for before, after, apart in zip(way, way[1:], looks[1:], strict=False):
        if apart <= 0:
            return _crossing(plans, move, (without, one), before, after).factor
    return np.inf


def pays_from_by_draw(plans: Plans, move: Move, place: int, most: float = FURTHEST, months: int = 6) -> Array:
    """The same in each draw alone, over `months` of its months; between the factors looked at by straight lines."""
    without, way = plans.base.there, _grid(most)
    one, apart = _one_more(without, place), []
    for factor in way:
        problem = move(factor)
        few = replace(problem, jobs=problem.jobs[:, :, :months])
        apart.append(dispatch(few, one).usd - dispatch(few, without).usd)
    found = np.full(apart[0].shape, np.inf)
    for before, after, here, there in reversed(list(zip(way, way[1:], apart, apart[1:], strict=False))):
        crossed = (here > 0) & (there <= 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.where(crossed, before + (after - before) * here / (here - there), found)
    return np.where(apart[0] <= 0, 0.0, found)


def _one_more(there: Counts, place: int) -> Counts:
    return (*there[:place], there[place] + 1, *there[place + 1 :])


def _grid(most: float) -> list[float]:
    below = [1 / step for step in reversed(STEPS)]
    above = [step for step in STEPS if step < most]
    return [*below, 1.0, *above, *([most] if 1 < most < FURTHEST else [])]
