"""Money spent month by month on what is paid for whether it is used or not: machines owned, terms committed to."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sweetspot.bills.columns import Columns, from_rows, objects, size, stacked, to_rows
from sweetspot.bills.owning import HOURS_A_DAY, monthly_rate

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
            flow = committed_flow(offer)
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
    boxes = offer["boxes"]
    flow = _flow(boxes * offer["capex_usd"], boxes * monthly, offer["months"], boxes * offer["residual_usd"])
    return _discounted(flow, offer["discount_rate"])


def committed_flow(offer: Mapping[str, Any]) -> Columns:
    """Upfront in month 0, then the monthly sum and the hours due until the term ends; not discounted.

    Hours due are all of the month, or 24 x days of use (at most the month) where only hours used are charged.
    """
    days = offer["month_days"]
    if offer["charged"] == "used":
        days = min(offer["days_per_month"], days)
    monthly = offer["commitment_usd_per_month"] + offer["commitment_usd_per_hour"] * HOURS_A_DAY * days
    return _discounted(_flow(offer["upfront_usd"], monthly, offer["term_months"], 0.0), 0.0)


def _flow(first: float, monthly: float, months: float, back: float) -> Columns:
    """Columns month (0 = purchase) and usd; a last part of a month counts as its fraction."""
    month = np.arange(math.ceil(months - 1e-9) + 1)
    usd = monthly * np.clip(months - (month - 1), 0.0, 1.0)
    usd[0] = first
    usd[-1] -= back
    return {"month": month, "usd": usd}


def _discounted(flow: Columns, discount_rate: float) -> Columns:
    present = flow["usd"] / (1.0 + monthly_rate(discount_rate)) ** flow["month"]
    return flow | {"cumulative_usd": flow["usd"].cumsum(), "present_usd": present, "npv_usd": present.cumsum()}
