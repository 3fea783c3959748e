"""How many machines to have: a small integer programme over a sample of months."""

from typing import Any

import numpy as np

from sweetspot.mixes.problem import Array, Problem

MOST = 10_000  # machines of a kind, far beyond any team's
DEAR = 1e3  # times the dearest job: what it costs in the programme that a job is not done


def numbers_to_have(problem: Problem) -> tuple[int, ...]:
    """Machines of each kind held, those that are there included, at the least expected cost over the problem's draws.

    A mixed-integer linear programme (HiGHS): numbers of machines are whole; in each draw and month the jobs of each
    class go to the kinds held, within their hours, and to the cheapest offer that can do them. Meant for a sample of
    tens of months; raises RuntimeError where the programme has no solution, which it always has.
    """
    from scipy.optimize import Bounds, milp

    kinds = len(problem.held)
    if not any(kind.for_sale for kind in problem.held):
        return problem.there
    rent, held = _costs(problem)
    classes, months = rent.shape
    cost = np.concatenate([[kind.fixed.mean() for kind in problem.held], held.ravel() / months, rent.ravel() / months])
    upper = [float(MOST if kind.for_sale else kind.there) for kind in problem.held]
    free = np.isfinite(held).ravel()
    bounds = Bounds(
        np.concatenate([problem.there, np.zeros(held.size + rent.size)]),
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
    shape = problem.jobs.shape[:2]
    usd = [offer.usd for offer in problem.rented]
    rent = np.min(usd, axis=0) if usd else np.full(shape, np.inf)
    held = np.stack([np.where(np.isfinite(kind.hours), kind.running, np.inf) for kind in problem.held])
    finite = [part[np.isfinite(part)] for part in (rent, held)]
    dearest = max((float(part.max()) for part in finite if part.size), default=1.0)
    dear = DEAR * max(dearest, max(float(kind.fixed.mean()) for kind in problem.held))
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
    capacity = np.stack([kind.capacity for kind in problem.held])
    machines = coo_array((-capacity.ravel(), (row.ravel(), np.repeat(np.arange(kinds), months))), (row.size, kinds))
    hours = np.stack([np.where(np.isfinite(kind.hours), kind.hours, 0.0) for kind in problem.held])
    rows = np.broadcast_to(row[:, None, :], hours.shape).ravel()
    used = coo_array((hours.ravel(), (rows, np.arange(hours.size))), (row.size, hours.size))
    room = hstack([machines, used, coo_array((row.size, block))])
    return [LinearConstraint(jobs.tocsr(), demand, demand), LinearConstraint(room.tocsr(), -np.inf, 0.0)]
