"""SkyPilot's catalogues (vms.csv), Google's among them, where host and accelerators are lines of their own."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sweetspot.catalogues.listing import BadLineError, Catalogue, Line, Listing, read_lines

PRICES = (("Price", "on_demand"), ("SpotPrice", "spot"))
# Accelerators that belong to Google's machine types, by the type's name: `_ACC_INSTANCE_TYPE_DICTS` of SkyPilot's
# sky/catalog/gcp_catalog.py (commit 00526108), whose numbers of accelerators are those of the names (-8g).
BELONG = {
    "a2-highgpu": "A100", "a2-megagpu": "A100", "a2-ultragpu": "A100-80GB", "a3-highgpu": "H100",
    "a3-megagpu": "H100-MEGA", "a3-ultragpu": "H200", "a4-highgpu": "B200",
}  # fmt: skip
L4_MACHINES = {"4": 1, "8": 1, "12": 1, "16": 1, "32": 1, "24": 2, "48": 4, "96": 8}
# vCPUs of the host that SkyPilot takes for accelerators which go into any N1 machine (`_NUM_ACC_TO_NUM_CPU` there);
# the host has at least four GiB a vCPU, and is the cheapest of its zone.
HOST_VCPUS = {
    "K80": {1: 4, 2: 8, 4: 16, 8: 32},
    "V100": {1: 8, 2: 16, 4: 32, 8: 64},
    "P100": {1: 8, 2: 16, 4: 32},
    "T4": {1: 4, 2: 8, 4: 48},
    "P4": {1: 8, 2: 16, 4: 32},
}
GIB_PER_VCPU = 4
N1 = ("n1-standard-", "n1-highmem-", "n1-highcpu-")
# Names that say GPU: "gpu_8x_h100", "a3-highgpu-8g", "8x-H100_SXM", and all of Google's A and G series.
SAYS_GPU = re.compile(r"gpu|^\d+x[-_ ]|^(a[2-9]x?|g[2-9])-(high|mega|ultra|max|standard)|-\d+g(-|$)", re.IGNORECASE)


@dataclass(frozen=True)
class _Row:
    """One line that could be read: prices by purchase, and the machine without its accelerators' prices."""

    line: Line
    name: str
    title: str
    place: str
    prices: Mapping[str, float]
    facts: Mapping[str, Any]

    @property
    def gpu(self) -> tuple[str, int]:
        return str(self.facts["gpu"]), self.facts["gpus"] or 0


def read_skypilot(path: str | Path) -> Catalogue:
    """SkyPilot catalogue: one listing for Price and one for SpotPrice of a machine; empty prices are none.

    Columns are found by name, since clouds order them differently. Where accelerators are lines of their own (without
    an InstanceType: Google), the price is host + accelerators of one zone, as SkyPilot adds them; a machine type whose
    name says GPUs and for which its zone has none is left out by name. TPUs, whose host costs nothing there, are left
    out: a catalogue names no machine for them.
    """
    catalogue = Catalogue(Path(path))
    lines = read_lines(catalogue, ("InstanceType", "Price"), "SkyPilot catalogue")
    rows = [row for line in lines if (row := _row(line, catalogue)) is not None]
    alone = {(row.place, *row.gpu): row for row in rows if not row.name}
    used: set[tuple[str, str, int]] = set()
    for row in rows:
        if row.name:
            _machine(row, alone, used, catalogue)
    if alone:
        _with_n1(rows, alone, used, catalogue)
    for key, row in alone.items():
        if key not in used:
            what = "TPUs" if row.gpu[0].startswith("tpu") else row.gpu[0]
            catalogue.leave_out(row.line.number, f"{what} without a machine; expected a line of one in the same zone")
    return catalogue


def _row(line: Line, catalogue: Catalogue) -> _Row | None:
    try:
        name, title = line.name("InstanceType") if line.text("InstanceType") else ("", "")
        facts = {
            "gpu": line.text("AcceleratorName"),
            "gpus": line.cards("AcceleratorCount", line.text("AcceleratorName")),
            "vcpus": line.whole("vCPUs"),
            "memory_gib": line.number_of("MemoryGiB"),
            "region": line.text("Region"),
            **_details(line),
        }
    except BadLineError as error:
        catalogue.leave_out(line.number, str(error), line.text("InstanceType"))
        return None
    prices: dict[str, float] = {}
    for column, purchase in PRICES:
        with catalogue.or_left_out(line.number, title or name):
            # Google's A4 hosts cost 0: the price stands in the line of their accelerators.
            price = line.number_of(column) if _belonging(name) else line.price(column)
            if price is not None:
                prices[purchase] = price
    if name and not any(line.text(column) for column, _ in PRICES):
        catalogue.leave_out(line.number, "no price, neither on demand nor spot", title or name)
    return _Row(line, name, title, line.text("AvailabilityZone") or line.text("Region"), prices, facts)


def _details(line: Line) -> dict[str, Any]:
    """Long name and memory of one device, which GpuInfo has as the text of a Python dictionary.

    Without it SkyPilot's A100 is the one with 40 GB; the other is its A100-80GB.
    """
    info, accelerator = line.text("GpuInfo"), line.text("AcceleratorName")
    name, memory = re.search(r"'Name': '([^']+)'", info), re.search(r"'MemoryInfo': {'SizeInMiB': (\d+)", info)
    gigabytes = float(memory[1]) / 1024 if memory else 40.0 if accelerator == "A100" else None
    return {"gpu_detail": name[1] if name else "", "gpu_memory_gb": gigabytes}


def _belonging(name: str) -> tuple[str, int] | None:
    """Accelerators of one of Google's machine types, by its name."""
    if (small := re.fullmatch(r"g2-standard-(\d+)", name)) and small[1] in L4_MACHINES:
        return "L4", L4_MACHINES[small[1]]
    large = re.fullmatch(r"(a\d-\w+gpu)-(\d+)g", name)
    return (BELONG[large[1]], int(large[2])) if large and large[1] in BELONG else None


def _machine(row: _Row, alone: Mapping[tuple[str, str, int], _Row], used: set[Any], catalogue: Catalogue) -> None:
    """The listings of one line with an InstanceType."""
    if row.facts["gpu"] or not SAYS_GPU.search(row.name):
        _list(row, catalogue)
        return
    inside = _belonging(row.name)
    key = None if inside is None else (row.place, *inside)
    if key is None or key not in alone:
        wanted = "its accelerators" if inside is None else f"a line of {inside[1]} x {inside[0]} in the same zone"
        name = row.title or row.name
        catalogue.leave_out(row.line.number, f"{name} says GPUs and its line has none; expected {wanted}", name)
        return
    used.add(key)
    _list(_joined(row, alone[key], row.name), catalogue)


def _joined(host: _Row, cards: _Row, name: str) -> _Row:
    prices = {kind: host.prices[kind] + usd for kind, usd in cards.prices.items() if kind in host.prices}
    gpu, gpus = cards.gpu
    details = {key: cards.facts[key] for key in ("gpu_detail", "gpu_memory_gb")}
    return replace(host, name=name, prices=prices, facts={**host.facts, "gpu": gpu, "gpus": gpus, **details})


def _with_n1(
    rows: Sequence[_Row], alone: Mapping[tuple[str, str, int], _Row], used: set[Any], catalogue: Catalogue
) -> None:
    """Accelerators that go into any N1 machine, in the host that SkyPilot takes: n1-standard-8-1xV100."""
    hosts: dict[str, list[_Row]] = {}
    for row in rows:
        if row.name.startswith(N1) and "on_demand" in row.prices:
            hosts.setdefault(row.place, []).append(row)
    for key, cards in alone.items():
        gpu, gpus = cards.gpu
        vcpus = HOST_VCPUS.get(gpu, {}).get(gpus)
        fitting = [
            host
            for host in hosts.get(cards.place, [])
            if vcpus and (host.facts["vcpus"] or 0) >= vcpus and (host.facts["memory_gib"] or 0) >= GIB_PER_VCPU * vcpus
        ]
        if fitting:
            host = min(fitting, key=lambda row: row.prices["on_demand"])
            used.add(key)
            _list(_joined(host, cards, f"{host.name}-{gpus}x{gpu}"), catalogue)


def _list(row: _Row, catalogue: Catalogue) -> None:
    number = row.line.number
    for purchase, price in row.prices.items():
        if price > 0:
            usd = round(price, 6)
            listing = Listing(number, row.name, purchase, usd, place=row.place, title=row.title, **row.facts)
            catalogue.listings.append(listing)
        else:
            reason = f"{row.name} costs {price:g}; expected a number above 0"
            catalogue.leave_out(number, reason, row.title or row.name)
