"""The work of a month: its classes of jobs, what is owned, what can be had, with samples, within the team's limits."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.rates import (
    Factor,
    Number,
    Rents,
    central_rent_by_month,
    moves_ahead,
    or_zero,
    possession,
    rates,
    rent_over,
)
from sweetspot.bills.renting import contract_months
from sweetspot.decision.decision_problem import ALL_JOBS, BASELINE, ParameterValues, error_key
from sweetspot.decision.options import OFFER, Row, records
from sweetspot.decision.simulate import Draws, value_with_bounds
from sweetspot.decision.waiting import pool, waiting
from sweetspot.decision.worth_knowing import timings_of
from sweetspot.draws import LEVEL_RANGE, spread, stream
from sweetspot.errors import refuse
from sweetspot.mixes.problem import (
    ALWAYS,
    NEVER,
    Array,
    Counts,
    OwnedMachine,
    Problem,
    RentalOffer,
    finite,
    grown,
    month_noise,
    months_of,
)
from sweetspot.mixes.search import Mix, MixLimits, MixSearch, mixes, timings_worth
from sweetspot.mixes.timing import SpeedErrors

if TYPE_CHECKING:
    from sweetspot.study.monthly import Monthly, RecurringJob  # lazily: pydantic takes longer than all this computes
    from sweetspot.study.terms import Amount

MIX_DRAWS = (
    1000  # of the simulation's samples, each with its months: standard error of a probability of 0.8: 1.3 points
)
COMMITTED = ("reserved", "committed")
PER_MONTH = "per_month"  # quantity: jobs a month of one class
GROWTH = "growth_per_month"  # of one class, too
MONTH_FIGURES = ("capex_usd", "residual_usd", "maintenance_usd_per_month", "months")
# Figures of the samples and their columns in the options.
FIGURES = {
    "hours": "hours",
    "usd": "usd",
    "variable": "variable_usd_per_hour",
    "fixed": "fixed_usd_per_month",
    "days": "days_per_month",
}
UP_FRONT, WAIT = "at_most_up_front", "mean_wait_at_most"
PERCENT = 100
TINY = 1e-12  # of a job


class LimitViolation(NamedTuple):
    """A limit of the team (a key of the workload) that a mix breaks; USD, or hours."""

    limit: str
    allowed: float
    actual: float


class Trial(NamedTuple):
    """A timing that reveals a speed: its cost, its length, and the offer that it is made on."""

    usd: float
    minutes: float
    option: str
    title: str


class WorkClass(NamedTuple):
    """Jobs of one class, or its urgent ones with a limit of hours; `workload` is that of the options."""

    name: str
    workload: str
    job: "RecurringJob"
    urgent: bool
    limit: float

    @property
    def number(self) -> "Amount":
        """Jobs a month; the urgent ones are among those of their class."""
        urgent = self.job.urgent_per_month if self.urgent else None
        return self.job.per_month if urgent is None else urgent


class Source(NamedTuple):
    """One option of the mix: its offer, its row of the options for each class (None: no speed), how many are owned."""

    offer: Row
    rows: tuple[Row | None, ...]
    there: int

    @property
    def kind(self) -> str:
        """What is done with it: there (owned), bought (or committed to: paid by the month), or rented."""
        row = self.offer
        is_monthly = row["purchase"] in ("own", *COMMITTED) or pd.notna(row["month_usd"])
        return "there" if self.there else "bought" if is_monthly else "rented"

    @property
    def option_rows(self) -> list[Row]:
        """Its rows of the options."""
        return [row for row in (self.offer, *self.rows) if row is not None]

    @property
    def labels(self) -> frozenset[int]:
        """The labels of these rows."""
        return frozenset(row["row"] for row in self.option_rows)


Factors = Mapping[tuple[str, int], Array]  # samples over baseline of a figure of a row
FigureOf = Callable[[str, int], Array]  # samples of a figure of a row of the options


@dataclass(frozen=True, eq=False)
class MonthlyWork(MixLimits):
    """A monthly workload with what can do it, sampled; one sample where figures are central.

    Parameters
    ----------
    name, work
        Of the workload.
    classes, sources
        Its jobs, and what can do them.
    figures
        Row of the options x sample: FIGURES; `sale`, USD that an owned machine would bring today; `usd_at_speed`, of a
        job at its expected price.
    numbers
        Jobs of the class (urgent ones are part of it), class x sample x month.
    growth
        Of a class per month, class x sample.
    factors
        Samples over baseline of what the figures are made of, by name and row.
    delivery
        Months until a machine or contract is available, by row.
    rents
        Paths of the rents; None: the central ones.
    stretched
        Length of the project over the planned one.
    speed_keys, speed_errors, trials
        Correlation key of each row whose speed is uncertain, the errors, and the timings that reveal them, by key.
    central_work
        The same at central figures.
    limits
        USD up front and hours of mean wait, by key of the workload.
    limit_costs
        The limits that the cheapest mix would break, each with the USD a month that the best costs less without it
        (NaN: no mix keeps them, and none counts).
    """

    name: str
    work: "Monthly"
    classes: tuple[WorkClass, ...]
    sources: tuple[Source, ...]
    figures: Mapping[str, Array]
    numbers: Array
    growth: Array
    factors: Factors
    delivery: Mapping[int, Array]
    month_days: float
    rents: Rents | None
    speed_keys: Mapping[int, str]
    speed_errors: SpeedErrors
    trials: Mapping[str, Trial]
    stretched: float = 1.0
    central_work: "MonthlyWork | None" = None
    limits: Mapping[str, float] = field(default_factory=dict)
    limit_costs: tuple[tuple[LimitViolation, float], ...] = ()

    @cached_property
    def drawn(self) -> Problem:
        """The problem with its samples."""
        return self.moved(BASELINE)

    @property
    def central(self) -> Problem:
        """The problem at central figures."""
        return (self.central_work or self).drawn

    @cached_property
    def mixes(self) -> list[Mix]:
        """The mixes that do the work, the best first."""
        return mixes(self.drawn, self)

    def with_strategy(self, mix: Mix) -> Mix:
        """Return a mix within the limits, with the machines timed first that are worth it."""
        return MixSearch(self.drawn, self).with_timings(self.ease(mix), self._timings)

    @cached_property
    def _timings(self) -> list[frozenset[str]]:
        """The sets of speeds that a mix times first, or that are worth it where nothing is bought."""
        worth = timings_worth(self.drawn, [self.drawn.owned])
        return list(dict.fromkeys([*(mix.timed for mix in self.mixes if mix.timed), *worth]))

    def trials_of(self, mix: Mix) -> list[Trial]:
        """Return the timings that a mix begins with, the most expensive first."""
        return sorted((self.trials[key] for key in mix.timed), reverse=True)

    @cached_property
    def rows(self) -> dict[int, Row]:
        """The rows of the options that sources rest on, by label."""
        return {row["row"]: row for source in self.sources for row in source.option_rows}

    def source(self, name: str) -> Source:
        """Return the source of an option."""
        return next(source for source in self.sources if source.offer["option"] == name)

    def title(self, name: str) -> str:
        """Return the name of an option for people."""
        return str(self.source(name).offer["title"])

    @property
    def at_home(self) -> list[str]:
        """The title of each owned machine."""
        return [self.title(kind.name) for kind in self.drawn.held for _ in range(kind.there)]

    # --- at other values ----------------------------------------------------------------------------------------------

    def moved(self, values: ParameterValues) -> Problem:
        """Return the problem at one case of the parameters, with all samples.

        More jobs of a class are not more urgent ones, of which there are never more than of all.
        """
        length = float(values.work("months"))
        if length != 1.0:
            return self._with_length(length)._problem(values, None)
        return self._problem(values, self.drawn if values.values else None)

    def _with_length(self, length: float) -> "MonthlyWork":
        """Return the workload in a project of so many times the months: its samples go on, with the same growth."""
        months = self.work.months * length
        steady = self.numbers / grown(self.growth, self.work.months)
        starts, _ = months_of(months)
        numbers = steady[:, :, np.arange(len(starts)) % steady.shape[2]] * grown(self.growth, months)
        work = self.work.model_copy(update={"months": months})
        return replace(self, work=work, numbers=numbers, stretched=self.stretched * length)

    def _jobs(self, values: ParameterValues) -> Array:
        """Return jobs of each class without its urgent ones, class x sample x month."""
        jobs: list[Array] = []
        for index, job_class in enumerate(self.classes):
            number = self.numbers[index] * values.work(ALL_JOBS) * values.work(PER_MONTH, job_class.name)
            growth_factor = values.work(GROWTH, job_class.job.name)
            if growth_factor != 1.0:
                growth, months = self.growth[[index]], self.work.months
                number = number * (grown(growth * growth_factor, months) / grown(growth, months))[0]
            if job_class.urgent:
                number = np.minimum(jobs[-1], number)
                jobs[-1] = jobs[-1] - number
            jobs.append(number)
        return np.stack(jobs)

    def _problem(self, values: ParameterValues, baseline: Problem | None) -> Problem:
        """Return the problem; sources of the `baseline` of which no figure changes stay."""
        factors = {
            label: self._factors(row, values.of(label)) for label, row in self.rows.items() if values.touches(label)
        }

        def figure(name: str, label: int) -> Array:
            return np.asarray(self.figures[name][label] * factors.get(label, {}).get(name, 1.0))

        jobs, monthly, rented = self._jobs(values), list[OwnedMachine](), list[RentalOffer]()
        unchanged: dict[str, Any] = {}
        if baseline is not None:
            unchanged = {kind.name: kind for kind in baseline.held} | {offer.name: offer for offer in baseline.rented}
        for source in self.sources:
            offer = None if source.labels & values.rows else unchanged.get(source.offer["option"])
            if source.kind == "rented":
                rented.append(offer or self._rented(source, figure, values, jobs))
            else:
                monthly.append(offer or self._owned(source, figure, values))
        trials = {key: trial.usd / self.work.months for key, trial in self.trials.items()}
        names = tuple(job_class.name for job_class in self.classes)
        return Problem(names, jobs, tuple(monthly), tuple(rented), trials=trials, errors=self.speed_errors)

    def _factors(self, row: Row, factor: Factor) -> dict[str, Number]:
        """Return the factors of the figures of one row."""
        speed, variable = factor("images_per_s"), rates(row, BASELINE.of(None)).variable
        rate = rates(row, factor).variable / variable if variable else 1.0
        changes = {"hours": 1.0 / speed, "usd": rate / speed, "usd_at_speed": rate / speed, "variable": rate}
        if row["purchase"] == "own":
            changes |= {"days": factor("days_per_month"), "sale": factor("sell_for_usd")}
            if any(factor(name) != 1.0 for name in MONTH_FIGURES):
                sampled, after = partial(over_baseline, self.factors, row), self.delivery.get(row["row"], 0.0)
                month, before = (
                    possession(row, lambda name: sampled(name) * factor(name), after),
                    possession(row, sampled, after),
                )
                changes["fixed"] = month / before if np.all(before) else 1.0  # 0: it is owned already, and free
        return changes

    def _owned(self, source: Source, figure: FigureOf, values: ParameterValues) -> OwnedMachine:
        hour, fixed, capacity = self._month(source, figure)
        hours = np.full((len(self.classes), fixed.size), NEVER)
        for index, row in self._rows_in_time(source, values):
            hours[index] = figure("hours", row["row"]) / row["jobs_at_once"]
        return OwnedMachine(
            name=source.offer["option"],
            there=source.there,
            for_sale=not source.there,
            fixed=fixed,
            capacity=capacity,
            hours=hours,
            running=finite(hours) * hour,
            devices=int(source.offer["gpus"]),
            present=self.present(source),
            sellable=source.there > 0 and or_zero(source.offer.get("sell_for_usd")) > 0,
            speed_keys=self._keys(source),
            running_at_speed=finite(hours) * float(np.mean(hour)),
        )

    def _month(self, source: Source, figure: FigureOf) -> tuple[Array, Array, Array]:
        """Return USD of an hour of use, USD of a month, and hours of use a month of one machine, by sample.

        An owned one works in its planned hours, a committed one in all of the month.
        """
        row, label, months = source.offer, source.offer["row"], self.work.months
        variable = figure("variable", label)
        if row["purchase"] == "own":
            working = 1.0 - or_zero(row["downtime_share"])
            capacity = HOURS_A_DAY * np.minimum(figure("days", label), self.month_days) * working
            # The options' possession is borne by the hours in which the machine works; here it is paid by the month.
            fixed = figure("fixed", label) * working
            if source.there:
                care = or_zero(row["maintenance_usd_per_month"]) + or_zero(row["staff_usd_per_month"])
                forgone_usd = figure("sale", label) - or_zero(row["residual_usd"])
                fixed = care + forgone_usd / months + np.zeros(variable.size)
            return variable, fixed, capacity
        rate = variable / row["variable_usd_per_hour"]
        capacity = np.full(variable.size, HOURS_A_DAY * self.month_days)
        if pd.notna(row["month_usd"]):
            return np.zeros(variable.size), row["month_usd"] * rate, capacity
        remaining = months - float(np.median(self.delivery.get(label, 0.0)))
        terms = contract_months(remaining, row["term_months"]) / months
        return row["term_variable"] * rate, row["term_fixed"] * terms * rate, capacity

    def _rented(self, source: Source, figure: FigureOf, values: ParameterValues, jobs: Array) -> RentalOffer:
        """Return an offer by the hour, at the rents of its months; its expectation is over the `jobs` of all months.

        An urgent job comes alone: it pays for the whole machine.
        """
        shape = (len(self.classes), self.growth.shape[1])
        usd, at_speed, expected = np.full(shape, NEVER), np.full(shape, NEVER), np.full((shape[0], 1), NEVER)
        device_hours, path = np.zeros(shape), ALWAYS
        for index, row in self._rows_in_time(source, values):
            slots = row["jobs_at_once"]
            factor = slots if self.classes[index].urgent else 1.0
            job_usd, job_usd_at_speed = (figure(name, row["row"]) * factor for name in ("usd", "usd_at_speed"))
            device_hours[index] = figure("hours", row["row"]) * row["gpus"] / slots * factor
            rents, weights = self._rent_by_month(row), jobs[index].mean(axis=0)
            mean = due = rents.mean(axis=1)
            if rents.shape[1] == weights.size and weights.any():
                due = rents @ (weights / max(float(weights.sum()), TINY))
            price = np.divide(job_usd, job_usd_at_speed, out=np.ones(shape[1]), where=job_usd_at_speed > 0)
            at_speed[index] = job_usd_at_speed * np.mean(price * due)
            expected[index] = np.mean(job_usd * due)
            usd[index], path = job_usd * mean, rents / mean[:, None]
        return RentalOffer(
            name=source.offer["option"],
            usd=usd,
            device_hours=device_hours,
            speed_keys=self._keys(source),
            expected_usd=expected,
            usd_at_speed=at_speed,
            path=path,
        )

    def _rent_by_month(self, row: Row) -> Array:
        """Return the rent of each month over the mean that figures are at, sample x month; one where it stays."""
        if not moves_ahead(row):
            return ALWAYS
        key = (row["option"], row["model"])
        if key not in self._rent_paths:
            starts, length = months_of(self.work.months)
            if self.rents is None:
                path = central_rent_by_month(row, starts, length)
            else:
                path = self.rents.by_month(row, starts, length)[: self.growth.shape[1]]
            # In a project of another length its figures are at the central mean rent of that.
            self._rent_paths[key] = path / rent_over(row, row["rent_months"] * self.stretched)
        return self._rent_paths[key]

    @cached_property
    def _rent_paths(self) -> dict[tuple[str, str], Array]:
        return {}

    def _keys(self, source: Source) -> tuple[str, ...]:
        """Return the correlation key of the speed of each class on a source; empty where it is certain."""
        return tuple("" if row is None else self.speed_keys.get(row["row"], "") for row in source.rows)

    def present(self, source: Source) -> Array:
        """Return the share of each month in which a machine is available, sample x month."""
        after = self.delivery.get(source.offer["row"])
        if after is None:
            return ALWAYS
        starts, length = months_of(self.work.months)
        return np.clip((starts + length - after[:, None]) / length, 0.0, 1.0)

    def _rows_in_time(self, source: Source, values: ParameterValues) -> Iterator[tuple[int, Row]]:
        """Yield the classes that a source does in time, by index, with its rows for them."""
        for index, (job_class, row) in enumerate(zip(self.classes, source.rows, strict=True)):
            if row is not None and in_time(job_class, row, float(values.factor(row["row"], "images_per_s"))):
                yield index, row

    # --- limits of the team -------------------------------------------------------------------------------------------

    @property
    def any(self) -> bool:
        """Whether anything is limited."""
        return bool(self.limits)

    def up_front(self, counts: Counts) -> float:
        """Return the USD that machines cost before they do anything, beyond what is owned."""
        usd = 0.0
        for kind, count in zip(self.drawn.held, counts, strict=True):
            row = self.source(kind.name).offer
            price = or_zero(row["capex_usd"] if row["purchase"] == "own" else row.get("upfront_usd"))
            usd += max(0, count - kind.there) * price
        return usd

    def mean_wait(self, mix: Mix) -> float:
        """Return the hours that a job waits on average for owned machines; infinite where they are overloaded."""
        classes = tuple(stream.job_class for stream in pool(self, mix))
        return float(waiting(classes).mean) if classes else 0.0

    def violations(self, mix: Mix) -> list[LimitViolation]:
        """Return the limits that a mix breaks."""
        violations = []
        for name, allowed in self.limits.items():
            actual = self.up_front(mix.counts) if name == UP_FRONT else self.mean_wait(mix)
            if not actual <= allowed:
                violations.append(LimitViolation(name, allowed, actual))
        return violations

    def keeps(self, mix: Mix) -> bool:
        """Return whether a mix keeps all limits."""
        return not self.violations(mix)

    def affords(self, counts: Counts) -> bool:
        """Return whether so many machines may be bought."""
        return self.up_front(counts) <= self.limits.get(UP_FRONT, math.inf)

    def ease(self, mix: Mix) -> Mix:
        """Return the mix with its machines filled to fewer whole percent of their hours where jobs wait too long.

        The rest is rented; where nothing can be rented the mix stays as it is.
        """
        allowed = self.limits.get(WAIT)
        if allowed is None or self.mean_wait(mix) <= allowed:
            return mix
        low, high = 0, PERCENT
        while high - low > 1:
            middle = (low + high) // 2
            is_short = self.mean_wait(mix._replace(filled=middle / PERCENT)) <= allowed
            low, high = (middle, high) if is_short else (low, middle)
        relaxed = mix.renting_sooner(low / PERCENT)
        return relaxed if low and math.isfinite(relaxed.expected) else mix

    def within_limits(self, usd_per_unit: float) -> "MonthlyWork":
        """Return the workload within its limits, with what each limit costs.

        Where no mix found keeps the limits they do not count. `usd_per_unit`: of the study's currency, in which limits
        of money are.
        """
        scales = {UP_FRONT: usd_per_unit, WAIT: 1.0}
        limits = {
            name: value * scale for name, scale in scales.items() if (value := getattr(self.work, name)) is not None
        }
        if not limits:
            return self
        within = replace(self, limits=limits)
        is_feasible = within.keeps(within.mixes[0])
        costs = []
        for violation in within.violations(self.mixes[0]):
            remaining = {name: value for name, value in limits.items() if name != violation.limit}
            saving = within.mixes[0].expected - replace(self, limits=remaining).mixes[0].expected
            costs.append((violation, saving if is_feasible else math.nan))
        return replace(within if is_feasible else self, limit_costs=tuple(costs))


def over_baseline(factors: Factors, row: Row, name: str) -> Number:
    """Return the samples of a figure of a row over its baseline."""
    return factors.get((name, row["row"]), 1.0)


def in_time(job_class: WorkClass, row: Row, speed: float = 1.0) -> bool:
    """Return whether a job of the class ends within its limit by its central hours, at so many times that speed."""
    return bool(row["hours"] / speed <= job_class.limit) and bool(np.isfinite(row["usd"]))


# --- from the tables --------------------------------------------------------------------------------------------------


def monthly_work(
    name: str, work: "Monthly", options: pd.DataFrame, draws: Draws, offers: pd.DataFrame, month_days: float, seed: int
) -> MonthlyWork:
    """Return a monthly workload over the options that the answer may take and that nobody takes away.

    Parameters
    ----------
    name, work
        The workload; an owned machine (`have`) without a figure does nothing.
    options, draws
        The options that fit, and their samples.
    offers
        All offers.
    month_days
        Days of a month.
    seed
        The study's seed.

    Raises
    ------
    UserError
        Where an owned machine has no offer `own`.
    """
    owned = set(offers.loc[offers["purchase"] == "own", "instance"])
    refuse(
        f"workloads.yaml: {name}.have names {machine!r}; expected a machine with an offer `own` in a price list"
        for machine in dict.fromkeys(work.have)
        if machine not in owned
    )
    table, classes = with_terms(options, offers), _classes_of(name, work)
    sampled = {figure: getattr(draws, figure)[:, :MIX_DRAWS].copy() for figure in FIGURES}
    # Prices are independent of speeds: USD of a job over its hours are a price, of which the mean is expected.
    price = np.divide(sampled["usd"], sampled["hours"], out=np.zeros_like(sampled["usd"]), where=sampled["hours"] > 0)
    sampled["usd_at_speed"] = sampled["hours"] * price.mean(axis=1, keepdims=True)
    central = {figure: table[column].to_numpy(float, copy=True)[:, None] for figure, column in FIGURES.items()}
    central["usd_at_speed"] = central["usd"]
    factors = {
        (figure.name, label): figure.values[:MIX_DRAWS] / table.at[label, figure.name]
        for figure in draws.figures
        for label in figure.rows
        if figure.name in MONTH_FIGURES and table.at[label, figure.name] > 0
    }
    speeds = [figure for figure in draws.figures if figure.name == "images_per_s"]
    speed_keys = {label: error_key(figure.error) for figure in speeds for label in figure.rows}
    logs = {error_key(figure.error): np.log(figure.values[:MIX_DRAWS]) for figure in reversed(speeds)}
    errors = SpeedErrors(tuple(logs), np.array([*logs.values()]).reshape(len(logs), sampled["hours"].shape[1]))

    def build(
        figures: dict[str, Array], factors: Factors, rents: Rents | None, errors: SpeedErrors, seed: int | None
    ) -> MonthlyWork:
        """Return the workload with its samples; without a seed its one sample is central."""
        size, growth, numbers = figures["hours"].shape[1], list[Array](), list[Array]()
        for job_class in classes:
            share, number = job_class.job.growth_per_month, job_class.number
            noise = _noise(seed, size, GROWTH, name, job_class.job.name)
            value, low, high = (1.0 + rate for rate in (share.value, *share.ends))
            growth.append(spread(value, low, high, LEVEL_RANGE, noise) - 1.0)
            growth_factors = grown(growth[-1][None], work.months)[0]
            month = np.zeros(growth_factors.shape)
            if seed is not None:
                source = stream(seed, PER_MONTH, name, job_class.job.name, job_class.urgent)
                month = month_noise(source, size, growth_factors.shape[1], work.months_alike)
            jobs = spread(number.value, *number.ends, LEVEL_RANGE, month) * growth_factors
            numbers.append(np.minimum(numbers[-1], jobs) if job_class.urgent else jobs)
        return MonthlyWork(
            name=name,
            work=work,
            classes=classes,
            sources=_sources(work, classes, table),
            figures=figures,
            numbers=np.stack(numbers),
            growth=np.stack(growth),
            factors=factors,
            delivery=_add_offers(records(table), figures, factors, seed),
            month_days=month_days,
            rents=rents,
            speed_keys=speed_keys,
            speed_errors=errors,
            trials=_trials(table, speed_keys),
        )

    central_work = build(central, {}, None, errors.central, None)
    return replace(build(sampled, factors, draws.rents, errors, seed), central_work=central_work)


def _noise(seed: int | None, size: int, *key: object) -> Array:
    """Return standard normal samples of a named stream; without a seed the median."""
    return np.zeros(size) if seed is None else stream(seed, *key).standard_normal(size)


def _classes_of(name: str, work: "Monthly") -> tuple[WorkClass, ...]:
    """Return the classes of a workload, each followed by its urgent jobs where it has some."""
    classes = []
    for job in work.jobs:
        classes.append(WorkClass(job.name, f"{name}.{job.name}", job, False, NEVER))
        if job.within_hours is not None:
            classes.append(WorkClass(f"{job.name} (urgent)", f"{name}.{job.name}", job, True, job.within_hours))
    return tuple(classes)


def with_terms(options: pd.DataFrame, offers: pd.DataFrame) -> pd.DataFrame:
    """Return the options with what a commitment costs a month and an hour of use, and how long it binds.

    Parameters
    ----------
    options, offers
        The tables.

    Returns
    -------
    pandas.DataFrame
        The options with term_months, term_fixed, term_variable and upfront_usd.
    """
    names = {"fixed_usd_per_month": "term_fixed", "variable_usd_per_hour": "term_variable"}
    terms = offers.reindex(columns=[*OFFER, "term_months", "upfront_usd", *names]).rename(columns=names)
    return options.merge(terms.drop_duplicates(list(OFFER)), on=list(OFFER), how="left", validate="many_to_one")


def _sources(work: "Monthly", classes: Sequence[WorkClass], options: pd.DataFrame) -> tuple[Source, ...]:
    """Return the options of the classes; an owned machine is that of the first price list that offers it."""
    is_owned = options["instance"].isin(work.have) & options["purchase"].eq("own")
    rows = options[(options["in_answer"].astype(bool) | is_owned) & options["persistent"].astype(bool)]
    workloads, counts = [job_class.workload for job_class in classes], list(work.have)
    sources = []
    for _, group in rows[rows["workload"].isin(workloads)].groupby("option", sort=False):
        by_workload = {row["workload"]: row for row in reversed(records(group))}
        offer = records(group)[0]
        count = counts.count(offer["instance"]) if offer["purchase"] == "own" else 0
        counts = [machine for machine in counts if not count or machine != offer["instance"]]
        sources.append(Source(offer, tuple(map(by_workload.get, workloads)), count))
    return tuple(sources)


def _add_offers(rows: Sequence[Row], figures: dict[str, Array], factors: Factors, seed: int | None) -> dict[int, Array]:
    """Add to the figures what owned machines would sell for, and what delivery changes; return its months by row."""
    figures["sale"] = np.zeros_like(figures["hours"])
    size, delivery = figures["hours"].shape[1], dict[int, Array]()
    for row in rows:
        label = row["row"]
        if or_zero(row.get("sell_for_usd")) > 0:
            noise = _noise(seed, size, "sell_for", row["instance"])
            figures["sale"][label] = spread(*value_with_bounds(row, "sell_for_usd"), LEVEL_RANGE, noise)
        if or_zero(row.get("delivery_months")) > 0:
            noise = _noise(seed, size, "delivery", row["option"])
            delivery[label] = spread(*value_with_bounds(row, "delivery_months"), LEVEL_RANGE, noise)
            if row["purchase"] == "own":
                factor = partial(over_baseline, factors, row)
                figures["fixed"][label] *= possession(row, factor, delivery[label]) / possession(row, factor)
    return delivery


def _trials(options: pd.DataFrame, speed_keys: Mapping[int, str]) -> dict[str, Trial]:
    """Return the cheapest timing that reveals each uncertain speed; none of a machine that nobody rents out."""
    timings, trials = timings_of(options), dict[str, Trial]()
    for row in records(options):
        key, timing = speed_keys.get(row["row"]), timings.get((row["gpu"], int(or_zero(row["figure_gpus"]))))
        if key is not None and timing is not None:
            trial = Trial(
                *(timing[name] for name in ("cost_to_learn_usd", "minutes_to_learn", "learn_on", "learn_on_title"))
            )
            trials[key] = min(trials.get(key, trial), trial)
    return trials
