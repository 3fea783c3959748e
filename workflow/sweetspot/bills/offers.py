"""Offers of a price list in USD: what a month and an hour of use cost, one row per offer, and the fees beside it."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.energy import MeteredPower, energy_columns, with_metered_power
from sweetspot.bills.owning import HOURS_A_DAY, crossing_days, fixed_per_month, share_of_price, usd_per_hour_of_use
from sweetspot.bills.price_paths import TREND_COLUMNS
from sweetspot.bills.renting import HOUR_S, break_even_interruptions, overhead
from sweetspot.bills.schemas import FloatArray, bound_columns, bounds, table_of, with_bounds
from sweetspot.cells import INTERRUPTIBLE
from sweetspot.errors import UserError
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import RATE_HOURS, Offer, PriceList
from sweetspot.study.terms import Billing, Commitment, Own, Rate, Vat
from sweetspot.study.trends import Drift, Jumps, RandomWalk, Resale, path_and_title, preset_of

GRANULARITY_S = {"millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": 3600.0}
OFFER_COLUMNS = (
    "price_list", "instance", "purchase", "provider",
    *with_bounds("usd_per_hour", "fixed_usd_per_month", "variable_usd_per_hour", "energy_usd_per_hour"),
    *with_bounds("capex_usd", "months", "residual_usd"),
    "maintenance_usd_per_month", *with_bounds("kw"), "pue", *with_bounds("usd_per_kwh", "days_per_month"),
    "discount_rate", "boxes", *with_bounds("interruptions_per_hour"), "checkpoint_s", "restore_s", "wait_s",
    "granularity_s", "minimum_s", "setup_usd", "monthly_usd", "upfront_usd", "term_months",
    "commitment_usd_per_month", "commitment_usd_per_hour", "charged", "month_days", "as_of", "source", "basis",
    "warnings", "every_s", "monthly_minimum_usd", "prorated", "storage_usd_per_month", "egress_usd", "per_start_usd",
    "fees_usd_per_hour", "fees_usd_per_month", "downtime_share", "staff_usd_per_month", "on_demand_usd_per_hour",
    "spot_overhead", "spot_beats_on_demand", "losing_interruptions_per_hour", "earning_days_per_month", "gpu",
    "gpus", "price_list_title", "month_usd", *with_bounds("kwh_per_hour", "kg_co2e_per_hour"), "power_basis",
    "power_source", "grid_source", "energy_lacks", *TREND_COLUMNS, "residual_points",
    *with_bounds("delivery_months"), "offer_until", *with_bounds("sell_for_usd"), "offer_ended",
)  # fmt: skip
FEE_COLUMNS = ("price_list", "instance", "purchase", "name", "unit", "usd")
FEE_SUMS = {"per_start": "per_start_usd", "per_hour": "fees_usd_per_hour", "per_month": "fees_usd_per_month"}
# Months, days of use and resale values make an hour cheaper: their high value belongs to the low price.
INVERTED = [0, 2, 1]


def offers_in_usd(
    name: str,
    prices: PriceList,
    instances: Mapping[str, Instance],
    month_days: float,
    energy: Energy | None = None,
    price_paths: bool | None = None,
    metered: Mapping[str, MeteredPower] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Convert a price list to USD, hours and months: the tables of offers and of fees.

    An hour of use at d planned days per month costs fixed_usd_per_month / (24 d (1 - downtime_share)) +
    variable_usd_per_hour; `usd_per_hour` is that at `days_per_month`, at most the month. `fixed_usd_per_month` is
    due for one machine whether it is used or not: (capex - residual) / months + maintenance + staff if owned, the
    term's sum if committed, 0 if rented. `variable_usd_per_hour` is electricity if owned, otherwise the hourly
    price; interruptions come on top (`spot_overhead`). `_low` takes the cheap bound of every part and `_high` the
    expensive one, to which few days of use belong.

    Parameters
    ----------
    name
        Name of the price list.
    prices
        The price list; all its machines are among `instances`.
    instances
        Machines by name.
    month_days
        Days of a month.
    energy
        Power and grids that the study declares.
    price_paths
        Whether rental prices change over the months of a project; None: only those with a trend of their own.
    metered
        Power that runs measured, which replaces the declared kW of owned machines.

    Returns
    -------
    offers, fees
        OFFER_COLUMNS in the order of the list, still without `warnings` and `offer_ended`; and FEE_COLUMNS, where
        `usd` is the price of all pieces of a fee per start, billed hour or month.

    Raises
    ------
    UserError
        If a currency has no exchange rate.
    """
    rows: list[dict[str, Any]] = []
    fees: list[dict[str, Any]] = []
    for listed_offer in prices.offers:
        machine = instances[listed_offer.instance]
        day = listed_offer.as_of or prices.as_of
        power = (metered or {}).get(listed_offer.instance)
        offer = with_metered_power(listed_offer, power)
        money = usd_per_unit(offer, prices)
        row = _identity(name, offer, prices, machine, month_days)
        row |= energy_columns(offer, machine, energy) | _delivery(offer, day, month_days)
        if offer.own is not None:
            row |= _owned(offer.own, money)
            if power is not None and offer is not listed_offer:
                row["power_source"] = f"{power.source}; x PUE {offer.own.pue.value:g}"
        else:
            billing = offer.billing or prices.billing
            offer_fees = _fees(row, billing, money[0])
            fees += offer_fees
            row |= _billing_terms(billing, money[0], month_days)
            for unit, column in FEE_SUMS.items():
                row[column] = sum(fee["usd"] for fee in offer_fees if fee["unit"] == unit)
            if offer.commitment is not None:
                row |= _committed(offer.commitment, offer, prices, month_days)
            else:
                row |= _rented(offer, prices, month_days)
        rows.append(row | _trend_columns(offer, machine, price_paths))
    return table_of(rows, OFFER_COLUMNS), table_of(fees, FEE_COLUMNS)


def tax_factor(vat: Vat | None) -> float:
    """Return what turns a printed price into what the buyer bears: without reclaimed tax, with any other."""
    if vat is None:
        return 1.0
    net = 1.0 / (1.0 + vat.rate) if vat.included else 1.0
    return net if vat.reclaimed else net * (1.0 + vat.rate)


def usd_per_unit(offer: Offer, prices: PriceList) -> FloatArray:
    """Return USD per printed unit of money, exchange rate x tax, as [value, low, high].

    Raises UserError if the currency has no exchange rate.
    """
    currency = offer.currency or prices.currency
    rate = exchange_rate(offer, prices)
    if rate is None and currency != "USD":
        raise UserError(f"offer '{offer.instance}' is priced in {currency}; expected a dated rate for it in 'rates'")
    exchange = np.ones(3) if rate is None else bounds(rate.usd)
    return exchange * tax_factor(offer.vat or prices.vat)


def exchange_rate(offer: Offer, prices: PriceList) -> Rate | None:
    """Return the exchange rate of the offer's currency, if the list has one."""
    currency = offer.currency or prices.currency
    return next((rate for rate in prices.rates if rate.currency == currency), None)


def hourly_price(offer: Offer, prices: PriceList, month_days: float) -> FloatArray:
    """Return USD per hour of an offer with a rate or a composed machine, as [value, low, high]."""
    money = usd_per_unit(offer, prices)
    if offer.compose is not None:
        accelerators = bounds(offer.compose.gpu.per_hour) * offer.compose.count
        return (bounds(offer.compose.machine.per_hour) + accelerators) * money
    unit = next(unit for unit in RATE_HOURS if getattr(offer, unit) is not None)
    hours = RATE_HOURS[unit] or month_days * 24.0
    return bounds(getattr(offer, unit)) * money / hours


def on_demand_price(offer: Offer, prices: PriceList, month_days: float) -> float:
    """Return USD per hour on demand of the same machine, stated by the offer or in the list; NaN if unknown."""
    if offer.on_demand_per_hour is not None:
        return float(offer.on_demand_per_hour.value * usd_per_unit(offer, prices)[0])
    for other_offer in prices.offers:
        if other_offer.instance == offer.instance and other_offer.purchase == "on_demand":
            return float(hourly_price(other_offer, prices, month_days)[0])
    return float("nan")


def has_ended(offer: Offer, study_date: date) -> bool:
    """True if the last day of the offer is before the study's date."""
    return offer.until is not None and offer.until < study_date


def _identity(name: str, offer: Offer, prices: PriceList, machine: Instance, month_days: float) -> dict[str, Any]:
    source = offer.source or prices.source
    rate = exchange_rate(offer, prices)
    if rate is not None:
        source = f"{source} ; 1 {rate.currency} = {rate.usd.value:g} USD on {rate.as_of}: {rate.source}"
    row = {
        "price_list": name,
        "price_list_title": prices.title or name,
        "instance": offer.instance,
        "purchase": offer.purchase,
        "provider": machine.provider,
        "gpu": machine.gpu,
        "gpus": machine.gpus,
        "month_days": month_days,
        "as_of": (offer.as_of or prices.as_of).isoformat(),
        "source": source,
        "basis": offer.basis,
    }
    if offer.per_month is not None:
        row["month_usd"] = offer.per_month.value * usd_per_unit(offer, prices)[0]
    return row


def _delivery(offer: Offer, day: date, month_days: float) -> dict[str, Any]:
    """Return the months from the day of the price until the machine is available, and the last day of the offer."""
    weeks = bounds(offer.available_from_weeks)
    if offer.available_from is not None:
        weeks = np.full(3, (offer.available_from - day).days / 7.0)
    until = None if offer.until is None else offer.until.isoformat()
    return bound_columns("delivery_months", weeks * 7.0 / month_days) | {"offer_until": until}


def _billing_terms(billing: Billing, money: float, month_days: float) -> dict[str, Any]:
    storage, egress = billing.storage, billing.egress
    seconds = GRANULARITY_S | {"month": month_days * 24.0 * HOUR_S}
    return {
        "granularity_s": seconds[billing.granularity] if billing.granularity else 0.0,
        "minimum_s": billing.minimum_s,
        "setup_usd": billing.setup.value * money,
        "monthly_usd": billing.monthly.value * money,
        "monthly_minimum_usd": billing.monthly_minimum.value * money,
        "prorated": billing.prorated,
        "storage_usd_per_month": 0.0 if storage is None else storage.gb.value * storage.per_gb_month.value * money,
        "egress_usd": 0.0 if egress is None else egress.gb.value * egress.per_gb.value * money,
    }


def _fees(row: Mapping[str, Any], billing: Billing, money: float) -> list[dict[str, Any]]:
    identity = {column: row[column] for column in FEE_COLUMNS[:3]}
    return [
        identity | {"name": fee.name, "unit": unit, "usd": amount.value * fee.count.value * money}
        for fee in billing.fees
        for unit in FEE_SUMS
        if (amount := getattr(fee, unit)) is not None
    ]


def _hour_of_use(
    fixed: FloatArray, variable: FloatArray, energy: FloatArray, days: FloatArray, downtime_share: float = 0.0
) -> dict[str, Any]:
    hour = usd_per_hour_of_use(fixed, variable, days[INVERTED], downtime_share)
    return {
        **bound_columns("usd_per_hour", hour),
        **bound_columns("fixed_usd_per_month", fixed),
        **bound_columns("variable_usd_per_hour", variable),
        **bound_columns("energy_usd_per_hour", energy),
    }


def _owned(own: Own, money: FloatArray) -> dict[str, Any]:
    capex, months, days = bounds(own.capex) * money, bounds(own.months), bounds(own.days_per_month)
    residual, points = _residual(own)
    maintenance = bounds(own.maintenance_per_month) * money
    staff = bounds(own.staff_hours_per_month) * bounds(own.staff_per_hour) * money
    kw = bounds(own.kw) * bounds(own.load_share)
    usd_per_kwh = bounds(own.per_kwh) * money
    electricity = kw * bounds(own.pue) * usd_per_kwh
    fixed = fixed_per_month(capex, months[INVERTED], residual[INVERTED] * money, maintenance, staff, own.discount_rate)
    row = {
        **_hour_of_use(np.asarray(fixed), electricity, electricity, days, own.downtime_share),
        **bound_columns("capex_usd", capex),
        **bound_columns("months", months),
        **bound_columns("kw", kw),
        **bound_columns("usd_per_kwh", usd_per_kwh),
        **bound_columns("days_per_month", days),
        **bound_columns("residual_usd", residual * money),
        "residual_points": points,
        "maintenance_usd_per_month": maintenance[0],
        "staff_usd_per_month": staff[0],
        "pue": own.pue.value,
        "discount_rate": own.discount_rate,
        "downtime_share": own.downtime_share,
        "boxes": own.boxes,
    }
    if own.sell_for is not None:
        row |= bound_columns("sell_for_usd", bounds(own.sell_for) * money)
    return row


def _residual(own: Own) -> tuple[FloatArray, list[dict[str, float]] | None]:
    """Return what the machine sells for at the end as [value, low, high] in the offer's money, and its curve if any.

    A curve is a share of the central price after the central months; its high value is at most the lowest price.
    """
    if not isinstance(own.residual, Resale):
        return bounds(own.residual), None
    points = own.residual.by_years()
    shares = np.array([share_of_price(points, own.months.value, column) for column in range(3)])
    curve = [{"years": point[0], "kept": point[1]} for point in points]
    return np.minimum(own.capex.value * shares, own.capex.ends[0]), curve


def _committed(deal: Commitment, offer: Offer, prices: PriceList, month_days: float) -> dict[str, Any]:
    money = usd_per_unit(offer, prices)
    planned = offer.days_per_month or prices.days_per_month
    days = np.full(3, month_days) if planned is None else bounds(planned)
    term, upfront = bounds(deal.term_months), bounds(deal.upfront) * money
    monthly, hourly = bounds(deal.per_month) * money, bounds(deal.per_hour) * money
    fixed, variable = upfront / term[INVERTED] + monthly, hourly
    if deal.charged == "always":  # Every hour of the month is due, used or not.
        fixed, variable = fixed + hourly * HOURS_A_DAY * month_days, np.zeros(3)
    on_demand = on_demand_price(offer, prices, month_days)
    earning_days = float(crossing_days(fixed[0], variable[0], on_demand))
    return {
        **_hour_of_use(fixed, variable, np.zeros(3), np.minimum(days, month_days)),
        **bound_columns("days_per_month", days),
        "upfront_usd": upfront[0],
        "term_months": term[0],
        "commitment_usd_per_month": monthly[0],
        "commitment_usd_per_hour": hourly[0],
        "charged": deal.charged,
        "on_demand_usd_per_hour": on_demand,
        "earning_days_per_month": earning_days if earning_days <= month_days else None,
    }


def _rented(offer: Offer, prices: PriceList, month_days: float) -> dict[str, Any]:
    """Return the price of an hour, and what interruptions add to it (Daly 2006)."""
    hourly = hourly_price(offer, prices, month_days)
    row = _hour_of_use(np.zeros(3), hourly, np.zeros(3), np.full(3, month_days))
    if offer.purchase not in INTERRUPTIBLE:
        return row
    on_demand = on_demand_price(offer, prices, month_days)
    row["on_demand_usd_per_hour"] = on_demand
    terms = offer.interruptions or prices.interruptions
    if terms is None:
        return row
    checkpoint, restore = terms.checkpoint_s.value / HOUR_S, terms.restore_s.value / HOUR_S
    interval = float("nan") if terms.every_s is None else terms.every_s.value / HOUR_S
    factor = float(overhead(terms.per_hour.value, checkpoint, restore, interval))
    row |= bound_columns("interruptions_per_hour", bounds(terms.per_hour))
    row |= {
        "checkpoint_s": terms.checkpoint_s.value,
        "restore_s": terms.restore_s.value,
        "wait_s": terms.wait_s.value,
        "every_s": None if terms.every_s is None else terms.every_s.value,
        "spot_overhead": factor if np.isfinite(factor) else None,
    }
    if np.isfinite(on_demand):
        row["spot_beats_on_demand"] = bool(hourly[0] * factor < on_demand)
        row["losing_interruptions_per_hour"] = break_even_interruptions(
            hourly[0], on_demand, checkpoint, restore, interval
        )
    return row


def _trend_columns(offer: Offer, machine: Instance, price_paths: bool | None) -> dict[str, Any]:
    """Return how the price may change: by the offer's own trend or, with `price_paths`, by the preset.

    `trend_change`: change per year of a drift, or of one jump; `trend_per_year`: jumps per year; `trend_sd_log`:
    of a random walk over 12 months; `trend_market_share`: share that all offers have in common.
    """
    if price_paths is False or (offer.trend is None and not price_paths):
        return {}
    name, path = path_and_title(offer.trend or preset_of(machine.provider, offer.purchase, machine.gpu))
    row: dict[str, Any] = {"trend": name, "trend_kind": path.kind}
    if isinstance(path, Drift):
        value = path.change_per_year
        low = value if path.low is None else path.low
        high = value if path.high is None else path.high
        row |= bound_columns("trend_change", np.array([value, low, high]))
        return row | {"trend_market_share": path.market_share}
    if isinstance(path, Jumps):
        row |= bound_columns("trend_change", np.array([path.change, path.change_low, path.change_high]))
        return row | {"trend_per_year": path.per_year}
    if isinstance(path, RandomWalk):
        return row | {"trend_sd_log": path.sd_log_year, "trend_market_share": path.market_share}
    return {} if offer.purchase == "own" else row
