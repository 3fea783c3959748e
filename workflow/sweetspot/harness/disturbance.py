"""How much CPU time others took while a run was timed: other processes, and the host for other virtual machines.

Nothing is corrected by it: a run that others disturbed carries a warning with the share that they took.
"""

import os
import time
from typing import NamedTuple

import psutil

IDLE_SHARE = 0.20  # of the CPU time that was idle; above it others ran where this run left room
MIN_DURATION_S = 0.5  # the kernel counts in hundredths of a second
ROOT_VARIABLE = "SWEETSPOT_RUN_PROCESS"  # the supervisor's process: what came from it is part of the run


class CpuSample(NamedTuple):
    """Counters of CPU seconds at one moment, summed over the CPUs that a run may use."""

    moment_s: float
    stolen_s: float  # by the host, for other virtual machines
    busy_s: float  # with processes, this run's and others'
    idle_s: float
    run_s: float  # of this run's processes


def sample_cpu() -> CpuSample | None:
    """Return the kernel's CPU counters now; None where they cannot be read (no Linux, a sandbox)."""
    try:
        by_cpu = psutil.cpu_times(percpu=True)
        usable = [by_cpu[number] for number in os.sched_getaffinity(0)]
        run = psutil.Process(int(os.environ.get(ROOT_VARIABLE, os.getpid())))
        return CpuSample(
            moment_s=time.monotonic(),
            stolen_s=sum(times.steal for times in usable),
            busy_s=sum(times.user + times.nice + times.system for times in usable),
            idle_s=sum(times.idle + times.iowait for times in usable),
            run_s=sum(_cpu_seconds(process) for process in (run, *run.children(recursive=True))),
        )
    except (psutil.Error, OSError, LookupError, AttributeError):
        return None


def _cpu_seconds(process: psutil.Process) -> float:
    """Return the CPU seconds of a process and of its ended children; 0 for a process that is gone."""
    try:
        return sum(process.cpu_times()[:4])  # user, system, and both of the children
    except psutil.Error:
        return 0.0


def neighbour_share(before: CpuSample | None, after: CpuSample | None) -> float | None:
    """Return the share (0 to 1) of the CPU time between two samples that others took from the run.

    Time that the host gave to other virtual machines always counts. That of other processes counts only where little
    was idle: else they ran where this run left room. None where a sample is None, or for less than half a second.
    """
    if before is None or after is None or after.moment_s - before.moment_s < MIN_DURATION_S:
        return None
    _, stolen_s, busy_s, idle_s, run_s = (end - start for start, end in zip(before, after, strict=True))
    total_s = stolen_s + busy_s + idle_s
    neighbour_s = max(0.0, busy_s - max(0.0, run_s)) if idle_s <= IDLE_SHARE * total_s else 0.0
    return (stolen_s + neighbour_s) / total_s if total_s > 0 else 0.0
