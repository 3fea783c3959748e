"""instances.yaml: the machines that one can rent, own or measure."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from sweetspot.errors import UserError
from sweetspot.study.base import Closed, Count, Name, Slug, Text, check_apart, validated
from sweetspot.study.executors import Executor
from sweetspot.study.yamlfile import load_yaml

Interconnect = Literal["pcie", "nvlink_bridge", "nvlink", "nvswitch", "infinity_fabric", "ici", "none"]
Network = Literal["ethernet", "infiniband", "roce", "efa", "none"]


class Instance(Closed):
    """A machine one can rent, own or measure."""

    title: Text = Field(description="Name for people")
    provider: Slug = Field(description="Who offers it: aws, gce, own, ...")
    gpu: Text = Field(description="Card as named in the published tables, or the processor")
    gpus: Annotated[int, Field(ge=1, le=4096, strict=True)] = Field(description="Devices in it")
    vcpus: Count | None = Field(None, description="Virtual processors")
    memory_gib: float | None = Field(None, description="Main memory in GiB", gt=0)
    interconnect: Interconnect | None = Field(None, description="What joins the devices of one node")
    network: Network | None = Field(None, description="What joins the nodes, where the machine has several")
    base_instance: Slug | None = Field(None, description="Machine with one device of the same family")
    equivalent_to: Slug | None = Field(None, description="Machine whose throughput it is declared to have")
    note: Text | None = Field(None, description="What a reader must know of it")
    framework: Slug | None = Field(
        None, description="Framework that belongs to this configuration, where a study compares frameworks"
    )
    measure: Executor | None = Field(None, description="Where it can be measured; absent: published figures only")


def nodes_of(instances: Mapping[str, Instance], name: str, gpus: int) -> int:
    """Machines that `gpus` devices of an instance take: devices / gpus_per_node where it is measured so, else 1."""
    instance = instances.get(name)
    return instance.measure.nodes(gpus) if instance is not None and instance.measure is not None else 1


def load_instances(*files: Path) -> dict[str, Instance]:
    """Instances of all files that exist, later files adding to earlier ones. Raises UserError."""
    found: dict[str, Instance] = {}
    for file in files:
        entries = load_yaml(file)
        if not isinstance(entries, dict):
            raise UserError(f"{file}: found {type(entries).__name__}; expected a mapping of names to instances")
        for name, entry in entries.items():
            validated(Name, {"name": name}, file)
            if name in found:
                raise UserError(f"{file}: instance '{name}' is declared in another file too; declare it once")
            found[name] = validated(Instance, entry, f"{file}: {name}")
    check_apart(found, "instances", files[-1])
    for name, instance in found.items():
        for key in ("base_instance", "equivalent_to"):
            other = getattr(instance, key)
            if other is not None and other not in found:
                raise UserError(f"{files[-1]}: {name}.{key} is {other!r}; expected one of the declared instances")
    return found
