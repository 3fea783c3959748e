"""Who does which job: in order of merit, machines that one holds first where their running is the cheaper."""

from collections.abc import Sequence
from dataclasses import dataclass

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


SLIGHT = 1e-9  # of a job's worth: decides between jobs of the same
ALLOWED = 0.01  # of the jobs of a class may wait for a quieter month, where nothing can be rented for them


def dispatch(problem: Problem, counts: Sequence[int]) -> Done:
    """The jobs of each month on `counts` machines of each kind held, and on what is rented.

    A job is worth, on a machine that one holds, what renting for it costs less its running there. Kinds are filled in
    order of their running cost of a unit of work, each with the jobs that are worth most by its hour, as long as they
    are worth something, of equal ones first those that fewer kinds can do; the rest is rented where it is the
    cheapest. With one kind held, or with one class of jobs, no dispatch is cheaper (a fractional knapsack); tests hold
    it against the linear programme for the others.
    """
    rent, chosen = _cheapest(problem)
    able = [np.isfinite(kind.hours) for kind, count in zip(problem.held, counts, strict=True) if count]
    few = 1.0 - SLIGHT * np.sum(able, axis=0)
    left = problem.jobs.copy()
    done = np.zeros((len(problem.classes), len(problem.held), *problem.jobs.shape[1:]))
    fixed = np.zeros(problem.jobs.shape[1])
    running = np.zeros(problem.jobs.shape[1:])
    for place in _by_running(problem):
        kind, count = problem.held[place], counts[place]
        fixed += count * kind.fixed
        if count:
            running += _fill(done[:, place], left, kind.hours, kind.running, (rent, few), count * kind.capacity)
    can = np.isfinite(rent)
    rented = np.where(can[:, :, None], left, 0.0)
    undone = left - rented
    running += np.einsum("jdt,jd->dt", rented, np.where(can, rent, 0.0))
    usd = fixed + running.mean(axis=1)
    waiting = undone.sum(axis=(1, 2)) > ALLOWED * problem.jobs.sum(axis=(1, 2))
    return Done(done, rented, np.where(can, chosen, -1), undone, usd + (NEVER if waiting.any() else 0.0))


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
    done: Array, left: Array, hours: Array, running: Array, others: tuple[Array, Array | float], capacity: Array
) -> Array:
    """Give one kind the jobs worth most by its hour; changes `done` and `left`. Returns its USD, draw x month.

    `others`: USD of a job rented, and a factor that is the less the more kinds can do it.
    """
    rent, few = others
    with np.errstate(invalid="ignore"):
        worth = np.where(np.isfinite(hours), few * (rent - running) / hours, -NEVER)  # nowhere else: infinite
    order = np.argsort(-worth, axis=0, kind="stable")
    room = np.repeat(capacity[:, None], left.shape[2], axis=1)
    usd, draws = np.zeros(left.shape[1:]), np.arange(left.shape[1])
    for rank in range(len(order)):
        row = order[rank]
        good = worth[row, draws] > 0
        each = np.where(good, hours[row, draws], 1.0)[:, None]
        jobs = np.where(good[:, None], np.minimum(left[row, draws], room / each), 0.0)
        left[row, draws] -= jobs
        done[row, draws] += jobs
        room = np.maximum(room - jobs * each, 0.0)
        usd += jobs * np.where(good, running[row, draws], 0.0)[:, None]
    return usd
