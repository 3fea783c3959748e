"""Where owning pays: days of use a month x months of the project x electricity price."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from sweetspot.bills.owning import crossing_days, running_per_hour, usd_per_hour_of_use
from sweetspot.bills.rates import rates
from sweetspot.decision.assumption import Array, Assumption, Moved
from sweetspot.decision.question import Question
from sweetspot.wording import DOLLARS, Money, the

DAYS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25)
MONTHS_FACTOR = tuple(tenth / 10 for tenth in range(1, 21))
TARIFF_FACTOR = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
VARIED = ("days_per_month", "months", "usd_per_kwh")
COLUMNS = (
    "reference", "rival", "model", "days", "months", "usd_per_kwh", "ratio", "winner", "break_even_days", "condition",
)  # fmt: skip


def surface(questions: Iterable[Question], month_days: float, money: Money = DOLLARS) -> pd.DataFrame:
    """One row per (model, days of use a month, months of the project, USD/kWh), against the cheapest rented choice.

    `ratio` = USD of the rival / USD of the box (> 1: the box wins), `winner`, `break_even_days` for that length and
    tariff (null: never within the month), `condition`: when the box never pays. Months and tariff are multiples of
    the price list's; days go up to the whole month. Empty where the reference is not owned or nothing is rented.
    """
    parts = [_grid(one, box, rival, month_days, money) for one in questions for box, rival in _pair(one)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS))


def _pair(question: Question) -> Iterable[tuple[int, int]]:
    """Places of the owned reference and of the cheapest choice that is rented."""
    rows = [one.row for one in question.choices]
    box = next((place for place, row in enumerate(rows) if row["row"] == question.reference), None)
    rented = [place for place, row in enumerate(rows) if row["purchase"] != "own"]
    return [(box, min(rented, key=lambda place: question.usd[place]))] if box is not None and rented else []


def _grid(question: Question, box: int, rival: int, month_days: float, money: Money) -> pd.DataFrame:
    row = question.choices[box].row
    planned = {name: float(row[name]) for name in VARIED}
    days = np.array(sorted(day for day in {*DAYS, planned["days_per_month"], month_days} if day <= month_days), float)
    months, tariffs = (planned[name] * np.array(factor) for name, factor in
                       (("months", MONTHS_FACTOR), ("usd_per_kwh", TARIFF_FACTOR)))  # fmt: skip
    day, month, tariff = (part.ravel() for part in np.meshgrid(days, months, np.unique(tariffs), indexing="ij"))
    factors = dict(zip(VARIED, (day, month, tariff), strict=True))
    moved = _moved(question, {name: _over(values, planned[name]) for name, values in factors.items()})
    usd = question.cost(moved).usd
    found, ratio = rates(row, moved.of(row["row"])), usd[rival] / usd[box]
    # What the rival takes for the work of an hour of the box, on the days planned.
    usual = _moved(
        question, {name: _over(values, planned[name]) for name, values in factors.items() if name != VARIED[0]}
    )
    then = question.cost(usual).usd
    hour = usd_per_hour_of_use(found.fixed, found.variable, planned["days_per_month"]) * then[rival] / then[box]
    cross = crossing_days(found.fixed, found.variable, hour)
    names = (question.choices[box].option, question.choices[rival].option)
    return pd.DataFrame(
        {
            "reference": names[0],
            "rival": names[1],
            "model": question.workload,
            "days": day,
            "months": month,
            "usd_per_kwh": tariff,
            "ratio": ratio,
            "winner": np.where(ratio > 1, *names),
            "break_even_days": np.where(cross <= month_days, cross, np.nan),
            "condition": never_pays(question, box, rival, month_days, money),
        }
    )[list(COLUMNS)]


def _over(values: Array, planned: float) -> Array:
    return values / planned if planned else np.ones_like(values)


def _moved(question: Question, factors: dict[str, Array]) -> Moved:
    """The named assumptions of the team, and the tariff, at these factors."""
    known: dict[Assumption, Array] = {
        one: factors[one.quantity] for one in question.assumptions if one.quantity in factors
    }
    return Moved(next(iter(factors.values())).size, known)


def never_pays(question: Question, box: int, rival: int, month_days: float, money: Money = DOLLARS) -> str:
    """The condition under which the box never pays, in words with its numbers (all else as in the price list)."""
    row, other = question.choices[box].row, question.choices[rival].row
    found = rates(row, lambda _: 1.0)
    days = row["days_per_month"]
    hour = float(usd_per_hour_of_use(found.fixed, found.variable, days) * question.usd[rival] / question.usd[box])
    idle, energy = float(usd_per_hour_of_use(found.fixed, 0.0, month_days)), float(found.variable)
    asked = float(other["usd_per_hour"])
    price, now = (money.of(usd) for usd in ((idle + energy) / hour * asked, asked))
    name = the(str(other["title"]))
    on = str(row.get("model_title") or row["model"])
    never = f"Even used every day, {the(str(row['title']))} never pays for {on}"
    if hour <= idle + energy:
        return f"{never}: {name} costs {now:.3g} {money.code} an hour, it would pay above {price:.3g}"
    parts = [f"if {name} costs {price:.3g} {money.code} an hour or less (now {now:.3g})"]
    load = float(running_per_hour({"kw": row["kw"], "pue": row["pue"], "per_kwh": 1.0}))  # kWh an hour of use
    if load > 0:
        most, now = money.of((hour - idle) / load), money.of(float(row["usd_per_kwh"]))
        parts.append(f"if electricity costs more than {most:.3g} {money.code}/kWh (now {now:.3g})")
    return f"{never} {', or '.join(parts)}"
