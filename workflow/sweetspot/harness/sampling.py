"""What the devices did while they trained: sampled beside the run, averaged over all devices and samples."""

import statistics
import threading
from collections.abc import Callable, Sequence
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
        self._energy = processor_joules()

    def start(self) -> None:
        """Begin; called when the first timed step begins."""
        self._energy = processor_joules()
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
        after = processor_joules()
        spent = None if after is None or self._energy is None else after - self._energy
        facts = {} if spent is None or spent < 0 else {"processor_joules": spent}  # a counter that wrapped says nothing
        return facts | summary(self._samples)


def summary(samples: Sequence[Sample]) -> dict[str, float]:
    """Means of utilisation, power, temperature and clock over all devices and samples; the peak of memory."""
    facts: dict[str, float] = {"gpu_samples": len(samples)} if samples else {}
    for field in Sample._fields:
        told = [getattr(sample, field) for sample in samples if getattr(sample, field) is not None]
        if told:
            facts[f"gpu_{field}"] = max(told) if field == "memory_peak_bytes" else statistics.fmean(told)
    return facts


def processor_joules(folder: Path = POWERCAP) -> float | None:
    """Energy counters of all processor packages (RAPL), J; None where the machine does not tell."""
    try:
        counters = [path / "energy_uj" for path in folder.glob("intel-rapl:*") if path.name.count(":") == 1]
        return sum(int(counter.read_text()) for counter in counters) / 1e6 if counters else None
    except OSError:  # readable by root only since CVE-2020-8694
        return None


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
