"""Joules of the timed steps: counters of the devices (NVML) and of the processor (RAPL), read after steps."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

POWERCAP = Path("/sys/class/powercap")
MARK_S = 0.25  # the counters are read after a step, at most so often: NVML renews its own some ten times a second
LEAST_SHARE = 0.5  # of the timed steps that a figure must cover; a device may fall silent before the end
COUNTER, POWER, RAPL = "nvml_counter", "nvml_power", "rapl"


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
    start = marks[0]
    told = [mark for mark in marks[1:] if _whole(start, mark)]
    if not told:
        return {"energy_lacks": f"{_silent(start, marks)}; its joules are not known"} if watts else {}
    last = told[-1]
    if last.steps < LEAST_SHARE * marks[-1].steps:
        silent = f"{_silent(start, marks)} after {last.steps} of {marks[-1].steps} steps"
        return {"energy_lacks": f"{silent}; its joules are not known"}
    by_device = [_of_device(start, last, place, mean) for place, mean in enumerate(watts)]
    known = [value for value, _ in by_device if value is not None]
    if len(known) < len(watts):
        return {"energy_lacks": "a device tells neither its energy nor its power"}
    sources = [POWER if any(source == POWER for _, source in by_device) else COUNTER] if watts else []
    facts: dict[str, Any] = {"device_joules": known} if watts else {}
    if last.processor is not None:
        facts["processor_joules"] = last.processor
        sources.append(RAPL)
    if not sources:
        return {}
    joules = sum(known) + (last.processor or 0.0)
    share = {"energy_steps": last.steps, "energy_seconds": last.moment - start.moment}
    return facts | share | {"joules_per_step": joules / last.steps, "energy_source": "+".join(sources)}


def _whole(start: Mark, mark: Mark) -> bool:
    """Whether every device with a counter told it at this mark, and none had started again (a driver reloaded)."""
    pairs = zip(start.devices, mark.devices, strict=True)
    return mark.steps > 0 and all(first is None or (now is not None and now >= first) for first, now in pairs)


def _silent(start: Mark, marks: Sequence[Mark]) -> str:
    last = marks[-1].devices
    names = [str(place) for place, first in enumerate(start.devices) if first is not None and last[place] is None]
    return f"device {' and '.join(names)} fell silent" if names else "the energy counter of a device started again"


def _of_device(start: Mark, last: Mark, place: int, watts: float | None) -> tuple[float | None, str]:
    first, now = start.devices[place], last.devices[place]
    if first is not None and now is not None:
        return now - first, COUNTER
    return (None if watts is None else watts * (last.moment - start.moment)), POWER
