"""What the devices did during the timed steps: samples twice a second, and energy counters read after steps.

The counters are those of the devices (NVML) and of the processor (RAPL).
"""

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from sweetspot.harness.run_memory import read_kernel_file

SAMPLE_INTERVAL_S = 0.5
COUNTER_INTERVAL_S = 0.25  # NVML renews its counters about ten times a second
# nvml.h, nvmlClocksEventReasons. A device at its power limit works normally; the others are heat or a fault.
POWER_CAP = 0x04
SLOWDOWNS = {0x08: "hardware", 0x20: "heat (software)", 0x40: "heat (hardware)", 0x80: "the power supply"}
POWERCAP_FOLDER = Path("/sys/class/powercap")
REQUIRED_SHARE = 0.5  # of the timed steps that an energy figure must cover


class EnergyCounter(NamedTuple):
    """The energy counter of a processor package (RAPL) and the value above which it starts again (0: unknown)."""

    energy_uj: int
    range_uj: int


def read_processor_counters(folder: Path = POWERCAP_FOLDER) -> dict[str, EnergyCounter]:
    """Read the energy counters of all processor packages; {} where they are not readable."""
    counters = {}
    for package in folder.glob("intel-rapl:*"):
        if package.name.count(":") > 1:  # a part of a package
            continue
        energy, range_uj = (read_kernel_file(package / name) for name in ("energy_uj", "max_energy_range_uj"))
        if not energy:  # since CVE-2020-8694 only root may read it
            return {}
        counters[package.name] = EnergyCounter(int(energy), int(range_uj or 0))
    return counters


def joules_between(
    before: Mapping[str, EnergyCounter],
    after: Mapping[str, EnergyCounter],
) -> float | None:
    """Return the joules that all packages spent between two readings; None where they are not known.

    A counter starts again above its range (262 kJ: 40 minutes at 100 W). One that fell did so once.
    """
    if not before or before.keys() != after.keys():
        return None
    spent_uj = [counter.energy_uj - before[name].energy_uj for name, counter in after.items()]
    ranges_uj = [counter.range_uj for counter in after.values()]
    spent_uj = [spent + (range_uj if spent < 0 else 0) for spent, range_uj in zip(spent_uj, ranges_uj, strict=True)]
    return None if min(spent_uj) < 0 else sum(spent_uj) / 1e6


class EnergyReading(NamedTuple):
    """The counters after so many timed steps; None for a device or processor that does not report."""

    steps: int
    moment_s: float
    device_joules: tuple[float | None, ...]
    processor_joules: float | None


class DeviceSample(NamedTuple):
    """One sample of one device; None for what it does not report."""

    utilisation: float | None  # share of the last interval in which a kernel ran, 0 to 1
    memory_peak_bytes: float | None
    watts: float | None
    celsius: float | None
    clock_mhz: float | None
    slowdown_bits: int | None = None  # NVML's reasons why the clock is low


class DeviceWatch(Protocol):
    """What reads the devices of a run (`cards.CardWatch`)."""

    def samples(self) -> Sequence[DeviceSample]:
        """Sample each device once."""

    def joules(self) -> Sequence[float | None]:
        """Return the joules of each device since any moment."""


class EnergyMeter:
    """Reads the counters when timed steps begin and after steps, so that joules and steps belong together."""

    def __init__(self, watch: DeviceWatch, clock: Callable[[], float] = time.monotonic) -> None:
        self._watch = watch
        self._clock = clock
        self._counters: dict[str, EnergyCounter] = {}
        self._steps = 0
        self.readings: list[EnergyReading] = []

    def start(self) -> None:
        """Read the counters before the first timed step."""
        self._counters = read_processor_counters()
        self._append(0.0 if self._counters else None)

    def add_steps(self, steps: int = 1, is_last: bool = False) -> None:
        """Count timed steps and read the counters, unless they were just read.

        Parameters
        ----------
        steps
            How many were made since the last call.
        is_last
            Whether they were the last, after which the counters are read in any case.
        """
        self._steps += steps
        if not self.readings:
            return
        last = self.readings[-1]
        if self._steps > last.steps and (is_last or self._clock() - last.moment_s >= COUNTER_INTERVAL_S):
            # Summed from reading to reading: a counter may start again more than once in a run.
            counters = read_processor_counters()
            spent, before = joules_between(self._counters, counters), last.processor_joules
            self._counters = counters
            self._append(None if spent is None or before is None else before + spent)

    def _append(self, processor_joules: float | None) -> None:
        device_joules = tuple(self._watch.joules())
        self.readings.append(EnergyReading(self._steps, self._clock(), device_joules, processor_joules))


def energy_facts(readings: Sequence[EnergyReading], watts: Sequence[float | None]) -> dict[str, Any]:
    """Compute the energy of a run.

    Parameters
    ----------
    readings
        From the first timed step on.
    watts
        Mean sampled power of each device, W; it stands in for a device without a counter.

    Returns
    -------
    dict
        `joules_per_step` of all devices and the processor, `energy_source` (`nvml_counter`, `nvml_power`, `rapl`, or
        two of them joined by `+`), `device_joules`, `processor_joules`, `energy_steps`, `energy_seconds`; or
        `energy_lacks` with the reason; {} without devices and counters. Devices are counted up to the last reading
        at which all of them reported, if that covers half of the timed steps.
    """
    if not readings or not readings[-1].steps:
        return {}
    counters = np.array([reading.device_joules for reading in readings], dtype=float)  # NaN: not reported
    has_counter = ~np.isnan(counters[0])
    spent = counters - counters[0]
    # A counter that fell started again: its driver was reloaded.
    last_index = np.flatnonzero((~has_counter | (spent >= 0)).all(axis=1))[-1]
    start = readings[0]
    last = readings[last_index]
    steps = readings[-1].steps
    if last.steps < REQUIRED_SHARE * steps:
        if not watts and not last.steps:
            return {}
        silent = " and ".join(map(str, np.flatnonzero(has_counter & np.isnan(counters[-1]))))
        reason = f"device {silent} fell silent" if silent else "the energy counter of a device started again"
        moment = f" after {last.steps} of {steps} steps" if last.steps else ""
        return {"energy_lacks": f"{reason}{moment}; its joules are not known"}

    seconds = last.moment_s - start.moment_s
    device_joules = np.where(has_counter, spent[last_index], np.array(watts, dtype=float) * seconds).tolist()
    if any(map(math.isnan, device_joules)):
        return {"energy_lacks": "a device tells neither its energy nor its power"}
    facts: dict[str, Any] = {}
    if device_joules:
        facts = {"device_joules": device_joules, "energy_source": "nvml_counter" if has_counter.all() else "nvml_power"}
    if last.processor_joules is not None:
        source = "+".join(filter(None, [facts.get("energy_source"), "rapl"]))
        facts |= {"processor_joules": last.processor_joules, "energy_source": source}
    if not facts:
        return {}
    joules = sum(device_joules, last.processor_joules or 0.0)
    return facts | {"energy_steps": last.steps, "energy_seconds": seconds, "joules_per_step": joules / last.steps}


class DeviceSampler:
    """Samples the devices twice a second in a thread, and reads the energy counters after steps."""

    def __init__(self, watch: DeviceWatch) -> None:
        self._watch = watch
        self._meter = EnergyMeter(watch)
        self.add_steps = self._meter.add_steps
        self._samples: list[Sequence[DeviceSample]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def reads_power(self) -> bool:
        """True if any device or the processor reports its power or energy."""
        values = [*self._watch.joules(), *(sample.watts for sample in self._watch.samples())]
        return bool(read_processor_counters()) or any(value is not None for value in values)

    def start(self) -> None:
        """Begin with the first timed step."""
        self._meter.start()
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(SAMPLE_INTERVAL_S):
            self._samples.append(self._watch.samples())

    def finish(self) -> dict[str, Any]:
        """Stop and return the facts of all samples and the energy; {} when called again."""
        if not self._thread.ident or self._stop.is_set():
            return {}
        self._meter.add_steps(0, is_last=True)
        self._stop.set()
        self._thread.join()
        samples = self._samples or [self._watch.samples()]  # a very short run has none
        silent = silent_devices(samples)
        watts: list[float | None] = []
        for index in range(len(self._meter.readings[0].device_joules)):
            device_watts = sample_facts([[sample[index]] for sample in samples]).get("gpu_watts")
            watts.append(None if index in silent else device_watts)
        facts = energy_facts(self._meter.readings, watts) | sample_facts(samples)
        return facts | ({"gpu_silent": silent} if silent else {})


def sample_facts(samples: Sequence[Sequence[DeviceSample]]) -> dict[str, Any]:
    """Average samples of all devices, taken at several times.

    Returns
    -------
    dict
        `gpu_utilisation`, `gpu_watts`, `gpu_celsius` and `gpu_clock_mhz`: means of each device, averaged over the
        devices; `gpu_memory_peak_bytes`; `gpu_held_back`: share of samples by reason of a lowered clock;
        `gpu_power_capped`: share at the power limit; `gpu_samples`.
    """
    if not any(samples):
        return {}
    # One array of moment x device for each field; NaN: not reported.
    fields = np.moveaxis(np.array(samples, dtype=float), 2, 0)
    by_name = dict(zip(DeviceSample._fields, fields, strict=True))
    facts: dict[str, Any] = {"gpu_samples": fields[0].size}
    reported = {name: values for name, values in by_name.items() if not np.isnan(values).all()}
    if (bits := reported.pop("slowdown_bits", None)) is not None:
        flags = bits[~np.isnan(bits)].astype(int)
        shares = {bit: float((flags & bit > 0).mean()) for bit in (POWER_CAP, *SLOWDOWNS)}
        facts["gpu_power_capped"] = shares.pop(POWER_CAP)
        facts["gpu_held_back"] = {SLOWDOWNS[bit]: share for bit, share in shares.items() if share}
    if (peaks := reported.pop("memory_peak_bytes", None)) is not None:
        facts["gpu_memory_peak_bytes"] = int(np.nanmax(peaks))
    for name, values in reported.items():
        of_device = values[:, ~np.isnan(values).all(axis=0)]
        facts[f"gpu_{name}"] = float(np.nanmean(of_device, axis=0).mean())
    return facts


def silent_devices(samples: Sequence[Sequence[DeviceSample]]) -> list[int]:
    """List the devices that reported something before, and nothing in the last sample."""
    if not any(samples):
        return []
    reports = ~np.isnan(np.array(samples, dtype=float)).all(axis=2)
    return np.flatnonzero(reports.any(axis=0) & ~reports[-1]).tolist()
