"""Costs of owned machines and commitments per month and per hour of use."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sweetspot.bills.schemas import FloatArray, Number

HOURS_A_DAY = 24.0
MONTHS_A_YEAR = 12.0


def monthly_rate(discount_rate: float) -> float:
    """Return the share per month that compounds over 12 months to the yearly share `discount_rate`."""
    return float((1.0 + discount_rate) ** (1.0 / 12.0)) - 1.0


def annuity(months: Number, discount_rate: float) -> Number:
    """Return the present value of 1 USD at the end of each of `months` months; `months` itself without discounting."""
    rate = monthly_rate(discount_rate)
    return months if rate == 0 else (1.0 - (1.0 + rate) ** -months) / rate


def fixed_per_month(
    capex: Number, months: Number, residual: Number, maintenance: Number, staff: Number, discount_rate: float = 0.0
) -> Number:
    """Return the cost of an owned machine in USD per month, used or not, to set against rents.
    (capex - residual) / months + maintenance + staff; with a discount rate, the level payment whose present value is
    the purchase less the discounted residual value.

    Parameters
    ----------
    capex, months, residual, maintenance, staff, discount_rate
        USD paid at the start; months of ownership; USD got back at the end; USD per month (two); share per year.
    """
    discounted = residual / (1.0 + monthly_rate(discount_rate)) ** months
    return (capex - discounted) / annuity(months, discount_rate) + maintenance + staff


def usd_per_hour_of_use(fixed: Any, variable: Any, days: Any, downtime_share: Any = 0.0) -> Any:
    """Return USD per hour of use, which compares owned with rented: fixed / (24 d (1 - downtime)) + variable.

    Parameters
    ----------
    fixed, variable, days, downtime_share
        USD per month, USD per hour of use, planned days of use per month (0: infinity), share of these in which the
        machine is broken and draws no power (numbers, arrays or columns).
    """
    hours = np.multiply(HOURS_A_DAY * days, 1.0 - downtime_share)
    with np.errstate(divide="ignore"):  # Without any use an hour costs more than any price.
        return fixed / hours + variable


def share_of_price(points: Sequence[Sequence[float]], months: npt.ArrayLike, column: int = 0) -> FloatArray:
    """Return the resale value of a machine as a share of its purchase price after some months, to price ownership.

    Parameters
    ----------
    points, months, column
        Rows of [years since the purchase (the first 0), median, low, high share], linear between, constant after;
        months since the purchase; which share is returned: median (0), low (1) or high (2).
    """
    years = [point[0] for point in points]
    shares = [point[1 + column] for point in points]
    return np.interp(np.asarray(months, float) / MONTHS_A_YEAR, years, shares)


def resale_factor(
    points: Any, months: npt.ArrayLike, baseline_months: float, price_factor: npt.ArrayLike = 1.0
) -> FloatArray:
    """Return the resale value at other months or prices / that in the offers table, to price a change; no curve: 1.

    Parameters
    ----------
    points, months, baseline_months, price_factor
        Column `residual_points` of an offer ([{years, kept}] or missing); months of ownership, here and in the offers
        table; purchase price as a multiple of the table's.
    """
    curve = [] if points is None or isinstance(points, float) else [(p["years"], p["kept"]) for p in points]
    baseline = float(share_of_price(curve, baseline_months)) if curve else 0.0
    if not baseline > 0:
        return np.ones(np.broadcast(months, price_factor).shape)
    return np.asarray(share_of_price(curve, months) / baseline * np.asarray(price_factor, float))
