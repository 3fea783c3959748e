"""Lint against known levels of the market: orders of magnitude, of one price or of a whole list."""

import math
import statistics
from collections.abc import Mapping, Sequence

from sweetspot.bills.asked_lint import Priced, against_asked, hint
from sweetspot.bills.families import Machines
from sweetspot.bills.money import source_of
from sweetspot.bills.price_families import Finding
from sweetspot.bills.price_levels import dearest_rent, device_key, rent_of, vcpu_rent
from sweetspot.study.price_list import PriceList
from sweetspot.study.purchases import INTERRUPTIBLE

# Markets differ by region, form and provider; only what is beyond four times the known range is worth a word. Where the
# known prices are all alike, they are of one or two providers, and others may ask a tenth.
FAR, FAR_OF_FEW = 4.0, 12.0
# So many of a list are all of it: providers have new machines whose prices are not known.
MOST = 0.8


def against_levels(prices: PriceList, machines: Machines, hours: Mapping[int, float]) -> list[Finding]:
    """What the known levels say of rented offers; `hours`: USD an hour by the number of the offer."""
    rented = [_priced(prices, machines, index, usd) for index, usd in hours.items()]
    far_off = _far_off(rented, machines)
    if any(finding.instance == "" for finding in far_off):
        return far_off  # what all prices are off by says it all
    shifted = against_asked(rented, machines, prices)
    whole = any(finding.instance == "" and finding.severity == "warning" for finding in shifted)
    return shifted if whole else [*far_off, *shifted]


def _priced(prices: PriceList, machines: Machines, index: int, usd: float) -> Priced:
    offer = prices.offers[index]
    machine, year = machines[offer.instance], (offer.as_of or prices.as_of).year
    processor = machine.gpu.upper().startswith("CPU")
    units = (machine.vcpus or 0) if processor else machine.gpus
    device = "vcpu" if processor else device_key(machine.gpu)
    each = usd / units if units else usd
    return Priced(offer, device, float(units), each, source_of(offer, prices), year)


def _far_off(rented: Sequence[Priced], machines: Machines) -> list[Finding]:
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
        return [Finding("warning", "market_level", "", words + hint(statistics.median(found)), known[0][0].source)]
    findings = []
    for entry, factor, low, high in factors.values():
        unit = "vCPU" if entry.device == "vcpu" else machines[entry.name].gpu
        words = (
            f"{entry.name} at {entry.usd * entry.units:.4g} an hour is {entry.usd:.4g} a {unit}; known prices are"
            f" {low:.3g} to {high:.3g}{hint(factor)}"
        )
        findings.append(Finding("warning", "market_level", entry.name, words, entry.source))
    return findings


def _range(entry: Priced) -> tuple[float, float]:
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
