"""Where an instance is measured, and what a cell takes there."""

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from sweetspot.cells import Cell
from sweetspot.errors import UserError
from sweetspot.study.base import Closed, Count, Slug, Text


class Executor(Closed):
    """Where an instance can be measured."""

    where: Literal["local", "slurm", "kubernetes"] = Field(
        description="local: this machine; slurm: submitted to a partition; kubernetes: to nodes of a machine type"
    )
    device: Literal["cpu", "gpu"] = Field(description="What is counted by gpus; cpu devices are logical beyond one")
    expect_gpu: Text | None = Field(None, description="Part of the device's name; any other device is refused")
    partition: Slug | None = Field(None, description="Slurm partition of the instance")
    constraint: Slug | None = Field(None, description="Slurm node feature to ask for")
    gpu_model: Slug | None = Field(None, description="Typed GPU to ask Slurm for")
    machine_type: Slug | None = Field(None, description="Kubernetes node label instance-type to ask for")
    cpus: Count = Field(1, description="CPU cores of a job")
    mem_mb: Count = Field(8000, description="Memory of a job in MB")
    runtime_min: Count = Field(60, description="Time limit of a job in minutes")
    gpus_per_node: Count | None = Field(
        None, description="Devices of one node; a cell with more takes several nodes, one worker each (slurm only)"
    )

    @model_validator(mode="after")
    def _keys_fit(self) -> "Executor":
        if self.where == "slurm" and self.partition is None:
            raise ValueError("partition, since the instance is measured through slurm")
        if self.where == "kubernetes" and self.machine_type is None:
            raise ValueError("machine_type, since the instance is measured through kubernetes")
        if self.gpus_per_node is not None and self.where != "slurm":
            raise ValueError("gpus_per_node only with where: slurm, which starts the workers of several nodes")
        if self.device == "cpu" and self.gpus_per_node not in (None, 1):
            raise ValueError("gpus_per_node 1 for device: cpu, where a node's processor is one device")
        return self

    def nodes(self, gpus: int) -> int:
        """Nodes that a cell with `gpus` devices takes: 1 unless it has more than `gpus_per_node`."""
        return max(1, gpus // self.gpus_per_node) if self.gpus_per_node else 1


def check_nodes(cell: Cell, place: Executor, file: Path) -> None:
    """Several nodes are whole ones, driven by TensorFlow, gradients combined by collectives. Raises UserError."""
    per_node = place.gpus_per_node
    if per_node is None or cell.gpus <= per_node:
        return
    where = f"{file}: the matrix holds {cell.instance} with gpus {cell.gpus}, more than its gpus_per_node {per_node}"
    if cell.gpus % per_node:
        raise UserError(f"{where}; expected a multiple of it")
    if cell.framework != "tensorflow" or cell.variant not in ("default", "B"):
        found = f"framework {cell.framework}, variant {cell.variant}"
        raise UserError(f"{where}, and {found}; expected tensorflow with default or B, or an entry of 'exclude'")
