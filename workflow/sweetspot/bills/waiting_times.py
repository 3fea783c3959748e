"""Waiting time of jobs on shared machines (M/G/c queues).

Job classes with equal parallelism form an M/M/c queue (Erlang C), corrected by (1 + CV^2) / 2, which is exact
for one server (Allen, Probability, Statistics, and Queueing Theory, 1990, chapter 5). Classes with different
parallelism have no formula and are simulated: first in, first out, with the same random numbers at every rate, so
that more arrivals never shorten a wait.
"""

import heapq
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
SIMULATED_JOBS = 20_000
WARM_UP_JOBS = 2_000  # Dropped, because the first jobs find the machines empty.
SEED = 2018
FULL_UTILIZATION = 1.0 - 1e-9
# Wait distributions of a sampled utilization are computed at this many steps between idle and full.
UTILIZATION_STEPS = 20


@dataclass(frozen=True)
class JobClass:
    """Jobs that arrive at random (Poisson) and have the same distribution of run times (gamma)."""

    arrivals_per_hour: float
    mean_hours: float
    variation: float  # coefficient of variation of the run time
    servers: int  # how many jobs of this class the machines run at the same time

    @property
    def load(self) -> float:
        """Share of the machines' time that this class needs; above 1: more than there is."""
        return self.arrivals_per_hour * self.mean_hours / self.servers


@dataclass(frozen=True)
class WaitDistribution:
    """Wait of a job in hours: P(wait > t) = p_wait * exp(-t / mean_if_waiting), or the sorted waits of a simulation."""

    p_wait: float
    mean_if_waiting: float
    simulated: tuple[float, ...] = ()

    @property
    def is_overloaded(self) -> bool:
        """True if the queue grows without limit."""
        return math.isinf(self.mean_if_waiting)

    @property
    def mean(self) -> float:
        """Mean wait in hours; NaN if overloaded."""
        if self.simulated:
            return sum(self.simulated) / len(self.simulated)
        return math.nan if self.is_overloaded else self.p_wait * self.mean_if_waiting

    def quantile(self, probability: float) -> float:
        """Return the wait in hours that only 1 - `probability` (0 to 1) of the jobs exceed; NaN if overloaded."""
        if self.is_overloaded:
            return math.nan
        if self.simulated:
            return self.simulated[math.ceil(probability * len(self.simulated)) - 1]
        if self.p_wait <= 1 - probability:
            return 0.0
        return self.mean_if_waiting * math.log(self.p_wait / (1 - probability))

    def p_longer_than(self, hours: FloatArray) -> FloatArray:
        """Return the share of jobs that wait longer than each of `hours` (an array), as for deadlines; negative: 1."""
        if self.simulated:
            rank = np.searchsorted(self.simulated, hours, side="right")
            return np.asarray(1.0 - rank / len(self.simulated))
        tail = np.zeros_like(hours)
        if self.mean_if_waiting > 0:
            with np.errstate(invalid="ignore"):
                tail = np.exp(-np.maximum(hours, 0.0) / self.mean_if_waiting)
        return np.where(hours < 0, 1.0, self.p_wait * tail)


NO_WAIT = WaitDistribution(p_wait=0.0, mean_if_waiting=0.0)
OVERLOADED = WaitDistribution(p_wait=1.0, mean_if_waiting=math.inf)


def erlang_b(servers: int, offered_load: float) -> float:
    """Return the share of arrivals lost because all `servers` are busy (M/M/c/c queue), the step before `erlang_c`.
    B(0) = 1, B(c) = a B(c - 1) / (c + a B(c - 1)) with the offered load a in erlang (arrival rate x mean run time); no
    factorial overflows (Cooper, Introduction to Queueing Theory, 1981, section 3.2).
    """
    p_blocked = 1.0
    for count in range(1, servers + 1):
        p_blocked = offered_load * p_blocked / (count + offered_load * p_blocked)
    return p_blocked


def erlang_c(servers: int, offered_load: float) -> float:
    """Return the share of jobs that wait in an M/M/c queue; `offered_load`: arrival rate x mean run time (erlang)."""
    if offered_load >= servers:
        return 1.0
    p_blocked = erlang_b(servers, offered_load)
    return p_blocked / (1.0 - offered_load / servers * (1.0 - p_blocked))


def utilization(classes: Sequence[JobClass]) -> float:
    """Return the share of the machines' time that all classes need; above 1 if the machines are too few."""
    return sum(job.load for job in classes)


def wait_distribution(classes: Sequence[JobClass]) -> WaitDistribution:
    """Return how long jobs wait (hours) for machines that they share: by formula (M/G/c), else by simulation.
    OVERLOADED if the machines are too few. `classes`: rates of arrival, run times and jobs at once, per kind of job.
    """
    active = [job for job in classes if job.arrivals_per_hour > 0]
    busy_share = utilization(active)
    if not active:
        return NO_WAIT
    if busy_share >= FULL_UTILIZATION:
        return OVERLOADED
    if len({job.servers for job in active}) > 1:
        return _simulated_waits(active)

    rate = sum(job.arrivals_per_hour for job in active)
    servers = active[0].servers
    mean = sum(job.arrivals_per_hour * job.mean_hours for job in active) / rate
    second_moment = sum(job.arrivals_per_hour * job.mean_hours**2 * (1 + job.variation**2) for job in active) / rate
    correction = second_moment / mean**2 / 2  # (1 + CV^2) / 2 of the mixture
    return WaitDistribution(
        p_wait=erlang_c(servers, servers * busy_share),
        mean_if_waiting=mean / (servers * (1 - busy_share)) * correction,
    )


@dataclass(frozen=True)
class SampledWaits:
    """Waits of jobs in each sample and month of a simulated project."""

    mean_hours: float  # at central values; NaN if the machines are overloaded
    distributions: Sequence[WaitDistribution]  # one per utilization step
    step: npt.NDArray[np.int_]  # index into `distributions`, sample x month

    def share_in_time(self, spare_hours: FloatArray) -> FloatArray:
        """Return the share of jobs in time, sample x month: they wait at most `spare_hours` (one per sample)."""
        shares = np.stack([1.0 - waits.p_longer_than(spare_hours) for waits in self.distributions])
        return np.asarray(shares[self.step, np.arange(len(spare_hours))[:, None]])


NO_WAITS = SampledWaits(0.0, [NO_WAIT], np.zeros((1, 1), int))


def sample_waits(classes: Sequence[JobClass], utilizations: FloatArray) -> SampledWaits:
    """Return waits of jobs in the mix of `classes` if their number is uncertain: machines busy to `utilizations`
    (sample x month, 0 to 1) instead of as planned. A formula or a simulation per step of 1/20.
    """
    rounded = np.rint(utilizations * UTILIZATION_STEPS)
    levels, step = np.unique(rounded, return_inverse=True)
    busy_share = utilization(classes) or math.inf
    distributions = [
        wait_distribution(_scaled(classes, float(level) / busy_share)) if level < 1 else OVERLOADED
        for level in levels / UTILIZATION_STEPS
    ]
    mean = wait_distribution(classes).mean
    return SampledWaits(mean, distributions, step.reshape(utilizations.shape))


def _scaled(classes: Sequence[JobClass], factor: float) -> list[JobClass]:
    """Return the classes with `factor` times the arrivals per hour."""
    return [replace(job, arrivals_per_hour=job.arrivals_per_hour * factor) for job in classes]


def _simulated_waits(classes: Sequence[JobClass]) -> WaitDistribution:
    """Return the wait of jobs that take different numbers of devices, for which no formula exists, by simulation, in
    hours. OVERLOADED if more jobs arrive than the machines can do.
    """
    rate = sum(job.arrivals_per_hour for job in classes)
    # The mix does not depend on the rate, so that the random jobs of one mix are cached.
    mix = tuple(replace(job, arrivals_per_hour=round(job.arrivals_per_hour / rate, 9)) for job in classes)
    if max_throughput(mix) <= rate:
        return OVERLOADED
    waits = tuple(sorted(simulate_waits(mix, rate)))
    p_wait = sum(wait > 0 for wait in waits) / len(waits)
    return WaitDistribution(p_wait, mean_if_waiting=math.nan, simulated=waits)


def simulate_waits(mix: tuple[JobClass, ...], rate: float, jobs: int = SIMULATED_JOBS) -> list[float]:
    """Return simulated waits in hours of jobs first in, first out, in order of arrival, where no formula holds.

    Parameters
    ----------
    mix, rate, jobs
        Classes with shares of all arrivals as `arrivals_per_hour`; arrivals of all classes per hour; number of jobs, of
        which the first `WARM_UP_JOBS` (at most half) are left out.
    """
    devices, unit_arrivals, hours, devices_needed = _random_jobs(mix, jobs)
    arrivals = [arrival / rate for arrival in unit_arrivals]
    starts = start_times(devices, arrivals, hours, devices_needed)
    waits = [start - arrival for start, arrival in zip(starts, arrivals, strict=True)]
    return waits[min(WARM_UP_JOBS, jobs // 2) :]


@lru_cache(maxsize=64)
def max_throughput(mix: tuple[JobClass, ...], jobs: int = SIMULATED_JOBS) -> float:
    """Return the jobs per hour of this mix that busy machines finish: the arrival rate beyond which waits only grow."""
    devices, _, hours, devices_needed = _random_jobs(mix, jobs)
    starts = start_times(devices, [0.0] * jobs, hours, devices_needed)
    return jobs / max(start + duration for start, duration in zip(starts, hours, strict=True))


@lru_cache(maxsize=64)
def _random_jobs(mix: tuple[JobClass, ...], jobs: int) -> tuple[int, list[float], list[float], list[int]]:
    """Return (devices, arrivals, run times in hours, devices needed), lists by job, of random jobs to simulate a queue.
    `mix`: classes, whose `arrivals_per_hour` are weights; `jobs`: their number; they arrive at 1 job/hour.
    """
    devices = math.lcm(*(job.servers for job in mix))
    generator = random.Random(SEED)
    classes = generator.choices(mix, [job.arrivals_per_hour for job in mix], k=jobs)
    gaps, hours = [], []
    for job in classes:
        gaps.append(generator.expovariate(1.0))
        shape = job.variation**-2 if job.variation > 0 else math.inf
        hours.append(job.mean_hours if shape == math.inf else generator.gammavariate(shape, job.mean_hours / shape))
    return devices, list(accumulate(gaps)), hours, [devices // job.servers for job in classes]


def start_times(
    devices: int, arrivals: Sequence[float], hours: Sequence[float], devices_needed: Sequence[int]
) -> list[float]:
    """Return the hour at which each job starts on shared `devices` devices, in order, to simulate waits.

    Parameters
    ----------
    devices, arrivals, hours, devices_needed
        Number of devices; arrival and run time in hours, and devices of each job; no job overtakes an earlier one.
    """
    free = devices
    running: list[tuple[float, int]] = []  # heap of (end, devices)
    starts: list[float] = []
    for arrival, duration, needed in zip(arrivals, hours, devices_needed, strict=True):
        start = max(arrival, starts[-1] if starts else 0.0)
        while running and (running[0][0] <= start or free < needed):
            end, released = heapq.heappop(running)
            start = max(start, end)
            free += released
        free -= needed
        starts.append(start)
        heapq.heappush(running, (start + duration, needed))
    return starts
