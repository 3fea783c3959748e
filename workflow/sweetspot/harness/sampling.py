"""What the devices did while they trained: sampled beside the run, averaged over all devices and samples.

Joules of the timed steps are those of counters of the devices (NVML) and of the processor (RAPL), read after steps.
"""

import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sweetspot.harness.run_memory import text_of

INTERVAL_S = 0.5
# nvml.h, nvmlClocksEventReasons: by heat or a fault; that a device keeps to its power limit is its normal work.
HELD_BACK = {0x08: "hardware", 0x20: "heat (software)", 0x40: "heat (hardware)", 0x80: "the power supply"}
POWER_CAP = 0x04
POWERCAP = Path("/sys/class/powercap")
MARK_S = 0.25  # the counters are read after a step, at most so often: NVML renews its own some ten times a second
LEAST_SHARE = 0.5  # of the timed steps that a figure must cover; a device may fall silent before the end


class Counter(NamedTuple):
    """An energy counter of a processor package (RAPL), microjoules: its value, and its highest (0: unknown)."""

    energy_uj: int
    range_uj: int


def processor_energy(folder: Path = POWERCAP) -> dict[str, Counter]:
    """The energy counters of all processor packages; none where the machine does not tell."""
    files = ("energy_uj", "max_energy_range_uj")
    packages = [path for path in folder.glob("intel-rapl:*") if path.name.count(":") == 1]
    told = {path.name: [text_of(path / file) for file in files] for path in packages}
    if not all(energy for energy, _ in told.values()):  # readable by root only since CVE-2020-8694
        return {}
    return {name: Counter(int(energy), int(most or 0)) for name, (energy, most) in told.items()}


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


class Mark(NamedTuple):
    """What the counters said after so many timed steps: J of each device (None: silent), J of the processor so far."""

    steps: int
    moment: float
    devices: tuple[float | None, ...]
    processor: float | None


class Meter:
    """Reads energy counters when timed steps begin and after steps, so that joules and steps belong together.

    devices: tells J of each device since any moment, None for one that has no counter or does not answer.
    """

    def __init__(
        self, devices: Callable[[], Sequence[float | None]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._devices, self._clock = devices, clock
        self.marks: list[Mark] = []
        self._packages: dict[str, Counter] = {}
        self.steps = 0

    def start(self) -> None:
        """Timed steps begin."""
        self._packages = processor_energy()
        self.marks = [Mark(0, self._clock(), tuple(self._devices()), 0.0 if self._packages else None)]

    def stepped(self, steps: int = 1) -> None:
        """So many more timed steps are done; the counters are read unless they just were."""
        self.steps += steps
        if self.marks and self._clock() - self.marks[-1].moment >= MARK_S:
            self._mark()

    def finish(self) -> None:
        """The last timed step has been: read once more, if something came since."""
        if self.marks and self.marks[-1].steps < self.steps:
            self._mark()

    def _mark(self) -> None:
        packages = processor_energy()  # summed from mark to mark: a counter may start again more than once in a run
        spent, before = joules_between(self._packages, packages), self.marks[-1].processor
        self._packages = packages
        total = None if spent is None or before is None else before + spent
        self.marks.append(Mark(self.steps, self._clock(), tuple(self._devices()), total))


def energy_facts(marks: Sequence[Mark], watts: Sequence[float | None]) -> dict[str, Any]:
    """Facts of a run from its marks and the mean sampled W of each device (None: none; []: no devices).

    `joules_per_step`: all devices and, where RAPL is readable, the processor. `energy_source`: `nvml_counter`,
    `nvml_power` (sampled W x seconds, where a device has no counter), `rapl`, or two joined by `+`. Without a figure,
    `energy_lacks` says why, where there is a device. A device is counted up to the last mark at which all that have
    counters told; it must lie behind half of the timed steps.
    """
    if not marks or not marks[-1].steps:
        return {}
    start, end = marks[0], marks[-1]
    last = next((mark for mark in reversed(marks[1:]) if _whole(start, mark)), None)
    if last is None or last.steps < LEAST_SHARE * end.steps:
        pairs = enumerate(zip(start.devices, end.devices, strict=True))
        silent = " and ".join(str(place) for place, (first, now) in pairs if first is not None and now is None)
        why = f"device {silent} fell silent" if silent else "the energy counter of a device started again"
        when = f" after {last.steps} of {end.steps} steps" if last else ""
        return {"energy_lacks": f"{why}{when}; its joules are not known"} if watts or last else {}
    passed = last.moment - start.moment
    sampled = [None if mean is None else mean * passed for mean in watts]
    by_device = [
        power if first is None or now is None else now - first
        for first, now, power in zip(start.devices, last.devices, sampled, strict=True)
    ]
    known = [value for value in by_device if value is not None]
    if len(known) < len(watts):
        return {"energy_lacks": "a device tells neither its energy nor its power"}
    sources = ["nvml_power" if None in start.devices else "nvml_counter"] if watts else []
    facts: dict[str, Any] = {"device_joules": known} if watts else {}
    if last.processor is not None:
        facts["processor_joules"] = last.processor
        sources.append("rapl")
    if not sources:
        return {}
    joules = sum(known) + (last.processor or 0.0)
    share = {"energy_steps": last.steps, "energy_seconds": passed}
    return facts | share | {"joules_per_step": joules / last.steps, "energy_source": "+".join(sources)}


def _whole(start: Mark, mark: Mark) -> bool:
    """Whether every device with a counter told it at this mark, and none had started again (a driver reloaded)."""
    pairs = zip(start.devices, mark.devices, strict=True)
    return mark.steps > 0 and all(first is None or (now is not None and now >= first) for first, now in pairs)


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
