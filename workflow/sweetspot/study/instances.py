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

BEFORE_AMPERE = ("kepler", "maxwell", "pascal", "volta", "turing")  # NVIDIA's, without TF32 and bf16
GIB = 2.0**30
Gibibytes = Annotated[float, Field(gt=0, le=1e9)]
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
    """Return the declared warnings of an instance as dicts with `rule` and `message`; [] for an unknown one."""
    return [warning(entry.rule, entry.message) for entry in instances[name].warnings] if name in instances else []


@cache
def _device_rows() -> dict[str, dict[str, str]]:
    rows = [(row, [row["gpu"], *row["names"].split(";")]) for row in table("devices")]
    return {name.strip().casefold(): row for row, names in rows for name in names if name.strip()}


def is_before_ampere(gpu: str) -> bool:
    """Return True if a device is known to be of an architecture that has neither TF32 nor bf16."""
    return _device_rows().get(gpu.casefold(), {}).get("architecture") in BEFORE_AMPERE


def memory_of(machines: Mapping[str, Instance]) -> dict[str, float]:
    """Return the memory of one device in GiB by machine, to see which jobs fit: as declared, else by the data sheet
    (devices.csv; 80 GB is 80 GiB). Machines of unknown devices are left out.
    """
    sizes = {
        name: machine.gpu_memory_gib or float(_device_rows().get(machine.gpu.casefold(), {}).get("memory_gb", 0))
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
    faults.sentences += [
        f"{files[-1]}: {name}.{key} is {target!r}; expected one of the declared instances{hint(target, names)}"
        for name, instance in instances.items()
        for key in ("base_instance", "equivalent_to")
        if (target := getattr(instance, key)) is not None and target not in names
    ]
    faults.sentences += [
        f"{files[-1]}: {name}.gpus is {instance.gpus}; {instance.equivalent_to}, its equivalent_to, has {equal.gpus}"
        for name, instance in instances.items()
        if (equal := instances.get(instance.equivalent_to or "", instance)).gpus != instance.gpus
    ]
    bases = {name: instance.equivalent_to or instance.base_instance for name, instance in instances.items()}
    for name, base in bases.items():
        target = base
        for _ in bases:  # whoever still has a base after so many steps goes round in a circle
            target = bases.get(target or "")
        if target is not None:
            faults.add(f"{files[-1]}: {name} and {base} lead back to each other; expected a machine with figures")
    faults.end()
    return instances
