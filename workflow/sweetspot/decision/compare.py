"""All tables of results/<study>/comparison/, from the tables before it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.decision.breakeven import break_even, utilisation
from sweetspot.decision.case_figures import case_figures
from sweetspot.decision.choice_table import choice_table, works
from sweetspot.decision.cost_rounds import priced_plans, with_later
from sweetspot.decision.cost_share import share_questions
from sweetspot.decision.deadlines import job_deadlines
from sweetspot.decision.decide import analysed, decide, decide_phases, set_aside, without_option, without_speed
from sweetspot.decision.fits import Needs, apart, fitting_plans
from sweetspot.decision.later import Dates, buying_later, of_months, of_phases
from sweetspot.decision.offers_left_out import left_out_table, left_out_warnings
from sweetspot.decision.options import build_options, titled
from sweetspot.decision.other_figures import found_contenders, other_figures
from sweetspot.decision.ranks import frontier, pairs, ranks
from sweetspot.decision.settings import Settings
from sweetspot.decision.simulate import DRAWS, simulate
from sweetspot.decision.surface import surface
from sweetspot.decision.tornado import turned
from sweetspot.decision.verdict import answer_work, first_to_find_out, verdict_table
from sweetspot.decision.waiting import Demands, coming_to_options, queue_table
from sweetspot.decision.warning_table import decisive_rows, warning_table, with_decisive
from sweetspot.files import read_parquet
from sweetspot.wording import words_of

if TYPE_CHECKING:
    from sweetspot.study.monthly import Monthly

NO_FIGURES = pd.DataFrame(columns=["precision", "framework", "model", "gpu", "gpus", "images_per_s"])


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
    options, misfits = apart(every)
    plans = fitting_plans(inputs.plans, settings, needs)
    drawn = simulate(options, settings.seed, draws)
    days = break_even(options, drawn, settings.month_days)
    asked = [turned(one) for one in share_questions(options, drawn, settings.month_days)]
    decided = decide(monthly, options, every, drawn, inputs.offers, settings)
    coming = coming_to_options(options, plans, inputs.offers, demands or {}, settings.month_days)
    parts = priced_plans(options, drawn, plans)
    waiting = of_phases(parts, buying or {}, options, drawn, inputs.offers)
    waited, more = buying_later([*waiting, *of_months(decided.worked, drawn)], drawn, settings.seed)
    parts = [with_later(one, more) for one in parts]
    planned, asked_plans = decide_phases(parts, options, drawn, plans, settings)
    unserved = without_option(needs, every, inputs.plans, decided.tables["jobs"])
    contending = found_contenders(options)
    others = other_figures(contending, published if published is not None else NO_FIGURES)
    of_jobs = analysed(asked, options, drawn, settings.money) | {"break_even": days}
    of_jobs |= {"deadlines": job_deadlines(options, drawn, settings.deadlines_hours, settings.money)}
    found = {
        name: _together([one[name] for one in (of_jobs, planned, decided.tables) if name in one])
        for name in dict.fromkeys([*of_jobs, *planned, *decided.tables])
    }
    figures = case_figures(asked_plans, decided.worked)
    judged = works(
        options,
        drawn,
        parts,
        figures,
        decided.worked,
        settings,
        titles,
    )
    chosen = choice_table(judged, settings.offers_in_hand)
    missing = left_out_table(inputs, every, chosen, settings, needs)
    untold = [*without_speed(decided.tables), *unserved, *left_out_warnings(missing, every, monthly)]
    learn = first_to_find_out(judged, found["worth_knowing"])
    about = answer_work(judged, settings.work, next(iter(contending), None))
    words = words_of(settings.counts, settings.money)
    verdict = verdict_table(judged, about, found["break_even"], learn, words).assign(**settings.counted)
    return {
        "options": pd.concat([options, misfits], ignore_index=True) if len(misfits) else options,
        "utilisation": utilisation(options, drawn, settings.month_days),
        "ranks": ranks(options, drawn),
        "pairs": pairs(options, drawn),
        "frontier": frontier(options, drawn),
        "surface": surface([one.question for one in asked], settings.month_days, settings.money),
        "left_out": missing,
        "other_figures": others,
        "later": waited,
        "queue": queue_table([*coming, *decided.coming]),
        "warnings": with_decisive(
            warning_table(inputs, every, settings, needs, untold),
            decisive_rows(verdict, chosen, found["sources"], options),
            inputs.offers,
        ),
        **found,
        "case_figures": figures,
        "choices": chosen,
        "verdict": verdict,
    }
