"""How much memory a device has, by its name in instances.yaml; the table of devices, read for this alone."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from sweetspot.facts.shipped_tables import table

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance


BEFORE_AMPERE = ("kepler", "maxwell", "pascal", "volta", "turing")  # NVIDIA's, without TF32 and bf16


@cache
def _known() -> dict[str, dict[str, str]]:
    return {
        name.strip().casefold(): row
        for row in table("devices")
        for name in (row["gpu"], *row["names"].split(";"))
        if name.strip()
    }


def is_before_ampere(gpu: str) -> bool:
    """Whether a device is known to be of an architecture that has neither TF32 nor bf16."""
    return _known().get(gpu.casefold(), {}).get("architecture") in BEFORE_AMPERE


def memory_of(machines: Mapping[str, "Instance"]) -> dict[str, float]:
    """GiB of one device by machine: declared, else that of the data sheet (devices.csv); unknown ones are absent.

    A data sheet's 80 GB are 80 GiB on the chip, of which the driver leaves 1 to 2 % less.
    """
    found = {name: machine.gpu_memory_gib or _size(machine.gpu) for name, machine in machines.items()}
    return {name: size for name, size in found.items() if size}


def _size(gpu: str) -> float | None:
    row = _known().get(gpu.casefold())
    return None if row is None else float(row["memory_gb"])
