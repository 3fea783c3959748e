"""Linearity of prices: per GPU and per vCPU within a family, and rows that look exchanged."""

import re
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from sweetspot.bills.money import source_of, to_usd
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import Offer, PriceList
from sweetspot.study.purchases import INTERRUPTIBLE

# Printed prices are rounded to cents; a family's price per unit may differ by that and a little more.
CENT = 0.005
LINEAR = 0.05
# Spot prices are made by the market machine by machine: only a gross difference is worth a word.
LINEAR_SPOT = 0.5
Machines = Mapping[str, Instance]
Family = dict[str, tuple[float, float, Offer]]  # by instance or part: price an hour, units, the offer


@dataclass(frozen=True)
class Finding:
    """One remark: `severity` warning or note, the rule's name, the instance (or '' for the list), words, source."""

    severity: str
    rule: str
    instance: str
    message: str
    source: str


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


def machine_per_vcpu(prices: PriceList) -> list[Finding]:
    """The machine of a composition, per vCPU, against the others of its family (`n1-standard-*`)."""
    families: dict[str, Family] = {}
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
            price, count, offer = members[name]
            gpus = 0.0 if offer.compose is None else offer.compose.count * offer.compose.gpu.per_hour.value
            message = (
                f"{name} at {price:g} an hour is {per_unit[name]:.4g} a vCPU; the others of its family are {usual:.4g},"
                f" which makes {usual * count:.4g} (with its accelerators {usual * count + gpus:.4g}, not"
                f" {price + gpus:.4g})"
            )
            found.append(Finding("warning", "per_vcpu", offer.instance, message, source_of(offer, prices)))
    return found


def per_gpu(prices: PriceList, instances: Machines, hours: Mapping[int, float]) -> list[Finding]:
    """Price per GPU within (provider, card, purchase), and pairs of rows that look exchanged."""
    groups: dict[tuple[str, ...], Family] = {}
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
        limit = LINEAR if purchase not in INTERRUPTIBLE else LINEAR_SPOT
        per_unit = {name: price / gpus for name, (price, gpus, _) in members.items()}
        odd = _outliers(per_unit, {n: g for n, (_, g, _) in members.items()}, limit)
        exchanged = [pair for pair in odd if _partner(*pair, members, groups, purchase)]
        for name, usual in exchanged or odd:  # an exchange explains the family's other oddities
            price, gpus, offer = members[name]
            message = (
                f"{name} at {price:g} an hour is {per_unit[name]:.4g} a {gpu}; others are {usual:.4g}, which makes"
                f" {usual * gpus:.4g}"
            )
            source = source_of(offer, prices)
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
    name: str, usual: float, members: Family, groups: Mapping[tuple[str, ...], Family], purchase: str
) -> tuple[str, float] | None:
    """A machine of another family with just the price that this one should have, and its price."""
    expected = usual * members[name][1]
    for (_, _, other_purchase), others in groups.items():
        for other, (value, _, _) in others.items():
            if other not in members and other_purchase == purchase and abs(value / expected - 1) < 0.01:
                return other, value
    return None


def per_vcpu(prices: PriceList, instances: Machines, hours: Mapping[int, float]) -> list[Finding]:
    """Machines without accelerators: price per vCPU within a family of names (`n1-highcpu-*`, `c5.*`)."""
    groups: dict[tuple[str, ...], Family] = {}
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
            found.append(Finding("warning", "per_vcpu", name, message, source_of(offer, prices)))
    return found
