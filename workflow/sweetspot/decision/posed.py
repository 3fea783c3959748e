"""The work of a month as a problem of mixes: its classes of jobs, what is there, what can be had, with draws."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

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
from sweetspot.decision.assumption import ALL_JOBS, Moved
from sweetspot.decision.options import Row
from sweetspot.mixes.problem import (
    NEVER,
    Array,
    Counts,
    OwnedMachine,
    Problem,
    RentalOffer,
    finite,
    grown,
    lighter,
    months_of,
)
from sweetspot.mixes.search import Mix, MixLimits, MixSearch, best_mix, mixes, timings_worth
from sweetspot.mixes.timing import SpeedErrors

if TYPE_CHECKING:
    from sweetspot.study.monthly import Monthly, RecurringJob  # lazily: pydantic takes longer than all this computes
    from sweetspot.study.terms import Amount

MIX_DRAWS = 1000  # of the simulation's draws, each with its months: standard error of a probability of 0.8: 1.3 points
COMMITTED = ("reserved", "committed")
PER_MONTH = "per_month"  # quantity: jobs a month of one class
GROWTH = "growth_per_month"  # of one class, too
SOFTWARE_GAIN = "software_gain_per_year"  # of all machines: a month's jobs take so much less of each
OF_THE_WORK = (ALL_JOBS, PER_MONTH, GROWTH, SOFTWARE_GAIN)
PLANNED = Moved(1, {})
TINY = 1e-12  # of a job
ROUNDING = 1e-9  # of a month
OF_THE_MONTH = ("capex_usd", "residual_usd", "maintenance_usd_per_month", "months")
Figure = Callable[[str, int], Array]  # by draw, of a row of the options


class LimitViolation(NamedTuple):
    """A limit of the team (a key of the workload) that a mix breaks; USD, or hours."""

    limit: str
    allowed: float
    actual: float


@dataclass(frozen=True, eq=False)
class TeamLimits(MixLimits):
    """What a team allows itself, by key of the workload; here nothing is limited."""

    maximum: Mapping[str, float] = field(default_factory=dict)

    def violations(self, mix: Mix) -> list[LimitViolation]:
        """Return the limits that a mix breaks."""
        return []

    def affords(self, counts: Counts) -> bool:
        """Return whether so many machines may be bought."""
        return True


class Trial(NamedTuple):
    """A timing that reveals a speed: what it costs, how long it takes, the offer that it is made on."""

    usd: float
    minutes: float
    option: str
    title: str


class Class(NamedTuple):
    """Jobs of one class, the urgent ones apart: `workload` is that of the options; `limit` hours, infinite without."""

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
    """One option of the mix: its offer (a row of the options), and the row of the options by class (None: no speed)."""

    offer: Row
    rows: tuple[Row | None, ...]
    there: int

    @property
    def kind(self) -> str:
        """There, bought (or committed to: paid for by the month, used or not), or rented."""
        row = self.offer
        held = row["purchase"] == "own" or row["purchase"] in COMMITTED or pd.notna(row["month_usd"])
        return "there" if self.there else "bought" if held else "rented"

    @property
    def care(self) -> float:
        """USD a month of its maintenance and staff."""
        return or_zero(self.offer["maintenance_usd_per_month"]) + or_zero(self.offer["staff_usd_per_month"])

    @property
    def known(self) -> list[Row]:
        """Its rows of the options."""
        return [row for row in (self.offer, *self.rows) if row is not None]

    @property
    def labels(self) -> frozenset[int]:
        """Those of its rows."""
        return frozenset(row["row"] for row in self.known)


@dataclass(frozen=True)
class Posed:
    """A monthly workload with its sources. `figures` (of `pose`; `sale`: USD that one there would bring today;
    `usd_given_speed`: of a job at its expected price) of the options, rows x draws, and `middle`, the central ones, as
    one draw; `numbers` of jobs, class x draw x month, which grow by `growth` (class x draw) and take less by the `gain`
    of software a year (draw), as if there were fewer; `known`: draws of what the figures are made of, by name and row
    of the options; `delivery`: months until a machine or contract is there, by draw and row of the options;
    `rents`: their paths (None: they stay), in a project `stretched` so many times; `speed_keys` of rows whose speed is
    uncertain (rows of one key are off together), their `speed_errors`, and the `trials` that reveal them, by key.
    `team_limits`: the limits that count; `limit_costs`: those that the cheapest way would break, each with the USD a
    month that the best costs less without it (NaN: no way keeps them, and none counts).
    """

    name: str
    work: "Monthly"
    classes: tuple[Class, ...]
    sources: tuple[Source, ...]
    figures: Mapping[str, Array]
    middle: Mapping[str, Array]
    numbers: Array
    growth: Array
    gain: Array
    known: Mapping[tuple[str, int], Array]
    delivery: Mapping[int, Array]
    month_days: float
    rents: Rents | None = None
    stretched: float = 1.0
    speed_keys: Mapping[int, str] = field(default_factory=dict)
    speed_errors: SpeedErrors = field(default_factory=SpeedErrors)
    trials: Mapping[str, Trial] = field(default_factory=dict)
    team_limits: TeamLimits = field(default_factory=TeamLimits)
    limit_costs: tuple[tuple[LimitViolation, float], ...] = ()

    @cached_property
    def drawn(self) -> Problem:
        """The problem with its draws."""
        return self.moved(PLANNED)

    @cached_property
    def central(self) -> Problem:
        """The problem at central figures: one draw, of one month where all are alike."""
        numbers = np.array([[[one.number.value]] for one in self.classes])
        numbers = numbers * self.risen if self.changes else numbers
        return self._problem(lambda name, label: self.middle[name][label], self._apart(numbers), PLANNED)

    @cached_property
    def mixes(self) -> list[Mix]:
        """The ways to do the work, the best first."""
        return mixes(self.drawn, self.team_limits)

    def with_strategy(self, mix: Mix) -> Mix:
        """A mix held to the limits, with the machines timed first that are worth it."""
        return MixSearch(self.drawn, self.team_limits).with_timings(self.team_limits.ease(mix), self._timings)

    def best_of(self, problem: Problem, starts: Sequence[Counts], kinds: Sequence[int]) -> Mix:
        """The best mix of the problem with assumptions moved, from some numbers of machines on (`best_mix`)."""
        return best_mix(problem, starts, kinds, self.team_limits)

    @cached_property
    def _timings(self) -> list[frozenset[str]]:
        """The speeds that any of the mixes times first, or that are worth it where nothing is bought."""
        worth = timings_worth(self.drawn, [self.drawn.owned])
        return list(dict.fromkeys([*(one.timed for one in self.mixes if one.timed), *worth]))

    def trials_of(self, mix: Mix) -> list[Trial]:
        """The timings that a mix begins with, the dearest machine first."""
        return sorted((self.trials[key] for key in mix.timed), reverse=True)

    @cached_property
    def rows(self) -> dict[int, Row]:
        """The rows of the options that sources stand on, by label."""
        return {row["row"]: row for source in self.sources for row in source.known}

    @cached_property
    def risen(self) -> Array:
        """Jobs of each month over those of the first at central figures, class x 1 x month."""
        more = grown(np.array([[one.job.growth_per_month.value] for one in self.classes]), self.work.months)
        return more * lighter(np.array([self.work.software_gain_per_year.value]), self.work.months)

    @cached_property
    def changes(self) -> bool:
        """Whether its months differ: the work grows, or something comes later."""
        return bool(self.delivery) or bool(np.any(self.growth)) or bool(np.any(self.gain))

    def source(self, name: str) -> Source:
        """The source of that option."""
        return next(one for one in self.sources if one.offer["option"] == name)

    def title(self, name: str) -> str:
        """The name of that option for people."""
        return str(self.source(name).offer["title"])

    @property
    def at_home(self) -> list[str]:
        """The title of each machine that is there."""
        return [self.title(kind.name) for kind in self.drawn.held for _ in range(kind.there)]

    def moved(self, moved: Moved) -> Problem:
        """The problem with assumptions moved (one case), on all draws. More of a class are not more urgent ones, of
        which there are never more than of all.
        """
        length = float(moved.work("months"))
        lab = self if length == 1.0 else self._lasting(length)
        factors = {
            label: lab._factors(row, moved.of(label)) for label, row in self.rows.items() if moved.touches(label)
        }

        def figure(name: str, label: int) -> Array:
            return np.asarray(self.figures[name][label] * factors.get(label, {}).get(name, 1.0))

        same = bool(moved.values) and lab is self
        if same and not any(one.figure in OF_THE_WORK for one in moved.values):
            return self._repriced(figure, factors, moved)
        more = np.array([float(moved.work(ALL_JOBS) * moved.work(PER_MONTH, one.name)) for one in self.classes])
        faster = np.array([[float(moved.work(GROWTH, one.job.name))] for one in self.classes])
        jobs, gained, months = lab.numbers * more[:, None, None], float(moved.work(SOFTWARE_GAIN)), lab.work.months
        if (faster != 1.0).any() or gained != 1.0:
            by = grown(self.growth * faster, months) / grown(self.growth, months)
            jobs = jobs * (by * lighter(self.gain * gained, months) / lighter(self.gain, months))
        return lab._problem(figure, self._apart(jobs), moved, self.drawn if same else None)

    def _lasting(self, length: float) -> "Posed":
        """The workload in a project of so many times the months: its draws go on, with the same growth a month."""
        before, months = self.work.months, self.work.months * length
        alike = self.numbers / grown(self.growth, before) / lighter(self.gain, before)
        starts, _ = months_of(months)
        again = np.arange(len(starts)) % alike.shape[2]
        numbers = alike[:, :, again] * grown(self.growth, months) * lighter(self.gain, months)
        work = self.work.model_copy(update={"months": months})
        return replace(self, work=work, numbers=numbers, stretched=self.stretched * length)

    def _rent_by_month(self, row: Row, draws: int) -> Array:
        """The rent of a row in each month over the mean rent that its figures are at, draw x month (of one draw: the
        central ones); one for all where it stays.
        """
        if self.rents is None or not moves_ahead(row):
            return np.ones((1, 1))
        key = (row["option"], row["model"], draws == 1)
        if key not in self._rent_paths:
            starts, length = months_of(self.work.months)
            if draws == 1:
                path = central_rent_by_month(row, starts, length)
            else:
                path = self.rents.by_month(row, starts, length)[:draws]
            # In a project of another length its figures are at the central mean rent of that.
            self._rent_paths[key] = path / rent_over(row, row["rent_months"] * self.stretched)
        return self._rent_paths[key]

    @cached_property
    def _rent_paths(self) -> dict[tuple[object, ...], Array]:
        return {}

    @cached_property
    def _planned_variable(self) -> dict[int, Number]:
        return {label: rates(row, lambda _: 1.0).variable for label, row in self.rows.items()}

    def _factors(self, row: Row, factor: Factor) -> dict[str, Number]:
        """By how much the figures of one row change."""
        speed = factor("images_per_s")
        now, planned = rates(row, factor).variable, self._planned_variable[row["row"]]
        dearer = now / planned if planned else 1.0
        found: dict[str, Number] = {"hours": 1.0 / speed, "usd": dearer / speed, "variable": dearer}
        found["usd_given_speed"] = found["usd"]
        if row["purchase"] == "own":
            found |= {"days": factor("days_per_month"), "sale": factor("sell_for_usd")}
            if any(np.any(factor(name) != 1.0) for name in OF_THE_MONTH):
                drawn, after = partial(over_planned, self.known, row), self.delivery.get(row["row"], 0.0)
                month, before = (
                    possession(row, lambda name: drawn(name) * factor(name), after),
                    possession(row, drawn, after),
                )
                found["fixed"] = month / before if np.all(before) else 1.0  # 0: it is there already, and free
        return found

    def _apart(self, numbers: Array) -> Array:
        """Jobs of each class, the urgent ones no longer among those of their class."""
        jobs: list[Array] = []
        for one, number in zip(self.classes, numbers, strict=True):
            if one.urgent:
                number = np.minimum(jobs[-1], number)
                jobs[-1] = jobs[-1] - number
            jobs.append(number)
        return np.stack(jobs)

    @cached_property
    def _by_kind(self) -> tuple[list[tuple[Source, frozenset[int]]], list[tuple[Source, frozenset[int]]]]:
        """The sources that are held and those that are rented, each with the labels of its rows."""
        known = [(one, one.labels) for one in self.sources]
        return [one for one in known if one[0].kind != "rented"], [one for one in known if one[0].kind == "rented"]

    def _problem(self, figure: Figure, jobs: Array, moved: Moved, planned: Problem | None = None) -> Problem:
        """`planned`: most of its sources stay each time, those of which no figure moves."""
        (held, rented), rows = self._by_kind, moved.rows
        if planned is None:
            hold = [self._held(one, figure, moved) for one, _ in held]
            rent = [self._rented(one, figure, moved, jobs) for one, _ in rented]
        else:
            hold = [self._held(one, figure, moved) if rows & labels else was
                    for (one, labels), was in zip(held, planned.held, strict=True)]  # fmt: skip
            rent = [self._rented(one, figure, moved, jobs) if rows & labels else was
                    for (one, labels), was in zip(rented, planned.rented, strict=True)]  # fmt: skip
        trials = {key: trial.usd / self.work.months for key, trial in self.trials.items()}
        return Problem(
            classes=tuple(one.name for one in self.classes),
            jobs=jobs,
            held=tuple(hold),
            rented=tuple(rent),
            trials=trials,
            errors=self.speed_errors if jobs.shape[1] == self.numbers.shape[1] else self.speed_errors.central,
        )

    def _repriced(self, figure: Figure, factors: Mapping[int, Mapping[str, Number]], moved: Moved) -> Problem:
        """The problem with figures of its sources moved, the jobs as planned. All figures of an offer by the hour go as
        its factors, so that no sample of it is priced again.
        """
        held, rented = self._by_kind
        hold = [self._held(one, figure, moved) if moved.rows & labels else was
                for (one, labels), was in zip(held, self.drawn.held, strict=True)]  # fmt: skip
        rent = []
        for (source, labels), was in zip(rented, self.drawn.rented, strict=True):
            if not moved.rows & labels:
                rent.append(was)
            elif list(self._able(source, moved)) != list(self._able(source, PLANNED)):  # in time, or no longer
                rent.append(self._rented(source, figure, moved, self.drawn.jobs))
            else:
                by_class = [{} if row is None else factors.get(row["row"], {}) for row in source.rows]
                usd, hours = (np.array([[float(one.get(name, 1.0))] for one in by_class]) for name in ("usd", "hours"))
                rent.append(was.scale(usd, hours))
        return replace(self.drawn, held=tuple(hold), rented=tuple(rent))

    def _held(self, source: Source, figure: Figure, moved: Moved) -> OwnedMachine:
        hour, fixed, capacity = self._month(source, figure)
        hours = np.full((len(self.classes), fixed.size), NEVER)
        for number, row in self._able(source, moved):
            hours[number] = figure("hours", row["row"]) / row["jobs_at_once"]
        return OwnedMachine(
            name=source.offer["option"],
            there=source.there,
            for_sale=not source.there,
            fixed=fixed,
            capacity=capacity,
            hours=hours,
            running=finite(hours) * hour,
            devices=int(source.offer["gpus"]),
            present=self.present(source, fixed.size),
            sellable=source.there > 0 and or_zero(source.offer.get("sell_for_usd")) > 0,
            speed_keys=self._keys(source),
            running_at_speed=finite(hours) * float(np.mean(hour)),
        )

    def _keys(self, source: Source) -> tuple[str, ...]:
        """The key of the speed of each class on a source; empty where it is certain or where it has none."""
        return tuple("" if row is None else self.speed_keys.get(row["row"], "") for row in source.rows)

    def present(self, source: Source, draws: int) -> Array:
        """Share of each month in which a machine is there, draw x month (one where it is always there).

        Of one draw these are the central ones.
        """
        if source.offer["row"] not in self.delivery:
            return np.ones((1, 1))
        central = np.array([float(source.offer["delivery_months"])])
        after = central if draws == 1 else self.delivery[source.offer["row"]]
        starts, length = months_of(self.work.months)
        return np.clip((starts + length - after[:, None]) / length, 0.0, 1.0)

    def _rented(self, source: Source, figure: Figure, moved: Moved, jobs: Array) -> RentalOffer:
        """An offer by the hour. An urgent job comes alone: it pays for the whole machine. Where its price moves each
        month has its own; what is expected is the mean over the `jobs` of all months.
        """
        draws = figure("usd", source.offer["row"]).size
        usd, taken = np.full((len(self.classes), draws), NEVER), np.zeros((len(self.classes), draws))
        given_speed = np.full(usd.shape, NEVER)
        path, expected = np.ones((1, 1)), np.full((len(self.classes), 1), NEVER)
        for number, row in self._able(source, moved):
            alone = row["jobs_at_once"] if self.classes[number].urgent else 1.0
            usd[number] = figure("usd", row["row"]) * alone
            taken[number] = figure("hours", row["row"]) * row["gpus"] / row["jobs_at_once"] * alone
            given_speed[number] = figure("usd_given_speed", row["row"]) * alone
            months = self._rent_by_month(row, draws)
            mean = months.mean(axis=1)
            if months.size > 1 and jobs.shape[2] > 1:
                path = months / mean[:, None]
                weights = jobs[number].mean(axis=0) / max(float(jobs[number].mean(axis=0).sum()), TINY)
                due = months @ weights if weights.any() else mean
                price = np.divide(usd[number], given_speed[number], out=np.ones(draws), where=given_speed[number] > 0)
                given_speed[number] *= np.mean(price * due)
                expected[number] = np.mean(usd[number] * due)
                usd[number] *= mean
            else:
                usd[number], given_speed[number] = usd[number] * mean, given_speed[number] * mean.mean()
                expected[number] = usd[number].mean()
        return RentalOffer(
            name=source.offer["option"],
            usd=usd,
            device_hours=taken,
            speed_keys=self._keys(source),
            expected_usd=expected,
            usd_at_speed=given_speed,
            path=path,
        )

    def _able(self, source: Source, moved: Moved) -> Iterator[tuple[int, Row]]:
        """The classes that a source does in time, by number, and its rows for them."""
        for number, (one, row) in enumerate(zip(self.classes, source.rows, strict=True)):
            if row is not None and in_time(one, row, float(moved.of(row["row"])("images_per_s"))):
                yield number, row

    def _month(self, source: Source, figure: Figure) -> tuple[Array, Array, Array]:
        """USD of an hour of use, USD of a month, hours of use a month of one machine; by draw. An owned one works in
        its planned hours, a committed one in all of the month.
        """
        row, place, months = source.offer, source.offer["row"], self.work.months
        variable = figure("variable", place)
        if row["purchase"] == "own":
            works = 1.0 - or_zero(row["downtime_share"])
            capacity = HOURS_A_DAY * np.minimum(figure("days", place), self.month_days) * works
            # The options' possession is borne by the hours in which the machine works; here it is paid by the month.
            fixed = figure("fixed", place) * works
            if source.there:
                given_up = figure("sale", place) - or_zero(row["residual_usd"])
                fixed = source.care + given_up / months + np.zeros(variable.size)
            return variable, fixed, capacity
        dearer = variable / row["variable_usd_per_hour"]
        hours = np.full(variable.size, HOURS_A_DAY * self.month_days)
        if pd.notna(row["month_usd"]):
            return np.zeros(variable.size), row["month_usd"] * dearer, hours
        left = months - float(np.median(self.delivery.get(place, 0.0)))
        terms = contract_months(left, row["term_months"]) / months
        return row["term_variable"] * dearer, row["term_fixed"] * terms * dearer, hours


def over_planned(known: Mapping[tuple[str, int], Array], row: Row, name: str) -> Number:
    """Draws of a figure of a row over what is planned."""
    values = known.get((name, row["row"]))
    return 1.0 if values is None or not row[name] > 0 else values / row[name]


def in_time(one: Class, row: Row, faster: float = 1.0) -> bool:
    """Whether a job of the class ends within its limit by its central hours, at so many times that speed."""
    return bool(row["hours"] / faster <= one.limit) and bool(np.isfinite(row["usd"]))
