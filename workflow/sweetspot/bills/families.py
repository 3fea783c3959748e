"""Families of machines whose prices go together: one provider, device (or name), purchase and shape."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sweetspot.bills.machine_prices import asked, nearest
from sweetspot.bills.money import to_usd
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import Offer, PriceList
from sweetspot.study.purchases import INTERRUPTIBLE

# A family's price per unit may differ by this.
LINEAR = 0.06
# vCPUs or memory a unit that are one shape; another shape has another price (Nebius L40S: 8 to 48 vCPUs a GPU).
SAME_SHAPE = 1.1
Machines = Mapping[str, Instance]


@dataclass(frozen=True)
class Member:
    """An offer of a family: USD an hour, its GPUs or vCPUs, and what its provider is known to have asked for it."""

    offer: Offer
    usd: float
    units: float
    known: float | None = None


@dataclass(frozen=True)
class Family:
    """Offers, by instance, whose price is one per `unit`; where all their prices are known, one share of those."""

    unit: str
    purchase: str
    members: Mapping[str, Member]

    @property
    def is_known(self) -> bool:
        """Whether the price of each member is held against a known one."""
        return all(member.known is not None for member in self.members.values())

    def weight(self, name: str) -> float:
        """What the price of a member goes with: its known price, else its GPUs or vCPUs."""
        member = self.members[name]
        return member.known if self.is_known and member.known is not None else member.units

    @property
    def per_unit(self) -> dict[str, float]:
        """USD an hour per GPU, per vCPU or per USD of the known price, by member."""
        return {name: member.usd / self.weight(name) for name, member in self.members.items()}


def name_family(name: str, vcpus: float | None, memory_gib: float | None = None) -> str:
    """The name without what says the size: `c5.xlarge` and `c5.metal` are `c5`, `Standard_D4as_v5` `Standard_D#as_v5`.

    A number is the size where it is the machine's vCPUs or memory, or stands at the end and says no version (`_v5`).
    """
    if re.fullmatch(r"[a-z0-9-]+\.[a-z0-9-]+", name):
        return name.partition(".")[0]
    sizes = {f"{size:g}" for size in (vcpus, memory_gib) if size}
    family = re.sub(r"(?<!_v)(?<!\d)\d+(?!\d)", lambda found: "#" if found[0] in sizes else found[0], name)
    return re.sub(r"(?<![\d_v])\d+$|(?<=[-_])\d+$", "#", family)


def families_of(prices: PriceList, machines: Machines, hours: Mapping[int, float]) -> list[Family]:
    """Families of rented machines: with devices by device, without by name; compositions price their devices alone."""
    groups: dict[tuple[str, str, str, str], dict[str, Member]] = {}
    for index, usd in hours.items():
        offer = prices.offers[index]
        machine = machines[offer.instance]
        processor = machine.gpu.upper().startswith("CPU")
        if processor and (offer.compose is not None or not machine.vcpus):
            continue  # of a composition the machine is held against its own family
        unit = "vCPU" if processor else machine.gpu
        label = name_family(offer.instance, machine.vcpus, machine.memory_gib) if processor else ""
        group = groups.setdefault((machine.provider, unit, label, offer.purchase), {})
        group[offer.instance] = _member(offer, prices, machine, usd)
    found = []
    for (_, unit, _, purchase), group in groups.items():
        known = {name: member for name, member in group.items() if member.known is not None}
        others = {name: member for name, member in group.items() if member.known is None}
        shapes = ([known] if known else []) + (_shapes(others, machines) if others else [])
        found += [Family(unit, purchase, shape) for shape in shapes]
    return found


def _member(offer: Offer, prices: PriceList, machine: Instance, usd: float) -> Member:
    units = float((machine.vcpus or 0) if machine.gpu.upper().startswith("CPU") else machine.gpus)
    if offer.compose is not None:
        usd = offer.compose.gpu.per_hour.value * offer.compose.count * to_usd(offer, prices)[0]
        return Member(offer, usd, units)
    known = () if offer.purchase in INTERRUPTIBLE else asked(machine.provider, offer.instance)
    return Member(offer, usd, units, nearest(usd, known) if known and usd > 0 else None)


def _shapes(group: Mapping[str, Member], machines: Machines) -> list[dict[str, Member]]:
    """A family apart by vCPUs a GPU, and by memory a unit, where all members say theirs.

    Where machines with devices do not say vCPUs, as many GPUs at different prices show that there are several shapes,
    of which nobody can say which is which: then the family says nothing.
    """
    if all(member.offer.compose is None for member in group.values()):
        vcpus = {name: machines[name].vcpus for name in group}
        if all(vcpus.values()):
            memory = {name: machines[name].memory_gib for name in group}
            return [part for shape in _apart(group, vcpus) for part in _apart(shape, memory)]
    by_count: dict[float, list[float]] = {}
    for member in group.values():
        by_count.setdefault(member.units, []).append(member.usd)
    mixed = any(max(found) > min(found) * (1 + LINEAR) for found in by_count.values())
    return [] if mixed else [dict(group)]


def _apart(group: Mapping[str, Member], sizes: Mapping[str, float | None]) -> list[dict[str, Member]]:
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
