"""Prices against what is known of the market: far off, a list or a family shifted alike, digits exchanged."""

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sweetspot.bills.lint.families import CENT, Finding, Rented, digits_exchanged, label
from sweetspot.bills.lint.known import dearest_rent, listed_by, nearest, provider_key, rent_of, vcpu_rent

# Markets differ by region, form and provider; only what is beyond four times the known range is worth a word. Where the
# known prices are all alike, they are of one or two providers, and others may ask a tenth.
FAR, FAR_OF_FEW = 4.0, 12.0
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


class Known(NamedTuple):
    """An offer whose provider's prices are known: USD a unit-hour, those prices, and `own` of the very machine; `room`:
    how far a price may be off a known one, by rounding to cents.
    """

    entry: Rented
    usd: float
    levels: tuple[float, ...]
    own: tuple[float, ...]
    room: float

    def fits(self, factor: float) -> bool:
        """Whether the price is `factor` times a known one, but for rounding to cents."""
        return any(abs(self.usd / (level * factor) - 1) <= self.room for level in self.levels)

    def ratio(self, level: float = 1.0) -> float:
        """The price over the known one of the machine to which it is nearest where a list is at `level`."""
        return self.usd / nearest(self.usd / level, self.own)


Families = dict[tuple[str, str], list[Known]]


def against_market(rented: Sequence[Rented], source: str) -> list[Finding]:
    """What the known prices say of rented offers; `source`: of the whole list."""
    far_off = _far_off(rented)
    if any(finding.instance == "" for finding in far_off):
        return far_off  # what all prices are off by says it all
    shifted = _against_asked(rented, source)
    whole = any(finding.instance == "" and finding.severity == "warning" for finding in shifted)
    return shifted if whole else [*far_off, *shifted]


def _hint(factor: float) -> str:
    """What a factor may come from, in brackets; nothing for another."""
    near = (what for known, what in FACTORS.items() if known / NEAR_FACTOR < factor < known * NEAR_FACTOR)
    return next((f" ({what}?)" for what in near), "")


def _far_off(rented: Sequence[Rented]) -> list[Finding]:
    """Prices far beyond the known range; where that is all of a list, one finding for the list."""
    known = [(entry, *_range(entry)) for entry in rented if entry.units]
    factors = {}
    for entry, low, high in known:
        far = FAR if high >= 2 * low else FAR_OF_FEW
        if not low / far <= entry.each <= high * far:
            factor = entry.each / math.sqrt(max(low, 0.01 * high) * high)
            words = f"{entry.name} at {entry.each * entry.units:.4g} an hour is {entry.each:.4g} a {entry.unit}"
            words += f"; known prices are {low:.3g} to {high:.3g}{_hint(factor)}"
            factors[entry.name, entry.offer.purchase] = (factor, entry.told("market_level", words))
    found = [factor for factor, _ in factors.values()]
    if len(found) > 1 and len(found) >= MOST * len(known) and len({factor > 1 for factor in found}) == 1:
        count = f"all {len(found)}" if len(found) == len(known) else f"{len(found)} of {len(known)}"
        least, most = (f"{far:.3g}" if far >= 1 else f"1/{1 / far:.3g} of" for far in (min(found), max(found)))
        words = f"{count} prices are far off: {least} to {most} the known level{_hint(statistics.median(found))}"
        return [known[0][0].told("market_level", words, "")]
    return [finding for _, finding in factors.values()]


def _range(entry: Rented) -> tuple[float, float]:
    """Known USD a unit-hour; for an unknown device anything up to the dearest of all."""
    if entry.device == "vcpu":
        level = vcpu_rent()
        # Spot prices of processors go down to a tenth.
        return (level.low / 10 if entry.interruptible else level.low), level.high
    demand = rent_of(entry.device, entry.year)
    if demand is None:
        return 0.0, dearest_rent()
    spot = rent_of(entry.device, entry.year, spot=True) if entry.interruptible else None
    return (min(demand.low, spot.low) if spot else demand.low), demand.high


def _against_asked(rented: Sequence[Rented], source: str) -> list[Finding]:
    """On-demand offers held against the prices that their provider asked: shifted alike, digits exchanged."""
    families = _families(rented)
    everything = [known for members in families.values() for known in members]
    as_known = sum(known.fits(1.0) for known in everything)
    told: list[Finding] = []
    if as_known and as_known >= MOST * (len(everything) - 1):
        told = [finding for known in everything for finding in _exchanged(known)]
    level = 1.0
    if as_known <= (1 - MOST) * len(everything) and len(families) > 1:
        factor = _common(everything, CHANCE_OF_LIST)
        level = factor if factor is not None else _level(families)
        told += _list_shifted(level, len(everything), source)
    return told + list(_families_shifted(families, level, as_known))


def _families(rented: Sequence[Rented]) -> Families:
    families: Families = {}
    for entry in rented:
        if entry.offer.purchase != "on_demand" or not entry.units or entry.usd <= 0:
            continue
        provider = entry.machine.provider
        own = tuple(usd / entry.units for usd in entry.asked)
        any_host = provider_key(provider) == "gcp" and entry.device in INTO_ANY_HOST and not entry.cards
        listed = () if any_host else listed_by(provider, entry.device, entry.year)
        if own or listed:
            usd = entry.cards[0] if entry.cards else entry.each
            room = ALIKE + CENT / (usd * entry.units)
            known = Known(entry, usd, tuple(sorted({*own, *listed})), own, room)
            families.setdefault((provider, label(entry)), []).append(known)
    return families


def _level(families: Families) -> float:
    """A list's level over known prices of the very machines: the median of its families; 1 of few machines."""
    own = [[known.ratio() for known in members if known.own] for members in families.values()]
    if sum(map(len, own)) < FEWEST:
        return 1.0
    return statistics.median(statistics.median(ratios) for ratios in own if ratios)


def _families_shifted(families: Families, level: float, as_known: int) -> Iterator[Finding]:
    """Families of one factor where the rest of the list is as known, or at one level."""
    total, off = sum(map(len, families.values())), _off_level(families, level)
    for key, members in families.items():
        others, factor = total - len(members), off.get(key)
        if key not in off and others and as_known >= MOST * others and not any(known.fits(1.0) for known in members):
            factor = _common(members, CHANCE_OF_FAMILY) or _of_one_level(members)
        if factor is not None and abs(math.log(factor / level)) > FAMILY_OFF:
            rest = "as known" if abs(level - 1) <= OFF else f"{level:.3g} times"
            count = f"the {len(members)} prices of {key[1]} are" if len(members) > 1 else f"the price of {key[1]} is"
            words = f"{count} {factor:.3g} times known ones of {key[0]}, the list's {others} others are {rest}"
            yield members[0].entry.told("family_shifted", words)


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
        # How likely a price fits some factor by chance: the part of a doubling that its known prices cover.
        fitting = [min(1.0, len(one.levels) * 2 * one.room / math.log(2)) for one in members if one.fits(factor)]
        if len(fitting) < MOST * len(members):
            continue
        likely = len(factors) * math.prod(fitting) / max(fitting)  # one of them made the factor; alone it says nothing
        if likely < chance:
            near = statistics.median(ratio for ratio in ratios if abs(ratio / factor - 1) <= 2 * ALIKE)
            return near if abs(near - 1) > OFF else None
    return None


def _exchanged(known: Known) -> Iterator[Finding]:
    """Two digits of a price exchanged against a known one, in the list's own money."""
    entry = known.entry
    found = round(known.usd * entry.units, 6)
    machines = [level * entry.units for level in known.levels]
    if entry.cards or entry.money != 1.0 or any(abs(found / usd - 1) < EXACT for usd in machines):
        return
    for usd in machines:
        if digits_exchanged(found, usd):
            words = f"{entry.name} at {found:g} looks like {usd:.4g} with two digits exchanged"
            yield entry.told("digits_exchanged", f"{words}; that is a known price of it")
            return


def _list_shifted(factor: float, compared: int, source: str) -> list[Finding]:
    """A list at another level than known prices: a note where that is what regions ask, a warning else."""
    if CHEAPEST_REGION <= factor <= 1 + OFF:
        return []
    words = f"the prices of known machines are {factor:.3g} times what their providers ask ({compared} compared): "
    if 1 < factor <= DEAREST_REGION:
        return [Finding("note", "list_shifted", "", f"{words}another region, or with tax?", source)]
    return [Finding("warning", "list_shifted", "", words + (_hint(factor).strip(" ()") or "another currency?"), source)]
