"""Lint against the very prices that a provider is known to ask: a list or a family shifted alike, digits exchanged."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sweetspot.bills.families import Machines, name_family
from sweetspot.bills.machine_prices import asked, nearest
from sweetspot.bills.money import to_usd
from sweetspot.bills.price_families import CENT, Finding, digits_exchanged
from sweetspot.bills.price_levels import listed_by, provider_key
from sweetspot.study.price_list import Offer, PriceList

# Google's cards that go into any N1 machine: a whole machine's price depends on the host.
INTO_ANY_HOST = ("k80", "p100", "v100", "t4", "p4")
# What a factor may come from; within a quarter of it.
FACTORS = {100: "cents", 24: "the price of a day", 168: "the price of a week", 730: "the price of a month"}
NEAR_FACTOR = 2.0
# Prices that are off by one factor agree to this; less than three hundredths off is rounding.
ALIKE, OFF = 0.004, 0.03
EXACT = 0.0005
# So many of a list (others of a list, for a family) are enough: providers have new machines whose prices are not known.
MOST = 0.8
# Where many prices of a device are known, some factor fits by chance; a finding must be less likely than this.
CHANCE_OF_LIST, CHANCE_OF_FAMILY = 0.002, 0.05
# Of so many machines the known prices tell the level of a list, where no factor fits all of them exactly.
FEWEST = 5
# Median of a region's prices over the usual place's: 1.00 to 1.6 of AWS and Google, to 2.07 of Azure (brazilsoutheast).
CHEAPEST_REGION, DEAREST_REGION = 0.95, 2.1
# A family is off its list's level by this, and by twice what nine tenths of the other families are off.
FAMILY_OFF, SPREAD, WITHIN = math.log(1.1), 2.0, 0.9
# More families than this share that are off say that the known prices are not those of this list's day and place.
FEW_FAMILIES = 0.02


@dataclass(frozen=True)
class Priced:
    """A rented offer: USD a device-hour (or a vCPU-hour), the device's word."""

    offer: Offer
    device: str
    units: float
    usd: float
    source: str
    year: int

    @property
    def name(self) -> str:
        """The machine."""
        return self.offer.instance


@dataclass(frozen=True)
class Known:
    """An offer whose provider's prices are known: USD a unit-hour, those prices, and `own` of the very machine."""

    entry: Priced
    usd: float
    levels: tuple[float, ...]
    own: tuple[float, ...]

    @cached_property
    def room(self) -> float:
        """How far a price may be off a known one: rounding to cents."""
        return ALIKE + CENT / (self.usd * self.entry.units)

    def fits(self, factor: float) -> bool:
        """Whether the price is `factor` times a known one, but for rounding to cents."""
        return any(abs(self.usd / (level * factor) - 1) <= self.room for level in self.levels)

    def ratio(self, level: float = 1.0) -> float:
        """The price over the known one of the machine to which it is nearest where a list is at `level`."""
        return self.usd / nearest(self.usd / level, self.own)

    @property
    def chance(self) -> float:
        """How likely a price fits some factor by chance: the part of a doubling that its known prices cover."""
        return min(1.0, len(self.levels) * 2 * self.room / math.log(2))


Families = dict[tuple[str, str], list[Known]]


def hint(factor: float) -> str:
    """What a factor may come from, in brackets; nothing for another."""
    for known, what in FACTORS.items():
        if known / NEAR_FACTOR < factor < known * NEAR_FACTOR:
            return f" ({what}?)"
    return ""


def against_asked(rented: Iterable[Priced], machines: Machines, prices: PriceList) -> list[Finding]:
    """On-demand offers held against the prices that their provider asked: shifted alike, digits exchanged."""
    families = _families(rented, machines, prices)
    everything = [known for members in families.values() for known in members]
    as_known = sum(known.fits(1.0) for known in everything)
    told = [
        finding
        for known in everything
        if as_known and as_known >= MOST * (len(everything) - 1) and (finding := _exchanged(known, prices)) is not None
    ]
    level = 1.0
    if as_known <= (1 - MOST) * len(everything) and len(families) > 1:
        factor = _common(everything, CHANCE_OF_LIST)
        level = factor if factor is not None else _level(families)
        found = _list_shifted(level, len(everything), prices)
        told += [] if found is None else [found]
    return told + _families_shifted(families, level, machines, as_known)


def _families(rented: Iterable[Priced], machines: Machines, prices: PriceList) -> Families:
    families: Families = {}
    for entry in rented:
        machine = machines[entry.name]
        if entry.offer.purchase != "on_demand" or not entry.units or entry.usd <= 0:
            continue
        own = () if entry.offer.compose is not None else asked(machine.provider, entry.name)
        own = tuple(usd / entry.units for usd in own)
        any_host = provider_key(machine.provider) == "gcp" and entry.device in INTO_ANY_HOST
        listed = (
            () if any_host and entry.offer.compose is None else listed_by(machine.provider, entry.device, entry.year)
        )
        if own or listed:
            known = Known(entry, _cards_only(entry, prices), tuple(sorted({*own, *listed})), own)
            family = (
                machine.gpu if entry.device != "vcpu" else name_family(entry.name, machine.vcpus, machine.memory_gib)
            )
            families.setdefault((machine.provider, family), []).append(known)
    return families


def _level(families: Families) -> float:
    """A list's level over known prices of the very machines: the median of its families; 1 of few machines."""
    own = [[known.ratio() for known in members if known.own] for members in families.values()]
    if sum(map(len, own)) < FEWEST:
        return 1.0
    return statistics.median(statistics.median(ratios) for ratios in own if ratios)


def _families_shifted(families: Families, level: float, machines: Machines, as_known: int) -> list[Finding]:
    """Families of one factor where the rest of the list is as known, or at one level."""
    total, told = sum(map(len, families.values())), []
    off = _off_level(families, level)
    for (provider, family), members in families.items():
        others = total - len(members)
        key = (provider, family)
        factor = off.get(key)
        if key not in off and others and as_known >= MOST * others and not any(known.fits(1.0) for known in members):
            factor = _common(members, CHANCE_OF_FAMILY) or _of_one_level(members)
        if factor is not None and abs(math.log(factor / level)) > FAMILY_OFF:
            entry = members[0].entry
            what = family if entry.device == "vcpu" else machines[entry.name].gpu
            rest = "as known" if abs(level - 1) <= OFF else f"{level:.3g} times"
            count = f"the {len(members)} prices of {what} are" if len(members) > 1 else f"the price of {what} is"
            words = f"{count} {factor:.3g} times known ones of {provider}, the list's {others} others are {rest}"
            told.append(Finding("warning", "family_shifted", entry.name, words, entry.source))
    return told


def _off_level(families: Families, level: float) -> dict[tuple[str, str], float | None]:
    """Families whose machines can be held against the list's level; the factor of those that are off it."""
    ratios = {key: [known.ratio(level) for known in members if known.own] for key, members in families.items()}
    factors = {
        key: statistics.median(found)
        for key, found in ratios.items()
        if len(found) > 1 or (found and families[key][0].entry.device != "vcpu")
    }
    if sum(map(len, ratios.values())) < FEWEST:
        return {}
    distance = {key: abs(math.log(factor / level)) for key, factor in factors.items()}
    off: dict[tuple[str, str], float | None] = dict.fromkeys(factors)
    for key, far in distance.items():
        rest = sorted(other for name, other in distance.items() if name != key)
        if rest and far > max(FAMILY_OFF, SPREAD * rest[math.ceil(WITHIN * len(rest)) - 1]):
            off[key] = factors[key]
    many = sum(factor is not None for factor in off.values()) > max(1, FEW_FAMILIES * len(factors))
    return dict.fromkeys(factors) if many else off


def _of_one_level(members: Sequence[Known]) -> float | None:
    """The factor of a family whose provider never asked but one price; regions of the large ones ask other ones."""
    ratios = [known.usd / known.levels[0] for known in members if len(known.levels) == 1 and not known.own]
    if len(ratios) < len(members) or max(ratios) > min(ratios) * (1 + OFF):
        return None
    return statistics.median(ratios)


def _common(members: Sequence[Known], chance: float) -> float | None:
    """The one factor, nearest to 1, by which MOST of the members are known prices, unless as many fit by chance."""
    ratios = [known.usd / level for known in members for level in known.levels]
    made = {round(math.log(ratio) / ALIKE): ratio for ratio in ratios}
    factors = sorted(made.values(), key=lambda factor: abs(math.log(factor)))
    for factor in factors:
        fitting = [known.chance for known in members if known.fits(factor)]
        if len(fitting) < MOST * len(members):
            continue
        likely = len(factors) * math.prod(fitting) / max(fitting)  # one of them made the factor; alone it says nothing
        if likely < chance:
            near = statistics.median(ratio for ratio in ratios if abs(ratio / factor - 1) <= 2 * ALIKE)
            return near if abs(near - 1) > OFF else None
    return None


def _cards_only(entry: Priced, prices: PriceList) -> float:
    """USD a device-hour; of a composition that of the accelerators, whose price is the provider's own."""
    composed = entry.offer.compose
    return entry.usd if composed is None else composed.gpu.per_hour.value * to_usd(entry.offer, prices)[0]


def _exchanged(known: Known, prices: PriceList) -> Finding | None:
    """Two digits of a price exchanged against a known one, in the list's own money."""
    entry = known.entry
    if entry.offer.compose is not None or to_usd(entry.offer, prices)[0] != 1.0:
        return None
    found = round(entry.usd * entry.units, 6)
    if any(abs(found / (level * entry.units) - 1) < EXACT for level in known.levels):
        return None
    for level in known.levels:
        if digits_exchanged(found, round(level * entry.units, 6)):
            words = f"{entry.name} at {found:g} looks like {level * entry.units:.4g} with two digits exchanged"
            message = f"{words}; that is a known price of it"
            return Finding("warning", "digits_exchanged", entry.name, message, entry.source)
    return None


def _list_shifted(factor: float, compared: int, prices: PriceList) -> Finding | None:
    """A list at another level than known prices: a note where that is what regions ask, a warning else."""
    if CHEAPEST_REGION <= factor <= 1 + OFF:
        return None
    words = f"the prices of known machines are {factor:.3g} times what their providers ask ({compared} compared)"
    if 1 < factor <= DEAREST_REGION:
        return Finding("note", "list_shifted", "", f"{words}: another region, or with tax?", prices.source)
    return Finding(
        "warning", "list_shifted", "", f"{words}: {hint(factor).strip(' ()') or 'another currency?'}", prices.source
    )
