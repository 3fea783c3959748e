"""All tables of results/<study>/comparison/, from the tables before it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.decision.breakeven import break_even, surface, utilisation
from sweetspot.decision.case_figures import case_figures
from sweetspot.decision.cost_dispatch import dispatch_question
from sweetspot.decision.cost_rounds import rounds_question
from sweetspot.decision.cost_share import share_questions
from sweetspot.decision.deadlines import class_deadlines, job_deadlines
from sweetspot.decision.decide import Judged, PlannedWork, analysed, judge
from sweetspot.decision.dispatch_tables import job_table, load_table, source_table
from sweetspot.decision.fits import Needs, fitting_plans
from sweetspot.decision.later import Dates
from sweetspot.decision.offers_left_out import left_out_table, left_out_warnings, set_aside
from sweetspot.decision.options import build_options, titled
from sweetspot.decision.other_figures import other_figures
from sweetspot.decision.ranks import frontier, pairs, ranks
from sweetspot.decision.settings import Settings
from sweetspot.decision.simulate import DRAWS
from sweetspot.decision.waiting import Demands, coming_to_mixes, coming_to_options, queue_table
from sweetspot.decision.warning_table import decisive_rows, warning_table, with_decisive
from sweetspot.files import read_parquet

if TYPE_CHECKING:
    from sweetspot.study.monthly import Monthly

NO_FIGURES = pd.DataFrame(columns=["precision", "framework", "model", "gpu", "gpus", "batch_size", "images_per_s"])


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
        return cls(**{name: _together([read_parquet(path) for path in paths]) for name, paths in lists.items()})

    @classmethod
    def joined(cls, priced: Mapping[str, list[pd.DataFrame]], others: Mapping[str, pd.DataFrame]) -> "Inputs":
        """Of tables in memory: `priced` a table a price list, put together; `others` as they are."""
        return cls(**{name: _together(tables) for name, tables in priced.items()}, **others)


def _together(tables: list[pd.DataFrame]) -> pd.DataFrame:
    # Empty tables carry no types; leaving them out keeps those of the others.
    filled = [table for table in tables if len(table)] or tables[:1]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


def compare(
    inputs: Inputs,
    settings: Settings,
    draws: int = DRAWS,
    published: pd.DataFrame | None = None,
    needs: Needs | None = None,
    monthly: "Mapping[str, Monthly] | None" = None,
    demands: Demands | None = None,
    buying: Mapping[str, Dates] | None = None,
    titles: Mapping[str, str] | None = None,
) -> dict[str, pd.DataFrame]:
    """The comparison's tables by the name of their file. Raises UserError.

    `published`: figures of others (`read_published`) that the answer's devices could have had instead. `needs`: the
    memory that workloads need (`load_needs`); what does not fit stands in `options` alone. `demands`: how often jobs
    come to machines that several people share (`load_demands`). `monthly`: workloads of months (`load_monthly`), whose
    mixes are chosen. `buying`: plans that ask what buying later costs (`load_plans`). `titles`: names for people of
    workloads (`load_titles`).
    Without any price the tables are empty.
    """
    needs, monthly = needs or {}, monthly or {}
    every = build_options(inputs.costs, inputs.offers, inputs.throughput, inputs.extrapolation, settings, needs)
    every = titled(set_aside(every, monthly), inputs.throughput, titles or {})
    plans = fitting_plans(inputs.plans, settings, needs)
    judged = judge(every, inputs.offers, PlannedWork(monthly, plans, buying or {}, titles or {}), settings, draws)
    found = _rests_on(judged, inputs.offers, every, settings)
    options, drawn = judged.options, judged.draws
    missing = left_out_table(inputs, every, judged.choices, settings, needs)
    untold = left_out_warnings(missing, inputs, every, settings, needs, monthly)
    coming = coming_to_options(options, plans, inputs.offers, demands or {}, settings.month_days)
    verdict = judged.verdict(settings, found["break_even"], found["worth_knowing"])
    return {
        "options": pd.concat([options, judged.misfits], ignore_index=True) if len(judged.misfits) else options,
        "utilisation": utilisation(options, drawn, settings.month_days),
        "ranks": ranks(options, drawn),
        "pairs": pairs(options, drawn),
        "frontier": frontier(options, drawn),
        "left_out": missing,
        "other_figures": other_figures(judged.contending, NO_FIGURES if published is None else published),
        "later": judged.later,
        "queue": queue_table([*coming, *coming_to_mixes(judged.months)]),
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
    jobs = share_questions(options, drawn, settings.month_days)
    phases = [rounds_question(one, options, drawn, settings.month_days) for one in judged.plans]
    months = [one for posed in judged.months if (one := dispatch_question(posed)) is not None]
    found = analysed([*jobs, *phases, *months], options, drawn, money)
    days = break_even(options, drawn, settings.month_days)
    asked = offers[offers["price_list"].isin(list(settings.answer_prices))] if settings.answer_prices else offers
    due = [job_deadlines(options, drawn, settings.deadlines_hours, money), class_deadlines(judged.months, money)]
    return found | {
        "break_even": _together([days, found["break_even"]]),
        "deadlines": _together(due),
        "surface": surface(jobs, settings.month_days, money),
        "sources": source_table(judged.months),
        "load": load_table(judged.months),
        "jobs": job_table(judged.months, every, asked, settings.titles),
        "case_figures": case_figures(
            [(one, plan.plan) for one, plan in zip(phases, judged.plans, strict=True)], judged.months
        ),
    }
