"""Monthly work: classes of jobs, samples of the machines that may run them, and the mixes within the team's budget."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pandas import DataFrame, notna

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.rates import Number, Rents, central_rent_by_month, moves_ahead, or_zero, possession
from sweetspot.bills.rates import rent_over as mean_rent_factor
from sweetspot.bills.renting import MONTHLY_FEES, contract_months, monthly_fees
from sweetspot.decision.analyses import timings_of
from sweetspot.decision.decision_problem import ALL_JOBS, BASELINE, ParameterValues, error_key, hour_change
from sweetspot.decision.options import OFFER, Row, records
from sweetspot.decision.simulate import Draws, value_with_bounds
from sweetspot.decision.verdict import COMMITMENT, MIX_TOLERANCE
from sweetspot.declared_tables import columns_of
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
    SpeedErrors,
    finite,
    growth_by_month,
    month_noise,
    months_of,
)
from sweetspot.mixes.search import Mix, MixSearch, mixes
from sweetspot.wording import listed, the

if TYPE_CHECKING:
    from sweetspot.study.monthly import Monthly, RecurringJob  # lazily: pydantic takes longer than all this computes
    from sweetspot.study.terms import Amount

PER_MONTH = "per_month"  # quantity: jobs of one class per month
MIX_DRAWS = 1000  # Samples, each with its months: the standard error of a probability of 0.8 is 1.3 points.
FIGURES = {"hours": "hours", "usd": "usd", "variable": "variable_usd_per_hour", "days": "days_per_month"}
OWNERSHIP_FIGURES = ("capex_usd", "residual_usd", "maintenance_usd_per_month", "months")


class Trial(NamedTuple):
    """A timing that reveals a speed: its cost in USD, and the title of the offer on which it runs."""

    usd: float
    title: str


class WorkClass(NamedTuple):
    """Jobs of one class, or its urgent jobs; `limit`: hours to the end; `workload`: name in the table of options."""

    name: str
    workload: str
    job: "RecurringJob"
    urgent: bool
    limit: float

    @property
    def number(self) -> "Amount":
        """Jobs per month with range; urgent jobs are counted among those of their class too."""
        urgent = self.job.urgent_per_month if self.urgent else None
        return self.job.per_month if urgent is None else urgent


class Source(NamedTuple):
    """A machine or offer that may run jobs: offer row, option row by class (None: no speed), number already owned."""

    offer: Row
    rows: tuple[Row | None, ...]
    there: int

    @property
    def kind(self) -> str:
        """How the source is used: `there` (already owned), `bought` (or committed to by the month), or `rented`."""
        row = self.offer
        is_monthly = row["purchase"] in COMMITMENT or notna(row["month_usd"])
        return "there" if self.there else "bought" if is_monthly else "rented"

    @property
    def rows_with_speed(self) -> list[tuple[int, Row]]:
        """(Index of a class, its option row) of the classes that the source can run."""
        return [(index, row) for index, row in enumerate(self.rows) if row is not None and np.isfinite(row["usd"])]

    @property
    def rows_by_label(self) -> dict[int, Row]:
        """The source's distinct option rows, by label."""
        return {row["row"]: row for row in (self.offer, *self.rows) if row is not None}


@dataclass(frozen=True, eq=False)
class MonthlyWork:
    """A monthly workload with machines and offers for its jobs, sampled; one sample where figures are central.

    `figures`, row of the options x sample: `hours` and `usd` of a job, `variable` USD of an hour of use, `days` of use
    per month. `numbers`: jobs of each class (urgent ones are part of it), class x sample x month; `growth` of a class
    per month, class x sample. `offer_samples`, by name and row: figures of ownership over their baseline, and months
    until delivery. `rents`: paths of the rents (None: the central ones). `stretched`: length of the project / planned
    length. `speed_keys`: correlation key of each row whose speed is uncertain; `trials`: the timings that reveal
    speeds, by key. `budget_usd`: what may be paid up front.
    """

    name: str
    work: "Monthly"
    classes: tuple[WorkClass, ...]
    sources: tuple[Source, ...]
    figures: Mapping[str, Array]
    numbers: Array
    growth: Array
    offer_samples: Mapping[tuple[str, int], Array]
    month_days: float
    rents: Rents | None
    speed_keys: Mapping[int, str]
    speed_errors: SpeedErrors
    trials: Mapping[str, Trial]
    stretched: float = 1.0
    central_work: "MonthlyWork | None" = None
    budget_usd: float = math.inf

    @cached_property
    def drawn(self) -> Problem:
        """The dispatch problem of all samples at the baseline."""
        return self.moved(BASELINE)

    @property
    def central(self) -> Problem:
        """The dispatch problem of one sample, in which every figure is central."""
        return (self.central_work or self).drawn

    @cached_property
    def mixes(self) -> list[Mix]:
        """Mixes of machines and offers for the work: the best, then pure options, the cheapest first."""
        return mixes(self.drawn, self.affords)

    @cached_property
    def distinct_mixes(self) -> list[Mix]:
        """The mixes (machines owned, offers rented) that are shown as choices: the best, and those with other numbers
        of machines or more than MIX_TOLERANCE dearer.
        """
        best, *further = self.mixes
        limit = best.expected * (1 + MIX_TOLERANCE)
        return [best, *(mix for mix in further if mix.counts != best.counts or mix.expected > limit)]

    def mix_of(self, counts: Counts) -> Mix:
        """Return the mix of these numbers of machines, with the set of timings that lowers its USD most, if any."""
        return self._search.with_timings(self._search.mix(counts))

    @cached_property
    def _search(self) -> MixSearch:
        """The search for the mixes of all samples at the baseline."""
        return MixSearch(self.drawn, self.affords)

    @cached_property
    def rows(self) -> dict[int, Row]:
        """The option rows of all sources, by label."""
        return {label: row for source in self.sources for label, row in source.rows_by_label.items()}

    @cached_property
    def source_by_name(self) -> dict[str, Source]:
        """The sources by the key of their option."""
        return {source.offer["option"]: source for source in self.sources}

    def title(self, name: str) -> str:
        """Return the title, for people, of the option with the key `name`."""
        return str(self.source_by_name[name].offer["title"])

    @property
    def has_machines(self) -> bool:
        """Whether some machine for the work is owned already."""
        return any(self.drawn.owned)

    def mix_title(self, mix: Mix) -> str:
        """Return a mix in words, as the page names a choice: machines bought, and the offer or machines for the rest.

        E.g. '2 × server A, the rest on provider B', 'provider B beside what you have'.
        """
        bought = listed([f"{count} × {self.title(name)}" for name, count in mix.bought.items()])
        name = mix.source if mix.single_offer else mix.done.lead
        rest = self.title(name) if name else ""
        if bought:
            return f"{bought}, the rest on {the(rest)}" if rest else bought
        if not rest:
            return "what you have" if self.has_machines else "nothing"
        others = " and others" * (len(mix.done.rent_by_offer) > 1)
        return self.rental_title(rest + others)

    def rental_title(self, rented: str) -> str:
        """Return a title for renting `rented`: 'X beside what you have', or 'X' without owned machines."""
        return f"{rented} beside what you have" if self.has_machines else rented

    def moved(self, values: ParameterValues) -> Problem:
        """Return which machines may run which jobs, and their costs in all samples, with parameters at what-if `values`
        (one case), for `dispatch`. More jobs of a class leave its urgent jobs unchanged, except that these never exceed
        all jobs. A longer project continues with the same growth.
        """
        length = float(values.work("months"))
        if length == 1.0:
            return self._problem(values, self.drawn if values.values else None)
        months = self.work.months * length
        steady = self.numbers / growth_by_month(self.growth, self.work.months)
        growth_factors = growth_by_month(self.growth, months)
        numbers = steady[:, :, np.arange(growth_factors.shape[2]) % steady.shape[2]] * growth_factors
        work = self.work.model_copy(update={"months": months})
        return replace(self, work=work, numbers=numbers, stretched=self.stretched * length)._problem(values)

    def _problem(self, values: ParameterValues, baseline: Problem | None = None) -> Problem:
        """Return which machines and offers may run the jobs, and their costs, at what-if `values`, for `dispatch`.

        What the values do not change is taken from `baseline`, the same problem as planned, because pricing takes time.
        """
        owned = {kind.name: kind for kind in baseline.held} if baseline else {}
        rented = {offer.name: offer for offer in baseline.rented} if baseline else {}
        for source in self.sources:
            name = source.offer["option"]
            is_affected = baseline is None or values.rows & source.rows_by_label.keys()
            if is_affected and source.kind == "rented":
                rented[name] = self._rented(source, values)
            elif is_affected:
                owned[name] = self._owned(source, values)
        trials = {key: trial.usd / self.work.months for key, trial in self.trials.items()}

        is_work_changed = any(not parameter.rows for parameter in values.values)
        jobs = self._jobs(values) if baseline is None or is_work_changed else baseline.jobs
        return Problem(jobs, tuple(owned.values()), tuple(rented.values()), trials, self.speed_errors)

    def _jobs(self, values: ParameterValues) -> Array:
        """Return the number of jobs at what-if `values`, class x sample x month, for `dispatch`: of each class without
        its urgent jobs, which are a class of their own after it.
        """
        jobs: list[Array] = []
        for index, job_class in enumerate(self.classes):
            number = self.numbers[index] * values.work(ALL_JOBS) * values.work(PER_MONTH, job_class.name)
            if job_class.urgent:
                number = np.minimum(jobs[-1], number)
                jobs[-1] = jobs[-1] - number
            jobs.append(number)
        return np.stack(jobs)

    def _owned(self, source: Source, values: ParameterValues) -> OwnedMachine:
        """Return a source's machine that is owned or committed to, with hours and USD at what-if `values`, for the
        mixes. `source`: a machine at a price, with its speed for every class of jobs. Owned machines work in planned
        hours, committed ones always.
        """
        row = source.offer
        months = self.work.months
        usd_per_hour = self.figures["variable"][row["row"]] * hour_change(row, values)
        factor = values.of(row["row"])
        sampled = {name: samples for (name, label), samples in self.offer_samples.items() if label == row["row"]}
        delay: Number = sampled.get("delivery_months", 0.0)
        capacity = np.full(usd_per_hour.size, HOURS_A_DAY * self.month_days)
        if row["purchase"] == "own":
            # The options' ownership is borne by the hours in which the machine works; here it is paid by the month.
            working = 1.0 - or_zero(row["downtime_share"])
            days = np.minimum(self.figures["days"][row["row"]] * factor("days_per_month"), self.month_days)
            capacity = HOURS_A_DAY * days * working
            if source.there:
                care = or_zero(row["maintenance_usd_per_month"]) + or_zero(row["staff_usd_per_month"])
                fixed = care - or_zero(row["residual_usd"]) / months
            else:
                usd = possession(row, lambda name: sampled.get(name, 1.0) * factor(name), delay)
                fixed = row["fixed_usd_per_month"] * working * usd / (possession(row, BASELINE.of(None)) or 1.0)
        else:
            rate = usd_per_hour / row["variable_usd_per_hour"]
            if notna(row["month_usd"]):
                usd_per_hour = np.zeros(rate.size)
                fixed = row["month_usd"] * rate
            else:
                terms = contract_months(months - np.median(delay), row["term_months"]) / months
                usd_per_hour = row["term_variable"] * rate
                fixed = row["term_fixed"] * terms * rate
            fixed = fixed + monthly_fees(row)
        hours = np.full((len(self.classes), capacity.size), NEVER)
        for index, class_row, speed in self._rows_in_time(source, values):
            hours[index] = self.figures["hours"][class_row["row"]] / speed / class_row["jobs_at_once"]
        present, (starts, length) = ALWAYS, months_of(months)
        if isinstance(delay, np.ndarray):
            present = np.clip((starts + length - delay[:, None]) / length, 0.0, 1.0)
        return OwnedMachine(
            name=row["option"],
            there=source.there,
            fixed=fixed + np.zeros(capacity.size),
            capacity=capacity,
            hours=hours,
            running=finite(hours) * usd_per_hour,
            devices=row["gpus"],
            present=present,
            speed_keys=self._keys(source),
            running_at_speed=finite(hours) * np.mean(usd_per_hour),
        )

    def _rented(self, source: Source, values: ParameterValues) -> RentalOffer:
        """Return a source's rental offer at what-if `values`, for the mixes: as planned, with prices and hours scaled.

        `source`: a machine at a price, with its speed for every class of jobs. Jobs that would end too late there have
        USD of NEVER.
        """
        planned = self._planned_offers[source.offer["option"]]
        usd = np.ones((len(self.classes), 1))
        hours = np.zeros(usd.shape)
        for index, row, speed in self._rows_in_time(source, values):
            hours[index] = 1.0 / speed
            usd[index] = hour_change(row, values) / speed

        return replace(
            planned,
            device_hours=planned.device_hours * hours,
            usd=np.where(hours, planned.usd * usd, NEVER),
            expected_usd=np.where(hours, planned.expected_usd * usd, NEVER),
            usd_at_speed=np.where(hours, planned.usd_at_speed * usd, NEVER),
        )

    @cached_property
    def _planned_offers(self) -> dict[str, RentalOffer]:
        """Rental offers as planned, by option, with USD of a job at each month's rent, however late it would end.
        Expected USD are means weighted by the jobs of each month; an urgent job pays for all slots of its machine.
        """
        offers = {}
        weights = self._jobs(BASELINE).mean(axis=1)
        shape = (len(self.classes), self.growth.shape[1])
        for source in (source for source in self.sources if source.kind == "rented"):
            usd, at_speed = np.full((2, *shape), NEVER)
            expected = np.full((shape[0], 1), NEVER)
            device_hours = np.zeros(shape)
            path = ALWAYS

            for index, row in source.rows_with_speed:
                slots = row["jobs_at_once"]
                paid_slots = slots if self.classes[index].urgent else 1.0
                usd_of_job, hours = (self.figures[name][row["row"]] * paid_slots for name in ("usd", "hours"))
                device_hours[index] = hours * row["gpus"] / slots
                rents = self._rent_by_month.get((row["option"], row["model"]), ALWAYS)
                mean = due = rents.mean(axis=1)
                if rents.size > 1 and weights[index].any():
                    due = np.average(rents, axis=1, weights=weights[index])
                # Prices are independent of speeds.
                at_speed[index] = hours * np.mean(np.nan_to_num(usd_of_job / hours) * due)
                expected[index] = np.mean(usd_of_job * due)
                # Offers with steady prices share ALWAYS, so that a dispatch sums up their rents at once.
                usd[index], path = usd_of_job * mean, rents / mean[:, None] if rents.size > 1 else ALWAYS

            name = source.offer["option"]
            offers[name] = RentalOffer(
                name=name,
                usd=usd,
                device_hours=device_hours,
                speed_keys=self._keys(source),
                expected_usd=expected,
                usd_at_speed=at_speed,
                path=path,
            )
        return offers

    @cached_property
    def _rent_by_month(self) -> dict[tuple[str, str], Array]:
        """Rent of each month / the mean rent in `figures`, {(option, model): sample x month}, where a rent moves."""
        starts, length = months_of(self.work.months)
        paths = {}
        for row in self.rows.values():
            key = (row["option"], row["model"])
            if key not in paths and moves_ahead(row):
                if self.rents is None:
                    path = central_rent_by_month(row, starts, length)
                else:
                    path = self.rents.by_month(row, starts, length)[: self.growth.shape[1]]
                # In a project of another length its figures are at the central mean rent of that.
                paths[key] = path / mean_rent_factor(row, row["rent_months"] * self.stretched)
        return paths

    def _keys(self, source: Source) -> tuple[str, ...]:
        """Return the correlation key of the speed of each class on a source; empty where it is certain."""
        return tuple("" if row is None else self.speed_keys.get(row["row"], "") for row in source.rows)

    def _rows_in_time(self, source: Source, values: ParameterValues) -> Iterator[tuple[int, Row, Number]]:
        """Yield (index of a class, its option row, factor of its speed) for classes whose jobs end within their limit
        of hours on a source, at what-if `values`: only these may run there.
        """
        for index, row in source.rows_with_speed:
            speed = values.factor(row["row"], "images_per_s")
            if row["hours"] / speed <= self.classes[index].limit:
                yield index, row, speed

    def up_front(self, counts: Counts) -> float:
        """Return USD to pay up front for these numbers of machines beyond the owned ones, against the team's budget."""
        usd = 0.0
        for kind, count in zip(self.drawn.held, counts, strict=True):
            row = self.source_by_name[kind.name].offer
            price = or_zero(row["capex_usd"] if row["purchase"] == "own" else row.get("upfront_usd"))
            usd += max(0, count - kind.there) * price
        return usd

    def affords(self, counts: Counts) -> bool:
        """Return whether these numbers of machines keep the budget up front."""
        return self.up_front(counts) <= self.budget_usd

    def over_budget(self, mix: Mix) -> list[Row]:
        """Return the reason against a mix that costs more than the budget up front (USD); [] for any other mix."""
        if self.affords(mix.counts):
            return []
        return [{"limit": "at_most_up_front", "allowed": self.budget_usd, "actual": self.up_front(mix.counts)}]

    def within_budget(self, usd_per_unit: float) -> "MonthlyWork":
        """Return the workload with its budget, stated in a currency of `usd_per_unit` USD, applied."""
        budget = self.work.at_most_up_front
        return self if budget is None else replace(self, budget_usd=budget * usd_per_unit)


def source_table(works: Sequence[MonthlyWork]) -> DataFrame:
    """Return the table `sources`, which says who does which work: a row per mix and machine or offer that has jobs or
    is bought. `device_hours` per month: mean of samples and months; `machines` and `capacity_device_hours` per month of
    owned or bought kinds. `works`: monthly workloads with their mixes.
    """
    rows = []
    for monthly in works:
        for mix in monthly.mixes:
            counts = {kind.name: count for kind, count in zip(mix.problem.held, mix.counts, strict=True)}
            for name, machine in mix.done.sources.items():
                device_hours = mix.done.device_hours(name).mean()
                count = counts.get(name)
                if count or device_hours:
                    capacity = None
                    use = monthly.source_by_name[name].kind
                    if isinstance(machine, OwnedMachine):
                        capacity = counts[name] * (machine.hours_per_month * machine.devices).mean()
                    rows.append((monthly.name, name, monthly.title(name), use, mix.key, count, device_hours, capacity))
    return DataFrame(rows, columns=columns_of("sources"))


def monthly_work(
    name: str, work: "Monthly", options: DataFrame, draws: Draws, offers: DataFrame, month_days: float, seed: int
) -> MonthlyWork:
    """Return a monthly workload with its machines (persistent options in the answer), sampled and at central figures.

    Raises UserError where an owned machine has no offer `own`.

    Parameters
    ----------
    name, work
        Name and terms of the workload; an owned machine (`have`) without a figure gets no jobs.
    options, draws, offers, month_days, seed
        The options that fit (a machine at a price for a workload); their samples; all offers; days of a month; the
        study's seed.
    """
    owned = set(offers.loc[offers["purchase"] == "own", "instance"])
    refuse(
        f"workloads.yaml: {name}.have names {machine!r}; expected a machine with an offer `own` in a price list"
        for machine in sorted({*work.have} - owned)
    )
    # Of a contract what is paid by its terms, before that is spread over the hours of use.
    paid = {"fixed_usd_per_month": "term_fixed", "variable_usd_per_hour": "term_variable"}
    terms = offers.reindex(columns=[*OFFER, "term_months", "upfront_usd", *MONTHLY_FEES, *paid]).rename(columns=paid)
    terms = terms.drop_duplicates(list(OFFER))
    table = options.merge(terms, on=list(OFFER), how="left", validate="many_to_one")

    classes = []
    for job in work.jobs:
        classes.append(WorkClass(job.name, f"{name}.{job.name}", job, False, NEVER))
        if job.within_hours is not None:
            classes.append(WorkClass(f"{job.name} (urgent)", f"{name}.{job.name}", job, True, job.within_hours))

    sampled = {figure: getattr(draws, figure)[:, :MIX_DRAWS] for figure in FIGURES}
    size = sampled["hours"].shape[1]
    speed_keys = dict[int, str]()
    logs = dict[str, Array]()
    ownership = dict[tuple[str, int], Array]()
    for figure in draws.figures:
        samples = figure.values[:MIX_DRAWS]
        error = error_key(figure.error)
        if figure.name == "images_per_s":
            speed_keys |= dict.fromkeys(figure.rows, error)
            logs.setdefault(error, np.log(samples))
        elif figure.name in OWNERSHIP_FIGURES:
            planned = table.loc[figure.rows, figure.name]
            ownership |= {(figure.name, label): samples / value for label, value in planned.items() if value > 0}

    # The cheapest timing of each uncertain speed; none if no such machine is rented out.
    timings = timings_of(options)
    trials = dict[str, Trial]()
    for row in records(options):
        key = speed_keys.get(row["row"])
        timing = timings.get((row["gpu"], int(or_zero(row["figure_gpus"]))))
        if key is not None and timing is not None:
            trial = Trial(timing["cost_to_learn_usd"], timing["learn_on_title"])
            trials[key] = min(trials.get(key, trial), trial)

    errors = SpeedErrors(tuple(logs), np.array([*logs.values()]).reshape(len(logs), size))
    numbers, growth = _job_samples(name, work, classes, seed, size)
    monthly = MonthlyWork(
        name=name,
        work=work,
        classes=tuple(classes),
        sources=_sources(work, classes, table),
        figures=sampled,
        numbers=numbers,
        growth=growth,
        offer_samples=ownership | _delivery_samples(table, seed, size),
        month_days=month_days,
        rents=draws.rents,
        speed_keys=speed_keys,
        speed_errors=errors,
        trials=trials,
    )
    central = {figure: table[column].to_numpy(float)[:, None] for figure, column in FIGURES.items()}
    numbers, growth = _job_samples(name, work, classes, None, 1)
    central_work = replace(
        monthly,
        figures=central,
        numbers=numbers,
        growth=growth,
        offer_samples=_delivery_samples(table, None, 1),
        rents=None,
        speed_errors=SpeedErrors(errors.keys, np.zeros((len(errors.keys), 1))),
    )
    return replace(monthly, central_work=central_work)


def _job_samples(
    name: str, work: "Monthly", classes: Sequence[WorkClass], seed: int | None, size: int
) -> tuple[Array, Array]:
    """Return (jobs per month, class x sample x month; growth per month, class x sample): the uncertain amount of work.

    `name`: of the workload; `classes`: of its jobs, with numbers and ranges; `size`: number of samples; medians if
    `seed` is None.
    """
    numbers = list[Array]()
    growth = list[Array]()
    for job_class in classes:
        job = job_class.job
        number = job_class.number
        noise = _noise(seed, size, "growth_per_month", name, job.name)
        value, low, high = (1.0 + rate for rate in (job.growth_per_month.value, *job.growth_per_month.ends))
        growth.append(spread(value, low, high, LEVEL_RANGE, noise) - 1.0)
        growth_factors = growth_by_month(growth[-1][None], work.months)[0]
        by_month = np.zeros(growth_factors.shape)
        if seed is not None:
            generator = stream(seed, PER_MONTH, name, job.name, job_class.urgent)
            by_month = month_noise(generator, size, by_month.shape[1], work.months_alike)
        jobs = spread(number.value, *number.ends, LEVEL_RANGE, by_month) * growth_factors
        numbers.append(np.minimum(numbers[-1], jobs) if job_class.urgent else jobs)
    return np.stack(numbers), np.stack(growth)


def _noise(seed: int | None, size: int, *key: object) -> Array:
    """Return `size` standard normal samples of the stream `key`; zeros (the median) without a seed."""
    return np.zeros(size) if seed is None else stream(seed, *key).standard_normal(size)


def _sources(work: "Monthly", classes: Sequence[WorkClass], options: DataFrame) -> tuple[Source, ...]:
    """Return what may run the jobs of a monthly workload: machines and offers, each with its speed for every class.

    A Source per option (a machine at a price) that nobody takes away and that has a speed for some class. Owned
    machines (`have`) count in the first price list that offers them. `options`: table of options.
    """
    is_owned = options["instance"].isin(work.have) & options["purchase"].eq("own")
    workloads = [job_class.workload for job_class in classes]
    counts = Counter(work.have)
    sources = []
    is_used = (options["in_answer"] | is_owned) & options["persistent"]
    for _, group in options[is_used & options["workload"].isin(workloads)].groupby("option", sort=False):
        rows = records(group)
        by_workload = {row["workload"]: row for row in reversed(rows)}
        count = counts.pop(rows[0]["instance"], 0) if rows[0]["purchase"] == "own" else 0
        sources.append(Source(rows[0], tuple(map(by_workload.get, workloads)), count))
    return tuple(sources)


def _delivery_samples(options: DataFrame, seed: int | None, size: int) -> dict[tuple[str, int], Array]:
    """Return {("delivery_months", row label): samples of the months until a machine is delivered}, in which it does no
    work; machines that are there at once are left out. Medians if `seed` is None; `size`: number of samples.
    """
    samples = {}
    figure = "delivery_months"
    for row in records(options):
        if or_zero(row.get(figure)) > 0:
            noise = _noise(seed, size, "delivery", row["option"])
            samples[figure, row["row"]] = spread(*value_with_bounds(row, figure), LEVEL_RANGE, noise)
    return samples
