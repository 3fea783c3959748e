"""Waiting times of jobs for machines that several people share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sweetspot.bills.waiting_times import JobClass, utilization, wait_distribution
from sweetspot.declared_tables import columns_of
from sweetspot.mixes.search import Mix
from sweetspot.wording import listed

if TYPE_CHECKING:
    from sweetspot.decision.monthly_work import MonthlyWork  # which imports this module

QUEUE_COLUMNS = columns_of("queue")

# Cached for all workloads of a machine, because some queues are simulated.
waiting = lru_cache(maxsize=256)(wait_distribution)


@dataclass(frozen=True)
class ArrivalStream:
    """Jobs of one class that arrive at the machines of a mix.

    `row`: columns of the queue table that name the class; `per_month`: number of jobs; `hours`, `hours_cv`: mean hours
    of a job and their coefficient of variation; `servers`: jobs at once; `open_hours`: of a machine, per month.
    """

    row: Mapping[str, Any]
    per_month: float
    hours: float
    hours_cv: float
    servers: int
    open_hours: float

    @property
    def job_class(self) -> JobClass:
        """The stream as a class of the queue model: arrivals per hour, mean hours, variation, servers."""
        return JobClass(self.per_month / self.open_hours, self.hours, self.hours_cv, self.servers)


def queue_table(works: "Sequence[MonthlyWork]") -> pd.DataFrame:
    """Return the waits of each class of jobs for the machines of the best mix.

    Jobs of all classes arrive at random over the hours in which a machine works, and wait in one queue.

    Parameters
    ----------
    works
        Monthly workloads.

    Returns
    -------
    pandas.DataFrame
        QUEUE_COLUMNS. `utilisation`: share of the machines' time that all jobs take; `overloaded`: above 1, so
        that no wait exists; `wait_hours`: mean wait, `_p90`: not exceeded by nine in ten jobs; `hours_to_result` =
        hours + wait_hours.
    """
    return pd.DataFrame([row for work in works for row in _queue_rows(work)], columns=QUEUE_COLUMNS)


def _queue_rows(work: "MonthlyWork") -> Iterator[dict[str, Any]]:
    """Yield QUEUE_COLUMNS by name for each class of jobs: utilisation (share) and waits in hours in the best mix."""
    streams = pool(work, work.mixes[0])
    classes = tuple(stream.job_class for stream in streams)
    for stream in streams:
        wait = waiting(classes)
        yield {
            **stream.row,
            "per_month": stream.per_month,
            "utilisation": utilization(classes),
            "overloaded": wait.is_overloaded,
            "hours": stream.hours,
            "wait_hours": wait.mean,
            "wait_hours_p90": wait.quantile(0.9),
            "hours_to_result": wait.mean + stream.hours,
        }


def pool(work: "MonthlyWork", mix: Mix) -> list[ArrivalStream]:
    """Return a stream of jobs per class that runs on a mix's owned machines, which form one pool with one queue."""
    result = mix.at(work.central)
    kinds = [(kind, count) for kind, count in zip(work.central.held, mix.counts, strict=True) if count]
    devices = sum(count * kind.devices for kind, count in kinds)
    device_hours = sum(count * kind.devices * float(kind.hours_per_month.mean()) for kind, count in kinds)
    machines = listed([f"{count} × " * (count > 1) + work.title(kind.name) for kind, count in kinds])
    title = f"pool of {machines}" if sum(mix.counts) > 1 else machines
    streams = []
    for number, job_class in enumerate(work.classes):
        runs = [
            (float(row["hours"]), count * int(row["jobs_at_once"]), float(result.jobs(kind.name)[number].mean()))
            for kind, count in kinds
            if (row := work.source(kind.name).rows[number])
        ]
        hours, servers, jobs = np.array(runs).reshape(-1, 3).T
        if jobs.sum() > 0:
            row = {"option": f"{work.name}: {mix.key}", "title": title, "machines": machines}
            row |= {"model": job_class.job.model, "workload": job_class.workload}
            mean_hours, cv = float(jobs @ hours / jobs.sum()), job_class.job.hours_cv
            shared_hours = device_hours / devices
            streams.append(ArrivalStream(row, float(jobs.sum()), mean_hours, cv, int(servers.sum()), shared_hours))
    return streams
