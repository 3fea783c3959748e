"""What it costs to have a result in time: of a single job, and of each class of the jobs of months."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.availability.columns import start_times_of
from sweetspot.availability.start_times import ZERO, StartTimes
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.rates import by_contract, or_zero
from sweetspot.bills.waiting_times import NO_WAITS, SampledWaits, sample_waits
from sweetspot.decision.monthly_work import MonthlyWork
from sweetspot.decision.options import Row, records
from sweetspot.decision.simulate import Draws
from sweetspot.decision.waiting import pool
from sweetspot.draws import interval, shares
from sweetspot.mixes.problem import Array, OwnedMachine
from sweetspot.wording import DOLLARS, TIE, Money, amount, confidence, span, the

DEADLINES = (
    "workload", "class", "within_hours", "is_asked", "option", "title", "hours", "hours_low", "hours_high", "usd",
    "usd_low", "usd_high", "usd_extra", "p_in_time", "share_in_time", "status", "wait_hours", "p_cheapest",
    "confidence", "verdict", "p_result_in_time", "up_front_usd", "due_usd_per_month",
)  # fmt: skip
MINIMUM_SHARE = 0.01  # Share of attempts in time from which on a machine may be chosen.
STEPS, REACH = 24, 4.0  # Between the hours of the fastest machine and so many times those of the slowest.


@dataclass(frozen=True)
class TimedJob:
    """One job on one option: USD at central figures, hours and USD in the samples.

    `queue`: the waits for a machine that is held, which nobody has to find; NO_WAITS: it is rented.
    """

    row: Row
    usd: float
    hours: Array
    usd_samples: Array
    queue: SampledWaits = NO_WAITS

    @cached_property
    def start(self) -> StartTimes | None:
        """When it starts; None if too little is known."""
        start = start_times_of(self.row)
        return start if start is None or self.queue is NO_WAITS else replace(start, start_hours=ZERO)

    @property
    def is_published(self) -> bool:
        """Whether the share of attempts that find the machine is published, or needs none."""
        start = self.start
        return start is not None and (start.start_hours is not None or not np.isnan(self.row["p_stock"]))

    @cached_property
    def result_hours(self) -> Array | None:
        """Hours from today to the result; None if unknown."""
        return None if self.start is None else self.start.result_hours(self.hours)

    def p_in_time(self, limit: float) -> tuple[float, float]:
        """Return the share of samples in which waits and run take at most `limit` hours, and counted from today."""
        run = float(self.queue.share_in_time(limit - self.hours).mean())
        result = self.result_hours
        return run, np.nan if result is None else float(self.queue.share_in_time(limit - result).mean())

    def columns(self, limit: float) -> dict[str, Any]:
        """Return the job's columns of DEADLINES."""
        columns = {name: self.row[name] for name in ("option", "title", "hours")} | {"usd": self.usd, "status": "ok"}
        for name, samples in (("hours", self.hours), ("usd", self.usd_samples)):
            columns[f"{name}_low"], columns[f"{name}_high"] = map(float, interval(samples))
        columns["p_in_time"], columns["p_result_in_time"] = self.p_in_time(limit)
        return columns | {"wait_hours": self.queue.mean_hours}


def _by_result(jobs: Sequence[TimedJob], limit: float) -> list[tuple[TimedJob, float]]:
    """Sort jobs by USD per result that is in time, counted from today; with the share of attempts that is.

    Shares that nobody published count only where no other job is in time; all are 1 where none is.
    """
    pairs = np.array([job.p_in_time(limit) for job in jobs])
    likely_shares = np.nan_to_num(pairs[:, 1] / np.maximum(pairs[:, 0], MINIMUM_SHARE))
    published = np.where([job.is_published for job in jobs], likely_shares, 0.0)
    likely = next((part for part in (published, likely_shares) if part.max() >= MINIMUM_SHARE), np.ones(len(jobs)))
    with np.errstate(divide="ignore"):
        usd = np.array([job.usd for job in jobs]) / likely
    order = sorted(range(len(jobs)), key=lambda index: (usd[index], jobs[index].usd, jobs[index].row["option"]))
    return [(jobs[index], float(likely[index])) for index in order]


def job_deadlines(options: pd.DataFrame, draws: Draws, hours: Sequence[float], money: Money = DOLLARS) -> pd.DataFrame:
    """Choose for each workload and deadline the persistent option of the least USD per result in time.

    Parameters
    ----------
    options, draws
        The options and their samples.
    hours
        The deadlines.
    money
        The currency of the texts.

    Returns
    -------
    pandas.DataFrame
        DEADLINES, the shortest first. `p_cheapest` counts a late sample as no choice; `verdict`: the option's title, or
        that it is too close to call, or that none can; `usd` of what is bought or signed for is the share of one job at
        the planned use, of a machine for `up_front_usd`, a contract of `due_usd_per_month`.
    """
    rows = []
    for workload, table in options.dropna(subset=["hours", "usd"]).groupby("workload", sort=True):
        persistent = records(table[table["persistent"].astype(bool)])
        text = _nobody([row | _dues(row) for row in persistent or records(table)], money)
        late = {"status": text, "verdict": text, "confidence": "clear"}
        jobs = [TimedJob(row, row["usd"], draws.hours[row["row"]], draws.usd[row["row"]]) for row in persistent]
        for limit in sorted(hours):
            quick = [job for job in jobs if job.row["hours"] <= limit]
            columns = _cheapest(quick, limit) if quick else late
            rows.append({"workload": workload, "within_hours": limit, "is_asked": True, **columns})
    return pd.DataFrame(rows, columns=list(DEADLINES))


def _cheapest(jobs: Sequence[TimedJob], limit: float) -> dict[str, Any]:
    ranked = _by_result(jobs, limit)
    with np.errstate(divide="ignore"):
        usd = np.stack([np.where(job.hours <= limit, job.usd_samples, np.inf) / likely for job, likely in ranked])
    best, share = ranked[0][0], shares(usd, range(len(ranked)))[0]
    sure = confidence(share) if len(ranked) > 1 else "clear"
    title = best.row["title"]
    if sure == TIE:
        title = f"too close to call: {the(title)} or {the(ranked[1][0].row['title'])}"
    columns = best.columns(limit) | _dues(best.row)
    return columns | {"p_cheapest": share, "confidence": sure, "verdict": title}


def _dues(row: Row) -> dict[str, float]:
    """Return what is due beside the job's share to have the option: a purchase, or a month of a contract."""
    month = row["variable_usd_per_hour"] * HOURS_A_DAY * row["days_per_month"] if by_contract(row) else np.nan
    return {"up_front_usd": row["capex_usd"] if or_zero(row["capex_usd"]) > 0 else np.nan, "due_usd_per_month": month}


def dues_in_words(row: Mapping[Any, Any], money: Money) -> str:
    """Say after the USD of one job what else is due for it; empty for nothing."""
    if or_zero(row.get("up_front_usd")) > 0:
        return f" once it is bought for {money.words(row['up_front_usd'])}"
    if or_zero(row.get("due_usd_per_month")) > 0:
        return f" under a contract of {money.words(row['due_usd_per_month'])} a month, used or not"
    return ""


def _nobody(rows: Sequence[Row], money: Money) -> str:
    """Say that none is in time, with the fastest."""
    if not rows:
        return "no machine has a speed for it"
    row = min(rows, key=lambda row: (row["hours"], row["usd"]))
    paid = f"{amount(money.of(row['usd']))} {money.code}{dues_in_words(row, money)}"
    return f"none can: the fastest, {the(row['title'])}, takes {span(row['hours'])} for {paid}"


def class_deadlines(works: Sequence[MonthlyWork], money: Money, due: float | None = None) -> pd.DataFrame:
    """Choose for each class of jobs and number of hours the cheapest way to be in time.

    Parameters
    ----------
    works
        The work of months.
    money
        The currency of the texts.
    due
        Deadline of every class in hours; None: each has its own.

    Returns
    -------
    pandas.DataFrame
        DEADLINES; a row holds until the next one's hours. `usd` of one job: rented, of the whole machine; on one that
        the best mix holds, its running; `usd_extra`: beyond the least that an ordinary job costs; `p_in_time`: share of
        samples and months in which it makes it, `p_result_in_time` with the search for a rented machine and failures;
        `share_in_time`: of the ordinary jobs of the class in the best mix.
    """
    rows = [row for work in works for row in _class_rows(work, money, due)]
    return pd.DataFrame(rows, columns=list(DEADLINES))


def _class_rows(work: MonthlyWork, money: Money, due: float | None) -> Iterator[dict[str, Any]]:
    queue, result = _queue_of(work), work.mixes[0].done
    for number, job_class in enumerate(work.classes):
        if job_class.urgent:
            continue
        urgent_number = number + (job_class.job.within_hours is not None)  # They follow those of their class.
        limit_of_class = work.classes[urgent_number].limit if due is None else due
        urgent, ordinary = (list(_jobs(work, queue, *which)) for which in ((urgent_number, True), (number, False)))
        counts = [
            result.jobs(name)[number] if (name := job.row["option"]) in result.sources else np.zeros(1)
            for job in ordinary
        ]
        total, lowest_usd = sum(map(np.sum, counts)), min((job.usd for job in ordinary), default=np.nan)
        hours = [row["hours"] for source in work.sources if (row := source.rows[urgent_number]) is not None]
        grid = np.geomspace(min(hours), REACH * max(hours), STEPS)[1:] if hours else ()
        rounded = [float(f"{hour:.3g}") for hour in grid]
        limits = {*hours, *(hour + queue.mean_hours for hour in hours), *rounded, limit_of_class}
        for limit in sorted(filter(np.isfinite, limits)):
            early = sum(
                (count * job.queue.share_in_time(limit - job.hours)).sum()
                for job, count in zip(ordinary, counts, strict=True)
            )
            quick = [job for job in urgent if job.row["hours"] + job.queue.mean_hours <= limit]
            if quick:
                job = _by_result(quick, limit)[0][0]
                columns = job.columns(limit) | {"usd_extra": job.usd - lowest_usd}
            else:  # What has to be bought or signed first has no price of one job.
                columns = {"status": _nobody([job.row | {"usd": job.usd} for job in urgent], money)}
            yield columns | {
                "workload": work.name, "class": job_class.job.name, "within_hours": limit,
                "is_asked": limit == limit_of_class, "share_in_time": early / total if total else np.nan,
            }  # fmt: skip


def _jobs(work: MonthlyWork, queue: SampledWaits, number: int, pays_all: bool) -> Iterator[TimedJob]:
    """Yield where a job of a class runs in the best mix; `pays_all`: it pays for the whole rented machine."""
    indices = {kind.name: index for index, kind in enumerate(work.central.held) if work.mixes[0].counts[index]}
    for source in work.sources:
        row, index = source.rows[number], indices.get(source.offer["option"])
        if row is None or not np.isfinite(row["usd"]):
            continue
        hours, at_once = work.figures["hours"][row["row"]], row["jobs_at_once"]
        if source.kind == "rented":
            jobs = at_once if pays_all else 1.0
            yield TimedJob(row, float(row["usd"]) * jobs, hours, work.figures["usd"][row["row"]] * jobs)
        elif index is not None:
            central, samples = (_usd_per_hour(problem.held[index]) for problem in (work.central, work.drawn))
            yield TimedJob(row, float(row["hours"] / at_once * central[0]), hours, hours / at_once * samples, queue)


def _usd_per_hour(kind: OwnedMachine) -> Array:
    """Return USD by sample of an hour of use of a machine, by any class that runs there; 0 where none does."""
    classes = np.flatnonzero(np.isfinite(kind.hours[:, 0]))  # In time by central hours: in all samples or in none.
    if not len(classes):
        return np.zeros(kind.capacity.shape)
    return np.asarray(kind.running[classes[0]] / kind.hours[classes[0]])


def _queue_of(work: MonthlyWork) -> SampledWaits:
    """Return the waits in the samples and months of the best mix, by how full its machines are."""
    best = work.mixes[0]
    used, capacity = np.zeros(best.done.undone.shape[1:]), np.zeros((best.done.undone.shape[1], 1))
    for kind, count in zip(best.problem.held, best.counts, strict=True):
        used = used + best.done.device_hours(kind.name)
        capacity = capacity + count * kind.devices * kind.hours_per_month
    busy = np.divide(used, capacity, out=np.zeros_like(used), where=capacity > 0)
    return sample_waits([stream.job_class for stream in pool(work, best)], busy)
