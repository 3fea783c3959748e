"""What it costs to have a result in time, class by class, and how many jobs are in time without asking for it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.counted import DOLLARS, Money, amount, the
from sweetspot.decision.mix_problem import MIX_DRAWS, Class, Posed, Source
from sweetspot.decision.mix_tables import Worked
from sweetspot.decision.mix_waiting import Queue, queue_of
from sweetspot.decision.mix_words import Words
from sweetspot.decision.options import Row
from sweetspot.decision.simulate import Draws, interval
from sweetspot.mixes.problem import Array, Held

DEADLINES = (
    "workload", "class", "within_hours", "per_month", "option", "title", "hours", "hours_low", "hours_high", "usd",
    "usd_low", "usd_high", "usd_extra", "p_in_time", "share_in_time", "status", "wait_hours",
)  # fmt: skip
STEPS = (
    "workload", "class", "within_hours", "option", "title", "hours", "wait_hours", "usd", "usd_extra", "p_in_time",
    "share_in_time",
)  # fmt: skip
GRID, REACH = 24, 4.0  # steps between the fastest machine's hours and so many times those of the slowest


class Way(NamedTuple):
    """One way to do one job: `usd` at central figures and `drawn`, `wait` hours on average (nan: without end)."""

    source: Source
    row: Row
    usd: float
    drawn: Array
    wait: float


class Asked(NamedTuple):
    """A class of a workload: the places of its ordinary jobs and of those that are priced as urgent ones."""

    worked: Worked
    queue: Queue
    ordinary: int
    urgent: int

    @property
    def one(self) -> Class:
        """The class of the urgent jobs; of the ordinary ones where none is."""
        return self.worked.posed.classes[self.urgent]


def asked(worked: Worked) -> list[Asked]:
    """The classes of a workload."""
    queue, classes = queue_of(worked), worked.posed.classes
    places = [place for place, one in enumerate(classes) if not one.urgent]
    found = []
    for place in places:
        has = place + 1 < len(classes) and classes[place + 1].urgent
        found.append(Asked(worked, queue, place, place + has))
    return found


def deadline_table(
    worked: Sequence[Worked], draws: Draws, words: Words, money: Money = DOLLARS, due: float | None = None
) -> pd.DataFrame:
    """One row a class with a deadline (DEADLINES): the cheapest way to be in time, and who is in time anyhow.

    `due`: hours that are asked of every class, those without urgent jobs too, instead of its own. `usd`: of one urgent
    job: rented, the machine for itself; on a machine that the best mix holds, its running, if the result is there
    within the hours after its mean wait (`wait_hours`). `usd_extra`: beyond what a job of the class costs in the best
    mix where it is rented or run for the least. `p_in_time`: share of the draws and months in which that option makes
    it; `share_in_time`: of all jobs of the class in the best mix that are not asked to be urgent. Both count the wait.
    """
    rows = []
    for one in (each for work in worked for each in asked(work)):
        limit = one.one.limit if due is None else due
        if np.isfinite(limit):
            rows.append(_row(one, limit, draws, words, money))
    return pd.DataFrame(rows, columns=list(DEADLINES))


def step_table(worked: Sequence[Worked], draws: Draws, words: Words) -> pd.DataFrame:
    """What any deadline costs (STEPS): a row a class and number of hours, as `deadline_table`; what a row says holds
    until the next one's hours. From the hours of the fastest machine to REACH times those of the slowest.
    """
    rows = []
    for one in (each for work in worked for each in asked(work)):
        limits = _limits(one)
        share = _Share(one, draws)
        for limit in limits:
            rows.append(_told(one, limit, draws, words, share)[0])
    return pd.DataFrame(rows, columns=list(STEPS))


def _limits(one: Asked) -> list[float]:
    hours = [row["hours"] for source in one.worked.posed.sources if (row := source.rows[one.urgent]) is not None]
    if not hours:
        return []
    waits = [hour + one.queue.mean for hour in hours] if np.isfinite(one.queue.mean) else []
    grid = np.geomspace(min(hours), REACH * max(hours), GRID)
    own = [one.one.limit] if np.isfinite(one.one.limit) else []
    return sorted({*hours, *waits, *own, *(float(f"{hour:.3g}") for hour in grid[1:])})


def _row(one: Asked, limit: float, draws: Draws, words: Words, money: Money) -> dict[str, Any]:
    told, way = _told(one, limit, draws, words, _Share(one, draws))
    posed = one.worked.posed
    told |= {"per_month": float(posed.central.jobs[one.urgent].mean()) if one.urgent != one.ordinary else 0.0}
    if way is None:
        return told | {"status": _nobody(posed, one.urgent, words, money)}
    hours = interval(draws.hours[way.row["row"]][:MIX_DRAWS])
    ends = zip(("hours_low", "hours_high", "usd_low", "usd_high"), (*hours, *interval(way.drawn)), strict=True)
    return told | {name: float(end) for name, end in ends} | {"status": "ok"}


def _told(one: Asked, limit: float, draws: Draws, words: Words, share: "_Share") -> tuple[dict[str, Any], Way | None]:
    said: dict[str, Any] = {
        "workload": one.worked.posed.name,
        "class": one.one.job.name,
        "within_hours": limit,
        "share_in_time": share.within(limit),
    }
    ways = [way for way in _ways(one, draws, urgent=True) if way.row["hours"] + way.wait <= limit]
    if not ways:
        return said, None
    way = min(ways, key=lambda other: other.usd)
    ordinary = min((other.usd for other in _ways(one, draws, urgent=False)), default=np.nan)
    option = way.source.offer["option"]
    return said | {
        "option": option,
        "title": words.title(option),
        "hours": way.row["hours"],
        "wait_hours": way.wait,
        "usd": way.usd,
        "usd_extra": way.usd - ordinary,
        "p_in_time": _chance(one, way, limit, draws),
    }, way


def _ways(one: Asked, draws: Draws, urgent: bool) -> Iterator[Way]:
    """Where a job of the class runs in the best mix, in whatever time: on what is held, and rented."""
    posed, best = one.worked.posed, one.worked.mixes[0]
    number = one.urgent if urgent else one.ordinary
    held = {
        kind.name: (place, count)
        for place, (kind, count) in enumerate(zip(best.problem.held, best.counts, strict=True))
    }
    for source in posed.sources:
        row = source.rows[number]
        if row is None or not np.isfinite(row["usd"]):
            continue
        place, count = held.get(source.offer["option"], (0, 0))
        alone = row["jobs_at_once"] if urgent else 1.0  # an urgent job pays for the whole of a rented machine
        if not source.held:
            yield Way(source, row, float(row["usd"]) * alone, draws.usd[row["row"]][:MIX_DRAWS] * alone, 0.0)
        elif count:
            hour, drawn = (_hour(problem.held[place]) for problem in (posed.central, posed.drawn))
            share = float(row["hours"]) / row["jobs_at_once"]
            usd = draws.hours[row["row"]][:MIX_DRAWS] / row["jobs_at_once"] * drawn
            yield Way(source, row, share * float(hour[0]), usd, one.queue.mean)


def _hour(kind: Held) -> Array:
    """USD of an hour of use of a kind held, by draw: that of any class that runs there; 0 where none does."""
    runs = np.isfinite(kind.hours).all(axis=1) & (kind.hours > 0).all(axis=1)
    if not runs.any():
        return np.zeros(kind.capacity.shape)
    number = int(np.argmax(runs))
    hour: Array = kind.running[number] / kind.hours[number]
    return hour


def _chance(one: Asked, way: Way, limit: float, draws: Draws) -> float:
    """Share of the draws, and of a pool's months, in which a job is in time there."""
    spare = limit - draws.hours[way.row["row"]][:MIX_DRAWS]
    if not way.source.held:
        return float(np.mean(spare >= 0))
    every = np.ones(one.queue.level.shape)
    return one.queue.in_time(spare, one.queue.weights(every)) / every.size


class _Share:
    """Of the ordinary jobs of a class in the best mix, those that are done within some hours."""

    def __init__(self, one: Asked, draws: Draws) -> None:
        self.queue = one.queue
        posed, best, number = one.worked.posed, one.worked.mixes[0], one.ordinary
        self.held: list[tuple[Array, dict[int, Array]]] = []
        self.rented: list[tuple[Array, Array]] = []
        self.total = 0.0
        for place, kind in enumerate(best.problem.held):
            self._add(posed.source(kind.name).rows[number], best.done.held[number, place], draws, True)
        for other, offer in enumerate(best.problem.rented):
            jobs = np.where((best.done.chosen[number] == other)[:, None], best.done.rented[number], 0.0)
            self._add(posed.source(offer.name).rows[number], jobs, draws, False)

    def _add(self, row: Row | None, jobs: Array, draws: Draws, held: bool) -> None:
        self.total += float(jobs.sum())
        if row is None or not jobs.any():
            return
        hours = draws.hours[row["row"]][:MIX_DRAWS]
        if held:
            self.held.append((hours, self.queue.weights(jobs)))
        else:
            self.rented.append((hours, jobs.sum(axis=1)))

    def within(self, limit: float) -> float:
        """The share; nan where the class has no jobs."""
        early = sum(self.queue.in_time(limit - hours, weights) for hours, weights in self.held)
        early += sum(float(jobs[hours <= limit].sum()) for hours, jobs in self.rented)
        return early / self.total if self.total else float("nan")


def _nobody(posed: Posed, number: int, words: Words, money: Money) -> str:
    rows = [(source.rows[number], source) for source in posed.sources]
    known = [(row["hours"], row["usd"], source) for row, source in rows if row is not None]
    if not known:
        return "no machine has a speed for it"
    hours, usd, source = min(known, key=lambda one: (one[0], one[1]))
    title = the(words.title(source.offer["option"]))
    return f"none can: the fastest, {title}, takes {amount(hours)} h for {amount(money.of(usd))} {money.code}"
