"""What devices and machines are known to have cost: to rent, to buy, to run. Yardsticks, not prices.

They lie in facts/. price_levels.csv (made by research/price_levels_table.py, which says from what): rental prices of
2013 to 2026 by device and year over all providers, purchase prices, power. machine_prices.csv (by
research/machine_prices_table.py): what AWS, Azure and Google asked for each machine in their usual places.
machines.csv: devices of a machine.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from sweetspot.facts.shipped_tables import table

COLUMNS = ("what", "device", "year", "low", "high", "figures", "source")
# Other names of providers.
PROVIDERS: Mapping[str, str] = {"amazon": "aws", "gce": "gcp", "google": "gcp"}
# Prices of a device move slowly: those of the years beside count too.
YEARS_BESIDE = 2
DEVICE = re.compile(
    r"(?P<pro>rtx[ -]?pro[ -]?6000)|(?P<ada>(?:rtx ?)?6000[ -]?ada)|(?P<gtx>[gr]tx ?-?\d{3,4}(?: ?ti| ?super)?\b)"
    r"|(?:rtx ?)?(?P<workstation>[am]\d{4})\b|\b(?P<quadro>p\d{4})\b|\b(?P<amd>mi\d{3}x)"
    r"|(?:\b|(?<=[_ -]))(?P<card>g?[hb][1-3]00|[avp]100|a10g|a10|a40|a30|l40s|l40|l4|t4|p4|k80|k520|m60)(?=\b|[_-])"
)
# Names that say how many devices a machine has: gpu_8x_h100, 8x-H100_SXM, gpu-h100-sxm_8gpu-128vcpu, a2-highgpu-8g,
# h100.8x, BM.GPU.A10.4, H100x8-NVLINK, H100-1-80G, 8H100.80S.
COUNTS = re.compile(
    r"(?:^|_)(\d+)x[-_ ]|_(\d+)gpu|^[ag]\d\w?-\w+-(\d+)g$|[.-](\d+)x$|\.GPU\..*\.(\d+)$"
    r"|[a-z]\d{1,3}[a-z]*\d?x(\d+)(?:-NVLINK)?$|^[A-Z]+\d+[A-Z]*-(\d+)-\d+G$|^(\d+)[A-Z]+\d+[A-Z]*\.",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class PriceRange:
    """The lowest and highest known price in USD (or power in W)."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The geometric mean of the ends."""
        return math.sqrt(self.low * self.high)


def provider_key(name: str) -> str:
    """One word for a provider: `GCE` and `google` are `gcp`, `vast.ai` and `Vast AI` are `vast-ai`."""
    text = re.sub(r"[^a-z0-9]+", "-", name.lower())
    return PROVIDERS.get(text, text)


def device_key(gpu: str) -> str:
    """One word for a device however it is written: `Tesla V100-SXM2-16GB` and `V100` are `v100`; '' for an unknown.

    Memory and form (SXM, PCIe) are left out, TPUs are unknown: their parts are counted in several ways.
    """
    match = DEVICE.search(gpu.lower())
    if match is None or "tpu" in gpu.lower():
        return ""
    kind, text = match.lastgroup, re.sub(r"[ -]", "", match[match.lastgroup or 0])
    return {"pro": "rtxpro6000", "ada": "rtx6000ada"}.get(kind or "", text)


def device_count(instance: str) -> int | None:
    """How many devices a machine of that name has, by facts/machines.csv or by the name; None if neither says it."""
    known = {row["instance"]: int(row["gpus"]) for row in table("machines")}
    match = COUNTS.search(instance)
    return known.get(instance) or (int(next(filter(None, match.groups()))) if match else None)


def rent_of(device: str, year: int, spot: bool = False) -> PriceRange | None:
    """USD a device-hour on demand (or spot) over all providers, about `year`; of the nearest year where none is."""
    years = _by_year("spot" if spot else "rent", device)
    near = [key for key in years if abs(key - year) <= YEARS_BESIDE]
    near = near or sorted(years, key=lambda key: abs(key - year))[:1]
    return _union(years[key] for key in near)


def dearest_rent() -> float:
    """USD a device-hour on demand of the dearest device known."""
    return max(level.high for key, years in _levels().items() if key[0] == "rent" for level in years.values())


def vcpu_rent() -> PriceRange:
    """USD a vCPU-hour on demand."""
    return _by_year("vcpu", "")[2024]


def purchase_of(device: str) -> PriceRange | None:
    """USD for one device, new: alone, or its share of a machine."""
    return _union(_by_year("buy", device).values())


def power_of(device: str) -> PriceRange | None:
    """W of one device."""
    return _union(_by_year("power", device).values())


def asked(provider: str, instance: str) -> tuple[float, ...]:
    """USD an hour that a provider asked for a machine, each price once; none for a machine that is not known."""
    return _machine_prices().get((provider_key(provider), instance), ())


def nearest(usd: float, known: tuple[float, ...]) -> float:
    """The known price that `usd` is nearest to, by their ratio."""
    return min(known, key=lambda price: abs(math.log(usd / price)))


def _union(ranges: Iterable[PriceRange]) -> PriceRange | None:
    every = list(ranges)
    return PriceRange(min(part.low for part in every), max(part.high for part in every)) if every else None


def _by_year(what: str, device: str) -> dict[int, PriceRange]:
    return _levels().get((what, device), {})


@cache
def _levels() -> dict[tuple[str, str], dict[int, PriceRange]]:
    """Ranges over all providers by what and device, then by year (0 where it has none)."""
    levels: dict[tuple[str, str], dict[int, PriceRange]] = {}
    for row in table("price_levels"):
        level = PriceRange(float(row["low"]), float(row["high"]))
        levels.setdefault((row["what"], row["device"]), {})[int(row["year"] or 0)] = level
    return levels


@cache
def _machine_prices() -> dict[tuple[str, str], tuple[float, ...]]:
    return {
        (row["provider"], row["instance"]): tuple(float(usd) for usd in row["usd_per_hour"].split())
        for row in table("machine_prices")
    }
