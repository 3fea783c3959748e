"""Where an instance is measured, and what a cell takes there."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from sweetspot.study.base import Closed, Count, Slug, Text
from sweetspot.study.platforms import PLATFORMS, Platform

if TYPE_CHECKING:
    Where = str
else:
    Where = Literal[tuple(PLATFORMS)]


class Executor(Closed):
    """Where an instance can be measured."""

    where: Where = Field(description="; ".join(f"{name}: {platform.how}" for name, platform in PLATFORMS.items()))
    device: Literal["cpu", "gpu"] = Field(description="What is counted by gpus; cpu devices are logical beyond one")
    expect_gpu: Text | None = Field(None, description="Part of the device's name; any other device is refused")
    partition: Slug | None = Field(None, description="Slurm partition of the instance")
    constraint: Slug | None = Field(None, description="Slurm node feature to ask for")
    gpu_model: Slug | None = Field(
        None, description="Typed GPU to ask Slurm for, or the accelerator that Google Batch adds"
    )
    machine_type: Slug | None = Field(
        None, description="Node label instance-type of Kubernetes, or type of Google's machine"
    )
    cpus: Count = Field(1, description="CPU cores of a job")
    mem_mb: Count = Field(8000, description="Memory of a job in MB")
    runtime_min: Count = Field(60, description="Time limit of a job in minutes")
    gpus_per_node: Count | None = Field(
        None, description="Devices of one node; a cell with more takes several nodes, one worker each (slurm only)"
    )

    @model_validator(mode="after")
    def _keys_fit(self) -> "Executor":
        needed = self.platform.names_machine
        if needed is not None and getattr(self, needed) is None:
            raise ValueError(f"{needed}, since the instance is measured through {self.where}")
        if self.gpus_per_node is not None and not self.platform.several_nodes:
            able = " or ".join(name for name, platform in PLATFORMS.items() if platform.several_nodes)
            raise ValueError(f"gpus_per_node only with where: {able}, which starts the workers of several nodes")
        if self.device == "cpu" and self.gpus_per_node not in (None, 1):
            raise ValueError("gpus_per_node 1 for device: cpu, where a node's processor is one device")
        return self

    @property
    def platform(self) -> Platform:
        """The row of PLATFORMS."""
        return PLATFORMS[self.where]

    @property
    def cpu_milli(self) -> int:
        """Cores of a job in thousandths, as Google counts them."""
        return self.cpus * 1000

    @property
    def duration(self) -> str:
        """Time limit of a job as Google writes it."""
        return f"{self.runtime_min * 60}s"

    def nodes(self, gpus: int) -> int:
        """Nodes that a cell with `gpus` devices takes: 1 unless it has more than `gpus_per_node`."""
        return max(1, gpus // self.gpus_per_node) if self.gpus_per_node else 1
