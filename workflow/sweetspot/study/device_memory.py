"""How much memory a device has, by its name in instances.yaml; the table of devices, read for this alone."""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance

TABLE = Path(__file__).parent / "devices.csv"  # the one table of devices: memory here, speed in transfer/


@cache
def _known() -> dict[str, float]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        name.strip().casefold(): float(row["memory_gb"])
        for row in rows
        for name in (row["gpu"], *row["names"].split(";"))
        if name.strip()
    }


def memory_of(machines: Mapping[str, "Instance"]) -> dict[str, float]:
    """GiB of one device by machine: declared, else that of the data sheet (devices.csv); unknown ones are absent.

    A data sheet's 80 GB are 80 GiB on the chip, of which the driver leaves 1 to 2 % less.
    """
    found = {name: machine.gpu_memory_gib or _known().get(machine.gpu.casefold()) for name, machine in machines.items()}
    return {name: size for name, size in found.items() if size}
