"""Makes all tables of results/<study>/comparison/: the verdict of a study and the figures behind the verdict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from pandas import DataFrame, Series, concat, isna

from sweetspot.availability.columns import start_of_machines, with_start_times
from sweetspot.bills.fits import Needs, apart, fit_warnings, fitting_plans
from sweetspot.cells import USABLE
from sweetspot.decision.analyses import pays_rows, ranks, sweep_rows, timings_of, tornado_rows, turning_rows, worth_rows
from sweetspot.decision.deadlines import class_deadlines, job_deadlines, queue_table
from sweetspot.decision.decision_problem import DecisionProblem
from sweetspot.decision.monthly_problem import monthly_problem
from sweetspot.decision.monthly_work import MonthlyWork, monthly_work, source_table
from sweetspot.decision.options import OFFER, Row, build_options, records
from sweetspot.decision.phases_problem import PhasesProblem, phases_problems
from sweetspot.decision.priced_works import works
from sweetspot.decision.shared_machine_problem import break_even_rows, shared_machine_problems
from sweetspot.decision.simulate import Draws, simulate
from sweetspot.decision.verdict import (
    PricedWork,
    answer_work,
    choice_table,
    first_to_find_out,
    set_aside,
    verdict_table,
    with_missing_speeds,
)
from sweetspot.declared_tables import columns_of
from sweetspot.draws import DRAWS
from sweetspot.files import read_parquet
from sweetspot.mixes.problem import affordable_samples
from sweetspot.study.settings import Settings
from sweetspot.throughput.speed_errors import ROUND_HIGH, ROUND_LOW
from sweetspot.warnings import pairs
from sweetspot.wording import DISPATCH, ROUNDS

if TYPE_CHECKING:
    # Lazily: their models take longer to import than all this computes.
    from sweetspot.study.monthly import Monthly
    from sweetspot.study.stock import AvailabilityFacts

WARNINGS = ["scope", "instance", "model", "batch_size", "rule", "message"]
CHOICES = ["best", "rival", "take", "take_rival"]  # Columns of the verdict.
ANALYSES = ("tornado", "turning_points", "worth_knowing", "break_even", "sweeps")


@dataclass(frozen=True)
class Inputs:
    """Tables of results/<study>/ that the comparison reads; rows of all price lists are in one table each."""

    costs: DataFrame
    offers: DataFrame
    throughput: DataFrame
    extrapolation: DataFrame
    efficiency: DataFrame
    price_lint: DataFrame
    plans: DataFrame
    left_out: DataFrame = field(default_factory=DataFrame)

    @classmethod
    def read(cls, files: Mapping[str, str | Sequence[str]]) -> "Inputs":
        """Return the tables of a study from Parquet files, {field: path or paths}; a field without files is empty."""
        lists = {name: [paths] if isinstance(paths, str) else list(paths) for name, paths in files.items()}
        return cls(**{name: together(map(read_parquet, paths)) for name, paths in lists.items()})


def together(tables: Iterable[DataFrame]) -> DataFrame:
    """Return one table with the rows of all tables, such as the offers of several price lists.

    For no tables, it is a table without columns.
    """
    tables = list(tables)
    # Empty tables carry no types; leaving them out keeps those of the others.
    filled = [table for table in tables if len(table)] or tables[:1]
    return concat(filled, ignore_index=True) if filled else DataFrame()


class DecisionResult(NamedTuple):
    """Result of `decide`: options that fit, options that do not, samples of the former, priced works and choices."""

    options: DataFrame
    misfits: DataFrame
    draws: Draws
    plans: list[PhasesProblem]
    months: list[MonthlyWork]
    works: list[PricedWork]
    choices: DataFrame

    def verdict(self, settings: Settings, break_even: DataFrame, first: Mapping[str, str] | None = None) -> DataFrame:
        """Return the table `verdict`: per work (workload) the recommended choice, the runner-up and their USD, for the
        page.

        Parameters
        ----------
        settings, break_even, first
            The study's settings; the table `break_even` (values from which purchases pay off); the figure to find out
            first by work (None: the column `find_out_first` stays empty).
        """
        table = verdict_table(self.works, answer_work(self.works, settings.work), break_even, first or {})
        table = table.assign(**settings.verdict_columns)
        return table.join(start_of_machines(self.options, table["workload"].tolist(), table["machine"].tolist()))


def decide(
    all_options: DataFrame,
    offers: DataFrame,
    monthly: "Mapping[str, Monthly]",
    plans: DataFrame,
    titles: Mapping[str, str],
    settings: Settings,
    draws: int = DRAWS,
) -> DecisionResult:
    """Return the decision of a study: its options sampled, all works (workloads) priced, the choices for each compared.

    Raises UserError where a machine that is owned has no figure or no offer.

    Parameters
    ----------
    all_options, offers
        All options of the study (a machine at a price for a workload), including those that do not fit, and all its
        offers.
    monthly, plans, titles
        Monthly workloads by name, rows of plans of phases that fit, and titles by workload.
    settings, draws
        The study's settings; number of samples.
    """
    options, misfits = apart(all_options)
    samples = simulate(options, settings.seed, affordable_samples(len(options), draws))
    context = (options, samples, offers, settings.month_days, settings.seed)
    months = [
        monthly_work(name, work, *context).within_budget(settings.usd_per_unit)
        for name, work in (monthly.items() if len(options) else ())
    ]
    phased = phases_problems(options, samples, plans, settings.month_days)
    priced = works(options, samples, phased, months, settings, titles)
    if len(offers):
        is_owned = offers["instance"].isin(_owned_machines(monthly))
        is_eligible = offers["price_list"].isin(list(settings.answer_prices)) | (not settings.answer_prices)
        priced = with_missing_speeds(priced, all_options, offers[is_eligible & ~is_owned], settings.titles)
    choices = choice_table(priced, settings.offers_in_hand)
    return DecisionResult(options, misfits, samples, phased, months, priced, choices)


def _owned_machines(monthly: "Mapping[str, Monthly]") -> set[str]:
    """Return names of the machines that the team has for some work (`have`), whose price is spent."""
    return {name for work in monthly.values() for name in work.have}


def decide_study(
    inputs: Inputs,
    settings: Settings,
    draws: int = DRAWS,
    needs: Needs | None = None,
    monthly: "Mapping[str, Monthly] | None" = None,
    titles: Mapping[str, str] | None = None,
    availability: "AvailabilityFacts | None" = None,
) -> DecisionResult:
    """Return the decision of a study from its tables, without what makes it certain (tornado, turning points, worth).

    Raises UserError where the study cannot be decided.

    Parameters
    ----------
    inputs, settings, draws
        The tables of the study; its settings; number of samples.
    needs, monthly, titles, availability
        Memory that workloads need, by name (options that do not fit appear in table `options` only); monthly workloads
        by name; titles of workloads by name; stock and failures of machines (None: unknown). As `load_needs`,
        `load_monthly`, `load_titles` and `load_availability` return them.
    """
    needs = needs or {}
    monthly = monthly or {}
    titles = titles or {}
    options = build_options(
        inputs.costs, inputs.offers, inputs.throughput, inputs.extrapolation, settings, needs, titles
    )
    options = set_aside(options, _owned_machines(monthly))
    options = with_start_times(options, availability, settings.month_days)
    plans = fitting_plans(inputs.plans, settings, needs)
    return decide(options, inputs.offers, monthly, plans, titles, settings, draws)


def compare(inputs: Inputs, settings: Settings, draws: int = DRAWS, **work: Any) -> dict[str, DataFrame]:
    """Return all tables of results/<study>/comparison/ by file name, which the page is made of; without any price they
    are empty. They are options, choices, verdict, tornado, turning_points, worth_knowing, break_even, sweeps, ranks,
    queue, deadlines, sources and warnings. Raises UserError where the study cannot be decided.

    Parameters
    ----------
    inputs, settings, draws, work
        As `decide_study` takes them: tables of the study, its settings, number of samples, workloads.
    """
    result = decide_study(inputs, settings, draws, **work)
    options = result.options
    samples = result.draws
    months = result.months
    jobs = shared_machine_problems(options, samples, settings.month_days)
    mixes = [problem for month in months if (problem := monthly_problem(month)) is not None]
    tables = analysed([*jobs, *result.plans, *mixes], options, samples)

    days = DataFrame(break_even_rows(options, samples, settings.month_days), columns=columns_of("break_even"))
    tables |= {
        "options": together([options, result.misfits]),
        "break_even": together([days, tables["break_even"]]),
        "ranks": ranks(options, samples),
        "queue": queue_table(months),
        "deadlines": together([job_deadlines(options, samples, settings.deadlines_hours), class_deadlines(months)]),
        "sources": source_table(months),
        "choices": result.choices,
    }
    tables["verdict"] = result.verdict(settings, tables["break_even"], first_to_find_out(tables["worth_knowing"]))
    warnings = warning_table(inputs, tables["options"], settings, work.get("needs") or {}, result.works)
    decisive = decisive_rows(tables["verdict"], result.choices, tables["sources"], options)
    return tables | {"warnings": with_decisive(warnings, decisive, inputs.offers)}


def analysed(problems: Iterable[DecisionProblem], options: DataFrame, draws: Draws) -> dict[str, DataFrame]:
    """Return the tables ANALYSES (tornado, turning points, worth, break-even, sweeps) of all decision problems by name.

    They say how certain the answer is. A problem without a length (one job, no owned machine) has no tornado and no
    turning points, because the number of repetitions is unknown. Sweeps are of plans of phases and of monthly work.

    Parameters
    ----------
    problems, options, draws
        Decision problems (single jobs, plans of phases, monthly workloads); the options and their samples.
    """
    timings = timings_of(options)
    rows: dict[str, list[Any]] = {name: [] for name in ANALYSES}
    for problem in problems:
        if not problem.model or np.isfinite(problem.months):
            rows["tornado"] += tornado_rows(problem)
            rows["turning_points"] += turning_rows(problem)
        rows["worth_knowing"] += worth_rows(problem, draws, timings)
        rows["break_even"] += pays_rows(problem.workload, problem.break_even_cases())
        rows["sweeps"] += [] if problem.model else sweep_rows(problem)
    return {name: DataFrame(rows[name], columns=columns_of(name)) for name in ANALYSES}


def warning_table(
    inputs: Inputs, options: DataFrame, settings: Settings, names: Iterable[str], works: Sequence[PricedWork] = ()
) -> DataFrame:
    """Return all warnings of a study as one table (WARNINGS), each once, which the page lists.

    `scope`: throughput, efficiency, extrapolation (of the headline method), price, or comparison (assumptions of the
    decision itself).

    Parameters
    ----------
    inputs, options, settings, names, works
        The tables of the study, with their columns `warnings`; all options, those that do not fit included; the study's
        settings; names of all workloads; the priced works, with their offers without a known speed.
    """
    predicted = inputs.extrapolation
    predicted = predicted[predicted.get("headline", Series(dtype=bool)).astype(bool)]
    tables = {"throughput": inputs.throughput, "efficiency": inputs.efficiency, "extrapolation": predicted}
    rows: list[tuple[object, ...]] = [
        (scope, row["instance"], row["model"], row["batch_size"], pair.rule, pair.message)
        for scope, table in tables.items()
        for row in table.to_dict("records")
        for pair in pairs(row.get("warnings"))
    ]

    for row in inputs.left_out.itertuples():
        message = (
            f"not measured within {row.budget}: run {row.runs} ({row.framework}, {row.gpus} device(s), "
            f"{row.precision}, variant {row.variant}); a larger budget adds it"
        )
        rows.append(("throughput", row.instance, row.model, row.batch_size, "left_out", message))
    for row in inputs.price_lint.itertuples():
        if row.severity == "warning":
            rule = "stale_price" if row.rule.startswith("stale") else row.rule
            rows.append(("price", row.instance or None, None, pd.NA, rule, row.message))
    rows += fit_warnings(options)

    # Machines with a speed for a model of the study, or an offer, but not both.
    priced = set(inputs.offers.get("instance", ()))
    figures = concat([inputs.throughput[inputs.throughput["status"].isin(USABLE)], predicted])
    timed = set(figures.loc[figures["model"].isin(list(settings.batch_sizes)), "instance"])
    for name in timed - priced - set(settings.stands_behind) if priced else ():
        rows.append(
            ("comparison", name, None, pd.NA, "no_price", "figures of it are known, but no price list offers it")
        )
    for work in works:
        for instance in work.without_speed["instance"].unique():
            rows.append(
                ("comparison", instance, work.model or None, pd.NA, "no_speed",
                 f"{work.name}: no figure of {work.model or 'its model'} is known; it takes no part")
            )  # fmt: skip
    for name in {*names} - {*options["workload"]} - {work.name for work in works}:
        rows.append(
            ("comparison", None, None, pd.NA, "no_speed",
             f"workload {name}: no machine that is offered has a speed for it; it takes no part")
        )  # fmt: skip

    # Intervals that nobody published, and times of several rounds.
    assumed = options[options["assumed_interval"].astype(bool)].drop_duplicates(["instance", "model"])
    for row in assumed.itertuples():
        rows.append(
            ("comparison", row.instance, row.model, row.batch_size, "no_interval",
             f"a factor of {row.images_per_s_high / row.images_per_s:.2f} is assumed")
        )  # fmt: skip

    for model, group in options[options["in_answer"].astype(bool)].groupby("model"):
        devices = group.sort_values("rounds_behind").groupby("round", sort=False)["gpu"].unique()
        if len(devices) > 1:
            rounds = "; ".join(f"{name}: {', '.join(sorted(names))}" for name, names in devices.items())
            change = f"became {ROUND_LOW:g} to {ROUND_HIGH:g} times as fast from one round to the next"
            rows.append(
                ("comparison", None, model, pd.NA, "rounds_apart",
                 f"published times of several rounds are compared ({rounds}); the same machine {change}, which is "
                 "sampled for each round")
            )  # fmt: skip

    table = DataFrame(rows, columns=WARNINGS).drop_duplicates()
    return table.sort_values(WARNINGS[:5], kind="stable", na_position="first", ignore_index=True)


def decisive_rows(verdict: DataFrame, choices: DataFrame, sources: DataFrame, options: DataFrame) -> list[Row]:
    """Return rows of the options that the answer depends on: named by its verdict, or used in its mixes.

    A warning about one of them is decisive. They are dictionaries by column; for a workload with parts (`lab.bert` of
    `lab`) those of all its parts, for a plan of phases those of its model; [] without an answer.

    Parameters
    ----------
    verdict, choices, sources, options
        The tables of the comparison.
    """
    answer = verdict[verdict["is_answer"].astype(bool)].head(1)
    names = answer.reindex(columns=CHOICES).to_numpy().ravel()
    for name in answer["workload"]:
        work = choices[choices["workload"] == name].iloc[0]
        rows = options[options["workload"] == name]
        if work["cost"] == DISPATCH:
            rows = options[options["workload"].str.startswith(f"{name}.")]
            names = sources.loc[(sources["workload"] == name) & sources["mix"].isin(names), "option"]
        elif work["cost"] == ROUNDS:
            rows = options[options["model"] == work["model"]]
        return records(rows[rows["option"].isin(names)].drop_duplicates(["option", "model"]))
    return []


def with_decisive(table: DataFrame, decisive: Sequence[Row], offers: DataFrame) -> DataFrame:
    """Return the warnings with a Boolean column `decisive`: whether one could change the answer, so that the page shows
    it.

    Parameters
    ----------
    table, decisive, offers
        The warnings; options that the answer depends on (a warning about their cell, offer or model is decisive); the
        offers, with their column `warnings`.
    """
    decisive_offers = {tuple(row[name] for name in OFFER) for row in decisive}
    subjects: set[tuple[object, ...]] = {(None, row["model"]) for row in decisive}
    subjects |= {(row["instance"], row["model"], row["batch_size"]) for row in decisive}
    for row in offers.to_dict("records") if decisive_offers else ():
        if tuple(row[name] for name in OFFER) in decisive_offers:
            for pair in pairs(row.get("warnings")):  # A finding on a whole list names no instance.
                subjects |= {("price", row["instance"], pair.message), ("price", None, pair.message)}

    def subject_of(row: Row) -> tuple[object, ...]:
        instance = None if isna(row["instance"]) else row["instance"]
        if row["scope"] == "price":
            return ("price", instance, row["message"])
        return (instance, row["model"], row["batch_size"]) if instance else (None, row["model"])

    is_decisive = [subject_of(row) in subjects for row in table.to_dict("records")]
    return table.assign(decisive=Series(is_decisive, table.index, dtype=bool))
