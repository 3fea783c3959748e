"""What the devices did while they trained: sampled beside the run, averaged over all devices and samples."""

import statistics
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sweetspot.harness.joules import Meter, energy_facts, processor_energy

INTERVAL_S = 0.5
# nvml.h, nvmlClocksEventReasons: by heat or a fault; that a device keeps to its power limit is its normal work.
HELD_BACK = {0x08: "hardware", 0x20: "heat (software)", 0x40: "heat (hardware)", 0x80: "the power supply"}
POWER_CAP = 0x04


class Sample(NamedTuple):
    """One look at one card; None where it does not tell."""

    utilisation: float | None  # share of the last interval in which a kernel ran, 0 to 1
    memory_peak_bytes: float | None
    watts: float | None
    celsius: float | None
    clock_mhz: float | None
    held_back: int | None = None  # why the clock is lower than it could be: bits of NVML's reasons


class Sampler:
    """Looks at cards twice a second until stopped, and reads the energy counters after steps (`joules.Meter`)."""

    def __init__(
        self, look: Callable[[], Sequence[Sample]], joules: Callable[[], Sequence[float | None]] = tuple
    ) -> None:
        self._look = look
        self._looks: list[Sequence[Sample]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._joules = joules
        self._meter = Meter(joules)

    def reads_power(self) -> bool:
        """Whether any device or the processor tells its power or energy."""
        told = [*self._joules(), *(sample.watts for sample in self._look())]
        return bool(processor_energy()) or any(value is not None for value in told)

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


def summary(samples: Sequence[Sample], devices: int = 1) -> dict[str, Any]:
    """Means of utilisation, power, temperature and clock of each device, averaged over all; the peak of memory.

    `gpu_held_back`: by reason the share of looks at a device whose clock it lowered; `gpu_power_capped`: of those at
    its power limit. samples: of look after look, each of all `devices`. A device that fell silent counts by what it
    told before.
    """
    facts: dict[str, Any] = {"gpu_samples": len(samples)} if samples else {}
    reasons = [sample.held_back for sample in samples if sample.held_back is not None]
    if reasons:
        shares = {bit: sum(bool(reason & bit) for reason in reasons) / len(reasons) for bit in (POWER_CAP, *HELD_BACK)}
        facts["gpu_power_capped"] = shares.pop(POWER_CAP)
        facts["gpu_held_back"] = {HELD_BACK[bit]: share for bit, share in shares.items() if share}
    for field in Sample._fields[:5]:
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
