"""Offers of a price list in USD: what a month and an hour of use cost, one row per offer, and the fees beside it."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.energy import MeteredPower, energy_columns, with_metered_power
from sweetspot.bills.owning import HOURS_A_DAY, fixed_per_month, share_of_price, usd_per_hour_of_use
from sweetspot.bills.renting import HOUR_S, overhead
from sweetspot.bills.schemas import TABLES, FloatArray, bounds, expand, table_of
from sweetspot.cells import INTERRUPTIBLE
from sweetspot.errors import UserError
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import CONTRACTS, RATE_HOURS, Offer, PriceList
from sweetspot.study.terms import Billing, Commitment, Own, Rate, Vat
from sweetspot.study.trends import Drift, Jumps, Resale, path_and_title, preset_of

GRANULARITY_S = {None: 0.0, "millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": HOUR_S}
OFFER_COLUMNS, FEE_COLUMNS = tuple(TABLES["offers"]), tuple(TABLES["fees"])
FEE_UNITS = ("per_start", "per_hour", "per_month")
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
        OFFER_COLUMNS in the order of the list, still without `warnings` and `offer_ended`; and FEE_COLUMNS.

    Raises
    ------
    UserError
        If a currency has no exchange rate.
    """
    rows: list[dict[str, Any]] = []
    fees: list[dict[str, Any]] = []
    for listed_offer in prices.offers:
        machine, power = instances[listed_offer.instance], (metered or {}).get(listed_offer.instance)
        offer = with_metered_power(listed_offer, power)
        money, billing = usd_per_unit(offer, prices), offer.billing or prices.billing
        key = {"price_list": name, "instance": offer.instance, "purchase": offer.purchase}
        row = key | {"price_list_title": prices.title or name}
        row |= _identity(offer, prices, machine, month_days) | energy_columns(offer, machine, energy)
        if offer.own is not None:
            row |= _owned(offer.own, money)
            if power is not None and offer is not listed_offer:
                row["power_source"] = f"{power.source}; x PUE {offer.own.pue.value:g}"
        else:
            fees += [key | fee for fee in _fees(billing, money[0])]
            row |= _billing_terms(billing, money[0], month_days)
            if offer.commitment is not None:
                row |= _committed(offer.commitment, offer, prices, month_days)
            else:
                row |= _rented(offer, prices, month_days)
            if offer.purchase in (*INTERRUPTIBLE, *CONTRACTS):
                row["on_demand_usd_per_hour"] = on_demand_price(offer, prices, month_days)
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
    currency, rate = offer.currency or prices.currency, exchange_rate(offer, prices)
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
    return bounds(getattr(offer, unit)) * money / (RATE_HOURS[unit] or month_days * HOURS_A_DAY)


def on_demand_price(offer: Offer, prices: PriceList, month_days: float) -> float:
    """Return USD per hour on demand of the same machine, stated by the offer or in the list; NaN if unknown."""
    if offer.on_demand_per_hour is not None:
        return float(offer.on_demand_per_hour.value * usd_per_unit(offer, prices)[0])
    for relative in prices.offers:
        if relative.instance == offer.instance and relative.purchase == "on_demand":
            return float(hourly_price(relative, prices, month_days)[0])
    return float("nan")


def has_ended(offer: Offer, study_date: date) -> bool:
    """True if the last day of the offer is before the study's date."""
    return offer.until is not None and offer.until < study_date


def _identity(offer: Offer, prices: PriceList, machine: Instance, month_days: float) -> dict[str, Any]:
    """Return who offers which machine, since when, and the months until it is available."""
    source, rate, day = offer.source or prices.source, exchange_rate(offer, prices), offer.as_of or prices.as_of
    if rate is not None:
        source = f"{source} ; 1 {rate.currency} = {rate.usd.value:g} USD on {rate.as_of}: {rate.source}"
    days = bounds(offer.available_from_weeks) * 7.0
    if offer.available_from is not None:
        days = np.full(3, float((offer.available_from - day).days))
    monthly_price = None if offer.per_month is None else offer.per_month.value * usd_per_unit(offer, prices)[0]
    return expand(
        provider=machine.provider,
        gpu=machine.gpu,
        gpus=machine.gpus,
        month_days=month_days,
        as_of=day.isoformat(),
        source=source,
        basis=offer.basis,
        month_usd=monthly_price,
        delivery_months=days / month_days,
        offer_until=offer.until and offer.until.isoformat(),
    )


def _billing_terms(billing: Billing, money: float, month_days: float) -> dict[str, Any]:
    storage, egress = billing.storage, billing.egress
    return {
        "granularity_s": (GRANULARITY_S | {"month": month_days * HOURS_A_DAY * HOUR_S})[billing.granularity],
        "minimum_s": billing.minimum_s,
        "setup_usd": billing.setup.value * money,
        "monthly_usd": billing.monthly.value * money,
        "monthly_minimum_usd": billing.monthly_minimum.value * money,
        "prorated": billing.prorated,
        "storage_usd_per_month": 0.0 if storage is None else storage.gb.value * storage.per_gb_month.value * money,
        "egress_usd": 0.0 if egress is None else egress.gb.value * egress.per_gb.value * money,
    }


def _fees(billing: Billing, money: float) -> list[dict[str, Any]]:
    return [
        {"name": fee.name, "unit": unit, "usd": amount.value * fee.count.value * money}
        for fee in billing.fees
        for unit in FEE_UNITS
        if (amount := getattr(fee, unit)) is not None
    ]


def _owned(own: Own, money: FloatArray) -> dict[str, Any]:
    capex, months, days = bounds(own.capex) * money, bounds(own.months), bounds(own.days_per_month)
    residual, points = _residual(own)
    maintenance = bounds(own.maintenance_per_month) * money
    staff = bounds(own.staff_hours_per_month) * bounds(own.staff_per_hour) * money
    kw, usd_per_kwh = bounds(own.kw) * bounds(own.load_share), bounds(own.per_kwh) * money
    electricity = kw * bounds(own.pue) * usd_per_kwh
    fixed = fixed_per_month(capex, months[INVERTED], residual[INVERTED] * money, maintenance, staff, own.discount_rate)
    return expand(
        usd_per_hour=usd_per_hour_of_use(fixed, electricity, days[INVERTED], own.downtime_share),
        fixed_usd_per_month=fixed,
        variable_usd_per_hour=electricity,
        energy_usd_per_hour=electricity,
        capex_usd=capex,
        months=months,
        kw=kw,
        usd_per_kwh=usd_per_kwh,
        days_per_month=days,
        residual_usd=residual * money,
        residual_points=points,
        maintenance_usd_per_month=float(maintenance[0]),
        staff_usd_per_month=float(staff[0]),
        pue=own.pue.value,
        discount_rate=own.discount_rate,
        downtime_share=own.downtime_share,
        boxes=own.boxes,
        sell_for_usd=np.nan * money if own.sell_for is None else bounds(own.sell_for) * money,
    )


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
    money, planned = usd_per_unit(offer, prices), offer.days_per_month or prices.days_per_month
    days = np.full(3, month_days) if planned is None else bounds(planned)
    term, upfront = bounds(deal.term_months), bounds(deal.upfront) * money
    monthly, hourly = bounds(deal.per_month) * money, bounds(deal.per_hour) * money
    fixed, variable = upfront / term[INVERTED] + monthly, hourly
    if deal.charged == "always":  # Every hour of the month is due, used or not.
        fixed, variable = fixed + hourly * HOURS_A_DAY * month_days, np.zeros(3)
    return expand(
        usd_per_hour=usd_per_hour_of_use(fixed, variable, np.minimum(days, month_days)[INVERTED]),
        fixed_usd_per_month=fixed,
        variable_usd_per_hour=variable,
        energy_usd_per_hour=np.zeros(3),
        days_per_month=days,
        upfront_usd=float(upfront[0]),
        term_months=float(term[0]),
        commitment_usd_per_month=float(monthly[0]),
        commitment_usd_per_hour=float(hourly[0]),
        charged=deal.charged,
    )


def _rented(offer: Offer, prices: PriceList, month_days: float) -> dict[str, Any]:
    """Return the price of an hour, and what interruptions add to it (Daly 2006)."""
    hourly, zero = hourly_price(offer, prices, month_days), np.zeros(3)
    row = expand(usd_per_hour=hourly, fixed_usd_per_month=zero, variable_usd_per_hour=hourly, energy_usd_per_hour=zero)
    terms = offer.interruptions or prices.interruptions
    if terms is None or offer.purchase not in INTERRUPTIBLE:
        return row
    checkpoint, restore = terms.checkpoint_s.value, terms.restore_s.value
    every_s = float("nan") if terms.every_s is None else terms.every_s.value
    factor = float(overhead(terms.per_hour.value, checkpoint / HOUR_S, restore / HOUR_S, every_s / HOUR_S))
    return row | expand(
        interruptions_per_hour=bounds(terms.per_hour),
        checkpoint_s=checkpoint,
        restore_s=restore,
        wait_s=terms.wait_s.value,
        every_s=every_s,
        spot_overhead=factor if np.isfinite(factor) else None,
    )


def _trend_columns(offer: Offer, machine: Instance, price_paths: bool | None) -> dict[str, Any]:
    """Return how the price may change: by the offer's own trend or, with `price_paths`, by the preset."""
    if price_paths is False or offer.own is not None or (offer.trend is None and not price_paths):
        return {}
    name, path = path_and_title(offer.trend or preset_of(machine.provider, offer.purchase, machine.gpu))
    change: tuple[float | None, ...] = (None, None, None)
    if isinstance(path, Drift):
        change = (path.change_per_year, path.low, path.high)
    elif isinstance(path, Jumps):
        change = (path.change, path.change_low, path.change_high)
    value, low, high = (change[0] if end is None else end for end in change)
    return expand(
        trend=name,
        trend_kind=path.kind,
        trend_change=np.array([value, low, high], float),
        trend_per_year=getattr(path, "per_year", None),
        trend_sd_log=getattr(path, "sd_log_year", None),
        trend_market_share=getattr(path, "market_share", None),
    )
