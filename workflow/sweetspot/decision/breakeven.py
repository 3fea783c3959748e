"""When does the reference pay? Days of use a month, against each alternative; and by length and tariff."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY, usd_per_hour_of_use
from sweetspot.bills.price_paths import LONGEST
from sweetspot.bills.rates import by_contract, by_the_hour, moves_ahead, or_zero, rates, rent_over
from sweetspot.decision.assumption import Moved
from sweetspot.decision.options import Row, records, same_machine, trained
from sweetspot.decision.question import Question
from sweetspot.decision.simulate import Draws
from sweetspot.decision_words import break_even_in_words, never_in_words
from sweetspot.draws import interval, p_cheaper
from sweetspot.wording import DOLLARS, Money

COLUMNS = (
    "workload", "title", "quantity", "assumption", "unit", "planned",
    "break_even_value", "break_even_low", "break_even_high", "reference", "option", "instance", "purchase",
    "price_list", "persistent", "model", "days", "days_low",
    "days_high", "twice_as_cheap_days", "twice_low", "twice_high", "gain_at_use", "gain_low", "gain_high",
    "p_cheaper", "p_pays", "never_below_usd_per_hour", "never_above_usd_per_kwh", "months_needed", "verdict", "basis",
)  # fmt: skip

Number = float | np.ndarray
CURVE = ("reference", "option", "model", "days", "gain", "gain_low", "gain_high")
CURVE_DRAWS = 1000  # a band on a chart needs no more
GRID_DAYS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25)
MONTHS_FACTOR = tuple(tenth / 10 for tenth in range(1, 21))
TARIFF_FACTOR = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
VARIED = ("days_per_month", "months", "usd_per_kwh")
SURFACE = (
    "reference", "rival", "model", "days", "months", "usd_per_kwh", "ratio", "winner", "break_even_days", "condition",
)  # fmt: skip
DAYS = "days of use a month"
NAMES = ("option", "instance", "purchase", "price_list", "persistent", "model", "basis")


def references(options: pd.DataFrame) -> dict[str, Row]:
    """The reference of each model."""
    rows = options[options["is_reference"] & (options["images_per_s"] > 0)].drop_duplicates("model")
    return {row["model"]: row for row in records(rows)}


def duels(options: pd.DataFrame) -> Iterator[tuple[Row, Row]]:
    """The owned reference with each alternative, model by model; none where it is not owned."""
    fields = trained(options)
    for model, box in references(options).items():
        if box["purchase"] == "own":
            for rival in records(fields[model]):
                if not same_machine(rival, box):
                    yield box, rival


def break_even(options: pd.DataFrame, draws: Draws, month_days: float) -> pd.DataFrame:
    """Break-even days a month of the reference against every alternative and model; empty where it is not owned.

    An owned alternative is used on the same days as the reference, and so is a contract, due whether used or not: the
    team has one use. Columns: those of PAYS (`pays`) that one job has (`workload`: its model), reference, option,
    model, `days` with `days_low`, `days_high` (90 %; beyond the month null: never), `twice_as_cheap_days` (factor 2),
    `gain_at_use` (cost of the alternative / cost of the reference at its planned use), `p_cheaper` (share of the draws
    in which the reference is the cheaper one at that use), `p_pays` (some use within a month pays), the hourly price
    below which and the electricity price above which the box never pays at any use up to `month_days` (null against
    what is owned or signed for), `months_needed` (length of project from which the planned use pays, an owned rival
    spread over as many), `verdict`, `basis`.
    """
    rows = [_against(box, rival, draws, month_days) for box, rival in duels(options)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _against(box: Row, rival: Row, draws: Draws, month_days: float) -> dict[str, object]:
    index, planned = box["row"], float(box["days_per_month"])
    both = _months(box, rival, draws)
    own, their = (Month(*(float(np.ravel(part)[0]) for part in each)) for each in both)
    cross = [crossing(*both, np.append(planned, draws.days[index]), factor) for factor in (1.0, 2.0)]
    ends = np.array([(each[0], *interval(each[1:])) for each in cross])
    days, twice = np.where(ends <= month_days, ends, np.nan).tolist()
    gain = draws.images_per_usd[index] / draws.images_per_usd[rival["row"]]
    gain_low, gain_high = interval(gain)
    rented = by_the_hour(rival)  # an owned rival has no price of an hour, and pays the electricity too
    load = own.hour / box["usd_per_kwh"] if box["usd_per_kwh"] > 0 else 0.0
    dearer, tariff = _never(own, float(their.at(planned)), float(load), month_days) if rented else (np.nan, np.nan)
    return {
        "workload": box["model"], "title": box["title"], "quantity": "days_per_month",
        "assumption": DAYS, "unit": "days/month", "planned": planned,
        "break_even_value": days[0], "break_even_low": days[1], "break_even_high": days[2],
        "reference": box["option"],
        **{name: rival[name] for name in NAMES},
        "days": days[0], "days_low": days[1], "days_high": days[2],
        "twice_as_cheap_days": twice[0], "twice_low": twice[1], "twice_high": twice[2],
        "gain_at_use": float(box["images_per_usd"] / rival["images_per_usd"]),
        "gain_low": float(gain_low), "gain_high": float(gain_high),
        "p_cheaper": p_cheaper(np.ones_like(gain), gain), "p_pays": float(np.mean(cross[0][1:] <= month_days)),
        "never_below_usd_per_hour": dearer * rival["usd_per_hour"], "never_above_usd_per_kwh": tariff,
        "months_needed": _months_needed(box, their, rival),
        "verdict": break_even_in_words(days, planned),
    }  # fmt: skip


class Month(NamedTuple):
    """What a machine takes for the work of the box: USD a month, used or not, and USD an hour that the box works."""

    month: Number
    hour: Number

    def at(self, days: Number) -> Number:
        """USD for the work of one hour of the box where it is used on so many days a month."""
        found: Number = usd_per_hour_of_use(self.month, self.hour, days)
        return found


def _never(box: Month, hour: float, load: float, month_days: float) -> tuple[float, float]:
    """How many times its price the rival has to take for full use of the box to just break even, and the electricity
    price above which that never does. `hour`: USD of the rival for an hour of the box's work, `load`: its kWh.
    """
    idle = float(usd_per_hour_of_use(box.month, 0.0, month_days))
    return (idle + float(box.hour)) / hour, (hour - idle) / load if load > 0 else np.nan


def crossing(box: Month, rival: Month, planned: Number, factor: float = 1.0) -> np.ndarray:
    """Days of use a month from which the box costs at most 1 / `factor` of the rival; inf: never, 0: on all days. From
    an owned rival's share of the month that of the box is taken: b - r. Where the rival gains on the box with more use,
    there are days up to which the box pays: 0 if they reach the `planned` ones, else inf.
    """
    lower, gains = np.asarray(box.month - rival.month / factor), np.asarray(rival.hour / factor - box.hour)
    with np.errstate(divide="ignore", invalid="ignore"):
        cross = np.maximum(lower / (HOURS_A_DAY * gains), 0.0)
    pays_now = lower / (HOURS_A_DAY * planned) <= gains
    return np.where(gains > 0, cross, np.where(pays_now, 0.0, np.inf))


def _months(box: Row, rival: Row, draws: Draws, which: slice = slice(None)) -> tuple[Month, Month]:
    """The box, and a rival for the box's work, at central figures and then by draw: owned by its own month, by contract
    by what the months cost that the planned use takes, rented by what that work costs an hour.
    """

    def cases(row: Row, column: str, name: str) -> np.ndarray:
        return np.append(row[column], getattr(draws, name)[row["row"], which])

    own, their = (
        Month(cases(row, "fixed_usd_per_month", "fixed"), cases(row, "variable_usd_per_hour", "variable"))
        for row in (box, rival)
    )
    speed, other = (cases(row, "images_per_s", "images_per_s") for row in (box, rival))
    if by_contract(rival):
        return own, Month(HOURS_A_DAY * box["days_per_month"] * rival["variable_usd_per_hour"] * (speed / other), 0.0)
    if rival["purchase"] == "own":
        return own, Month(their.month * (speed / other), their.hour * (speed / other))
    return own, Month(0.0, 3600.0 * speed / cases(rival, "images_per_usd", "images_per_usd"))


def _months_needed(box: Row, their: Month, rival: Row) -> float:
    """Months of the project from which the planned use pays; NaN: no length of project does. Purchase and resale are
    spread over the project's months, the box's and an owned rival's alike; the rest of a month of possession stays.
    Exact where only the box is spread, by a straight line in 1 / months; else in whole months up to LONGEST: of lengths
    around the planned one that pay, the least; else the first that pays beyond it.
    """
    hours, owned = HOURS_A_DAY * box["days_per_month"], rival["purchase"] == "own"
    rent = their.at(box["days_per_month"])
    curved = isinstance(box.get("residual_points"), list | np.ndarray) or or_zero(box["discount_rate"]) > 0
    if owned or curved or moves_ahead(rival):
        months = np.arange(1.0, LONGEST + 1)
        own = _fixed_over(box, months) + hours * box["variable_usd_per_hour"]
        faster = box["images_per_s"] / rival["images_per_s"]
        other = faster * _fixed_over(rival, months) if owned else 0.0
        other = other + hours * (their.hour if owned else rent * rent_over(rival, months))
        return _first_that_pays(own <= other, int(box["months"]))
    spent = (box["capex_usd"] - box["residual_usd"]) / (1.0 - or_zero(box["downtime_share"]))
    room = hours * (rent - box["variable_usd_per_hour"]) - (box["fixed_usd_per_month"] - spent / box["months"])
    return float(spent / room) if room > 0 else float("nan")


def _first_that_pays(pays: np.ndarray, planned: int) -> float:
    """Months (`pays` of 1, 2, ...): the least of those around `planned` that pay, else the first beyond; NaN: none."""
    planned = min(max(planned, 1), LONGEST)
    until, beyond = np.flatnonzero(~pays[:planned]), np.flatnonzero(pays[planned:])
    if pays[planned - 1]:
        return float(until[-1] + 2) if len(until) else 1.0
    return float(planned + 1 + beyond[0]) if len(beyond) else float("nan")


def _fixed_over(row: Row, months: np.ndarray) -> np.ndarray:
    """USD a month of the row's machine, used or not, where the project has so many months."""
    return np.asarray(rates(row, lambda name: months / row["months"] if name == "months" else 1.0).fixed)


def utilisation(options: pd.DataFrame, draws: Draws, month_days: float) -> pd.DataFrame:
    """Gain of the reference against each alternative over days of use a month (1, 2, ... and the whole month). Columns:
    reference, option, model, days, `gain` (> 1: the reference is cheaper) with `gain_low`, `gain_high` (90 %, from the
    first CURVE_DRAWS draws).
    """
    days, parts = np.array(sorted({*range(1, int(month_days) + 1), month_days})), []
    for box, rival in duels(options):
        own, their = (each.at(days[:, None]) for each in _months(box, rival, draws, slice(CURVE_DRAWS)))
        gain = np.asarray(their / own)
        told = {"reference": box["option"], "option": rival["option"], "model": box["model"], "days": days}
        gains = zip(("gain", "gain_low", "gain_high"), (gain[:, 0], *interval(gain[:, 1:])), strict=True)
        parts.append(pd.DataFrame(told | dict(gains)))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(CURVE), dtype=days.dtype)


def surface(questions: Iterable[Question], month_days: float, money: Money = DOLLARS) -> pd.DataFrame:
    """One row per (model, days of use a month, months of the project, USD/kWh), against the cheapest choice that is
    rented by the hour; months and tariff are multiples of the price list's. Empty where the reference is not owned or
    nothing is rented. `ratio` = USD of the rival / USD of the box (> 1: the box wins), `winner`, `break_even_days` for
    that length and tariff (null: never within the month), `condition`: when the box never pays.
    """
    parts = []
    for one in questions:
        labels = [choice.row["row"] for choice in one.choices]
        rented = [place for place, choice in enumerate(one.choices) if by_the_hour(choice.row)]
        if one.reference in labels and rented:
            parts.append(_grid(one, labels.index(one.reference), rented[0], month_days, money))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(SURFACE))


def _grid(question: Question, place: int, rented: int, month_days: float, money: Money) -> pd.DataFrame:
    """The surface of one model: the box and the rented choice by their places."""
    box, rival = (question.choices[number].row for number in (place, rented))
    planned = {name: float(box[name]) for name in VARIED}
    days = sorted(day for day in {*map(float, GRID_DAYS), planned["days_per_month"], month_days} if day <= month_days)
    months, tariffs = planned["months"] * np.array(MONTHS_FACTOR), planned["usd_per_kwh"] * np.array(TARIFF_FACTOR)
    axes = np.meshgrid(days, months, np.unique(tariffs), indexing="ij")
    at = dict(zip(VARIED, (axis.ravel() for axis in axes), strict=True))
    factors = {name: values / planned[name] if planned[name] else np.ones_like(values) for name, values in at.items()}
    moved, usual = (
        Moved(len(at["months"]), {one: factors[one.quantity] for one in question.assumptions if one.quantity in names})
        for names in (VARIED, VARIED[1:])
    )
    usd, then = question.cost(moved).usd, question.cost(usual).usd
    found, use = rates(box, moved.of(box["row"])), planned["days_per_month"]
    own, ratio = Month(found.fixed, found.variable), usd[rented] / usd[place]
    # What the rival takes for the work of an hour of the box, on the days planned.
    cross = crossing(own, Month(0.0, own.at(use) * then[rented] / then[place]), use)
    names = (question.choices[place].option, question.choices[rented].option)
    return pd.DataFrame(
        {
            "reference": names[0], "rival": names[1], "model": question.workload, "days": at["days_per_month"],
            "months": at["months"], "usd_per_kwh": at["usd_per_kwh"], "ratio": ratio,
            "winner": np.where(ratio > 1, *names), "break_even_days": np.where(cross <= month_days, cross, np.nan),
            "condition": _condition(box, rival, question.usd[rented] / question.usd[place], month_days, money),
        }
    )[list(SURFACE)]  # fmt: skip


def _condition(box: Row, rival: Row, ratio: float, month_days: float, money: Money) -> str:
    """When the box never pays, all else as in the price list; `ratio`: USD of the rival / USD of the box."""
    found, price = rates(box, lambda _: 1.0), float(rival["usd_per_hour"])
    own = Month(float(found.fixed), float(found.variable))
    load = float(box["kw"] * box["pue"])
    dearer, tariff = _never(own, float(own.at(box["days_per_month"]) * ratio), load, month_days)
    on = str(box.get("model_title") or box["model"])
    prices = (dearer * price, price), (tariff, float(box["usd_per_kwh"]))
    return never_in_words(str(box["title"]), str(rival["title"]), on, *prices, money)
