"""Linearity of prices: per GPU and per vCPU within a family, rows and digits that look exchanged."""

import math
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
# Spot prices are made by the market machine by machine, and real ones of one card are up to three times apart (AWS p2).
LINEAR_SPOT = 2.0
# Below this share of the on-demand price a spot price is doubtful: AWS and Google give at most 90 and 91 % of discount,
# Azure 95 % on some machines without cards.
LEAST_SHARE, LEAST_SHARE_OF_PROCESSORS = 0.08, 0.04
# Offers among which a price that is another's to a hundredth is no chance.
FEW = 15
# Families whose prices are a multiple of one agree to this.
AGREE = 0.002
# vCPUs or memory a GPU that are one shape; another shape has another price (Nebius L40S: 8 to 48 vCPUs a GPU).
SAME_SHAPE = 1.1
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
        cent = CENT / units[name]
        if value > middle * (1 + tolerance) + cent or value < middle / (1 + tolerance) - cent:
            odd.append((name, middle))
    if len(per_unit) == 2:
        return odd
    # An outlier shifts the median of small families; only the largest deviation is blamed, and a tenth is as far off
    # as ten times.
    far = {name: abs(math.log(per_unit[name] / middle)) for name, middle in odd}
    return [pair for pair in odd if far[pair[0]] == max(far.values())]


def digits_exchanged(found: float, expected: float) -> bool:
    """Whether `found` is `expected` with two neighbouring digits exchanged, to its decimals, at least two."""
    places = max(2, len(repr(found).partition(".")[2]))
    left, right = f"{found:.{places}f}", f"{expected:.{places}f}"
    differing = [at for at, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]]
    if len(left) != len(right) or len(differing) != 2:
        return False
    one, two = differing
    beside = two - one == 1 or left[one + 1 : two] == "."
    return beside and left[one] == right[two] and left[two] == right[one]


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


@dataclass(frozen=True)
class _Cards:
    """Machines of one provider, card, purchase and shape: a family whose price per GPU is one."""

    gpu: str
    purchase: str
    members: Family

    @property
    def per_unit(self) -> dict[str, float]:
        return {name: price / gpus for name, (price, gpus, _) in self.members.items()}

    def outliers(self) -> list[tuple[str, float]]:
        """Members off the others, with the others' price per GPU."""
        limit = LINEAR_SPOT if self.purchase in INTERRUPTIBLE else LINEAR
        return _outliers(self.per_unit, {name: gpus for name, (_, gpus, _) in self.members.items()}, limit)


def _families(prices: PriceList, instances: Machines, hours: Mapping[int, float]) -> list[_Cards]:
    """Families of machines with cards, apart by vCPUs a GPU; compositions price their cards alone."""
    groups: dict[tuple[str, str, str], Family] = {}
    for index, price in hours.items():
        offer = prices.offers[index]
        machine = instances[offer.instance]
        if not machine.gpu.upper().startswith("CPU"):
            if offer.compose is not None:  # its machine part is held against its own family, per vCPU
                price = offer.compose.gpu.per_hour.value * offer.compose.count * to_usd(offer, prices)[0]
            group = groups.setdefault((machine.provider, machine.gpu, offer.purchase), {})
            group[offer.instance] = (price, float(machine.gpus), offer)
    return [
        _Cards(gpu, purchase, members)
        for (_, gpu, purchase), group in groups.items()
        for members in _shapes(group, instances)
    ]


def _shapes(group: Family, instances: Machines) -> list[Family]:
    """A family apart by vCPUs a GPU, and by memory a GPU, where all members say theirs.

    Where they do not say vCPUs, machines with as many GPUs and different prices show that there are several shapes, of
    which nobody can say which is which: then the family says nothing.
    """
    if all(offer.compose is None for _, _, offer in group.values()):
        vcpus = {name: instances[name].vcpus for name in group}
        if all(vcpus.values()):
            memory = {name: instances[name].memory_gib for name in group}
            return [part for shape in _apart(group, vcpus) for part in _apart(shape, memory)]
    by_count: dict[float, list[float]] = {}
    for price, gpus, _ in group.values():
        by_count.setdefault(gpus, []).append(price)
    mixed = any(max(found) > min(found) * (1 + LINEAR) for found in by_count.values())
    return [] if mixed else [group]


def _apart(group: Family, sizes: Mapping[str, float | None]) -> list[Family]:
    """Members whose size a GPU is the same together, in their order; all of them where a size is not told."""
    each = {name: (sizes[name] or 0.0) / gpus for name, (_, gpus, _) in group.items()}
    if not all(each.values()):
        return [group]
    shapes: list[set[str]] = []
    least = 0.0
    for name in sorted(each, key=lambda one: each[one]):
        if each[name] > least * SAME_SHAPE:
            least = each[name]
            shapes.append(set())
        shapes[-1].add(name)
    return [{name: group[name] for name in group if name in shape} for shape in shapes]


def per_gpu(
    prices: PriceList, instances: Machines, hours: Mapping[int, float], shares: Mapping[int, float] | None = None
) -> list[Finding]:
    """Price per GPU within (provider, card, purchase, vCPUs a GPU), rows that look exchanged, and digits.

    `shares`: of spot offers by number, the share of the on-demand price that is paid.
    """
    families = _families(prices, instances, hours)
    cheap = {prices.offers[index].instance for index, share in (shares or {}).items() if share < LEAST_SHARE}
    found = []
    for family in families:
        odd = family.outliers()
        if family.purchase in INTERRUPTIBLE and any(name in cheap for name, _ in odd):
            odd = [pair for pair in odd if pair[0] in cheap]  # its share of the on-demand price says which is wrong
        found += _digits(family, {name for name, _ in odd}, prices)
        exchanged = [pair for pair in odd if _partner(*pair, family, families)]
        for name, usual in exchanged or odd:  # an exchange explains the family's other oddities
            price, gpus, offer = family.members[name]
            message = (
                f"{name} at {price:g} an hour is {price / gpus:.4g} a {family.gpu}; others are {usual:.4g}, which makes"
                f" {usual * gpus:.4g}"
            )
            source = source_of(offer, prices)
            found.append(Finding("warning", "per_gpu", name, message, source))
            other = _partner(name, usual, family, families)
            if other is not None:
                words = (
                    f"{name} ({price:g}) and {other[0]} ({other[1]:g}) look swapped: by its family {name} should cost"
                    f" about {usual * gpus:.4g}, the price printed for {other[0]}"
                )
                found += [Finding("warning", "swapped", machine, words, source) for machine in (name, other[0])]
    return found


def _digits(family: _Cards, told: set[str], prices: PriceList) -> list[Finding]:
    """Digits exchanged, below what the price per unit would show: 12.42 where two others make 12.24."""
    found = []
    for name, (price, units, offer) in family.members.items():
        others = [value for key, value in family.per_unit.items() if key != name]
        agree = len(others) > 1 and max(others) <= min(others) * (1 + AGREE)
        if not agree or name in told or offer.compose is not None or family.purchase in INTERRUPTIBLE:
            continue
        money, expected = to_usd(offer, prices)[0], statistics.median(others) * units
        if digits_exchanged(price / money, expected / money):
            words = f"{name} at {price:g} looks like {expected:.4g} with two digits exchanged; its family makes that"
            found.append(Finding("warning", "digits_exchanged", name, words, source_of(offer, prices)))
    return found


def _partner(name: str, usual: float, family: _Cards, families: list[_Cards]) -> tuple[str, float] | None:
    """A machine of another family with just the price that this one should have, and its price.

    One whose own family agrees with it is none: its price is where it belongs. Of a long list some price always is
    near: there the other's own family must say that it is wrong.
    """
    expected = usual * family.members[name][1]
    few = sum(len(others.members) for others in families if others.purchase == family.purchase) <= FEW
    for others in families:
        if others is family or others.purchase != family.purchase:
            continue
        odd = {other for other, _ in others.outliers()}
        for other, (value, _, _) in others.members.items():
            if abs(value / expected - 1) < 0.01 and (other in odd or (few and len(others.members) == 1)):
                return other, value
    return None


def per_vcpu(prices: PriceList, instances: Machines, hours: Mapping[int, float]) -> list[Finding]:
    """Machines without accelerators: price per vCPU within a family of names (`n1-highcpu-*`, `c5.*`)."""
    groups: dict[tuple[str, str, str], Family] = {}
    for index, price in hours.items():
        offer = prices.offers[index]
        machine = instances[offer.instance]
        if machine.gpu.upper().startswith("CPU") and machine.vcpus and offer.compose is None:
            family = re.sub(r"(\d+|\.[^.]*)$", "", offer.instance)
            group = groups.setdefault((machine.provider, family, offer.purchase), {})
            group[offer.instance] = (price, float(machine.vcpus), offer)
    found = []
    for (_, _, purchase), members in groups.items():
        per_unit = {name: price / vcpus for name, (price, vcpus, _) in members.items()}
        limit = LINEAR_SPOT if purchase in INTERRUPTIBLE else LINEAR
        for name, usual in _outliers(per_unit, {n: v for n, (_, v, _) in members.items()}, limit):
            price, _, offer = members[name]
            message = f"{name} at {price:g} an hour is {per_unit[name]:.4g} a vCPU; others are {usual:.4g}"
            found.append(Finding("warning", "per_vcpu", name, message, source_of(offer, prices)))
    return found
