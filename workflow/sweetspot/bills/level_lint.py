"""Lint against known levels of the market: orders of magnitude, lists and families shifted alike, digits exchanged."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sweetspot.bills.money import source_of, to_usd
from sweetspot.bills.price_families import CENT, Finding, Machines, digits_exchanged
from sweetspot.bills.price_levels import dearest_rent, device_key, listed_by, provider_key, rent_of, vcpu_rent
from sweetspot.study.price_list import Offer, PriceList
from sweetspot.study.purchases import INTERRUPTIBLE

# Markets differ by region, form and provider; only what is beyond four times the known range is worth a word. Where the
# known prices are all alike, they are of one or two providers, and others may ask a tenth.
FAR, FAR_OF_FEW = 4.0, 12.0
# Google's cards that go into any N1 machine: a whole machine's price depends on the host.
INTO_ANY_HOST = ("k80", "p100", "v100", "t4", "p4")
# What a factor may come from; within a quarter of it.
FACTORS = {100: "cents", 24: "the price of a day", 168: "the price of a week", 730: "the price of a month"}
NEAR_FACTOR = 1.25
# Prices that are off by one factor agree to this; less than three hundredths off is rounding.
ALIKE, OFF = 0.004, 0.03
EXACT = 0.0005
# So many of a list (others of a list, for a family) are enough: providers have new machines whose prices are not known.
MOST = 0.8
# Where many prices of a device are known, some factor fits by chance; a finding must be less likely than this.
CHANCE_OF_LIST, CHANCE_OF_FAMILY = 0.002, 0.05
# No region of these providers is cheaper than the known prices, and none is as much as this dearer.
DEAREST_REGION = 1.6


@dataclass(frozen=True)
class _Priced:
    """A rented offer: USD a device-hour (or a vCPU-hour), the device's word, its family's known prices."""

    offer: Offer
    device: str
    units: float
    usd: float
    source: str
    year: int

    @property
    def name(self) -> str:
        return self.offer.instance


def against_levels(prices: PriceList, machines: Machines, hours: Mapping[int, float]) -> list[Finding]:
    """What the known levels say of rented offers; `hours`: USD an hour by the number of the offer."""
    rented = [_priced(prices, machines, index, usd) for index, usd in hours.items()]
    far_off = _far_off(rented, machines)
    if any(finding.instance == "" for finding in far_off):
        return far_off  # what all prices are off by says it all
    return [*far_off, *_shifted(rented, machines, prices)]


def _priced(prices: PriceList, machines: Machines, index: int, usd: float) -> _Priced:
    offer = prices.offers[index]
    machine, year = machines[offer.instance], (offer.as_of or prices.as_of).year
    processor = machine.gpu.upper().startswith("CPU")
    units = (machine.vcpus or 0) if processor else machine.gpus
    device = "vcpu" if processor else device_key(machine.gpu)
    return _Priced(offer, device, float(units), usd / (units or 1), source_of(offer, prices), year)


def _far_off(rented: Sequence[_Priced], machines: Machines) -> list[Finding]:
    """Prices far beyond the known range; where that is all of a list, one finding for the list."""
    known = [(entry, *_range(entry)) for entry in rented if entry.units]
    factors = {}
    for entry, low, high in known:
        far = FAR if high >= 2 * low else FAR_OF_FEW
        if entry.usd > high * far or entry.usd < low / far:
            middle = math.sqrt(max(low, 0.01 * high) * high)
            factors[entry.name, entry.offer.purchase] = (entry, entry.usd / middle, low, high)
    sides = {factor > 1 for _, factor, _, _ in factors.values()}
    if len(factors) > 1 and len(factors) >= MOST * len(known) and len(sides) == 1:
        found = [factor for _, factor, _, _ in factors.values()]
        count = f"all {len(found)}" if len(found) == len(known) else f"{len(found)} of {len(known)}"
        words = f"{count} prices are far off: {_times(min(found))} to {_times(max(found))} the known level"
        return [Finding("warning", "market_level", "", words + _hint(statistics.median(found)), known[0][0].source)]
    findings = []
    for entry, factor, low, high in factors.values():
        unit = "vCPU" if entry.device == "vcpu" else machines[entry.name].gpu
        words = (
            f"{entry.name} at {entry.usd * entry.units:.4g} an hour is {entry.usd:.4g} a {unit}; known prices are"
            f" {low:.3g} to {high:.3g}{_hint(factor)}"
        )
        findings.append(Finding("warning", "market_level", entry.name, words, entry.source))
    return findings


def _range(entry: _Priced) -> tuple[float, float]:
    """Known USD a unit-hour; for an unknown device anything up to the dearest of all."""
    if entry.device == "vcpu":
        level = vcpu_rent()
        # Spot prices of processors go down to a tenth.
        return (level.low / 10 if entry.offer.purchase in INTERRUPTIBLE else level.low), level.high
    demand = rent_of(entry.device, entry.year)
    if demand is None:
        return 0.0, dearest_rent()
    spot = rent_of(entry.device, entry.year, spot=True) if entry.offer.purchase in INTERRUPTIBLE else None
    return (min(demand.low, spot.low) if spot else demand.low), demand.high


def _times(factor: float) -> str:
    return f"{factor:.3g}" if factor >= 1 else f"1/{1 / factor:.3g} of"


def _hint(factor: float) -> str:
    for known, what in FACTORS.items():
        if known / NEAR_FACTOR / 1.6 < factor < known * NEAR_FACTOR * 1.6:
            return f" ({what}?)"
    return ""


def _shifted(rented: Iterable[_Priced], machines: Machines, prices: PriceList) -> list[Finding]:
    """Offers held against the very prices that their provider asked for the device: shifted alike, digits exchanged."""
    families: dict[tuple[str, str], list[_Known]] = {}
    for entry in rented:
        provider = machines[entry.name].provider
        levels = listed_by(provider, entry.device, entry.year) if entry.offer.purchase == "on_demand" else ()
        any_host = provider_key(provider) == "gcp" and entry.device in INTO_ANY_HOST
        if levels and (entry.offer.compose is not None or not any_host):
            known = _Known(entry, _cards_only(entry, prices), levels)
            families.setdefault((provider, entry.device), []).append(known)
    everything = [known for members in families.values() for known in members]
    asked = sum(known.fits(1.0) for known in everything)  # prices just as known
    told = [
        finding
        for known in everything
        if asked and asked >= MOST * (len(everything) - 1) and (finding := _exchanged(known, prices)) is not None
    ]
    if asked <= (1 - MOST) * len(everything) and len(families) > 1:
        factor = _common(everything, CHANCE_OF_LIST)
        return told if factor is None else [*told, _list_shifted(factor, everything, prices)]
    for (provider, _), members in families.items():
        others = len(everything) - len(members)
        if others and asked >= MOST * others and not any(known.fits(1.0) for known in members):
            factor = _common(members, CHANCE_OF_FAMILY)
            if factor is not None:
                entry = members[0].entry
                words = (
                    f"the {len(members)} prices of {machines[entry.name].gpu} are {factor:.3g} times known ones of"
                    f" {provider}, the list's {others} others are as known"
                )
                told.append(Finding("warning", "family_shifted", entry.name, words, entry.source))
    return told


@dataclass(frozen=True)
class _Known:
    """An offer whose provider's prices of the device are known: USD a device-hour, and those prices."""

    entry: _Priced
    usd: float
    levels: tuple[float, ...]

    def fits(self, factor: float) -> bool:
        """Whether the price is `factor` times a known one, but for rounding to cents."""
        room = ALIKE + CENT / (self.usd * self.entry.units)
        return any(abs(self.usd / (level * factor) - 1) <= room for level in self.levels)

    @property
    def chance(self) -> float:
        """How likely a price fits some factor by chance: the part of a doubling that its known prices cover."""
        room = ALIKE + CENT / (self.usd * self.entry.units)
        return min(1.0, len(self.levels) * 2 * room / math.log(2))


def _common(members: Sequence[_Known], chance: float) -> float | None:
    """The one factor, nearest to 1, by which MOST of the members are known prices, unless as many fit by chance."""
    ratios = [known.usd / level for known in members for level in known.levels]
    made = {round(math.log(ratio) / ALIKE): ratio for ratio in ratios}
    factors = sorted(made.values(), key=lambda factor: abs(math.log(factor)))
    for factor in factors:
        fitting = [known.chance for known in members if known.fits(factor)]
        if len(fitting) < 2 or len(fitting) < MOST * len(members):
            continue
        likely = len(factors) * math.prod(fitting) / max(fitting)  # one of them made the factor
        if likely < chance:
            near = statistics.median(ratio for ratio in ratios if abs(ratio / factor - 1) <= 2 * ALIKE)
            return near if abs(near - 1) > OFF else None
    return None


def _cards_only(entry: _Priced, prices: PriceList) -> float:
    """USD a device-hour; of a composition that of the accelerators, whose price is the provider's own."""
    composed = entry.offer.compose
    return entry.usd if composed is None else composed.gpu.per_hour.value * to_usd(entry.offer, prices)[0]


def _exchanged(known: _Known, prices: PriceList) -> Finding | None:
    """Two digits of a price exchanged against a known one, in the list's own money."""
    entry = known.entry
    if entry.offer.compose is not None or to_usd(entry.offer, prices)[0] != 1.0:
        return None
    found = entry.usd * entry.units
    if any(abs(found / (level * entry.units) - 1) < EXACT for level in known.levels):
        return None
    for level in known.levels:
        if digits_exchanged(found, level * entry.units):
            words = f"{entry.name} at {found:g} looks like {level * entry.units:.4g} with two digits exchanged"
            message = f"{words}; that is a known price of it"
            return Finding("warning", "digits_exchanged", entry.name, message, entry.source)
    return None


def _list_shifted(factor: float, everything: Sequence[_Known], prices: PriceList) -> Finding:
    words = f"the prices of known machines are {factor:.3g} times what their providers ask ({len(everything)} compared)"
    if OFF < factor - 1 <= DEAREST_REGION - 1:
        return Finding("note", "list_shifted", "", f"{words}: another region, or with tax?", prices.source)
    return Finding("warning", "list_shifted", "", f"{words}: another currency?", prices.source)
