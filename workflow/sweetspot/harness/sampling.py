"""What devices (NVML) and processor (RAPL) did during the timed steps: samples twice a second, and energy counters."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sweetspot.harness.devices import CardWatch, DeviceSample

SAMPLE_INTERVAL_S = 0.5
COUNTER_INTERVAL_S = 0.25  # NVML renews its counters about ten times a second
# nvml.h, nvmlClocksEventReasons. A device at its power limit works normally; the others are heat or a fault.
POWER_CAP = 0x04
SLOWDOWNS = {0x08: "hardware", 0x20: "heat (software)", 0x40: "heat (hardware)", 0x80: "the power supply"}
POWERCAP_FOLDER = Path("/sys/class/powercap")
REQUIRED_SHARE = 0.5  # of the timed steps that an energy figure must cover
WATTS, MEMORY, SLOWDOWN = map(DeviceSample._fields.index, ("watts", "memory_bytes", "slowdown_bits"))
AVERAGED = DeviceSample._fields[:MEMORY]


def read_processor_counters(folder: Path = POWERCAP_FOLDER) -> np.ndarray:
    """Read how much energy the processor has used: an array, processor package x (energy counter, range of the
    counter), in microjoules. It is empty where there is none or only root may read it, as since CVE-2020-8694. A
    counter starts again above its range (262 kJ: 40 minutes at 100 W).
    """
    names = ("energy_uj", "max_energy_range_uj")
    try:
        packages = [[int((package / name).read_text()) for name in names] for package in folder.glob("intel-rapl:?")]
    except OSError:
        packages = []
    return np.array(packages, dtype=float).reshape(-1, 2)


class EnergyReading(NamedTuple):
    """Joules spent until a moment by each device (NaN if not reported) and the processor, after so many steps."""

    steps: int
    moment_s: float
    device_joules: np.ndarray
    processor_joules: float


class DeviceSampler:
    """Samples devices twice a second in a thread, and reads energy counters before the first timed step and after
    steps, to tell the energy per step of a run. `clock` gives seconds.
    """

    def __init__(self, watch: CardWatch, clock: Callable[[], float] = time.monotonic) -> None:
        self._watch = watch
        self._clock = clock
        self._counters = read_processor_counters()
        self._processor_joules = 0.0
        self._steps = 0
        self._samples: list[Sequence[DeviceSample]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def reads_power(self) -> bool:
        """Return True if any device or the processor reports its power or energy."""
        values = [value for sample in self._watch.samples() for value in (sample.watts, sample.joules)]
        return bool(len(self._counters)) or any(value is not None for value in values)

    def start(self) -> None:
        """Take the first energy reading and start the sampling thread; called when the first timed step begins."""
        self._first = self._last = self._read()
        self._thread.start()

    def add_steps(self, steps: int) -> None:
        """Count timed steps, and read the energy counters if the last reading is over 0.25 s old, so that energy and
        steps cover the same time. A reading is discarded if a device is silent or its counter started again.
        """
        self._steps += steps
        if self._thread.ident and self._clock() - self._last.moment_s >= COUNTER_INTERVAL_S:
            reading = self._read()
            spent = reading.device_joules - self._first.device_joules
            if (np.isnan(self._first.device_joules) | (spent >= 0)).all():
                self._last = reading

    def _read(self) -> EnergyReading:
        """Read the energy counters: joules of each device and the processor until now, and the timed steps so far."""
        counters = read_processor_counters()
        if len(counters) == len(self._counters):
            # Summed from reading to reading, since a counter may start again more than once in a run.
            spent_uj = (counters[:, 0] - self._counters[:, 0]) % counters[:, 1]
            self._processor_joules += spent_uj.sum() / 1e6
        else:
            self._processor_joules = np.nan
        self._counters = counters
        device_joules = np.array([sample.joules for sample in self._watch.samples()], dtype=float)
        return EnergyReading(self._steps, self._clock(), device_joules, self._processor_joules)

    def _run(self) -> None:
        """Sample all devices twice a second until `finish` stops this thread."""
        while not self._stop.wait(SAMPLE_INTERVAL_S):
            self._samples.append(self._watch.samples())

    def finish(self) -> dict[str, Any]:
        """Stop sampling; return facts for the run file: means of samples, energy (J); {} if called again."""
        if not self._thread.ident or self._stop.is_set():
            return {}
        self._stop.set()
        self._thread.join()
        samples = self._samples or [self._watch.samples()]  # a very short run has none
        return sample_facts(samples) | self._energy_facts(samples)

    def _energy_facts(self, samples: Sequence[Sequence[DeviceSample]]) -> dict[str, Any]:
        """Return the energy of the timed steps by name, for the run file, from counters and samples (moment x device);
        {} if it covers under half of the steps. `joules_per_step` (all devices + processor), `device_joules` (of
        each), `energy_steps`, `energy_seconds`, `energy_source`: `nvml_counter`, `nvml_power` (mean power x time where
        a device has no counter), `rapl`, or two of them joined by `+`.
        """
        first, last = self._first, self._last
        if not last.steps or last.steps < REQUIRED_SHARE * self._steps:
            return {}
        seconds = last.moment_s - first.moment_s
        device_joules = last.device_joules - first.device_joules
        sources = []
        if device_joules.size:
            lacks_counter = np.isnan(device_joules)
            mean_watts = np.ma.masked_invalid(np.array(samples, dtype=float)[..., WATTS]).mean(axis=0)
            device_joules[lacks_counter] = (mean_watts * seconds).filled(np.nan)[lacks_counter]
            sources.append("nvml_power" if lacks_counter.any() else "nvml_counter")
        if len(self._counters):
            sources.append("rapl")
        joules = device_joules.sum() + last.processor_joules - first.processor_joules
        if not sources or np.isnan(joules):
            return {}
        return {
            "joules_per_step": float(joules / last.steps),
            "device_joules": device_joules.tolist(),
            "energy_source": "+".join(sources),
            "energy_steps": last.steps,
            "energy_seconds": seconds,
        }


def sample_facts(samples: Sequence[Sequence[DeviceSample]]) -> dict[str, Any]:
    """Return how the GPUs did during a run, averages of samples (moment x device) as facts by name for the run file;
    {} without samples. `gpu_utilisation`, `gpu_watts`, `gpu_celsius` and `gpu_clock_mhz`: means of each device,
    averaged over the devices; `gpu_memory_peak_bytes`; `gpu_held_back`: share of samples by reason of a lowered clock;
    `gpu_power_capped`: share at the power limit; `gpu_silent`: the devices that report nothing in the last sample, and
    did before. What no device reports is left out.
    """
    if not any(samples):
        return {}
    values = np.ma.masked_invalid(np.array(samples, dtype=float))  # moment x device x field
    means = values.mean(axis=0).mean(axis=0)
    facts: dict[str, Any] = {
        f"gpu_{name}": float(means[index]) for index, name in enumerate(AVERAGED) if means[index] is not np.ma.masked
    }
    if (memory := values[..., MEMORY].compressed()).size:
        facts["gpu_memory_peak_bytes"] = int(memory.max())
    if (bits := values[..., SLOWDOWN].compressed().astype(int)).size:
        facts["gpu_power_capped"] = float((bits & POWER_CAP > 0).mean())
        shares = {reason: float((bits & bit > 0).mean()) for bit, reason in SLOWDOWNS.items()}
        facts["gpu_held_back"] = {reason: share for reason, share in shares.items() if share}
    reports = values.count(axis=2) > 0
    if silent := np.flatnonzero(reports.any(axis=0) & ~reports[-1]).tolist():
        facts["gpu_silent"] = silent
    return facts
