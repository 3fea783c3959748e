"""What an option's speed, month and hour are at any values of the figures that it rests on: one copy for every cost.

A draw, a moved assumption and an edited price are all factors of the figures of a row of the options.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import fixed_per_month, running_per_hour
from sweetspot.bills.rent_ahead import rent_over
from sweetspot.bills.resale import relative
from sweetspot.bills.spot import makespan, overhead

LEAST_LEFT = 1e-3  # of a project: what comes later than that is paid for and of no use
Row = Mapping[str, Any]  # of the options
Number = float | np.ndarray
Factor = Callable[[str], Number]  # of the row's figure with that name; 1 where it stays


class Rates(NamedTuple):
    """Of one option, numbers or one a case.

    `fixed`: USD a month, used or not; `variable`: USD an hour of use; `days` of use a month (NaN where rented);
    `longer`: elapsed hours of a job over those as planned, at the same speed (interruptions).
    """

    fixed: Number
    variable: Number
    days: Number
    longer: Number


def rates(row: Row, factor: Factor, rent: Number | None = None) -> Rates:
    """The rates of a row with its figures at `factor` of what they are.

    `rent`: the mean rent of the project over that as planned, where it was drawn; else by the project's months.
    """
    return _owned(row, factor) if row["purchase"] == "own" else _rented(row, factor, rent)


def _owned(row: Row, factor: Factor) -> Rates:
    held = possession(row, lambda _: 1.0)
    fixed = row["fixed_usd_per_month"] * possession(row, factor) / (held or 1.0)  # held is 0: there already, no care
    power = {"kw": row["kw"] * factor("kw"), "pue": row["pue"], "per_kwh": row["usd_per_kwh"] * factor("usd_per_kwh")}
    return Rates(fixed, running_per_hour(power), row["days_per_month"] * factor("days_per_month"), 1.0)


def _rented(row: Row, factor: Factor, rent: Number | None) -> Rates:
    months = factor("months")
    if rent is None:
        rent = 1.0 if isinstance(months, float) and months == 1.0 else rent_over(row, row["rent_months"] * months)
    running, longer = _interrupted(row, factor("interruptions_per_hour"))
    price = factor("usd_per_hour") * rent * factor("rent_factor")
    return Rates(0.0, row["variable_usd_per_hour"] * price * running, np.nan, longer)


def _interrupted(row: Row, factor: Number) -> tuple[Number, Number]:
    """Machine hours and elapsed hours of a job at another rate of interruptions, over those as planned (Daly)."""
    planned = or_zero(row.get("interruptions_per_hour"))
    if not planned > 0:
        return 1.0, 1.0
    dump, restore, wait = (or_zero(row.get(f"{name}_s")) / 3600.0 for name in ("checkpoint", "restore", "wait"))
    every = float(row["every_s"]) / 3600.0 if pd.notna(row.get("every_s")) else float("nan")
    often = planned * factor
    running = overhead(often, dump, restore, every) / overhead(planned, dump, restore, every)
    return running, running * makespan(1.0, often, wait) / makespan(1.0, planned, wait)


def possession(row: Row, factor: Factor, after: Number = 0.0) -> Number:
    """USD a month of having the row's machine, used or not; downtime is not in it. `after`: it comes so many months
    after the project's begin, and is sold at its end for what one that was there at once would be.
    """
    capex, months = row["capex_usd"] * factor("capex_usd"), row["months"] * factor("months")
    residual = sold_for(row, capex, row["residual_usd"] * factor("residual_usd"), months)
    left = np.maximum(months - after, LEAST_LEFT * months)
    return month_of(row, capex, left, residual, factor("maintenance_usd_per_month")) * left / months


def month_of(row: Row, capex: Number, months: Number, residual: Number, care: Number = 1.0) -> Number:
    """USD a month of having the row's machine at that price, length and resale value (`fixed_per_month`); `care`: times
    the maintenance that is planned.
    """
    own = {
        "capex": capex,
        "months": months,
        "residual": residual,
        "maintenance": row["maintenance_usd_per_month"] * care,
        "staff": row["staff_usd_per_month"],
    }
    return fixed_per_month(own, row["discount_rate"])


def sold_for(row: Row, capex: Number, residual: Number, months: Number) -> Number:
    """USD that a machine is sold for at another price and length: by a curve both count, an amount stays `residual`."""
    dearer = capex / row["capex_usd"] if row["capex_usd"] > 0 else 1.0
    return np.asarray(residual * relative(row.get("residual_points"), months, row["months"], dearer))


def by_contract(row: Row) -> bool:
    """Whether a rented machine is paid by the month, used or not: the price of its hour goes as one over its days."""
    return row["purchase"] != "own" and bool(pd.notna(row["days_per_month"]))


def by_the_hour(row: Row) -> bool:
    """Whether a machine is paid for the hours of its use alone."""
    return row["purchase"] != "own" and not by_contract(row)


def or_zero(value: float | None) -> float:
    """The number, 0 where there is none."""
    return 0.0 if value is None or pd.isna(value) else float(value)
