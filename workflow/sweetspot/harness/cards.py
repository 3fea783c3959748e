"""The NVIDIA cards of a machine as NVML describes them: which a run sees, what they are, and their samples.

A card that is divided (MIG) is never measured: its slices report neither their power nor their use.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from sweetspot.errors import UserError
from sweetspot.harness.request import Request

AMPERE = [8, 0]  # the first compute capability with bf16 and TF32 (CUDA programming guide, table 25)


class DeviceSample(NamedTuple):
    """One sample of one card; None for a quantity that the card does not report."""

    utilisation: float | None  # share of the last interval in which a kernel ran, 0 to 1
    watts: float | None
    celsius: float | None
    clock_mhz: float | None
    memory_bytes: float | None
    slowdown_bits: int | None  # NVML's reasons why the clock is low
    joules: float | None  # since the driver was loaded


class CardWatch:
    """Reads the cards of a run through `nvml`, the module pynvml, by their UUIDs; no cards on a processor.

    `facts`: `driver` (version), `device_name`, `cards` (properties of each, None if not reported); {} without cards.
    """

    def __init__(self, nvml: Any, uuids: Sequence[str] = ()) -> None:
        self._nvml = nvml
        self._handles = [nvml.nvmlDeviceGetHandleByUUID(uuid) for uuid in uuids]
        self.facts: dict[str, Any] = {}
        if uuids:
            cards = [self._describe(*card) for card in zip(uuids, self._handles, strict=True)]
            self.facts = {"driver": nvml.nvmlSystemGetDriverVersion(), "cards": cards, "device_name": cards[0]["name"]}

    def samples(self) -> list[DeviceSample]:
        """Return one sample of each card, taken now."""
        return [
            DeviceSample(
                utilisation=self._query(handle, "UtilizationRates", field="gpu", scale=100),
                watts=self._query(handle, "PowerUsage", scale=1000),
                celsius=self._query(handle, "Temperature", self._nvml.NVML_TEMPERATURE_GPU),
                clock_mhz=self._query(handle, "ClockInfo", self._nvml.NVML_CLOCK_SM),
                memory_bytes=self._query(handle, "MemoryInfo", field="used"),
                slowdown_bits=self._query(handle, "CurrentClocksThrottleReasons"),
                joules=self._query(handle, "TotalEnergyConsumption", scale=1000),
            )
            for handle in self._handles
        ]

    def _describe(self, uuid: str, handle: Any) -> dict[str, Any]:
        """Return uuid, name, memory_bytes, power_limit_watts, max_clock_mhz and compute_capability of a card, by name."""
        capability = self._query(handle, "CudaComputeCapability")
        return {
            "uuid": uuid,
            "name": self._nvml.nvmlDeviceGetName(handle),
            "memory_bytes": self._query(handle, "MemoryInfo", field="total"),
            "power_limit_watts": self._query(handle, "EnforcedPowerLimit", scale=1000),
            "max_clock_mhz": self._query(handle, "MaxClockInfo", self._nvml.NVML_CLOCK_SM),
            "compute_capability": capability and list(capability),
        }

    def _query(self, handle: Any, name: str, *arguments: Any, field: str = "", scale: int = 0) -> Any:
        """Return nvmlDeviceGet`name`'s result or its `field`, divided by `scale` unless 0; None if not supported."""
        try:
            value = getattr(self._nvml, f"nvmlDeviceGet{name}")(handle, *arguments)
        except self._nvml.NVMLError:
            return None
        value = getattr(value, field) if field else value
        return value / scale if scale else value


def watch_cards(request: Request) -> CardWatch:
    """Return a reader of the run's cards (none on a processor). Raises UserError if the driver does not answer."""
    if request.device == "cpu":
        return CardWatch(None)
    import pynvml

    try:
        pynvml.nvmlInit()
        return CardWatch(pynvml, visible_cards())
    except pynvml.NVMLError as error:
        raise UserError(f"the NVIDIA driver does not answer ({error}); nothing was measured") from None


def emulates(card: dict[str, Any], precision: str) -> bool:
    """Return True if a card lacks instructions for bf16 or tf32, and so computes that precision in fp32."""
    capability = card["compute_capability"]
    return precision in ("bf16", "tf32") and capability is not None and capability < AMPERE


def visible_cards() -> list[str]:
    """Return the UUIDs of all cards that can be measured, or of those that CUDA_VISIBLE_DEVICES names.

    Numbers in that variable count along the bus. They are converted to UUIDs, so that a card has the same lock file in
    every job, whatever number the job knows it by. Raises UserError for a name of no such card.
    """
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [name.strip() for name in (chosen or "").split(",") if name.strip()]
    if chosen is not None and not names:
        return []
    import pynvml

    uuids = []
    with suppress(pynvml.NVMLError):
        pynvml.nvmlInit()
        uuids = [_usable_uuid(pynvml, index) for index in range(pynvml.nvmlDeviceGetCount())]
    if chosen is None:
        return [uuid for uuid in uuids if uuid]
    by_name = {str(index): uuid for index, uuid in enumerate(uuids)} | {uuid: uuid for uuid in uuids}
    for name in names:
        if not by_name.get(name):
            raise UserError(
                f"CUDA_VISIBLE_DEVICES is {chosen!r}, of which {name!r} names none of this machine's {len(uuids)} "
                "GPU(s); expected numbers from 0 on, or UUIDs as `nvidia-smi -L` prints them, of cards that are not "
                "divided (MIG)"
            )
    return [by_name[name] for name in names]


def _usable_uuid(nvml: Any, index: int) -> str:
    """Return the UUID of the card with a number on the bus; '' for one that does not answer or is divided."""
    uuid = ""
    with suppress(nvml.NVMLError):
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        uuid = str(nvml.nvmlDeviceGetUUID(handle))
        if nvml.nvmlDeviceGetMigMode(handle)[0]:  # cards before Ampere have no such mode
            return ""
    return uuid
