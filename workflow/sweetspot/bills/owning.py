"""What is paid used or not: machines owned and terms committed to, by the month, the hour of use and as cash flow."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sweetspot.bills.columns import Array, Columns, from_rows, objects, size, stacked, to_rows

HOURS_A_DAY = 24.0
MONTHS_A_YEAR = 12.0
Number = float | Array


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


def kept_at(points: Sequence[Sequence[float]], months: npt.ArrayLike, end: int = 0) -> Array:
    """Share of the purchase that a machine is sold for after `months`; `end`: median (0), low (1), high (2).

    Linear between the points (years since the purchase, median, low, high), the first at 0 years; beyond the last one
    its share.
    """
    years = np.array([point[0] for point in points])
    kept = np.array([point[1 + end] for point in points])
    return np.interp(np.asarray(months, float) / MONTHS_A_YEAR, years, kept)


def relative(points: Any, months: npt.ArrayLike, central: float, dearer: npt.ArrayLike = 1.0) -> Array:
    """Resale value over that of the offers (`residual_usd`), by the column `residual_points`; 1 without it.

    After `months`, where the offers have `central`, of a machine bought for `dearer` times the offer's price: a curve
    is a share of the price and follows both, an amount stays.
    """
    curve = [] if points is None or isinstance(points, float) else [(p["years"], p["kept"]) for p in points]
    base = float(kept_at(curve, central)) if curve else 0.0
    if not base > 0:
        return np.ones(np.broadcast(months, dearer).shape)
    return np.asarray(kept_at(curve, months) / base * np.asarray(dearer, float))


CASH_COLUMNS = ("price_list", "instance", "purchase", "month", "usd", "cumulative_usd", "present_usd", "npv_usd")


def cash_table(offers: Columns) -> Columns:
    """CASH_COLUMNS of every machine owned and every term committed to, at the planned use; month 0 is the purchase.

    Spending is positive. `present_usd` discounts each payment to month 0 where the offer has a discount rate;
    `npv_usd` is their sum so far, the negative of NPV = -P + sum C_t/(1+k)^t + S/(1+k)^T.
    """
    parts = []
    for offer in to_rows(offers):
        if not np.isnan(offer["capex_usd"]):
            flow = owned_flow(offer)
        elif not np.isnan(offer["term_months"]):
            flow = _committed_flow(offer)
        else:
            continue
        named = {name: objects([offer[name]] * size(flow)) for name in CASH_COLUMNS[:3]}
        parts.append(named | flow)
    return stacked(parts) if parts else from_rows([], CASH_COLUMNS)


def owned_flow(offer: Mapping[str, Any]) -> Columns:
    """All boxes bought in month 0, then maintenance, staff and electricity, the residual value back in the last month.

    Electricity is that of the planned use less downtime.
    """
    hours = HOURS_A_DAY * offer["days_per_month"] * (1.0 - offer["downtime_share"])
    monthly = offer["maintenance_usd_per_month"] + offer["staff_usd_per_month"] + offer["energy_usd_per_hour"] * hours
    first, monthly, back = (offer["boxes"] * usd for usd in (offer["capex_usd"], monthly, offer["residual_usd"]))
    return _flow(first, monthly, offer["months"], back, offer["discount_rate"])


def _committed_flow(offer: Mapping[str, Any]) -> Columns:
    """Upfront in month 0, then the monthly sum and the hours due until the term ends; not discounted.

    Hours due are all of the month, or 24 x days of use (at most the month) where only hours used are charged.
    """
    days = offer["month_days"]
    if offer["charged"] == "used":
        days = min(offer["days_per_month"], days)
    monthly = offer["commitment_usd_per_month"] + offer["commitment_usd_per_hour"] * HOURS_A_DAY * days
    return _flow(offer["upfront_usd"], monthly, offer["term_months"], 0.0, 0.0)


def _flow(first: float, monthly: float, months: float, back: float, discount_rate: float) -> Columns:
    """Columns of CASH_COLUMNS from `month` (0 = purchase) on; a last part of a month counts as its fraction."""
    month = np.arange(math.ceil(months - 1e-9) + 1)
    usd = monthly * np.clip(months - (month - 1), 0.0, 1.0)
    usd[0] = first
    usd[-1] -= back
    present = usd / (1.0 + monthly_rate(discount_rate)) ** month
    return {"month": month, "usd": usd, "cumulative_usd": usd.cumsum(), "present_usd": present,
            "npv_usd": present.cumsum()}  # fmt: skip
