"""Where each figure turns a plan of phases, and what it does to its margin from low to high."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sweetspot.decision.counted import Money
from sweetspot.decision.phase_costs import Flags, PlanCosts
from sweetspot.decision.phase_levers import Lever, Line, Sums, levers, moved
from sweetspot.decision.plan_rows import (
    End,
    Plan,
    Turned,
    nearest_first,
    tornado_row,
    turning_row,
    widest_first,
)
from sweetspot.mixes.problem import Array
from sweetspot.mixes.turning import FURTHEST

GRID = 128  # steps of a factor up to FURTHEST in which a curve's turning point is looked for
ZOOMS = 3  # times that the step found is divided again: 1e-6 of a factor
EQUAL = 1e-9  # of a cost: what costs the same


class Crossing(NamedTuple):
    """The factor from which another alternative is the cheapest, and which option that is."""

    factor: float
    to: int


class TurnedPlan(NamedTuple):
    """A plan with its figures that can be moved, and where each turns it."""

    plan: PlanCosts
    levers: list[Lever]
    crossings: list[list[Crossing]]


def turn_plan(plan: PlanCosts, month_days: float) -> TurnedPlan:
    """Where each figure turns a plan."""
    found = levers(plan, month_days)
    return TurnedPlan(plan, found, [list(_crossings(plan, lever)) for lever in found])


def _crossings(plan: PlanCosts, lever: Lever) -> Iterator[Crossing]:
    most = lever.most / lever.value
    if isinstance(lever.changed, Line):
        sums = Sums(plan.rows, plan.running, plan.held, plan.taken, plan.alternatives)
        yield from line_crossings(sums, plan.ours, plan.others, lever.changed, most)
        return
    if not plan.others.any():
        return
    for end in (-np.log(FURTHEST), np.log(min(FURTHEST, most))):
        found = _curve_crossing(plan, lever, end) if end else None
        if found is not None:
            yield found


def line_crossings(sums: Sums, ours: Flags, others: Flags, line: Line, most: float) -> Iterator[Crossing]:
    """The nearest factor on either side at which the cheapest of `others` costs what the cheapest of `ours` does.

    With a price at a factor f an option costs a + b (f - 1): it is where two of these lines cross. Exact.
    """
    usd, part = sums.running + sums.held, line.part
    with np.errstate(divide="ignore", invalid="ignore"):
        at = 1.0 - (usd[others][:, None] - usd[ours]) / (part[others][:, None] - part[ours])
    factors = at[np.isfinite(at) & (at >= 1.0 / FURTHEST) & (at <= min(FURTHEST, most))]
    if not factors.size:
        return
    cost = usd[:, None] + part[:, None] * (factors - 1.0)
    here, there = cost[ours].min(axis=0), cost[others].min(axis=0)
    factors = factors[np.abs(here - there) <= EQUAL * usd.max()]
    for side in (factors[factors < 1], factors[factors > 1]):
        if side.size:
            factor = float(side[np.abs(np.log(side)).argmin()])
            cost = np.where(others, usd + part * (factor - 1.0), np.inf)
            yield Crossing(factor, int(cost.argmin()))


def _curve_crossing(plan: PlanCosts, lever: Lever, end: float) -> Crossing | None:
    """The first factor towards an end at which another alternative is cheaper, by ever finer steps."""
    inner, outer, to = 0.0, end, -1
    for _ in range(ZOOMS):
        logs = np.linspace(inner, outer, GRID + 1)
        usd, _ = moved(plan, lever, np.exp(logs[1:]))
        here, there = usd[plan.ours].min(axis=0), usd[plan.others].min(axis=0)
        turned = there < here
        if not turned.any():
            return None
        first = int(turned.argmax())
        inner, outer = float(logs[first]), float(logs[first + 1])
        to = int(np.where(plan.others, usd[:, first], np.inf).argmin())
    return Crossing(float(np.exp(outer)), to)


def plan_of(plan: PlanCosts) -> Plan:
    """A plan as its rows name it."""
    return Plan(plan.name, plan.months, plan.title(plan.best, float(plan.boxes[plan.best])), "cheapest option")


def turning_rows(one: TurnedPlan, money: Money) -> list[dict[str, Any]]:
    """Rows of TURNING, one a figure and side on which it turns the plan within a factor of 5, the nearest first."""
    plan, about = one.plan, plan_of(one.plan)
    rows = []
    for lever, found in zip(one.levers, one.crossings, strict=True):
        for turn in found:
            usd, boxes = (column[turn.to, 0] for column in moved(plan, lever, np.array([turn.factor])))
            bought = plan.rows[turn.to]["purchase"] == "own"
            rented = "" if bought else str(plan.rows[turn.to]["option"])
            to = Turned(turn.factor, plan.title(turn.to, boxes), int(boxes) if bought else 0, rented, float(usd))
            rows.append(turning_row(about, lever, to, money))
    return nearest_first(rows)


def tornado_rows(one: TurnedPlan, money: Money) -> list[dict[str, Any]]:
    """Rows of TORNADO, the widest swing first: the margin is the cheapest other alternative's USD / the best's."""
    plan, about = one.plan, plan_of(one.plan)
    if plan.rival is None:
        return []
    rival = plan.rows[plan.rival]["option"], plan.title(plan.rival, float(plan.boxes[plan.rival]))
    best = float(plan.usd[plan.best])
    planned = End(best, float(plan.usd[plan.rival]) / best, about.best_title, turned=False)
    rows = []
    for lever, found in zip(one.levers, one.crossings, strict=True):
        ends = _ends(plan, lever)
        rows.append(tornado_row(about, lever, rival, planned, ends, [turn.factor for turn in found], money))
    return widest_first(rows)


def _ends(plan: PlanCosts, lever: Lever) -> tuple[End, End]:
    usd, boxes = moved(plan, lever, np.array([lever.low, lever.high]) / lever.value)
    here, there = usd[plan.ours].min(axis=0), usd[plan.others].min(axis=0)
    best: Array = np.where(plan.taken[:, None], usd, np.inf).argmin(axis=0)
    low, high = (
        End(float(here[end]), float(there[end] / here[end]), plan.title(best[end], boxes[best[end], end]),
            bool(there[end] < here[end]))
        for end in (0, 1)
    )  # fmt: skip
    return low, high


def nearest_of(one: TurnedPlan, lever: Lever) -> float:
    """The nearest turning point of a lever, a value; NaN where it has none."""
    return nearest_value(lever, one.crossings[one.levers.index(lever)])


def nearest_value(lever: Lever, found: Sequence[Crossing]) -> float:
    """The value of the nearest crossing; NaN where there is none."""
    return min((turn.factor for turn in found), key=lambda factor: abs(np.log(factor)), default=np.nan) * lever.value
