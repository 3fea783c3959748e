"""Who does which job: in order of merit, machines that one holds first where their running is the cheaper."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import permutations

import numpy as np

from sweetspot.mixes.problem import NEVER, Array, Counts, Held, Problem, Rented, finite


@dataclass(frozen=True)
class Done:
    """Jobs of a problem by who does them, with `counts` machines of each kind held. `held`: class x kind x draw x
    month; `rented` (on offers by `Problem.share_of`) and `undone`: class x draw x month; `usd`: of a month by draw, the
    mean of the months, possession included (infinite where more than ALLOWED of the jobs of a class are not done);
    `running`: of it the part for use, draw x month.
    """

    problem: Problem
    counts: Counts
    held: Array
    rented: Array
    undone: Array
    usd: Array
    running: Array

    @cached_property
    def sources(self) -> dict[str, Held | Rented]:
        """All kinds held, and the offers that do something."""
        offers = [self.problem.rented[number] for number in self.problem.used]
        return {one.name: one for one in self.problem.held} | {one.name: one for one in offers}

    def jobs(self, name: str) -> Array:
        """The jobs that a source does, class x draw x month."""
        for place, kind in enumerate(self.problem.held):
            if kind.name == name:
                return self.held[:, place]
        number = next((number for number, one in enumerate(self.problem.rented) if one.name == name), -1)
        return self.problem.share_of(number)[:, :, None] * self.rented if number >= 0 else np.zeros(self.rented.shape)

    def device_hours(self, name: str) -> Array:
        """Device-hours of a month on a source, draw x month."""
        return np.asarray(np.einsum("jdt,jd->dt", self.jobs(name), finite(self.sources[name].device_hours)))

    def usd_by_use(self, name: str) -> float:
        """USD of a month's work on a source, possession aside: the mean of the draws."""
        source = self.sources[name]
        if not isinstance(source, Rented):
            return float(np.einsum("jdt,jd->dt", self.jobs(name), finite(source.usd)).mean())
        places = {one.name: number for number, one in enumerate(self.problem.rented)}
        usd = self.problem.share_of(places[name]) * finite(source.usd)
        if source.stays:
            return float((self._rented_in_all_months * usd).sum()) / self.running.size
        return float((np.einsum("jdt,jd->dt", self.rented, usd) * source.path).mean())

    @cached_property
    def _rented_in_all_months(self) -> Array:
        """Jobs rented over all months, class x draw."""
        return self.rented.sum(axis=2)

    @cached_property
    def lead(self) -> str:
        """The offer by the hour that most is paid to; empty where nothing is rented."""
        usd = {name: self.usd_by_use(name) for name, one in self.sources.items() if isinstance(one, Rented)}
        most = max(usd, key=lambda name: usd[name], default="")
        return most if most and self.device_hours(most).sum() > 0 else ""

    def share(self, name: str) -> float:
        """Of what is rented the share of USD that is paid to an offer."""
        usd = {each: self.usd_by_use(each) for each, one in self.sources.items() if isinstance(one, Rented)}
        return usd.get(name, 0.0) / (sum(usd.values()) or 1.0)


MOST_ORDERED = 3  # kinds of which all orders are tried; of more the order of merit and its turns
SLIGHT = 1e-9  # of a job, and of its worth: decides between jobs of the same
ALIKE = 1e-9  # share by which what is in proportion may differ
ALLOWED = 0.01  # of the jobs of a class may wait for a quieter month, where nothing can be rented for them


def dispatch_once(problem: Problem, counts: Counts) -> Done:
    """`dispatch`, made once for a problem that is small enough to keep what was found."""
    if counts not in problem.dispatched:
        problem.dispatched[counts] = dispatch(problem, counts)
    found: Done = problem.dispatched[counts]
    return found


def dispatch(problem: Problem, counts: Sequence[int]) -> Done:
    """The jobs of each month on `counts` machines of each kind held, and on what is rented. Kinds are filled one after
    another, each with the jobs that are worth most by its hour, as long as they are worth something, of equal ones
    first those that fewer kinds can do; the rest is rented where a job is expected to be the cheapest. A job is worth
    what it costs elsewhere less its running there.

    All of this is decided on what is expected when it is decided (`Problem.timed`): no draw has an order of its own
    because of what nobody could know. With one kind held, one class of jobs, or kinds whose speeds are in proportion no
    dispatch is cheaper at certain figures (a fractional knapsack, kinds in order of their running cost). Elsewhere the
    cheapest on average of several such orders is taken (`_ways`): docs/decision.md has how far that is from the linear
    programme.
    """
    rent = problem.rent
    fixed = np.zeros(problem.jobs.shape[1])
    for kind, count in zip(problem.held, counts, strict=True):
        fixed += count * kind.fixed
    done, left, running = _cheapest_of(problem, counts)
    usd = fixed + running.mean(axis=1) + problem.trial_usd
    can = np.isfinite(rent)
    rented = left if can.all() else np.where(can[:, :, None], left, 0.0)
    undone = left - rented
    if not can.all():
        waiting = undone.sum(axis=(1, 2)) > ALLOWED * problem.jobs.sum(axis=(1, 2))
        usd = usd + (NEVER if waiting.any() else 0.0)
    return Done(problem, tuple(counts), done, rented, undone, usd, running)


Filled = tuple[Array, Array, Array]  # jobs done (class x kind x draw x month), those left, USD of both (draw x month)


def _cheapest_of(problem: Problem, counts: Sequence[int]) -> Filled:
    """Of all ways to fill the kinds that are there the cheapest on average."""
    first = [place for place in problem.by_running if counts[place]]
    never = ~np.isfinite(problem.rent)[:, :, None]

    def undone(filled: Filled) -> float:
        return float(np.where(never, filled[1], 0.0).sum(axis=0).mean())

    best = _filled(problem, counts, first, False)
    for order, others in _ways(problem, first):
        found = _filled(problem, counts, order, others)
        # What nobody rents must not stay undone for being cheap: the least undone first.
        late, earlier = undone(found), undone(best)
        cheaper = float(found[2].mean()) < float(best[2].mean())
        if late < earlier - SLIGHT or (late < earlier + SLIGHT and cheaper):
            best = found
    return best


def _ways(problem: Problem, first: list[int]) -> Iterator[tuple[Sequence[int], bool]]:
    """Beside the order of merit (`first`) other orders in which kinds are filled, and whether a job's worth is held
    against the other kinds too, as if their hours were free, or against renting alone.
    """
    if len(first) < 2 or _in_proportion([problem.held[place] for place in first]):
        return
    few = len(first) <= MOST_ORDERED
    for order in permutations(first) if few else (first[n:] + first[:n] for n in range(len(first))):
        yield order, True
        if list(order) != first:
            yield order, False


def _in_proportion(kinds: Sequence[Held]) -> bool:
    """Whether each kind differs from the first by one factor for all classes, in hours and in what they cost. Classes
    that run on none of them do not count.
    """
    hours, usd = (np.stack([getattr(kind, name) for kind in kinds]) for name in ("hours", "usd"))
    some = np.isfinite(hours).any(axis=(0, 2))
    if not np.isfinite(hours[:, some]).all():
        return False
    for each in (hours[:, some], usd[:, some]):
        ours, theirs = each[0] * each[:, :1], each * each[0, :1]
        if (np.abs(ours - theirs) > ALIKE * theirs).any():
            return False
    return True


def _filled(problem: Problem, counts: Sequence[int], order: Sequence[int], others: bool) -> Filled:
    """The jobs done by the kinds in that order, those left, and what both cost in each draw and month."""
    left = problem.jobs.copy()
    done = np.zeros((len(problem.classes), len(problem.held), *left.shape[1:]))
    running = np.zeros(left.shape[1:])
    kinds = {place: problem.held[place] for place in order}
    room = {place: problem.filled * counts[place] * kind.room + running for place, kind in kinds.items()}
    foreseen = {place: kind.foreseen(problem.timed, problem.cost_factors) for place, kind in kinds.items()}
    # The more kinds can do a class, the less its jobs are worth on each.
    few = 1.0 - SLIGHT * sum(np.isfinite(hours) for hours, _ in foreseen.values())
    for beside in (True, False) if others else (False,):
        for place, kind in kinds.items():
            hours, usd = foreseen[place]
            rivals = [np.where(np.isfinite(other), cost, NEVER) for key, (other, cost) in foreseen.items()
                      if beside and key != place]  # fmt: skip
            elsewhere = reduce(np.minimum, rivals, problem.foreseen_rent)
            with np.errstate(invalid="ignore"):
                # Where it can run nowhere else a job is worth everything.
                worth = np.where(np.isfinite(hours), few * (elsewhere - usd) / hours, -NEVER)
            running += _fill(kind, worth, done[:, place], left, room[place])
    running += problem.rent_of(left)
    return done, left, running


def _fill(kind: Held, worth: Array, done: Array, left: Array, room: Array) -> Array:
    """Give one kind the jobs that are worth most by its hour; changes `done`, `left` and `room`, its hours (draw x
    month). Returns its USD, draw x month. `worth`: class x 1 where one order holds for all draws, else class x draw.
    """
    usd, draws = np.zeros(left.shape[1:]), np.arange(left.shape[1])
    for row in np.argsort(-worth, axis=0, kind="stable"):
        one_order = len(row) == 1
        good = np.atleast_1d(worth[row, np.arange(len(row))] > 0)
        if not good.any():
            break
        at = int(row[0]) if one_order else (row, draws)
        hours = np.where(good, kind.hours[at], 1.0)[:, None]
        jobs = np.where(good[:, None], np.minimum(left[at], room / hours), 0.0)
        left[at] -= jobs
        done[at] += jobs
        room -= np.minimum(room, jobs * hours)
        usd += jobs * np.where(good, kind.running[at], 0.0)[:, None]
    return usd
