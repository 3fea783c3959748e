"""Lint of prices: what a careful reader would ask about, found without being told where to look."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from datetime import date
from typing import Any

import pandas as pd

from sweetspot.bills.money import age_days, listed_hour, rate_used, to_usd
from sweetspot.bills.owning import HOURS_A_DAY, office_hour, own_numbers
from sweetspot.bills.price_families import CENT, Finding, Machines, machine_per_vcpu, per_gpu, per_vcpu, source_of
from sweetspot.study.price_list import Offer, PriceList

PLACEHOLDERS = re.compile(r"^\W*(unknown|none|n/?a|todo|tbd|fixme|source|-)?\W*$", re.IGNORECASE)
RATE_AGE_DAYS = 31


def lint(
    prices: PriceList, instances: Machines, study_date: date, month_days: float, today: date | None = None
) -> list[Finding]:
    """All findings of a price list, in the order of the rules; deterministic unless the list says `age_at: today`."""
    found: list[Finding] = []
    hours = {
        index: hour[0] for index, offer in enumerate(prices.offers) if (hour := listed_hour(offer, prices, month_days))
    }
    found += machine_per_vcpu(prices)
    found += per_gpu(prices, instances, hours)
    found += per_vcpu(prices, instances, hours)
    for index, offer in enumerate(prices.offers):
        found += _spot(offer, prices, hours, index)
        found += _printed(offer, prices, hours.get(index), month_days)
        found += _age(offer, prices, study_date, today or date.today())
        found += _source(offer, prices)
    return found


def offer_findings(row: Mapping[str, Any]) -> list[Finding]:
    """What shows only when an offer is priced: one row of the offers table (or what is to become one)."""
    name, found = row["instance"], []
    if row["purchase"] in ("reserved", "committed") and pd.notna(row.get("on_demand_usd_per_hour")):
        earned, use = row.get("earning_days_per_month"), row["days_per_month"]
        if pd.isna(earned) or use < earned:
            needed = "no use within a month" if pd.isna(earned) else f"{earned:.1f} days a month"
            words = f"{name}: {row['purchase']} at {use:.4g} days a month is not earned; it takes {needed}"
            found.append(Finding("warning", "not_earned", name, words, row["source"]))
    beats = row.get("spot_beats_on_demand")
    if pd.notna(beats) and not beats:
        words = f"{name}: interruptions make {row['purchase']} dearer than on demand for a long job"
        found.append(Finding("warning", "spot_loses", name, words, row["source"]))
    return found


def findings_table(findings: Iterable[Finding]) -> pd.DataFrame:
    """Columns severity, rule, instance, message, source."""
    names = [field.name for field in fields(Finding)]
    return pd.DataFrame([asdict(finding) for finding in findings], columns=names).astype("string")


def warnings_of(findings: Iterable[Finding], instance: str) -> str | None:
    """The warnings that touch an instance's offers (and those of the whole list), joined; None without any."""
    touching = [f.message for f in findings if f.severity == "warning" and f.instance in ("", instance)]
    return "; ".join(dict.fromkeys(touching)) or None


def _spot(offer: Offer, prices: PriceList, hours: Mapping[int, float], index: int) -> list[Finding]:
    if offer.purchase not in ("spot", "preemptible"):
        return []
    note = _finder(offer, prices)
    found = []
    if offer.interruptions is None and prices.interruptions is None:
        found.append(note("note", "spot_terms", f"{offer.instance}: no interruption rate; its cost assumes none"))
    rival = _on_demand(offer, prices, hours)
    if rival is None:
        return found
    paid = hours[index] / rival
    if paid > 1:
        words = f"{offer.instance}: spot at {hours[index]:g} an hour is above on demand at {rival:g}"
        found.append(note("warning", "spot_above_on_demand", words))
    said = None if offer.printed is None else offer.printed.discount
    if said is None:
        return found
    if abs(said - paid) <= 0.0101 and abs(said - (1 - paid)) > 0.0101:
        words = (
            f"{offer.instance}: the printed discount of {said:.0%} is the fraction paid ({hours[index]:g}/{rival:g});"
            f" the discount is {1 - paid:.0%}"
        )
        found.append(note("warning", "discount_is_fraction_paid", words))
    elif abs(said - (1 - paid)) > 0.0101:
        words = f"{offer.instance}: the printed discount of {said:.0%} does not recompute; it is {1 - paid:.0%}"
        found.append(note("warning", "text_against_table", words))
    return found


def _on_demand(offer: Offer, prices: PriceList, hours: Mapping[int, float]) -> float | None:
    if offer.on_demand_per_hour is not None:
        return offer.on_demand_per_hour.value * to_usd(offer, prices)[0]
    for index, other in enumerate(prices.offers):
        if other.instance == offer.instance and other.purchase == "on_demand":
            return hours.get(index)
    return None


def _finder(offer: Offer, prices: PriceList) -> Callable[[str, str, str], Finding]:
    def note(severity: str, rule: str, message: str) -> Finding:
        return Finding(severity, rule, offer.instance, message, source_of(offer, prices))

    return note


def _printed(offer: Offer, prices: PriceList, usd_per_hour: float | None, month_days: float) -> list[Finding]:
    """Text against table: what the source prints against what its own numbers make, in its own currency."""
    if offer.printed is None:
        return []
    money = to_usd(offer, prices)[0]
    if offer.own is not None:
        numbers = own_numbers(offer.own)
        hour = office_hour(numbers, offer.own.discount_rate, offer.own.downtime_share)
        made = {"per_hour": hour, "per_month": hour * HOURS_A_DAY * numbers["days"]}
    elif usd_per_hour is not None:
        hour = usd_per_hour / money
        made = {"per_hour": hour, "per_day": hour * 24, "per_week": hour * 168, "per_month": hour * 24 * month_days}
    else:
        return []
    found = []
    for unit, value in made.items():
        said = getattr(offer.printed, unit)
        if said is not None and abs(said - value) > max(CENT * 1.01, 0.001 * value):
            words = f"{offer.instance}: the text says {said:g} {unit.replace('_', ' ')}, its table makes {value:.4f}"
            found.append(Finding("warning", "text_against_table", offer.instance, words, source_of(offer, prices)))
    return found


def _age(offer: Offer, prices: PriceList, study_date: date, today: date) -> list[Finding]:
    note = _finder(offer, prices)
    found = []
    age = age_days(offer, prices, study_date, today)
    priced = offer.as_of or prices.as_of
    judged = "today" if prices.age_at == "today" else f"the study's date {study_date}"
    if prices.max_age_days is not None and age > prices.max_age_days:
        words = f"{offer.instance}: price of {priced} is {age} days old at {judged}; the limit is {prices.max_age_days}"
        found.append(note("warning", "stale", words))
    rate = rate_used(offer, prices)
    if rate is not None and abs((rate.as_of - priced).days) > RATE_AGE_DAYS:
        words = f"{offer.instance}: price of {priced} converted with a {rate.currency} rate of {rate.as_of}"
        found.append(note("warning", "stale_rate", words))
    return found


def _source(offer: Offer, prices: PriceList) -> list[Finding]:
    if PLACEHOLDERS.match(source_of(offer, prices)):
        words = f"{offer.instance}: the source is '{source_of(offer, prices)}', which names none"
        return [_finder(offer, prices)("warning", "missing_source", words)]
    return []
