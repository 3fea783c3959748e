"""Questions decided: the tables of what they rest on, jobs and plans alike."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.cost_rounds import Planned, PricedPlan, pays_of_rounds, rounds_question
from sweetspot.decision.deadlines import class_deadlines
from sweetspot.decision.dispatch_problem import pose
from sweetspot.decision.dispatch_question import dispatch_question, pays_of_months
from sweetspot.decision.dispatch_tables import Words, Worked, job_table, load_table, source_table, work_out
from sweetspot.decision.pays import PAYS, Held, pays_rows
from sweetspot.decision.settings import Settings
from sweetspot.decision.simulate import Draws
from sweetspot.decision.tornado import TORNADO, TURNING, Turned, tornado_rows, turned, turning_rows
from sweetspot.decision.waiting import Line, coming_to_mixes
from sweetspot.decision.worth_knowing import WORTH, timings_of, worth_rows
from sweetspot.wording import DOLLARS, Money

if TYPE_CHECKING:
    from sweetspot.study.monthly import Monthly  # lazily: its models take longer to import than all this computes

Paying = tuple[str, Iterable[Held]]  # a workload, and what could be held for it


def analysed(
    asked: Sequence[Turned],
    options: pd.DataFrame,
    draws: Draws,
    money: Money = DOLLARS,
    paying: Iterable[Paying] = (),
) -> dict[str, pd.DataFrame]:
    """The tables `tornado`, `turning_points`, `worth_knowing` and `break_even` of questions, whatever their cost.

    `options`: those that `draws` are of; `paying`: what could be held. A question of no length (one job, no machine of
    one's own) has no tornado and no turning points: nothing says how often it is done.
    """
    timings = timings_of(options)
    lasting = [one for one in asked if not one.question.model or np.isfinite(one.question.months)]
    return {
        "tornado": _table((tornado_rows(one, money) for one in lasting), TORNADO),
        "turning_points": _table((turning_rows(one, money) for one in lasting), TURNING),
        "worth_knowing": _table((worth_rows(one, draws, timings) for one in asked), WORTH),
        "break_even": _table((pays_rows(workload, held) for workload, held in paying), PAYS),
    }


def _table(rows: Iterable[Iterable[dict[str, Any]]], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame([row for part in rows for row in part], columns=list(columns))


class Decided(NamedTuple):
    """The tables (`decide`), the mixes, names for people, and the jobs that come to their machines."""

    tables: dict[str, pd.DataFrame]
    worked: list[Worked]
    words: Words
    coming: list[Line]


def decide(
    works: "Mapping[str, Monthly]",
    options: pd.DataFrame,
    every: pd.DataFrame,
    draws: Draws,
    offers: pd.DataFrame,
    settings: Settings,
    due: float | None = None,
    turning: bool = True,
) -> Decided:
    """Choose the mixes of all monthly workloads. `options`: those that fit, as drawn; `every`: misfits too; `due`:
    hours within which a result of every class is asked for, instead of its own deadline; `turning`: whether what would
    turn the answer is looked for too.

    Raises UserError where a machine that is there has no figure or no offer.
    """
    worked = [
        work_out(pose(name, work, options, draws, offers, settings.month_days, settings.seed))
        for name, work in works.items()
        if len(options)
    ]
    words = Words(dict(zip(every["option"], every["title"], strict=True)), settings.titles)
    asked = offers[offers["price_list"].isin(list(settings.answer_prices))] if settings.answer_prices else offers
    questions = [dispatch_question(one, draws, words) for one in worked] if turning else []
    known = [one for one in questions if one is not None]
    paying = ((one.question.workload, pays_of_months(one, words)) for one in known)
    tables = {
        "sources": source_table(worked, words),
        "load": load_table(worked, words),
        "jobs": job_table(worked, every, asked, words),
        "deadlines": class_deadlines(worked, draws, settings.money, due),
        **analysed([turned(one.question) for one in known], options, draws, settings.money, paying),
    }
    return Decided(tables, worked, words, coming_to_mixes(worked))


def decide_phases(
    priced: Sequence[PricedPlan], options: pd.DataFrame, draws: Draws, plans: pd.DataFrame, settings: Settings
) -> tuple[dict[str, pd.DataFrame], list[Planned]]:
    """What plans of phases rest on (`analysed`), and their questions.

    `plans`: the rows of results/<study>/plans that fit.
    """
    planned = [rounds_question(one, options, plans, settings.month_days) for one in priced]
    asked = [turned(one.question) for one in planned]
    paying = ((one.question.workload, pays_of_rounds(one, options, draws)) for one in planned)
    return analysed(asked, options, draws, settings.money, paying), planned
