"""Waiting times of jobs for machines that several people share."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd

from sweetspot.bills.waiting_times import JobClass, utilization, wait_distribution
from sweetspot.decision.monthly_work import MonthlyWork, WorkClass
from sweetspot.declared_tables import columns_of
from sweetspot.mixes.search import Mix
from sweetspot.wording import listed

QUEUE_COLUMNS = columns_of("queue")


class ArrivalStream(NamedTuple):
    """Jobs of one class that arrive at the machines of a mix, `per_month`, and their class of the queue model."""

    work_class: WorkClass
    per_month: float
    job_class: JobClass


def queue_table(works: Sequence[MonthlyWork]) -> pd.DataFrame:
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


def _queue_rows(work: MonthlyWork) -> Iterator[dict[str, Any]]:
    """Yield QUEUE_COLUMNS by name for each class of jobs: utilisation (share) and waits in hours in the best mix."""
    mix = work.mixes[0]
    streams = pool(work, mix)
    classes = tuple(stream.job_class for stream in streams)
    titles = [
        f"{count} × " * (count > 1) + work.title(kind.name)
        for kind, count in zip(mix.problem.held, mix.counts, strict=True)
        if count
    ]
    machines, wait = listed(titles), wait_distribution(classes)
    for work_class, per_month, job_class in streams:
        yield {
            "option": f"{work.name}: {mix.key}",
            "title": f"pool of {machines}" if sum(mix.counts) > 1 else machines,
            "machines": machines,
            "model": work_class.job.model,
            "workload": work_class.workload,
            "per_month": per_month,
            "utilisation": utilization(classes),
            "overloaded": wait.is_overloaded,
            "hours": job_class.mean_hours,
            "wait_hours": wait.mean,
            "wait_hours_p90": wait.quantile(0.9),
            "hours_to_result": wait.mean + job_class.mean_hours,
        }


def pool(work: MonthlyWork, mix: Mix) -> list[ArrivalStream]:
    """Return a stream of jobs per class that runs on a mix's owned machines, which form one pool with one queue."""
    result, streams = mix.at(work.central), []
    kinds = [(kind, count) for kind, count in zip(work.central.held, mix.counts, strict=True) if count]
    devices = sum(count * kind.devices for kind, count in kinds)
    device_hours = sum(count * kind.devices * float(kind.hours_per_month.mean()) for kind, count in kinds)
    for number, work_class in enumerate(work.classes):
        per_month, hours, servers = 0.0, 0.0, 0
        for kind, count in kinds:
            row = work.source_by_name[kind.name].rows[number]
            if row is not None:
                jobs = float(result.jobs(kind.name)[number].mean())
                per_month, hours = per_month + jobs, hours + jobs * float(row["hours"])
                servers += count * int(row["jobs_at_once"])
        if per_month > 0:
            arrivals, variation = per_month / (device_hours / devices), work_class.job.hours_cv
            job_class = JobClass(arrivals, hours / per_month, variation, servers)
            streams.append(ArrivalStream(work_class, per_month, job_class))
    return streams
