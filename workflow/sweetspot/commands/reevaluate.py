"""Decide a study anew at another use, with more jobs or by a deadline, from its results and by the same samples."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from sweetspot.bills.fits import Needs, fitting_plans
from sweetspot.bills.owning import usd_per_hour_of_use
from sweetspot.bills.plans import plan_table
from sweetspot.bills.schemas import with_bounds
from sweetspot.decision.analyses import pays_rows
from sweetspot.decision.compare import DecisionResult, decide
from sweetspot.decision.deadlines import class_deadlines, job_deadlines, queue_table
from sweetspot.decision.shared_machine_problem import break_even_rows
from sweetspot.declared_tables import columns_of
from sweetspot.draws import DRAWS
from sweetspot.study.instances import Instance
from sweetspot.study.monthly import Monthly
from sweetspot.study.settings import Settings
from sweetspot.study.terms import Amount
from sweetspot.study.workloads import ProjectPlan

ROUNDING = 1e-9  # so that a whole number of jobs is not one more


@dataclass(frozen=True)
class RequestedUse:
    """Values that differ from the study's; None: the study's. `days`: days a month that every owned machine works
    (with a plan: at most). `jobs_factor`: on the jobs of the plans. `due_hours`: hours in which a job's result is due.
    """

    days: float | None = None
    jobs_factor: float | None = None
    due_hours: float | None = None


@dataclass(frozen=True)
class PhaseInputs:
    """What plans of phases are priced from: speeds by cell, offers and fees of each price list, machines, memory."""

    cells: pd.DataFrame
    price_lists: Sequence[tuple[pd.DataFrame, pd.DataFrame]]
    plans: Mapping[str, ProjectPlan]
    instances: Mapping[str, Instance]
    needs: Needs


@dataclass(frozen=True)
class StudyInputs:
    """Results of a study: comparison/options.parquet, all of offers/, its workloads, and their titles."""

    options: pd.DataFrame
    settings: Settings
    offers: pd.DataFrame = field(default_factory=pd.DataFrame)
    months: Mapping[str, Monthly] = field(default_factory=dict)
    phases: PhaseInputs | None = None
    titles: Mapping[str, str] = field(default_factory=dict)


def reevaluate(inputs: StudyInputs, use: RequestedUse, samples: int = DRAWS) -> dict[str, pd.DataFrame]:
    """Decide a study anew at the requested use, for `sweetspot ask`; where nothing differs, as the page does. Returned
    are result tables by name: `choices`, `verdict` without what to find out first, `break_even`, `job_deadlines`; of
    works of months also `deadlines` of classes, and `queue`.

    Parameters
    ----------
    inputs, use, samples
        The results of the study, and what differs from it; how many samples of the uncertain inputs are drawn.
    """
    settings, decided = inputs.settings, _decide(inputs, use, samples)
    rows = break_even_rows(decided.options, decided.draws, settings.month_days)
    rows += [row for plan in decided.plans for row in pays_rows(plan.workload, plan.break_even_cases())]
    days = pd.DataFrame(rows, columns=columns_of("break_even"))
    due = [] if use.due_hours is None else [use.due_hours]
    tables = {
        "choices": decided.choices,
        "verdict": decided.verdict(settings, days),
        "break_even": days,
        "job_deadlines": job_deadlines(decided.options, decided.draws, due),
    }
    if decided.months:
        tables["deadlines"] = class_deadlines(decided.months, use.due_hours)
        tables["queue"] = queue_table(decided.months)
    return tables


def _decide(inputs: StudyInputs, use: RequestedUse, samples: int) -> DecisionResult:
    """Decide a study's question (keep, rent or buy) at the requested use, with days and jobs changed in its options,
    works of months and phases. `samples`: how many are drawn. `ask` prints the result.
    """
    # The comparison itself has plain objects in few blocks; a file gives a block for each column.
    options = inputs.options
    is_text = {name: object for name in options.columns if pd.api.types.is_string_dtype(options[name])}
    options = options.astype(is_text).copy()
    if use.days is not None:
        options = at_days(options, use.days)
    factor = use.jobs_factor or 1.0
    months = {name: _scale_jobs(work, factor) for name, work in inputs.months.items()}
    plans = pd.DataFrame() if inputs.phases is None else _price_plans(inputs.phases, inputs.settings, use)
    offers = _offers_at_days(inputs.offers, use.days)
    return decide(options, offers, months, plans, inputs.titles, inputs.settings, samples)


def _price_plans(phases: PhaseInputs, settings: Settings, use: RequestedUse) -> pd.DataFrame:
    """Return the plans of phases (projects on whole machines) with their costs at the requested days and jobs."""
    factor = use.jobs_factor or 1.0
    plans = {}
    for name, plan in phases.plans.items():
        longer = [row.model_copy(update={"jobs": math.ceil(row.jobs * factor - ROUNDING)}) for row in plan.phases]
        plans[name] = plan.model_copy(update={"phases": longer})
    tables = [
        plan_table(phases.cells, _offers_at_days(offers, use.days), fees, plans, phases.instances)
        for offers, fees in phases.price_lists
    ]
    return fitting_plans(pd.concat(tables, ignore_index=True), settings, phases.needs)


def _offers_at_days(offers: pd.DataFrame, days: float | None) -> pd.DataFrame:
    """Return the table `offers`, owned machines with `days` of use a month (`--days`); unchanged where that is None."""
    if days is None or offers.empty:
        return offers
    return offers.assign(days_per_month=offers["days_per_month"].mask(offers["purchase"] == "own", days))


def at_days(options: pd.DataFrame, days: float) -> pd.DataFrame:
    """Return the table `options` with monthly payments spread over exactly `days` of use a month, for `ask --days`. Of
    an owned machine that is the fixed part of its hour, of a contract all of it.
    """
    is_owned, by_month = options["purchase"] == "own", options["days_per_month"].notna()
    usd_per_hour = usd_per_hour_of_use(options["fixed_usd_per_month"], options["variable_usd_per_hour"], days)
    owned_factor = usd_per_hour / options["usd_per_hour"]
    factor = owned_factor.where(is_owned, options["days_per_month"] / days).where(by_month, 1.0)
    changed = {name: options[name] * factor for name in with_bounds("usd", "usd_per_hour") if name in options}
    changed |= {name: options[name] / factor for name in with_bounds("images_per_usd") if name in options}
    changed |= {name: options[name].where(~by_month, days) for name in with_bounds("days_per_month") if name in options}
    changed["variable_usd_per_hour"] = options["variable_usd_per_hour"] * factor.where(~is_owned, 1.0)
    order = ["model", "workload", "usd", "option"]
    return options.assign(**changed).sort_values(order, kind="stable", ignore_index=True)


def _scale_jobs(work: Monthly, factor: float) -> Monthly:
    """Return a work of months (classes of jobs a month) with `factor` times the jobs, for `ask --jobs FACTOR`."""
    jobs = []
    for job in work.jobs:
        urgent = None if job.urgent_per_month is None else _scaled(job.urgent_per_month, factor)
        numbers = {"per_month": _scaled(job.per_month, factor), "urgent_per_month": urgent}
        jobs.append(job.model_copy(update=numbers))
    return work.model_copy(update={"jobs": jobs})


def _scaled(amount: Amount, factor: float) -> Amount:
    """Return an amount with its range, `factor` times as large."""
    numbers = amount.model_dump(exclude_none=True)
    return amount.model_copy(update={name: factor * number for name, number in numbers.items()})
