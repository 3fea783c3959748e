"""Waits for shared machines, and what it costs to have a result in time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from pandas import DataFrame

from sweetspot.availability.columns import start_times_of
from sweetspot.availability.start_times import ZERO
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.waiting_times import NO_WAITS, JobClass, SampledWaits, sample_waits, utilization, wait_distribution
from sweetspot.decision.monthly_work import MonthlyWork, WorkClass
from sweetspot.decision.options import Row, records
from sweetspot.decision.simulate import Draws
from sweetspot.declared_tables import columns_of
from sweetspot.draws import interval, shares
from sweetspot.mixes.problem import Array, OwnedMachine, finite
from sweetspot.mixes.search import Mix
from sweetspot.wording import confidence, listed

MINIMUM_SHARE = 0.01  # Share of attempts in time from which on a machine may be chosen.


class TimedJob(NamedTuple):
    """One job on one option (a machine at a price): USD at central figures, hours and USD in the samples.

    `queue`: waits for a machine that is owned or committed to; NO_WAITS: the machine is rented.
    """

    row: Row
    usd: float
    hours: Array
    usd_samples: Array
    queue: SampledWaits = NO_WAITS


def cheapest_in_time(jobs: Sequence[TimedJob], limit: float) -> Row:
    """Return which option (a machine at a price) gives a result in time for the least USD, as columns of the table
    `deadlines`. These are its hours, USD and shares of samples in time, counted from the start (`p_in_time`) and from
    today (`p_result_in_time`, NaN: unknown). `p_cheapest` ignores samples in which an option is late. If none is in
    time, `fastest_...` of the fastest option. Unpublished chances to find a machine are used only where no option with
    a published one is in time; without any, all options are found at once. `jobs`: the job on each option that can do
    it; `limit`: hours within which its result is needed.
    """
    table = DataFrame([job.row for job in jobs])
    monthly_usd = table["variable_usd_per_hour"] * HOURS_A_DAY * table["days_per_month"]
    table = table.assign(
        usd=[job.usd for job in jobs],
        wait_hours=[job.queue.mean_hours for job in jobs],
        # What is paid in full, of which the job's USD is a share.
        up_front_usd=table["capex_usd"].where(table["capex_usd"] > 0),
        due_usd_per_month=monthly_usd.where(table["purchase"] != "own"),
    ).sort_values(["hours", "usd"], kind="stable")
    in_time = table.index[table["hours"] + table["wait_hours"] <= limit]
    if in_time.empty:
        names = {name: f"fastest_{name}" for name in ("title", "hours", "usd")}
        fastest = table.rename(columns=names).iloc[0]
        return fastest[[*names.values(), "up_front_usd", "due_usd_per_month"]].to_dict()

    hours, usd = (np.stack([getattr(jobs[index], name) for index in in_time]) for name in ("hours", "usd_samples"))
    run, result, is_published = np.array([_shares_in_time(jobs[index], limit) for index in in_time]).T
    likelihood = np.nan_to_num(result / np.maximum(run, MINIMUM_SHARE))
    candidates = (likelihood * is_published, likelihood, np.ones(len(in_time)))
    likely = next(shares for shares in candidates if shares.max() >= MINIMUM_SHARE)
    table = table.loc[in_time].assign(p_in_time=run, p_result_in_time=result)
    with np.errstate(divide="ignore"):
        table["usd_per_result"] = table["usd"] / likely
        table["p_cheapest"] = shares(np.where(hours <= limit, usd, np.inf) / likely[:, None], in_time)
    table["hours_low"], table["hours_high"] = interval(hours)
    table["usd_low"], table["usd_high"] = interval(usd)
    ranked = table.sort_values(["usd_per_result", "usd", "option"], kind="stable")
    best = ranked.iloc[0]
    rivals = ranked["title"].iloc[1:]
    sure = confidence(best["p_cheapest"]) if len(rivals) else "clear"
    return best.to_dict() | {"confidence": sure, "rival_title": next(iter(rivals), None)}


def _shares_in_time(job: TimedJob, limit: float) -> tuple[float, float, bool]:
    """Return (run, result, is published): the shares of samples in which a job on one option ends in time.

    `run` counts from the start of the job, `result` from today, with the search for a machine (NaN: unknown); the third
    says whether `result` rests on a published chance to find one. `limit`: hours until the deadline.
    """
    start = start_times_of(job.row)
    run = job.queue.share_in_time(limit - job.hours).mean()
    if start is None:
        return run, np.nan, False
    if job.queue is not NO_WAITS:
        start = replace(start, start_hours=ZERO)
    result = job.queue.share_in_time(limit - start.result_hours(job.hours))
    return run, result.mean(), start.start_hours is not None or not np.isnan(job.row["p_stock"])


def job_deadlines(options: DataFrame, draws: Draws, hours: Sequence[float]) -> DataFrame:
    """Return the table `deadlines` of single jobs: per workload and deadline the cheapest option in time.

    The option (a machine at a price) costs least per result in time; only those that nobody takes away are chosen. The
    shortest deadline is first. `usd` of a purchase or contract is the share of one job at the planned use, of a machine
    for `up_front_usd` or a contract of `due_usd_per_month`.

    Parameters
    ----------
    options, draws, hours
        The table of options and their samples; the deadlines in hours.
    """
    rows = []
    for workload, table in options.dropna(subset=["hours", "usd"]).groupby("workload", sort=True):
        persistent = table[table["persistent"]]
        candidates = records(persistent if len(persistent) else table)
        jobs = [TimedJob(row, row["usd"], draws.hours[row["row"]], draws.usd[row["row"]]) for row in candidates]
        for limit in sorted(hours):
            # What may be taken away is never chosen, but named as the fastest where nothing else can do the job.
            columns = cheapest_in_time(jobs, limit if len(persistent) else 0.0)
            rows.append(columns | {"workload": workload, "within_hours": limit})
    return DataFrame(rows, columns=columns_of("deadlines"))


def class_deadlines(works: Sequence[MonthlyWork], due: float | None = None) -> DataFrame:
    """Return the table `deadlines` of monthly work: per class of jobs with a deadline the cheapest machine that keeps
    it. `usd` of one job: the rent of a whole machine, or running costs on a machine of the best mix; `p_in_time`: share
    of samples and months within the deadline; `p_result_in_time`: that with failures and the search for a rented
    machine. `works`: monthly workloads; `due`: deadline of every class in hours (None: each has its own).
    """
    rows = []
    for work in works:
        queue = _queue_of(work)
        for number, job_class in enumerate(work.classes):
            # Jobs of a class with a deadline are two classes, of which the urgent one has it.
            if not job_class.urgent and job_class.job.within_hours is not None:
                continue
            limit = job_class.limit if due is None else due
            jobs = list(_jobs(work, queue, number))
            if jobs and np.isfinite(limit):
                names = {"workload": work.name, "class": job_class.job.name, "within_hours": limit}
                rows.append(cheapest_in_time(jobs, limit) | names)
    return DataFrame(rows, columns=columns_of("deadlines"))


def _jobs(work: MonthlyWork, queue: SampledWaits, number: int) -> Iterator[TimedJob]:
    """Yield a TimedJob (USD, hours, samples) per machine of the best mix and per offer that can run a class of jobs.

    `cheapest_in_time` compares them. `number`: index of the class; `queue`: waits for the machines of the mix. A rented
    machine is paid in full by the one job.
    """
    indices = {kind.name: index for index, kind in enumerate(work.central.held) if work.mixes[0].counts[index]}
    for source in work.sources:
        row = source.rows[number]
        index = indices.get(source.offer["option"])
        if row is None or not np.isfinite(row["usd"]):
            continue
        hours = work.figures["hours"][row["row"]]
        at_once = row["jobs_at_once"]
        if source.kind == "rented":
            yield TimedJob(row, row["usd"] * at_once, hours, work.figures["usd"][row["row"]] * at_once)
        elif index is not None:
            central, samples = (_usd_per_hour(problem.held[index]) for problem in (work.central, work.drawn))
            yield TimedJob(row, row["hours"] / at_once * central[0], hours, hours / at_once * samples, queue)


def _usd_per_hour(kind: OwnedMachine) -> Array:
    """Return USD per hour of use of an owned machine, by sample, to price one job that runs on it; no job can: 0."""
    hours = finite(kind.hours)
    return np.divide(kind.running, hours, out=np.zeros_like(hours), where=hours > 0).max(axis=0)


def _queue_of(work: MonthlyWork) -> SampledWaits:
    """Return how long jobs wait in hours for the machines of the best mix, sample x month.

    Waits follow from the share of the machines' hours in use, and say with the run time whether a job ends in time.
    `work`: a monthly workload.
    """
    best = work.mixes[0]
    kinds = list(zip(best.problem.held, best.counts, strict=True))
    used = np.zeros(best.done.running.shape) + sum(best.done.device_hours(kind.name) for kind, _ in kinds)
    capacity = np.asarray(sum(count * kind.devices * kind.hours_per_month for kind, count in kinds))
    busy = np.divide(used, capacity, out=np.zeros_like(used), where=capacity > 0)
    return sample_waits([stream.job_class for stream in arrival_streams(work, best)], busy)


class ArrivalStream(NamedTuple):
    """Jobs of one class that arrive at the machines of a mix, `per_month`, and their class of the queue model."""

    work_class: WorkClass
    per_month: float
    job_class: JobClass


def queue_table(works: Sequence[MonthlyWork]) -> DataFrame:
    """Return the table `queue`: how long the jobs of each class wait for the machines of the best mix, in hours.

    Jobs of all classes arrive at random over the hours in which a machine works, and wait in one queue. `utilisation`:
    share of the machines' time that all jobs take; `overloaded`: above 1, so that no wait exists; `wait_hours`: mean
    wait, `_p90`: not exceeded by nine in ten jobs; `hours_to_result` = hours + wait_hours. `works`: monthly workloads,
    whose best mix (machines owned, offers rented) comes first.
    """
    rows: list[Row] = []
    for work in works:
        mix = work.mixes[0]
        streams = arrival_streams(work, work.mixes[0])
        classes = tuple(stream.job_class for stream in streams)
        wait = wait_distribution(classes)
        pairs = zip(mix.problem.held, mix.counts, strict=True)
        machines = listed([f"{count} × " * (count > 1) + work.title(kind.name) for kind, count in pairs if count])
        rows += [
            {
                "option": f"{work.name}: {mix.key}",
                "machines": machines,
                "title": f"pool of {machines}" if sum(mix.counts) > 1 else machines,
                "workload": work_class.workload,
                "per_month": per_month,
                "utilisation": utilization(classes),
                "overloaded": wait.is_overloaded,
                "hours": job_class.mean_hours,
                "wait_hours": wait.mean,
                "wait_hours_p90": wait.quantile(0.9),
                "hours_to_result": wait.mean + job_class.mean_hours,
            }
            for work_class, per_month, job_class in streams
        ]
    return DataFrame(rows, columns=columns_of("queue"))


def arrival_streams(work: MonthlyWork, mix: Mix) -> list[ArrivalStream]:
    """Return how many jobs of each class go to the owned machines of a mix, and their class of the queue model, for
    waits. A class of jobs has one run time and number of devices; a mix is a number of machines owned and offers
    rented. The owned machines form one pool with one queue; classes without jobs there are left out.
    """
    result = mix.at(work.central)
    streams = []
    kinds = [(kind, count) for kind, count in zip(work.central.held, mix.counts, strict=True) if count]
    devices = sum(count * kind.devices for kind, count in kinds)
    device_hours = sum(count * kind.devices * kind.hours_per_month.mean() for kind, count in kinds)
    for number, work_class in enumerate(work.classes):
        per_month = 0.0
        hours = 0.0
        servers = 0
        for kind, count in kinds:
            row = work.source_by_name[kind.name].rows[number]
            if row is not None:
                jobs = result.jobs(kind.name)[number].mean()
                per_month = per_month + jobs
                hours = hours + jobs * row["hours"]
                servers += count * int(row["jobs_at_once"])
        if per_month > 0:
            arrivals = per_month / (device_hours / devices)
            variation = work_class.job.hours_cv
            job_class = JobClass(arrivals, hours / per_month, variation, servers)
            streams.append(ArrivalStream(work_class, per_month, job_class))
    return streams
