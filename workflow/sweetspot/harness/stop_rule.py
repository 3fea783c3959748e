"""When a run ends: the protocol's stop rule on its timed steps; and how much CPU time others took meanwhile. Others
are other processes, and the host for other virtual machines. Nothing is corrected by it: a run that others disturbed
carries a warning with the share that they took.
"""

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import psutil

from sweetspot.harness.request import Request
from sweetspot.harness.step_times import Interval, may_stop

CHECKS_PER_RUN = 200  # of many steps not every one is followed by a look at all of them
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
    """Return the kernel's counters of CPU seconds now (stolen, busy, idle, this run's); two samples tell how much
    other processes disturbed the run. None where they cannot be read.
    """
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
    """Return the CPU seconds of a process of the run and of its ended children; 0 for a process that is gone."""
    try:
        return sum(process.cpu_times()[:4])  # user, system, and both of the children
    except psutil.Error:
        return 0.0


def neighbour_share(before: CpuSample | None, after: CpuSample | None) -> float | None:
    """Return the share (0 to 1) of the CPU time between two samples that others took from the run, to warn of a
    disturbed measurement. Time that the host gave to other virtual machines always counts. That of other processes
    counts only where little was idle: else they ran where this run left room. None: unknown.
    """
    if before is None or after is None or after.moment_s - before.moment_s < MIN_DURATION_S:
        return None
    _, stolen_s, busy_s, idle_s, run_s = (end - start for start, end in zip(before, after, strict=True))
    total_s = stolen_s + busy_s + idle_s
    neighbour_s = max(0.0, busy_s - max(0.0, run_s)) if idle_s <= IDLE_SHARE * total_s else 0.0
    return (stolen_s + neighbour_s) / total_s if total_s > 0 else 0.0


class MeasuredSteps:
    """Collects the steps of a run, reports each to the supervisor, and says when the run may end. The first
    `warmup_steps` intervals are reported but not timed. `tell` sends keywords to the supervisor.
    """

    def __init__(self, request: Request, tell: Callable[..., None]) -> None:
        self._request = request
        self._tell = tell
        self._cpu_before: CpuSample | None = None
        self._began = 0.0
        self._passed_s = 0.0
        self.warmup = 0
        self.timed: list[Interval] = []

    @property
    def warming_up(self) -> bool:
        """True while the next interval belongs to the warm-up, which is not timed."""
        return self.warmup < self._request.warmup_steps

    def add(self, interval: Interval, loss: float | None, now: float) -> None:
        """Add an interval (steps timed together) to the run, as warm-up or as timed, and report it to the supervisor.

        Parameters
        ----------
        interval, loss, now
            Mean seconds of a step and number of steps; the loss after them (None: not known); when the interval ended,
            s (limits of time count by this clock, not by seconds that a script reports).
        """
        is_timed = not self.warming_up
        if is_timed:
            self.timed.append(interval)
            self._passed_s = now - self._began
        else:
            self.warmup += 1
            self._began = now
            if not self.warming_up:
                self._cpu_before = sample_cpu()
        self._tell(seconds=interval.seconds, timed=is_timed, loss=loss, steps=interval.steps)

    def enough(self) -> bool:
        """Return True if the run may end by its protocol; from 400 intervals on, only some calls examine them."""
        count = len(self.timed)
        is_due = count % max(1, count // CHECKS_PER_RUN) == 0
        return is_due and may_stop(self.timed, self._request, self._passed_s)

    def facts(self) -> dict[str, Any]:
        """Return `timed_seconds`, and `others_cpu_share` (0 to 1, taken by other processes) where known."""
        share = neighbour_share(self._cpu_before, sample_cpu())
        facts = {"timed_seconds": self._passed_s}
        return facts if share is None else facts | {"others_cpu_share": share}
