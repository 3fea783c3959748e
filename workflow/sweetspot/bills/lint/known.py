"""Known prices and powers of devices and machines, as yardsticks for the price lint.

facts/price_levels.csv (research/price_levels_table.py names its sources): rents of 2013 to 2026 by device and year,
purchase prices, power. facts/machine_prices.csv: what AWS, Azure and Google asked for each machine.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from sweetspot.facts.shipped_tables import table

COLUMNS = ("what", "device", "year", "low", "high", "figures", "source")
# Other names of providers.
PROVIDERS = {"amazon": "aws", "gce": "gcp", "google": "gcp"}
# Prices of a device move slowly: those of the years beside count too.
YEARS_BESIDE = 2
DEVICE = re.compile(
    r"(?P<pro>rtx[ -]?pro[ -]?6000)|(?P<ada>(?:rtx ?)?6000[ -]?ada)|(?P<gtx>[gr]tx ?-?\d{3,4}(?: ?ti| ?super)?\b)"
    r"|(?:rtx ?)?(?P<workstation>[am]\d{4})\b|\b(?P<quadro>p\d{4})\b|\b(?P<amd>mi\d{3}x)"
    r"|(?:\b|(?<=[_ -]))(?P<card>g?[hb][1-3]00|[avp]100|a10g|a10|a40|a30|l40s|l40|l4|t4|p4|k80|k520|m60)(?=\b|[_-])"
)
# Names that say how many devices a machine has: gpu_8x_h100, 8x-H100_SXM, gpu-h100-sxm_8gpu-128vcpu, a2-highgpu-8g,
# h100.8x, BM.GPU.A10.4, H100x8-NVLINK, H100-1-80G, 8H100.80S.
DEVICE_COUNT = re.compile(
    r"(?:^|_)(\d+)x[-_ ]|_(\d+)gpu|^[ag]\d\w?-\w+-(\d+)g$|[.-](\d+)x$|\.GPU\..*\.(\d+)$"
    r"|[a-z]\d{1,3}[a-z]*\d?x(\d+)(?:-NVLINK)?$|^[A-Z]+\d+[A-Z]*-(\d+)-\d+G$|^(\d+)[A-Z]+\d+[A-Z]*\.",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class PriceRange:
    """The lowest and highest known price in USD (or power in W), of a year or of any (0)."""

    low: float
    high: float
    year: int = 0


def provider_key(name: str) -> str:
    """Return one word for a provider: `GCE` and `google` are `gcp`, `vast.ai` and `Vast AI` are `vast-ai`."""
    text = re.sub(r"[^a-z0-9]+", "-", name.lower())
    return PROVIDERS.get(text, text)


def device_key(gpu: str) -> str:
    """Return one word for a device: `Tesla V100-SXM2-16GB` and `V100` are `v100`; '' if unknown.

    Memory and form (SXM, PCIe) are left out, TPUs are unknown: their parts are counted in several ways.
    """
    match = DEVICE.search(gpu.lower())
    if match is None or "tpu" in gpu.lower():
        return ""
    kind, text = match.lastgroup, re.sub(r"[ -]", "", match[match.lastgroup or 0])
    return {"pro": "rtxpro6000", "ada": "rtx6000ada"}.get(kind or "", text)


def device_count(instance: str) -> int | None:
    """Return the number of devices that a machine's name means; None if neither facts nor the name say it.

    Known machines stand in facts/machines.csv; otherwise a count in the name is taken, e.g. 8 of 'h100-8x'.
    """
    counts = {row["instance"]: int(row["gpus"]) for row in table("machines")}
    match = DEVICE_COUNT.search(instance)
    return counts.get(instance) or (int(next(filter(None, match.groups()))) if match else None)


def rent_of(device: str, year: int, spot: bool = False) -> PriceRange | None:
    """Return USD per device-hour over all providers, about `year` or in the nearest year; None if unknown.

    Parameters
    ----------
    device
        As `device_key` returns it.
    year
        Year of the price; the years beside it count too.
    spot
        Whether to return spot prices instead of prices on demand.
    """
    levels = _levels().get(("spot" if spot else "rent", device), [])
    distance = max(YEARS_BESIDE, min((abs(level.year - year) for level in levels), default=0))
    return _union(level for level in levels if abs(level.year - year) <= distance)


def highest_rent() -> float:
    """Return USD per device-hour on demand of the most expensive device known."""
    return max(level.high for (quantity, _), levels in _levels().items() if quantity == "rent" for level in levels)


def vcpu_rent() -> PriceRange:
    """Return USD per vCPU-hour on demand."""
    return _levels()["vcpu", ""][0]


def purchase_of(device: str) -> PriceRange | None:
    """Return USD for one new device, alone or as its share of a machine."""
    return _union(_levels().get(("buy", device), []))


def power_of(device: str) -> PriceRange | None:
    """Return the power of one device in W."""
    return _union(_levels().get(("power", device), []))


def list_prices(provider: str, instance: str) -> tuple[float, ...]:
    """Return the USD per hour that a provider asked for a machine, each price once; empty if unknown."""
    return tuple(map(float, _list_prices().get((provider_key(provider), instance), "").split()))


@cache
def _list_prices() -> dict[tuple[str, str], str]:
    return {(row["provider"], row["instance"]): row["usd_per_hour"] for row in table("machine_prices")}


def _union(ranges: Iterable[PriceRange]) -> PriceRange | None:
    levels = list(ranges)
    if not levels:
        return None
    return PriceRange(min(level.low for level in levels), max(level.high for level in levels))


@cache
def _levels() -> dict[tuple[str, str], list[PriceRange]]:
    """Return the ranges over all providers by quantity and device, one per year."""
    levels: dict[tuple[str, str], list[PriceRange]] = {}
    for row in table("price_levels"):
        level = PriceRange(float(row["low"]), float(row["high"]), int(row["year"] or 0))
        levels.setdefault((row["what"], row["device"]), []).append(level)
    return levels
