"""What jobs wait for machines that several people share, and from how many people on another is the faster choice."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pandas as pd

from sweetspot.bills.rates import or_zero
from sweetspot.bills.waiting_times import JobClass, largest_growth, utilization, wait_distribution
from sweetspot.decision.posed import Posed
from sweetspot.mixes.search import BOUGHT, Mix
from sweetspot.wording import listed

TOLD = ("option", "title", "model", "workload", "is_reference")
QUEUE_COLUMNS = (
    *TOLD, "held", "jobs_at_once", "per_month", "people", "utilisation", "overloaded", "hours", "wait_hours",
    "wait_hours_low", "wait_hours_high", "wait_hours_p90", "hours_to_result", "hours_to_result_low",
    "hours_to_result_high", "rival", "rival_title", "rival_hours", "slower_from_per_month", "slower_from_people",
    "machines",
)  # fmt: skip
ENDS = ("", "_low", "_high")


class Coming(NamedTuple):
    """Jobs of one workload that come to one option, in the central case, the low and the high (ENDS). `row`: of the
    options; `spread`: coefficient of variation of the hours; `servers`: such jobs that are worked on at once; `opened`:
    hours a month of the machines for which jobs wait, infinite where more are had as they are needed.
    """

    row: Mapping[str, Any]
    people: int | None
    per_month: Sequence[float]
    hours: Sequence[float]
    spread: float
    servers: int
    opened: float = math.inf

    @property
    def held(self) -> bool:
        """Whether there are so many machines and no more."""
        return self.opened < math.inf

    def job_class(self, end: int) -> JobClass:
        """The arrivals at one of the ENDS; none where nobody waits."""
        return JobClass(self.per_month[end] / self.opened, self.hours[end], self.spread, self.servers)


Line = tuple[Coming, Sequence[Coming]]  # jobs of one workload, and all that come to the same machines


def queue_table(lines: Iterable[Line]) -> pd.DataFrame:
    """One row an option and workload of which it is known how often its jobs come, in QUEUE_COLUMNS.

    Jobs of all workloads that come to a machine arrive at random over the hours in which it works, and wait their turn
    where it is `held`, else for nobody. `jobs_at_once`: how many it works on; `utilisation`: share of its time that all
    take; `machines`: their names; `overloaded`: more than it can do, with no wait to state. `hours`: of one job;
    `wait_hours`: its mean wait, `_p90` what nine in ten wait at most, `hours_to_result` = hours + wait_hours; `_low`,
    `_high`: with the ends of the speed and of the jobs a month at once (null: overloaded at that end). `rival`: of the
    answer's rented options that nobody takes away the fastest; `slower_from_per_month`: jobs a month from which the
    wait makes the held machine the slower one, all workloads growing alike, `slower_from_people`: so many people, each
    with as many jobs as now; 0 where it is slower for anybody, null for rented options and without a rival.
    """
    lines = list(lines)
    rented = [one for one, _ in lines if not one.held and one.row["persistent"] and one.row["in_answer"]]
    rented.sort(key=lambda one: (one.hours[0], one.row["option"]), reverse=True)
    fastest = {(one.row["model"], one.row["workload"]): one for one in rented}
    rows = [_waits(*line, fastest.get((line[0].row["model"], line[0].row["workload"]))) for line in lines]
    return pd.DataFrame(rows, columns=list(QUEUE_COLUMNS))


waiting = lru_cache(maxsize=256)(wait_distribution)  # once for all workloads of a machine: some queues are simulated


def _waits(one: Coming, every: Sequence[Coming], rival: Coming | None) -> dict[str, Any]:
    classes = [tuple(other.job_class(end) for other in every) for end in range(len(ENDS))]
    waits = [waiting(each) for each in classes]
    said = {name: one.row[name] for name in TOLD} | {
        "held": one.held, "jobs_at_once": one.servers, "per_month": one.per_month[0], "people": one.people,
        "utilisation": utilization(classes[0]) if one.held else math.nan, "overloaded": waits[0].is_overloaded,
        "hours": one.hours[0], "wait_hours_p90": waits[0].quantile(0.9),
        "machines": one.row.get("machines", one.row["title"]),
    }  # fmt: skip
    for end, wait, hours in zip(ENDS, waits, one.hours, strict=True):
        said |= {f"wait_hours{end}": wait.mean, f"hours_to_result{end}": wait.mean + hours}
    if not one.held or rival is None:
        return said
    most = largest_growth(classes[0], one.hours[0], rival.hours[0])  # times as many jobs as now
    people = math.nan if one.people is None else math.floor(most * one.people + 1e-6) + 1 if most > 0 else 0
    said |= {"rival": rival.row["option"], "rival_title": rival.row["title"], "rival_hours": rival.hours[0]}
    return said | {"slower_from_per_month": most * one.per_month[0], "slower_from_people": people}


def _hours(row: Mapping[str, Any]) -> list[float]:
    """Return the hours of one job at ENDS; where an end is unknown, the central ones."""
    return [or_zero(row.get(f"hours{end}")) or float(row["hours"]) for end in ENDS]


def coming_to_mixes(works: Sequence[Posed]) -> list[Line]:
    """The work of months: the jobs of each class on the pool that the best mix holds and, where that is another, on the
    pool with the reference bought; and one job of each ordinary class on each rented offer, which nobody else is at.
    """
    lines: list[Line] = []
    for posed in works:
        best, *others = posed.mixes
        bought = [mix for mix in others if mix.kind == BOUGHT and posed.source(mix.source).offer["is_reference"]]
        for jobs in (pool(posed, mix) for mix in (best, *bought) if mix is best or mix.counts != best.counts):
            lines += [(one, jobs) for one in jobs]
    if not lines:
        return lines
    rented = [(posed, source) for posed in works for source in posed.sources if source.kind == "rented"]
    for posed, source in rented:
        for one, row in zip(posed.classes, source.rows, strict=True):
            if row is not None and not one.urgent:
                number, servers = [one.job.per_month.value] * len(ENDS), int(row["jobs_at_once"])
                lines.append((Coming(row, posed.work.people, number, _hours(row), one.job.hours_cv, servers), ()))
    return lines


def pool(posed: Posed, mix: Mix) -> list[Coming]:
    """The jobs that come to the machines that a mix holds, at central figures, by class; those that get some. All
    machines held are one pool: a job goes to whichever of those on which its class runs is free. `servers`: jobs of the
    class that they work on at once; `hours`: of one job, the mean over where its class is worked on.
    """
    done, found = mix.at(posed.central), []
    kinds = [(kind, count) for kind, count in zip(posed.central.held, mix.counts, strict=True) if count]
    devices = sum(count * kind.devices for kind, count in kinds)
    opened = sum(count * kind.devices * float(kind.hours_per_month.mean()) for kind, count in kinds)
    names = [f"{count} × " * (count > 1) + posed.title(kind.name) for kind, count in kinds]
    machines = listed(names)
    title = f"pool of {machines}" if sum(mix.counts) > 1 else machines
    for number, one in enumerate(posed.classes):
        runs = [(row, count, float(done.jobs(kind.name)[number].mean()))
                for kind, count in kinds if (row := posed.source(kind.name).rows[number])]  # fmt: skip
        jobs = sum(here for _, _, here in runs)
        if jobs > 0:
            hours = [sum(here * _hours(row)[end] for row, _, here in runs) / jobs for end in range(len(ENDS))]
            servers = sum(count * int(row["jobs_at_once"]) for row, count, _ in runs)
            each = [jobs, *(jobs * end / one.number.value for end in one.number.ends)]
            row = {"option": f"{posed.name}: {mix.key}", "title": title, "model": one.job.model,
                   "workload": one.workload, "is_reference": False, "machines": machines}  # fmt: skip
            found.append(Coming(row, posed.work.people, each, hours, one.job.hours_cv, servers, opened / devices))
    return found
