"""instances.yaml: the machines that one can rent, own or measure; the memory of their devices, and who needs it."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from sweetspot.errors import Faults, UserError
from sweetspot.facts.shipped_tables import table
from sweetspot.platforms import PLATFORMS, Platform
from sweetspot.spelling import hint
from sweetspot.study.base import Closed, Count, Name, Slug, Text, check_case, validated
from sweetspot.study.yamlfile import load_yaml
from sweetspot.warnings import warning

if TYPE_CHECKING:
    Where = str
else:
    Where = Literal[tuple(PLATFORMS)]

# A GB is 0.93 GiB, and error correction takes up to 8 %; a machine with twice the memory is another variant.
MEMORY_TOLERANCE = 0.15
BEFORE_AMPERE = ("kepler", "maxwell", "pascal", "volta", "turing")  # NVIDIA's, without TF32 and bf16
GIB = 2.0**30
Gibibytes = Annotated[float, Field(gt=0, le=262_144)]  # 256 TiB
DeviceGib = Annotated[float, Field(gt=0, le=4096)]  # 15 times the largest device; MiB of a small one are more


class Executor(Closed):
    """Where an instance can be measured."""

    where: Where
    """local: this machine; slurm: submitted to a partition; kubernetes: to nodes of a machine type"""
    device: Literal["cpu", "gpu"]
    """What is counted by gpus; cpu devices are logical beyond one"""
    expect_gpu: Text | None = None
    """Part of the device's name; any other device is refused"""
    partition: Slug | None = None
    """Slurm partition of the instance"""
    constraint: Slug | None = None
    """Slurm node feature to ask for"""
    gpu_model: Slug | None = None
    """Typed GPU to ask Slurm or Kubernetes for"""
    machine_type: Slug | None = None
    """Node label instance-type of Kubernetes"""
    cpus: Count = 1
    """CPU cores of a job"""
    mem_mb: Count = 8000
    """Memory of a job in MB"""
    runtime_min: Count = 60
    """Time limit of a job in minutes"""
    gpus_per_node: Count | None = None
    """Devices of one node; a cell with more is refused (slurm only)"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message: a key that the platform needs, `gpus_per_node` of no use."""
        key, per_node = self.platform.names_machine, self.gpus_per_node
        if key is not None and getattr(self, key) is None:
            yield f"{key}, since the instance is measured through {self.where}"
        if per_node is not None and not self.platform.several_nodes:
            yield "gpus_per_node only with where: slurm"
        if self.device == "cpu" and per_node not in (None, 1):
            yield "gpus_per_node 1 for device: cpu, where a node's processor is one device"

    @property
    def platform(self) -> Platform:
        """The platform that runs its jobs, a row of PLATFORMS."""
        return PLATFORMS[self.where]

    def nodes(self, gpus: int) -> int:
        """Return the number of nodes of a cell with `gpus` devices: 1 unless it has more than `gpus_per_node`."""
        return max(1, gpus // self.gpus_per_node) if self.gpus_per_node else 1


Interconnect = Literal["pcie", "nvlink_bridge", "nvlink", "nvswitch", "infinity_fabric", "ici", "none"]
Network = Literal["ethernet", "infiniband", "roce", "efa", "none"]


class Caution(Closed):
    """A warning that belongs to a machine, whatever figure is shown of it."""

    rule: Slug
    """Name by which tables count it, such as no_peer_access"""
    message: Text
    """What a reader must know before staking money on it, with its source"""


class Instance(Closed):
    """A machine one can rent, own or measure."""

    title: Text
    """Name for people"""
    provider: Slug
    """Who offers it: aws, gce, own, ..."""
    gpu: Text
    """Device as named in the published tables, or the processor"""
    gpus: Count
    """Devices in it"""
    vcpus: Count | None = None
    """Virtual processors"""
    memory_gib: Gibibytes | None = None
    """Main memory in GiB"""
    gpu_memory_gib: DeviceGib | None = None
    """Memory of one device in GiB; absent: by the data sheet, where the device is known"""
    interconnect: Interconnect | None = None
    """What joins the devices of one node"""
    network: Network | None = None
    """What joins the nodes, where the machine has several"""
    nodes: Count = 1
    """Machines that it is made of; `gpus` counts the devices of all of them"""
    base_instance: Slug | None = None
    """Machine with one device of the same family"""
    equivalent_to: Slug | None = None
    """Machine whose throughput it is declared to have"""
    note: Text | None = None
    """What a reader must know of it"""
    warnings: list[Caution] = []
    """Warnings that stand beside every figure of it"""
    framework: Slug | None = None
    """Framework that belongs to this configuration, where a study compares frameworks"""
    measure: Executor | None = None
    """Where it can be measured; absent: published figures only"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause where the devices cannot be divided among the nodes."""
        if self.gpus % self.nodes:
            yield f"gpus to be a multiple of nodes, found {self.gpus} devices on {self.nodes} nodes"


def nodes_of(instances: Mapping[str, Instance], name: str, gpus: int) -> int:
    """Return the number of nodes (hosts) that `gpus` devices of a machine take, since scaling between nodes is worse
    than within; 1 for an unknown machine.

    Parameters
    ----------
    instances, name, gpus
        The declared machines, the name of one, and the devices used: by `gpus_per_node`, else declared nodes.
    """
    instance = instances.get(name)
    if instance is None:
        return 1
    return instance.measure.nodes(gpus) if instance.measure is not None else -(-gpus * instance.nodes // instance.gpus)


def cautions(instances: Mapping[str, Instance], name: str) -> list[dict[str, str]]:
    """Return an instance's warnings, declared and of its memory, as dicts `rule`, `message`; [] for an unknown one."""
    if name not in instances:
        return []
    machine = instances[name]
    return [*(warning(entry.rule, entry.message) for entry in machine.warnings), *memory_warnings(machine)]


@cache
def _device_rows() -> dict[str, dict[str, str]]:
    rows = [(row, [row["gpu"], *row["names"].split(";")]) for row in table("devices")]
    return {name.strip().casefold(): row for row, names in rows for name in names if name.strip()}


def _device_row(gpu: str) -> Mapping[str, str]:
    """Return the row of devices.csv of a device by one of its names; {} where it is unknown."""
    return _device_rows().get(gpu.casefold(), {})


def is_before_ampere(gpu: str) -> bool:
    """Return True if a device is known to be of an architecture that has neither TF32 nor bf16."""
    return _device_row(gpu).get("architecture") in BEFORE_AMPERE


def base_fault(machine: Instance, base: Instance, is_equal: bool = False) -> str:
    """Return a clause on why a machine cannot be extrapolated from its base, or equal it; "" if it can.

    Parameters
    ----------
    machine, base, is_equal
        The machine, that with the figures, and whether it is said to be as fast (`equivalent_to`). Devices are told
        apart where devices.csv has both: a machine measured here may have a base called `NVIDIA GPU`.
    """
    rows = [_device_row(gpu) for gpu in (machine.gpu, base.gpu)]
    if all(rows) and rows[0] != rows[1]:
        return f"expected a machine with {machine.gpu}, found {base.gpu}"
    if base.gpus > machine.gpus or (is_equal and base.gpus < machine.gpus):
        return f"expected {'' if is_equal else 'at most '}{machine.gpus} devices, found {base.gpus}"
    return ""


def memory_warnings(machine: Instance) -> list[dict[str, str]]:
    """Return one warning (`rule`, `message`) where a device's memory is not that of its data sheet, else []."""
    declared, sheet = machine.gpu_memory_gib, _device_row(machine.gpu).get("memory_gb")
    if declared is None or sheet is None or abs(declared / float(sheet) - 1) <= MEMORY_TOLERANCE:
        return []
    message = f"gpu_memory_gib is {declared:g}; the data sheet of {machine.gpu} has {sheet} GB"
    return [warning("unlike_data_sheet", message)]


def memory_of(machines: Mapping[str, Instance]) -> dict[str, float]:
    """Return the memory of one device in GiB by machine, to see which jobs fit: as declared, else by the data sheet
    (devices.csv; 80 GB is 80 GiB). Machines of unknown devices are left out.
    """
    sizes = {
        name: machine.gpu_memory_gib or float(_device_row(machine.gpu).get("memory_gb", 0))
        for name, machine in machines.items()
    }
    return {name: size for name, size in sizes.items() if size}


class Needs(Closed):
    """The keys by which a workload states the memory that it needs; none: it is not known."""

    gpu_memory_gib: DeviceGib | None = None
    """GiB that each device must hold, such as activations, or all where nothing is divided"""
    sharded_memory_gib: Gibibytes | None = None
    """GiB that the devices of a job divide (ZeRO stage 3, FSDP): 16 bytes a parameter with Adam, 2 a frozen one"""

    def gib(self, gpus: int) -> float:
        """Return the GiB that each of `gpus` devices must hold; 0 where the workload does not say."""
        return (self.gpu_memory_gib or 0.0) + (self.sharded_memory_gib or 0.0) / gpus


def load_instances(*files: Path) -> dict[str, Instance]:
    """Read the machines that a study may rent, own or measure, by name, from all `files` (instances.yaml). Raises
    UserError with all mistakes, such as a name in two files.
    """
    instances: dict[str, Instance] = {}
    faults, names = Faults(), set[str]()  # the names of those whose entry is at fault too: another may name them
    for file in files:
        with faults.gather():
            entries = load_yaml(file)
            if not isinstance(entries, dict):
                raise UserError(f"{file}: found {type(entries).__name__}; expected a mapping of names to instances")
            for name, entry in entries.items():
                with faults.gather():
                    validated(Name, {"name": name}, file)
                    if name in names:
                        raise UserError(f"{file}: instance '{name}' is declared in another file too; declare it once")
                    names.add(name)
                    instances[name] = validated(Instance, entry, f"{file}: {name}")
    with faults.gather():
        check_case(instances, "instances", files[-1])
        check_case([machine.title for machine in instances.values()], "titles", files[-1])
    for name, instance in instances.items():
        for key in ("base_instance", "equivalent_to"):
            base = getattr(instance, key)
            wrong = "" if base in (None, *names) else f"expected one of the declared instances{hint(base, names)}"
            if base in instances:
                wrong = base_fault(instance, instances[base], key == "equivalent_to")
            if wrong:
                faults.add(f"{files[-1]}: {name}.{key} is {base!r}; {wrong}")
    bases = {name: instance.equivalent_to or instance.base_instance for name, instance in instances.items()}
    for name, target in bases.items():
        for _ in bases:  # whoever still has a base after so many steps goes round in a circle
            target = bases.get(target or "")
        if target is not None:
            faults.add(f"{files[-1]}: {name} and {bases[name]} lead back to each other; expected one with figures")
    faults.end()
    return instances
