"""Who does which job: in order of merit, machines that one holds first where their running is the cheaper."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from sweetspot.mixes.problem import NEVER, Array, Problem


@dataclass(frozen=True)
class Done:
    """Jobs by who does them. `held`: class x kind x draw x month; `rented`: class x draw x month, on the offer
    `chosen` (class x draw, -1: none can); `undone`: class x draw x month; `usd`: of a month by draw, the mean of the
    months, possession included (infinite where more than ALLOWED of the jobs of a class are not done).
    """

    held: Array
    rented: Array
    chosen: npt.NDArray[np.int_]
    undone: Array
    usd: Array


MOST_ORDERED = 3  # kinds of which all orders are tried; of more the order of merit and its turns
SLIGHT = 1e-9  # of a job, and of its worth: decides between jobs of the same
ALLOWED = 0.01  # of the jobs of a class may wait for a quieter month, where nothing can be rented for them


def dispatch(problem: Problem, counts: Sequence[int]) -> Done:
    """The jobs of each month on `counts` machines of each kind held, and on what is rented.

    Kinds are filled one after another, each with the jobs that are worth most by its hour, as long as they are worth
    something, of equal ones first those that fewer kinds can do; the rest is rented where a job is the cheapest. A job
    is worth what it costs elsewhere less its running there. With one kind held, one class of jobs, or kinds whose
    speeds are in proportion no dispatch is cheaper (a fractional knapsack, kinds in order of their running cost).
    Elsewhere each draw and month takes the cheapest of several such dispatches (`_ways`): docs/decision.md has how far
    that is from the linear programme.
    """
    rent, chosen = _cheapest(problem)
    fixed = np.zeros(problem.jobs.shape[1])
    for kind, count in zip(problem.held, counts, strict=True):
        fixed += count * kind.fixed
    done, left, running = _cheapest_of(problem, counts, rent)
    can = np.isfinite(rent)
    rented = np.where(can[:, :, None], left, 0.0)
    undone = left - rented
    usd = fixed + running.mean(axis=1)
    waiting = undone.sum(axis=(1, 2)) > ALLOWED * problem.jobs.sum(axis=(1, 2))
    return Done(done, rented, np.where(can, chosen, -1), undone, usd + (NEVER if waiting.any() else 0.0))


def _cheapest_of(problem: Problem, counts: Sequence[int], rent: Array) -> tuple[Array, Array, Array]:
    """Of all `_ways` the cheapest in each draw and month: jobs done (class x kind x draw x month), left, USD."""
    best: tuple[Array, Array, Array] | None = None
    for order, others in _ways(problem, counts):
        found = _filled(problem, counts, rent, order, others)
        if best is None:
            best = found
            continue
        # What nobody rents must not stay undone for being cheap: the least undone first.
        never = ~np.isfinite(rent)[:, :, None]
        late, earlier = (np.where(never, way[1], 0.0).sum(axis=0) for way in (found, best))
        better = (late < earlier - SLIGHT) | ((late < earlier + SLIGHT) & (found[2] < best[2]))
        best = (
            np.where(better, found[0], best[0]),
            np.where(better, found[1], best[1]),
            np.where(better, found[2], best[2]),
        )
    assert best is not None
    return best


def _ways(problem: Problem, counts: Sequence[int]) -> Iterator[tuple[list[int], bool]]:
    """Orders in which the kinds that are there are filled, and whether a job's worth is held against the other kinds
    too, as if their hours were free, or against renting alone.
    """
    first = [place for place in _by_running(problem) if counts[place]]
    yield first, False
    if len(first) < 2 or len(problem.classes) < 2 or _in_proportion(problem, first):
        return
    orders = permutations(first) if len(first) <= MOST_ORDERED else (first[n:] + first[:n] for n in range(len(first)))
    for order in orders:
        yield list(order), True
        if list(order) != first:
            yield list(order), False


def _in_proportion(problem: Problem, places: Sequence[int]) -> bool:
    """Whether each kind differs from the first by one factor for all classes, in hours and in what they cost.

    Classes that run on none of them do not count.
    """
    kinds = [problem.held[place] for place in places]
    runs = np.stack([np.isfinite(kind.hours) for kind in kinds])
    some = runs.any(axis=(0, 2))
    if not runs[:, some].all():
        return False
    for one in kinds[1:]:
        for mine, theirs in ((kinds[0].hours, one.hours), (kinds[0].running, one.running)):
            if not np.allclose(mine[some] * theirs[some][:1], theirs[some] * mine[some][:1], rtol=1e-9, atol=0.0):
                return False
    return True


def _filled(
    problem: Problem, counts: Sequence[int], rent: Array, order: Sequence[int], others: bool
) -> tuple[Array, Array, Array]:
    """The jobs done by the kinds in that order, those left, and what both cost in each draw and month."""
    left = problem.jobs.copy()
    done = np.zeros((len(problem.classes), len(problem.held), *problem.jobs.shape[1:]))
    running = np.zeros(problem.jobs.shape[1:])
    room = {
        place: np.repeat((counts[place] * problem.held[place].capacity)[:, None], left.shape[2], axis=1)
        for place in order
    }
    able = [np.isfinite(problem.held[place].hours) for place in order]
    few = 1.0 - SLIGHT * np.sum(able, axis=0)
    for beside in (True, False) if others else (False,):
        for place in order:
            kind, elsewhere = problem.held[place], rent
            for other in order if beside else ():
                if other != place:
                    runs = np.isfinite(problem.held[other].hours)
                    elsewhere = np.minimum(elsewhere, np.where(runs, problem.held[other].running, NEVER))
            running += _fill(done[:, place], left, kind.hours, kind.running, (elsewhere, few), room[place])
    running += np.einsum("jdt,jd->dt", left, np.where(np.isfinite(rent), rent, 0.0))
    return done, left, running


def _cheapest(problem: Problem) -> tuple[Array, npt.NDArray[np.int_]]:
    """USD of a job on the rented offer that does it for the least, and which that is; class x draw."""
    if not problem.rented:
        shape = problem.jobs.shape[:2]
        return np.full(shape, NEVER), np.full(shape, -1)
    usd = np.stack([offer.usd for offer in problem.rented])
    return usd.min(axis=0), usd.argmin(axis=0)


def _by_running(problem: Problem) -> list[int]:
    """Kinds by what a unit of work costs to run there, the cheapest first: over the least, mean over the classes."""
    if not problem.held:
        return []
    # What a class would pay where it cannot run says nothing of the kind.
    able = [np.where(np.isfinite(kind.hours), kind.running, NEVER).mean(axis=1) for kind in problem.held]
    running = np.stack(able)
    least = np.where(np.isfinite(running), running, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = least / np.nanmin(np.where(np.isnan(least), np.inf, least), axis=0)
    order = np.where(np.isnan(ratio), 0.0, ratio).sum(axis=1) / np.maximum(1, (~np.isnan(ratio)).sum(axis=1))
    return [int(place) for place in np.argsort(order, kind="stable")]


def _fill(
    done: Array, left: Array, hours: Array, running: Array, others: tuple[Array, Array | float], room: Array
) -> Array:
    """Give one kind the jobs worth most by its hour; changes `done`, `left` and `room`.

    Returns its USD, draw x month. `room`: its hours, draw x month; `others`: USD of a job elsewhere, and a factor that
    is the less the more kinds can do it.
    """
    rent, few = others
    with np.errstate(invalid="ignore"):
        worth = np.where(np.isfinite(hours), few * (rent - running) / hours, -NEVER)  # nowhere else: infinite
    order = np.argsort(-worth, axis=0, kind="stable")
    usd, draws = np.zeros(left.shape[1:]), np.arange(left.shape[1])
    for rank in range(len(order)):
        row = order[rank]
        good = worth[row, draws] > 0
        each = np.where(good, hours[row, draws], 1.0)[:, None]
        jobs = np.where(good[:, None], np.minimum(left[row, draws], room / each), 0.0)
        left[row, draws] -= jobs
        done[row, draws] += jobs
        room -= np.minimum(room, jobs * each)
        usd += jobs * np.where(good, running[row, draws], 0.0)[:, None]
    return usd
