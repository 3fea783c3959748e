"""What jobs wait for machines that several people share, and from how many people on another is the faster choice."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.queue import Stream, outgrown, wait_for
from sweetspot.bills.rates import or_zero
from sweetspot.decision.dispatch_problem import Posed
from sweetspot.decision.options import CELL, OFFER, Row, records
from sweetspot.mixes.search import BOUGHT, Mix
from sweetspot.wording import listed

if TYPE_CHECKING:
    from sweetspot.study.sharing import Demand  # lazily: its models take longer to import than all this computes

Demands = Mapping[str, "Demand"]
HELD = ("own", "reserved", "committed")  # whose machines there are, while others are had as they are needed
TOLD = ("option", "title", "model", "workload", "is_reference")
QUEUE_COLUMNS = (
    *TOLD, "held", "jobs_at_once", "per_month", "people", "utilisation", "overloaded", "hours", "wait_hours",
    "wait_hours_low", "wait_hours_high", "wait_hours_p90", "hours_to_result", "hours_to_result_low",
    "hours_to_result_high", "rival", "rival_title", "rival_hours", "slower_from_per_month", "slower_from_people",
)  # fmt: skip
ENDS = ("", "_low", "_high")
ENOUGH = 1e-9  # so that a whole number of rounds is not one more


class Coming(NamedTuple):
    """Jobs of one workload that come to one option, in the central case, the low and the high.

    `row`: of the options (TOLD); `held`: there are so many machines, for which jobs wait; `stays`: it may be held
    against another; `servers`: such jobs that are worked on at once, in so many hours a month (`opened`).
    """

    row: Mapping[str, Any]
    held: bool
    stays: bool
    people: int | None
    per_month: Sequence[float]
    hours: Sequence[float]
    spread: float
    servers: int
    opened: float

    def stream(self, end: int) -> Stream:
        """The arrivals at one of the ENDS."""
        return Stream(self.per_month[end] / self.opened, self.hours[end], self.spread, self.servers)


Line = tuple[Coming, Sequence[Coming]]  # jobs of one workload, and all that come to the same machines


def queue_table(lines: Iterable[Line]) -> pd.DataFrame:
    """One row an option and workload of which it is known how often its jobs come, in QUEUE_COLUMNS.

    Jobs of all workloads that come to a machine arrive at random over the hours in which it works, and wait their turn
    where it is `held`, else for nobody. `jobs_at_once`: how many it works on; `utilisation`: share of its time that all
    take; `overloaded`: more than it can do, with no wait to state. `hours`: of one job; `wait_hours`: its mean wait,
    `_p90` what nine in ten wait at most, `hours_to_result` = hours + wait_hours; `_low`, `_high`: with the ends of the
    speed and of the jobs a month at once (null: overloaded at that end). `rival`: of the answer's rented options that
    nobody takes away the fastest; `slower_from_per_month`: jobs a month from which the wait makes the held machine the
    slower one, all workloads growing alike, `slower_from_people`: so many people, each with as many jobs as now; 0
    where it is slower for anybody, null for rented options and without a rival.
    """
    lines = list(lines)
    rented = [one for one, _ in lines if one.stays and not one.held]
    rented.sort(key=lambda one: (one.hours[0], one.row["option"]), reverse=True)
    fastest = {(one.row["model"], one.row["workload"]): one for one in rented}
    rows = [_waits(*line, fastest.get((line[0].row["model"], line[0].row["workload"]))) for line in lines]
    return pd.DataFrame(rows, columns=list(QUEUE_COLUMNS))


_wait = lru_cache(maxsize=256)(wait_for)  # once for all workloads of a machine: some queues are simulated


def _waits(one: Coming, every: Sequence[Coming], rival: Coming | None) -> dict[str, Any]:
    streams = [tuple(other.stream(end) for other in every) if one.held else () for end in range(len(ENDS))]
    waits = [_wait(each) for each in streams]
    said = {name: one.row[name] for name in TOLD} | {
        "held": one.held, "jobs_at_once": one.servers, "per_month": one.per_month[0], "people": one.people,
        "utilisation": waits[0].utilisation if one.held else math.nan, "overloaded": waits[0].overloaded,
        "hours": one.hours[0], "wait_hours_p90": waits[0].ninety,
    }  # fmt: skip
    for end, wait, hours in zip(ENDS, waits, one.hours, strict=True):
        said |= {f"wait_hours{end}": wait.hours, f"hours_to_result{end}": wait.hours + hours}
    if not one.held or rival is None:
        return said
    most = outgrown(streams[0], one.hours[0], rival.hours[0])  # times as many jobs as now
    people = math.nan if one.people is None else math.floor(most * one.people + 1e-6) + 1 if most > 0 else 0
    said |= {"rival": rival.row["option"], "rival_title": rival.row["title"], "rival_hours": rival.hours[0]}
    return said | {"slower_from_per_month": most * one.per_month[0], "slower_from_people": people}


def coming_to_options(
    options: pd.DataFrame, plans: pd.DataFrame, offers: pd.DataFrame, demands: Demands, month_days: float
) -> Iterator[Line]:
    """The jobs of workloads and of phases that say how often they come (`demands`), to each option that fits
    (`build_options`). plans: results/<study>/plans; offers: `boxes` of each offer.
    """
    asked = records(options[options["workload"].isin(list(demands))]) if demands else []
    owned = offers.drop_duplicates(list(OFFER)).reindex(columns=[*OFFER, "boxes"])
    boxes = {tuple(key): or_zero(count) for *key, count in owned.itertuples(index=False)}
    machines: dict[str, list[Coming]] = {}
    for row in [*asked, *_phases(options, plans, demands)]:
        if row["hours"] > 0:
            demand, slots = demands[row["workload"]], or_zero(row.get("jobs_at_once")) or 1.0
            hours = _hours(row, math.ceil(demand.runs / slots - ENOUGH))
            servers = int(slots * max(boxes.get(tuple(row[name] for name in OFFER), 1.0), 1.0))
            opened = HOURS_A_DAY * month_days * (1.0 - or_zero(row.get("downtime_share")))
            held, stays = row["purchase"] in HELD, bool(row["persistent"]) and bool(row["in_answer"])
            told = (demand.people, demand.per_month, hours, demand.hours_cv, servers, opened)
            machines.setdefault(row["option"], []).append(Coming(row, held, stays, *told))
    for jobs in machines.values():
        first = {one.row["workload"]: one for one in reversed(jobs)}
        for one in jobs:  # in one order: a queue is simulated with the same draws for all
            yield one, [job for _, job in sorted((first | {one.row["workload"]: one}).items())]


def _hours(row: Mapping[str, Any], rounds: int = 1) -> list[float]:
    """Hours of one job at ENDS, where not known the central ones; of `runs` that are one bill, of one of its runs."""
    return [(or_zero(row.get(f"hours{end}")) or float(row["hours"])) / rounds for end in ENDS]


def _phases(options: pd.DataFrame, plans: pd.DataFrame, demands: Demands) -> Iterator[Row]:
    """One job alone of each phase that says how often it comes, as a row of the options: from the phase's time and its
    rounds, with the ends of the option's speed.
    """
    if plans.empty or options.empty:
        return
    rows = plans.assign(workload=plans["plan"].astype(str) + "." + plans["phase"].astype(str))
    rows = rows[rows["status"].eq("ok") & rows["workload"].isin(list(demands))]
    own, key = ["workload", "jobs", "machines", "hours"], [*OFFER, *CELL[1:]]
    known = options.drop_duplicates([*OFFER, "model"]).drop(columns=own, errors="ignore")
    found = rows[[*key, *own]].merge(known, on=key).drop_duplicates(["option", "workload"])
    for row in found.to_dict("records"):
        slots = int(row["gpus"]) if demands[row["workload"]].gpus_per_job == "one" else 1
        rounds = math.ceil(math.ceil(row["jobs"] / row["machines"] - ENOUGH) / slots - ENOUGH)
        hours, rate = row["hours"] / rounds, row["images_per_s"]
        ends = [hours * rate / row[f"images_per_s{end}"] for end in ("_high", "_low")]
        low, high = (hour if math.isfinite(hour) else None for hour in ends)
        yield row | {"hours": hours, "hours_low": low, "hours_high": high, "jobs_at_once": float(slots)}


def coming_to_mixes(works: Sequence[Posed]) -> list[Line]:
    """The work of months: the jobs of each class on the pool that the best mix holds and, where that is another, on the
    pool with the reference bought; and one job of each ordinary class on each rented offer, which nobody else is at.
    """
    lines: list[Line] = []
    for posed in works:
        best = posed.mixes[0]
        for mix in posed.mixes:
            other = mix.kind == BOUGHT and mix.counts != best.counts and posed.source(mix.source).offer["is_reference"]
            jobs = pool(posed, mix) if other or mix is best else []
            lines += [(one, jobs) for one in jobs]
    for posed in works if lines else ():
        for source in (one for one in posed.sources if one.kind == "rented"):
            for one, row in zip(posed.classes, source.rows, strict=True):
                if row is not None and not one.urgent:
                    number, servers = [one.job.per_month.value] * len(ENDS), int(row["jobs_at_once"])
                    told = (posed.work.people, number, _hours(row), one.job.hours_cv, servers, math.inf)
                    lines.append((Coming(row, False, True, *told), ()))
    return lines


def pool(posed: Posed, mix: Mix) -> list[Coming]:
    """The jobs that come to the machines that a mix holds, at central figures, by class; those that get some.

    All machines held are one pool: a job goes to whichever of those on which its class runs is free. `servers`: jobs of
    the class that they work on at once; `hours`: of one job, the mean over where its class is worked on.
    """
    done = mix.at(posed.central)
    kinds = [(at, *one) for at, one in enumerate(zip(mix.problem.held, mix.counts, strict=True)) if one[1]]
    devices = sum(count * kind.devices for _, kind, count in kinds)
    opened = sum(count * kind.devices * float(posed.central.held[at].capacity[0]) for at, kind, count in kinds)
    names = [f"{count} × " * (count > 1) + str(posed.source(kind.name).offer["title"]) for _, kind, count in kinds]
    title = f"pool of {listed(names)}" if sum(mix.counts) > 1 else "".join(names)
    found = []
    for number, one in enumerate(posed.classes):
        runs = [(row, count, float(done.held[number, at].sum()))
                for at, kind, count in kinds if (row := posed.source(kind.name).rows[number])]  # fmt: skip
        jobs = sum(here for _, _, here in runs)
        if not jobs > 0:
            continue
        hours = [sum(here * _hours(row)[end] for row, _, here in runs) / jobs for end in range(len(ENDS))]
        servers = sum(count * int(row["jobs_at_once"]) for row, count, _ in runs)
        given = one.job.urgent_per_month if one.urgent else one.job.per_month
        ends = [end / given.value for end in given.ends] if given is not None and given.value else [1.0, 1.0]
        told = (f"{posed.name}: {mix.key}", title, one.job.model, one.workload, False)
        each = (posed.work.people, [jobs, *(jobs * end for end in ends)], hours, one.job.hours_cv, servers)
        found.append(Coming(dict(zip(TOLD, told, strict=True)), True, False, *each, opened / devices))
    return found
