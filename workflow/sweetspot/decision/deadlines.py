"""What it costs to have a result in time: of a single job, and of each class of the jobs of months."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.availability.columns import start_times_of
from sweetspot.availability.start_times import ZERO
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.rates import by_contract
from sweetspot.bills.waiting_times import NO_WAITS, SampledWaits, sample_waits
from sweetspot.decision.monthly_work import MonthlyWork
from sweetspot.decision.options import Row, records
from sweetspot.decision.simulate import Draws
from sweetspot.decision.waiting import pool
from sweetspot.declared_tables import columns_of
from sweetspot.draws import interval, shares
from sweetspot.mixes.problem import Array, OwnedMachine
from sweetspot.wording import confidence

DEADLINES = columns_of("deadlines")
MINIMUM_SHARE = 0.01  # Share of attempts in time from which on a machine may be chosen.


@dataclass(frozen=True)
class TimedJob:
    """One job on one option: USD at central figures, hours and USD in the samples.

    `queue`: waits for a machine that is owned or committed to; NO_WAITS: the machine is rented.
    """

    row: Row
    usd: float
    hours: Array
    usd_samples: Array
    queue: SampledWaits = NO_WAITS

    @cached_property
    def result_hours(self) -> tuple[Array, bool]:
        """Hours from today to the result by sample (NaN: unknown), and whether the chance of a machine is published."""
        start = start_times_of(self.row)
        if start is None:
            return np.full(self.hours.shape, np.nan), False
        if self.queue is not NO_WAITS:
            start = replace(start, start_hours=ZERO)
        return start.result_hours(self.hours), start.start_hours is not None or not np.isnan(self.row["p_stock"])

    def p_in_time(self, limit: float) -> tuple[float, float]:
        """Return the shares of samples within `limit` hours, counted from the start and from today (NaN: unknown)."""
        from_today, _ = self.result_hours
        run, result = (float(self.queue.share_in_time(limit - hours).mean()) for hours in (self.hours, from_today))
        return run, np.nan if np.isnan(from_today).any() else result


def _by_result(jobs: Sequence[TimedJob], limit: float) -> list[tuple[TimedJob, float]]:
    """Return the jobs within `limit` hours and their share of attempts in time, sorted by USD per result in time.

    Unpublished shares are used only where no job with a published one is in time; without any, all shares are 1.
    """
    jobs = [job for job in jobs if job.row["hours"] + job.queue.mean_hours <= limit]
    if not jobs:
        return []
    run, result = np.array([job.p_in_time(limit) for job in jobs]).T
    shares_in_time = np.nan_to_num(result / np.maximum(run, MINIMUM_SHARE))
    published = shares_in_time * [job.result_hours[1] for job in jobs]
    likely = next((part for part in (published, shares_in_time) if part.max() >= MINIMUM_SHARE), np.ones(len(jobs)))
    with np.errstate(divide="ignore"):
        usd = np.array([job.usd for job in jobs]) / likely
    order = sorted(range(len(jobs)), key=lambda index: (usd[index], jobs[index].usd, jobs[index].row["option"]))
    return [(jobs[index], float(likely[index])) for index in order]


def _deadline_row(jobs: Sequence[TimedJob], ranked: Sequence[tuple[TimedJob, float]], limit: float) -> dict[str, Any]:
    """Return DEADLINES columns of the first ranked job: hours, USD, shares in time; if none is, of the fastest job."""
    if ranked:
        job = ranked[0][0]
        (hours_low, hours_high), (usd_low, usd_high) = map(interval, (job.hours, job.usd_samples))
        run, result = job.p_in_time(limit)
        return {
            "within_hours": limit,
            "option": job.row["option"],
            "title": job.row["title"],
            "hours": job.row["hours"],
            "hours_low": float(hours_low),
            "hours_high": float(hours_high),
            "usd": job.usd,
            "usd_low": float(usd_low),
            "usd_high": float(usd_high),
            "p_in_time": run,
            "p_result_in_time": result,
            "wait_hours": job.queue.mean_hours,
        }
    for job in sorted(jobs, key=lambda job: (job.row["hours"], job.usd))[:1]:
        return {
            "within_hours": limit,
            "fastest_title": job.row["title"],
            "fastest_hours": job.row["hours"],
            "fastest_usd": job.usd,
        }
    return {"within_hours": limit}


def job_deadlines(options: pd.DataFrame, draws: Draws, hours: Sequence[float]) -> pd.DataFrame:
    """Return, for each workload and deadline, the persistent option of least USD per result in time.

    Parameters
    ----------
    options, draws
        The options and their samples.
    hours
        The deadlines in hours.

    Returns
    -------
    pandas.DataFrame
        DEADLINES, the shortest first. `p_cheapest` ignores samples in which an option is late; `usd` of a purchase
        or contract is the share of one job at the planned use, of a machine for `up_front_usd` or a contract of
        `due_usd_per_month`; `fastest_...`: of the fastest option where none is in time.
    """
    rows = []
    for workload, table in options.dropna(subset=["hours", "usd"]).groupby("workload", sort=True):
        persistent = table[table["persistent"].astype(bool)]
        rows_of_work = records(persistent if len(persistent) else table)
        jobs = [TimedJob(row, row["usd"], draws.hours[row["row"]], draws.usd[row["row"]]) for row in rows_of_work]
        for limit in sorted(hours):
            ranked = _by_result(jobs, limit) if len(persistent) else []
            columns = _deadline_row(jobs, ranked, limit)
            if ranked:
                with np.errstate(divide="ignore"):
                    usd = [np.where(job.hours <= limit, job.usd_samples, np.inf) / likely for job, likely in ranked]
                share = shares(np.stack(usd), range(len(ranked)))[0]
                columns |= {"p_cheapest": share, "confidence": "clear"}
                if len(ranked) > 1:
                    columns |= {"confidence": confidence(share), "rival_title": ranked[1][0].row["title"]}
            title = columns.get("title", columns.get("fastest_title"))
            dues = next(_dues(row) for row in rows_of_work if row["title"] == title)
            rows.append({"workload": workload, **columns, **dues})
    return pd.DataFrame(rows, columns=DEADLINES)


def _dues(row: Row) -> dict[str, float]:
    """Return the whole payment for an option, by column: USD per month of a contract, or USD up front of a purchase."""
    if by_contract(row):
        return {"due_usd_per_month": row["variable_usd_per_hour"] * HOURS_A_DAY * row["days_per_month"]}
    return {"up_front_usd": row["capex_usd"]} if row["capex_usd"] > 0 else {}


def class_deadlines(works: Sequence[MonthlyWork], due: float | None = None) -> pd.DataFrame:
    """Return, for each class of jobs with a deadline, the cheapest machine that keeps the deadline.

    Parameters
    ----------
    works
        Monthly workloads.
    due
        Deadline of every class in hours; None: each has its own.

    Returns
    -------
    pandas.DataFrame
        DEADLINES. `usd` of one job: the rent of a whole machine, or running costs on a machine of the best mix;
        `p_in_time`: share of samples and months within the deadline; `p_result_in_time`: that with failures and the
        search for a rented machine.
    """
    rows = []
    for work in works:
        queue = _queue_of(work)
        for number, job_class in enumerate(work.classes):
            urgent = number + (job_class.job.within_hours is not None)  # They follow those of their class.
            limit = work.classes[min(urgent, len(work.classes) - 1)].limit if due is None else due
            if not job_class.urgent and np.isfinite(limit):
                jobs = list(_jobs(work, queue, urgent))
                columns = _deadline_row(jobs, _by_result(jobs, limit), limit)
                rows.append({"workload": work.name, "class": job_class.job.name, **columns})
    return pd.DataFrame(rows, columns=DEADLINES)


def _jobs(work: MonthlyWork, queue: SampledWaits, number: int) -> Iterator[TimedJob]:
    """Yield a TimedJob per machine or offer for class `number`; a rented machine is paid in full by the one job."""
    indices = {kind.name: index for index, kind in enumerate(work.central.held) if work.mixes[0].counts[index]}
    for source in work.sources:
        row, index = source.rows[number], indices.get(source.offer["option"])
        if row is None or not np.isfinite(row["usd"]):
            continue
        hours, at_once = work.figures["hours"][row["row"]], row["jobs_at_once"]
        if source.kind == "rented":
            yield TimedJob(row, float(row["usd"]) * at_once, hours, work.figures["usd"][row["row"]] * at_once)
        elif index is not None:
            central, samples = (_usd_per_hour(problem.held[index]) for problem in (work.central, work.drawn))
            yield TimedJob(row, float(row["hours"] / at_once * central[0]), hours, hours / at_once * samples, queue)


def _usd_per_hour(kind: OwnedMachine) -> Array:
    """Return USD per hour of use of a machine, by sample; 0 where no class of jobs can run on the machine."""
    hours = np.where(np.isfinite(kind.hours), kind.hours, 0.0)
    return np.divide(kind.running, hours, out=np.zeros_like(hours), where=hours > 0).max(axis=0)


def _queue_of(work: MonthlyWork) -> SampledWaits:
    """Return waits in hours for the best mix's machines, sample x month, from the share of their hours in use."""
    best = work.mixes[0]
    used, capacity = np.zeros(best.done.running.shape), np.zeros((len(best.done.running), 1))
    for kind, count in zip(best.problem.held, best.counts, strict=True):
        used = used + best.done.device_hours(kind.name)
        capacity = capacity + count * kind.devices * kind.hours_per_month
    busy = np.divide(used, capacity, out=np.zeros_like(used), where=capacity > 0)
    return sample_waits([stream.job_class for stream in pool(work, best)], busy)
