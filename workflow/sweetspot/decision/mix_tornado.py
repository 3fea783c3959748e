"""Which assumption carries the plan of months: each from its low to its high, and where it turns the best mix."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.certainty import amount
from sweetspot.decision.counted import DOLLARS, Money
from sweetspot.decision.mix_levers import Known, Lever, levers, move
from sweetspot.decision.mix_problem import Posed
from sweetspot.decision.mix_tables import Worked, rivals_of
from sweetspot.decision.mix_words import Words, mix_title
from sweetspot.decision.tornado import FACTOR
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import Problem
from sweetspot.mixes.search import BEST, RENTED, Mix
from sweetspot.mixes.turning import Choice, Plans, Turn, expected, most_rented, thinned, turns

ABOUT = ("workload", "assumption", "quantity", "subject", "unit", "value")
TORNADO = (
    *ABOUT, "low", "high", "range_basis", "best_title", "rival", "rival_title", "margin", "margin_low",
    "margin_high", "swing", "usd_per_month", "usd_per_month_low", "usd_per_month_high", "winner_low", "winner_high",
    "flips", "flip_value", "flip_factor", "text",
)  # fmt: skip
TURNING = (
    *ABOUT, "side", "turning_value", "factor", "inside_range", "best_title", "to_title", "boxes", "rented",
    "usd_per_month", "text",
)  # fmt: skip


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
        found = [
            _turning_row(one, lever, turn, words, money)
            for lever, found in zip(one.levers, one.turns, strict=True)
            for turn in found
        ]
        rows += sorted(found, key=lambda row: abs(np.log(row["factor"])))
    return pd.DataFrame(rows, columns=list(TURNING))


def _about(one: Turned, lever: Lever) -> dict[str, Any]:
    said = {name: getattr(lever, name) for name in ("quantity", "unit", "value")}
    return {"workload": one.worked.posed.name, "assumption": lever.name, "subject": lever.subject or None, **said}


def _turning_row(one: Turned, lever: Lever, turn: Turn, words: Words, money: Money) -> dict[str, Any]:
    value, base = lever.value * turn.factor, one.plans.choice
    problem = move(one.worked.posed, lever, one.known)(turn.factor)
    title = _title(one.worked.posed, problem, turn.choice, words)  # with what would be rented beside it there
    inside = bool(lever.low <= value <= lever.high)
    return {
        **_about(one, lever),
        "side": "above" if turn.factor > 1 else "below",
        "turning_value": value,
        "factor": turn.factor,
        "inside_range": inside,
        "best_title": _title(one.worked.posed, one.plans.base, base, words),
        "to_title": title,
        "boxes": sum(turn.choice.counts) - sum(one.plans.base.there),
        "rented": turn.choice.rented or None,
        "usd_per_month": turn.usd,
        "text": f"{_where(lever, turn, money)}: {title}",
    }


def _where(lever: Lever, turn: Turn, money: Money) -> str:
    """A turning point in words: of what is said as a factor, how far from what it is today."""
    side = "above" if turn.factor > 1 else "below"
    if lever.unit == FACTOR:
        return f"{lever.name} {100 * abs(turn.factor - 1):.2g} % {side} today's"
    value, unit = money.counted(lever.value * turn.factor, lever.unit)
    return f"{lever.name} {side} {amount(value)} {unit}"


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
        found = [
            _tornado_row(one, lever, found, words, money) for lever, found in zip(one.levers, one.turns, strict=True)
        ]
        rows += sorted(found, key=lambda row: -round(row["swing"], 9) if row["swing"] == row["swing"] else 0.0)
    return pd.DataFrame(rows, columns=list(TORNADO))


def _tornado_row(one: Turned, lever: Lever, found: list[Turn], words: Words, money: Money) -> dict[str, Any]:
    base, posed, rivals = one.worked.mixes[0], one.worked.posed, one.rivals
    ends = [_at(one, lever, value / lever.value, found, words) for value in (lever.low, lever.high)]
    nearest = min(found, key=lambda turn: abs(np.log(turn.factor)), default=None)
    flips = any(end["turned"] for end in ends)
    title = _title(posed, one.plans.base, one.plans.choice, words)
    return {
        **_about(one, lever),
        **{name: getattr(lever, name) for name in ("low", "high")},
        "range_basis": lever.basis,
        "best_title": title,
        "rival": rivals[0].source if rivals else None,
        "rival_title": mix_title(rivals[0], posed, None, words) if rivals else None,
        "margin": rivals[0].expected / base.expected if rivals else np.nan,
        "usd_per_month": base.expected,
        **{f"{name}_{side}": end[name] for name in ("margin", "usd_per_month", "winner")
           for side, end in zip(("low", "high"), ends, strict=True)},
        "swing": abs(ends[1]["margin"] - ends[0]["margin"]),
        "flips": flips,
        "flip_value": np.nan if nearest is None else nearest.factor * lever.value,
        "flip_factor": np.nan if nearest is None else nearest.factor,
        "text": _words(lever, nearest, flips, money),
    }  # fmt: skip


def _at(one: Turned, lever: Lever, factor: float, found: list[Turn], words: Words) -> dict[str, Any]:
    """The plan at one value of a figure: USD of the mix that is the best as planned, margin, the best mix."""
    problem = move(one.worked.posed, lever, one.known)(factor)
    thin, base = thinned(problem), one.worked.mixes[0]
    usd = one.plans.estimate(thin, base.counts)
    near = [rival for place, rival in enumerate(one.rivals) if place < NEXT or rival.source == lever.subject]
    others = [_quick(thin, rival) + one.off[rival.source] for rival in near]
    turned = any((turn.factor - factor) * (turn.factor - 1) <= 0 for turn in found)
    choice = one.plans.best(problem) if turned else one.plans.choice
    return {
        "usd_per_month": usd,
        "margin": min(others) / usd if others else np.nan,
        "winner": _title(one.worked.posed, problem, choice, words),
        "turned": turned,
    }


def _words(lever: Lever, nearest: Turn | None, flips: bool, money: Money) -> str:
    if nearest is None:
        return "no value of it within a factor of 5 changes the best mix"
    value, unit = money.counted(nearest.factor * lever.value, lever.unit)
    moved = f"the best mix changes at {amount(value)} {unit} ({100 * (nearest.factor - 1):+.0f} %)"
    return moved + (", inside its range" if flips else ", outside its range")
