"""Which assumption carries the plan of months: each from its low to its high, and where it turns the best mix."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.counted import DOLLARS, Money
from sweetspot.decision.lever_names import Known
from sweetspot.decision.mix_levers import Lever, levers, move
from sweetspot.decision.mix_problem import Posed
from sweetspot.decision.mix_tables import Worked, rivals_of
from sweetspot.decision.mix_words import Words, mix_title
from sweetspot.decision.plan_rows import (
    TORNADO,
    TURNING,
    End,
    Plan,
    nearest_first,
    tornado_row,
    turning_row,
    widest_first,
)
from sweetspot.decision.plan_rows import Turned as To
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import Problem
from sweetspot.mixes.search import BEST, RENTED, Mix
from sweetspot.mixes.turning import Choice, Plans, Turn, expected, most_rented, thinned, turns

NEXT = 3  # pure options that the margin is looked for among, beside the one whose figure is moved


class Turned(NamedTuple):
    """A plan with its figures that can be moved, and where each turns it; its pure options that are rivals, and by how
    much a quick look at each is off as planned.
    """

    worked: Worked
    plans: Plans
    known: Known
    levers: list[Lever]
    turns: list[list[Turn]]
    rivals: list[Mix]
    off: dict[str, float]


def turn_all(worked: Worked, known: Known, words: Words) -> Turned:
    """Where each figure of a plan turns it; nothing where no mix does the work."""
    posed, best = worked.posed, worked.mixes[0]
    rivals = rivals_of(worked)
    plans = Plans(posed.drawn, list(dict.fromkeys([best.counts, *(one.counts for one in rivals)])))
    found = levers(posed, words) if np.isfinite(best.expected) else []
    off = {one.source: one.expected - _quick(plans.thin, one) for one in rivals}
    return Turned(worked, plans, known, found, [_turns(plans, posed, one, known) for one in found], rivals, off)


def _quick(thin: Problem, pure: Mix) -> float:
    return expected(thin.only(pure.source) if pure.kind == RENTED else thin, pure.counts)


def _turns(plans: Plans, posed: Posed, lever: Lever, known: Known) -> list[Turn]:
    return turns(plans, move(posed, lever, known), lever.most / lever.value)


def turning_table(turned: Sequence[Turned], words: Words, money: Money = DOLLARS) -> pd.DataFrame:
    """One row a workload, assumption and side (TURNING) on which it turns the best mix within a factor of 5.

    What is turned: the machines bought or committed to; where there are none, who is rented most. `turning_value`: from
    there on `to_title` is the best mix, of `boxes` machines bought, `rented` the offer rented most (null where machines
    are bought); what varies is scaled with its range. `usd_per_month`: what both cost there, the mean of the draws. The
    nearest first.
    """
    rows = []
    for one in turned:
        plan = _plan(one, words)
        found = [
            turning_row(plan, lever, _turned(one, lever, turn, words), money)
            for lever, found in zip(one.levers, one.turns, strict=True)
            for turn in found
        ]
        rows += nearest_first(found)
    return pd.DataFrame(rows, columns=list(TURNING))


def _plan(one: Turned, words: Words) -> Plan:
    posed = one.worked.posed
    title = _title(posed, one.plans.base, one.plans.choice, words) if one.levers else ""
    return Plan(posed.name, posed.work.months, title)


def _turned(one: Turned, lever: Lever, turn: Turn, words: Words) -> To:
    problem = move(one.worked.posed, lever, one.known)(turn.factor)
    title = _title(one.worked.posed, problem, turn.choice, words)  # with what would be rented beside it there
    boxes = sum(turn.choice.counts) - sum(one.plans.base.there)
    return To(turn.factor, title, boxes, turn.choice.rented, turn.usd * one.worked.posed.work.months)


def _title(posed: Posed, problem: Problem, choice: Choice, words: Words) -> str:
    """The mix in words, by what it buys and who is rented most."""
    done = dispatch(thinned(problem), choice.counts)
    main = choice.rented or most_rented(problem, done) or None
    return mix_title(Mix(BEST, "", choice.counts, problem, done), posed, main, words)


def tornado_table(turned: Sequence[Turned], words: Words, money: Money = DOLLARS) -> pd.DataFrame:
    """One row a workload and assumption (TORNADO), widest swing first.

    `margin` = USD of the cheapest pure option that is not the best mix / USD of the best mix, of the same machines
    throughout (> 1: the best as planned is the cheaper), `margin_low`, `margin_high` at the assumption's low and high;
    `usd_per_month` of that mix, likewise; `winner_low`, `winner_high`: the best mix there, in words; `flips`: another
    than as planned; `flip_value`, `flip_factor`: the nearest turning point, null within a factor of 5.
    """
    rows = []
    for one in turned:
        plan = _plan(one, words)
        found = [
            _tornado_row(one, plan, lever, found, words, money)
            for lever, found in zip(one.levers, one.turns, strict=True)
        ]
        rows += widest_first(found)
    return pd.DataFrame(rows, columns=list(TORNADO))


def _tornado_row(
    one: Turned, plan: Plan, lever: Lever, found: list[Turn], words: Words, money: Money
) -> dict[str, Any]:
    best, rivals = one.worked.mixes[0], one.rivals
    margin = rivals[0].expected / best.expected if rivals else np.nan
    base = End(best.expected * plan.months, margin, plan.best_title, turned=False)
    low, high = (_at(one, lever, value / lever.value, found, words) for value in (lever.low, lever.high))
    rival = (rivals[0].source, mix_title(rivals[0], one.worked.posed, None, words)) if rivals else (None, None)
    return tornado_row(plan, lever, rival, base, (low, high), [turn.factor for turn in found], money)


def _at(one: Turned, lever: Lever, factor: float, found: list[Turn], words: Words) -> End:
    """The plan at one value of a figure, of the mix that is the best as planned."""
    problem = move(one.worked.posed, lever, one.known)(factor)
    thin, base = thinned(problem), one.worked.mixes[0]
    usd = one.plans.estimate(thin, base.counts)
    near = [rival for place, rival in enumerate(one.rivals) if place < NEXT or rival.source == lever.subject]
    others = [_quick(thin, rival) + one.off[rival.source] for rival in near]
    turned = any((turn.factor - factor) * (turn.factor - 1) <= 0 for turn in found)
    choice = one.plans.best(problem) if turned else one.plans.choice
    return End(
        usd * one.worked.posed.work.months,
        min(others) / usd if others else np.nan,
        _title(one.worked.posed, problem, choice, words),
        turned,
    )
