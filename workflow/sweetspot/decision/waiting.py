"""What jobs wait for machines that several people share, and when a rented machine is faster."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.bills.waiting_times import JobClass, largest_growth, utilization, wait_distribution
from sweetspot.mixes.search import BOUGHT, Mix
from sweetspot.wording import listed

if TYPE_CHECKING:
    from sweetspot.decision.monthly_work import MonthlyWork  # which imports this module

OPTION_COLUMNS = ("option", "title", "model", "workload", "is_reference")
QUEUE_COLUMNS = (
    *OPTION_COLUMNS, "held", "jobs_at_once", "per_month", "people", "utilisation", "overloaded", "hours", "wait_hours",
    "wait_hours_p90", "hours_to_result", "rival", "rival_title", "rival_hours", "slower_from_per_month",
    "slower_from_people", "machines",
)  # fmt: skip
ROUNDING = 1e-6  # Of people: a whole number of them is not the next one.

# Cached for all workloads of a machine, because some queues are simulated.
waiting = lru_cache(maxsize=256)(wait_distribution)


@dataclass(frozen=True)
class ArrivalStream:
    """Jobs of one workload that come to one option.

    `row`: that of the options; `people` who share the work (None: unknown); `per_month` jobs of so many `hours` with
    their coefficient of variation; `servers`: such jobs that are worked on at once; `open_hours` per month of the
    machines for which jobs wait, infinite where machines are rented as they are needed.
    """

    row: Mapping[str, Any]
    people: int | None
    per_month: float
    hours: float
    hours_cv: float
    servers: int
    open_hours: float = math.inf

    @property
    def has_queue(self) -> bool:
        """Whether there are so many machines and no more."""
        return self.open_hours < math.inf

    @property
    def job_class(self) -> JobClass:
        """The arrivals."""
        return JobClass(self.per_month / self.open_hours, self.hours, self.hours_cv, self.servers)


# Jobs of one workload, and all streams to the same machines.
SharedStream = tuple[ArrivalStream, Sequence[ArrivalStream]]


def queue_table(streams: Iterable[SharedStream]) -> pd.DataFrame:
    """Return the waits of each option and workload of which it is known how often its jobs come.

    Jobs of all workloads arrive at random over the hours in which a machine works, and wait for their turn.

    Parameters
    ----------
    streams
        Each stream with all that share its machines; none for what is rented as needed.

    Returns
    -------
    pandas.DataFrame
        QUEUE_COLUMNS. `utilisation`: share of the machines' time that all jobs take; `overloaded`: more than they can
        do, with no wait to state; `wait_hours`: mean wait, `_p90` what nine in ten wait at most; `hours_to_result` =
        hours + wait_hours; `rival`: the fastest rented option that the answer may take and nobody takes away;
        `slower_from_per_month`, `slower_from_people`: work from which the wait makes the shared machine the slower one,
        all workloads growing alike; 0 where it is slower for anybody.
    """
    streams = list(streams)
    rented = [stream for stream, _ in streams if not stream.has_queue]
    rented = [stream for stream in rented if stream.row["persistent"] and stream.row["in_answer"]]
    rented.sort(key=lambda stream: (stream.hours, stream.row["option"]), reverse=True)
    fastest = {(stream.row["model"], stream.row["workload"]): stream for stream in rented}
    rows = [
        _queue_row(stream, sharing, fastest.get((stream.row["model"], stream.row["workload"])))
        for stream, sharing in streams
    ]
    return pd.DataFrame(rows, columns=list(QUEUE_COLUMNS))


def _queue_row(stream: ArrivalStream, sharing: Sequence[ArrivalStream], rival: ArrivalStream | None) -> dict[str, Any]:
    classes = tuple(shared.job_class for shared in sharing)
    wait = waiting(classes)
    columns = {name: stream.row[name] for name in OPTION_COLUMNS} | {
        "held": stream.has_queue,
        "jobs_at_once": stream.servers,
        "per_month": stream.per_month,
        "people": stream.people,
        "utilisation": utilization(classes) if stream.has_queue else math.nan,
        "overloaded": wait.is_overloaded,
        "hours": stream.hours,
        "wait_hours": wait.mean,
        "wait_hours_p90": wait.quantile(0.9),
        "hours_to_result": wait.mean + stream.hours,
        "machines": stream.row.get("machines", stream.row["title"]),
    }
    if not stream.has_queue or rival is None:
        return columns
    growth, people = largest_growth(classes, stream.hours, rival.hours), math.nan
    if stream.people is not None:
        people = math.floor(growth * stream.people + ROUNDING) + 1 if growth > 0 else 0
    columns |= {"rival": rival.row["option"], "rival_title": rival.row["title"], "rival_hours": rival.hours}
    return columns | {"slower_from_per_month": growth * stream.per_month, "slower_from_people": people}


def arrival_streams(works: "Sequence[MonthlyWork]") -> list[SharedStream]:
    """Return the streams of all work of months.

    These are the jobs of each class on the machines of the best mix and, if that is another, of the mix with the
    reference bought; and the jobs of each ordinary class on each rented offer, where nobody waits.
    """
    streams: list[SharedStream] = []
    for work in works:
        best, *mixes = work.mixes
        bought = [mix for mix in mixes if mix.kind == BOUGHT and work.source(mix.source).offer["is_reference"]]
        for mix in (best, *(mix for mix in bought if mix.counts != best.counts)):
            sharing = pool(work, mix)
            streams += [(stream, sharing) for stream in sharing]
    if not streams:
        return streams
    rented = [(work, source) for work in works for source in work.sources if source.kind == "rented"]
    for work, source in rented:
        for job_class, row in zip(work.classes, source.rows, strict=True):
            if row is not None and not job_class.urgent:
                job, hours, servers = job_class.job, float(row["hours"]), int(row["jobs_at_once"])
                stream = ArrivalStream(row, work.work.people, job.per_month.value, hours, job.hours_cv, servers)
                streams.append((stream, ()))
    return streams


def pool(work: "MonthlyWork", mix: Mix) -> list[ArrivalStream]:
    """Return the jobs that come to the machines of a mix, a stream per class that has some.

    All machines are one pool: a job goes to whichever of those on which its class runs is free.
    """
    result = mix.at(work.central)
    kinds = [(kind, count) for kind, count in zip(work.central.held, mix.counts, strict=True) if count]
    devices = sum(count * kind.devices for kind, count in kinds)
    device_hours = sum(count * kind.devices * float(kind.hours_per_month.mean()) for kind, count in kinds)
    machines = listed([f"{count} × " * (count > 1) + work.title(kind.name) for kind, count in kinds])
    title = f"pool of {machines}" if sum(mix.counts) > 1 else machines
    streams = []
    for number, job_class in enumerate(work.classes):
        runs = [
            (row, count, float(result.jobs(kind.name)[number].mean()))
            for kind, count in kinds
            if (row := work.source(kind.name).rows[number])
        ]
        jobs = sum(jobs_run for _, _, jobs_run in runs)
        if jobs > 0:
            row = {"option": f"{work.name}: {mix.key}", "title": title, "machines": machines, "is_reference": False}
            row |= {"model": job_class.job.model, "workload": job_class.workload}
            hours = sum(jobs_run * float(run["hours"]) for run, _, jobs_run in runs) / jobs
            servers = sum(count * int(run["jobs_at_once"]) for run, count, _ in runs)
            cv, open_hours = job_class.job.hours_cv, device_hours / devices
            streams.append(ArrivalStream(row, work.work.people, jobs, hours, cv, servers, open_hours))
    return streams
