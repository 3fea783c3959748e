"""From how much work, and at how many days of use, a machine that is owned pays in a plan of phases."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.lever_names import ALL_JOBS
from sweetspot.decision.mix_breakeven import in_words
from sweetspot.decision.phase_costs import PlanCosts
from sweetspot.decision.phase_levers import Curve, Lever
from sweetspot.decision.phase_turning import TurnedPlan
from sweetspot.decision.phases import drawn_costs
from sweetspot.decision.simulate import Draws, interval
from sweetspot.mixes.problem import Array
from sweetspot.mixes.turning import FURTHEST

STEPS, COARSE = 4097, 257  # factors looked at, from a fifth to five times: at central figures, in the draws
DRAWN = 1000  # draws of the interval


class Hired(NamedTuple):
    """What is rented and stays: USD by use and by the month; one row an option, one column a draw."""

    running: Array
    held: Array


def break_even_rows(one: TurnedPlan, options: pd.DataFrame, draws: Draws) -> Iterator[dict[str, Any]]:
    """A row (COLUMNS of `mix_breakeven`) for each machine that is owned, and quantity: all work of the plan, and its
    days of use a month where the number of machines follows.

    `pays_from`: the least at which it costs no more than what is cheapest to rent of what stays. Every further machine
    that more work needs is paid whole: beyond what the first ones can do it may be the dearer again for a stretch.
    """
    plan = one.plan
    rented = [place for place, row in enumerate(plan.rows) if plan.taken[place] and row["purchase"] != "own"]
    if not rented:
        return
    costs = _drawn(plan, options, draws)
    central = Hired(plan.running[rented, None], plan.held[rented, None])
    drawn = Hired(*(part[rented] for part in costs))
    for place, row in enumerate(plan.rows):
        if row["purchase"] != "own" or not plan.taken[place]:
            continue
        own = Hired(plan.running[place, None], plan.held[place, None]), Hired(*(part[place] for part in costs))
        for lever in one.levers:
            work = lever.quantity == ALL_JOBS
            if work or (lever.quantity == "days_per_month" and lever.subject == row["option"]):
                cases = zip(own, (central, drawn), (STEPS, COARSE), strict=True)
                ends = [_pays(plan, place, lever, *case) for case in cases]
                pays = float(np.mean(own[1].running + own[1].held <= (drawn.running + drawn.held).min(axis=0)))
                yield _row(plan, place, lever, ends[0], ends[1], pays)


def _drawn(plan: PlanCosts, options: pd.DataFrame, draws: Draws) -> tuple[Array, Array]:
    rows = options.loc[[row["row"] for row in plan.rows]]
    running, held = drawn_costs(rows, plan.running, plan.held, draws)
    return running[:, :DRAWN], held[:, :DRAWN]


def _pays(plan: PlanCosts, place: int, lever: Lever, own: Hired, hired: Hired, steps: int) -> Array:
    """The least factor of the figure at which the machine pays, in each draw; infinite: at none, 0: at the least."""
    assert isinstance(lever.changed, Curve)
    factors = np.exp(np.linspace(-np.log(FURTHEST), np.log(min(FURTHEST, lever.most / lever.value)), steps))
    usd, boxes = lever.changed.at(place, factors)
    work = factors if lever.quantity == ALL_JOBS else np.ones(factors.size)
    # More machines than the jobs fill do none of them: then the electricity is that of the hours worked.
    here = own.held[:, None] * boxes / plan.boxes[place] + own.running[:, None] * work
    here = np.where(np.isfinite(usd), here, np.inf)
    free = ~hired.held.any(axis=1)  # of what is paid by use alone the least is the least at every amount
    there = np.min(hired.running[free], axis=0, initial=np.inf)[:, None] * work
    for running, held in zip(hired.running[~free], hired.held[~free], strict=True):
        there = np.minimum(there, held[:, None] + running[:, None] * work)
    apart = here - there
    paid = apart <= 0
    first = paid.argmax(axis=1)
    found = factors[first]
    draw = np.arange(first.size)
    before = np.maximum(first - 1, 0)
    # With as many machines both are straight lines in the work, or stay; else it is where one more, or fewer, is taken.
    straight = (first > 0) & (boxes[before] == boxes[first]) & np.isfinite(apart[draw, before])
    with np.errstate(divide="ignore", invalid="ignore"):
        share = apart[draw, before] / (apart[draw, before] - apart[draw, first])
        found = np.where(straight, factors[before] + share * (factors[first] - factors[before]), found)
    return np.where(paid.any(axis=1), np.where(first > 0, found, 0.0), np.inf)


def _row(plan: PlanCosts, place: int, lever: Lever, central: Array, drawn: Array, pays: float) -> dict[str, Any]:
    work, jobs = lever.quantity == ALL_JOBS, len(plan.parts) == 1
    unit = ("jobs" if jobs else "hours of work") if work else lever.unit
    planned = float(plan.parts[0].jobs if jobs else plan.work_hours) if work else lever.value
    factor = float(central[0])
    low, high = (float(end) for end in interval(drawn))
    ends = {"pays_from": factor, "pays_from_low": low, "pays_from_high": high}
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
        "text": in_words(title, factor * planned, planned, unit, most=lever.most),
    }
