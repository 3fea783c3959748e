"""Costs of owned machines and commitments per month and per hour of use, and their cash flow."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sweetspot.bills.schemas import FloatArray, concat, table_of

HOURS_A_DAY = 24.0
MONTHS_A_YEAR = 12.0
Number = float | FloatArray


def monthly_rate(discount_rate: float) -> float:
    """Return the monthly discount rate that compounds to the yearly one."""
    return float((1.0 + discount_rate) ** (1.0 / 12.0)) - 1.0


def annuity(months: Number, discount_rate: float) -> Number:
    """Return the present value of 1 paid at the end of each month; `months` without discounting."""
    rate = monthly_rate(discount_rate)
    return months if rate == 0 else (1.0 - (1.0 + rate) ** -months) / rate


def fixed_per_month(
    capex: Number,
    months: Number,
    residual: Number,
    maintenance: Number,
    staff: Number,
    discount_rate: float = 0.0,
) -> Number:
    """Return the cost of an owned machine in USD per month, whether it is used or not.

    (capex - residual) / months + maintenance + staff; with a discount rate, the level payment whose present
    value is the purchase less the discounted residual value.

    Parameters
    ----------
    capex, residual
        USD paid at the start and got back at the end.
    months
        Months of ownership.
    maintenance, staff
        USD per month.
    discount_rate
        Per year.
    """
    discounted = residual / (1.0 + monthly_rate(discount_rate)) ** months
    return (capex - discounted) / annuity(months, discount_rate) + maintenance + staff


def usd_per_hour_of_use(fixed: Any, variable: Any, days: Any, downtime_share: Any = 0.0) -> Any:
    """Return the price of an hour of use: fixed / (24 d (1 - downtime)) + variable.

    Parameters
    ----------
    fixed, variable
        USD per month, and USD per hour of use (numbers, arrays or columns).
    days
        Planned days of use per month.
    downtime_share
        Share of the planned hours in which the machine is broken: those are no use and draw no power.
    """
    return fixed / (HOURS_A_DAY * days * (1.0 - downtime_share)) + variable


def crossing_days(
    fixed: npt.ArrayLike, variable: npt.ArrayLike, alternative: npt.ArrayLike, factor: float = 1.0
) -> FloatArray:
    """Return the days of use per month from which a fixed monthly cost pays; infinity if it never does.

    Break-even days: d* = fixed / (24 (alternative / factor - variable)).

    Parameters
    ----------
    fixed, variable
        USD per month, and USD per hour of use.
    alternative
        USD that the alternative costs for the work of one hour: p_c R_o / R_c.
    factor
        How many times cheaper than the alternative it has to be.
    """
    per_month, per_hour, other_usd = np.broadcast_arrays(
        *(np.asarray(usd, float) for usd in (fixed, variable, alternative))
    )
    margin = other_usd / factor - per_hour
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(margin > 0, per_month / (HOURS_A_DAY * margin), np.inf)


def share_of_price(points: Sequence[Sequence[float]], months: npt.ArrayLike, column: int = 0) -> FloatArray:
    """Return the resale value of a machine as a share of its purchase price.

    Parameters
    ----------
    points
        Years since the purchase (the first at 0), median, low and high share; linear in between and constant
        after the last.
    months
        Months since the purchase.
    column
        Median (0), low (1) or high (2).
    """
    years = [point[0] for point in points]
    shares = [point[1 + column] for point in points]
    return np.interp(np.asarray(months, float) / MONTHS_A_YEAR, years, shares)


def resale_factor(
    points: Any, months: npt.ArrayLike, baseline_months: float, price_factor: npt.ArrayLike = 1.0
) -> FloatArray:
    """Return the resale value over that of the offers table; 1 if it is an amount and not a curve.

    Parameters
    ----------
    points
        Column `residual_points` of the offers table.
    months, baseline_months
        Months of ownership, and those of the offers table.
    price_factor
        Purchase price over that of the offers table: a curve is a share of the price and follows it.
    """
    curve = [] if points is None or isinstance(points, float) else [(p["years"], p["kept"]) for p in points]
    baseline = float(share_of_price(curve, baseline_months)) if curve else 0.0
    if not baseline > 0:
        return np.ones(np.broadcast(months, price_factor).shape)
    return np.asarray(share_of_price(curve, months) / baseline * np.asarray(price_factor, float))


CASH_COLUMNS = ("price_list", "instance", "purchase", "month", "usd", "cumulative_usd", "present_usd", "npv_usd")


def cash_table(offers: pd.DataFrame) -> pd.DataFrame:
    """Return the monthly payments (CASH_COLUMNS) for owned machines and commitments at the planned use.

    Month 0 is the purchase; spending is positive. `present_usd` discounts each payment to month 0, `npv_usd` is
    the sum so far, the negative of NPV = -P + sum C_t/(1+k)^t + S/(1+k)^T.
    """
    flows = []
    for offer in offers.to_dict("records"):
        if not np.isnan(offer["capex_usd"]):
            flow = _ownership_payments(offer)
        elif not np.isnan(offer["term_months"]):
            flow = _commitment_payments(offer)
        else:
            continue
        flows.append(flow.assign(**{name: offer[name] for name in CASH_COLUMNS[:3]}))
    return concat([table_of([], CASH_COLUMNS), *flows])


def _ownership_payments(offer: Mapping[str, Any]) -> pd.DataFrame:
    """Buy all machines, pay for upkeep and the electricity of the planned use, and sell them in the last month."""
    hours = HOURS_A_DAY * offer["days_per_month"] * (1.0 - offer["downtime_share"])
    electricity = offer["energy_usd_per_hour"] * hours
    upkeep = offer["maintenance_usd_per_month"] + offer["staff_usd_per_month"]
    machines = offer["boxes"]
    return _payments(
        upfront=machines * offer["capex_usd"],
        monthly=machines * (upkeep + electricity),
        months=offer["months"],
        returned=machines * offer["residual_usd"],
        discount_rate=offer["discount_rate"],
    )


def _commitment_payments(offer: Mapping[str, Any]) -> pd.DataFrame:
    """Pay upfront, then the monthly sum and the hours due (all, or those used) until the term ends."""
    days = offer["month_days"]
    if offer["charged"] == "used":
        days = min(offer["days_per_month"], days)
    hourly = offer["commitment_usd_per_hour"] * HOURS_A_DAY * days
    monthly = offer["commitment_usd_per_month"] + hourly
    return _payments(offer["upfront_usd"], monthly, offer["term_months"])


def _payments(
    upfront: float, monthly: float, months: float, returned: float = 0.0, discount_rate: float = 0.0
) -> pd.DataFrame:
    """Return the payments of each month; a last part of a month counts as its fraction."""
    month = np.arange(math.ceil(months - 1e-9) + 1)
    usd = monthly * np.clip(months - (month - 1), 0.0, 1.0)
    usd[0] = upfront
    usd[-1] -= returned
    present = usd / (1.0 + monthly_rate(discount_rate)) ** month
    columns = {"month": month, "usd": usd, "cumulative_usd": usd.cumsum()}
    return pd.DataFrame(columns | {"present_usd": present, "npv_usd": present.cumsum()})
