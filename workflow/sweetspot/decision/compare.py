"""All tables of results/<study>/comparison/: a study decided, and what its answers rest on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.availability.columns import start_of_machines, with_start_times
from sweetspot.bills.fits import Needs, apart, fitting_plans
from sweetspot.decision.analyses.days_of_use import break_even, utilisation
from sweetspot.decision.case_figures import case_figures
from sweetspot.decision.choice_table import PricedWork, choice_table, works
from sweetspot.decision.contenders import model_with_smallest_gain
from sweetspot.decision.deadlines import class_deadlines, job_deadlines
from sweetspot.decision.decision_problem import DecisionProblem
from sweetspot.decision.left_out import left_out_table, set_aside, speed_warnings
from sweetspot.decision.monthly_problem import monthly_problem
from sweetspot.decision.monthly_work import MonthlyWork, monthly_work
from sweetspot.decision.options import Row, build_options, titled
from sweetspot.decision.phases_problem import PhasesProblem, phases_problems
from sweetspot.decision.ranks import ranks
from sweetspot.decision.shared_machine_problem import shared_machine_problems
from sweetspot.decision.simulate import Draws, simulate
from sweetspot.decision.sources import job_table, load_table, source_table
from sweetspot.decision.turning import PAYS, TORNADO, TURNING, pays_rows, tornado_rows, turning_rows
from sweetspot.decision.verdict import answer_work, first_to_find_out, verdict_table
from sweetspot.decision.waiting import coming_to_mixes, queue_table
from sweetspot.decision.warning_table import decisive_rows, warning_table, with_decisive
from sweetspot.decision.worth_knowing import WORTH, timings_of, worth_rows
from sweetspot.draws import DRAWS
from sweetspot.files import read_parquet
from sweetspot.study.settings import Settings
from sweetspot.wording import DOLLARS, Money, words_of

if TYPE_CHECKING:
    # Lazily: their models take longer to import than all this computes.
    from sweetspot.study.monthly import Monthly
    from sweetspot.study.stock import AvailabilityFacts


@dataclass(frozen=True)
class Inputs:
    """The tables of results/<study>/ that the comparison reads, price lists put together."""

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
        """Read every field from its Parquet file or files; a field without any is an empty table of no columns."""
        lists = {name: [paths] if isinstance(paths, str) else list(paths) for name, paths in files.items()}
        return cls(**{name: together([read_parquet(path) for path in paths]) for name, paths in lists.items()})


def together(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all tables; of none, a table of no columns."""
    # Empty tables carry no types; leaving them out keeps those of the others.
    filled = [table for table in tables if len(table)] or tables[:1]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


class PlannedWork(NamedTuple):
    """What a study asks beside single jobs: its work of `months` (`load_monthly`), the rows of `plans` of phases that
    fit, and `titles` of workloads for people.
    """

    months: "Mapping[str, Monthly]"
    plans: pd.DataFrame
    titles: Mapping[str, str]


class Judged(NamedTuple):
    """A study decided. `options`: those that fit, as `draws` has them, `misfits`: the others; `plans` of phases, work
    of `months` with its mixes; all `works`, and their `choices`; the model that is told of first.
    """

    options: pd.DataFrame
    misfits: pd.DataFrame
    draws: Draws
    plans: list[PhasesProblem]
    months: list[MonthlyWork]
    works: list[PricedWork]
    choices: pd.DataFrame
    leading_model: str | None

    def verdict(self, settings: Settings, break_even: pd.DataFrame, worth: pd.DataFrame | None = None) -> pd.DataFrame:
        """The table of verdicts; `worth`: the table `worth_knowing`, where it says what to find out first."""
        learn = {} if worth is None else first_to_find_out(self.works, worth)
        about = answer_work(self.works, settings.work, self.leading_model)
        words = words_of(settings.counts, settings.money)
        found = verdict_table(self.works, about, break_even, learn, words).assign(**settings.verdict_columns)
        machines = [self._machine(row) for row in found.to_dict("records")]
        return found.join(start_of_machines(self.options, found["workload"].tolist(), machines))

    def _machine(self, verdict: Row) -> str:
        """The offer that a verdict says to take; where several are rented, the one that most is paid to."""
        take = str(verdict["take"])
        if verdict["kind"] not in ("rent", "keep") or take in set(self.options["option"]):
            return take
        mine = self.choices[self.choices["workload"].eq(verdict["workload"]) & self.choices["choice"].eq(take)]
        return str(next(iter(mine["main_rented"].dropna()), take))


def judge(
    every: pd.DataFrame, offers: pd.DataFrame, asked: PlannedWork, settings: Settings, draws: int = DRAWS
) -> Judged:
    """Price and choose for all works of a study. `every`: its options, those that do not fit among them; `offers`: all.
    Raises UserError where a machine that is there has no figure or no offer.
    """
    options, misfits = apart(every)
    drawn = simulate(options, settings.seed, draws)
    lab = (options, drawn, offers, settings.month_days, settings.seed)
    months = [
        monthly_work(name, work, *lab).within_limits(settings.usd_per_unit)
        for name, work in asked.months.items()
        if len(options)
    ]
    plans = phases_problems(options, drawn, asked.plans, settings.month_days)
    judged = works(options, drawn, plans, months, settings, asked.titles, every, offers)
    chosen = choice_table(judged, settings.offers_in_hand)
    return Judged(options, misfits, drawn, plans, months, judged, chosen, model_with_smallest_gain(options))


def asked_of(
    inputs: Inputs,
    settings: Settings,
    needs: Needs,
    monthly: "Mapping[str, Monthly]",
    titles: Mapping[str, str],
    known: "AvailabilityFacts | None" = None,
) -> tuple[pd.DataFrame, PlannedWork]:
    """The options of a study, those that do not fit among them, and what it asks beside single jobs (`compare`)."""
    every = build_options(inputs.costs, inputs.offers, inputs.throughput, inputs.extrapolation, settings, needs)
    every = titled(set_aside(every, monthly), inputs.throughput, titles)
    every = with_start_times(every, known, settings.month_days)
    return every, PlannedWork(monthly, fitting_plans(inputs.plans, settings, needs), titles)


def compare(
    inputs: Inputs,
    settings: Settings,
    draws: int = DRAWS,
    needs: Needs | None = None,
    monthly: "Mapping[str, Monthly] | None" = None,
    titles: Mapping[str, str] | None = None,
    known: "AvailabilityFacts | None" = None,
) -> dict[str, pd.DataFrame]:
    """The comparison's tables by the name of their file. Raises UserError. `needs`: the memory that workloads need
    (`load_needs`); what does not fit stands in `options` alone. `monthly`: workloads of months (`load_monthly`), whose
    mixes are chosen. `titles`: names for people of workloads (`load_titles`). `known`: what there is of stock and
    failures (`load_availability`). Without any price the tables are empty.
    """
    needs, monthly = needs or {}, monthly or {}
    every, asked = asked_of(inputs, settings, needs, monthly, titles or {}, known)
    judged = judge(every, inputs.offers, asked, settings, draws)
    found = _rests_on(judged, inputs.offers, every, settings)
    options, drawn = judged.options, judged.draws
    missing = left_out_table(inputs, every, judged.choices, settings, needs)
    untold = speed_warnings(missing, inputs.offers, every)
    verdict = judged.verdict(settings, found["break_even"], found["worth_knowing"])
    return {
        "options": pd.concat([options, judged.misfits], ignore_index=True) if len(judged.misfits) else options,
        "utilisation": utilisation(options, drawn, settings.month_days),
        "ranks": ranks(options, drawn),
        "left_out": missing,
        "queue": queue_table(coming_to_mixes(judged.months)),
        "warnings": with_decisive(
            warning_table(inputs, every, settings, needs, untold),
            decisive_rows(verdict, judged.choices, found["sources"], options),
            inputs.offers,
        ),
        **found,
        "choices": judged.choices,
        "verdict": verdict,
    }


def _rests_on(judged: Judged, offers: pd.DataFrame, every: pd.DataFrame, settings: Settings) -> dict[str, pd.DataFrame]:
    """The tables of what the answers rest on: every question analysed, and who does what in the mixes."""
    options, drawn, money = judged.options, judged.draws, settings.money
    jobs = shared_machine_problems(options, drawn, settings.month_days)
    months = [one for posed in judged.months if (one := monthly_problem(posed)) is not None]
    found = analysed([*jobs, *judged.plans, *months], options, drawn, money)
    days = break_even(options, drawn, settings.month_days)
    asked = offers[offers["price_list"].isin(list(settings.answer_prices))] if settings.answer_prices else offers
    due = [job_deadlines(options, drawn, settings.deadlines_hours, money), class_deadlines(judged.months, money)]
    return found | {
        "break_even": together([days, found["break_even"]]),
        "deadlines": together(due),
        "sources": source_table(judged.months),
        "load": load_table(judged.months),
        "jobs": job_table(judged.months, every, asked, settings.titles),
        "case_figures": case_figures(judged.plans),
    }


def analysed(
    asked: Sequence[DecisionProblem], options: pd.DataFrame, draws: Draws, money: Money = DOLLARS
) -> dict[str, pd.DataFrame]:
    """The tables `tornado`, `turning_points`, `worth_knowing` and `break_even` of questions, whatever their cost.
    `options`: those that `draws` are of. A question of no length (one job, no machine of one's own) has no tornado and
    no turning points: nothing says how often it is done.
    """
    timings = timings_of(options)
    lasting = [one for one in asked if not one.model or np.isfinite(one.months)]
    return {
        "tornado": _table((tornado_rows(one, money) for one in lasting), TORNADO),
        "turning_points": _table((turning_rows(one, money) for one in lasting), TURNING),
        "worth_knowing": _table((worth_rows(one, draws, timings) for one in asked), WORTH),
        "break_even": _table((pays_rows(one.workload, one.break_even_cases()) for one in asked), PAYS),
    }


def _table(rows: Iterable[Iterable[dict[str, Any]]], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame([row for part in rows for row in part], columns=list(columns))
