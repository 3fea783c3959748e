"""What the devices did while they trained: sampled beside the run, averaged over all devices and samples."""

import statistics
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

POWERCAP = Path("/sys/class/powercap")
INTERVAL_S = 0.5


class Sample(NamedTuple):
    """One look at one card; None where it does not tell."""

    utilisation: float | None  # share of the last interval in which a kernel ran, 0 to 1
    memory_peak_bytes: float | None
    watts: float | None
    celsius: float | None
    clock_mhz: float | None


class Sampler:
    """Looks at cards twice a second until stopped; without cards it only reads the processor's energy counter."""

    def __init__(self, look: Callable[[], Sequence[Sample]]) -> None:
        self._look = look
        self._samples: list[Sample] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._energy = processor_energy()

    def start(self) -> None:
        """Begin; called when the first timed step begins."""
        self._energy = processor_energy()
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(INTERVAL_S):
            self._samples += self._look()

    def finish(self) -> dict[str, Any]:
        """Stop, and return the facts once: averages over all devices, peaks, and energy where the machine tells it."""
        if not self._thread.ident or self._stop.is_set():
            return {}
        self._stop.set()
        self._thread.join()
        spent = joules_between(self._energy, processor_energy())
        facts = {} if spent is None else {"processor_joules": spent}
        return facts | summary(self._samples)


def summary(samples: Sequence[Sample]) -> dict[str, float]:
    """Means of utilisation, power, temperature and clock over all devices and samples; the peak of memory."""
    facts: dict[str, float] = {"gpu_samples": len(samples)} if samples else {}
    for field in Sample._fields:
        told = [getattr(sample, field) for sample in samples if getattr(sample, field) is not None]
        if told:
            facts[f"gpu_{field}"] = max(told) if field == "memory_peak_bytes" else statistics.fmean(told)
    return facts


class Counter(NamedTuple):
    """An energy counter of a processor package (RAPL), microjoules: its value, and its highest (0: unknown)."""

    energy_uj: int
    range_uj: int


def processor_energy(folder: Path = POWERCAP) -> dict[str, Counter]:
    """The energy counters of all processor packages; none where the machine does not tell."""
    try:
        packages = [path for path in folder.glob("intel-rapl:*") if path.name.count(":") == 1]
        return {path.name: Counter(int((path / "energy_uj").read_text()), _range(path)) for path in packages}
    except OSError:  # readable by root only since CVE-2020-8694
        return {}


def _range(package: Path) -> int:
    try:
        return int((package / "max_energy_range_uj").read_text())
    except OSError:
        return 0


def joules_between(before: Mapping[str, Counter], after: Mapping[str, Counter]) -> float | None:
    """J that all packages spent between two looks; None where they do not tell.

    A counter starts at 0 again above its range (some 262 kJ: 40 minutes at 100 W). One that fell was there once; where
    its range is not known it says nothing.
    """
    if not before or before.keys() != after.keys():
        return None
    spent = 0
    for name, now in after.items():
        passed = now.energy_uj - before[name].energy_uj
        if passed < 0 and not now.range_uj:
            return None
        spent += passed if passed >= 0 else passed + now.range_uj
    return spent / 1e6


def card_watch(nvml: Any, cards: Sequence[str]) -> Callable[[], list[Sample]]:
    """A function that looks at those cards (by UUID or index) through NVML, `nvml` being the module pynvml."""
    handles = [card_handle(nvml, card) for card in cards]

    return lambda: [_look(nvml, handle) for handle in handles]


def _look(nvml: Any, handle: Any) -> Sample:
    return Sample(
        _told(nvml, lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100),
        _told(nvml, lambda: nvml.nvmlDeviceGetMemoryInfo(handle).used),
        _told(nvml, lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000),
        _told(nvml, lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
        _told(nvml, lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
    )


def card_handle(nvml: Any, card: str) -> Any:
    """NVML's handle of a card named by UUID or by index."""
    if card.isdigit():
        return nvml.nvmlDeviceGetHandleByIndex(int(card))
    return nvml.nvmlDeviceGetHandleByUUID(card)


def card_facts(nvml: Any, cards: Sequence[str]) -> dict[str, Any]:
    """Driver, and of each card its name, memory, power limit and highest clock; None where a card does not tell."""
    found = [_card(nvml, card_handle(nvml, card)) for card in cards]
    return {"driver": nvml.nvmlSystemGetDriverVersion(), "cards": found}


def _card(nvml: Any, handle: Any) -> dict[str, Any]:
    return {
        "name": nvml.nvmlDeviceGetName(handle),
        "memory_bytes": _told(nvml, lambda: nvml.nvmlDeviceGetMemoryInfo(handle).total),
        "power_limit_watts": _told(nvml, lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000),
        "max_clock_mhz": _told(nvml, lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM)),
    }


def _told(nvml: Any, ask: Callable[[], float]) -> float | None:
    try:
        return ask()
    except nvml.NVMLError:  # laptops and partitioned cards keep some facts to themselves
        return None
