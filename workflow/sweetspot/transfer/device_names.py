"""Which device a catalogue means: its short names leave out memory and form, which tell devices apart."""

import re

from sweetspot.catalogues.listing import Listing
from sweetspot.facts.shipped_tables import table
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.specifications import bare_name, name_words


def device_of(listing: Listing) -> str:
    """Return the name that facts/devices.csv gives to the device of a provider's machine (a catalogue's listing), such
    as 'A100 SXM 40GB', so that offers for the same device are compared with the right speed. The machine's name is
    tried first (p4d.24xlarge), then the catalogue's detail ('NVIDIA H100 PCIe'), then the short name with the memory
    ('A100', 40 GB). `RTX4090` becomes 'RTX 4090'. A name that leaves the form open, such as 'H100', or that no table
    contains is returned as the catalogue writes it.
    """
    # The part of the short name that names the device: `h100` of `H100-MEGA`, `rtx6000` of `RTX6000-Ada`.
    model = bare_name(re.split(r"[-_ ]", listing.gpu, maxsplit=1)[0])
    # These are sold with 40 or 80 GB of memory, and with 16 or 32.
    size = f" {listing.gpu_memory_gb:.0f}GB" if listing.gpu_memory_gb and model in ("a100", "v100") else ""
    machines = [row["gpu"] for row in table("machines") if row["instance"] in (listing.instance, listing.title)]
    names = [name for name in (*machines, listing.gpu_detail) if model in bare_name(name)]
    for written in (*names, listing.gpu):
        name = written if "gb" in written.lower() else written + size
        device = shipped_devices().find(name)
        if device is not None and name_words(name) == name_words(device.gpu):
            return device.gpu
    return name
