"""How many machines to have: the best mix of a problem, and the pure options that it is held against."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sweetspot.mixes.dispatch import SLIGHT, Done, dispatch
from sweetspot.mixes.problem import Array, Counts, Problem, finite
from sweetspot.mixes.timing import MINIMUM_SAVING

MOST = 10_000  # machines of a kind, far beyond any team's
DEAR = 1e3  # times the dearest job: what it costs in the programme that a job is not done
TINY = 1e-9  # hours of a month
TRIED = 24  # machines of a kind that are looked at where limits are to be kept
SAMPLE = 60  # months of the sample that the integer programme decides on
BEST, THERE, BOUGHT, RENTED, SOLD = "best", "there", "bought", "rented", "sold"


def numbers_to_have(problem: Problem) -> Counts:
    """Machines of each kind held, those that are there included, at the least expected cost over the problem's draws. A
    mixed-integer linear programme (HiGHS): numbers of machines are whole; in each draw and month the jobs of each class
    go to the kinds held, within their hours, and to the cheapest offer that can do them. Meant for a sample of tens of
    months; raises RuntimeError where the programme has no solution, which it always has.
    """
    from scipy.optimize import Bounds, milp

    kinds = len(problem.held)
    if not problem.movable:
        return problem.there
    rent, held = _costs(problem)
    classes, months = rent.shape
    cost = np.concatenate([[kind.fixed.mean() for kind in problem.held], held.ravel() / months, rent.ravel() / months])
    upper = [float(MOST if kind.for_sale else kind.there) for kind in problem.held]
    free = np.isfinite(held).ravel()
    bounds = Bounds(
        np.concatenate([problem.least, np.zeros(held.size + rent.size)]),
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
    rent, held = problem.rent, np.stack([kind.usd for kind in problem.held])
    fixed = np.array([kind.fixed.mean() for kind in problem.held])
    dear = DEAR * max([1.0, *(float(part[np.isfinite(part)].max(initial=0.0)) for part in (rent, held, fixed))])
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
    capacity = np.stack([kind.room[:, 0] for kind in problem.held])
    machines = coo_array((-capacity.ravel(), (row.ravel(), np.repeat(np.arange(kinds), months))), (row.size, kinds))
    hours = np.stack([finite(kind.hours) for kind in problem.held])
    rows = np.broadcast_to(row[:, None, :], hours.shape).ravel()
    used = coo_array((hours.ravel(), (rows, np.arange(hours.size))), (row.size, hours.size))
    room = hstack([machines, used, coo_array((row.size, block))])
    return [LinearConstraint(jobs.tocsr(), demand, demand), LinearConstraint(room.tocsr(), -np.inf, 0.0)]


class Mix(NamedTuple):
    """One way to do the work. `kind`: best, there (nothing else), bought or rented (one source beside what is there;
    rented without a `source`: several), sold (what is there and can be); `done`: its dispatch on all draws; `filled`:
    as of a Problem; `fixed_usd`: expected USD a month with nothing timed first, where something is.
    """

    kind: str
    source: str
    done: Done
    filled: float = 1.0
    fixed_usd: float = np.nan

    @property
    def counts(self) -> Counts:
        """Machines of each kind held."""
        return self.done.counts

    @property
    def problem(self) -> Problem:
        """What it is a mix of, with the offers by the hour that it may use."""
        return self.done.problem

    @property
    def key(self) -> str:
        """Its key in all tables: best, there, or that of its source."""
        return self.kind if self.kind == BEST else self.source or self.kind

    @property
    def expected(self) -> float:
        """Expected USD a month."""
        return float(self.done.usd.mean())

    @property
    def one_offer(self) -> bool:
        """Whether all that it rents is rented on one offer, but for what that cannot do."""
        return self.kind == RENTED and bool(self.source)

    @property
    def bought(self) -> dict[str, int]:
        """How many machines of each kind are bought or committed to."""
        held = zip(self.problem.held, self.counts, strict=True)
        return {kind.name: count - kind.there for kind, count in held if count > kind.there}

    @property
    def sold(self) -> dict[str, int]:
        """How many machines of each kind that is there are sold."""
        held = zip(self.problem.held, self.counts, strict=True)
        return {kind.name: kind.there - count for kind, count in held if count < kind.there}

    def at(self, problem: Problem) -> Done:
        """Its dispatch on other figures of the same sources."""
        allowed = _allowed(problem, self.kind, self.source)
        return dispatch(replace(allowed, filled=self.filled, timed=self.problem.timed), self.counts)

    @property
    def timed(self) -> frozenset[str]:
        """The speeds that are timed first, by their key; none: each class is given a machine at once."""
        return self.problem.timed

    @property
    def saving(self) -> float:
        """Expected USD a month that timing first saves, trials paid, of the best with nothing timed."""
        return self.fixed_usd - self.expected if self.timed else 0.0

    def renting_sooner(self, filled: float) -> "Mix":
        """The same machines, filled no further than that."""
        return self._replace(filled=filled, done=dispatch(replace(self.problem, filled=filled), self.counts))


def _allowed(problem: Problem, kind: str, source: str) -> Problem:
    return replace(problem, rented=()) if kind == THERE else problem.only(source)


def mixes(
    problem: Problem, keeps: Callable[[Mix], bool] | None = None, eased: Callable[[Mix], Mix] = lambda one: one
) -> list[Mix]:
    """The best mix first, then each pure option, the cheapest first; infinite ones last. Of one machine there are as
    many as cost the least, one at least; where the best buys or sells, renting on several offers is an option, too,
    where that is cheaper than on any one. The best `keeps` what is asked of it, where any found does; `eased`: each way
    with what it rents sooner to keep it. The programme decides on SAMPLE
    months spread over the draws; the mix that it finds, its neighbours of one machine more or less and the pure options
    are then dispatched on all draws, and the one of least expected cost is the best: no pure option is ever cheaper.
    Each way takes the strategy that costs less: each class is given a machine at once, or some machines are timed
    first.
    """
    pure = sorted(map(eased, _pure(problem)), key=lambda one: one.expected)
    starts = [problem.there, *(one.counts for one in pure)]
    if keeps is not None:  # what keeps a limit may lie beyond what breaks it: every number up to twice what does all
        ends = [(place, one.counts) for one in pure for place in problem.for_sale if one.counts[place]]
        numbers = ((place, counts, n) for place, counts in ends for n in range(1, min(TRIED, 2 * counts[place]) + 1))
        starts += [(*counts[:place], n, *counts[place + 1 :]) for place, counts, n in numbers]
    if len(problem.movable) > 1:  # of one kind the cost is convex: steps find the least
        draws, months = problem.jobs.shape[1:]
        places = spread_over(draws, SAMPLE)
        starts.append(numbers_to_have(problem.draws(places, np.arange(len(places)) % months)))
    mixes_by_number = _MixesByNumber(problem, keeps, eased)
    best = mixes_by_number.cheapest(starts, problem.movable)
    pure = [mixes_by_number.as_many_as_pay(one) for one in pure]
    fixed = min((one for one in (best, *pure) if keeps is None or keeps(one)), key=_expected, default=best)
    timings = timings_worth(problem, (fixed.counts, problem.there))
    pure = sorted((with_strategy(one, timings, keeps, eased) for one in pure), key=_expected)
    rented = with_strategy(mixes_by_number.mix(problem.there)._replace(kind=RENTED), timings, keeps, eased)
    first = _with_timings(problem, fixed, timings, pure, problem.movable, keeps, eased)
    singles = min((one.expected for one in pure if one.one_offer), default=0.0)
    if first.counts != problem.there and rented.expected < singles * (1.0 - SLIGHT):
        pure = sorted([rented, *pure], key=_expected)
    return [first._replace(kind=BEST, fixed_usd=fixed.expected), *pure]


def best_mix(
    problem: Problem,
    starts: Sequence[Counts],
    kinds: Sequence[int],
    keeps: Callable[[Mix], bool] | None = None,
    eased: Callable[[Mix], Mix] = lambda one: one,
) -> Mix:
    """The best mix of `mixes`, where it is known which kinds of machines are worth a look.

    Parameters
    ----------
    problem
        All samples of the work.
    starts
        Numbers of machines, of the cheapest of which steps of one machine are taken.
    kinds
        Places of the kinds held of which more or fewer are looked at.
    keeps, eased
        As of `mixes`.

    Returns
    -------
    Mix
        The cheapest found, with the strategy that costs less.

    """
    fixed = _MixesByNumber(problem, keeps, eased).cheapest(starts, kinds)
    timings = timings_worth(problem, dict.fromkeys((fixed.counts, problem.there)))
    return _with_timings(problem, fixed, timings, [], kinds, keeps, eased)._replace(kind=BEST)


def _with_timings(
    problem: Problem,
    fixed: Mix,
    timings: Sequence[frozenset[str]],
    others: Iterable[Mix],
    kinds: Sequence[int],
    keeps: Callable[[Mix], bool] | None,
    eased: Callable[[Mix], Mix],
) -> Mix:
    """The cheapest of the best mix without timings (`fixed`), the `others`, and the best mix with each of `timings`."""
    ways = [with_strategy(fixed, timings, keeps, eased), *others]
    for keys in timings:
        timed = _MixesByNumber(replace(problem, timed=keys), keeps, eased)
        ways.append(timed.cheapest([fixed.counts, problem.there], kinds))
    first = min((one for one in ways if keeps is None or keeps(one)), key=_expected, default=fixed)
    return fixed if first.timed and not first.expected < fixed.expected * (1.0 - MINIMUM_SAVING) else first


def _expected(mix: Mix) -> float:
    return mix.expected


class _MixesByNumber:
    """The mixes of a problem by their numbers of machines, each dispatched once."""

    def __init__(self, problem: Problem, keeps: Callable[[Mix], bool] | None, eased: Callable[[Mix], Mix]) -> None:
        self.problem, self.keeps, self.eased = problem, keeps, eased
        self.useful = most_useful(problem)
        self._known = dict[Counts, Mix]()

    def mix(self, counts: Counts) -> Mix:
        """So many machines, and whatever is cheapest beside them."""
        if counts not in self._known:
            self._known[counts] = self.eased(Mix(BEST, "", dispatch(self.problem, counts)))
        return self._known[counts]

    def usd(self, counts: Counts) -> float:
        """Expected USD a month; infinite where the mix does not keep what is asked of it."""
        mix = self.mix(counts)
        return mix.expected if self.keeps is None or self.keeps(mix) else np.inf

    def cheapest(self, starts: Sequence[Counts], kinds: Sequence[int]) -> Mix:
        """The mix of least expected cost that steps of one machine of some kinds lead to from the cheapest start."""
        start = min(starts, key=self.usd)
        return self.mix(climb(start, self.usd, kinds, self.problem.least, self.useful))

    def as_many_as_pay(self, one: Mix) -> Mix:
        """A purchase of one kind with as many machines of it as cost the least, one at least; another as it is."""
        if one.kind != BOUGHT:
            return one
        there = self.problem.there
        place = next(place for place, kind in enumerate(self.problem.held) if kind.name == one.source)
        least = (*there[:place], there[place] + 1, *there[place + 1 :])
        counts = climb(one.counts, self.usd, [place], least, tuple(map(max, self.useful, one.counts)))
        return self.mix(counts)._replace(kind=BOUGHT, source=one.source) if self.usd(counts) < np.inf else one


def timings_worth(problem: Problem, several: Iterable[Counts]) -> list[frozenset[str]]:
    """The speeds that are worth timing first with each of several numbers of machines (`select_speeds_to_time`)."""
    found = (problem.speeds_to_time(dispatch(problem, counts).rented.mean(axis=(1, 2))) for counts in several)
    return [keys for keys in dict.fromkeys(found) if keys]


def with_strategy(
    mix: Mix,
    timings: Iterable[frozenset[str]],
    keeps: Callable[[Mix], bool] | None,
    eased: Callable[[Mix], Mix],
) -> Mix:
    """A mix with one of `timings` first, where that saves MINIMUM_SAVING, the cheapest of them; else as it is. Where
    all is on one offer nothing is timed.
    """
    if mix.one_offer:
        return mix
    problems = (replace(mix.problem, timed=keys, filled=1.0) for keys in timings)
    found = [eased(Mix(mix.kind, mix.source, dispatch(problem, mix.counts), 1.0, mix.expected)) for problem in problems]
    best = min(found, key=lambda one: one.expected, default=mix)
    better = best.expected < mix.expected * (1.0 - MINIMUM_SAVING) and (keeps is None or keeps(best))
    return best if better else mix


def spread_over(every: int, some: int) -> npt.NDArray[np.int_]:
    """At most `some` of so many places, from the first to the last."""
    return np.unique(np.linspace(0, every - 1, some).round().astype(int))


def climb(start: Counts, usd: Callable[[Counts], float], kinds: Sequence[int], least: Counts, most: Counts) -> Counts:
    """Numbers of machines of which none more or less of one of `kinds` is cheaper, from `start` on. The way that gains
    is gone on in steps twice as long each time; between `least` and `most` of each kind. Where the start does not do
    the work, from the most of all kinds on, if these do.
    """
    full = tuple(most[place] if place in kinds else count for place, count in enumerate(start))
    best = full if usd(start) == np.inf > usd(full) else start
    while True:
        moves = [(place, step) for place in kinds for step in (-1, 1)]
        near = [(*move, counts) for move in moves if (counts := moved(best, *move, least, most)) is not None]
        found = min(near, key=lambda one: usd(one[2]), default=None)
        if found is None or not usd(found[2]) < usd(best):
            return best
        place, step, best = found
        while (further := moved(best, place, step := 2 * step, least, most)) and usd(further) < usd(best):
            best = further


def moved(counts: Counts, place: int, step: int, least: Counts, most: Counts) -> Counts | None:
    """So many machines of a kind more; None beyond the bounds."""
    number = counts[place] + step
    return (*counts[:place], number, *counts[place + 1 :]) if least[place] <= number <= most[place] else None


def most_useful(problem: Problem) -> Counts:
    """Machines of each kind that do all that it can do of the busiest month: more would stand idle."""
    busiest = problem.jobs.max(axis=(1, 2))
    found = []
    for kind in problem.held:
        hours = float((busiest[:, None] * finite(kind.hours)).sum(axis=0).max())
        needed = int(np.ceil(hours / max(float(kind.capacity.min()), TINY)))
        found.append(max(kind.there, min(MOST, needed)) if kind.for_sale else kind.there)
    return tuple(found)


def _pure(problem: Problem) -> Iterator[Mix]:
    """What is there and one source beside it: as many of one machine as the work takes, or one offer by the hour; and
    nothing of what can be sold. What a source cannot do (memory, deadline, no speed) others do for it, at their least
    cost, and so they do what a month has beyond the machines bought.
    """
    found = [(THERE, "", problem.there)] if any(problem.there) else []
    for place in problem.for_sale:
        box = problem.held[place]
        if np.isfinite(box.hours).any():
            more = max(machines_for(problem, place), box.there + 1)  # one where what is there does all: it is on offer
            found.append((BOUGHT, box.name, (*problem.there[:place], more, *problem.there[place + 1 :])))
    found += [(RENTED, one.name, problem.there) for one in problem.rented if np.isfinite(one.usd).any()]
    if problem.least != problem.there:
        found.append((SOLD, "", problem.least))
    for kind, source, counts in found:
        yield Mix(kind, source, dispatch(_allowed(problem, kind, source), counts))


def machines_for(problem: Problem, place: int) -> int:
    """How many of a kind do, beside what is there, all that it can do of the mean month; 0 where it can do nothing."""
    kind, left = problem.held[place], problem.jobs.mean(axis=2)
    for other in (one for one in problem.held if one.there):
        # Machines that are there take of all classes alike.
        needed = (left * finite(other.hours)).sum(axis=0)
        share = np.divide(other.there * other.capacity, needed, out=np.zeros_like(needed), where=needed > 0)
        left = np.where(np.isfinite(other.hours), left * (1.0 - np.minimum(1.0, share)), left)
    hours = float((left * finite(kind.hours)).sum(axis=0).mean())
    return kind.there + int(np.ceil(hours / kind.capacity.mean() - 1e-9))
