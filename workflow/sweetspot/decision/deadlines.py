"""What it costs to have a result in time: of a single job, and of each class of the jobs of months."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.availability.columns import start_times_of
from sweetspot.availability.start_times import ZERO
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.rates import by_contract, or_zero
from sweetspot.bills.waiting_times import NO_WAITS, SampledWaits, sample_waits
from sweetspot.decision.monthly_work import MonthlyWork
from sweetspot.decision.options import Row, records
from sweetspot.decision.simulate import Draws
from sweetspot.decision.waiting import pool
from sweetspot.draws import interval, shares
from sweetspot.mixes.problem import Array, OwnedMachine
from sweetspot.wording import DOLLARS, TIE, Money, amount, confidence, percent, span, the

DEADLINES = (
    "workload", "class", "within_hours", "is_asked", "per_month", "option", "title", "hours", "hours_low", "hours_high",
    "usd", "usd_low", "usd_high", "usd_extra", "p_in_time", "share_in_time", "status", "wait_hours", "runner_up",
    "margin", "p_cheapest", "confidence", "verdict", "p_result_in_time", "up_front_usd",
    "due_usd_per_month", "passed_over", "passed_over_title", "passed_over_usd", "passed_over_p_result_in_time",
)  # fmt: skip
HARDLY = 0.01  # share of attempts in time from which on a machine may be chosen for it
GRID, REACH = 24, 4.0  # steps between the fastest machine's hours and so many times those of the slowest


class Run(NamedTuple):
    """A job done by a `row` of the options: its `usd`, `hours` and `drawn` USD by draw, hours from today to the
    `result` (None: not known), whether its share of time in stock is `published`, and the `queue` it waits in.
    """

    row: Row
    usd: float
    hours: Array
    drawn: Array
    result: Array | None
    published: bool
    queue: SampledWaits = NO_WAITS

    @classmethod
    def of(cls, row: Row, usd: float, hours: Array, drawn: Array, queue: SampledWaits | None = None) -> "Run":
        """With its hours to the result; `queue`: on a machine that is held for it, which nobody has to find."""
        start = start_times_of(row)
        if start is not None and queue is not None:
            start = replace(start, start_hours=ZERO)
        result = None if start is None else start.result_hours(hours)
        published = start is not None and (start.start_hours is not None or not np.isnan(row["p_stock"]))
        return cls(row, usd, hours, drawn, result, published, NO_WAITS if queue is None else queue)

    def in_time(self, limit: float) -> tuple[float, float]:
        """Share of the draws in which the job is done within the limit: waits and its run, and counted from today."""
        alone = float(self.queue.share_in_time(limit - self.hours).mean())
        return alone, np.nan if self.result is None else float(self.queue.share_in_time(limit - self.result).mean())

    def told(self, limit: float) -> dict[str, Any]:
        """What DEADLINES says of it."""
        (fast, slow), (cheap, dear) = interval(self.hours), interval(self.drawn)
        alone, result = self.in_time(limit)
        return {
            **{name: self.row[name] for name in ("option", "title", "hours")}, "wait_hours": self.queue.mean_hours,
            "hours_low": float(fast), "hours_high": float(slow), "usd": self.usd, "usd_low": float(cheap),
            "usd_high": float(dear), "p_in_time": alone, "p_result_in_time": result, "status": "ok",
        }  # fmt: skip


def _likely(runs: Sequence[Run], limit: float) -> Array:
    """Of the attempts whose run is in time, the share that is counted from today, by run; 1 for all where none is. What
    nobody published counts only where no other is in time.
    """
    shares = np.array([result / max(alone, HARDLY) for alone, result in (one.in_time(limit) for one in runs)])
    shares = np.nan_to_num(shares)
    for counted in (np.where([one.published for one in runs], shares, 0.0), shares):
        if len(runs) and counted.max() >= HARDLY:
            return np.asarray(counted)
    return np.ones(len(runs))


def _by_result(runs: Sequence[Run], limit: float) -> list[tuple[Run, float]]:
    """Runs by their USD for each result that is in time, counted from today, with what the USD are divided by."""
    likely = _likely(runs, limit)
    with np.errstate(divide="ignore"):
        usd = np.array([one.usd for one in runs]) / likely
    order = sorted(range(len(runs)), key=lambda place: (usd[place], runs[place].usd, runs[place].row["option"]))
    return [(runs[place], float(likely[place])) for place in order]


def job_deadlines(options: pd.DataFrame, draws: Draws, hours: Sequence[float], money: Money = DOLLARS) -> pd.DataFrame:
    """Rows of DEADLINES for each workload and deadline (`hours`), shortest first: of the options (`build_options`) that
    finish a single job within it (by central hours) and stay, the one of the least USD for each result in time, counted
    from today: `usd` over the share of attempts (`_likely`), which is the cheapest where all are there.

    `p_cheapest` counts a draw that is late as no choice; `runner_up`, the next option, also more nodes of the same
    machine; `margin`: its USD for a result in time / those of the option; `verdict`: the
    option's title, or too close to call and between which, or that none can and which is the fastest;
    `p_result_in_time`: share of the draws in which its result is there so many hours from today, with the search for a
    machine (null: not known). `passed_over`: the cheapest, where it is too seldom in time to be the choice.
    `usd` of what is bought or signed for is the share of one job at the planned use: `up_front_usd` is the price of the
    machine, `due_usd_per_month` what a contract costs, used or not (null: binds to nothing).
    """
    found = []
    for workload, rows in options.dropna(subset=["hours", "usd"]).groupby("workload", sort=True):
        stays = rows[rows["persistent"].astype(bool)]
        nobody = _nobody(records(stays if len(stays) else rows), money, _bound)
        late = {"status": nobody, "verdict": nobody, "confidence": "clear"}
        quick = records(stays[stays["hours"] <= max(hours, default=0.0)])
        runs = [Run.of(row, row["usd"], draws.hours[row["row"]], draws.usd[row["row"]]) for row in quick]
        for limit in sorted(hours):
            kept = [one for one in runs if one.row["hours"] <= limit]
            told = _cheapest(kept, limit) if kept else late
            found.append({"workload": workload, "within_hours": limit, "is_asked": True, **told})
    return pd.DataFrame(found, columns=list(DEADLINES))


def _cheapest(kept: Sequence[Run], limit: float) -> dict[str, Any]:
    ranked = _by_result(kept, limit)
    (best, _), *others = ranked
    with np.errstate(divide="ignore"):
        usd = np.stack([np.where(one.hours <= limit, one.drawn, np.inf) / likely for one, likely in ranked])
    first = shares(usd, range(len(ranked)))[0]
    told = best.told(limit) | _bound(best.row)
    told |= {"p_cheapest": first, "confidence": confidence(first) if others else "clear", "verdict": best.row["title"]}
    if others:
        (second, likely), own = others[0], ranked[0][1]
        margin = second.usd / best.usd * (own / likely if likely else np.inf)
        told |= {"runner_up": second.row["option"], "margin": margin}
        if told["confidence"] == TIE:
            told["verdict"] = f"too close to call: {the(best.row['title'])} or {the(second.row['title'])}"
    return told | _passed_over(kept, best, limit)


def _passed_over(kept: Sequence[Run], best: Run, limit: float) -> dict[str, Any]:
    """The cheapest in time by its run alone, where it is not the choice."""
    cheapest = min(kept, key=lambda one: one.usd)
    if not cheapest.usd < best.usd:
        return {}
    said = {"": cheapest.row["option"], "_title": cheapest.row["title"], "_usd": cheapest.usd}
    said["_p_result_in_time"] = cheapest.in_time(limit)[1] if cheapest.published else np.nan
    return {f"passed_over{name}": value for name, value in said.items()}


def passed_over_in_words(row: Mapping[Any, Any], money: Money) -> str:
    """Which option costs less but is too seldom in time, for after the one that is chosen; else nothing."""
    if pd.isna(row.get("passed_over")):
        return ""
    share = row["passed_over_p_result_in_time"]
    often = "how often in time is not published" if pd.isna(share) else f"in time in {percent(share)} of attempts"
    return f"; {the(str(row['passed_over_title']))} costs {money.words(row['passed_over_usd'])}, {often}"


def _bound(row: Row) -> dict[str, float]:
    """What has to be paid beyond the job's share to have the option: a purchase, or a month of a contract."""
    signed = row["variable_usd_per_hour"] * HOURS_A_DAY * row["days_per_month"] if by_contract(row) else np.nan
    return {"up_front_usd": row["capex_usd"] if or_zero(row["capex_usd"]) > 0 else np.nan, "due_usd_per_month": signed}


def bound_in_words(row: Mapping[Any, Any], money: Money) -> str:
    """After the USD of one job: what else is due for it, by `up_front_usd` and `due_usd_per_month`; else nothing."""
    if or_zero(row.get("up_front_usd")) > 0:
        return f" once it is bought for {money.words(row['up_front_usd'])}"
    if or_zero(row.get("due_usd_per_month")) > 0:
        return f" under a contract of {money.words(row['due_usd_per_month'])} a month, used or not"
    return ""


def _nobody(rows: Sequence[Row], money: Money, bound: Callable[[Row], Row] = lambda _: {}) -> str:
    """Why none is in time: by the fastest, and what it is `bound` to beside its USD of one job."""
    if not rows:
        return "no machine has a speed for it"
    first = min(rows, key=lambda row: (row["hours"], row["usd"]))
    paid = f"{amount(money.of(first['usd']))} {money.code}{bound_in_words(bound(first), money)}"
    return f"none can: the fastest, {the(first['title'])}, takes {span(first['hours'])} for {paid}"


def class_deadlines(works: Sequence[MonthlyWork], money: Money, due: float | None = None) -> pd.DataFrame:
    """Rows of DEADLINES for each class and number of hours: the cheapest way to be in time, and who is in time anyhow.
    A row holds until the next one's hours, from the fastest machine's to REACH times those of the slowest. `is_asked`:
    the class's own deadline, or that of every class (`due`). `per_month`: urgent jobs. `usd`: of one: rented, the
    machine for itself; on one that the best mix holds, its running, if the result is there within the hours after its
    mean wait (`wait_hours`). `usd_extra`: beyond what an ordinary job costs where that is least. `p_in_time`: share of
    the draws and months in which that option makes it, `p_result_in_time` with the search for a rented machine and
    failures, by which the choice is made as for single jobs; `share_in_time`: of all jobs of the class in the best mix
    that are not asked to be urgent. All count the wait.
    """
    rows = [row for one in works for row in _of_classes(one, money, due)]
    return pd.DataFrame(rows, columns=list(DEADLINES))


def _of_classes(posed: MonthlyWork, money: Money, due: float | None) -> Iterator[dict[str, Any]]:
    queue, done = _queue_of(posed), posed.mixes[0].done
    for number, one in ((place, one) for place, one in enumerate(posed.classes) if not one.urgent):
        hurried = number + (one.job.within_hours is not None)  # the urgent jobs of a class follow it
        asked = posed.classes[hurried].limit if due is None else due
        urgent, ordinary = [*_runs(posed, queue, hurried, True)], [*_runs(posed, queue, number, False)]
        jobs = [done.jobs(option)[number] if (option := run.row["option"]) in done.sources else 0.0 for run in ordinary]
        total, least = sum(map(np.sum, jobs)), min((run.usd for run in ordinary), default=np.nan)
        hours = [row["hours"] for source in posed.sources if (row := source.rows[hurried]) is not None]
        grid = np.geomspace(min(hours), REACH * max(hours), GRID)[1:] if hours else ()
        steps = {*hours, *(hour + queue.mean_hours for hour in hours), *(float(f"{hour:.3g}") for hour in grid), asked}
        for limit in sorted(filter(np.isfinite, steps)):
            early = sum(
                (run.queue.share_in_time(limit - run.hours) * here).sum()
                for run, here in zip(ordinary, jobs, strict=True)
            )
            quick = [run for run in urgent if run.row["hours"] + run.queue.mean_hours <= limit]
            run = _by_result(quick, limit)[0][0] if quick else None
            # What has to be bought or signed first has no price of one job.
            late = {"status": _nobody([each.row | {"usd": each.usd} for each in urgent], money)}
            yield {
                "workload": posed.name, "class": one.job.name, "within_hours": limit, "is_asked": limit == asked,
                "per_month": float(posed.central.jobs[hurried].mean()) if hurried != number else 0.0,
                "share_in_time": early / total if total else np.nan,
                **(late if run is None else run.told(limit) | {"usd_extra": run.usd - least}
                   | _passed_over(quick, run, limit)),
            }  # fmt: skip


def _runs(posed: MonthlyWork, queue: SampledWaits, number: int, alone: bool) -> Iterator[Run]:
    """Where a job of a class runs in the best mix, in whatever time; `alone`: it pays for the whole rented machine."""
    places = {kind.name: place for place, kind in enumerate(posed.central.held) if posed.mixes[0].counts[place]}
    for source in posed.sources:
        row, option = source.rows[number], source.offer["option"]
        if row is None or not np.isfinite(row["usd"]):
            continue
        hours, side = posed.figures["hours"][row["row"]], row["jobs_at_once"]
        if source.kind == "rented":
            times = side if alone else 1.0
            yield Run.of(row, float(row["usd"]) * times, hours, posed.figures["usd"][row["row"]] * times)
        elif option in places:
            hour, drawn = (_hour(problem.held[places[option]]) for problem in (posed.central, posed.drawn))
            yield Run.of(row, float(row["hours"]) / side * float(hour[0]), hours, hours / side * drawn, queue)


def _hour(kind: OwnedMachine) -> Array:
    """USD of an hour of use of a kind held, by draw: that of any class that runs there; 0 where none does."""
    runs = np.flatnonzero(np.isfinite(kind.hours[:, 0]))  # in time by central hours: in all draws or in none
    return np.asarray(kind.running[runs[0]] / kind.hours[runs[0]] if len(runs) else np.zeros(kind.capacity.shape))


def _queue_of(posed: MonthlyWork) -> SampledWaits:
    """The waits in the draws and months of the best mix, by how full the machines are that it holds."""
    best = posed.mixes[0]
    used = sum((best.done.device_hours(kind.name) for kind in best.problem.held), np.zeros(best.done.undone.shape[1:]))
    kinds = zip(best.problem.held, best.counts, strict=True)
    room = sum((count * kind.devices * kind.hours_per_month for kind, count in kinds), np.zeros((len(used), 1)))
    full = np.divide(used, room, out=np.zeros_like(used), where=room > 0)
    return sample_waits([one.job_class(0) for one in pool(posed, best)], full)
