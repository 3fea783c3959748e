"""Lint of prices: what a careful reader would ask about, found without being told where to look."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from datetime import date

from sweetspot.bills.families import Machines
from sweetspot.bills.level_lint import against_levels
from sweetspot.bills.money import age_days, on_demand_hour, rate_used, source_of, to_usd
from sweetspot.bills.offer_prices import Row
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.owning_lint import of_owned
from sweetspot.bills.price_families import (
    CENT,
    LEAST_SHARE,
    LEAST_SHARE_OF_PROCESSORS,
    Finding,
    machine_per_vcpu,
    within_families,
)
from sweetspot.study.price_list import Offer, PriceList
from sweetspot.study.purchases import INTERRUPTIBLE
from sweetspot.warnings import joined, warning

PLACEHOLDERS = re.compile(r"^\W*(unknown|none|n/?a|todo|tbd|fixme|source|-)?\W*$", re.IGNORECASE)
RATE_AGE_DAYS = 31
# A study may take a price of the days after it; of later weeks nobody of its date could know.
AHEAD_DAYS = 7
# Discounts are printed in whole per cents; the price behind one is rounded too.
DISCOUNT_ROUNDING = 0.0101
LINT_COLUMNS = tuple(field.name for field in fields(Finding))


def lint(
    prices: PriceList,
    offers: Sequence[Row],
    instances: Machines,
    study_date: date,
    month_days: float,
    today: date | None = None,
) -> list[Finding]:
    """All findings of a price list, in the order of the rules; deterministic unless the list says `age_at: today`.

    `offers`: `offer_rows` of the list with months of `month_days`. What shows only when an offer is priced stands in
    `offer_findings`.
    """
    found: list[Finding] = []
    hours = {
        index: row["usd_per_hour"]
        for index, (offer, row) in enumerate(zip(prices.offers, offers, strict=True))
        if offer.own is None and offer.commitment is None
    }
    shares = {
        index: usd / offers[index]["on_demand_usd_per_hour"]
        for index, usd in hours.items()
        if offers[index]["on_demand_usd_per_hour"]
    }
    found += machine_per_vcpu(prices)
    found += within_families(prices, instances, hours, shares)
    found += against_levels(prices, instances, hours)
    found += of_owned(prices, instances)
    for offer, row in zip(prices.offers, offers, strict=True):
        found += _spot(offer, prices, row, instances)
        found += _reserved(offer, prices, row, month_days)
        found += _printed(offer, prices, row, month_days)
        found += _age(offer, prices, study_date, today or date.today())
        found += _source(offer, prices)
    return found


def offer_findings(row: Row) -> list[Finding]:
    """What shows only when an offer is priced: findings of one row of the offers, which touch no other offer."""
    name, found = row["instance"], []
    if row["purchase"] in ("reserved", "committed") and row.get("on_demand_usd_per_hour") is not None:
        earned, use = row.get("earning_days_per_month"), row["days_per_month"]
        if earned is None or use < earned:
            needed = "no use within a month" if earned is None else f"{earned:.1f} days a month"
            words = f"{name}: {row['purchase']} at {use:.4g} days a month is not earned; it takes {needed}"
            found.append(Finding("warning", "not_earned", name, words, row["source"]))
    if row.get("spot_beats_on_demand") is False:
        words = f"{name}: interruptions make {row['purchase']} dearer than on demand for a long job"
        found.append(Finding("warning", "spot_loses", name, words, row["source"]))
    return found


def warnings_of(row: Row, listed: Iterable[Finding]) -> list[dict[str, str]]:
    """The warnings of one offer: findings of the list about its instance or the whole list, and its own."""
    touching = [finding for finding in listed if finding.instance in ("", row["instance"])]
    severe = [finding for finding in [*touching, *offer_findings(row)] if finding.severity == "warning"]
    return joined([warning(finding.rule, finding.message) for finding in severe])


def _spot(offer: Offer, prices: PriceList, row: Row, instances: Machines) -> list[Finding]:
    if offer.purchase not in INTERRUPTIBLE:
        return []
    note = _finder(offer, prices)
    found = []
    if offer.interruptions is None and prices.interruptions is None:
        found.append(note("note", "spot_terms", f"{offer.instance}: no interruption rate; its cost assumes none"))
    hour, rival = row["usd_per_hour"], row["on_demand_usd_per_hour"]
    if rival is None:
        return found
    paid = hour / rival
    if paid > 1:
        words = f"{offer.instance}: spot at {hour:g} an hour is above on demand at {rival:g}"
        found.append(note("warning", "spot_above_on_demand", words))
    processor = instances[offer.instance].gpu.upper().startswith("CPU")
    if paid < (LEAST_SHARE_OF_PROCESSORS if processor else LEAST_SHARE):
        words = f"{offer.instance}: spot at {hour:g} an hour is {paid:.1%} of on demand at {rival:g}"
        found.append(note("warning", "spot_far_below", words))
    return found + _discount(offer, prices, hour, rival)


def _reserved(offer: Offer, prices: PriceList, row: Row, month_days: float) -> list[Finding]:
    """A reserved price above the on-demand one; commitments are judged by their use (`not_earned`)."""
    if offer.purchase not in ("reserved", "committed") or offer.commitment is not None:
        return []
    hour, rival = row["usd_per_hour"], on_demand_hour(offer, prices, month_days)
    if rival is None or hour <= rival:
        return []
    words = f"{offer.instance}: {offer.purchase} at {hour:g} an hour is above on demand at {rival:g}"
    return [_finder(offer, prices)("warning", "reserved_above_on_demand", words)]


def _discount(offer: Offer, prices: PriceList, hour: float, rival: float) -> list[Finding]:
    """The discount that the source prints against what its own prices make."""
    note, paid = _finder(offer, prices), hour / rival
    said = None if offer.printed is None else offer.printed.discount
    if said is None or abs(said - (1 - paid)) <= DISCOUNT_ROUNDING:
        return []
    if abs(said - paid) <= DISCOUNT_ROUNDING:
        words = (
            f"{offer.instance}: the printed discount of {said:.0%} is the fraction paid ({hour:g}/{rival:g});"
            f" the discount is {1 - paid:.0%}"
        )
        return [note("warning", "discount_is_fraction_paid", words)]
    words = f"{offer.instance}: the printed discount of {said:.0%} does not recompute; it is {1 - paid:.0%}"
    return [note("warning", "text_against_table", words)]


def _finder(offer: Offer, prices: PriceList) -> Callable[[str, str, str], Finding]:
    def note(severity: str, rule: str, message: str) -> Finding:
        return Finding(severity, rule, offer.instance, message, source_of(offer, prices))

    return note


def _printed(offer: Offer, prices: PriceList, row: Row, month_days: float) -> list[Finding]:
    """Text against table: what the source prints against what its own numbers make, in its own currency."""
    if offer.printed is None or offer.commitment is not None:
        return []
    hour = row["usd_per_hour"] / to_usd(offer, prices)[0]
    if offer.own is not None:
        made = {"per_hour": hour, "per_month": hour * HOURS_A_DAY * row["days_per_month"]}
    else:
        made = {"per_hour": hour, "per_day": hour * 24, "per_week": hour * 168, "per_month": hour * 24 * month_days}
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
    if age < -AHEAD_DAYS:
        words = f"{offer.instance}: price of {priced} is dated {-age} days after {judged}"
        found.append(note("warning", "future_date", words))
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
