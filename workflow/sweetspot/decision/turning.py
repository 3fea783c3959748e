"""Where an assumption turns the answer, what each moves in its range, and from how much on what one holds pays."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sweetspot.decision.decision_problem import FURTHEST, Array, Parameter
from sweetspot.decision_words import flip_in_words, pays_in_words, side, turn_in_words
from sweetspot.draws import interval
from sweetspot.wording import DOLLARS, Money

if TYPE_CHECKING:
    from sweetspot.decision.decision_problem import DecisionProblem, TurningPoint  # which has what is held

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
PAYS = (
    "workload", "model", "reference", "title", "quantity", "subject", "assumption", "unit", "planned",
    "break_even_value", "break_even_low", "break_even_high", "factor", "p_pays", "text", "pays_until",
)  # fmt: skip


class Apart(NamedTuple):
    """USD of what is held less USD of what would be rented, at factors of an assumption (columns); `drawn`: a row a
    draw, `planned`: one row; `jump`: another number of machines than at the factor before.
    """

    factors: Array
    planned: Array
    drawn: Array
    drawn_factors: Array
    jump: Array
    drawn_jump: Array


class Held(NamedTuple):
    """One thing to hold and one assumption: what it is called, its number as planned, and `apart`; `exact`: makes the
    factor exact from which it pays (true), or up to which.
    """

    option: str
    title: str
    assumption: Parameter
    name: str
    quantity: str
    planned: float
    unit: str
    apart: Apart
    p_pays: float
    exact: Callable[[float, bool], float] | None = None


def turning_rows(question: "DecisionProblem", money: Money = DOLLARS) -> list[dict[str, Any]]:
    """Rows of TURNING, one an assumption and side on which it turns the answer within a factor of FURTHEST, the nearest
    first. `turning_value`: from there on `to_title` is the best, of `boxes` machines held, `rented` the offer that is
    rented (null where machines are held); `usd`: what both cost there, `usd_per_month` in a month of the project;
    `text`: the `condition` in words, and what is then the best.
    """
    found = [(one, turn) for one, turns in question.turning_points.items() for turn in turns]
    rows = [_turning_row(question, *each, money) for each in found]
    return sorted(rows, key=lambda row: abs(np.log(row["factor"])))


def tornado_rows(question: "DecisionProblem", money: Money = DOLLARS) -> list[dict[str, Any]]:
    """Rows of TORNADO, the widest swing first; none where the best has no rival. `margin` = USD of the cheapest other
    alternative / USD of the best, as planned and at the assumption's low and high (`range_basis`: declared, the
    interval of a speed, or assumed); `winner_low`, `winner_high`: the best there; `flips`: it is another within the
    range; `flip_value`, `flip_factor`: the nearest turning point, null where there is none within a factor of FURTHEST.
    """
    if question.runner_up is None:
        return []
    rows = [_tornado_row(question, question.runner_up, assumption, money) for assumption in question.parameters]
    # Rounded: where two swing alike (months, days of use), the order must not hang on a last digit.
    return sorted(rows, key=lambda row: -round(row["swing"], 9) if row["swing"] == row["swing"] else 0.0)


def _about(question: "DecisionProblem", assumption: Parameter) -> dict[str, Any]:
    same = {name: getattr(assumption, name) for name in ("quantity", "unit", "value")}
    told = {"assumption": assumption.name, "subject": assumption.subject or None}
    return question.row_names | {"best_title": question.title_at(question.baseline, question.best, 0), **same, **told}


def _turning_row(
    question: "DecisionProblem", assumption: Parameter, turn: "TurningPoint", money: Money
) -> dict[str, Any]:
    value, choice = assumption.value * turn.factor, question.choices[turn.to]
    held, title = choice.row["purchase"] == "own", question.title(turn.to, turn.machines, turn.alternative)
    condition = turn_in_words(assumption.name, assumption.value, assumption.unit, turn.factor, money)
    return _about(question, assumption) | {
        "side": side(turn.factor), "turning_value": value, "factor": turn.factor, "to_title": title,
        "inside_range": bool(assumption.low <= value <= assumption.high), "boxes": int(turn.machines) if held else 0,
        "rented": None if held else choice.option, "usd": turn.usd,
        "usd_per_month": turn.usd / question.months_at(assumption, turn.factor),
        "text": f"{condition}: {title}", "condition": condition,
    }  # fmt: skip


def _tornado_row(question: "DecisionProblem", rival: int, assumption: Parameter, money: Money) -> dict[str, Any]:
    factor = question.nearest(assumption)
    costs = question.at(assumption, np.array([assumption.low, assumption.high, assumption.value]) / assumption.value)
    ours, others = (costs.usd[which].min(axis=0, initial=np.inf) for which in (question.incumbents, question.rivals))
    winners = [question.title_at(costs, int(to), end) for end, to in enumerate(question.cheapest(costs))]
    flips = bool(question.is_changed(costs)[:2].any())
    months = [question.months_at(assumption, end / assumption.value) for end in (assumption.low, assumption.high)]
    with np.errstate(invalid="ignore"):  # where nothing does the work both cost without end: there is no margin
        margins = others / ours
    ends = {
        f"{name}_{end}": value[place]
        for place, end in enumerate(("low", "high"))
        for name, value in (("usd", ours), ("usd_per_month", ours / months[place]), ("margin", margins))
    }
    return _about(question, assumption) | {
        "low": assumption.low, "high": assumption.high, "range_basis": assumption.range_basis,
        "best": question.choices[question.best].option, "rival": question.choices[rival].option,
        "rival_title": question.title_at(question.baseline, rival, 0), "margin": others[2] / ours[2],
        "usd": ours[2], "usd_per_month": ours[2] / question.months, **ends,
        "swing": abs(float(ends["margin_high"]) - float(ends["margin_low"])),
        "winner_low": winners[0], "winner_high": winners[1],
        "flips": flips, "flip_value": factor * assumption.value, "flip_factor": factor,
        "text": flip_in_words(question.best_name, assumption.value, assumption.unit, factor, flips, FURTHEST, money),
    }  # fmt: skip


def pays_rows(workload: str, held: Iterable[Held]) -> list[dict[str, Any]]:
    """Rows of PAYS, one a machine or contract and quantity, all else as planned. `break_even_value`: from where it
    costs no more than what is cheapest to rent; `pays_until`: where whole machines make it the dearer again. Where it
    pays as planned these are the ends of that stretch, else of the first one. 0: it pays at a fifth of what is planned
    already; null: at nothing up to FURTHEST times. `_low`, `_high`: 90 % of the draws; `p_pays`: share of the draws in
    which it pays as planned. `model`: null, of a plan.
    """
    return [_pays_row(workload, one) for one in held]


def _pays_row(workload: str, one: Held) -> dict[str, Any]:
    apart, planned = one.apart, one.planned
    found, ends = stretch(apart.planned, apart.factors, apart.jump)
    drawn, _ = stretch(apart.drawn, apart.drawn_factors, apart.drawn_jump)
    factor, until = float(found[0]), float(ends[0])
    if one.exact is not None:
        factor = one.exact(factor, True) if 0.0 < factor < np.inf else factor
        until = one.exact(until, False) if until < np.inf else until
    low, high = (float(end) for end in interval(drawn))
    values = {"break_even_value": factor, "break_even_low": low, "break_even_high": high, "pays_until": until}
    looked = planned / FURTHEST, min(planned * FURTHEST, one.assumption.maximum)
    return {
        "workload": workload, "model": None, "reference": one.option, "title": one.title, "quantity": one.quantity,
        "subject": one.assumption.subject or None, "assumption": one.name, "unit": one.unit, "planned": planned,
        **{name: value * planned if np.isfinite(value) else np.nan for name, value in values.items()},
        "factor": factor if np.isfinite(factor) else np.nan, "p_pays": one.p_pays,
        "text": pays_in_words(one.title, factor * planned, planned, one.unit, looked, until * planned),
    }  # fmt: skip


def stretch(apart: Array, factors: Array, jump: Array) -> tuple[Array, Array]:
    """Factors from which, and until which, each row pays: infinite where it pays at none, or at all up to the last; 0:
    from the least on. Between two factors with as many machines both costs are straight lines.
    """
    paid, place = apart <= 0, np.arange(factors.size)
    planned = int(np.abs(np.log(factors)).argmin())
    before = np.where(paid[:, : planned + 1], -1, place[: planned + 1]).max(axis=1)  # the last that does not pay
    first = np.where(paid[:, planned], before + 1, paid.argmax(axis=1))
    ends = ~paid & (place > first[:, None])
    last = np.where(ends.any(axis=1), ends.argmax(axis=1) - 1, place[-1])
    row, inner = np.arange(first.size), np.maximum(first - 1, 0)
    straight = (first > 0) & ~jump[first] & np.isfinite(apart[row, inner])
    with np.errstate(divide="ignore", invalid="ignore"):
        share = apart[row, inner] / (apart[row, inner] - apart[row, first])
        crossed = factors[inner] + share * (factors[first] - factors[inner])
    found = np.where(first > 0, np.where(straight, crossed, factors[first]), 0.0)
    ever = paid.any(axis=1)
    until = np.where(ever & (last < factors.size - 1), factors[last], np.inf)
    return np.where(ever, found, np.inf), until
