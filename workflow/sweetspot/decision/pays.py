"""From how much work, days of use or months what one holds pays, beside what can be rented."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from sweetspot.decision.assumption import FURTHEST, Array, Assumption
from sweetspot.decision_words import pays_in_words
from sweetspot.draws import interval

PAYS = (
    "workload", "model", "reference", "title", "quantity", "subject", "assumption", "unit", "planned", "pays_from",
    "pays_from_low", "pays_from_high", "factor", "p_pays", "text", "pays_until",
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
    assumption: Assumption
    name: str
    quantity: str
    planned: float
    unit: str
    apart: Apart
    p_pays: float
    exact: Callable[[float, bool], float] | None = None


def pays_rows(workload: str, held: Iterable[Held]) -> list[dict[str, Any]]:
    """Rows of PAYS, one a machine or contract and quantity, all else as planned.

    `pays_from`: the least at which it costs no more than what is cheapest to rent; `pays_until`: where whole machines
    make it the dearer again. Where it pays as planned these are the ends of that stretch, else of the first one. 0: it
    pays at a fifth of what is planned already; null: at nothing up to FURTHEST times. `_low`, `_high`: 90 % of the
    draws; `p_pays`: share of the draws in which it pays as planned. `model`: null, of a plan.
    """
    return [_row(workload, one) for one in held]


def _row(workload: str, one: Held) -> dict[str, Any]:
    apart, planned = one.apart, one.planned
    found, ends = stretch(apart.planned, apart.factors, apart.jump)
    drawn, _ = stretch(apart.drawn, apart.drawn_factors, apart.drawn_jump)
    factor, until = float(found[0]), float(ends[0])
    if one.exact is not None:
        factor = one.exact(factor, True) if 0.0 < factor < np.inf else factor
        until = one.exact(until, False) if until < np.inf else until
    low, high = (float(end) for end in interval(drawn))
    values = {"pays_from": factor, "pays_from_low": low, "pays_from_high": high, "pays_until": until}
    looked = planned / FURTHEST, min(planned * FURTHEST, one.assumption.most)
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
