"""The answer at other values of assumptions, from the results of a study: priced and decided anew, as the page was."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.fits import Needs, fitting_plans
from sweetspot.bills.owning import usd_per_hour_of_use
from sweetspot.bills.plans import plan_table
from sweetspot.decision.analyses.days_of_use import break_even
from sweetspot.decision.compare import DecisionResult, PlannedWork, judge, together
from sweetspot.decision.cost_rounds import rounds_question
from sweetspot.decision.deadlines import class_deadlines, job_deadlines
from sweetspot.decision.turning import pays_rows
from sweetspot.decision.waiting import arrival_streams, queue_table
from sweetspot.draws import DRAWS
from sweetspot.study.instances import Instance
from sweetspot.study.monthly import Monthly
from sweetspot.study.settings import Settings
from sweetspot.study.terms import Amount
from sweetspot.study.workloads import Plan

PER_HOUR = ("usd", "usd_low", "usd_high", "usd_per_hour", "usd_per_hour_low", "usd_per_hour_high")
PER_USD = ("images_per_usd", "images_per_usd_low", "images_per_usd_high")
USE = ("days_per_month", "days_per_month_low", "days_per_month_high")
PER_MONTH = ("per_month", "urgent_per_month")
ROUNDING = 1e-9  # so that a whole number of jobs is not one more
NO_ROWS, NOTHING = pd.DataFrame(), MappingProxyType[str, Any]({})


class Wanted(NamedTuple):
    """Values that are asked for; None: the study's own. `days` a month that every owned machine works (at most, where
    there is a plan), `jobs`: times those of the plans, `due`: hours within which a result is there.
    """

    days: float | None = None
    jobs: float | None = None
    due: float | None = None


class Phased(NamedTuple):
    """What plans of phases are priced from: `cells` with their speeds, `lists`: offers and fees of each price list,
    `plans` of workloads.yaml, the machines by name, and what the plans `need` of memory.
    """

    cells: pd.DataFrame
    lists: Sequence[tuple[pd.DataFrame, pd.DataFrame]]
    plans: Mapping[str, Plan]
    instances: Mapping[str, Instance]
    needs: Needs


class Given(NamedTuple):
    """The results of a study: comparison/options.parquet, all of offers/, the work of `months`, what plans are
    `phased` from (None: none is asked for), and names of workloads for people.
    """

    options: pd.DataFrame
    settings: Settings
    offers: pd.DataFrame = NO_ROWS
    months: Mapping[str, Monthly] = NOTHING
    phased: Phased | None = None
    titles: Mapping[str, str] = NOTHING


class Case:
    """A study at the values `wanted`. Where nothing is wanted its tables are the page's, by the same draws."""

    def __init__(self, given: Given, wanted: Wanted, draws: int = DRAWS) -> None:
        self.given, self.wanted, self.times, self.count = given, wanted, wanted.jobs or 1.0, draws
        rows = _readable(given.options)
        self.every = rows if wanted.days is None else at_days(rows, wanted.days)

    @cached_property
    def judged(self) -> DecisionResult:
        """The study decided anew."""
        offers = self.given.offers
        offers = offers.assign(**self._used(offers)) if len(offers) else NO_ROWS
        months = {name: _busier(work, self.times) for name, work in self.given.months.items()}
        asked = PlannedWork(months, self._plans(), self.given.titles)
        return judge(self.every, offers, asked, self.given.settings, self.count)

    @cached_property
    def break_even(self) -> pd.DataFrame:
        """Rows of comparison/break_even.parquet of single jobs and of plans of phases."""
        judged, month_days = self.judged, self.given.settings.month_days
        plans = [rounds_question(plan, judged.options, judged.draws, month_days) for plan in judged.plans]
        rows = [row for plan in plans if plan.held for row in pays_rows(plan.workload, plan.held(plan))]
        days = break_even(judged.options, judged.draws, month_days)
        return together([days, pd.DataFrame(rows)]) if rows else days

    @cached_property
    def deadlines(self) -> pd.DataFrame:
        """As comparison/deadlines.parquet: who finishes each single job in time for the least money."""
        due = [] if self.wanted.due is None else [self.wanted.due]
        return job_deadlines(self.judged.options, self.judged.draws, due, self.given.settings.money)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """`choices`, `verdict` without what to find out first; of months `deadlines` of classes, and the `queue`."""
        judged, settings = self.judged, self.given.settings
        found = {"choices": judged.choices, "verdict": judged.verdict(settings, self.break_even)}
        if not judged.months:
            return found
        due = class_deadlines(judged.months, settings.money, self.wanted.due)
        return found | {"deadlines": due, "queue": queue_table(arrival_streams(judged.months))}

    def _plans(self) -> pd.DataFrame:
        """Rows of the plans of phases: fewer days take more machines, and jobs are whole ones."""
        of = self.given.phased
        if of is None:
            return NO_ROWS
        more = {name: _longer(plan, self.times) for name, plan in of.plans.items()}
        tables = [
            plan_table(of.cells, offers.assign(**self._used(offers)), fees, more, of.instances)
            for offers, fees in of.lists
        ]
        return fitting_plans(pd.concat(tables, ignore_index=True), self.given.settings, of.needs)

    def _used(self, offers: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Days of use a month of offers: owned machines work as many as are wanted."""
        days, own = np.asarray(offers["days_per_month"]), np.asarray(offers["purchase"]) == "own"
        return {"days_per_month": days if self.wanted.days is None else np.where(own, self.wanted.days, days)}


def _readable(options: pd.DataFrame) -> pd.DataFrame:
    """`options` as the comparison itself has them: plain objects, and in few blocks (a file gives one a column)."""
    return options.astype(
        {name: object for name in options.columns if pd.api.types.is_string_dtype(options[name])}
    ).copy()


def at_days(options: pd.DataFrame, days: float) -> pd.DataFrame:
    """`options` with what is paid by the month used exactly `days` of it: its hour bears its share of the month anew.

    Of an owned machine that is the fixed part of its hour, of a contract all of it (`rates.by_contract`). USD of a
    workload follow the hour: the bill is hours x the price of an hour.
    """
    own, by_month = options["purchase"] == "own", options["days_per_month"].notna()
    hour = usd_per_hour_of_use(options["fixed_usd_per_month"], options["variable_usd_per_hour"], days)
    dearer = (hour / options["usd_per_hour"]).where(own, options["days_per_month"] / days).where(by_month, 1.0)
    changed = {name: options[name] * dearer for name in PER_HOUR if name in options.columns}
    changed |= {name: options[name] / dearer for name in PER_USD if name in options.columns}
    changed |= {name: options[name].where(~by_month, days) for name in USE if name in options.columns}
    changed["variable_usd_per_hour"] = options["variable_usd_per_hour"] * dearer.where(~own, 1.0)
    moved = options.assign(**changed).sort_values(["model", "workload", "usd", "option"], kind="stable")
    return moved.reset_index(drop=True)


def _longer(plan: Plan, factor: float) -> Plan:
    more = [one.model_copy(update={"jobs": math.ceil(one.jobs * factor - ROUNDING)}) for one in plan.phases]
    return plan.model_copy(update={"phases": more})


def _busier(work: Monthly, factor: float) -> Monthly:
    more = [
        one.model_copy(update={name: _times(getattr(one, name), factor) for name in PER_MONTH}) for one in work.jobs
    ]
    return work.model_copy(update={"jobs": more})


def _times(number: Amount | None, factor: float) -> Amount | None:
    if number is None:
        return None
    ends = {name: end * factor for name in ("value", "low", "high") if (end := getattr(number, name)) is not None}
    return number.model_copy(update=ends)
