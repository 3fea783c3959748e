"""One job of each class on each machine: whether it runs, how long it takes; and what it costs to be in time."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.certainty import amount
from sweetspot.decision.counted import DOLLARS, Money, the
from sweetspot.decision.fits import does_not_fit
from sweetspot.decision.mix_problem import MIX_DRAWS, Class, Posed, Source, in_time
from sweetspot.decision.mix_tables import Worked
from sweetspot.decision.mix_words import Words
from sweetspot.decision.options import OFFER, Row, records
from sweetspot.decision.simulate import Draws, interval

JOBS = (
    "workload", "class", "urgent", "model", "option", "instance", "purchase", "price_list", "title", "status", "basis",
    "devices", "jobs_at_once", "hours", "usd", "within_hours",
)  # fmt: skip
DEADLINES = (
    "workload", "class", "within_hours", "per_month", "option", "title", "hours", "hours_low", "hours_high", "usd",
    "usd_low", "usd_high", "usd_extra", "p_in_time", "share_in_time", "status",
)  # fmt: skip
FITS, NO_SPEED, TOO_LATE, TOO_SMALL = "fits", "no speed", "too late", "does not fit"
TOO_FEW, TAKEN = "too few devices", "can be taken away"


def job_table(worked: Sequence[Worked], every: pd.DataFrame, offers: pd.DataFrame, words: Words) -> pd.DataFrame:
    """One row a class and offer (JOBS), whether it runs there or not, and why not.

    `every`: the options, those that do not fit among them. `usd`: of one job with its share of the machine, possession
    of a machine that is owned included at its planned use.
    """
    rows = [row for one in worked for row in _job_rows(one.posed, every, offers, words)]
    return pd.DataFrame(rows, columns=list(JOBS))


def _job_rows(posed: Posed, every: pd.DataFrame, offers: pd.DataFrame, words: Words) -> Iterator[dict[str, Any]]:
    machines = offers.drop_duplicates(list(OFFER)).to_dict("records")
    small = does_not_fit(every)
    for one in posed.classes:
        rows = {tuple(row[name] for name in OFFER): row for row in records(every[every["workload"] == one.workload])}
        for offer in machines:
            row = rows.get(tuple(offer[name] for name in OFFER))
            said = {
                "workload": posed.name,
                "class": one.job.name,
                "urgent": one.urgent,
                "model": one.job.model,
                **{name: offer[name] for name in OFFER},
                "option": None if row is None else row["option"],
                "title": words.machine(str(offer["instance"])) if row is None else row["title"],
                "status": _status(one, row, offer, small),
                "within_hours": one.limit if np.isfinite(one.limit) else None,
            }
            if row is not None:
                more = {"basis": "throughput_basis", "devices": "gpus", "jobs_at_once": "jobs_at_once"}
                said |= {name: row[column] for name, column in {**more, "hours": "hours", "usd": "usd"}.items()}
            yield said


def _status(one: Class, row: Row | None, offer: dict[str, Any], small: pd.Series) -> str:
    if row is None:
        wanted = one.job.urgent_devices_per_job if one.urgent else None
        wanted = wanted or one.job.devices_per_job
        return TOO_FEW if wanted != "all" and offer.get("gpus", np.inf) < wanted else NO_SPEED
    if small[row["row"]]:
        return TOO_SMALL
    if not in_time(one, row):
        return TOO_LATE
    return FITS if row["persistent"] else TAKEN


def deadline_table(worked: Sequence[Worked], draws: Draws, words: Words, money: Money = DOLLARS) -> pd.DataFrame:
    """One row a class with a deadline (DEADLINES): the cheapest way to be in time, and who is in time anyhow.

    `usd`: of one urgent job: rented, the machine for itself; on a machine that the best mix holds, its running.
    `usd_extra`: beyond what a job of the class costs in the best mix where it is rented or run for the least.
    `p_in_time`: share of the draws in which that option makes it; `share_in_time`: of all jobs of the class in the best
    mix that are not asked to be urgent.
    """
    rows = [row for one in worked for row in _deadline_rows(one, draws, words, money)]
    return pd.DataFrame(rows, columns=list(DEADLINES))


def _deadline_rows(worked: Worked, draws: Draws, words: Words, money: Money) -> Iterator[dict[str, Any]]:
    posed = worked.posed
    for number, one in enumerate(posed.classes):
        if not one.urgent:
            continue
        said = {
            "workload": posed.name,
            "class": one.job.name,
            "within_hours": one.limit,
            "per_month": float(posed.central.jobs[number].mean()),
            "share_in_time": _share_in_time(worked, number - 1, one.limit, draws),
        }
        ways = _ways(worked, number)
        if not ways:
            yield said | {"status": _nobody(posed, number, words, money)}
            continue
        usd, source, drawn = min(ways, key=lambda way: way[0])
        row = source.rows[number]
        assert row is not None
        hours = draws.hours[row["row"]][:MIX_DRAWS]
        ends = zip(
            ("hours_low", "hours_high", "usd_low", "usd_high"), (*interval(hours), *interval(drawn)), strict=True
        )
        ordinary = min((way[0] for way in _ways(worked, number - 1)), default=np.nan)
        yield (
            said
            | {name: float(end) for name, end in ends}
            | {
                "option": source.offer["option"],
                "title": words.title(source.offer["option"]),
                "hours": row["hours"],
                "usd": usd,
                "usd_extra": usd - ordinary,
                "p_in_time": float(np.mean(hours <= one.limit)),
                "status": "ok",
            }
        )


def _ways(worked: Worked, number: int) -> list[tuple[float, Source, np.ndarray]]:
    """Where a job of the class runs in the best mix: central USD, source, USD drawn."""
    posed, best = worked.posed, worked.mixes[0]
    found = []
    for place, count in enumerate(best.counts):
        middle, drawn = posed.central.held[place], posed.drawn.held[place]
        if count and np.isfinite(middle.hours[number, 0]):
            found.append((float(middle.running[number, 0]), posed.source(middle.name), drawn.running[number]))
    for middle_offer, drawn_offer in zip(posed.central.rented, posed.drawn.rented, strict=True):
        if np.isfinite(middle_offer.usd[number, 0]):
            usd = float(middle_offer.usd[number, 0])
            found.append((usd, posed.source(middle_offer.name), drawn_offer.usd[number]))
    return found


def _share_in_time(worked: Worked, number: int, limit: float, draws: Draws) -> float:
    """Of the ordinary jobs of a class in the best mix, those that end in time; waiting is not counted."""
    posed, best = worked.posed, worked.mixes[0]
    done, early, total = best.done, 0.0, 0.0
    for place, kind in enumerate(best.problem.held):
        row = posed.source(kind.name).rows[number]
        jobs = done.held[number, place].sum(axis=1)
        total += float(jobs.sum())
        early += 0.0 if row is None else float(jobs[draws.hours[row["row"]][:MIX_DRAWS] <= limit].sum())
    for other, offer in enumerate(best.problem.rented):
        row = posed.source(offer.name).rows[number]
        jobs = np.where(done.chosen[number] == other, done.rented[number].sum(axis=1), 0.0)
        total += float(jobs.sum())
        early += 0.0 if row is None else float(jobs[draws.hours[row["row"]][:MIX_DRAWS] <= limit].sum())
    return early / total if total else float("nan")


def _nobody(posed: Posed, number: int, words: Words, money: Money) -> str:
    rows = [(source.rows[number], source) for source in posed.sources]
    known = [(row["hours"], row["usd"], source) for row, source in rows if row is not None]
    if not known:
        return "no machine has a speed for it"
    hours, usd, source = min(known, key=lambda one: (one[0], one[1]))
    title = the(words.title(source.offer["option"]))
    return f"none can: the fastest, {title}, takes {amount(hours)} h for {amount(money.of(usd))} {money.code}"
