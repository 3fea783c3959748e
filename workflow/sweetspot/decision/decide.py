"""A study decided: its works with their choices and the verdict, and what the answers rest on."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.fits import apart
from sweetspot.decision.choice_table import Work, choice_table, works
from sweetspot.decision.cost_rounds import PricedPlan, priced_plans, with_later
from sweetspot.decision.dispatch_problem import Posed, pose
from sweetspot.decision.later import Dates, buying_later, of_months, of_phases
from sweetspot.decision.other_figures import Contenders, found_contenders
from sweetspot.decision.pays import PAYS, pays_rows
from sweetspot.decision.question import Question
from sweetspot.decision.simulate import Draws, simulate
from sweetspot.decision.tornado import TORNADO, TURNING, tornado_rows, turning_rows
from sweetspot.decision.verdict import answer_work, first_to_find_out, verdict_table
from sweetspot.decision.worth_knowing import WORTH, timings_of, worth_rows
from sweetspot.draws import DRAWS
from sweetspot.study.settings import Settings
from sweetspot.wording import DOLLARS, Money, words_of

if TYPE_CHECKING:
    from sweetspot.study.monthly import Monthly  # lazily: its models take longer to import than all this computes


class PlannedWork(NamedTuple):
    """What a study asks beside single jobs: its work of `months` (`load_monthly`), the rows of `plans` of phases that
    fit, which of all these ask for buying `later` (`load_plans`), and `titles` of workloads for people.
    """

    months: "Mapping[str, Monthly]"
    plans: pd.DataFrame
    later: Mapping[str, Dates]
    titles: Mapping[str, str]


class Judged(NamedTuple):
    """A study decided. `options`: those that fit, as `draws` has them, `misfits`: the others; `plans` of phases, work
    of `months` with its mixes; the table of buying `later`; all `works`, and their `choices`; who contends on a model.
    """

    options: pd.DataFrame
    misfits: pd.DataFrame
    draws: Draws
    plans: list[PricedPlan]
    months: list[Posed]
    later: pd.DataFrame
    works: list[Work]
    choices: pd.DataFrame
    contending: dict[str, Contenders]

    def verdict(self, settings: Settings, break_even: pd.DataFrame, worth: pd.DataFrame | None = None) -> pd.DataFrame:
        """The table of verdicts; `worth`: the table `worth_knowing`, where it says what to find out first."""
        learn = {} if worth is None else first_to_find_out(self.works, worth)
        about = answer_work(self.works, settings.work, next(iter(self.contending), None))
        words = words_of(settings.counts, settings.money)
        return verdict_table(self.works, about, break_even, learn, words).assign(**settings.counted)


def judge(
    every: pd.DataFrame, offers: pd.DataFrame, asked: PlannedWork, settings: Settings, draws: int = DRAWS
) -> Judged:
    """Price and choose for all works of a study. `every`: its options, those that do not fit among them; `offers`: all.

    Raises UserError where a machine that is there has no figure or no offer.
    """
    options, misfits = apart(every)
    drawn = simulate(options, settings.seed, draws)
    lab = (options, drawn, offers, settings.month_days, settings.seed)
    months = [pose(name, work, *lab) for name, work in asked.months.items() if len(options)]
    plans = priced_plans(options, drawn, asked.plans)
    waiting = [*of_phases(plans, asked.later, options, drawn, offers), *of_months(months, drawn)]
    later, more = buying_later(waiting, drawn, settings.seed)
    plans = [with_later(one, more) for one in plans]
    judged = works(options, drawn, plans, months, settings, asked.titles)
    chosen = choice_table(judged, settings.offers_in_hand)
    return Judged(options, misfits, drawn, plans, months, later, judged, chosen, found_contenders(options))


def analysed(
    asked: Sequence[Question], options: pd.DataFrame, draws: Draws, money: Money = DOLLARS
) -> dict[str, pd.DataFrame]:
    """The tables `tornado`, `turning_points`, `worth_knowing` and `break_even` of questions, whatever their cost.

    `options`: those that `draws` are of. A question of no length (one job, no machine of
    one's own) has no tornado and no turning points: nothing says how often it is done.
    """
    timings = timings_of(options)
    lasting = [one for one in asked if not one.model or np.isfinite(one.months)]
    return {
        "tornado": _table((tornado_rows(one, money) for one in lasting), TORNADO),
        "turning_points": _table((turning_rows(one, money) for one in lasting), TURNING),
        "worth_knowing": _table((worth_rows(one, draws, timings) for one in asked), WORTH),
        "break_even": _table((pays_rows(one.workload, one.held(one)) for one in asked if one.held), PAYS),
    }


def _table(rows: Iterable[Iterable[dict[str, Any]]], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame([row for part in rows for row in part], columns=list(columns))
