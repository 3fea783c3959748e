"""Lint of prices: what a careful reader would ask about, found without being told where to look."""

import re
import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date

import pandas as pd

from sweetspot.bills.money import age_days, listed_hour, rate_used, tax_factor, to_usd
from sweetspot.bills.owning import HOURS_A_DAY, office_hour, own_numbers
from sweetspot.config import Instance
from sweetspot.prices import Offer, PriceList

# Printed prices are rounded to cents; a family's price per unit may differ by that and a little more.
CENT = 0.005
LINEAR = 0.05
# Spot prices are made by the market machine by machine: only a gross difference is worth a word.
LINEAR_SPOT = 0.5
PLACEHOLDERS = re.compile(r"^\W*(unknown|none|n/?a|todo|tbd|fixme|source|-)?\W*$", re.IGNORECASE)
RATE_AGE_DAYS = 31


@dataclass(frozen=True)
class Finding:
    """One remark: `severity` warning or note, the rule's name, the instance (or '' for the list), words, source."""

    severity: str
    rule: str
    instance: str
    message: str
    source: str


Machines = Mapping[str, Instance]


def lint(
    prices: PriceList, instances: Machines, study_date: date, month_days: float, today: date | None = None
) -> list[Finding]:
    """All findings of a price list, in the order of the rules; deterministic unless the list says `age_at: today`."""
    found: list[Finding] = []
    hours = {
        index: hour[0] for index, offer in enumerate(prices.offers) if (hour := listed_hour(offer, prices, month_days))
    }
    found += _machine_per_vcpu(prices)
    found += _per_gpu(prices, instances, hours)
    found += _per_vcpu(prices, instances, hours)
    for index, offer in enumerate(prices.offers):
        found += _spot(offer, prices, hours, index)
        found += _printed(offer, prices, hours.get(index), month_days)
        found += _age(offer, prices, study_date, today or date.today())
        found += _source(offer, prices)
    return found


def findings_table(findings: Iterable[Finding]) -> pd.DataFrame:
    """Columns severity, rule, instance, message, source."""
    names = [field.name for field in fields(Finding)]
    return pd.DataFrame([asdict(finding) for finding in findings], columns=names).astype("string")


def warnings_of(findings: Iterable[Finding], instance: str) -> str | None:
    """The warnings that touch an instance's offers (and those of the whole list), joined; None without any."""
    touching = [f.message for f in findings if f.severity == "warning" and f.instance in ("", instance)]
    return "; ".join(dict.fromkeys(touching)) or None


def _source_of(offer: Offer, prices: PriceList) -> str:
    return offer.source or prices.source


def _outliers(per_unit: Mapping[str, float], units: Mapping[str, float], tolerance: float) -> list[tuple[str, float]]:
    """Members whose price per unit is off the median of the others, with that median; needs two that agree.

    With two members nobody can say which is wrong, so both are named.
    """
    odd = []
    for name, value in per_unit.items():
        others = [other for key, other in per_unit.items() if key != name]
        if not others:
            continue
        middle = statistics.median(others)
        if abs(value - middle) > tolerance * middle + CENT / units[name]:
            odd.append((name, middle))
    worst = [pair for pair in odd if abs(per_unit[pair[0]] / pair[1] - 1) == _largest(per_unit, odd)]
    return odd if len(per_unit) == 2 else worst


def _largest(per_unit: Mapping[str, float], odd: list[tuple[str, float]]) -> float:
    """An outlier shifts the median of small families; only the largest deviation is blamed."""
    return max((abs(per_unit[name] / middle - 1) for name, middle in odd), default=0.0)


def _machine_per_vcpu(prices: PriceList) -> list[Finding]:
    """The machine of a composition, per vCPU, against the others of its family (`n1-standard-*`)."""
    families: dict[str, dict[str, tuple[float, float, Offer]]] = {}
    for offer in prices.offers:
        if offer.compose is None:
            continue
        machine = offer.compose.machine
        ending = re.search(r"^(.*\D)(\d+)$", machine.name)
        vcpus = machine.vcpus or (int(ending[2]) if ending else 0)
        if vcpus:
            family = ending[1] if ending else machine.name
            families.setdefault(family, {})[machine.name] = (machine.per_hour.value, float(vcpus), offer)
    found = []
    for members in families.values():
        per_unit = {name: price / vcpus for name, (price, vcpus, _) in members.items()}
        for name, usual in _outliers(per_unit, {n: v for n, (_, v, _) in members.items()}, LINEAR):
            price, vcpus, offer = members[name]
            total = offer.compose.count * offer.compose.gpu.per_hour.value
            message = (
                f"{name} at {price:g} an hour is {per_unit[name]:.4g} a vCPU; the others of its family are {usual:.4g},"
                f" which makes {usual * vcpus:.4g} (with its accelerators {usual * vcpus + total:.4g}, not"
                f" {price + total:.4g})"
            )
            found.append(Finding("warning", "per_vcpu", offer.instance, message, _source_of(offer, prices)))
    return found


def _per_gpu(prices: PriceList, instances: Machines, hours: Mapping[int, float]) -> list[Finding]:
    """Price per GPU within (provider, card, purchase), and pairs of rows that look exchanged."""
    groups: dict[tuple[str, ...], dict[str, tuple[float, float, Offer]]] = {}
    for index, price in hours.items():
        offer = prices.offers[index]
        machine = instances[offer.instance]
        if not machine.gpu.upper().startswith("CPU"):
            if offer.compose is not None:  # its machine part is held against its own family, per vCPU
                price = offer.compose.gpu.per_hour.value * offer.compose.count * to_usd(offer, prices)[0]
            group = groups.setdefault((machine.provider, machine.gpu, offer.purchase), {})
            group[offer.instance] = (price, float(machine.gpus), offer)
    found = []
    for (_, gpu, purchase), members in groups.items():
        limit = LINEAR if purchase not in ("spot", "preemptible") else LINEAR_SPOT
        per_unit = {name: price / gpus for name, (price, gpus, _) in members.items()}
        odd = _outliers(per_unit, {n: g for n, (_, g, _) in members.items()}, limit)
        exchanged = [pair for pair in odd if _partner(*pair, members, groups, purchase)]
        for name, usual in exchanged or odd:  # an exchange explains the family's other oddities
            price, gpus, offer = members[name]
            message = (
                f"{name} at {price:g} an hour is {per_unit[name]:.4g} a {gpu}; others are {usual:.4g}, which makes"
                f" {usual * gpus:.4g}"
            )
            source = _source_of(offer, prices)
            found.append(Finding("warning", "per_gpu", name, message, source))
            other = _partner(name, usual, members, groups, purchase)
            if other is not None:
                words = (
                    f"{name} ({price:g}) and {other[0]} ({other[1]:g}) look swapped: by its family {name} should cost"
                    f" about {usual * gpus:.4g}, the price printed for {other[0]}"
                )
                found += [Finding("warning", "swapped", machine, words, source) for machine in (name, other[0])]
    return found


def _partner(
    name: str, usual: float, members: Mapping, groups: Mapping[tuple[str, ...], Mapping], purchase: str
) -> tuple[str, float] | None:
    """A machine of another family with just the price that this one should have, and its price."""
    expected = usual * members[name][1]
    for (_, _, other_purchase), others in groups.items():
        for other, (value, _, _) in others.items():
            if other not in members and other_purchase == purchase and abs(value / expected - 1) < 0.01:
                return other, value
    return None


def _per_vcpu(prices: PriceList, instances: Machines, hours: Mapping[int, float]) -> list[Finding]:
    """Machines without accelerators: price per vCPU within a family of names (`n1-highcpu-*`, `c5.*`)."""
    groups: dict[tuple[str, ...], dict[str, tuple[float, float, Offer]]] = {}
    for index, price in hours.items():
        offer = prices.offers[index]
        machine = instances[offer.instance]
        if machine.gpu.upper().startswith("CPU") and machine.vcpus and offer.compose is None:
            family = re.sub(r"(\d+|\.[^.]*)$", "", offer.instance)
            group = groups.setdefault((machine.provider, family, offer.purchase), {})
            group[offer.instance] = (price, float(machine.vcpus), offer)
    found = []
    for members in groups.values():
        per_unit = {name: price / vcpus for name, (price, vcpus, _) in members.items()}
        for name, usual in _outliers(per_unit, {n: v for n, (_, v, _) in members.items()}, LINEAR):
            price, _, offer = members[name]
            message = f"{name} at {price:g} an hour is {per_unit[name]:.4g} a vCPU; others are {usual:.4g}"
            found.append(Finding("warning", "per_vcpu", name, message, _source_of(offer, prices)))
    return found


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
        return Finding(severity, rule, offer.instance, message, _source_of(offer, prices))

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
        hour = usd_per_hour / money * tax_factor(None)
        made = {"per_hour": hour, "per_day": hour * 24, "per_week": hour * 168, "per_month": hour * 24 * month_days}
    else:
        return []
    found = []
    for unit, value in made.items():
        said = getattr(offer.printed, unit)
        if said is not None and abs(said - value) > max(CENT * 1.01, 0.001 * value):
            words = f"{offer.instance}: the text says {said:g} {unit.replace('_', ' ')}, its table makes {value:.4f}"
            found.append(Finding("warning", "text_against_table", offer.instance, words, _source_of(offer, prices)))
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
    if PLACEHOLDERS.match(_source_of(offer, prices)):
        words = f"{offer.instance}: the source is '{_source_of(offer, prices)}', which names none"
        return [_finder(offer, prices)("warning", "missing_source", words)]
    return []
