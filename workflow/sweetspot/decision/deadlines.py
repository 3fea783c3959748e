"""What it costs to have a result in time: of a single job, and of each class of the jobs of months."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.queue import EVERYBODY, NOBODY, Tail, tail_of, utilisation, wait_for
from sweetspot.decision.dispatch_problem import MIX_DRAWS, Posed
from sweetspot.decision.options import Row, records
from sweetspot.decision.simulate import Draws
from sweetspot.decision.standing import standing
from sweetspot.decision.waiting import pool
from sweetspot.draws import interval
from sweetspot.mixes.problem import Array, Held
from sweetspot.wording import DOLLARS, TIE, Money, amount, span, the

DEADLINES = (
    "workload", "class", "within_hours", "is_asked", "per_month", "option", "title", "hours", "hours_low", "hours_high",
    "usd", "usd_low", "usd_high", "usd_extra", "p_in_time", "share_in_time", "status", "wait_hours", "runner_up",
    "margin", "margin_low", "margin_high", "p_cheapest", "confidence", "verdict",
)  # fmt: skip
GRID, REACH = 24, 4.0  # steps between the fastest machine's hours and so many times those of the slowest
LEVELS = 20  # of how full a pool is in a month; from half a level below full on, its queue grows without end


class Queue(NamedTuple):
    """`mean`: hours that a job waits at central figures (nan: the machines are full); `tails`: by how full they are, in
    LEVELS; `level`: that of draw x month.
    """

    mean: float
    tails: Mapping[int, Tail]
    level: Array

    def weights(self, jobs: Array) -> dict[int, Array]:
        """Jobs (draw x month) by level: those of each draw."""
        return {level: np.where(self.level == level, jobs, 0.0).sum(axis=1) for level in self.tails}

    def in_time(self, spare: Array, weights: Mapping[int, Array]) -> float:
        """How many of the jobs (`weights`) wait no longer than the hours that a draw leaves them (`spare`)."""
        return float(sum((weights[level] * (1.0 - tail.beyond(spare))).sum() for level, tail in self.tails.items()))


AT_ONCE = Queue(0.0, {0: NOBODY}, np.zeros((1, 1)))  # of a rented machine


class Way(NamedTuple):
    """One way to do a job, by a `row` of the options: its `usd`, `hours` and `drawn` USD by draw, the `queue` in which
    it waits, and which `jobs` of its class the best mix does so (`Queue.weights`).
    """

    row: Row
    usd: float
    hours: Array
    drawn: Array
    queue: Queue = AT_ONCE
    jobs: Mapping[int, Array] = {}

    def told(self, limit: float) -> dict[str, Any]:
        """What DEADLINES says of it."""
        every = np.ones((len(self.hours), self.queue.level.shape[1]))
        chance = self.queue.in_time(limit - self.hours, self.queue.weights(every)) / every.size
        (fast, slow), (cheap, dear) = interval(self.hours), interval(self.drawn)
        return {
            **{name: self.row[name] for name in ("option", "title", "hours")}, "wait_hours": self.queue.mean,
            "hours_low": float(fast), "hours_high": float(slow), "usd": self.usd, "usd_low": float(cheap),
            "usd_high": float(dear), "p_in_time": chance, "status": "ok",
        }  # fmt: skip


def job_deadlines(options: pd.DataFrame, draws: Draws, hours: Sequence[float], money: Money = DOLLARS) -> pd.DataFrame:
    """Rows of DEADLINES for each workload and deadline (`hours`), shortest first: of the options (`build_options`) that
    finish a single job within it (by central hours) and stay, the cheapest.

    `p_cheapest` counts a draw that is late as no choice; `runner_up`, the next option, also more nodes of the same
    machine; `margin`: its USD / USD of the option (`margin_low`, `margin_high`: 90 %); `verdict`: the option's title,
    or too close to call and between which, or that none can and which is the fastest.
    """
    found = []
    known = options.dropna(subset=["hours", "usd"]) if len(hours) else options.head(0)
    for workload, rows in known.groupby("workload", sort=True):
        stays = rows[rows["persistent"].astype(bool)]
        nobody = _nobody(records(stays if len(stays) else rows), money)
        late = {"status": nobody, "verdict": nobody, "confidence": "clear"}
        for limit in sorted(hours):
            kept = rows[rows["hours"] <= limit].sort_values(["usd", "option"], kind="stable")
            told = _cheapest(kept, draws, limit) if kept["persistent"].any() else late
            found.append({"workload": workload, "within_hours": limit, "is_asked": True, **told})
    return pd.DataFrame(found, columns=list(DEADLINES))


def _cheapest(kept: pd.DataFrame, draws: Draws, limit: float) -> dict[str, Any]:
    places, rows = kept.index.to_numpy(), records(kept)
    table = kept.assign(alternative=kept["option"]).reset_index(drop=True)
    found = standing(table, np.where(draws.hours[places] <= limit, draws.usd[places], np.inf))
    best = rows[found.best]
    told = Way(best, best["usd"], draws.hours[best["row"]], draws.usd[best["row"]]).told(limit)
    told |= {"p_cheapest": found.p_cheapest, "confidence": found.confidence, "verdict": best["title"]}
    if found.rival is not None:
        second = rows[found.rival]
        told |= {"runner_up": second["option"], "margin": float(second["usd"] / best["usd"])}
        told |= {"margin_low": found.low, "margin_high": found.high}
        if found.confidence == TIE:
            told["verdict"] = f"too close to call: {the(best['title'])} or {the(second['title'])}"
    return told


def _nobody(rows: Sequence[Row], money: Money) -> str:
    if not rows:
        return "no machine has a speed for it"
    first = min(rows, key=lambda row: (row["hours"], row["usd"]))
    paid = f"{amount(money.of(first['usd']))} {money.code}"
    return f"none can: the fastest, {the(first['title'])}, takes {span(first['hours'])} for {paid}"


def class_deadlines(works: Sequence[Posed], draws: Draws, money: Money, due: float | None = None) -> pd.DataFrame:
    """Rows of DEADLINES for each class and number of hours: the cheapest way to be in time, and who is in time anyhow.

    A row holds until the next one's hours, from the fastest machine's to REACH times those of the slowest. `is_asked`:
    the class's own deadline, or that of every class (`due`). `per_month`: urgent jobs. `usd`: of one: rented, the
    machine for itself; on one that the best mix holds, its running, if the result is there within the hours after its
    mean wait (`wait_hours`). `usd_extra`: beyond what an ordinary job costs where that is least. `p_in_time`: share of
    the draws and months in which that option makes it; `share_in_time`: of all jobs of the class in the best mix that
    are not asked to be urgent. Both count the wait.
    """
    rows = [row for one in works for row in _of_classes(one, draws, money, due)]
    return pd.DataFrame(rows, columns=list(DEADLINES))


def _of_classes(posed: Posed, draws: Draws, money: Money, due: float | None) -> Iterator[dict[str, Any]]:
    queue = queue_of(posed)
    for number, one in ((place, one) for place, one in enumerate(posed.classes) if not one.urgent):
        hurried = number + any(other.urgent for other in posed.classes[number + 1 : number + 2])
        asked = posed.classes[hurried].limit if due is None else due
        urgent, ordinary = ([*_ways(posed, queue, *of, draws)] for of in ((hurried, True), (number, False)))
        total = sum(float(jobs.sum()) for way in ordinary for jobs in way.jobs.values())
        least = min((way.usd for way in ordinary), default=np.nan)
        runs = [row for source in posed.sources if (row := source.rows[hurried]) is not None]
        for limit in _limits([row["hours"] for row in runs], queue.mean, asked):
            ways = [way for way in urgent if way.row["hours"] + way.queue.mean <= limit]
            way = min(ways, key=lambda each: each.usd, default=None)
            early = sum(other.queue.in_time(limit - other.hours, other.jobs) for other in ordinary)
            late = {"status": _nobody(runs, money)}
            yield {
                "workload": posed.name, "class": one.job.name, "within_hours": limit, "is_asked": limit == asked,
                "per_month": float(posed.central.jobs[hurried].mean()) if hurried != number else 0.0,
                "share_in_time": early / total if total else np.nan,
                **(late if way is None else way.told(limit) | {"usd_extra": way.usd - least}),
            }  # fmt: skip


def _limits(hours: Sequence[float], wait: float, asked: float) -> list[float]:
    grid = [float(f"{hour:.3g}") for hour in np.geomspace(min(hours), REACH * max(hours), GRID)[1:]] if hours else []
    return sorted(filter(np.isfinite, {*hours, *(hour + wait for hour in hours), *grid, asked}))


def _ways(posed: Posed, queue: Queue, number: int, alone: bool, draws: Draws) -> Iterator[Way]:
    """Where a job of a class runs in the best mix, in whatever time; `alone`: it pays for the whole rented machine."""
    best = posed.mixes[0]
    held = {kind.name: place for place, kind in enumerate(best.problem.held) if best.counts[place]}
    rented = {offer.name: place for place, offer in enumerate(best.problem.rented)}
    for source in posed.sources:
        row, option = source.rows[number], source.offer["option"]
        if row is None or not np.isfinite(row["usd"]):
            continue
        hours, usd = (drawn[row["row"]][:MIX_DRAWS] for drawn in (draws.hours, draws.usd))
        if source.kind == "rented":
            times = row["jobs_at_once"] if alone else 1.0
            here = best.done.chosen[number] == rented.get(option, len(rented))
            jobs = AT_ONCE.weights(np.where(here[:, None], best.done.rented[number], 0.0))
            yield Way(row, float(row["usd"]) * times, hours, usd * times, AT_ONCE, jobs)
        elif option in held:
            place, side = held[option], row["jobs_at_once"]
            hour, drawn = (_hour(problem.held[place]) for problem in (posed.central, posed.drawn))
            jobs = queue.weights(best.done.held[number, place])
            yield Way(row, float(row["hours"]) / side * float(hour[0]), hours, hours / side * drawn, queue, jobs)


def _hour(kind: Held) -> Array:
    """USD of an hour of use of a kind held, by draw: that of any class that runs there; 0 where none does."""
    runs = np.flatnonzero((np.isfinite(kind.hours) & (kind.hours > 0)).all(axis=1))
    return np.asarray(kind.running[runs[0]] / kind.hours[runs[0]] if len(runs) else np.zeros(kind.capacity.shape))


def queue_of(posed: Posed) -> Queue:
    """The waits in the draws and months of the best mix, by how full the machines are that it holds."""
    best = posed.mixes[0]
    streams = [one.stream(0) for one in pool(posed, best)]
    used, room = np.zeros(best.done.held.shape[2:]), np.zeros(best.done.held.shape[2])
    for number, (kind, count) in enumerate(zip(best.problem.held, best.counts, strict=True)):
        hours = np.where(np.isfinite(kind.hours), kind.hours, 0.0) * kind.devices
        used += np.einsum("jdt,jd->dt", best.done.held[:, number], hours)
        room += count * kind.capacity * kind.devices
    full = np.divide(used, room[:, None], out=np.zeros_like(used), where=room[:, None] > 0)
    level, busy = np.rint(full * LEVELS).astype(int), utilisation(streams) or np.inf
    tails = {int(one): EVERYBODY for one in np.unique(level)}
    for one in (each for each in tails if each < LEVELS):
        tails[one] = tail_of([each._replace(per_hour=each.per_hour * one / LEVELS / busy) for each in streams])
    return Queue(wait_for(streams).hours if any(best.counts) else np.nan, tails, level)
