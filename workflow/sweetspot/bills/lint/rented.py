"""What the lint looks at: rented offers by device or vCPU, their families, and what it says of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sweetspot.bills.lint.known import asked, device_key, nearest
from sweetspot.bills.money import source_of, to_usd
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
