"""Offers of a price list in USD: what a month and an hour of use cost, one row per offer, and the fees beside it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.energy import energy_columns
from sweetspot.bills.owning import HOURS_A_DAY, fixed_per_month, share_of_price, usd_per_hour_of_use
from sweetspot.bills.renting import HOUR_S, overhead
from sweetspot.bills.schemas import TABLES, Columns, FloatArray, Number, bounds, expand, table_of
from sweetspot.cells import INTERRUPTIBLE
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table as declared
from sweetspot.study.base import Ranged
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import CONTRACTS, RATE_HOURS, PricedOffer, PriceList
from sweetspot.study.terms import Billing, Commitment, Ownership, Rate
from sweetspot.study.trends import PRESETS, Resale, preset_of

GRANULARITY_S = {None: 0.0, "millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": HOUR_S}
OFFER_COLUMNS, FEE_COLUMNS = TABLES["offers"], TABLES["fees"]
STATED_COLUMNS = [row for row in declared("tables") if row["path"]]  # of which `path` says where a list states them
FEE_UNITS = {"per_start": 1, "per_hour": 730, "per_month": 1}  # times that it is due in a month of use, one start in it
# Where a path has its change, and the low and high of it.
CHANGE_KEYS = {"drift": ("change_per_year", "low", "high"), "jumps": ("change", "change_low", "change_high")}
# Months, days of use and resale values make an hour cheaper: their high value belongs to the low price.
INVERTED = [0, 2, 1]


def offers_in_usd(
    name: str,
    prices: PriceList,
    instances: Mapping[str, Instance],
    month_days: float,
    energy: Energy | None = None,
    price_paths: bool | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (offers, fees): a price list in USD, hours and months, a row per offer and a row per fee, for every later
    cost. An hour of use at d planned days per month costs fixed_usd_per_month / (24 d (1 - downtime_share)) +
    variable_usd_per_hour; `usd_per_hour` is that at `days_per_month`, at most the month. `fixed_usd_per_month` is due
    for one machine whether it is used or not: (capex - residual) / months + maintenance + staff if owned, the term's
    sum if committed, 0 if rented. `variable_usd_per_hour` is electricity if owned, otherwise the hourly price;
    interruptions come on top (`spot_overhead`: time with / without them). `_low` takes the cheap bound of every part
    and `_high` the expensive one, to which few days of use belong. Offers are in the order of the list, still without
    `warnings` and `offer_ended`.

    Parameters
    ----------
    name, prices, instances, month_days, energy, price_paths
        Name of the list; the list (UserError without an exchange rate); its machines by name; days of a month; power
        and grids declared; whether rents change over the months of a project (None: only those with their own trend).
    """
    rows: list[Columns] = []
    fees: list[Columns] = []
    for listed_offer in prices.offers:
        is_interruptible = listed_offer.purchase in INTERRUPTIBLE
        list_terms = {
            "billing": None if listed_offer.own is not None else listed_offer.billing or prices.billing,
            "interruptions": (listed_offer.interruptions or prices.interruptions) if is_interruptible else None,
            "days_per_month": listed_offer.days_per_month or prices.days_per_month,
        }
        machine, offer = instances[listed_offer.instance], listed_offer.model_copy(update=list_terms)
        money, billing = usd_per_unit(offer, prices), offer.billing or Billing()
        key = {"price_list": name, "instance": offer.instance, "purchase": offer.purchase}
        row = key | {"price_list_title": prices.title or name, "month_days": month_days}
        row |= listed_columns(offer, "offers", money) | _identity(offer, prices, machine, month_days)
        row |= energy_columns(offer, machine, energy)
        if offer.own is not None:
            row |= _owned(offer.own, money)
        else:
            fees += [
                key | {"name": fee.name, "unit": unit, "usd": amount.value * fee.count.value * money[0]}
                for fee in billing.fees
                for unit in FEE_UNITS
                if (amount := getattr(fee, unit)) is not None
            ]
            storage, egress = billing.storage, billing.egress
            row |= {
                "granularity_s": (GRANULARITY_S | {"month": month_days * HOURS_A_DAY * HOUR_S})[billing.granularity],
                "storage_usd_per_month": storage.gb.value * storage.per_gb_month.value * money[0] if storage else 0.0,
                "egress_usd": egress.gb.value * egress.per_gb.value * money[0] if egress else 0.0,
            }
            row |= expand(energy_usd_per_hour=np.zeros(3)) | _trend_columns(offer, machine, price_paths)
            if offer.commitment is None:
                row |= _use(np.zeros(3), _hourly_price(offer, month_days) * money, np.ones(3))
            else:
                row |= _committed(offer.commitment, money, offer, month_days)
        rows.append(row)
    offers = table_of(rows, OFFER_COLUMNS)
    on_demand = offers[offers["purchase"] == "on_demand"].set_index("instance")["usd_per_hour"]
    price = offers["on_demand_usd_per_hour"].fillna(offers["instance"].map(on_demand).astype(float))
    names = ["interruptions_per_hour", "checkpoint_s", "restore_s", "every_s"]
    rate, *seconds = offers[names].to_numpy(float).T
    factor = overhead(rate, *(second / HOUR_S for second in seconds))
    offers["on_demand_usd_per_hour"] = price.where(offers["purchase"].isin((*INTERRUPTIBLE, *CONTRACTS)))
    offers["spot_overhead"] = np.where(np.isfinite(factor) & (rate >= 0), factor, np.nan)
    return offers, table_of(fees, FEE_COLUMNS)


def listed_columns(offer: PricedOffer, table: str, money: FloatArray) -> Columns:
    """Return {column: value that an offer states} for its row of a table, by paths of facts/tables.csv; no key if none.

    Parameters
    ----------
    offer, table, money
        The offer; `offers` or `lint`, the table (of prices or for the price lint); USD per unit, [value, low, high].
    """
    row: Columns = {}
    for column in STATED_COLUMNS:
        if column["table"] != table:
            continue
        value: Any = offer
        for attribute in column["path"].split("."):
            value = getattr(value, attribute, None)
        if isinstance(value, Ranged):
            three = bounds(value) * (money if column["unit"].startswith("USD") else 1.0)
            value = three if column["bounds"] else float(three[0])
        if value is not None:
            row |= expand(**{column["column"]: value})
    return row


def usd_per_unit(offer: PricedOffer, prices: PriceList) -> FloatArray:
    """Return USD that the buyer pays per printed unit of the offer's currency, [value, low, high], to convert prices.
    Exchange rate and VAT (unless reclaimed) are in it. Raises UserError where the list has no rate to USD.
    """
    rate, currency = exchange_rate(offer, prices), offer.currency or prices.currency
    if rate is None and currency != "USD":
        raise UserError(f"offer '{offer.instance}' is priced in {currency}; expected a dated rate for it in 'rates'")
    usd = np.ones(3) if rate is None else bounds(rate.usd)
    vat = offer.vat or prices.vat
    if vat is None:
        return usd
    return usd * ((1.0 if vat.reclaimed else 1.0 + vat.rate) / (1.0 + vat.rate if vat.included else 1.0))


def exchange_rate(offer: PricedOffer, prices: PriceList) -> Rate | None:
    """Return the price list's rate from the offer's currency to USD; None if the list has no such rate."""
    currency = offer.currency or prices.currency
    return next((rate for rate in prices.rates if rate.currency == currency), None)


def _hourly_price(offer: PricedOffer, month_days: float) -> FloatArray:
    """Return the price per hour that an offer states, by hour, month or part: [value, low, high] in its currency."""
    if offer.compose is not None:
        accelerators = bounds(offer.compose.gpu.per_hour) * offer.compose.count
        return bounds(offer.compose.machine.per_hour) + accelerators
    hours = {unit: RATE_HOURS[unit] or month_days * HOURS_A_DAY for unit in RATE_HOURS}
    return np.sum([bounds(getattr(offer, unit)) / hours[unit] for unit in RATE_HOURS], axis=0)


def _identity(offer: PricedOffer, prices: PriceList, machine: Instance, month_days: float) -> Columns:
    """Return {offers column: value} by which readers check a price: provider, device, day and source, delivery, end."""
    source, rate, day = offer.source or prices.source, exchange_rate(offer, prices), offer.as_of or prices.as_of
    if rate is not None:
        source = f"{source} ; 1 {rate.currency} = {rate.usd.value:g} USD on {rate.as_of}: {rate.source}"
    days = bounds(offer.available_from_weeks) * 7.0
    if offer.available_from is not None:
        days = np.full(3, float((offer.available_from - day).days))
    return expand(
        provider=machine.provider,
        gpu=machine.gpu,
        gpus=machine.gpus,
        as_of=day.isoformat(),
        source=source,
        delivery_months=days / month_days,
        offer_until=offer.until and offer.until.isoformat(),
    )


def _owned(ownership: Ownership, money: FloatArray) -> Columns:
    """Return {column of the offers table: value} of a bought machine: kW, resale value, electricity, staff, and its
    cost in USD per month and per hour of use. `money`: USD per unit of the offer's currency, as [value, low, high].
    """
    residual, points = _residual(ownership)
    staff = bounds(ownership.staff_hours_per_month) * bounds(ownership.staff_per_hour) * money
    kw = bounds(ownership.kw) * bounds(ownership.load_share)
    electricity = kw * bounds(ownership.pue) * bounds(ownership.per_kwh) * money
    capex, maintenance = bounds(ownership.capex) * money, bounds(ownership.maintenance_per_month) * money
    months, resale = bounds(ownership.months)[INVERTED], residual[INVERTED] * money
    fixed = fixed_per_month(capex, months, resale, maintenance, staff, ownership.discount_rate)
    columns = expand(kw=kw, residual_usd=residual * money, energy_usd_per_hour=electricity)
    columns |= {"residual_points": points, "staff_usd_per_month": float(staff[0])}
    return columns | _use(fixed, electricity, bounds(ownership.days_per_month), ownership.downtime_share)


def _use(fixed: Number, variable: FloatArray, days: FloatArray, downtime: float = 0.0) -> Columns:
    """Return {offers column: USD per hour of use, per month, per hour beside} (three bounds each) at `days` a month."""
    hour = usd_per_hour_of_use(fixed, variable, days[INVERTED], downtime)
    return expand(usd_per_hour=hour, fixed_usd_per_month=fixed, variable_usd_per_hour=variable)


def _residual(ownership: Ownership) -> tuple[FloatArray, list[dict[str, float]] | None]:
    """Return (resale value, curve by age) of a machine to buy, which lower the cost of owning it. The value is [value,
    low, high] in its currency after the months of ownership; the curve, with which it is computed for other months,
    [{years, kept}] (share of the price), None if a fixed value is stated.
    """
    if not isinstance(ownership.residual, Resale):
        return bounds(ownership.residual), None
    points = ownership.residual.by_years()
    shares = np.array([share_of_price(points, ownership.months.value, column) for column in range(3)])
    curve = [{"years": point[0], "kept": point[1]} for point in points]
    return np.minimum(ownership.capex.value * shares, ownership.capex.ends[0]), curve


def _committed(deal: Commitment, money: FloatArray, offer: PricedOffer, month_days: float) -> Columns:
    """Return {column of the offers table: value} of a contract: days of use per month, USD due per month, USD per hour.
    `money`: USD per unit of the offer's currency, as [value, low, high]; `month_days`: days of a month.
    """
    days = np.full(3, month_days) if offer.days_per_month is None else bounds(offer.days_per_month)
    variable = bounds(deal.per_hour) * money
    fixed = (bounds(deal.upfront) / bounds(deal.term_months)[INVERTED] + bounds(deal.per_month)) * money
    if deal.charged == "always":  # Every hour of the month is due, used or not.
        fixed, variable = fixed + variable * HOURS_A_DAY * month_days, np.zeros(3)
    return expand(days_per_month=days) | _use(fixed, variable, np.minimum(days, month_days))


def _trend_columns(offer: PricedOffer, machine: Instance, price_paths: bool | None) -> Columns:
    """Return {trend column: value} of how a rent may change in the months of a project, from which paths are sampled.
    It is as the offer states or, with `price_paths`, a preset for such devices; {}: the price stays.
    """
    if price_paths is False or (offer.trend is None and not price_paths):
        return {}
    trend = offer.trend or preset_of(machine.provider, offer.purchase, machine.gpu)
    name, path = (trend, PRESETS[trend]) if isinstance(trend, str) else (f"own {trend.kind}", trend)
    change = [getattr(path, key, None) for key in CHANGE_KEYS.get(path.kind, ("", "", ""))]
    return expand(
        trend=name,
        trend_kind=path.kind,
        trend_change=np.array([change[0] if end is None else end for end in change], float),
        trend_per_year=getattr(path, "per_year", None),
        trend_sd_log=getattr(path, "sd_log_year", None),
        trend_market_share=getattr(path, "market_share", None),
    )
