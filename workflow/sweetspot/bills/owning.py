"""What is paid whether it is used or not, by the month and by the hour of use: machines owned, terms committed to."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

HOURS_A_DAY = 24.0
Number = float | npt.NDArray[np.float64]


def monthly_rate(discount_rate: float) -> float:
    """Discount rate of a month that compounds to the yearly one."""
    return float((1.0 + discount_rate) ** (1.0 / 12.0)) - 1.0


def annuity(months: Number, discount_rate: float) -> Number:
    """Present value of 1 paid at the end of each of `months` months; `months` itself without discounting."""
    rate = monthly_rate(discount_rate)
    return months if rate == 0 else (1.0 - (1.0 + rate) ** -months) / rate


def fixed_per_month(own: Mapping[str, Number], discount_rate: float = 0.0) -> Number:
    """USD a month of an owned machine whether it is used or not.

    (capex - residual)/months + maintenance + staff (docs/prices.md); with a discount rate, the level
    payment whose present value is capex less the discounted residual value.
    """
    factor = annuity(own["months"], discount_rate)
    residual = own["residual"] / (1.0 + monthly_rate(discount_rate)) ** own["months"]
    return (own["capex"] - residual) / factor + own["maintenance"] + own["staff"]


def kwh_per_hour(own: Mapping[str, Any]) -> Any:
    """What an hour of use takes from the grid: kW x PUE; numbers, arrays or columns."""
    return own["kw"] * own["pue"]


def running_per_hour(own: Mapping[str, Any]) -> Any:
    """Electricity of an hour of use: kW x PUE x price of a kWh; numbers, arrays or columns."""
    return kwh_per_hour(own) * own["per_kwh"]


def usd_per_hour_of_use(fixed: Any, variable: Any, days: Any, downtime_share: Any = 0.0) -> Any:
    """USD an hour of use at `days` of planned use a month: fixed / (24 d (1 - downtime)) + variable.

    `fixed`, `variable`, `downtime_share`: the columns `fixed_usd_per_month`, `variable_usd_per_hour` and
    `downtime_share` (null: 0) of offers.parquet; numbers, arrays or columns. The month's fixed sum is spread over the
    planned hours in which the machine works: an hour in which it is broken is no hour of use and draws no power.
    """
    return fixed / (HOURS_A_DAY * days * (1.0 - downtime_share)) + variable


def crossing_days(
    fixed: npt.ArrayLike, variable: npt.ArrayLike, rival: npt.ArrayLike, factor: float = 1.0
) -> npt.NDArray[np.float64]:
    """Days of use a month from which `usd_per_hour_of_use` is at most `rival` / `factor` USD; inf: never.

    `fixed` USD a month, `variable` USD an hour of use; `rival` is what the alternative costs for the work that the
    machine does in one hour: p_c R_o / R_c (break-even days: d* = fixed / (24 (rival - variable))).
    """
    per_month, per_hour, other = np.broadcast_arrays(*(np.asarray(part, float) for part in (fixed, variable, rival)))
    margin = other / factor - per_hour
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(margin > 0, per_month / (HOURS_A_DAY * margin), np.inf)


def committed_month(
    term_months: float, upfront: float, per_month: float, per_hour: float, always: bool, month_days: float
) -> tuple[float, float]:
    """USD a month and USD an hour of use of a commitment.

    `always`: the hourly price is due for every hour of the month and so belongs to the month; else for hours of use.
    """
    month = upfront / term_months + per_month
    return (month + per_hour * HOURS_A_DAY * month_days, 0.0) if always else (month, per_hour)
