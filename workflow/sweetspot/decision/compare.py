"""Makes all tables of results/<study>/comparison/: the verdict of a study and the figures behind the verdict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.availability.columns import start_of_machines, with_start_times
from sweetspot.bills.fits import Needs, apart, fitting_plans
from sweetspot.decision.analyses.days_of_use import break_even_rows
from sweetspot.decision.analyses.sweeps import sweep_rows
from sweetspot.decision.choice_table import PricedWork, choice_table
from sweetspot.decision.deadlines import class_deadlines, job_deadlines
from sweetspot.decision.decision_problem import DecisionProblem
from sweetspot.decision.left_out import set_aside, with_missing_speeds
from sweetspot.decision.monthly_problem import monthly_problem
from sweetspot.decision.monthly_samples import monthly_work
from sweetspot.decision.monthly_work import MonthlyWork
from sweetspot.decision.options import build_options, titled
from sweetspot.decision.phases_problem import PhasesProblem, phases_problems
from sweetspot.decision.priced_works import works
from sweetspot.decision.ranks import ranks
from sweetspot.decision.shared_machine_problem import shared_machine_problems
from sweetspot.decision.simulate import Draws, simulate
from sweetspot.decision.sources import source_table
from sweetspot.decision.turning import pays_rows, tornado_rows, turning_rows
from sweetspot.decision.verdict import answer_work, first_to_find_out, verdict_table
from sweetspot.decision.waiting import queue_table
from sweetspot.decision.warning_table import decisive_rows, warning_table, with_decisive
from sweetspot.decision.worth_knowing import timings_of, worth_rows
from sweetspot.declared_tables import columns_of
from sweetspot.draws import DRAWS
from sweetspot.files import read_parquet
from sweetspot.study.settings import Settings

if TYPE_CHECKING:
    # Lazily: their models take longer to import than all this computes.
    from sweetspot.study.monthly import Monthly
    from sweetspot.study.stock import AvailabilityFacts


@dataclass(frozen=True)
class Inputs:
    """Tables of results/<study>/ that the comparison reads; rows of all price lists are in one table each."""

    costs: pd.DataFrame
    offers: pd.DataFrame
    throughput: pd.DataFrame
    extrapolation: pd.DataFrame
    efficiency: pd.DataFrame
    price_lint: pd.DataFrame
    plans: pd.DataFrame
    left_out: pd.DataFrame = field(default_factory=pd.DataFrame)

    @classmethod
    def read(cls, files: Mapping[str, str | Sequence[str]]) -> "Inputs":
        """Return the tables read from Parquet files, given by field name; a field without files is an empty table."""
        lists = {name: [paths] if isinstance(paths, str) else list(paths) for name, paths in files.items()}
        return cls(**{name: together([read_parquet(path) for path in paths]) for name, paths in lists.items()})


def together(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return one table with the rows of all tables; for an empty list, a table without columns."""
    # Empty tables carry no types; leaving them out keeps those of the others.
    filled = [table for table in tables if len(table)] or tables[:1]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


class PlannedWork(NamedTuple):
    """Work beyond single jobs: monthly workloads by name, rows of plans of phases that fit, titles by workload."""

    months: "Mapping[str, Monthly]"
    plans: pd.DataFrame
    titles: Mapping[str, str]


class DecisionResult(NamedTuple):
    """Result of `decide`: options that fit, options that do not, samples of the former, priced works and choices."""

    options: pd.DataFrame
    misfits: pd.DataFrame
    draws: Draws
    plans: list[PhasesProblem]
    months: list[MonthlyWork]
    works: list[PricedWork]
    choices: pd.DataFrame

    def verdict(self, settings: Settings, break_even: pd.DataFrame, worth: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return the table of verdicts: one row per work with the recommended choice, the runner-up and their USD.

        Parameters
        ----------
        settings
            The study's settings.
        break_even
            The table `break_even`: values from which purchases pay off.
        worth
            The table `worth_knowing`; None: the column `find_out_first` stays empty.
        """
        answer = answer_work(self.works, settings.work)
        first = {} if worth is None else first_to_find_out(worth)
        table = verdict_table(self.works, answer, break_even, first).assign(**settings.verdict_columns)
        return table.join(start_of_machines(self.options, table["workload"].tolist(), table["machine"].tolist()))


def decide(
    all_options: pd.DataFrame, offers: pd.DataFrame, planned: PlannedWork, settings: Settings, draws: int = DRAWS
) -> DecisionResult:
    """Sample the options of a study, price all its works, and compare the choices for each.

    Parameters
    ----------
    all_options
        All options of the study, including those that do not fit.
    offers
        All offers of the study.
    planned
        Monthly workloads, plans of phases and titles.
    settings
        The study's settings.
    draws
        Number of samples.

    Raises
    ------
    UserError
        A machine that is owned has no figure or no offer.
    """
    options, misfits = apart(all_options)
    samples = simulate(options, settings.seed, draws)
    context = (options, samples, offers, settings.month_days, settings.seed)
    monthly = planned.months.items() if len(options) else ()
    months = [monthly_work(name, work, *context).within_budget(settings.usd_per_unit) for name, work in monthly]
    plans = phases_problems(options, samples, planned.plans, settings.month_days)
    priced = works(options, samples, plans, months, settings, planned.titles)
    if len(offers):
        is_owned = offers["instance"].isin({name for work in planned.months.values() for name in work.have})
        is_eligible = offers["price_list"].isin(list(settings.answer_prices)) | (not settings.answer_prices)
        priced = with_missing_speeds(priced, all_options, offers[is_eligible & ~is_owned], settings.titles)
    choices = choice_table(priced, settings.offers_in_hand)
    return DecisionResult(options, misfits, samples, plans, months, priced, choices)


def decide_study(
    inputs: Inputs,
    settings: Settings,
    draws: int = DRAWS,
    needs: Needs | None = None,
    monthly: "Mapping[str, Monthly] | None" = None,
    titles: Mapping[str, str] | None = None,
    availability: "AvailabilityFacts | None" = None,
) -> DecisionResult:
    """Return the decision of a study from its tables, without what makes it certain.

    Parameters
    ----------
    inputs, settings, draws, needs, monthly, titles, availability
        As `compare` takes them.
    """
    needs, monthly, titles = needs or {}, monthly or {}, titles or {}
    options = build_options(inputs.costs, inputs.offers, inputs.throughput, inputs.extrapolation, settings, needs)
    options = titled(set_aside(options, monthly), inputs.throughput, titles)
    options = with_start_times(options, availability, settings.month_days)
    planned = PlannedWork(monthly, fitting_plans(inputs.plans, settings, needs), titles)
    return decide(options, inputs.offers, planned, settings, draws)


def compare(
    inputs: Inputs,
    settings: Settings,
    draws: int = DRAWS,
    needs: Needs | None = None,
    monthly: "Mapping[str, Monthly] | None" = None,
    titles: Mapping[str, str] | None = None,
    availability: "AvailabilityFacts | None" = None,
) -> dict[str, pd.DataFrame]:
    """Return the tables of results/<study>/comparison/ by the name of their file; without any price they are empty.

    Parameters
    ----------
    inputs
        The tables of the study.
    settings
        Its settings.
    draws
        Number of samples.
    needs
        Memory that workloads need (`load_needs`); options that do not fit appear in table `options` only.
    monthly
        Monthly workloads by name (`load_monthly`).
    titles
        Titles of workloads by name (`load_titles`).
    availability
        Stock and failures of machines (`load_availability`); None: unknown.

    Raises
    ------
    UserError
        The study cannot be decided.
    """
    result = decide_study(inputs, settings, draws, needs, monthly, titles, availability)
    options, samples, months = result.options, result.draws, result.months
    jobs = shared_machine_problems(options, samples, settings.month_days)
    mixes = [problem for work in months if (problem := monthly_problem(work)) is not None]
    tables = analysed([*jobs, *result.plans, *mixes], options, samples)
    days = pd.DataFrame(break_even_rows(options, samples, settings.month_days), columns=columns_of("break_even"))
    tables |= {
        "options": together([options, result.misfits]),
        "break_even": together([days, tables["break_even"]]),
        "ranks": ranks(options, samples),
        "queue": queue_table(months),
        "deadlines": together([job_deadlines(options, samples, settings.deadlines_hours), class_deadlines(months)]),
        "sources": source_table(months),
        "choices": result.choices,
    }
    tables["verdict"] = result.verdict(settings, tables["break_even"], tables["worth_knowing"])
    warnings = warning_table(inputs, tables["options"], settings, needs or {}, result.works)
    decisive = decisive_rows(tables["verdict"], result.choices, tables["sources"], options)
    return tables | {"warnings": with_decisive(warnings, decisive, inputs.offers)}


def analysed(problems: Iterable[DecisionProblem], options: pd.DataFrame, draws: Draws) -> dict[str, pd.DataFrame]:
    """Return tables of problems by name: `tornado`, `turning_points`, `worth_knowing`, `break_even` and `sweeps`.

    A problem without a length (one job, no owned machine) has no tornado and no turning points, because the number of
    repetitions is unknown. Sweeps are of plans of phases and of monthly work.

    Parameters
    ----------
    problems
        Decision problems: single jobs, plans of phases, monthly workloads.
    options, draws
        The options and their samples.
    """
    timings = timings_of(options)
    names = ("tornado", "turning_points", "worth_knowing", "break_even", "sweeps")
    rows: dict[str, list[Any]] = {name: [] for name in names}
    for problem in problems:
        if not problem.model or np.isfinite(problem.months):
            rows["tornado"] += tornado_rows(problem)
            rows["turning_points"] += turning_rows(problem)
        rows["worth_knowing"] += worth_rows(problem, draws, timings)
        rows["break_even"] += pays_rows(problem.workload, problem.break_even_cases())
        rows["sweeps"] += [] if problem.model else sweep_rows(problem)
    return {name: pd.DataFrame(rows[name], columns=columns_of(name)) for name in names}
