"""Which device a catalogue means: its short names leave out memory and form, which tell devices apart."""

import re

from sweetspot.catalogues.listing import Listing
from sweetspot.facts.shipped_tables import table
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.specifications import name_words

# Devices that are sold with two sizes of memory; GB of each.
SIZES = {"a100": (40, 80), "v100": (16, 32)}


def device_of(listing: Listing) -> str:
    """Return the name that facts/devices.csv gives to the device of a catalogue's listing, such as 'A100 SXM 40GB'.

    The machine's name is tried first (p4d.24xlarge), then the catalogue's detail ('NVIDIA H100 PCIe'), then the short
    name with the memory ('A100', 40 GB). `RTX4090` becomes 'RTX 4090'. A name that leaves the form open, such as
    'H100', or that no table contains is returned as the catalogue writes it.
    """
    # The part of the short name that names the device: `h100` of `H100-MEGA`, `rtx6000` of `RTX6000-Ada`.
    model = _letters(re.split(r"[-_ ]", listing.gpu, maxsplit=1)[0])
    machines = [row["gpu"] for row in table("machines") if row["instance"] in (listing.instance, listing.title)]
    details = [name for name in (*machines, listing.gpu_detail) if model in _letters(name)]
    for written in (*details, listing.gpu):
        name = _with_memory(written, listing.gpu_memory_gb)
        device = shipped_devices().find(name)
        if device is not None and name_words(name) == name_words(device.gpu):
            return device.gpu
    return name


def _with_memory(name: str, memory_gb: float | None) -> str:
    """Return the name, with ` 40GB` or the like added if the device is sold in two sizes and the name states none."""
    for model, sizes in SIZES.items():
        if model in _letters(name) and "gb" not in name.lower() and memory_gb is not None:
            return f"{name} {min(sizes, key=lambda size: abs(size - memory_gb))}GB"
    return name


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
