"""What devices and machines are known to have cost: to rent, to buy, to run. Yardsticks, not prices.

price_levels.csv (made by research/price_levels_table.py, which says from what): rental prices of 2013 to 2026 by
device and year over all providers, the very prices that a provider asked, purchase prices, power. machine_prices.csv
(by research/machine_prices_table.py): what AWS, Azure and Google asked for each machine in their usual places.
"""

import csv
import math
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).parent / "price_levels.csv"
MACHINES = Path(__file__).parent / "machine_prices.csv"
COLUMNS = ("what", "provider", "device", "year", "low", "high", "levels", "figures", "source")
# Other names of providers.
PROVIDERS: Mapping[str, str] = {"amazon": "aws", "gce": "gcp", "google": "gcp"}
# Prices of a device move slowly: those of the years beside count too. What a provider asks is known mostly since 2020,
# so later years count; an older price list says nothing of a price of today, which may have been cut.
YEARS_BESIDE, LIST_YEARS_BEFORE, LIST_YEARS_AFTER = 2, 1, 3
DEVICE = re.compile(
    r"(?P<pro>rtx ?pro ?6000)|(?P<ada>(?:rtx ?)?6000[ -]?ada)|(?P<gtx>[gr]tx ?-?\d{3,4}(?: ?ti| ?super)?\b)"
    r"|(?:rtx ?)?(?P<workstation>[am]\d{4})\b|\b(?P<quadro>p\d{4})\b|\b(?P<amd>mi\d{3}x)"
    r"|(?:\b|(?<=[_ -]))(?P<card>g?[hb][1-3]00|[avp]100|a10g|a10|a40|a30|l40s|l40|l4|t4|p4|k80|k520|m60)(?=\b|[_-])"
)


class Level(NamedTuple):
    """A range of known prices (or of W), and the prices themselves where they are few."""

    low: float
    high: float
    levels: tuple[float, ...] = ()


def provider_key(name: str) -> str:
    """One word for a provider: `GCE` and `google` are `gcp`, `vast.ai` and `Vast AI` are `vast-ai`."""
    text = re.sub(r"[^a-z0-9]+", "-", name.lower())
    return PROVIDERS.get(text, text)


def device_key(gpu: str) -> str:
    """One word for a device however it is written: `Tesla V100-SXM2-16GB` and `V100` are `v100`; '' for an unknown.

    Memory and form (SXM, PCIe) are left out, TPUs are unknown: their parts are counted in several ways.
    """
    found = DEVICE.search(gpu.lower())
    if found is None or "tpu" in gpu.lower():
        return ""
    kind, text = found.lastgroup, re.sub(r"[ -]", "", found[found.lastgroup or 0])
    return {"pro": "rtxpro6000", "ada": "rtx6000ada"}.get(kind or "", text)


def rent_of(device: str, year: int, spot: bool = False) -> Level | None:
    """USD a device-hour on demand (or spot) over all providers, about `year`; of the nearest year where none is."""
    years = _years("spot" if spot else "rent", device)
    near = [key for key in years if abs(key - year) <= YEARS_BESIDE]
    near = near or sorted(years, key=lambda key: abs(key - year))[:1]
    return _joined(years[key] for key in near)


def listed_by(provider: str, device: str, year: int) -> tuple[float, ...]:
    """The prices of a device-hour that a provider asked on demand about `year`; none where they are not known."""
    years = _years("list", device, provider_key(provider))
    found = _joined(level for key, level in years.items() if -LIST_YEARS_BEFORE <= key - year <= LIST_YEARS_AFTER)
    return () if found is None else found.levels


def dearest_rent() -> float:
    """USD a device-hour on demand of the dearest device known."""
    return max(level.high for key, years in _levels().items() if key[0] == "rent" for level in years.values())


def vcpu_rent() -> Level:
    """USD a vCPU-hour on demand."""
    return _years("vcpu", "")[2024]


def purchase_of(device: str) -> Level | None:
    """USD for one device, new: alone, or its share of a machine."""
    return _joined(_years("buy", device).values())


def power_of(device: str) -> Level | None:
    """W of one device."""
    return _joined(_years("power", device).values())


def asked(provider: str, instance: str) -> tuple[float, ...]:
    """USD an hour that a provider asked for a machine, each price once; none for a machine that is not known."""
    return _asked().get((provider_key(provider), instance), ())


def nearest(usd: float, known: tuple[float, ...]) -> float:
    """The known price that `usd` is nearest to, by their ratio."""
    return min(known, key=lambda one: abs(math.log(usd / one)))


def _joined(levels: Iterable[Level]) -> Level | None:
    every = list(levels)
    if not every:
        return None
    prices = {usd for level in every for usd in level.levels}
    return Level(min(level.low for level in every), max(level.high for level in every), tuple(sorted(prices)))


def _years(what: str, device: str, provider: str = "") -> dict[int, Level]:
    return _levels().get((what, provider, device), {})


@cache
def _levels() -> dict[tuple[str, str, str], dict[int, Level]]:
    """Levels by what, provider and device, then by year (0 where it has none)."""
    table: dict[tuple[str, str, str], dict[int, Level]] = {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            level = Level(float(row["low"]), float(row["high"]), _prices(row["levels"]))
            table.setdefault((row["what"], row["provider"], row["device"]), {})[int(row["year"] or 0)] = level
    return table


@cache
def _asked() -> dict[tuple[str, str], tuple[float, ...]]:
    with MACHINES.open(newline="", encoding="utf-8") as file:
        return {(row["provider"], row["instance"]): _prices(row["usd_per_hour"]) for row in csv.DictReader(file)}


def _prices(text: str) -> tuple[float, ...]:
    return tuple(float(usd) for usd in text.split())
