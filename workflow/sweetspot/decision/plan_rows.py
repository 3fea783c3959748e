"""Rows of the tables of what a plan rests on, of months or of phases: its turning points and its tornado."""

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from sweetspot.decision.certainty import amount
from sweetspot.decision.counted import Money
from sweetspot.decision.tornado import FACTOR

ABOUT = ("workload", "assumption", "quantity", "subject", "unit", "value")
ENDS = ("low", "high")
TORNADO = (
    *ABOUT, "low", "high", "range_basis", "best_title", "rival", "rival_title", "margin", "margin_low",
    "margin_high", "swing", "usd_per_month", "usd_per_month_low", "usd_per_month_high", "winner_low", "winner_high",
    "flips", "flip_value", "flip_factor", "text", "usd", "usd_low", "usd_high",
)  # fmt: skip
TURNING = (
    *ABOUT, "side", "turning_value", "factor", "inside_range", "best_title", "to_title", "boxes", "rented",
    "usd_per_month", "text", "usd",
)  # fmt: skip


Change = TypeVar("Change")


class Lever(NamedTuple, Generic[Change]):
    """One figure of a plan that can be moved.

    `quantity` what it is (a column of the offers, or one of the words of `mix_levers`), `subject` of whom (an option, a
    class, a price list, an error of speeds; empty: of all), `name` in words, value, unit (FACTOR: it is
    said as a factor of what it is today) and range with its basis;
    `changed`: what it does at a factor of its value; `most` that it can be.
    """

    quantity: str
    subject: str
    name: str
    unit: str
    value: float
    low: float
    high: float
    basis: str
    changed: Change
    most: float = np.inf


class Plan(NamedTuple):
    """A plan by its name; `months` of it (NaN: not said); the best of it in words, and what the best is called."""

    name: str
    months: float
    best_title: str
    word: str = "best mix"


class Turned(NamedTuple):
    """What a turning point leads to: from `factor` on `title`, of `boxes` machines bought, `rented` the offer rented
    (empty: machines are bought); USD of the plan there.
    """

    factor: float
    title: str
    boxes: int
    rented: str
    usd: float


class End(NamedTuple):
    """A plan at one value of a figure: USD of the best as planned, margin over its rivals, the best there in words,
    and whether that is another.
    """

    usd: float
    margin: float
    winner: str
    turned: bool


def about(plan: Plan, lever: Lever[Any]) -> dict[str, Any]:
    """The columns ABOUT."""
    said = {name: getattr(lever, name) for name in ("quantity", "unit", "value")}
    return {"workload": plan.name, "assumption": lever.name, "subject": lever.subject or None, **said}


def turning_row(plan: Plan, lever: Lever[Any], turn: Turned, money: Money) -> dict[str, Any]:
    """One row of TURNING."""
    value = lever.value * turn.factor
    return {
        **about(plan, lever),
        "side": _side(turn.factor),
        "turning_value": value,
        "factor": turn.factor,
        "inside_range": bool(lever.low <= value <= lever.high),
        "best_title": plan.best_title,
        "to_title": turn.title,
        "boxes": turn.boxes,
        "rented": turn.rented or None,
        "usd": turn.usd,
        "usd_per_month": turn.usd / plan.months,
        "text": f"{_where(lever, turn.factor, money)}: {turn.title}",
    }


def _side(factor: float) -> str:
    return "above" if factor > 1 else "below"


def _where(lever: Lever[Any], factor: float, money: Money) -> str:
    """A turning point in words: of what is said as a factor, how far from what it is today."""
    if lever.unit == FACTOR:
        return f"{lever.name} {100 * abs(factor - 1):.2g} % {_side(factor)} today's"
    value, unit = money.counted(lever.value * factor, lever.unit)
    return f"{lever.name} {_side(factor)} {amount(value)} {unit}"


def tornado_row(
    plan: Plan, lever: Lever[Any], rival: tuple[str | None, str | None], base: End, ends: tuple[End, End],
    factors: list[float], money: Money,
) -> dict[str, Any]:  # fmt: skip
    """One row of TORNADO. `rival`: its key and title; `base`, `ends`: as planned, at low and high; `factors`: of the
    turning points.
    """
    nearest = min(factors, key=lambda factor: abs(np.log(factor)), default=np.nan)
    flips = any(end.turned for end in ends)
    low, high = (
        {"margin": end.margin, "usd": end.usd, "usd_per_month": end.usd / plan.months, "winner": end.winner}
        for end in ends
    )
    return {
        **about(plan, lever),
        **{name: getattr(lever, name) for name in ENDS},
        "range_basis": lever.basis,
        "best_title": plan.best_title,
        "rival": rival[0],
        "rival_title": rival[1],
        "margin": base.margin,
        "usd": base.usd,
        "usd_per_month": base.usd / plan.months,
        **{f"{name}_low": value for name, value in low.items()},
        **{f"{name}_high": value for name, value in high.items()},
        "swing": abs(ends[1].margin - ends[0].margin),
        "flips": flips,
        "flip_value": nearest * lever.value,
        "flip_factor": nearest,
        "text": _flip_in_words(plan, lever, nearest, flips, money),
    }


def _flip_in_words(plan: Plan, lever: Lever[Any], nearest: float, flips: bool, money: Money) -> str:
    if np.isnan(nearest):
        return f"no value of it within a factor of 5 changes the {plan.word}"
    value, unit = money.counted(nearest * lever.value, lever.unit)
    moved = f"the {plan.word} changes at {amount(value)} {unit} ({100 * (nearest - 1):+.0f} %)"
    return moved + (", inside its range" if flips else ", outside its range")


def nearest_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Turning points, the nearest first."""
    return sorted(rows, key=lambda row: abs(np.log(row["factor"])))


def widest_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A tornado's rows; rounded, so that the order of two that swing alike does not hang on a last digit."""
    return sorted(rows, key=lambda row: -round(row["swing"], 9) if row["swing"] == row["swing"] else 0.0)
