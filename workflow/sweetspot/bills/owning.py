"""Owning a machine: what an hour of use costs, present values, cash flow by month, and when it pays."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sweetspot.errors import UserError

if TYPE_CHECKING:  # the decision and the claims need the arithmetic only: neither pandas nor the models
    import pandas as pd

    from sweetspot.study.terms import Amount, Own

HOURS_A_DAY = 24.0
# A larger amount makes owning dearer, except for these.
CHEAPER_IF_MORE = ("months", "residual", "days_per_month")


def monthly_rate(discount_rate: float) -> float:
    """Discount rate of a month that compounds to the yearly one."""
    return (1.0 + discount_rate) ** (1.0 / 12.0) - 1.0


def annuity(months: float, discount_rate: float) -> float:
    """Present value of 1 paid at the end of each of `months` months; `months` itself without discounting."""
    rate = monthly_rate(discount_rate)
    return months if rate == 0 else (1.0 - (1.0 + rate) ** -months) / rate


def fixed_per_month(own: Mapping[str, float], discount_rate: float = 0.0) -> float:
    """What a month costs whether the machine is used or not.

    (capex - residual)/months + maintenance + staff (DESIGN.md, office hour); with a discount rate, the level
    payment whose present value is capex less the discounted residual value.
    """
    factor = annuity(own["months"], discount_rate)
    residual = own["residual"] / (1.0 + monthly_rate(discount_rate)) ** own["months"]
    return (own["capex"] - residual) / factor + own["maintenance"] + own["staff"]


def running_per_hour(own: Mapping[str, Any]) -> Any:
    """Electricity of an hour of use: kW x PUE x price of a kWh; numbers, arrays or columns."""
    return own["kw"] * own["pue"] * own["per_kwh"]


def office_hour(own: Mapping[str, float], discount_rate: float = 0.0, downtime_share: float = 0.0) -> float:
    """USD an hour of use: fixed / (24 d (1 - downtime)) + kW x PUE x price_kWh, d = days of use a month."""
    hours = HOURS_A_DAY * own["days"] * (1.0 - downtime_share)
    return fixed_per_month(own, discount_rate) / hours + running_per_hour(own)


def own_numbers(own: "Own", end: int | None = None, factor: float = 1.0) -> dict[str, float]:
    """The amounts of `own` times `factor` (currency, tax): central, or where owning is cheapest (0) or dearest (1)."""

    def pick(name: str, amount: "Amount") -> float:
        if end is None:
            return amount.value
        return amount.ends[1 - end if name in CHEAPER_IF_MORE else end]

    def money(name: str) -> float:
        return pick(name, getattr(own, name)) * factor

    return {
        "capex": money("capex"),
        "months": pick("months", own.months),
        "residual": money("residual"),
        "maintenance": money("maintenance_per_month"),
        "staff": pick("", own.staff_hours_per_month) * money("staff_per_hour"),
        "kw": pick("", own.kw) * pick("", own.load_share),
        "pue": pick("", own.pue),
        "per_kwh": money("per_kwh"),
        "days": pick("days_per_month", own.days_per_month),
    }


def crossing_days(
    fixed: np.ndarray | float, variable: np.ndarray | float, rival: np.ndarray | float, factor: float = 1.0
) -> np.ndarray:
    """Days of use a month from which an hour of the box costs at most `rival` / `factor` USD; inf: never.

    `fixed` USD a month and `variable` USD an hour of the box; `rival` is what the alternative costs for the work
    that the box does in one hour: p_c R_o / R_c (DESIGN.md, break-even days: d* = fixed / (24 (rival - variable))).
    """
    fixed, variable, rival = np.broadcast_arrays(*(np.asarray(part, float) for part in (fixed, variable, rival)))
    margin = rival / factor - variable
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(margin > 0, fixed / (HOURS_A_DAY * margin), np.inf)


def break_even_days(
    capex: float,
    months: float,
    rival_per_hour: float,
    own_images_per_s: float,
    rival_images_per_s: float,
    kw: float,
    per_kwh: float,
    month_days: float | None = None,
) -> float | None:
    """Days of use a month from which owning costs less than renting; None where no use within a month is enough.

    d* = (capex/months) / (24 (p_c R_o/R_c - kW p_kWh)) (DESIGN.md). `capex` in USD less any residual value,
    `rival_per_hour` in USD, throughputs in images/s. None too where `month_days` is given and d* is longer.
    Raises UserError for a throughput, a price or months not above 0.
    """
    positive = {"months": months, "rival_per_hour": rival_per_hour, "rival_images_per_s": rival_images_per_s}
    for name, value in positive.items():
        if not value > 0:
            raise UserError(f"break-even: {name} is {value}; expected a number above 0")
    hour = rival_per_hour * own_images_per_s / rival_images_per_s
    days = float(crossing_days(capex / months, kw * per_kwh, hour))
    return None if days > (math.inf if month_days is None else month_days) or math.isinf(days) else days


def cash_flow(
    own: Mapping[str, float], discount_rate: float, boxes: int, downtime_share: float = 0.0
) -> "pd.DataFrame":
    """Money spent by month for all boxes: columns month (0 = purchase), usd, cumulative_usd, present_usd, npv_usd.

    Spending is positive. `present_usd` discounts each payment to month 0; `npv_usd` is their sum so far, the
    negative of DESIGN.md's NPV = -P + sum C_t/(1+k)^t + S/(1+k)^T. A last part of a month counts as its fraction.
    """
    import pandas as pd

    whole = math.ceil(own["months"] - 1e-9)
    energy = running_per_hour(own) * HOURS_A_DAY * own["days"] * (1.0 - downtime_share)
    monthly = own["maintenance"] + own["staff"] + energy
    months = list(range(whole + 1))
    shares = [0.0] + [min(1.0, own["months"] - (month - 1)) for month in months[1:]]
    usd = [boxes * monthly * share for share in shares]
    usd[0] += boxes * own["capex"]
    usd[-1] -= boxes * own["residual"]
    table = pd.DataFrame({"month": months, "usd": usd})
    table["cumulative_usd"] = table["usd"].cumsum()
    table["present_usd"] = table["usd"] / (1.0 + monthly_rate(discount_rate)) ** table["month"]
    table["npv_usd"] = table["present_usd"].cumsum()
    return table
