"""How much CPU time others took while a run was timed: other processes, and the host for other virtual machines.

The kernel's counters are read when timed steps begin and when they end. Nothing is corrected by them: a run that others
disturbed carries a warning with the share that they took.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psutil

from sweetspot.warnings import Warned

DISTURBED_SHARE = 0.05  # of the CPU time, from which a run is said to be disturbed
IDLE_SHARE = 0.20  # of the CPU time that was idle; above it others ran where this run left room
SHORTEST_S = 0.5  # the kernel counts in hundredths of a second
ROOT_VARIABLE = "SWEETSPOT_RUN_PROCESS"  # the supervisor's process: what came from it is part of the run


@dataclass(frozen=True)
class CpuSample:
    """CPU seconds so far, of the CPUs that a run may use."""

    moment: float
    stolen_s: float  # by the host, for other virtual machines
    busy_s: float  # with processes, this run's and others'
    idle_s: float
    run_s: float  # of this run's processes


SampleCpu = Callable[[], CpuSample | None]


def run_process() -> psutil.Process:
    """Return the supervisor's process, where this one came from it; else this process (started by hand, say)."""
    process = psutil.Process()
    supervisor = os.environ.get(ROOT_VARIABLE)
    ancestors = [parent for parent in process.parents() if str(parent.pid) == supervisor]
    return ancestors[0] if ancestors else process


def sample_cpu() -> CpuSample | None:
    """Read the counters; None where the kernel does not tell (no Linux, a sandbox)."""
    try:
        by_cpu = psutil.cpu_times(percpu=True)
        usable = [by_cpu[number] for number in os.sched_getaffinity(0) if number < len(by_cpu)]
        process = run_process()
        run_s = sum(_cpu_seconds(member) for member in (process, *process.children(recursive=True)))
    except (psutil.Error, OSError, NotImplementedError):
        return None
    if not usable or not hasattr(usable[0], "steal"):
        return None
    return CpuSample(
        moment=time.monotonic(),
        stolen_s=sum(times.steal for times in usable),
        busy_s=sum(times.user + times.nice + times.system for times in usable),
        idle_s=sum(times.idle + times.iowait for times in usable),
        run_s=run_s,
    )


def _cpu_seconds(process: psutil.Process) -> float:
    """CPU seconds of a process and of its children that have ended; 0 for one that has gone."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return times.user + times.system + times.children_user + times.children_system


def neighbour_share(before: CpuSample, after: CpuSample) -> float:
    """Return the share of the CPU time between two samples that others took from the run.

    Time that the host gave to other virtual machines always counts. That of other processes counts only where little
    was idle: else they ran where this run left room.
    """
    stolen_s = after.stolen_s - before.stolen_s
    busy_s = after.busy_s - before.busy_s
    idle_s = after.idle_s - before.idle_s
    total_s = stolen_s + busy_s + idle_s
    if total_s <= 0:
        return 0.0
    neighbour_s = max(0.0, busy_s - max(0.0, after.run_s - before.run_s))
    return (stolen_s + (neighbour_s if idle_s <= IDLE_SHARE * total_s else 0.0)) / total_s


class CpuWatch:
    """Compares the CPU time of a run's timed steps with that of everybody else."""

    def __init__(self, sample: SampleCpu = sample_cpu) -> None:
        self._sample = sample
        self._before: CpuSample | None = None

    def begin(self) -> None:
        """Timed steps begin."""
        self._before = self._sample()

    def facts(self) -> dict[str, Any]:
        """Return `others_cpu_share` of the time since `begin`; {} where it is not known or too short to tell."""
        after = self._sample() if self._before is not None else None
        if self._before is None or after is None or after.moment - self._before.moment < SHORTEST_S:
            return {}
        return {"others_cpu_share": neighbour_share(self._before, after)}


def disturbed_warning(facts: dict[str, Any]) -> Warned | None:
    """Return the warning `disturbed` of a run by its facts, or None."""
    share = facts.get("others_cpu_share", 0.0)
    if share < DISTURBED_SHARE:
        return None
    return Warned("disturbed", f"other processes or virtual machines took {share:.0%} of the CPU time of this run")
