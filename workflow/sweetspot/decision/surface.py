"""Where owning pays: days of use a month x months of the project x electricity price."""

from dataclasses import replace

import numpy as np
import pandas as pd

from sweetspot.bills.owning import crossing_days, usd_per_hour_of_use
from sweetspot.decision.contest import Contest, contests
from sweetspot.decision.counted import DOLLARS, Money

DAYS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25)
MONTHS_FACTOR = tuple(tenth / 10 for tenth in range(1, 21))
TARIFF_FACTOR = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
COLUMNS = (
    "reference", "rival", "model", "days", "months", "usd_per_kwh", "ratio", "winner", "break_even_days", "condition",
)  # fmt: skip


def surface(options: pd.DataFrame, month_days: float, money: Money = DOLLARS) -> pd.DataFrame:
    """One row per (model, days of use a month, months of the project, USD/kWh), against the cheapest rented rival.

    `ratio` = USD of the rival / USD of the box (> 1: the box wins), `winner`, `break_even_days` for that length and
    tariff (null: never within the month), `condition`: when the box never pays. Months and tariff are multiples of
    the price list's; days go up to the whole month. Empty where the reference is not owned or has no rented rival.
    """
    parts = []
    for contest in contests(options):
        rented = Contest(contest.box, tuple(rival for rival in contest.rivals if rival.rented))
        if rented.rivals:
            parts.append(_grid(rented, month_days, money))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS))


def _grid(contest: Contest, month_days: float, money: Money) -> pd.DataFrame:
    box, rival = contest.box, contest.rivals[0]
    own = {*DAYS, box.days_per_month, month_days}
    days = np.array(sorted(day for day in own if day <= month_days), float)
    months = float(box.months) * np.array(MONTHS_FACTOR)
    tariffs = float(box.usd_per_kwh) * np.array(TARIFF_FACTOR)
    day, month, tariff = (part.ravel() for part in np.meshgrid(days, months, np.unique(tariffs), indexing="ij"))
    ratio = contest.margin(days_per_month=day, months=month, usd_per_kwh=tariff)
    varied = replace(box, months=month, usd_per_kwh=tariff)
    cross = crossing_days(varied.fixed(), varied.variable(), contest.rival_hour(month))
    return pd.DataFrame(
        {
            "reference": box.option,
            "rival": rival.option,
            "model": box.model,
            "days": day,
            "months": month,
            "usd_per_kwh": tariff,
            "ratio": ratio,
            "winner": np.where(ratio > 1, box.option, rival.option),
            "break_even_days": np.where(cross <= month_days, cross, np.nan),
            "condition": never_pays(contest, month_days, money),
        }
    )[list(COLUMNS)]


def never_pays(contest: Contest, month_days: float, money: Money = DOLLARS) -> str:
    """The condition under which the box never pays, in words with its numbers (all else as in the price list)."""
    box, rival = contest.box, contest.rivals[0]
    hour = float(contest.rival_hour())
    idle = usd_per_hour_of_use(float(box.fixed()), 0.0, month_days)
    energy = float(box.variable())
    price, now = (money.of(usd) for usd in ((idle + energy) / hour * rival.usd_per_hour, rival.usd_per_hour))
    never = f"Even used every day, {box.name} never pays for {box.model_title}"
    if hour <= idle + energy:
        return f"{never}: {rival.name} costs {now:.3g} {money.code} an hour, it would pay above {price:.3g}"
    parts = [f"if {rival.name} costs {price:.3g} {money.code} an hour or less (now {now:.3g})"]
    load = float(replace(box, usd_per_kwh=1.0).variable())  # kWh an hour of use
    if load > 0:
        most, now = money.of((hour - idle) / load), money.of(float(box.usd_per_kwh))
        parts.append(f"if electricity costs more than {most:.3g} {money.code}/kWh (now {now:.3g})")
    return f"{never} {', or '.join(parts)}"
