"""From how much work, and at how many days of use, a machine that is owned pays in a plan of phases."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sweetspot.decision.lever_names import ALL_JOBS
from sweetspot.decision.mix_breakeven import in_words
from sweetspot.decision.phase_costs import Flags, PlanCosts
from sweetspot.decision.phase_levers import Curve, Lever
from sweetspot.decision.phase_turning import TurnedPlan
from sweetspot.decision.phases import drawn_costs
from sweetspot.decision.simulate import Draws, interval
from sweetspot.mixes.problem import Array
from sweetspot.mixes.turning import FURTHEST

STEPS = 4097  # factors looked at, from a fifth to five times
COARSE = 16  # in the draws every so many of them, and those between which machines are bought
DRAWN = 1000  # draws of the interval


Places = npt.NDArray[np.int64]


class Hired(NamedTuple):
    """What is rented and stays: USD by use and by the month; one row an option (`places` of the plan), one column a
    draw.
    """

    running: Array
    held: Array
    places: list[int]


def break_even_rows(one: TurnedPlan, options: pd.DataFrame, draws: Draws) -> Iterator[dict[str, Any]]:
    """A row (COLUMNS of `mix_breakeven`) for each machine that is owned, and quantity: all work of the plan, and its
    days of use a month where the number of machines follows.

    `pays_from`: the least at which it costs no more than what is cheapest to rent of what stays. Every further machine
    that more work needs is paid whole, so it may be the dearer again: `pays_until`. Where it pays as planned these are
    the ends of that stretch, else of the first one.
    """
    plan = one.plan
    rented = [place for place, row in enumerate(plan.rows) if plan.taken[place] and row["purchase"] != "own"]
    if not rented:
        return
    running, held = _drawn(plan, options, draws)
    central = Hired(plan.running[rented, None], plan.held[rented, None], rented)
    drawn = Hired(running[rented], held[rented], rented)
    for place, row in enumerate(plan.rows):
        if row["purchase"] != "own" or not plan.taken[place]:
            continue
        own = (
            Hired(plan.running[place, None], plan.held[place, None], [place]),
            Hired(running[place], held[place], [place]),
        )
        for lever in one.levers:
            work = lever.quantity == ALL_JOBS
            if work or (lever.quantity == "days_per_month" and lever.subject == row["option"]):
                cases = zip(own, (central, drawn), (1, COARSE), strict=True)
                (factor, until), (ends, _) = (_pays(plan, place, lever, *case) for case in cases)
                pays = float(np.mean(own[1].running + own[1].held <= (drawn.running + drawn.held).min(axis=0)))
                yield _row(plan, place, lever, (float(factor[0]), float(until[0])), ends, pays)


def _drawn(plan: PlanCosts, options: pd.DataFrame, draws: Draws) -> tuple[Array, Array]:
    rows = options.loc[[row["row"] for row in plan.rows]]
    running, held = drawn_costs(rows, plan.running, plan.held, draws)
    return running[:, :DRAWN], held[:, :DRAWN]


def _pays(plan: PlanCosts, place: int, lever: Lever, own: Hired, hired: Hired, each: int) -> tuple[Array, Array]:
    """Factors of the figure from which, and until which, the machine pays, in each draw: infinite where it pays at
    none, or at all up to the last; 0: from the least on. `each`: so many of STEPS are one step.
    """
    assert isinstance(lever.changed, Curve)
    factors = np.exp(np.linspace(-np.log(FURTHEST), np.log(min(FURTHEST, lever.most / lever.value)), STEPS))
    usd, boxes = lever.changed.at(place, factors)
    kept = np.arange(STEPS) % each == 0
    kept[np.abs(np.log(factors)).argmin()] = True
    kept[1:] |= boxes[1:] != boxes[:-1]
    kept[:-1] |= boxes[1:] != boxes[:-1]
    factors, usd, boxes = factors[kept], usd[kept], boxes[kept]
    work = factors if lever.quantity == ALL_JOBS else np.ones(factors.size)
    # More machines than the jobs fill do none of them: then the electricity is that of the hours worked.
    here = own.held[:, None] * boxes / plan.boxes[place] + own.running[:, None] * work
    here = np.where(np.isfinite(usd), here, np.inf)
    free = ~hired.held.any(axis=1)  # of what is paid by use alone the least is the least at every amount
    there = np.min(hired.running[free], axis=0, initial=np.inf)[:, None] * work
    for row in np.flatnonzero(~free):  # what works all hours of its term is signed once more for what is beyond them
        signed = hired.held[row, :, None] * _signed(plan, hired.places[row], lever, factors)
        there = np.minimum(there, signed + hired.running[row, :, None] * work)
    apart = here - there
    paid = apart <= 0
    first, last = _stretch(paid, int(np.abs(np.log(factors)).argmin()))
    found = factors[first]
    draw = np.arange(first.size)
    before = np.maximum(first - 1, 0)
    # With as many machines both are straight lines in the work, or stay; else it is where one more, or fewer, is taken.
    straight = (first > 0) & (boxes[before] == boxes[first]) & np.isfinite(apart[draw, before])
    with np.errstate(divide="ignore", invalid="ignore"):
        share = apart[draw, before] / (apart[draw, before] - apart[draw, first])
        found = np.where(straight, factors[before] + share * (factors[first] - factors[before]), found)
    ever = paid.any(axis=1)
    until = np.where(ever & (last < factors.size - 1), factors[last], np.inf)
    return np.where(ever, np.where(first > 0, found, 0.0), np.inf), until


def _stretch(paid: Flags, planned: int) -> tuple[Places, Places]:
    """First and last place of the stretch that pays around what is planned, else of the first one, in each row."""
    place = np.arange(paid.shape[1])
    before = np.where(paid[:, : planned + 1], -1, place[: planned + 1]).max(axis=1)  # the last that does not pay
    first = np.where(paid[:, planned], before + 1, paid.argmax(axis=1))
    ends = ~paid & (place > first[:, None])
    return first, np.where(ends.any(axis=1), ends.argmax(axis=1) - 1, place[-1])


def _signed(plan: PlanCosts, place: int, lever: Lever, factors: Array) -> Array:
    """How many times its contracts as planned an option takes; infinite where no number of them is enough."""
    changed = lever.changed
    if not isinstance(changed, Curve) or place not in changed.places:
        return np.ones(factors.size)
    usd, boxes = changed.at(place, factors)
    return np.where(np.isfinite(usd), boxes / plan.boxes[place], np.inf)


def _row(
    plan: PlanCosts, place: int, lever: Lever, central: tuple[float, float], drawn: Array, pays: float
) -> dict[str, Any]:
    work, jobs = lever.quantity == ALL_JOBS, len(plan.parts) == 1
    unit = ("jobs" if jobs else "hours of work") if work else lever.unit
    planned = float(plan.parts[0].jobs if jobs else plan.work_hours) if work else lever.value
    factor, until = central
    low, high = (float(end) for end in interval(drawn))
    ends = {"pays_from": factor, "pays_from_low": low, "pays_from_high": high, "pays_until": until}
    title = str(plan.rows[place]["title"])
    return {
        "workload": plan.name,
        "option": plan.rows[place]["option"],
        "title": title,
        "quantity": lever.quantity,
        "subject": lever.subject or None,
        "assumption": "the work of the plan" if work else lever.name,
        "unit": unit,
        "planned": planned,
        **{name: end * planned if np.isfinite(end) else np.nan for name, end in ends.items()},
        "factor": factor if np.isfinite(factor) else np.nan,
        "p_pays": pays,
        "text": in_words(title, factor * planned, planned, unit, most=lever.most, until=until * planned),
    }
