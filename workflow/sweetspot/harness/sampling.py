"""What the devices did during the timed steps: samples twice a second, and energy counters read after steps.

The counters are those of the devices (NVML) and of the processor (RAPL).
"""

import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

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
        energy = read_kernel_file(package / "energy_uj")
        if not energy:  # since CVE-2020-8694 only root may read it
            return {}
        range_uj = int(read_kernel_file(package / "max_energy_range_uj") or 0)
        counters[package.name] = EnergyCounter(int(energy), range_uj)
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
    total_uj = 0
    for name, counter in after.items():
        difference = counter.energy_uj - before[name].energy_uj
        if difference < 0:
            if not counter.range_uj:
                return None
            difference += counter.range_uj
        total_uj += difference
    return total_uj / 1e6


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

    def add_steps(self, steps: int = 1) -> None:
        """Count timed steps; read the counters unless they were just read."""
        self._steps += steps
        if self.readings and self._clock() - self.readings[-1].moment_s >= COUNTER_INTERVAL_S:
            self._read()

    def finish(self) -> None:
        """Read the counters after the last timed step."""
        if self.readings and self.readings[-1].steps < self._steps:
            self._read()

    def _read(self) -> None:
        # Summed from reading to reading: a counter may start again more than once in a run.
        counters = read_processor_counters()
        spent = joules_between(self._counters, counters)
        before = self.readings[-1].processor_joules
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
    start, end = readings[0], readings[-1]
    complete = [reading for reading in readings[1:] if _is_complete(start, reading)]
    last = complete[-1] if complete else None
    if last is None or last.steps < REQUIRED_SHARE * end.steps:
        pairs = enumerate(zip(start.device_joules, end.device_joules, strict=True))
        silent = " and ".join(str(index) for index, (first, now) in pairs if first is not None and now is None)
        reason = f"device {silent} fell silent" if silent else "the energy counter of a device started again"
        moment = f" after {last.steps} of {end.steps} steps" if last else ""
        return {"energy_lacks": f"{reason}{moment}; its joules are not known"} if watts or last else {}
    seconds = last.moment_s - start.moment_s
    device_joules: list[float] = []
    for first, now, mean_watts in zip(start.device_joules, last.device_joules, watts, strict=True):
        if first is not None and now is not None:
            device_joules.append(now - first)
        elif mean_watts is not None:
            device_joules.append(mean_watts * seconds)
        else:
            return {"energy_lacks": "a device tells neither its energy nor its power"}
    facts: dict[str, Any] = {}
    sources = []
    if watts:
        facts["device_joules"] = device_joules
        sources.append("nvml_power" if None in start.device_joules else "nvml_counter")
    if last.processor_joules is not None:
        facts["processor_joules"] = last.processor_joules
        sources.append("rapl")
    if not sources:
        return {}
    joules = sum(device_joules) + (last.processor_joules or 0.0)
    return facts | {
        "energy_steps": last.steps,
        "energy_seconds": seconds,
        "joules_per_step": joules / last.steps,
        "energy_source": "+".join(sources),
    }


def _is_complete(start: EnergyReading, reading: EnergyReading) -> bool:
    """True if every device with a counter reported it and none started again (a driver was reloaded)."""
    pairs = zip(start.device_joules, reading.device_joules, strict=True)
    return reading.steps > 0 and all(first is None or (now is not None and now >= first) for first, now in pairs)


class DeviceSampler:
    """Samples the devices twice a second in a thread, and reads the energy counters after steps."""

    def __init__(self, watch: DeviceWatch) -> None:
        self._watch = watch
        self._meter = EnergyMeter(watch)
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

    def add_steps(self, steps: int) -> None:
        """Count timed steps."""
        self._meter.add_steps(steps)

    def _run(self) -> None:
        while not self._stop.wait(SAMPLE_INTERVAL_S):
            self._samples.append(self._watch.samples())

    def finish(self) -> dict[str, Any]:
        """Stop and return the facts of all samples and the energy; {} when called again."""
        if not self._thread.ident or self._stop.is_set():
            return {}
        self._meter.finish()
        self._stop.set()
        self._thread.join()
        if not self._samples and (samples := self._watch.samples()):  # a very short run
            self._samples.append(samples)
        silent = silent_devices(self._samples)
        watts = []
        for index in range(len(self._meter.readings[0].device_joules)):
            mean_watts = _mean([samples[index].watts for samples in self._samples])
            watts.append(None if index in silent else mean_watts)
        facts = energy_facts(self._meter.readings, watts) | sample_facts(self._samples)
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
    devices = [*zip(*samples, strict=True)]
    flat = [sample for device in devices for sample in device]
    facts: dict[str, Any] = {"gpu_samples": len(flat)} if flat else {}
    bits = [sample.slowdown_bits for sample in flat if sample.slowdown_bits is not None]
    if bits:
        shares = {bit: sum(bool(value & bit) for value in bits) / len(bits) for bit in (POWER_CAP, *SLOWDOWNS)}
        facts["gpu_power_capped"] = shares.pop(POWER_CAP)
        facts["gpu_held_back"] = {SLOWDOWNS[bit]: share for bit, share in shares.items() if share}
    peaks = [sample.memory_peak_bytes for sample in flat if sample.memory_peak_bytes is not None]
    if peaks:
        facts["gpu_memory_peak_bytes"] = max(peaks)
    for field in ("utilisation", "watts", "celsius", "clock_mhz"):
        mean = _mean([_mean([getattr(sample, field) for sample in device]) for device in devices])
        if mean is not None:
            facts[f"gpu_{field}"] = mean
    return facts


def silent_devices(samples: Sequence[Sequence[DeviceSample]]) -> list[int]:
    """List the devices that reported something before, and nothing in the last sample."""
    silent = []
    for index, device in enumerate(zip(*samples, strict=True)):
        reports = [any(value is not None for value in sample) for sample in device]
        if any(reports) and not reports[-1]:
            silent.append(index)
    return silent


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return statistics.fmean(numbers) if numbers else None
