"""Known prices and powers of devices and machines, as yardsticks for the price lint.

facts/price_levels.csv (research/price_levels_table.py names its sources): rents of 2013 to 2026 by device and year,
purchase prices, power. facts/machine_prices.csv: what AWS, Azure and Google asked for each machine.
"""

import re
from functools import cache

from sweetspot.facts.shipped_tables import table

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


def provider_key(name: str) -> str:
    """Return one word for a provider: `GCE` and `google` are `gcp`, `vast.ai` and `Vast AI` are `vast-ai`."""
    text = re.sub(r"[^a-z0-9]+", "-", name.lower())
    return PROVIDERS.get(text, text)


def device_key(gpu: str) -> str:
    """Return the name by which known prices of a device are found: 'v100' of 'Tesla V100-SXM2-16GB'; '' if unknown."""
    match = DEVICE.search(gpu.lower())
    if match is None or "tpu" in gpu.lower():
        return ""
    kind, text = match.lastgroup, re.sub(r"[ -]", "", match[match.lastgroup or 0])
    return {"pro": "rtxpro6000", "ada": "rtx6000ada"}.get(kind or "", text)


def device_count(instance: str) -> int | None:
    """Return how many devices a machine has by facts/machines.csv or its name (8 of 'h100-8x'); None: unknown."""
    counts = {row["instance"]: int(row["gpus"]) for row in table("machines")}
    match = DEVICE_COUNT.search(instance)
    return counts.get(instance) or (int(next(filter(None, match.groups()))) if match else None)


@cache
def price_range(quantity: str, device: str, year: int = 0) -> tuple[float, float] | None:
    """Return (lowest, highest) known price or power of a device, the yardstick for a price under check; or None.

    Parameters
    ----------
    quantity, device, year
        `rent` or `spot` (USD per device-hour), `buy` (USD of a new device, alone or as its share of a machine), `power`
        (W) or `vcpu` (USD per vCPU-hour; device ''); a `device_key`; rents of about this year, or of the nearest.
    """
    rows = [row for row in table("price_levels") if (row["what"], row["device"]) == (quantity, device)]
    distances = [abs(int(row["year"] or year) - year) for row in rows]
    nearest = max(YEARS_BESIDE, min(distances, default=0))
    recent = [row for row, distance in zip(rows, distances, strict=True) if distance <= nearest]
    return (min(float(row["low"]) for row in recent), max(float(row["high"]) for row in recent)) if recent else None


def highest_rent() -> float:
    """Return USD per device-hour on demand of the most expensive device known, above which a rent is doubted."""
    return max(float(row["high"]) for row in table("price_levels") if row["what"] == "rent")


def list_range(provider: str, instance: str) -> tuple[float, float] | None:
    """Return (lowest, highest) known USD per hour of a provider's (any spelling) machine, to check a price; or None."""
    key = provider_key(provider)
    rows = [row for row in table("machine_prices") if row["instance"] == instance and row["provider"] == key]
    prices = [float(usd) for row in rows for usd in row["usd_per_hour"].split()]
    return (min(prices), max(prices)) if prices else None
