"""What the devices did while they trained: sampled beside the run, averaged over all devices and samples."""

import statistics
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sweetspot.harness.joules import Meter, energy_facts

INTERVAL_S = 0.5


class Sample(NamedTuple):
    """One look at one card; None where it does not tell."""

    utilisation: float | None  # share of the last interval in which a kernel ran, 0 to 1
    memory_peak_bytes: float | None
    watts: float | None
    celsius: float | None
    clock_mhz: float | None


class Sampler:
    """Looks at cards twice a second until stopped, and reads the energy counters after steps (`joules.Meter`)."""

    def __init__(
        self, look: Callable[[], Sequence[Sample]], joules: Callable[[], Sequence[float | None]] = tuple
    ) -> None:
        self._look = look
        self._looks: list[Sequence[Sample]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._meter = Meter(joules)

    def start(self) -> None:
        """Begin; called when the first timed step begins."""
        self._meter.start()
        self._thread.start()

    def stepped(self, steps: int) -> None:
        """So many timed steps have been made."""
        self._meter.stepped(steps)

    def _watch(self) -> None:
        while not self._stop.wait(INTERVAL_S):
            self._looks.append(self._look())

    def finish(self) -> dict[str, Any]:
        """Stop, and return the facts once: averages over all devices, peaks, and energy where the machine tells it."""
        if not self._thread.ident or self._stop.is_set():
            return {}
        self._meter.finish()
        self._stop.set()
        self._thread.join()
        if not self._looks and (last := self._look()):  # a run shorter than the time between two looks
            self._looks.append(last)
        silent, counted = fell_silent(self._looks), len(self._meter.marks[0].devices)
        sampled = [_mean([look[place].watts for look in self._looks]) for place in range(counted)]
        watts = [None if place in silent else mean for place, mean in enumerate(sampled)]
        devices = max([1, *(len(look) for look in self._looks)])
        facts = energy_facts(self._meter.marks, watts) | summary([one for look in self._looks for one in look], devices)
        return facts | ({"gpu_silent": silent} if silent else {})


def summary(samples: Sequence[Sample], devices: int = 1) -> dict[str, float]:
    """Means of utilisation, power, temperature and clock of each device, averaged over all; the peak of memory.

    samples: of look after look, each of all `devices`. A device that fell silent counts by what it told before.
    """
    facts: dict[str, float] = {"gpu_samples": len(samples)} if samples else {}
    for field in Sample._fields:
        each = [[getattr(sample, field) for sample in samples[place::devices]] for place in range(devices)]
        if field == "memory_peak_bytes":
            told = [max(own) for values in each if (own := [value for value in values if value is not None])]
        else:
            told = [mean for values in each if (mean := _mean(values)) is not None]
        if told:
            facts[f"gpu_{field}"] = max(told) if field == "memory_peak_bytes" else statistics.fmean(told)
    return facts


def fell_silent(looks: Sequence[Sequence[Sample]]) -> list[int]:
    """Places of the devices that told something once and nothing at all in the last look."""
    if not looks:
        return []
    told = [[any(value is not None for value in sample) for sample in look] for look in looks]
    return [place for place, now in enumerate(told[-1]) if not now and any(look[place] for look in told)]


def _mean(values: Sequence[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return statistics.fmean(told) if told else None


def card_watch(nvml: Any, cards: Sequence[str]) -> Callable[[], list[Sample]]:
    """A function that looks at those cards (by UUID or index) through NVML, `nvml` being the module pynvml."""
    handles = [card_handle(nvml, card) for card in cards]

    return lambda: [_look(nvml, handle) for handle in handles]


def card_joules(nvml: Any, cards: Sequence[str]) -> Callable[[], list[float | None]]:
    """A function that tells the J of each card since its driver was loaded; None of one without such a counter.

    `nvmlDeviceGetTotalEnergyConsumption`, mJ, of Volta and later.
    """
    handles = [card_handle(nvml, card) for card in cards]

    def joules(handle: Any) -> float | None:
        return _told(nvml, lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1000)

    return lambda: [joules(handle) for handle in handles]


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
