"""The NVIDIA cards of a machine as NVML describes them: which a run sees, what they are, and their samples.

A card that is divided (MIG) is never measured: its slices report neither their power nor their use.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any

from sweetspot.errors import UserError
from sweetspot.harness.request import Request
from sweetspot.harness.sampling import DeviceSample

PROHIBITED = 2  # nvml.h, nvmlComputeMode: no process may use the card
AMPERE = [8, 0]  # the first compute capability with bf16 and TF32 (CUDA programming guide, table 25)


class CardWatch:
    """The cards of a run, read through NVML; no cards on a processor.

    Parameters
    ----------
    nvml
        The module pynvml; None where there is nothing to read.
    uuids
        The cards.

    Attributes
    ----------
    facts
        `driver`, and `cards` with the properties of each; None where a card does not report one.
    """

    def __init__(self, nvml: Any, uuids: Sequence[str] = ()) -> None:
        self._nvml = nvml
        self._handles = [nvml.nvmlDeviceGetHandleByUUID(uuid) for uuid in uuids]
        self.facts: dict[str, Any] = {}
        if nvml is not None:
            cards = [self._describe(*card) for card in zip(uuids, self._handles, strict=True)]
            self.facts = {"driver": nvml.nvmlSystemGetDriverVersion(), "cards": cards}

    def samples(self) -> list[DeviceSample]:
        """Sample each card once."""
        return [self._sample(handle) for handle in self._handles]

    def joules(self) -> list[float | None]:
        """Return the joules of each card since its driver was loaded; None for a card without a counter."""
        return [self._query(handle, "TotalEnergyConsumption", scale=1000) for handle in self._handles]

    def _sample(self, handle: Any) -> DeviceSample:
        percent = self._query(handle, "UtilizationRates", field="gpu")
        return DeviceSample(
            utilisation=None if percent is None else percent / 100,
            memory_peak_bytes=self._query(handle, "MemoryInfo", field="used"),
            watts=self._query(handle, "PowerUsage", scale=1000),
            celsius=self._query(handle, "Temperature", self._nvml.NVML_TEMPERATURE_GPU),
            clock_mhz=self._query(handle, "ClockInfo", self._nvml.NVML_CLOCK_SM),
            slowdown_bits=self._query(handle, "CurrentClocksThrottleReasons"),
        )

    def _describe(self, uuid: str, handle: Any) -> dict[str, Any]:
        capability = self._query(handle, "CudaComputeCapability")
        return {
            "uuid": uuid,
            "name": self._nvml.nvmlDeviceGetName(handle),
            "memory_bytes": self._query(handle, "MemoryInfo", field="total"),
            "power_limit_watts": self._query(handle, "EnforcedPowerLimit", scale=1000),
            "max_clock_mhz": self._query(handle, "MaxClockInfo", self._nvml.NVML_CLOCK_SM),
            "compute_capability": capability and list(capability),
            "compute_mode": self._query(handle, "ComputeMode"),
        }

    def _query(self, handle: Any, name: str, *arguments: Any, field: str = "", scale: int | None = None) -> Any:
        """Call nvmlDeviceGet`name`: its `field`, or divided by `scale`; None where the card does not support it."""
        try:
            value = getattr(self._nvml, f"nvmlDeviceGet{name}")(handle, *arguments)
        except self._nvml.NVMLError:
            return None
        value = getattr(value, field) if field else value
        return value if scale is None else value / scale


def watch_cards(request: Request) -> CardWatch:
    """Find the run's cards on this machine; none on a processor.

    Raises
    ------
    UserError
        For cards that cannot make the run: no process may use them, or they have no TF32.
    """
    if request.device == "cpu":
        return CardWatch(None)
    import pynvml

    try:
        pynvml.nvmlInit()
        watch = CardWatch(pynvml, visible_cards())
    except pynvml.NVMLError as error:
        watch = CardWatch(None)
        watch.facts = {"nvml": str(error)}
        return watch
    cards = watch.facts["cards"]
    for card in cards:
        if card["compute_mode"] == PROHIBITED:
            raise UserError(f"{card['name']} is in compute mode 'prohibited' (nvidia-smi -c 0 ends that)")
        if request.cell.precision == "tf32" and emulates(card, "tf32"):
            raise UserError(f"--precision is tf32, which {card['name']} has not; expected fp32 or fp16")
    if cards:
        watch.facts["device_name"] = cards[0]["name"]
    return watch


def emulates(card: dict[str, Any], precision: str) -> bool:
    """True for a card without instructions for the precision, which then computes in fp32."""
    capability = card.get("compute_capability")
    return precision in ("bf16", "tf32") and capability is not None and capability < AMPERE


def visible_cards() -> list[str]:
    """List the UUIDs of all cards that can be measured, or of those that CUDA_VISIBLE_DEVICES names.

    Numbers count along the bus. Numbers and beginnings of UUIDs become UUIDs, so that a card has one lock
    whatever a job calls it. As in CUDA, the list ends at -1.

    Raises
    ------
    UserError
        For a name of no such card.
    """
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [name.strip() for name in (chosen or "").split(",") if name.strip()]
    if chosen is not None and not names:
        return []
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return names
    uuids = [_usable_uuid(pynvml, index) for index in range(pynvml.nvmlDeviceGetCount())]
    if chosen is None:
        return list(filter(None, uuids))
    return [_resolve_name(name, uuids, chosen) for name in takewhile(lambda name: name != "-1", names)]


def _usable_uuid(nvml: Any, index: int) -> str:
    """Return the UUID of a card; empty for one that fell off the bus or is divided."""
    uuid = ""
    with suppress(nvml.NVMLError):
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        uuid = str(nvml.nvmlDeviceGetUUID(handle))
        if nvml.nvmlDeviceGetMigMode(handle)[0]:  # cards before Ampere have no such mode
            return ""
    return uuid


def _resolve_name(name: str, uuids: list[str], chosen: str) -> str:
    """Return the UUID that a name in CUDA_VISIBLE_DEVICES means."""
    matches = [uuid for index, uuid in enumerate(uuids) if uuid and (uuid.startswith(name) or str(index) == name)]
    if name in matches or len(matches) == 1:
        return name if name in matches else matches[0]
    fault = f"begins the names of {len(matches)}" if matches else "names none"
    raise UserError(
        f"CUDA_VISIBLE_DEVICES is {chosen!r}, of which {name!r} {fault} of this machine's {len(uuids)} GPU(s); "
        "expected numbers from 0 on, or UUIDs as `nvidia-smi -L` prints them, of cards that are not divided (MIG)"
    )
