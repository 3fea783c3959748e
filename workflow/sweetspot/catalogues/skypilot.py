"""SkyPilot's vms.csv: a line a machine and zone; Google's accelerators are lines of their own."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweetspot.catalogues.listing import BadLineError, Catalogue, Line, Listing, read_lines

PRICES = {"Price": "on_demand", "SpotPrice": "spot"}
# Accelerators that belong to Google's machine types, by the type's name: `_ACC_INSTANCE_TYPE_DICTS` of SkyPilot's
# sky/catalog/gcp_catalog.py (commit 00526108), whose numbers of accelerators are those of the names (-8g).
GOOGLE = {
    "a2-highgpu": "A100",
    "a2-megagpu": "A100",
    "a2-ultragpu": "A100-80GB",
    "a3-highgpu": "H100",
    "a3-megagpu": "H100-MEGA",
    "a3-ultragpu": "H200",
    "a4-highgpu": "B200",
}
GOOGLE_L4 = {"4": 1, "8": 1, "12": 1, "16": 1, "32": 1, "24": 2, "48": 4, "96": 8}
# Names that say GPU: "gpu_8x_h100", "a3-highgpu-8g", "8x-H100_SXM", and all of Google's A and G series.
SAYS_GPU = re.compile(r"gpu|^\d+x[-_ ]|^(a[2-9]x?|g[2-9])-(high|mega|ultra|max|standard)|-\d+g(-|$)", re.IGNORECASE)

AcceleratorKey = tuple[str, str, int]
"""Zone, name and number of accelerators."""


@dataclass(frozen=True)
class MachineLine:
    """A line that could be read: USD an hour by purchase, and the machine; `name` is '' for accelerators alone."""

    line: Line
    name: str
    title: str
    zone: str
    prices: dict[str, float]
    gpu: str
    gpus: int | None
    facts: dict[str, Any]
    gpu_facts: dict[str, Any]


def read_skypilot(path: str | Path) -> Catalogue:
    """Read a catalogue: one listing for Price and one for SpotPrice of a machine.

    The price of a Google machine is host + accelerators of one zone, as SkyPilot adds them. A machine type whose name
    says GPUs and for which its zone has none is left out, likewise accelerators without a machine (TPUs, and those
    that go into any N1 machine).
    """
    catalogue = Catalogue(Path(path))
    lines = read_lines(catalogue, ("InstanceType", "Price"), "SkyPilot catalogue")
    rows = [row for line in lines if (row := _machine_line(line, catalogue)) is not None]
    accelerators = {(row.zone, row.gpu, row.gpus or 0): row for row in rows if not row.name}
    used: set[AcceleratorKey] = set()
    for row in rows:
        if row.name and (row.gpu or not SAYS_GPU.search(row.name)):
            _add(catalogue, row, row.prices, row)
        elif row.name:
            _add_google_machine(catalogue, row, accelerators, used)
    for key, row in accelerators.items():
        if key not in used:
            kind = "TPUs" if row.gpu.startswith("tpu") else row.gpu
            catalogue.skip(row.line.number, f"{kind} without a machine; expected a line of one in the same zone")
    return catalogue


def _machine_line(line: Line, catalogue: Catalogue) -> MachineLine | None:
    gpu = line.text("AcceleratorName")
    try:
        name, title = line.name("InstanceType") if line.text("InstanceType") else ("", "")
        gpus, vcpus, memory = line.devices("AcceleratorCount", gpu), line.count("vCPUs"), line.number_of("MemoryGiB")
    except BadLineError as error:
        catalogue.skip(line.number, str(error), line.text("InstanceType"))
        return None
    prices: dict[str, float] = {}
    for column, purchase in PRICES.items():
        try:
            # Google's A4 hosts cost 0: the price stands in the line of their accelerators.
            price = line.number_of(column) if google_accelerators(name) else line.price(column, required=False)
        except BadLineError as error:
            catalogue.skip(line.number, str(error), title or name)
            continue
        if price is not None:
            prices[purchase] = price
    if name and not any(line.text(column) for column in PRICES):
        catalogue.skip(line.number, "no price, neither on demand nor spot", title or name)
    facts = {"vcpus": vcpus, "memory_gib": memory, "region": line.text("Region")}
    zone = line.text("AvailabilityZone") or line.text("Region")
    return MachineLine(line, name, title, zone, prices, gpu, gpus, facts, _gpu_facts(line, gpu))


def _gpu_facts(line: Line, gpu: str) -> dict[str, Any]:
    """Long name and memory of one device, which GpuInfo has as the text of a Python dictionary.

    Without it SkyPilot's A100 is the one with 40 GB; the other is its A100-80GB.
    """
    info = line.text("GpuInfo")
    name, memory = re.search(r"'Name': '([^']+)'", info), re.search(r"'MemoryInfo': {'SizeInMiB': (\d+)", info)
    gigabytes = float(memory[1]) / 1024 if memory else 40.0 if gpu == "A100" else None
    return {"gpu_detail": name[1] if name else "", "gpu_memory_gb": gigabytes}


def google_accelerators(name: str) -> tuple[str, int] | None:
    """Name and number of the accelerators of one of Google's machine types; None for another machine."""
    small = re.fullmatch(r"g2-standard-(\d+)", name)
    if small and small[1] in GOOGLE_L4:
        return "L4", GOOGLE_L4[small[1]]
    large = re.fullmatch(r"(a\d-\w+gpu)-(\d+)g", name)
    return (GOOGLE[large[1]], int(large[2])) if large and large[1] in GOOGLE else None


def _add_google_machine(
    catalogue: Catalogue,
    host: MachineLine,
    accelerators: dict[AcceleratorKey, MachineLine],
    used: set[AcceleratorKey],
) -> None:
    inside = google_accelerators(host.name)
    key = (host.zone, *inside) if inside else None
    if key is None or key not in accelerators:
        expected = f"a line of {inside[1]} x {inside[0]} in the same zone" if inside else "its accelerators"
        name = host.title or host.name
        catalogue.skip(host.line.number, f"{name} says GPUs and its line has none; expected {expected}", name)
        return
    used.add(key)
    devices = accelerators[key]
    prices = {kind: host.prices[kind] + usd for kind, usd in devices.prices.items() if kind in host.prices}
    _add(catalogue, host, prices, devices)


def _add(catalogue: Catalogue, row: MachineLine, prices: dict[str, float], devices: MachineLine) -> None:
    """Add a machine at some prices with the devices of a line, its own or Google's."""
    for purchase, usd in prices.items():
        if usd <= 0:
            reason = f"{row.name} costs {usd:g}; expected a number above 0"
            catalogue.skip(row.line.number, reason, row.title or row.name)
            continue
        facts = {"gpu": devices.gpu, "gpus": devices.gpus} | row.facts | devices.gpu_facts
        number, price = row.line.number, round(usd, 6)
        listing = Listing(number, row.name, purchase, price, zone=row.zone, title=row.title, **facts)
        catalogue.listings.append(listing)
