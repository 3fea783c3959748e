"""The queue of a mix: the machines that it holds are one pool, to which the jobs that it gives them come at random."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sweetspot.bills.queue import EVERYBODY, Stream, Tail, tail_of, utilisation, wait_for
from sweetspot.decision.counted import listed
from sweetspot.decision.mix_problem import Class, Posed
from sweetspot.decision.mix_tables import Worked, key_of
from sweetspot.decision.mix_words import Words
from sweetspot.decision.waiting import ENDS, QUEUE_COLUMNS, with_rivals
from sweetspot.mixes.problem import Array
from sweetspot.mixes.search import BOUGHT

if TYPE_CHECKING:
    from sweetspot.study.terms import Positive

LEVELS = 20  # of how full a pool is in a month; from half a level below full on, its queue grows without end


@dataclass(frozen=True)
class Queue:
    """The waits in the months of a mix. `tails`: by how full the pool is, in LEVELS; `level`: that of draw x month."""

    mean: float
    tails: Mapping[int, Tail]
    level: Array

    def weights(self, jobs: Array) -> dict[int, Array]:
        """Jobs (draw x month) by level: those of each draw."""
        return {level: np.where(self.level == level, jobs, 0.0).sum(axis=1) for level in self.tails}

    def in_time(self, spare: Array, weights: Mapping[int, Array]) -> float:
        """How many of the jobs (`weights`) wait no longer than the hours that a draw leaves them (`spare`)."""
        return float(sum((weights[level] * (1.0 - tail.beyond(spare))).sum() for level, tail in self.tails.items()))


def queue_of(worked: Worked, place: int = 0) -> Queue:
    """The queue of one of the mixes; `mean`: hours that a job waits at central figures (nan: the pool is full)."""
    mix = worked.mixes[place]
    streams = list(pool_streams(worked, place).values())
    busy = utilisation(streams)
    level = np.rint(_fullness(worked, place) * LEVELS).astype(int)
    tails = {int(one): _at(streams, one / LEVELS / busy if busy > 0 else 0.0, int(one)) for one in np.unique(level)}
    return Queue(wait_for(streams).hours if any(mix.counts) else np.nan, tails, level)


def _at(streams: Sequence[Stream], factor: float, level: int) -> Tail:
    if level >= LEVELS:
        return EVERYBODY
    return tail_of([one._replace(per_hour=one.per_hour * factor) for one in streams])


def _fullness(worked: Worked, place: int) -> Array:
    """Share of the device-hours of all machines held that is used, draw x month; 0 where nothing is held."""
    mix = worked.mixes[place]
    used, room = np.zeros(mix.done.held.shape[2:]), np.zeros(mix.done.held.shape[2])
    for number, (kind, count) in enumerate(zip(mix.problem.held, mix.counts, strict=True)):
        hours = np.where(np.isfinite(kind.hours), kind.hours, 0.0) * kind.devices
        used += np.einsum("jdt,jd->dt", mix.done.held[:, number], hours)
        room += count * kind.capacity * kind.devices
    full: Array = np.divide(used, room[:, None], out=np.zeros_like(used), where=room[:, None] > 0)
    return full


def pool_streams(worked: Worked, place: int = 0, end: str = "") -> dict[int, Stream]:
    """The jobs that come to the machines held, at central figures, by the place of their class; those that get some.

    All machines held are one pool: a job goes to whichever of those on which its class runs is free. `servers`: jobs of
    the class that they work on at once; `hours`: of one job, the mean over where its class is worked on; arrivals by
    the hours in which the pool works. `end`: `_low` or `_high`, with the ends of the speeds and of the jobs a month.
    """
    posed, mix, done = worked.posed, worked.mixes[place], worked.central[place]
    kinds = [one for one in enumerate(zip(mix.problem.held, mix.counts, strict=True)) if one[1][1]]
    devices = sum(count * kind.devices for _, (kind, count) in kinds)
    found = {}
    for number, one in enumerate(posed.classes):
        jobs = [float(done.held[number, at].sum()) for at, _ in kinds]
        if not sum(jobs) > 0:
            continue
        rows = [posed.source(kind.name).rows[number] for _, (kind, _) in kinds]
        runs = [(row, count, here) for row, (_, (_, count)), here in zip(rows, kinds, jobs, strict=True) if row]
        hours = sum(here * _hours(row, end) for row, _, here in runs) / sum(jobs)
        servers = sum(count * int(row["jobs_at_once"]) for row, count, _ in runs)
        opened = (
            sum(count * kind.devices * float(posed.central.held[at].capacity[0]) for at, (kind, count) in kinds)
            / devices
        )
        per_month = sum(jobs) * _more(one, end)
        found[number] = Stream(per_month / opened, hours, one.job.hours_cv, servers)
    return found


def _hours(row: Mapping[str, Any], end: str) -> float:
    hours = float(row.get(f"hours{end}", np.nan))
    return float(row["hours"]) if np.isnan(hours) else hours


def _more(one: Class, end: str) -> float:
    """How many times its central number the jobs of a class are at an end of their range."""
    number: Positive | None = one.job.urgent_per_month if one.urgent else one.job.per_month
    if not end or number is None or not number.value:
        return 1.0
    return float(number.ends[ENDS[end] - 1] / number.value)


def mix_queue(worked: Sequence[Worked], words: Words) -> pd.DataFrame:
    """Rows of the queue table (QUEUE_COLUMNS) for the work of months: of each class on the pool that the best mix holds
    and, where that is another, on the pool with the reference bought; and on each offer that is rented.
    """
    rows = [row for one in worked for place in _places(one) for row in _pool_rows(one, place, words)]
    if not rows:
        return pd.DataFrame(columns=list(QUEUE_COLUMNS))
    return with_rivals(pd.DataFrame([*rows, *(row for one in worked for row in _rented_rows(one))]))


def _places(worked: Worked) -> list[int]:
    best = worked.mixes[0]
    reference = {one.offer["option"] for one in worked.posed.sources if one.offer["is_reference"]}
    others = [
        place
        for place, mix in enumerate(worked.mixes)
        if mix.kind == BOUGHT and mix.source in reference and mix.counts != best.counts
    ]
    return [0, *others]


def _pool_rows(worked: Worked, place: int, words: Words) -> Iterator[dict[str, Any]]:
    posed, mix = worked.posed, worked.mixes[place]
    by_end = {end: pool_streams(worked, place, end) for end in ENDS}
    waits = {end: wait_for(list(streams.values())) for end, streams in by_end.items()}
    for number, stream in by_end[""].items():
        one, now = posed.classes[number], waits[""]
        yield {
            "option": f"{posed.name}: {key_of(mix)}",
            "title": _pool_title(mix.counts, posed, words),
            "model": one.job.model,
            "workload": one.workload,
            "is_reference": False,
            "held": True,
            "jobs_at_once": stream.servers,
            "per_month": float(worked.central[place].held[number].sum()),
            "people": posed.work.people,
            "hours": stream.hours,
            "utilisation": now.utilisation,
            "overloaded": now.overloaded,
            "wait_hours_p90": now.ninety,
            **{f"wait_hours{end}": waits[end].hours for end in ENDS},
            **{f"hours_to_result{end}": waits[end].hours + by_end[end][number].hours for end in ENDS},
            "_stays": False,
            "_streams": list(by_end[""].values()),
        }


def _pool_title(counts: Sequence[int], posed: Posed, words: Words) -> str:
    held = [(kind.name, count) for kind, count in zip(posed.drawn.held, counts, strict=True) if count]
    names = [words.title(name) if count == 1 else f"{count} × {words.title(name)}" for name, count in held]
    return names[0] if len(held) == 1 and held[0][1] == 1 else f"pool of {listed(names)}"


def _rented_rows(worked: Worked) -> Iterator[dict[str, Any]]:
    """One job of each ordinary class on each rented offer, which nobody else is at."""
    for source in worked.posed.sources:
        for one, row in zip(worked.posed.classes, source.rows, strict=True):
            if row is None or source.held or one.urgent:
                continue
            hours = {end: _hours(row, end) for end in ENDS}
            yield {
                **{name: row[name] for name in ("option", "title", "model", "workload", "is_reference")},
                **{"held": False, "overloaded": False, "utilisation": np.nan, "wait_hours_p90": 0.0, "_stays": True},
                **{"jobs_at_once": int(row["jobs_at_once"]), "per_month": one.job.per_month.value, "_streams": []},
                **{"people": worked.posed.work.people, "hours": hours[""]},
                **{f"wait_hours{end}": 0.0 for end in ENDS},
                **{f"hours_to_result{end}": hours[end] for end in ENDS},
            }
