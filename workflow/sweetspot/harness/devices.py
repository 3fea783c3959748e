"""The devices of a run: NVIDIA cards as NVML describes them, and the leases by which jobs share devices. A card that
is divided (MIG) is never measured: its slices report neither their power nor their use.
"""

import fcntl
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from sweetspot.errors import UserError
from sweetspot.harness.request import Request
from sweetspot.platforms import PLATFORMS

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
    """Reads the cards (GPUs) of a run through `nvml`, the module pynvml, by their UUIDs; no cards on a processor.
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
        """Return a sample of each GPU's state now (use, watts, temperature, clock, memory, slowdown, joules), from
        which energy and peak memory of a run are computed.
        """
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
        """Return a card's properties for the run file, {name: value}, such as `memory_bytes`; None if not reported."""
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
        """Return what NVML says of a card: nvmlDeviceGet`name`(handle, ...) or its `field`, divided by `scale` (to SI
        units) unless 0; None if the card does not report it.
        """
        try:
            value = getattr(self._nvml, f"nvmlDeviceGet{name}")(handle, *arguments)
        except self._nvml.NVMLError:
            return None
        value = getattr(value, field) if field else value
        return value / scale if scale else value


def watch_cards(request: Request) -> CardWatch:
    """Return a reader of the GPUs that a benchmark run uses, for its facts, power and memory (of no card on a
    processor). UserError if the NVIDIA driver does not answer.
    """
    if request.device == "cpu":
        return CardWatch(None)
    import pynvml

    try:
        pynvml.nvmlInit()
        return CardWatch(pynvml, visible_cards())
    except pynvml.NVMLError as error:
        raise UserError(f"the NVIDIA driver does not answer ({error}); nothing was measured") from None


def emulates(card: dict[str, Any], precision: str) -> bool:
    """Return True if a card (facts by name) lacks instructions for bf16 or tf32, and so computes it in fp32."""
    capability = card["compute_capability"]
    return precision in ("bf16", "tf32") and capability is not None and capability < AMPERE


def visible_cards() -> list[str]:
    """Return the UUIDs of the cards that a run may take: all that can be measured, or those that CUDA_VISIBLE_DEVICES
    names. Numbers in that variable count along the bus. They are converted to UUIDs, so that a card has the same lock
    file in every job, whatever number the job knows it by. Raises UserError for a name of no such card.
    """
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [name.strip() for name in (chosen or "").split(",") if name.strip()]
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
    """Return the UUID of card `index` on the bus by pynvml; '' where it does not answer or is divided (MIG)."""
    uuid = ""
    with suppress(nvml.NVMLError):
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        uuid = str(nvml.nvmlDeviceGetUUID(handle))
        if nvml.nvmlDeviceGetMigMode(handle)[0]:  # cards before Ampere have no such mode
            return ""
    return uuid


@contextmanager
def _lock_file(name: str) -> Iterator[int]:
    """Yield the descriptor of this host's lock file `name` (of a device), unlocked; a killed job's lock is freed."""
    folder = Path(os.environ.get("SWEETSPOT_LEASES", Path(tempfile.gettempdir()) / "sweetspot-gpus"))
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)  # other users' jobs make their locks there; `mkdir` would take their right away (umask)
    descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with suppress(PermissionError):  # another user's, who has done so
            os.fchmod(descriptor, 0o666)
        yield descriptor
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int, kind: int) -> bool:
    """Lock an open file (`kind`: LOCK_EX or LOCK_SH) without waiting; return False if another process has it locked."""
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        return True
    return False


@contextmanager
def leased_processor(exclusive: bool) -> Iterator[None]:
    """Hold this host's processor in the `with` block, alone (`exclusive`) or shared with other runs, so that no other
    benchmark disturbs the timing. A run on the processor is measured alone; runs on cards go beside each other. Wait,
    with a message on stderr, while another job holds the lock. Jobs queue for it, so that none waits for ever.
    """
    kinds = (fcntl.LOCK_EX, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
    with _lock_file("processor-queue") as queue, _lock_file("processor") as processor:
        for lock, kind in zip((queue, processor), kinds, strict=True):
            if not _try_lock(lock, kind):
                print("waiting: another measurement holds this host's processor", file=sys.stderr, flush=True)
                fcntl.flock(lock, kind)
        fcntl.flock(queue, fcntl.LOCK_UN)
        yield


@contextmanager
def leased_cards(count: int, cards: list[str]) -> Iterator[list[str]]:
    """Yield the UUIDs of `count` of `cards`, locked for this process in the `with` block, so that no two benchmarks
    share a card; wait until so many are free. One job at a time takes cards. UserError for too few `cards`.
    """
    if count > len(cards):
        raise UserError(f"--gpus is {count}; this machine shows {len(cards)} device(s); nothing was measured")
    print(f"waiting for {count} of {len(cards)} device(s), if other jobs hold them", file=sys.stderr, flush=True)
    leased: list[str] = []
    with ExitStack() as leases:
        locks = {card: leases.enter_context(_lock_file(card)) for card in cards}
        with _lock_file("queue") as queue:
            fcntl.flock(queue, fcntl.LOCK_EX)
            while len(leased) < count:
                free = (card for card in cards if card not in leased and _try_lock(locks[card], fcntl.LOCK_EX))
                leased = [*leased, *islice(free, count - len(leased))]
                if len(leased) < count:
                    time.sleep(0.5)
        yield sorted(leased, key=cards.index)


@contextmanager
def leased_devices(request: Request) -> Iterator[None]:
    """Lock the processor or GPUs that a run needs for the `with` block, so that concurrent benchmarks do not disturb
    each other, and show it only those; what Slurm hands out needs no lock. Raises UserError for an instance that is
    measured on a cluster outside a job there: the figure would be of another machine.
    """
    platform = PLATFORMS[request.where]
    if platform.inside is not None and platform.inside not in os.environ:
        raise UserError(
            f"--instance is {request.cell.instance!r}, which is measured through {platform.title}, and this is no "
            f"{platform.job}; run snakemake with --workflow-profile {platform.profile}"
        )
    if request.device == "gpu":  # by itself CUDA counts the fastest card first, and NVML along the bus
        os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    with ExitStack() as leases:
        if not any(platform.inside in os.environ for platform in PLATFORMS.values() if platform.hands_out_devices):
            if request.device == "gpu":
                cards = leases.enter_context(leased_cards(request.cell.gpus, visible_cards()))
                os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(cards)
            leases.enter_context(leased_processor(exclusive=request.device == "cpu"))
        yield
