"""How much memory of a device a training needs: stated, or by the rule of ZeRO and that of transformer activations."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from sweetspot.facts.shipped_tables import table
from sweetspot.study.base import Closed, Count, Text

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance


BEFORE_AMPERE = ("kepler", "maxwell", "pascal", "volta", "turing")  # NVIDIA's, without TF32 and bf16


@cache
def _device_rows() -> dict[str, dict[str, str]]:
    return {
        name.strip().casefold(): row
        for row in table("devices")
        for name in (row["gpu"], *row["names"].split(";"))
        if name.strip()
    }


def is_before_ampere(gpu: str) -> bool:
    """Whether a device is known to be of an architecture that has neither TF32 nor bf16."""
    return _device_rows().get(gpu.casefold(), {}).get("architecture") in BEFORE_AMPERE


def memory_of(machines: Mapping[str, "Instance"]) -> dict[str, float]:
    """Return GiB of one device by machine: declared, else by devices.csv, whose 80 GB are 80 GiB; known ones only."""
    sizes = {
        name: machine.gpu_memory_gib or float(_device_rows().get(machine.gpu.casefold(), {}).get("memory_gb", 0))
        for name, machine in machines.items()
    }
    return {name: size for name, size in sizes.items() if size}


GIB = 2.0**30
# Bytes of a parameter: weight, gradient, master copy, each state of the optimizer. Mixed precision with Adam makes
# 2 + 2 + (4 + 4 + 4) = 16 (Rajbhandari et al. 2020, ZeRO, sec. 3.1); 16-bit throughout keeps no master copy.
BYTES = {"fp32": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "bf16": (2, 2, 0, 2)}
STATES = {"sgd": 0, "momentum": 1, "adam": 2}
# Stages of ZeRO: the devices divide states, from 2 on gradients too, at 3 weights.
STAGES = {"none": 0, "optimizer": 1, "gradients": 2, "parameters": 3}
Amount = Annotated[float, Field(gt=0, le=1e15)]


class Transformer(Closed):
    """Shape of a transformer, from which its activations follow (16-bit values)."""

    layers: Count
    """Layers"""
    width: Count
    """Hidden size h"""
    heads: Count
    """Attention heads a"""
    sequence: int = Field(ge=1, le=10_000_000, description="Sequence length s, tokens")
    batch_size: Count = 1
    """Sequences b that a device works on at once"""
    recompute: Literal["none", "selective", "full"] = "none"
    """What is computed again, not kept: nothing, attention scores (flash attention too), all layers"""
    vocabulary: int | None = Field(None, ge=1, le=10_000_000)
    """Tokens v that the loss chooses among; absent: its logits are not counted"""

    @property
    def gib(self) -> float:
        """GiB of activations: a layer keeps sbh (34 + 5 a s / h) bytes, 34 sbh without attention scores, 2 sbh where
        only its input is kept (Korthikanti et al. 2022, sec. 4 and 5); the loss its logits, 4 sbv (sec. 4.3).
        """
        values = float(self.sequence) * self.batch_size * self.width
        scores = 5.0 * self.heads * self.sequence / self.width
        a_layer = values * {"none": 34.0 + scores, "selective": 34.0, "full": 2.0}[self.recompute]
        logits = 4.0 * self.sequence * self.batch_size * (self.vocabulary or 0)
        return (self.layers * a_layer + logits) / GIB


class Memory(Closed):
    """What a training keeps on each device: weights, gradients, optimizer state, activations."""

    parameters: Amount
    """Parameters of the network"""
    trained_parameters: Amount | None = None
    """Those that are trained, where not all are: of adapters such as LoRA; the others are frozen"""
    frozen_bytes: float | None = Field(None, gt=0, le=8)
    """Bytes of a frozen parameter; absent: those of a weight in this precision; 0.5 for 4 bits"""
    precision: Literal["fp32", "mixed", "bf16"]
    """mixed: 16-bit weights and gradients beside a 32-bit copy; bf16: 16 bits throughout"""
    optimizer: Literal["sgd", "momentum", "adam"]
    """By its states a parameter: none, one, two"""
    sharding: Literal["none", "optimizer", "gradients", "parameters"] = "none"
    """What is divided by the devices: ZeRO stage 1, 2, 3 (FSDP is 3)"""
    activations_gib: float | None = Field(None, ge=0, le=1e6)
    """GiB of activations and workspace on a device, where they are known"""
    transformer: Transformer | None = None
    """Shape from which the activations follow"""
    source: Text
    """Where the numbers come from"""

    def _expected(self) -> Iterator[str]:
        if len(self._given("activations_gib", "transformer")) != 1:
            yield "either activations_gib or transformer"
        if self.transformer is not None and self.precision == "fp32":
            yield "activations_gib where precision is fp32: the rule of a transformer is for 16-bit values"
        if self.trained_parameters is not None and self.trained_parameters > self.parameters:
            yield f"trained_parameters of at most parameters, found {self.trained_parameters:g}"

    def gib(self, gpus: int) -> float:
        """GiB that each of `gpus` devices must hold. Libraries and fragments of the allocator come on top."""
        weight, gradient, master, state = BYTES[self.precision]
        trained = self.parameters if self.trained_parameters is None else self.trained_parameters
        frozen = (self.parameters - trained) * (weight if self.frozen_bytes is None else self.frozen_bytes)
        states = trained * (master + STATES[self.optimizer] * state)
        parts = {3: trained * weight + frozen, 2: trained * gradient, 1: states}
        state_bytes = sum(part / (gpus if stage <= STAGES[self.sharding] else 1) for stage, part in parts.items())
        activations = self.activations_gib if self.transformer is None else self.transformer.gib
        return state_bytes / GIB + float(activations or 0.0)


class Needs(Closed):
    """The keys by which a workload states the memory that it needs; none: it is not known."""

    gpu_memory_gib: Amount | None = None
    """GiB that each device must hold, where it is known"""
    memory: Memory | None = None
    """From what that follows"""

    def _expected(self) -> Iterator[str]:
        if len(self._given("gpu_memory_gib", "memory")) > 1:
            yield "one of gpu_memory_gib and memory"

    def need_gib(self, gpus: int) -> float | None:
        """GiB that each of `gpus` devices must hold; None where the workload does not say."""
        return self.gpu_memory_gib if self.memory is None else self.memory.gib(gpus)
