"""A workload of months as a question: its mixes as choices, what they rest on, and from when a machine pays."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sweetspot.decision.assumption import (
    ALL_JOBS,
    ASSUMED_RANGE,
    Array,
    Assumption,
    Offered,
    all_work,
    assumptions_of,
)
from sweetspot.decision.cost_dispatch import PER_MONTH, Dispatch, Way, most_rented
from sweetspot.decision.dispatch_problem import MIX_DRAWS, Posed
from sweetspot.decision.dispatch_tables import Words, Worked, device_hours, mix_title, rivals_of
from sweetspot.decision.options import Row
from sweetspot.decision.pays import Held
from sweetspot.decision.question import Choice, Question
from sweetspot.decision.simulate import Draws
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.search import RENTED, Mix, neighbours
from sweetspot.study.titles import model_title

WORK = "device_hours"  # quantity: all work of a month


class Asked(NamedTuple):
    """A workload of months as a question, and its dispatch."""

    question: Question
    cost: Dispatch


def dispatch_question(worked: Worked, draws: Draws, words: Words) -> Asked | None:
    """The question of a workload of months; None where no mix does the work."""
    best = worked.mixes[0]
    if not np.isfinite(best.expected):
        return None
    posed, months = worked.posed, worked.posed.work.months
    shown = [best, *rivals_of(worked)]
    ways = [_way_of(one, posed) for one in shown]
    nothing = Way(posed.drawn.there, "", ())
    if nothing not in ways:
        ways.append(nothing)
        shown.append(replace(best, counts=posed.drawn.there, done=dispatch(posed.drawn, posed.drawn.there)))
    known = {(figure.name, row): figure.values[:MIX_DRAWS] for figure in draws.figures for row in figure.rows}
    cost = Dispatch(worked, known, ways, _assumptions(posed, words))
    labels = frozenset(cost.rows)
    choices = tuple(
        Choice(_row_of(one, posed)["option"], _title(one, posed, words), _row_of(one, posed), str(place), True, labels)
        for place, one in enumerate(shown)
    )
    drawn = np.stack([one.done.usd * months for one in shown])
    question = Question(
        workload=posed.name,
        months=months,
        choices=choices,
        assumptions=cost.assumptions,
        cost=cost.cost,
        drawn=drawn,
        best=0,
        rival=_rival(ways, drawn),
        told=f"{months:g} months",
        word="best mix",
        drawn_work=tuple(_drawn_work(posed, cost.assumptions)),
        beside=_beside(best, months),
        rows={label: row | {"title": words.title(row["option"])} for label, row in cost.rows.items()},
        named=cost.named(choices, words),
        dear=True,
        settled=cost.settled,
    )
    return Asked(question, cost)


def _rival(ways: Sequence[Way], drawn: Array) -> int | None:
    """The cheapest way that holds other machines than the best; else the cheapest other; None without one."""
    usd = drawn.mean(axis=1)
    apart = [place for place, way in enumerate(ways) if place and way.kinds != ways[0].kinds and usd[place] < np.inf]
    others = apart or [*range(1, len(ways))]
    return min(others, key=lambda place: float(usd[place])) if others else None


def _beside(best: Mix, months: float) -> Array | None:
    """USD by draw of the mixes of one machine more or less than the best that do the work."""
    usd = [dispatch(best.problem, counts).usd * months for counts in neighbours(best.problem, best.counts)]
    found = [one for one in usd if np.isfinite(one).all()]
    return np.stack(found) if found else None


def _way_of(one: Mix, posed: Posed) -> Way:
    numbered = enumerate(zip(posed.drawn.held, one.counts, strict=True))
    kinds = tuple(place for place, (kind, count) in numbered if count > kind.there)
    return Way(one.counts, one.source if one.kind == RENTED else "", kinds)


def _title(one: Mix, posed: Posed, words: Words) -> str:
    main = most_rented(one.problem, one.done) or None
    return mix_title(one, posed, main, words)


def _row_of(one: Mix, posed: Posed) -> Row:
    """The row of the options that a mix rests on most: the machine that it buys, else what it rents."""
    bought = [kind.name for kind, count in zip(posed.drawn.held, one.counts, strict=True) if count > kind.there]
    name = bought[0] if bought else one.source or most_rented(one.problem, one.done)
    return posed.source(name).offer if name else posed.sources[0].offer


def _assumptions(posed: Posed, words: Words) -> tuple[Assumption, ...]:
    """Figures of the offers, then numbers of jobs of each class, of its urgent ones, and of all."""
    offers, speeds = [], dict[int, Row]()
    for one in posed.sources:
        row = one.offer | {"title": words.title(one.offer["option"])}
        labels = tuple(dict.fromkeys(row["row"] for row in (one.offer, *one.rows) if row is not None))
        offers.append(Offered(row, labels, str(row["option"]), bool(one.there)))
        speeds |= {found["row"]: found for found in one.rows if found is not None}
    return (*assumptions_of(offers, list(speeds.values()), posed.month_days), *_jobs(posed))


def _jobs(posed: Posed) -> Iterator[Assumption]:
    for job in posed.work.jobs:
        for urgent, number in ((False, job.per_month), (True, job.urgent_per_month)):
            if number is None or not number.value > 0:
                continue
            value, (low, high) = number.value, number.ends
            ends = (low, high, "declared") if low < high else (
                value * (1 - ASSUMED_RANGE), value * (1 + ASSUMED_RANGE), "assumed")  # fmt: skip
            told = f"{'urgent ' if urgent else ''}jobs of {model_title(job.name)} a month"
            subject = f"{job.name} (urgent)" if urgent else job.name
            most = job.per_month.value if urgent else np.inf
            named = (PER_MONTH, subject, told, "jobs/month", value, *ends, PER_MONTH)
            yield Assumption(*named, frozenset(), most)
    if len(posed.work.jobs) > 1:
        yield all_work("all jobs a month")


def _drawn_work(posed: Posed, assumptions: Sequence[Assumption]) -> Iterator[tuple[Assumption, Array]]:
    """Mean jobs a month of the project, by class; of a class with urgent jobs these are among them."""
    jobs = posed.drawn.jobs.mean(axis=2)
    for assumption in assumptions:
        if assumption.quantity == PER_MONTH:
            subject = assumption.subject
            mine = [
                place
                for place, one in enumerate(posed.classes)
                if one.name == subject or (one.job.name == subject and one.urgent)
            ]
            values = jobs[mine].sum(axis=0)
            if values.min() < values.max():
                yield assumption, values


def pays_of_months(one: Asked, words: Words) -> Iterator[Held]:
    """Each machine for sale and contract with all work, one class's jobs, and the months of the project."""
    cost, posed = one.cost, one.cost.posed
    best = cost.worked.mixes[0]
    work = sum(float(hours.mean()) for hours in device_hours(posed.drawn, best.done).values())
    for place, kind in enumerate(posed.drawn.held):
        if not kind.for_sale:
            continue
        title = words.title(kind.name)
        for assumption in cost.assumptions:
            urgent = assumption.subject.endswith("(urgent)")
            jobs = assumption.quantity == ALL_JOBS or (assumption.quantity == PER_MONTH and not urgent)
            whole = jobs and (assumption.quantity == ALL_JOBS or len(posed.work.jobs) == 1)
            if not jobs and not (
                assumption.quantity == "months" and posed.source(kind.name).offer["purchase"] == "own"
            ):
                continue
            told = ("the work of a month", WORK, work, "device-hours/month") if whole else (
                assumption.name, assumption.quantity, assumption.value, assumption.unit)  # fmt: skip
            apart, exact = cost.pays(place, assumption)
            planned = apart.drawn[:, np.abs(np.log(apart.factors)).argmin()]
            yield Held(kind.name, title, assumption, *told, apart, float(np.mean(planned <= 0)), exact)
