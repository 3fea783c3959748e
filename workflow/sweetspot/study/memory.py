"""How much memory of a device a training needs, and what devices hold."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from sweetspot.facts.shipped_tables import table
from sweetspot.study.base import Closed

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance

BEFORE_AMPERE = ("kepler", "maxwell", "pascal", "volta", "turing")  # NVIDIA's, without TF32 and bf16
GIB = 2.0**30
Gibibytes = Annotated[float, Field(gt=0, le=1e9)]


@cache
def _device_rows() -> dict[str, dict[str, str]]:
    rows = [(row, [row["gpu"], *row["names"].split(";")]) for row in table("devices")]
    return {name.strip().casefold(): row for row, names in rows for name in names if name.strip()}


def is_before_ampere(gpu: str) -> bool:
    """Return True if a device is known to be of an architecture that has neither TF32 nor bf16."""
    return _device_rows().get(gpu.casefold(), {}).get("architecture") in BEFORE_AMPERE


def memory_of(machines: Mapping[str, "Instance"]) -> dict[str, float]:
    """Return the GiB of one device by machine: declared, else of devices.csv (80 GB is 80 GiB); others are left out."""
    sizes = {
        name: machine.gpu_memory_gib or float(_device_rows().get(machine.gpu.casefold(), {}).get("memory_gb", 0))
        for name, machine in machines.items()
    }
    return {name: size for name, size in sizes.items() if size}


class Needs(Closed):
    """The keys by which a workload states the memory that it needs; none: it is not known."""

    gpu_memory_gib: Gibibytes | None = None
    """GiB that each device must hold, such as activations, or all where nothing is divided"""
    sharded_memory_gib: Gibibytes | None = None
    """GiB that the devices of a job divide (ZeRO stage 3, FSDP): 16 bytes a parameter with Adam, 2 a frozen one"""

    def gib(self, gpus: int) -> float:
        """Return the GiB that each of `gpus` devices must hold; 0 where the workload does not say."""
        return (self.gpu_memory_gib or 0.0) + (self.sharded_memory_gib or 0.0) / gpus
