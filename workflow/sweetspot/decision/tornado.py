"""Which assumption carries the answer: each from its low to its high, the others fixed, and where it turns it."""

from typing import Any

import numpy as np

from sweetspot.decision.assumption import FURTHEST, Array, Assumption
from sweetspot.decision.question import Costs, Question, Turn
from sweetspot.decision_words import flip_in_words, side, turn_in_words
from sweetspot.wording import DOLLARS, Money

TORNADO = (
    "workload", "model", "model_title", "assumption", "quantity", "subject", "unit", "value", "low", "high",
    "range_basis", "best", "best_title", "rival", "rival_title", "margin", "margin_low", "margin_high", "swing",
    "usd_per_month", "usd_per_month_low", "usd_per_month_high", "winner_low", "winner_high", "flips", "flip_value",
    "flip_factor", "text", "usd", "usd_low", "usd_high",
)  # fmt: skip
TURNING = (
    "workload", "model", "model_title", "assumption", "quantity", "subject", "unit", "value", "side", "turning_value",
    "factor", "inside_range", "best_title", "to_title", "boxes", "rented", "usd_per_month", "text", "usd", "condition",
)  # fmt: skip


def turning_rows(question: Question, money: Money = DOLLARS) -> list[dict[str, Any]]:
    """Rows of TURNING, one an assumption and side on which it turns the answer within a factor of FURTHEST, the nearest
    first.

    `turning_value`: from there on `to_title` is the best, of `boxes` machines held, `rented` the offer that is rented
    (null where machines are held); `usd`: what both cost there, `usd_per_month` in a month of the project; `text`:
    the `condition` in words, and what is then the best.
    """
    found = [(one, turn) for one, turns in question.turns.items() for turn in turns]
    rows = [_turning_row(question, *each, money) for each in found]
    return sorted(rows, key=lambda row: abs(np.log(row["factor"])))


def tornado_rows(question: Question, money: Money = DOLLARS) -> list[dict[str, Any]]:
    """Rows of TORNADO, the widest swing first; none where the best has no rival.

    `margin` = USD of the cheapest other alternative / USD of the best, as planned and at the assumption's low and high
    (`range_basis`: declared, the interval of a speed, or assumed); `winner_low`, `winner_high`: the best there;
    `flips`: it is another within the range; `flip_value`, `flip_factor`: the nearest turning point, null where there is
    none within a factor of FURTHEST.
    """
    if question.rival is None:
        return []
    rows = [_tornado_row(question, question.rival, assumption, money) for assumption in question.assumptions]
    # Rounded: where two swing alike (months, days of use), the order must not hang on a last digit.
    return sorted(rows, key=lambda row: -round(row["swing"], 9) if row["swing"] == row["swing"] else 0.0)


def _about(question: Question, assumption: Assumption) -> dict[str, Any]:
    same = {name: getattr(assumption, name) for name in ("quantity", "unit", "value")}
    told = {"assumption": assumption.name, "subject": assumption.subject or None}
    return question.about | {"best_title": _title(question, question.planned, question.best, 0), **same, **told}


def _title(question: Question, costs: Costs, place: int, case: int) -> str:
    alternative = None if costs.alternative is None else int(costs.alternative[place, case])
    return question.title(place, float(costs.counts[place, case]), alternative)


def _turning_row(question: Question, assumption: Assumption, turn: Turn, money: Money) -> dict[str, Any]:
    value, choice = assumption.value * turn.factor, question.choices[turn.to]
    held, title = choice.row["purchase"] == "own", question.title(turn.to, turn.machines, turn.alternative)
    condition = turn_in_words(assumption.name, assumption.value, assumption.unit, turn.factor, money)
    return _about(question, assumption) | {
        "side": side(turn.factor), "turning_value": value, "factor": turn.factor, "to_title": title,
        "inside_range": bool(assumption.low <= value <= assumption.high), "boxes": int(turn.machines) if held else 0,
        "rented": None if held else choice.option, "usd": turn.usd, "usd_per_month": turn.usd / question.months,
        "text": f"{condition}: {title}", "condition": condition,
    }  # fmt: skip


def _tornado_row(question: Question, rival: int, assumption: Assumption, money: Money) -> dict[str, Any]:
    factor = question.nearest(assumption)
    costs = question.at(assumption, np.array([assumption.low, assumption.high, assumption.value]) / assumption.value)
    ours, others = _least(costs.usd, question.ours), _least(costs.usd, question.others)
    winners = [_title(question, costs, int(to), end) for end, to in enumerate(question.cheapest(costs))]
    flips = bool(question.turned(costs)[:2].any())
    ends = {
        f"{name}_{end}": value[place]
        for place, end in enumerate(("low", "high"))
        for name, value in (("usd", ours), ("usd_per_month", ours / question.months), ("margin", others / ours))
    }
    return _about(question, assumption) | {
        "low": assumption.low, "high": assumption.high, "range_basis": assumption.range_basis,
        "best": question.choices[question.best].option, "rival": question.choices[rival].option,
        "rival_title": _title(question, question.planned, rival, 0), "margin": others[2] / ours[2],
        "usd": ours[2], "usd_per_month": ours[2] / question.months, **ends,
        "swing": abs(float(ends["margin_high"]) - float(ends["margin_low"])),
        "winner_low": winners[0], "winner_high": winners[1],
        "flips": flips, "flip_value": factor * assumption.value, "flip_factor": factor,
        "text": flip_in_words(question.word, assumption.value, assumption.unit, factor, flips, FURTHEST, money),
    }  # fmt: skip


def _least(usd: Array, which: Array) -> Array:
    least: Array = usd[which].min(axis=0, initial=np.inf)
    return least
