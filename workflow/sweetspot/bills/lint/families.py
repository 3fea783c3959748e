"""Prices within a family: one per GPU, per vCPU or per known price; rows and digits that look exchanged."""

import math
import re
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from sweetspot.bills.lint.known import asked, device_key, nearest, rent_of
from sweetspot.bills.offer_prices import source_of, to_usd
from sweetspot.cells import INTERRUPTIBLE
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import Offer, PriceList

Machines = Mapping[str, Instance]
# Printed prices are rounded to cents; a family's price per unit may differ by that and a little more.
CENT, LINEAR = 0.005, 0.06
# vCPUs or memory a unit that are one shape; another shape has another price (Nebius L40S: 8 to 48 vCPUs a GPU).
SAME_SHAPE = 1.1


class Finding(NamedTuple):
    """One remark: `severity` warning or note, the rule's name, the instance (or '' for the list), words, source."""

    severity: str
    rule: str
    instance: str
    message: str
    source: str


def is_processor(machine: Instance) -> bool:
    """Whether the machine has no devices but its processor, and is priced by the vCPU."""
    return machine.gpu.upper().startswith("CPU")


class Rented(NamedTuple):
    """A rented offer as the lint looks at it.

    `usd` an hour of the machine; `money`: USD for one of the offer's own; `year` of its price. `unit`: what the price
    goes by, vCPU or the device as the machine has it, `device` the same as one word, `units` how many (0: vCPUs not
    told), `each`: USD an hour of one. `cards`: of a composition USD an hour of one accelerator, whose price is the
    provider's own, and how many; `asked`: what the provider is known to have asked for the very machine. A family
    judges by `price`, of a composition that of its devices, and by `known`, the nearest known price; None of one that
    can be taken away.
    """

    offer: Offer
    machine: Instance
    name: str
    usd: float
    money: float
    source: str
    year: int
    unit: str
    device: str
    units: float
    each: float
    interruptible: bool
    cards: tuple[float, int] | None
    asked: tuple[float, ...]
    price: float
    known: float | None

    def told(self, rule: str, words: str, instance: str | None = None) -> Finding:
        """A warning about it, or about another machine read at the same place."""
        return Finding("warning", rule, self.name if instance is None else instance, words, self.source)


def rented_offers(prices: PriceList, machines: Machines, hours: Mapping[int, float]) -> list[Rented]:
    """The offers of a list whose hour has a price; `hours`: USD an hour by the number of the offer."""
    return [_rented(prices.offers[index], prices, machines, usd) for index, usd in hours.items()]


def _rented(offer: Offer, prices: PriceList, machines: Machines, usd: float) -> Rented:
    name, machine, money, composed = offer.instance, machines[offer.instance], to_usd(offer, prices)[0], offer.compose
    processor, taken_away = is_processor(machine), offer.purchase in INTERRUPTIBLE
    units = float((machine.vcpus or 0) if processor else machine.gpus)
    cards = None if composed is None else (composed.gpu.per_hour.value * money, composed.count)
    known = () if cards else asked(machine.provider, name)
    return Rented(
        offer, machine, name, usd, money, source_of(offer, prices), (offer.as_of or prices.as_of).year,
        unit="vCPU" if processor else machine.gpu, device="vcpu" if processor else device_key(machine.gpu),
        units=units, each=usd / units if units else usd, interruptible=taken_away, cards=cards, asked=known,
        price=cards[0] * cards[1] if cards else usd,
        known=nearest(usd, known) if known and usd > 0 and not taken_away else None,
    )  # fmt: skip


class Family:
    """Offers of one provider, device (or name), purchase and shape: one price a unit, or one share of known prices.

    `is_known`: the price of each member is held against a known one. `weight`: what its price goes with, its known
    price, else its GPUs or vCPUs; `per_unit`: USD an hour for one of that; `odd`: members that are off the others, with
    what those cost.
    """

    def __init__(self, members: Mapping[str, Rented]) -> None:
        self.members, self.first = members, next(iter(members.values()))
        self.is_known = all(member.known is not None for member in members.values())
        self.weight = {name: (self.is_known and one.known) or one.units for name, one in members.items()}
        self.per_unit = {name: one.price / self.weight[name] for name, one in members.items()}
        limit = LINEAR_SPOT if self.first.interruptible else LINEAR_KNOWN if self.is_known else LINEAR
        odd = outliers(self.per_unit, {name: CENT / weight for name, weight in self.weight.items()}, limit)
        far = {name for name, usd in self.per_unit.items() if not self.is_known or abs(usd - 1) > AS_KNOWN}
        self.odd = {name: usual for name, usual in odd if name in far}


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


def families_of(rented: Sequence[Rented]) -> list[Family]:
    """Families of rented machines: with devices by device, without by name; compositions price their devices alone."""
    groups: dict[tuple[str, str, str, str], dict[str, Rented]] = {}
    for entry in rented:
        if entry.unit != "vCPU" or (entry.units and not entry.cards):
            # of a composition of processors the machine is held against its own family
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
    members = list(group.values())
    if all(member.cards is None and member.machine.vcpus for member in members):
        return [part for shape in _apart(group, "vcpus") for part in _apart(shape, "memory_gib")]
    by_count: dict[float, list[float]] = {}
    for member in members:
        by_count.setdefault(member.units, []).append(member.price)
    mixed = any(max(found) > min(found) * (1 + LINEAR) for found in by_count.values())
    return [] if mixed else [dict(group)]


def _apart(group: Mapping[str, Rented], size: str) -> list[dict[str, Rented]]:
    """Members whose size a unit is the same together, in their order; all of them where a size is not told."""
    each = {name: (getattr(member.machine, size) or 0.0) / member.units for name, member in group.items()}
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
    families: dict[str, dict[str, tuple[float, float, float, Offer]]] = {}
    for offer in prices.offers:
        if offer.compose is not None:
            machine, devices = offer.compose.machine, offer.compose.count * offer.compose.gpu.per_hour.value
            ending = re.search(r"^(.*\D)(\d+)$", machine.name)
            vcpus = machine.vcpus or (int(ending[2]) if ending else 0)
            if vcpus:
                family = families.setdefault(ending[1] if ending else machine.name, {})
                family[machine.name] = (machine.per_hour.value, float(vcpus), devices, offer)
    for members in families.values():
        per_unit = {name: price / vcpus for name, (price, vcpus, *_) in members.items()}
        for name, usual in outliers(per_unit, {n: CENT / v for n, (_, v, *_) in members.items()}, LINEAR):
            price, count, gpus, offer = members[name]
            message = (
                f"{name} at {price:g} an hour is {per_unit[name]:.4g} a vCPU; the others of its family are {usual:.4g},"
                f" which makes {usual * count:.4g} (with its accelerators {usual * count + gpus:.4g}, not"
                f" {price + gpus:.4g})"
            )
            yield Finding("warning", "per_vcpu", offer.instance, message, source_of(offer, prices))


def within_families(rented: list[Rented], cheap: set[str]) -> Iterator[Finding]:
    """Prices off their family's, rows that look exchanged, and digits.

    `cheap`: machines whose spot price is a doubtful share of the on-demand one, which says which of a family is wrong.
    Where many machines of a list are odd by known prices, their families say nothing.
    """
    families = families_of(rented)
    known = [family for family in families if family.is_known]
    odd_known, machines = sum(len(family.odd) for family in known), sum(len(family.members) for family in known)
    if odd_known > max(FEW_ODD, FEW_KNOWN * machines):
        families = [family for family in families if not family.is_known]
    for family in families:
        odd = family.odd
        if family.first.interruptible and cheap & odd.keys():
            odd = {name: usual for name, usual in odd.items() if name in cheap}
        yield from _digits(family, odd)
        partners = {name: _partner(name, usual, family, families) for name, usual in odd.items()}
        for name, usual in odd.items():
            if partners[name] or not any(partners.values()):  # an exchange explains the family's other oddities
                yield from _told(name, usual, family, partners[name])


def _told(name: str, usual: float, family: Family, partner: tuple[str, float] | None) -> Iterator[Finding]:
    member = family.members[name]
    expected = usual * family.weight[name]
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


def _digits(family: Family, told: Collection[str]) -> Iterator[Finding]:
    """Digits exchanged, below what the price per unit would show: 12.42 where two others make 12.24."""
    for name, member in family.members.items():
        others = [usd for key, usd in family.per_unit.items() if key != name]
        agree = len(others) > 1 and max(others) <= min(others) * (1 + AGREE)
        if not agree or name in told or member.cards or family.first.interruptible:
            continue
        expected = statistics.median(others) * family.weight[name]
        if digits_exchanged(round(member.price / member.money, 6), expected / member.money):
            words = f"{name} at {member.price:g} looks like {expected:.4g} with two digits exchanged"
            yield member.told("digits_exchanged", f"{words}; its family makes that")


def _partner(name: str, usual: float, family: Family, families: Sequence[Family]) -> tuple[str, float] | None:
    """A machine of another family with just the price that this one should have, and its price.

    The exchange must put both right: the other, off its own family, gets what that makes. One that is alone in its
    family must get a known price of it, or one within the market's range.
    """
    expected, price, purchase = usual * family.weight[name], family.members[name].price, family.first.offer.purchase
    alike = [others for others in families if others.first.offer.purchase == purchase]
    few = sum(len(others.members) for others in alike) <= FEW
    for others in alike:
        for other, member in {} if others is family else others.members.items():
            if abs(member.price / expected - 1) >= EXCHANGED:
                continue
            mended = other in others.odd and abs(price / (others.odd[other] * others.weight[other]) - 1) < LINEAR
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
