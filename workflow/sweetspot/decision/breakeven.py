"""When does the reference pay? Days of use a month, against each alternative."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY, usd_per_hour_of_use
from sweetspot.bills.price_paths import LONGEST
from sweetspot.bills.rates import or_zero, rates
from sweetspot.bills.rent_ahead import moves_ahead, rent_over
from sweetspot.decision.options import Row, records, same_machine, trained
from sweetspot.decision.simulate import Draws, interval
from sweetspot.decision.standing import p_cheaper
from sweetspot.decision_words import break_even_in_words

COLUMNS = (
    "workload", "title", "quantity", "assumption", "unit", "planned", "pays_from", "pays_from_low", "pays_from_high",
    "reference", "option", "instance", "purchase", "price_list", "persistent", "model", "days", "days_low",
    "days_high", "twice_as_cheap_days", "twice_low", "twice_high", "gain_at_use", "gain_low", "gain_high",
    "p_cheaper", "p_pays", "never_below_usd_per_hour", "never_above_usd_per_kwh", "months_needed", "verdict", "basis",
)  # fmt: skip

Number = float | np.ndarray
CURVE_DRAWS = 1000  # a band on a chart needs no more
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
    """Break-even days a month of the reference against every alternative and model.

    An owned alternative is used on the same days as the reference: the team has one use.
    Columns: those of PAYS (`pays`) that one job has (`workload`: its model), reference, option, model, `days` with
    `days_low`, `days_high` (90 %), `twice_as_cheap_days` (factor 2), `gain_at_use` (cost of the alternative / cost of
    the reference at its planned use), `p_cheaper` (share of the draws in which the reference is the cheaper one at that
    use), `p_pays` (some use within a month pays), the hourly price below which and the electricity price above which
    the box never pays at any use up to `month_days` (null against an owned rival), `months_needed` (length of project
    from which the planned use pays, an owned rival spread over as many), `verdict`, `basis`. Days beyond the month:
    null, never.
    Empty where the reference is not owned.
    """
    rows = [_against(box, rival, draws, month_days) for box, rival in duels(options)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _against(box: Row, rival: Row, draws: Draws, month_days: float) -> dict[str, object]:
    index, other = box["row"], rival["row"]
    planned, (own, their) = float(box["days_per_month"]), _central(box, rival)
    mine, theirs = _drawn(index, rival, draws)
    drawn = [crossing(mine, theirs, draws.days[index], factor) for factor in (1.0, 2.0)]
    central = [float(crossing(own, their, planned, factor)) for factor in (1.0, 2.0)]
    days, twice = (
        [_within(float(end), month_days) for end in (value, *interval(each))]
        for value, each in zip(central, drawn, strict=True)
    )
    gain = draws.images_per_usd[index] / draws.images_per_usd[other]
    gain_low, gain_high = interval(gain)
    rented, hour = rival["purchase"] != "own", float(their.at(planned))
    idle = usd_per_hour_of_use(own.month, 0.0, month_days)
    load = own.hour / box["usd_per_kwh"] if box["usd_per_kwh"] > 0 else np.nan  # kWh an hour of use
    return {
        "workload": box["model"], "title": box["title"], "quantity": "days_per_month",
        "assumption": DAYS, "unit": "days/month", "planned": planned,
        "pays_from": days[0], "pays_from_low": days[1], "pays_from_high": days[2],
        "reference": box["option"],
        **{name: rival[name] for name in NAMES},
        "days": days[0], "days_low": days[1], "days_high": days[2],
        "twice_as_cheap_days": twice[0], "twice_low": twice[1], "twice_high": twice[2],
        "gain_at_use": float(box["images_per_usd"] / rival["images_per_usd"]),
        "gain_low": float(gain_low), "gain_high": float(gain_high),
        "p_cheaper": p_cheaper(np.ones_like(gain), gain), "p_pays": float(np.mean(drawn[0] <= month_days)),
        # The rival's price an hour at which full use of the box just breaks even; scaled from the work of a box hour.
        # An owned rival has no price of an hour, and pays the electricity too.
        "never_below_usd_per_hour": float((idle + own.hour) / hour * rival["usd_per_hour"]) if rented else np.nan,
        "never_above_usd_per_kwh": float((hour - idle) / load) if load > 0 and rented else np.nan,
        "months_needed": _months_needed(box, their, rival),
        "verdict": break_even_in_words(days, planned),
    }  # fmt: skip


class Month(NamedTuple):
    """What a machine takes for the work of the box: USD a month, used or not, and USD for each hour that the box works.

    The team has one use: an owned rival is used on the same days as the box.
    """

    month: Number
    hour: Number

    def at(self, days: Number) -> Number:
        """USD for the work of one hour of the box where it is used on so many days a month."""
        found: Number = usd_per_hour_of_use(self.month, self.hour, days)
        return found


def crossing(box: Month, rival: Month, planned: Number, factor: float = 1.0) -> np.ndarray:
    """Days of use a month from which the box costs at most 1 / `factor` of the rival; inf: never, 0: on all days.

    From an owned rival's share of the month that of the box is taken: b - r. Where the rival gains on the box with
    more use, there are days up to which the box pays: 0 if they reach the `planned` ones, else inf.
    """
    lower, gains = np.asarray(box.month - rival.month / factor), np.asarray(rival.hour / factor - box.hour)
    with np.errstate(divide="ignore", invalid="ignore"):
        cross = np.maximum(lower / (HOURS_A_DAY * gains), 0.0)
    pays_now = lower / (HOURS_A_DAY * planned) <= gains
    return np.where(gains > 0, cross, np.where(pays_now, 0.0, np.inf))


def _months(box: Month, faster: Number, rival: Month, hour: Number, owned: bool) -> tuple[Month, Month]:
    """The box, and a rival for the box's work: owned by its own month, rented by what that costs an hour."""
    return box, Month(rival.month * faster, rival.hour * faster) if owned else Month(0.0, hour)


def _central(box: Row, rival: Row) -> tuple[Month, Month]:
    own, their = (Month(row["fixed_usd_per_month"], row["variable_usd_per_hour"]) for row in (box, rival))
    hour, faster = 3600.0 * box["images_per_s"] / rival["images_per_usd"], box["images_per_s"] / rival["images_per_s"]
    return _months(own, faster, their, hour, rival["purchase"] == "own")


def _drawn(index: int, rival: Row, draws: Draws, which: slice = slice(None)) -> tuple[Month, Month]:
    other, speed = rival["row"], draws.images_per_s[index, which]
    own, their = (Month(draws.fixed[row, which], draws.variable[row, which]) for row in (index, other))
    hour, faster = 3600.0 * speed / draws.images_per_usd[other, which], speed / draws.images_per_s[other, which]
    return _months(own, faster, their, hour, rival["purchase"] == "own")


def _months_needed(box: Row, their: Month, rival: Row) -> float:
    """Months of the project from which the planned use pays; NaN: no length of project does.

    Purchase and resale are spread over the project's months, the box's and an owned rival's alike; the rest of a month
    of possession stays. Exact where only the box is spread, by a straight line in 1 / months; else in whole months up
    to LONGEST: of lengths around the planned one that pay, the least; else the first that pays beyond it.
    """
    hours, owned = HOURS_A_DAY * box["days_per_month"], rival["purchase"] == "own"
    curved = isinstance(box.get("residual_points"), list | np.ndarray) or or_zero(box["discount_rate"]) > 0
    if owned or curved or moves_ahead(rival):
        months = np.arange(1.0, LONGEST + 1)
        own = _fixed_over(box, months) + hours * box["variable_usd_per_hour"]
        faster = box["images_per_s"] / rival["images_per_s"]
        other = faster * _fixed_over(rival, months) if owned else 0.0
        other = other + hours * their.hour * (1.0 if owned else rent_over(rival, months))
        return _first_that_pays(own <= other, int(box["months"]))
    spent = (box["capex_usd"] - box["residual_usd"]) / (1.0 - or_zero(box["downtime_share"]))
    room = hours * (their.hour - box["variable_usd_per_hour"]) - (box["fixed_usd_per_month"] - spent / box["months"])
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


def _within(days: float, month_days: float) -> float:
    return days if days <= month_days else float("nan")


def utilisation(options: pd.DataFrame, draws: Draws, month_days: float) -> pd.DataFrame:
    """Gain of the reference against each alternative over days of use a month (1, 2, ... and the whole month).

    Columns: reference, option, model, days, `gain` (> 1: the reference is cheaper) with `gain_low`, `gain_high` (90 %,
    from the first CURVE_DRAWS draws).
    """
    days = np.array(sorted({*range(1, int(month_days) + 1), month_days}))
    parts = [_curve(box, rival, draws, days) for box, rival in duels(options)]
    if not parts:
        return pd.DataFrame(columns=["reference", "option", "model", "days", "gain", "gain_low", "gain_high"])
    names = {
        name: np.repeat([part[place] for part in parts], len(days))
        for place, name in enumerate(("reference", "option", "model"))
    }
    curves = {
        name: np.concatenate([part[place] for part in parts])
        for place, name in enumerate(("gain", "gain_low", "gain_high"), 3)
    }
    return pd.DataFrame({**names, "days": np.tile(days, len(parts)), **curves})


def _curve(box: Row, rival: Row, draws: Draws, days: np.ndarray) -> tuple[Any, ...]:
    """Reference, option, model, and the gain at each of `days` with its interval."""
    own, their = _central(box, rival)
    mine, theirs = _drawn(box["row"], rival, draws, slice(CURVE_DRAWS))
    drawn = np.asarray(theirs.at(days[:, None]) / mine.at(days[:, None]))
    return box["option"], rival["option"], box["model"], their.at(days) / own.at(days), *interval(drawn)
