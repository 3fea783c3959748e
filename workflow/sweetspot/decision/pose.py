"""The work of months as its classes and sources with draws, and its ways held to what a team allows itself."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sweetspot.bills.rates import or_zero, possession
from sweetspot.decision.assumption import error_key
from sweetspot.decision.options import OFFER, Row, records
from sweetspot.decision.posed import (
    GROWTH,
    MIX_DRAWS,
    SOFTWARE_GAIN,
    Class,
    LimitViolation,
    Posed,
    Source,
    TeamLimits,
    Trial,
    over_planned,
)
from sweetspot.decision.simulate import Draws, ends
from sweetspot.decision.waiting import pool, waiting
from sweetspot.decision.worth_knowing import timings_of
from sweetspot.draws import LEVEL_RANGE, spread, stream
from sweetspot.errors import refuse
from sweetspot.mixes.problem import NEVER, Array, Counts, grown, lighter, month_noise
from sweetspot.mixes.search import Mix
from sweetspot.mixes.timing import SpeedErrors

if TYPE_CHECKING:
    from sweetspot.study.monthly import Monthly  # lazily: pydantic takes longer than all this computes
    from sweetspot.study.terms import Amount

# Figures of the options that draws have, and their columns.
FIGURES = {"hours": "hours", "usd": "usd", "variable": "variable_usd_per_hour", "fixed": "fixed_usd_per_month",
           "days": "days_per_month"}  # fmt: skip
PERCENT = 100
UP_FRONT, WAIT = ("at_most_up_front", "mean_wait_at_most")


def pose(
    name: str, work: "Monthly", options: pd.DataFrame, draws: Draws, offers: pd.DataFrame, month_days: float, seed: int
) -> Posed:
    """The problem of one monthly workload over the options that the answer may take and that stay. `options`: those
    that fit, as `draws` has them; `offers`: all offers. Raises UserError where a machine that is there (`have`) has no
    offer `own`; one without a figure does nothing.
    """
    owned = set(offers.loc[offers["purchase"] == "own", "instance"])
    refuse(
        f"workloads.yaml: {name}.have names {other!r}; expected a machine with an offer `own` in a price list"
        for other in dict.fromkeys(work.have)
        if other not in owned
    )
    classes, told = _classes_of(name, work), with_terms(options, offers)
    drawn = {figure: getattr(draws, figure)[:, :MIX_DRAWS].copy() for figure in FIGURES}
    middle = {figure: told[column].to_numpy(float, copy=True)[:, None] for figure, column in FIGURES.items()}
    # Prices are independent of speeds: USD of a job over its hours are a price, of which the mean is expected.
    price = np.divide(drawn["usd"], drawn["hours"], out=np.zeros_like(drawn["usd"]), where=drawn["hours"] > 0)
    drawn["usd_given_speed"] = drawn["hours"] * price.mean(axis=1, keepdims=True)
    middle["usd_given_speed"] = middle["usd"]
    known = {(one.name, label): one.values[:MIX_DRAWS] for one in draws.figures for label in one.rows}
    speeds = [one for one in draws.figures if one.name == "images_per_s"]
    speed_keys = {label: error_key(one.error) for one in speeds for label in one.rows}
    logs = {error_key(one.error): np.log(one.values[:MIX_DRAWS]) for one in reversed(speeds)}
    delivery, size = _of_offers(records(told), drawn, middle, known, seed), drawn["hours"].shape[1]

    def more(share: "Amount", *key: str) -> Array:
        """Draws of a share by which something becomes more: one and it are positive."""
        low, value, high = (1.0 + each for each in (share.ends[0], share.value, share.ends[1]))
        noise = stream(seed, *key).standard_normal(size)
        return np.asarray(spread(value, low, high, LEVEL_RANGE, noise) - 1.0)

    growth = np.stack([more(one.job.growth_per_month, GROWTH, name, one.job.name) for one in classes])
    gain = more(work.software_gain_per_year, SOFTWARE_GAIN, name)
    return Posed(
        name,
        work,
        classes,
        _sources(work, classes, told),
        figures=drawn,
        middle=middle,
        numbers=_numbers(name, work, classes, seed, growth) * lighter(gain, work.months),
        growth=growth,
        gain=gain,
        known=known,
        delivery=delivery,
        month_days=month_days,
        rents=draws.rents,
        speed_keys=speed_keys,
        speed_errors=SpeedErrors(tuple(logs), np.stack([*logs.values()]) if logs else np.zeros((0, size))),
        trials=_trials(told, speed_keys),
    )


def _trials(options: pd.DataFrame, speed_keys: Mapping[int, str]) -> dict[str, Trial]:
    """The cheapest timing that reveals each uncertain speed; none of a speed of no machine that is rented."""
    timings, found = timings_of(options), dict[str, Trial]()
    for row in records(options):
        key, timing = speed_keys.get(row["row"]), timings.get((row["gpu"], int(or_zero(row["figure_gpus"]))))
        if key is None or timing is None:
            continue
        trial = Trial(timing["cost_to_learn_usd"], timing["minutes_to_learn"], timing["learn_on"],
                      timing["learn_on_title"])  # fmt: skip
        found[key] = min(found.get(key, trial), trial)
    return found


def _classes_of(name: str, work: "Monthly") -> tuple[Class, ...]:
    """The classes of a workload, each followed by its urgent jobs where it has some."""
    found = []
    for job in work.jobs:
        found.append(Class(job.name, f"{name}.{job.name}", job, False, NEVER))
        if job.within_hours is not None:
            found.append(Class(f"{job.name} (urgent)", f"{name}.{job.name}", job, True, job.within_hours))
    return tuple(found)


def with_terms(options: pd.DataFrame, offers: pd.DataFrame) -> pd.DataFrame:
    """The options with what a commitment costs a month and an hour of use, and how long it binds."""
    terms = offers.reindex(columns=[*OFFER, "term_months", "fixed_usd_per_month", "variable_usd_per_hour",
                                    "upfront_usd"])  # fmt: skip
    terms = terms.rename(columns={"fixed_usd_per_month": "term_fixed", "variable_usd_per_hour": "term_variable"})
    return options.merge(terms.drop_duplicates(list(OFFER)), on=list(OFFER), how="left", validate="many_to_one")


def _sources(work: "Monthly", classes: Sequence[Class], options: pd.DataFrame) -> tuple[Source, ...]:
    """The options of the classes; a machine that is there is had by the first price list that offers it."""
    there = options["instance"].isin(work.have) & options["purchase"].eq("own")
    kept = options[(options["in_answer"].astype(bool) | there) & options["persistent"].astype(bool)]
    by_option: dict[str, dict[str, Row]] = {}
    for row in records(kept[kept["workload"].isin([one.workload for one in classes])]):
        by_option.setdefault(row["option"], {}).setdefault(row["workload"], row)
    found, waiting = [], list(work.have)
    for rows in by_option.values():
        first = next(iter(rows.values()))
        here = [name for name in waiting if first["purchase"] == "own" and name == first["instance"]]
        waiting = [name for name in waiting if name not in here]
        found.append(Source(first, tuple(rows.get(one.workload) for one in classes), len(here)))
    return tuple(found)


def _of_offers(
    rows: Sequence[Row],
    drawn: dict[str, Array],
    middle: dict[str, Array],
    known: Mapping[tuple[str, int], Array],
    seed: int,
) -> dict[int, Array]:
    """Months until what is for sale or signed for is there, by draw and row; one wait an option. Adds to the figures
    what machines that are there would sell for (0: nothing), one price a machine, and makes what comes later dearer.
    """
    drawn["sale"], middle["sale"] = np.zeros_like(drawn["hours"]), np.zeros_like(middle["hours"])
    delivery, size = dict[int, Array](), len(drawn["hours"].T)
    for row in rows:
        place = row["row"]
        if or_zero(row.get("sell_for_usd")) > 0:
            noise = stream(seed, "sell_for", row["instance"]).standard_normal(size)
            drawn["sale"][place] = spread(*ends(row, "sell_for_usd"), LEVEL_RANGE, noise)
            middle["sale"][place] = row["sell_for_usd"]
        if or_zero(row.get("delivery_months")) > 0:
            noise = stream(seed, "delivery", row["option"]).standard_normal(size)
            after = delivery[place] = spread(*ends(row, "delivery_months"), LEVEL_RANGE, noise)
            if row["purchase"] == "own":
                every, late = partial(over_planned, known, row), float(row["delivery_months"])
                drawn["fixed"][place] *= possession(row, every, after) / possession(row, every)
                middle["fixed"][place] *= possession(row, lambda _: 1.0, late) / possession(row, lambda _: 1.0)
    return delivery


def _numbers(name: str, work: "Monthly", classes: Sequence[Class], seed: int, growth: Array) -> Array:
    """Jobs by class, draw and month; the urgent ones are a part of their class."""
    risen, made = grown(growth, work.months), list[Array]()
    for one, more in zip(classes, risen, strict=True):
        source, number = stream(seed, "per_month", name, one.job.name, one.urgent), one.number
        draws, months = more.shape
        noise = month_noise(source, draws, months, work.months_alike)
        jobs = spread(number.value, *number.ends, LEVEL_RANGE, noise) * more
        made.append(np.minimum(made[-1], jobs) if one.urgent else jobs)
    return np.stack(made)


@dataclass(frozen=True, eq=False)
class MonthlyLimits(TeamLimits):
    """The limits of a monthly workload: USD up front and hours of mean wait, by key of the workload."""

    workload: Posed = field(kw_only=True)
    any = True

    def up_front(self, counts: Counts) -> float:
        """Return the USD that machines cost before they do anything, beyond what is already owned."""
        kinds = zip(self.workload.drawn.held, counts, strict=True)
        return sum(max(0, count - kind.there) * self._price_of(kind.name) for kind, count in kinds)

    def _price_of(self, name: str) -> float:
        row = self.workload.source(name).offer
        return or_zero(row["capex_usd"] if row["purchase"] == "own" else row.get("upfront_usd"))

    def mean_wait(self, mix: Mix) -> float:
        """Return the hours that a job waits on average for owned machines; infinite where they are overloaded."""
        classes = tuple(line.job_class for line in pool(self.workload, mix))
        return float(waiting(classes).mean) if classes else 0.0

    def violations(self, mix: Mix) -> list[LimitViolation]:
        """Return the limits that a mix breaks."""
        limits = []
        for name, allowed in self.maximum.items():
            actual = self.up_front(mix.counts) if name == UP_FRONT else self.mean_wait(mix)
            limits.append(LimitViolation(name, allowed, actual))
        return [limit for limit in limits if not limit.actual <= limit.allowed]

    def keeps(self, mix: Mix) -> bool:
        """Return whether a mix keeps all limits."""
        return not self.violations(mix)

    def affords(self, counts: Counts) -> bool:
        """Return whether so many machines may be bought."""
        return self.up_front(counts) <= self.maximum.get(UP_FRONT, math.inf)

    def ease(self, mix: Mix) -> Mix:
        """Return the mix with its machines filled to fewer whole percent of their hours where jobs wait too long.

        The rest is rented; where nothing can be rented the mix stays as it is.
        """
        allowed = self.maximum.get(WAIT)
        if allowed is None or self.mean_wait(mix) <= allowed:
            return mix
        low, high = 0, PERCENT
        while high - low > 1:
            middle = (low + high) // 2
            is_short = self.mean_wait(mix._replace(filled=middle / PERCENT)) <= allowed
            low, high = (middle, high) if is_short else (low, middle)
        eased = mix.renting_sooner(low / PERCENT)
        return eased if low and math.isfinite(eased.expected) else mix


def limited(workload: Posed, usd_per_unit: float) -> Posed:
    """Return the workload within its limits, with what each limit costs.

    Where no mix found keeps the limits they do not count. `usd_per_unit`: of the study's currency, in which limits of
    money are.
    """
    scales = {UP_FRONT: usd_per_unit, WAIT: 1.0}
    stated = {name: getattr(workload.work, name) for name in scales}
    maximum = {name: value * scales[name] for name, value in stated.items() if value is not None}
    if not maximum:
        return workload
    cheapest, within = workload.mixes[0], _within(workload, maximum)
    is_feasible = within.team_limits.keeps(within.mixes[0])
    costs = []
    for violation in within.team_limits.violations(cheapest):
        others = {name: value for name, value in maximum.items() if name != violation.limit}
        saving = within.mixes[0].expected - _within(workload, others).mixes[0].expected
        costs.append((violation, saving if is_feasible else math.nan))
    return replace(within if is_feasible else workload, limit_costs=tuple(costs))


def _within(workload: Posed, maximum: Mapping[str, float]) -> Posed:
    limits = MonthlyLimits(maximum, workload=workload) if maximum else TeamLimits()
    return replace(workload, team_limits=limits)
