"""The work of a month as a problem of mixes: its classes of jobs, what is there, what can be had, with draws."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.renting import ROUNDING
from sweetspot.decision.options import OFFER, Row, records
from sweetspot.decision.rates import or_zero
from sweetspot.decision.simulate import LEVEL_RANGE, Draws, spread, stream
from sweetspot.errors import refuse
from sweetspot.mixes.problem import NEVER, Array, Held, Problem, Rented, month_noise

if TYPE_CHECKING:
    from sweetspot.study.monthly import JobClass, Monthly  # lazily: pydantic takes longer than all this computes

MIX_DRAWS = 1000  # of the simulation's draws, each with its months: standard error of a probability of 0.8: 1.3 points
MOST_MONTHS = 36  # drawn of a project; a longer one has the same months again
COMMITTED = ("reserved", "committed")


class Class(NamedTuple):
    """Jobs of one class, the urgent ones apart: `workload` is that of the options; `limit` hours, infinite without."""

    name: str
    workload: str
    job: "JobClass"
    urgent: bool
    limit: float


class Source(NamedTuple):
    """One option of the mix: its offer (a row of the options), and the row of the options by class (None: no speed)."""

    offer: Row
    rows: tuple[Row | None, ...]
    there: int

    @property
    def held(self) -> bool:
        """Whether it is paid for by the month, used or not."""
        row = self.offer
        return bool(row["purchase"] == "own" or row["purchase"] in COMMITTED or pd.notna(row["month_usd"]))


class Figures(NamedTuple):
    """Figures of the options, rows x draws: drawn, or the central ones as a single draw."""

    hours: Array
    usd: Array
    variable: Array
    fixed: Array
    days: Array


class Posed(NamedTuple):
    """A monthly workload as problems: with draws, and at central figures (one draw, one month); `figures` drawn, and
    `middle`, the central ones, are what they were made of.
    """

    name: str
    work: "Monthly"
    classes: tuple[Class, ...]
    sources: tuple[Source, ...]
    drawn: Problem
    central: Problem
    figures: Figures
    middle: Figures
    month_days: float

    def source(self, name: str) -> Source:
        """The source of that option."""
        return next(one for one in self.sources if one.offer["option"] == name)

    def problem(self, sources: tuple[Source, ...], figures: Figures, jobs: Array) -> Problem:
        """The problem with other figures."""
        return _problem(self.work, self.classes, sources, figures, jobs, self.month_days)


def pose(
    name: str, work: "Monthly", options: pd.DataFrame, draws: Draws, offers: pd.DataFrame, month_days: float, seed: int
) -> Posed:
    """The problem of one monthly workload over the options that the answer may take and that stay.

    `options`: those that fit, as `draws` has them; `offers`: all offers. Raises UserError where a machine that is there
    (`have`) has no offer `own`; one without a figure does nothing.
    """
    classes = classes_of(name, work)
    told = with_terms(options, offers)
    _check_there(name, work, offers)
    sources = _sources(work, classes, told)
    drawn = Figures(*(getattr(draws, name)[:, :MIX_DRAWS] for name in Figures._fields))
    days = told["days_per_month"].where(told["purchase"].eq("own"))
    middle = [told[name] for name in ("hours", "usd", "variable_usd_per_hour", "fixed_usd_per_month")]
    central = Figures(*(column.to_numpy(float)[:, None] for column in (*middle, days)))
    count = drawn.hours.shape[1]
    return Posed(
        name,
        work,
        classes,
        sources,
        _problem(work, classes, sources, drawn, _jobs(name, work, classes, seed, count), month_days),
        _problem(work, classes, sources, central, _central_jobs(classes), month_days),
        drawn,
        central,
        month_days,
    )


def classes_of(name: str, work: "Monthly") -> tuple[Class, ...]:
    """The classes of a workload, each followed by its urgent jobs where it has some."""
    found = []
    for job in work.jobs:
        found.append(Class(job.name, work.priced_as(name, job), job, False, NEVER))
        if job.urgent_per_month is not None and job.within_hours is not None:
            workload = work.priced_as(name, job, urgent=True)
            found.append(Class(f"{job.name} (urgent)", workload, job, True, job.within_hours))
    return tuple(found)


def with_terms(options: pd.DataFrame, offers: pd.DataFrame) -> pd.DataFrame:
    """The options with what a commitment costs a month and an hour of use, and how long it binds."""
    terms = offers.reindex(columns=[*OFFER, "term_months", "fixed_usd_per_month", "variable_usd_per_hour"])
    terms = terms.rename(columns={"fixed_usd_per_month": "term_fixed", "variable_usd_per_hour": "term_variable"})
    return options.merge(terms.drop_duplicates(list(OFFER)), on=list(OFFER), how="left", validate="many_to_one")


def _check_there(name: str, work: "Monthly", offers: pd.DataFrame) -> None:
    owned = set(offers.loc[offers["purchase"] == "own", "instance"])
    refuse(
        f"workloads.yaml: {name}.have names {other!r}; expected a machine with an offer `own` in a price list"
        for other in dict.fromkeys(work.have)
        if other not in owned
    )


def _sources(work: "Monthly", classes: tuple[Class, ...], options: pd.DataFrame) -> tuple[Source, ...]:
    """The options of the classes; a machine that is there is had by the first price list that offers it."""
    there = options["instance"].isin(work.have) & options["purchase"].eq("own")
    kept = options[(options["in_answer"].astype(bool) | there) & options["persistent"].astype(bool)]
    rows = records(kept[kept["workload"].isin([one.workload for one in classes])])
    by_option: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_option.setdefault(row["option"], {}).setdefault(row["workload"], row)
    found, waiting = [], list(work.have)
    for of_class in by_option.values():
        first = next(iter(of_class.values()))
        own = first["purchase"] == "own"
        there = waiting.count(first["instance"]) if own else 0
        waiting = [other for other in waiting if not (own and other == first["instance"])]
        found.append(Source(first, tuple(of_class.get(one.workload) for one in classes), there))
    return tuple(found)


def _problem(
    work: "Monthly",
    classes: tuple[Class, ...],
    sources: tuple[Source, ...],
    figures: Figures,
    jobs: Array,
    month_days: float,
) -> Problem:
    held = tuple(_held(one, work, classes, figures, month_days) for one in sources if one.held)
    rented = tuple(_rented(one, classes, figures) for one in sources if not one.held)
    return Problem(tuple(one.name for one in classes), jobs, held, rented)


def _held(source: Source, work: "Monthly", classes: tuple[Class, ...], figures: Figures, month_days: float) -> Held:
    """A kind held. An owned one works in its planned hours, a committed one in all of the month."""
    row, count = source.offer, figures.hours.shape[1]
    hour, fixed, capacity = _month(source, work, figures, month_days)
    hours, running = np.full((len(classes), count), NEVER), np.zeros((len(classes), count))
    for number, (one, priced) in enumerate(zip(classes, source.rows, strict=True)):
        if in_time(one, priced):
            assert priced is not None
            hours[number] = figures.hours[priced["row"]] / priced["jobs_at_once"]
            running[number] = hours[number] * hour
    return Held(row["option"], source.there, not source.there, fixed, capacity, hours, running, int(row["gpus"]))


def _month(source: Source, work: "Monthly", figures: Figures, month_days: float) -> tuple[Array, Array, Array]:
    """USD of an hour of use, USD of a month, hours of use a month of one machine; by draw."""
    row, place = source.offer, source.offer["row"]
    nothing = np.zeros(figures.hours.shape[1])
    if row["purchase"] == "own":
        works = 1.0 - or_zero(row["downtime_share"])
        capacity = HOURS_A_DAY * np.minimum(figures.days[place], month_days) * works
        if source.there:
            care = or_zero(row["maintenance_usd_per_month"]) + or_zero(row["staff_usd_per_month"])
            return figures.variable[place], nothing + care - or_zero(row["residual_usd"]) / work.months, capacity
        # The options' possession is borne by the hours in which the machine works; here it is paid by the month.
        return figures.variable[place], figures.fixed[place] * works, capacity
    dearer = figures.variable[place] / row["variable_usd_per_hour"]
    hours = nothing + HOURS_A_DAY * month_days
    if pd.notna(row["month_usd"]):
        return nothing, row["month_usd"] * dearer, hours
    terms = math.ceil(work.months / row["term_months"] - ROUNDING) * row["term_months"] / work.months
    return row["term_variable"] * dearer, row["term_fixed"] * terms * dearer, hours


def _rented(source: Source, classes: tuple[Class, ...], figures: Figures) -> Rented:
    """An offer by the hour. An urgent job comes alone: it pays for the whole machine."""
    count = figures.hours.shape[1]
    usd, taken = np.full((len(classes), count), NEVER), np.zeros((len(classes), count))
    for number, (one, row) in enumerate(zip(classes, source.rows, strict=True)):
        if in_time(one, row):
            assert row is not None
            alone = row["jobs_at_once"] if one.urgent else 1.0
            usd[number] = figures.usd[row["row"]] * alone
            taken[number] = figures.hours[row["row"]] * row["gpus"] / row["jobs_at_once"] * alone
    return Rented(source.offer["option"], usd, taken)


def in_time(one: Class, row: Row | None) -> bool:
    """Whether a job of the class runs there, and by its central hours within its limit."""
    return row is not None and bool(row["hours"] <= one.limit) and bool(np.isfinite(row["usd"]))


def _jobs(name: str, work: "Monthly", classes: tuple[Class, ...], seed: int, draws: int) -> Array:
    """Jobs by class, draw and month; the urgent ones are a part of their class."""
    months = max(1, min(MOST_MONTHS, math.ceil(work.months)))
    made: dict[tuple[str, bool], Array] = {}
    for job in work.jobs:
        for urgent, number in ((False, job.per_month), (True, job.urgent_per_month)):
            if number is not None:
                source = stream(seed, "per_month", name, job.name, urgent)
                noise = month_noise(source, draws, months, work.months_alike)
                made[job.name, urgent] = spread(number.value, *number.ends, LEVEL_RANGE, noise)
    return np.stack([_of_class(one, made) for one in classes])


def _of_class(one: Class, made: Mapping[tuple[str, bool], Array]) -> Array:
    """Of all jobs and the urgent ones of a job class, those of one of its two."""
    every = made[one.job.name, False]
    urgent = np.minimum(every, made.get((one.job.name, True), np.zeros_like(every)))
    return urgent if one.urgent else every - urgent


def _central_jobs(classes: tuple[Class, ...]) -> Array:
    made: dict[tuple[str, bool], Array] = {}
    for one in classes:
        made[one.job.name, False] = np.full((1, 1), one.job.per_month.value)
        if one.job.urgent_per_month is not None:
            made[one.job.name, True] = np.full((1, 1), one.job.urgent_per_month.value)
    return np.stack([_of_class(one, made) for one in classes])
