"""A workload of months as a question: its mixes as choices, what they rest on, and from when a machine pays."""

from collections.abc import Iterator, Sequence
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
from sweetspot.decision.cost_dispatch import Dispatch
from sweetspot.decision.dispatch_problem import PER_MONTH, Posed
from sweetspot.decision.dispatch_tables import is_best, mix_title
from sweetspot.decision.options import Row
from sweetspot.decision.pays import Held
from sweetspot.decision.question import Choice, Question
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.search import BEST, Mix, moved
from sweetspot.study.titles import model_title

WORK = "device_hours"  # quantity: all work of a month


class Asked(NamedTuple):
    """A workload of months as a question, and its dispatch."""

    question: Question
    cost: Dispatch


def dispatch_question(posed: Posed) -> Asked | None:
    """The question of a workload of months; None where no mix does the work."""
    best, months = posed.mixes[0], posed.work.months
    if not np.isfinite(best.expected):
        return None
    shown = [best, *(one for one in posed.mixes if not is_best(one, best) and np.isfinite(one.expected))]
    if ("", posed.drawn.there) not in ((one.source, one.counts) for one in shown):
        shown.append(Mix(BEST, "", dispatch(posed.drawn, posed.drawn.there)))
    cost = Dispatch(posed, shown, [mix_title(one, posed) for one in shown], _assumptions(posed))
    rows = [_row_of(one, posed) for one in shown]
    drawn = np.stack([one.done.usd * months for one in shown])
    question = Question(
        workload=posed.name,
        months=months,
        choices=tuple(
            Choice(row["option"], title, row, str(place), True, frozenset(posed.rows))
            for place, (row, title) in enumerate(zip(rows, cost.titles, strict=True))
        ),
        assumptions=cost.assumptions,
        cost=cost.cost,
        drawn=drawn,
        best=0,
        rival=_rival(shown, drawn),
        told=f"{months:g} months",
        word="best mix",
        drawn_work=tuple(_drawn_work(posed, cost.assumptions)),
        beside=_beside(best, months),
        rows=posed.rows,
        named=cost.title,
        dear=True,
        settled=cost.settled,
    )
    return Asked(question, cost)


def _rival(ways: Sequence[Mix], drawn: Array) -> int | None:
    """The cheapest way that holds other machines than the best; else the cheapest other; None without one."""
    usd = drawn.mean(axis=1)
    others, bought = range(1, len(ways)), ways[0].bought.keys()
    apart = [place for place in others if ways[place].bought.keys() != bought and usd[place] < np.inf]
    return min(apart or others, key=lambda place: float(usd[place]), default=None)


def _beside(best: Mix, months: float) -> Array | None:
    """USD by draw of the mixes of one machine more or less than the best that do the work."""
    problem, anything = best.problem, tuple(count + 1 for count in best.counts)
    near = [moved(best.counts, place, step, problem.there, anything) for place in problem.for_sale for step in (-1, 1)]
    usd = [dispatch(problem, counts).usd * months for counts in near if counts is not None]
    found = [one for one in usd if np.isfinite(one).all()]
    return np.stack(found) if found else None


def _row_of(one: Mix, posed: Posed) -> Row:
    """The row of the options that a mix rests on most: the machine that it buys, else what it rents."""
    name = next(iter(one.bought), one.source or one.done.lead)
    return posed.source(name).offer if name else posed.sources[0].offer


def _assumptions(posed: Posed) -> tuple[Assumption, ...]:
    """Figures of the offers, then numbers of jobs of each class, of its urgent ones, and of all."""
    offers = [Offered(one.offer, one.labels, str(one.offer["option"]), bool(one.there)) for one in posed.sources]
    speeds = {row["row"]: row for one in posed.sources for row in one.rows if row is not None}
    return (*assumptions_of(offers, list(speeds.values()), posed.month_days), *_jobs(posed))


def _jobs(posed: Posed) -> Iterator[Assumption]:
    for one in posed.classes:
        value, (low, high) = one.number.value, one.number.ends
        if value > 0:
            ends = (low, high, "declared") if low < high else (
                value * (1 - ASSUMED_RANGE), value * (1 + ASSUMED_RANGE), "assumed")  # fmt: skip
            told = f"{'urgent ' if one.urgent else ''}jobs of {model_title(one.job.name)} a month"
            most = one.job.per_month.value if one.urgent else np.inf
            named = (PER_MONTH, one.name, told, "jobs/month", value, *ends, PER_MONTH)
            yield Assumption(*named, frozenset(), most)
    if len(posed.work.jobs) > 1:
        yield all_work("all jobs a month")


def _drawn_work(posed: Posed, assumptions: Sequence[Assumption]) -> Iterator[tuple[Assumption, Array]]:
    """Mean jobs a month of the project, by class; of a class with urgent jobs these are among them."""
    values = {one.name: jobs.mean(axis=1) for one, jobs in zip(posed.classes, posed.numbers, strict=True)}
    for assumption in assumptions:
        if assumption.quantity == PER_MONTH and np.ptp(values[assumption.subject]) > 0:
            yield assumption, values[assumption.subject]


def pays_of_months(one: Asked) -> Iterator[Held]:
    """Each machine for sale and contract with all work, one class's jobs, and the months of the project."""
    cost, posed = one.cost, one.cost.posed
    best = posed.mixes[0].done
    work = sum(float(best.device_hours(name).mean()) for name in best.sources)
    for place, kind in enumerate(posed.drawn.held):
        if not kind.for_sale:
            continue
        title = posed.title(kind.name)
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
