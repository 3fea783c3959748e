"""The offers table: every offer of a price list in USD and hours, one row each."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.money import Triple, listed_hour, rate_used, times, to_usd, triple
from sweetspot.bills.owning import office_hour, own_numbers
from sweetspot.bills.price_lint import Finding, lint, offer_findings, warnings_of
from sweetspot.bills.renting import committed_hour, earning_days
from sweetspot.bills.spot import losing_rate, overhead
from sweetspot.errors import UserError
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import Offer, PriceList
from sweetspot.study.terms import Billing

GRANULARITY_S = {"millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": 3600.0}
HOUR_S = 3600.0
OFFER_COLUMNS = (
    "price_list", "instance", "purchase", "provider", "usd_per_hour", "usd_per_hour_low", "usd_per_hour_high",
    "capex_usd", "capex_usd_low", "capex_usd_high", "months", "months_low", "months_high", "residual_usd",
    "maintenance_usd_per_month", "kw", "kw_low", "kw_high", "pue", "usd_per_kwh", "usd_per_kwh_low", "usd_per_kwh_high",
    "days_per_month", "days_per_month_low", "days_per_month_high", "discount_rate", "boxes",
    "interruptions_per_hour", "interruptions_per_hour_low", "interruptions_per_hour_high", "checkpoint_s", "restore_s",
    "wait_s", "granularity_s", "minimum_s", "setup_usd", "monthly_usd", "upfront_usd", "term_months", "month_days",
    "as_of", "source", "basis", "warning", "every_s", "monthly_minimum_usd", "prorated", "storage_usd_per_month",
    "egress_usd", "per_start_usd", "fees_usd_per_hour", "fees_usd_per_month", "downtime_share", "staff_usd_per_month",
    "on_demand_usd_per_hour", "spot_overhead", "spot_beats_on_demand", "losing_interruptions_per_hour",
    "earning_days_per_month", "sustained_machine_share", "gpu", "gpus",
)  # fmt: skip
TEXTS = ("price_list", "instance", "purchase", "provider", "as_of", "source", "basis", "warning", "gpu")
FLAGS = ("prorated", "spot_beats_on_demand")


def check_instances(prices: PriceList, instances: Mapping[str, Instance], path: str) -> None:
    """Refuse offers of machines that nobody declared. Raises UserError."""
    for number, offer in enumerate(prices.offers):
        if offer.instance not in instances:
            raise UserError(
                f"{path}: offers[{number}].instance is '{offer.instance}'; expected an instance of instances.yaml"
            )


def offers_table(
    name: str,
    prices: PriceList,
    instances: Mapping[str, Instance],
    month_days: float,
    study_date: date,
    findings: list[Finding] | None = None,
) -> pd.DataFrame:
    """All offers of `prices` in OFFER_COLUMNS: USD, hours, days, months; null where a column does not apply.

    `month_days` is the study's month, used where the list has none. Warnings of the lint stand beside the offers
    they touch. Raises UserError for a currency without a rate.
    """
    month = prices.month_days or month_days
    found = lint(prices, instances, study_date, month) if findings is None else findings
    rows = []
    for offer in prices.offers:
        machine = instances[offer.instance]
        row = _base(name, offer, prices, machine, month) | _terms(offer, prices, month)
        row |= _price(offer, prices, month) | _spot(offer, prices, month)
        row["warning"] = warnings_of([*found, *offer_findings(row)], offer.instance)
        rows.append(row)
    table = pd.DataFrame(rows).reindex(columns=list(OFFER_COLUMNS))
    numbers = [column for column in OFFER_COLUMNS if column not in (*TEXTS, *FLAGS)]
    return table.astype({column: "float64" for column in numbers}).astype({column: "boolean" for column in FLAGS})


def _base(name: str, offer: Offer, prices: PriceList, machine: Instance, month: float) -> dict[str, Any]:
    source = offer.source or prices.source
    rate = rate_used(offer, prices)
    if rate is not None:
        source = f"{source} ; 1 {rate.currency} = {rate.usd.value:g} USD on {rate.as_of}: {rate.source}"
    return {
        "price_list": name,
        "instance": offer.instance,
        "purchase": offer.purchase,
        "provider": machine.provider,
        "gpu": machine.gpu,
        "gpus": machine.gpus,
        "month_days": month,
        "as_of": (offer.as_of or prices.as_of).isoformat(),
        "source": source,
        "basis": offer.basis,
    }


def _spread(name: str, values: Triple) -> dict[str, float]:
    return {name: values[0], f"{name}_low": values[1], f"{name}_high": values[2]}


def _price(offer: Offer, prices: PriceList, month: float) -> dict[str, Any]:
    """The hourly price at the planned use, and what it is made of."""
    money = to_usd(offer, prices)
    if offer.own is not None:
        return _owned(offer, money)
    if offer.commitment is not None:
        return _committed(offer, prices, money, month)
    hourly = listed_hour(offer, prices, month)
    row = _spread("usd_per_hour", hourly)
    if offer.sustained is not None:
        row["sustained_machine_share"] = 1.0
        if offer.sustained.applies_to == "machine" and offer.compose is not None:
            row["sustained_machine_share"] = offer.compose.machine.per_hour.value * money[0] / hourly[0]
    return row


def _owned(offer: Offer, money: Triple) -> dict[str, Any]:
    own = offer.own
    numbers = own_numbers(own, factor=money[0])
    hours = [
        office_hour(own_numbers(own, end, money[0 if end is None else end + 1]), own.discount_rate, own.downtime_share)
        for end in (None, 0, 1)
    ]
    load = times(triple(own.kw), triple(own.load_share))
    return {
        **_spread("usd_per_hour", tuple(hours)),
        **_spread("capex_usd", times(triple(own.capex), money)),
        **_spread("months", triple(own.months)),
        **_spread("kw", load),
        **_spread("usd_per_kwh", times(triple(own.per_kwh), money)),
        **_spread("days_per_month", triple(own.days_per_month)),
        "residual_usd": numbers["residual"],
        "maintenance_usd_per_month": numbers["maintenance"],
        "staff_usd_per_month": numbers["staff"],
        "pue": own.pue.value,
        "discount_rate": own.discount_rate,
        "downtime_share": own.downtime_share,
        "boxes": own.boxes,
    }


def _committed(offer: Offer, prices: PriceList, money: Triple, month: float) -> dict[str, Any]:
    deal = offer.commitment
    days = offer.days_per_month or prices.days_per_month
    use = (month, month, month) if days is None else triple(days)
    term, upfront = triple(deal.term_months), times(triple(deal.upfront), money)
    fee, hourly = times(triple(deal.per_month), money), times(triple(deal.per_hour), money)
    always = deal.charged == "always"
    # Dear: high prices, a short term and little use.
    other = (0, 2, 1)
    hours = tuple(
        committed_hour(term[other[n]], upfront[n], fee[n], hourly[n], always, min(use[other[n]], month), month)
        for n in range(3)
    )
    rival = _on_demand(offer, prices, month)
    earns = None
    if rival is not None:
        earns = earning_days(term[0], upfront[0], fee[0], hourly[0], always, rival, month)
    return {
        **_spread("usd_per_hour", hours),
        **_spread("days_per_month", use),
        "upfront_usd": upfront[0],
        "term_months": term[0],
        "earning_days_per_month": earns,
        "on_demand_usd_per_hour": rival,
    }


def _on_demand(offer: Offer, prices: PriceList, month: float) -> float | None:
    """USD an hour on demand of the same machine: declared at the offer, or in the same list."""
    if offer.on_demand_per_hour is not None:
        return offer.on_demand_per_hour.value * to_usd(offer, prices)[0]
    for other in prices.offers:
        if other.instance == offer.instance and other.purchase == "on_demand":
            return listed_hour(other, prices, month)[0]
    return None


def _spot(offer: Offer, prices: PriceList, month: float) -> dict[str, Any]:
    if offer.purchase not in ("spot", "preemptible"):
        return {}
    rival = _on_demand(offer, prices, month)
    terms = offer.interruptions or prices.interruptions
    row: dict[str, Any] = {"on_demand_usd_per_hour": rival}
    if terms is None:
        return row
    dump, restore = terms.checkpoint_s.value / HOUR_S, terms.restore_s.value / HOUR_S
    every = np.nan if terms.every_s is None else terms.every_s.value / HOUR_S
    factor = float(overhead(terms.per_hour.value, dump, restore, every))
    row |= {
        **_spread("interruptions_per_hour", triple(terms.per_hour)),
        "checkpoint_s": terms.checkpoint_s.value,
        "restore_s": terms.restore_s.value,
        "wait_s": terms.wait_s.value,
        "every_s": np.nan if terms.every_s is None else terms.every_s.value,
        "spot_overhead": factor if np.isfinite(factor) else None,
    }
    if rival is not None:
        price = listed_hour(offer, prices, month)[0]
        row["spot_beats_on_demand"] = bool(price * factor < rival)
        row["losing_interruptions_per_hour"] = losing_rate(price, rival, dump, restore, every)
    return row


def _terms(offer: Offer, prices: PriceList, month: float) -> dict[str, Any]:
    """Billing terms in seconds and USD; fees summed by what they are due for."""
    if offer.own is not None:
        return {}
    billing = offer.billing or prices.billing
    money = to_usd(offer, prices)[0]
    seconds = GRANULARITY_S | {"month": month * 24.0 * HOUR_S}
    step = billing.granularity_s or (seconds[billing.granularity] if billing.granularity else 0.0)
    return {
        "granularity_s": step,
        "minimum_s": billing.minimum_s,
        "setup_usd": billing.setup.value * money,
        "monthly_usd": billing.monthly.value * money,
        "monthly_minimum_usd": billing.monthly_minimum.value * money,
        "prorated": billing.prorated,
        "storage_usd_per_month": _product(billing, "storage") * money,
        "egress_usd": _product(billing, "egress") * money,
        "fees_usd_per_month": _fees(billing, "per_month") * money,
        "per_start_usd": _fees(billing, "per_start") * money,
        "fees_usd_per_hour": _fees(billing, "per_hour") * money,
    }


def _product(billing: Billing, part: str) -> float:
    if part == "storage":
        return 0.0 if billing.storage is None else billing.storage.gb.value * billing.storage.per_gb_month.value
    return 0.0 if billing.egress is None else billing.egress.gb.value * billing.egress.per_gb.value


def _fees(billing: Billing, unit: str) -> float:
    due = [fee for fee in billing.fees if getattr(fee, unit) is not None]
    return sum(getattr(fee, unit).value * fee.count.value for fee in due)
