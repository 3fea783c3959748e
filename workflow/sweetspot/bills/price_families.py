"""Prices within a family: one per GPU, per vCPU or per known price; rows and digits that look exchanged."""

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sweetspot.bills.families import LINEAR, Family, Machines, Member, families_of
from sweetspot.bills.money import source_of, to_usd
from sweetspot.bills.price_levels import device_key, rent_of
from sweetspot.study.price_list import Offer, PriceList
from sweetspot.study.purchases import INTERRUPTIBLE

# Printed prices are rounded to cents; a family's price per unit may differ by that and a little more.
CENT = 0.005
# Of two machines nobody can say which is wrong, and many providers give large machines cheaper (Lambda, 8 GPUs: 10 %).
LINEAR_PAIR = 0.25
# Known prices of two machines of a family may be of other years (AWS' metal ones of 2024 and 2026: 10 %).
LINEAR_KNOWN = 0.12
# More odd machines than these and this share say that the known prices are not those of this list's day and place.
FEW_ODD, FEW_KNOWN = 2, 0.005
# A price that is this near to a known one of its machine is that.
AS_KNOWN = 0.004
# Spot prices are made by the market machine by machine, and real ones of a family are up to four times apart
# (AWS m2, x2gd).
LINEAR_SPOT = 3.0
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


@dataclass(frozen=True)
class Finding:
    """One remark: `severity` warning or note, the rule's name, the instance (or '' for the list), words, source."""

    severity: str
    rule: str
    instance: str
    message: str
    source: str


def outliers(per_unit: Mapping[str, float], cents: Mapping[str, float], tolerance: float) -> list[tuple[str, float]]:
    """Members whose price per unit is off the median of the others, with that median.

    `cents`: half a cent per unit of each. With two members nobody can say which is wrong, so both are named; of more
    the one that is farthest off, if most of the others agree.
    """
    if len(per_unit) == 2 and tolerance < LINEAR_PAIR:
        tolerance = LINEAR_PAIR
    odd = []
    for name, value in per_unit.items():
        others = [other for key, other in per_unit.items() if key != name]
        if not others:
            continue
        middle = statistics.median(others)
        agreeing = [usd for usd in others if _near(usd, middle, tolerance, cents[name])]
        if not _near(value, middle, tolerance, cents[name]) and len(agreeing) >= AGREEING * len(others):
            odd.append((name, middle))
    if len(per_unit) == 2:
        return odd
    # An outlier shifts the median of small families; only the largest deviation is blamed, and a tenth is as far off
    # as ten times.
    far = {name: abs(math.log(per_unit[name] / middle)) for name, middle in odd}
    return [pair for pair in odd if far[pair[0]] == max(far.values())]


def _near(value: float, middle: float, tolerance: float, cent: float) -> bool:
    return middle / (1 + tolerance) - cent <= value <= middle * (1 + tolerance) + cent


def _odd(family: Family) -> list[tuple[str, float]]:
    limit = LINEAR_SPOT if family.purchase in INTERRUPTIBLE else LINEAR_KNOWN if family.is_known else LINEAR
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


def machine_per_vcpu(prices: PriceList) -> list[Finding]:
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
        for name, usual in outliers(per_unit, {n: CENT / v for n, (_, v, _) in members.items()}, LINEAR):
            price, count, offer = members[name]
            gpus = 0.0 if offer.compose is None else offer.compose.count * offer.compose.gpu.per_hour.value
            message = (
                f"{name} at {price:g} an hour is {per_unit[name]:.4g} a vCPU; the others of its family are {usual:.4g},"
                f" which makes {usual * count:.4g} (with its accelerators {usual * count + gpus:.4g}, not"
                f" {price + gpus:.4g})"
            )
            found.append(Finding("warning", "per_vcpu", offer.instance, message, source_of(offer, prices)))
    return found


def within_families(
    prices: PriceList, machines: Machines, hours: Mapping[int, float], shares: Mapping[int, float] | None = None
) -> list[Finding]:
    """Prices off their family's, rows that look exchanged, and digits.

    `hours`: USD an hour by the number of the offer; `shares`: of spot offers by number, the share of the on-demand
    price that is paid.
    """
    families = _with_few_odd(families_of(prices, machines, hours))
    cheap = {prices.offers[index].instance for index, share in (shares or {}).items() if share < LEAST_SHARE}
    found = []
    for family in families:
        odd = _odd(family)
        if family.purchase in INTERRUPTIBLE and any(name in cheap for name, _ in odd):
            odd = [pair for pair in odd if pair[0] in cheap]  # its share of the on-demand price says which is wrong
        found += _digits(family, {name for name, _ in odd}, prices)
        partners = {name: _partner(name, usual, family, families, prices) for name, usual in odd}
        for name, usual in odd:
            if partners[name] or not any(partners.values()):  # an exchange explains the family's other oddities
                found += _told(name, usual, family, partners[name], prices)
    return found


def _with_few_odd(families: Sequence[Family]) -> list[Family]:
    """Without families of known prices, where many machines of a list are odd by them."""
    known = [family for family in families if family.is_known]
    odd, machines = sum(len(_odd(family)) for family in known), sum(len(family.members) for family in known)
    many = odd > max(FEW_ODD, FEW_KNOWN * machines)
    return [family for family in families if not (many and family.is_known)]


def _told(
    name: str, usual: float, family: Family, partner: tuple[str, float] | None, prices: PriceList
) -> list[Finding]:
    member = family.members[name]
    expected, source = usual * family.weight(name), source_of(member.offer, prices)
    if family.is_known:
        words = f"{name} at {member.usd:g} an hour is {family.per_unit[name]:.3g} times a known price; others of its"
        message = f"{words} family are {usual:.3g} times, which makes {expected:.4g}"
    else:
        words = f"{name} at {member.usd:g} an hour is {member.usd / member.units:.4g} a {family.unit}; others are"
        message = f"{words} {usual:.4g}, which makes {expected:.4g}"
    found = [Finding("warning", "per_vcpu" if family.unit == "vCPU" else "per_gpu", name, message, source)]
    if partner is not None:
        words = (
            f"{name} ({member.usd:g}) and {partner[0]} ({partner[1]:g}) look swapped: by its family {name} should cost"
            f" about {expected:.4g}, the price printed for {partner[0]}"
        )
        found += [Finding("warning", "swapped", machine, words, source) for machine in (name, partner[0])]
    return found


def _digits(family: Family, told: set[str], prices: PriceList) -> list[Finding]:
    """Digits exchanged, below what the price per unit would show: 12.42 where two others make 12.24."""
    found = []
    for name, member in family.members.items():
        others = [usd for key, usd in family.per_unit.items() if key != name]
        agree = len(others) > 1 and max(others) <= min(others) * (1 + AGREE)
        if not agree or name in told or member.offer.compose is not None or family.purchase in INTERRUPTIBLE:
            continue
        money, expected = to_usd(member.offer, prices)[0], statistics.median(others) * family.weight(name)
        if digits_exchanged(round(member.usd / money, 6), expected / money):
            words = f"{name} at {member.usd:g} looks like {expected:.4g} with two digits exchanged"
            message = f"{words}; its family makes that"
            found.append(Finding("warning", "digits_exchanged", name, message, source_of(member.offer, prices)))
    return found


def _partner(
    name: str, usual: float, family: Family, families: Sequence[Family], prices: PriceList
) -> tuple[str, float] | None:
    """A machine of another family with just the price that this one should have, and its price.

    The exchange must put both right: the other, off its own family, gets what that makes. One that is alone in its
    family must get a known price of it, or one within the market's range.
    """
    expected, price = usual * family.weight(name), family.members[name].usd
    few = sum(len(others.members) for others in families if others.purchase == family.purchase) <= FEW
    for others in families:
        if others is family or others.purchase != family.purchase:
            continue
        odd = dict(_odd(others))
        for other, member in others.members.items():
            if abs(member.usd / expected - 1) >= EXCHANGED:
                continue
            if other in odd and abs(price / (odd[other] * others.weight(other)) - 1) < LINEAR:
                return other, member.usd
            if few and len(others.members) == 1 and _plausible(price, others.unit, member, prices):
                return other, member.usd
    return None


def _plausible(usd: float, unit: str, member: Member, prices: PriceList) -> bool:
    """Whether a machine alone in its family may cost this, and more likely than what it does cost."""
    if member.known is not None:
        return abs(math.log(usd / member.known)) < abs(math.log(member.usd / member.known))
    known = rent_of(device_key(unit), (member.offer.as_of or prices.as_of).year)
    each, now = usd / member.units, member.usd / member.units
    return known is not None and known.low <= each <= known.high and not known.low <= now <= known.high
