"""Prices within a family: one per GPU, per vCPU or per known price; rows and digits that look exchanged."""

import math
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sweetspot.bills.lint.known import asked, device_key, nearest, rent_of
from sweetspot.bills.offer_prices import source_of, to_usd
from sweetspot.study.base import INTERRUPTIBLE
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import Offer, PriceList

Machines = Mapping[str, Instance]
# Printed prices are rounded to cents; a family's price per unit may differ by that and a little more.
CENT, LINEAR = 0.005, 0.06
# vCPUs or memory a unit that are one shape; another shape has another price (Nebius L40S: 8 to 48 vCPUs a GPU).
SAME_SHAPE = 1.1


@dataclass(frozen=True)
class Finding:
    """One remark: `severity` warning or note, the rule's name, the instance (or '' for the list), words, source."""

    severity: str
    rule: str
    instance: str
    message: str
    source: str


def is_processor(machine: Instance) -> bool:
    """Whether the machine has no devices but its processor, and is priced by the vCPU."""
    return machine.gpu.upper().startswith("CPU")


@dataclass(frozen=True)
class Rented:
    """A rented offer: USD an hour of the machine, USD for one of the offer's own money, where it was read, when."""

    offer: Offer
    machine: Instance
    usd: float
    money: float
    source: str
    year: int

    @property
    def name(self) -> str:
        """The machine."""
        return self.offer.instance

    @cached_property
    def unit(self) -> str:
        """What its price goes by: vCPU, or the device as the machine has it."""
        return "vCPU" if is_processor(self.machine) else self.machine.gpu

    @cached_property
    def device(self) -> str:
        """The same as one word: vcpu, the device's key, '' for an unknown one."""
        return "vcpu" if self.unit == "vCPU" else device_key(self.unit)

    @cached_property
    def units(self) -> float:
        """How many of them; 0 where the vCPUs are not told."""
        return float((self.machine.vcpus or 0) if self.unit == "vCPU" else self.machine.gpus)

    @property
    def each(self) -> float:
        """USD an hour of one."""
        return self.usd / self.units if self.units else self.usd

    @property
    def interruptible(self) -> bool:
        """Whether it can be taken away."""
        return self.offer.purchase in INTERRUPTIBLE

    @cached_property
    def cards(self) -> tuple[float, int] | None:
        """Of a composition USD an hour of one accelerator, whose price is the provider's own, and how many."""
        composed = self.offer.compose
        return None if composed is None else (composed.gpu.per_hour.value * self.money, composed.count)

    @cached_property
    def asked(self) -> tuple[float, ...]:
        """What its provider is known to have asked for this very machine; none of a composition."""
        return () if self.cards else asked(self.machine.provider, self.name)

    @property
    def price(self) -> float:
        """USD an hour that its family is judged by: of a composition that of its devices."""
        return self.cards[0] * self.cards[1] if self.cards else self.usd

    @cached_property
    def known(self) -> float | None:
        """The known price that it is nearest to; None of one that can be taken away."""
        return nearest(self.usd, self.asked) if self.asked and self.usd > 0 and not self.interruptible else None

    def told(self, rule: str, words: str, instance: str | None = None) -> Finding:
        """A warning about it, or about another machine read at the same place."""
        return Finding("warning", rule, self.name if instance is None else instance, words, self.source)


def rented_offers(prices: PriceList, machines: Machines, hours: Mapping[int, float]) -> list[Rented]:
    """The offers of a list whose hour has a price; `hours`: USD an hour by the number of the offer."""
    return [
        Rented(offer, machines[offer.instance], usd, to_usd(offer, prices)[0], source_of(offer, prices), year)
        for offer, usd in ((prices.offers[index], usd) for index, usd in hours.items())
        for year in [(offer.as_of or prices.as_of).year]
    ]


@dataclass(frozen=True)
class Family:
    """Offers of one provider, device (or name), purchase and shape: one price a unit, or one share of known prices."""

    members: Mapping[str, Rented]

    @cached_property
    def first(self) -> Rented:
        """Any member."""
        return next(iter(self.members.values()))

    @cached_property
    def is_known(self) -> bool:
        """Whether the price of each member is held against a known one."""
        return all(member.known is not None for member in self.members.values())

    def weight(self, name: str) -> float:
        """What the price of a member goes with: its known price, else its GPUs or vCPUs."""
        member = self.members[name]
        return member.known if self.is_known and member.known is not None else member.units

    @cached_property
    def per_unit(self) -> dict[str, float]:
        """USD an hour per GPU, per vCPU or per USD of the known price, by member."""
        return {name: member.price / self.weight(name) for name, member in self.members.items()}


def name_family(name: str, vcpus: float | None, memory_gib: float | None = None) -> str:
    """The name without what says the size: `c5.xlarge` and `c5.metal` are `c5`, `Standard_D4as_v5` `Standard_D#as_v5`.

    A number is the size where it is the machine's vCPUs or memory, or stands at the end and says no version (`_v5`).
    """
    if re.fullmatch(r"[a-z0-9-]+\.[a-z0-9-]+", name):
        return name.partition(".")[0]
    sizes = {f"{size:g}" for size in (vcpus, memory_gib) if size}
    family = re.sub(r"(?<!_v)(?<!\d)\d+(?!\d)", lambda found: "#" if found[0] in sizes else found[0], name)
    return re.sub(r"(?<![\d_v])\d+$|(?<=[-_])\d+$", "#", family)


def label(rented: Rented) -> str:
    """What a family is called beside its provider: the device, or the name of a processor's machines."""
    machine = rented.machine
    return rented.unit if rented.unit != "vCPU" else name_family(rented.name, machine.vcpus, machine.memory_gib)


def families_of(rented: list[Rented]) -> list[Family]:
    """Families of rented machines: with devices by device, without by name; compositions price their devices alone."""
    groups: dict[tuple[str, str, str, str], dict[str, Rented]] = {}
    for entry in rented:
        if entry.unit == "vCPU" and (entry.cards or not entry.units):
            continue  # of a composition the machine is held against its own family
        key = (entry.machine.provider, entry.unit, label(entry), entry.offer.purchase)
        groups.setdefault(key, {})[entry.name] = entry
    found = []
    for group in groups.values():
        known = {name: member for name, member in group.items() if member.known is not None}
        others = {name: member for name, member in group.items() if member.known is None}
        found += [*([known] if known else []), *(_shapes(others) if others else [])]
    return [Family(shape) for shape in found]


def _shapes(group: Mapping[str, Rented]) -> list[dict[str, Rented]]:
    """A family apart by vCPUs a GPU, and by memory a unit, where all members say theirs.

    Where machines with devices do not say vCPUs, as many GPUs at different prices show that there are several shapes,
    of which nobody can say which is which: then the family says nothing.
    """
    if all(member.cards is None for member in group.values()):
        vcpus = {name: member.machine.vcpus for name, member in group.items()}
        if all(vcpus.values()):
            memory = {name: member.machine.memory_gib for name, member in group.items()}
            return [part for shape in _apart(group, vcpus) for part in _apart(shape, memory)]
    by_count: dict[float, list[float]] = {}
    for member in group.values():
        by_count.setdefault(member.units, []).append(member.price)
    mixed = any(max(found) > min(found) * (1 + LINEAR) for found in by_count.values())
    return [] if mixed else [dict(group)]


def _apart(group: Mapping[str, Rented], sizes: Mapping[str, float | None]) -> list[dict[str, Rented]]:
    """Members whose size a unit is the same together, in their order; all of them where a size is not told."""
    each = {name: (sizes[name] or 0.0) / member.units for name, member in group.items()}
    if not all(each.values()):
        return [dict(group)]
    shapes: list[set[str]] = []
    least = 0.0
    for name in sorted(each, key=lambda one: each[one]):
        if each[name] > least * SAME_SHAPE:
            least = each[name]
            shapes.append(set())
        shapes[-1].add(name)
    return [{name: group[name] for name in group if name in shape} for shape in shapes]


# Of two machines nobody can say which is wrong, and many providers give large machines cheaper (Lambda, 8 GPUs: 10 %).
LINEAR_PAIR = 0.25
# Known prices of two machines of a family may be of other years (AWS' metal ones of 2024 and 2026: 10 %).
LINEAR_KNOWN = 0.12
# Spot prices are made by the market machine by machine, and real ones of a family are up to four times apart
# (AWS m2, x2gd).
LINEAR_SPOT = 3.0
# More odd machines than these and this share say that the known prices are not those of this list's day and place.
FEW_ODD, FEW_KNOWN = 2, 0.005
# A price that is this near to a known one of its machine is that.
AS_KNOWN = 0.004
# Where fewer of the others agree with their median, the family's prices are not linear and nothing is wrong with one.
AGREEING = 0.75
# Below this share of the on-demand price a spot price is doubtful: AWS and Google give at most 90 and 91 % of discount,
# Azure 95 % on some machines without cards.
LEAST_SHARE, LEAST_SHARE_OF_PROCESSORS = 0.08, 0.04
# Exchanged rows have each other's price to this; of a machine alone in its family the market's range must do.
EXCHANGED = 0.01
# Offers among which a price that is another's to a hundredth is no chance.
FEW = 15
# Families whose prices are a multiple of one agree to this.
AGREE = 0.002


def outliers(per_unit: Mapping[str, float], cents: Mapping[str, float], tolerance: float) -> list[tuple[str, float]]:
    """Members whose price per unit is off the median of the others, with that median.

    `cents`: half a cent per unit of each. With two members nobody can say which is wrong, so both are named; of more
    the one that is farthest off, if most of the others agree.
    """
    if len(per_unit) == 2 and tolerance < LINEAR_PAIR:
        tolerance = LINEAR_PAIR
    far: dict[str, tuple[float, float]] = {}
    for name, value in per_unit.items():
        others = [other for key, other in per_unit.items() if key != name]
        middle = statistics.median(others) if others else value
        low, high = middle / (1 + tolerance) - cents[name], middle * (1 + tolerance) + cents[name]
        if not low <= value <= high and sum(low <= usd <= high for usd in others) >= AGREEING * len(others):
            far[name] = (middle, abs(math.log(value / middle)))
    # An outlier shifts the median of small families; only the largest deviation is blamed, and a tenth is as far off
    # as ten times.
    most = max((off for _, off in far.values()), default=0.0)
    return [(name, middle) for name, (middle, off) in far.items() if len(per_unit) == 2 or off == most]


def _odd(family: Family) -> list[tuple[str, float]]:
    limit = LINEAR_SPOT if family.first.interruptible else LINEAR_KNOWN if family.is_known else LINEAR
    odd = outliers(family.per_unit, {name: CENT / family.weight(name) for name in family.members}, limit)
    return [pair for pair in odd if not family.is_known or abs(family.per_unit[pair[0]] - 1) > AS_KNOWN]


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


def machine_per_vcpu(prices: PriceList) -> Iterator[Finding]:
    """The machine of a composition, per vCPU, against the others of its family (`n1-standard-*`)."""
    families: dict[str, dict[str, tuple[float, float, Offer]]] = {}
    for offer in prices.offers:
        if offer.compose is not None:
            machine = offer.compose.machine
            ending = re.search(r"^(.*\D)(\d+)$", machine.name)
            vcpus = machine.vcpus or (int(ending[2]) if ending else 0)
            if vcpus:
                family = families.setdefault(ending[1] if ending else machine.name, {})
                family[machine.name] = (machine.per_hour.value, float(vcpus), offer)
    for members in families.values():
        per_unit = {name: price / vcpus for name, (price, vcpus, _) in members.items()}
        for name, usual in outliers(per_unit, {n: CENT / v for n, (_, v, _) in members.items()}, LINEAR):
            price, count, offer = members[name]
            gpus = 0.0 if offer.compose is None else offer.compose.count * offer.compose.gpu.per_hour.value
            message = (
                f"{name} at {price:g} an hour is {per_unit[name]:.4g} a vCPU; the others of its family are {usual:.4g},"
                f" which makes {usual * count:.4g} (with its accelerators {usual * count + gpus:.4g}, not"
                f" {price + gpus:.4g})"
            )
            yield Finding("warning", "per_vcpu", offer.instance, message, source_of(offer, prices))


def within_families(rented: list[Rented], cheap: set[str]) -> Iterator[Finding]:
    """Prices off their family's, rows that look exchanged, and digits.

    `cheap`: machines whose spot price is a doubtful share of the on-demand one, which says which of a family is wrong.
    """
    families = _with_few_odd(families_of(rented))
    for family in families:
        odd = _odd(family)
        if family.first.interruptible and any(name in cheap for name, _ in odd):
            odd = [pair for pair in odd if pair[0] in cheap]
        yield from _digits(family, {name for name, _ in odd})
        partners = {name: _partner(name, usual, family, families) for name, usual in odd}
        for name, usual in odd:
            if partners[name] or not any(partners.values()):  # an exchange explains the family's other oddities
                yield from _told(name, usual, family, partners[name])


def _with_few_odd(families: Sequence[Family]) -> list[Family]:
    """Without families of known prices, where many machines of a list are odd by them."""
    known = [family for family in families if family.is_known]
    odd, machines = sum(len(_odd(family)) for family in known), sum(len(family.members) for family in known)
    many = odd > max(FEW_ODD, FEW_KNOWN * machines)
    return [family for family in families if not (many and family.is_known)]


def _told(name: str, usual: float, family: Family, partner: tuple[str, float] | None) -> Iterator[Finding]:
    member = family.members[name]
    expected = usual * family.weight(name)
    if family.is_known:
        found = f"{family.per_unit[name]:.3g} times a known price; others of its family are {usual:.3g} times"
    else:
        found = f"{member.price / member.units:.4g} a {member.unit}; others are {usual:.4g}"
    message = f"{name} at {member.price:g} an hour is {found}, which makes {expected:.4g}"
    yield member.told("per_vcpu" if member.unit == "vCPU" else "per_gpu", message)
    if partner is not None:
        words = (
            f"{name} ({member.price:g}) and {partner[0]} ({partner[1]:g}) look swapped: by its family {name} should"
            f" cost about {expected:.4g}, the price printed for {partner[0]}"
        )
        yield from (member.told("swapped", words, machine) for machine in (name, partner[0]))


def _digits(family: Family, told: set[str]) -> Iterator[Finding]:
    """Digits exchanged, below what the price per unit would show: 12.42 where two others make 12.24."""
    for name, member in family.members.items():
        others = [usd for key, usd in family.per_unit.items() if key != name]
        agree = len(others) > 1 and max(others) <= min(others) * (1 + AGREE)
        if not agree or name in told or member.cards or family.first.interruptible:
            continue
        expected = statistics.median(others) * family.weight(name)
        if digits_exchanged(round(member.price / member.money, 6), expected / member.money):
            words = f"{name} at {member.price:g} looks like {expected:.4g} with two digits exchanged"
            yield member.told("digits_exchanged", f"{words}; its family makes that")


def _partner(name: str, usual: float, family: Family, families: Sequence[Family]) -> tuple[str, float] | None:
    """A machine of another family with just the price that this one should have, and its price.

    The exchange must put both right: the other, off its own family, gets what that makes. One that is alone in its
    family must get a known price of it, or one within the market's range.
    """
    expected, price, purchase = usual * family.weight(name), family.members[name].price, family.first.offer.purchase
    alike = [others for others in families if others.first.offer.purchase == purchase]
    few = sum(len(others.members) for others in alike) <= FEW
    for others in alike:
        odd = {} if others is family else dict(_odd(others))
        for other, member in {} if others is family else others.members.items():
            if abs(member.price / expected - 1) >= EXCHANGED:
                continue
            mended = other in odd and abs(price / (odd[other] * others.weight(other)) - 1) < LINEAR
            if mended or (few and len(others.members) == 1 and _plausible(price, member)):
                return other, member.price
    return None


def _plausible(usd: float, member: Rented) -> bool:
    """Whether a machine alone in its family may cost this, and more likely than what it does cost."""
    if member.known is not None:
        return abs(math.log(usd / member.known)) < abs(math.log(member.price / member.known))
    known = rent_of(member.device, member.year)
    each, now = usd / member.units, member.price / member.units
    return known is not None and known.low <= each <= known.high and not known.low <= now <= known.high
