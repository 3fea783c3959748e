"""Which device a catalogue means: its short names leave out memory and form, which tell devices apart."""

import re

from sweetspot.catalogues.listing import Listing
from sweetspot.facts.shipped_tables import table
from sweetspot.transfer.figures import shipped_devices

# Devices that are sold with two sizes of memory; GB of each.
SIZES = {"a100": (40, 80), "v100": (16, 32)}


def device_of(listing: Listing) -> str:
    """Name the device of a listing as facts/devices.csv does, as far as the catalogue tells it.

    The machine's own name comes first (p4d.24xlarge has A100 SXM 40GB), then the detail of the catalogue ('NVIDIA H100
    PCIe'), then memory beside the short name ('A100', 40 GB). `RTX4090` becomes 'RTX 4090'. A name that leaves the form
    open, such as 'H100', and one that is in no table stay as they are.
    """
    machine = next((row for row in table("machines") if row["instance"] in (listing.instance, listing.title)), None)
    if machine is not None and _model(listing.gpu) in _joined(machine["gpu"]):
        return machine["gpu"]
    devices, names = shipped_devices(), [listing.gpu]
    if _model(listing.gpu) in _joined(listing.gpu_detail):
        names.insert(0, listing.gpu_detail)
    for name in names:
        sized = _with_memory(name, listing.gpu_memory_gb)
        device = devices.find(sized)
        if device is not None and (devices.is_same_name(sized, device) or name is not names[-1]):
            return device.gpu if devices.is_same_name(sized, device) else sized
    return _with_memory(listing.gpu, listing.gpu_memory_gb)


def _with_memory(name: str, memory_gb: float | None) -> str:
    """The name with the size of memory where the device has two and the name says none."""
    sizes = next((pair for model, pair in SIZES.items() if model in _joined(name)), ())
    if memory_gb is None or any(f"{size}gb" in _joined(name) for size in sizes):
        return name
    size = next((size for size in sizes if abs(memory_gb - size) <= 0.1 * size), None)
    return name if size is None else f"{name} {size}GB"


def _joined(name: str) -> str:
    """A name in small letters without what separates its parts."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _model(gpu: str) -> str:
    """The part of a short name that names the device: `h100` of `H100-MEGA`, `rtx6000` of `RTX6000-Ada`."""
    return _joined(re.split(r"[-_ ]", gpu, maxsplit=1)[0])
