"""Questions decided: the tables of what they rest on, jobs and plans alike."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.cost_rounds import Planned, PricedPlan, pays_of_rounds, rounds_question
from sweetspot.decision.deadlines import class_deadlines
from sweetspot.decision.dispatch_problem import pose
from sweetspot.decision.dispatch_question import dispatch_question, pays_of_months
from sweetspot.decision.dispatch_tables import NO_SPEED, Worked, job_table, load_table, source_table, work_out
from sweetspot.decision.fits import Needs
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
    """The tables (`decide`), the mixes, and the jobs that come to their machines."""

    tables: dict[str, pd.DataFrame]
    worked: list[Worked]
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
    asked = offers[offers["price_list"].isin(list(settings.answer_prices))] if settings.answer_prices else offers
    questions = [dispatch_question(one) for one in worked] if turning else []
    known = [one for one in questions if one is not None]
    paying = ((one.question.workload, pays_of_months(one)) for one in known)
    tables = {
        "sources": source_table(worked),
        "load": load_table(worked),
        "jobs": job_table(worked, every, asked, settings.titles),
        "deadlines": class_deadlines(worked, draws, settings.money, due),
        **analysed([turned(one.question) for one in known], options, draws, settings.money, paying),
    }
    return Decided(tables, worked, coming_to_mixes(worked))


def set_aside(options: pd.DataFrame, works: "Mapping[str, Monthly]") -> pd.DataFrame:
    """The options, of which those that are there already are no rivals in the comparison of machines to be had.

    What they cost is spent: held against an offer for a single job they always win, and say nothing of buying. The
    reference stays.
    """
    names = {name for work in works.values() for name in work.have}
    there = options["instance"].isin(names) & options["purchase"].eq("own") & ~options["is_reference"].astype(bool)
    return options.assign(in_answer=options["in_answer"].astype(bool) & ~there)


def without_option(
    needs: Needs, every: pd.DataFrame, plans: pd.DataFrame, jobs: pd.DataFrame
) -> Iterator[tuple[object, ...]]:
    """Rows of the warning table: workloads that no cell serves, of all that `needs` names but those in `jobs`."""
    served = set(every["workload"].dropna())
    if len(plans):
        served |= set(plans.loc[plans["status"] == "ok", "plan"])
    works = list(dict.fromkeys(jobs["workload"]))
    for name in needs:
        if name not in served and not any(name.startswith(f"{work}.") for work in works):
            message = f"workload {name}: no machine that is offered has a speed for it; it takes no part"
            yield ("comparison", None, None, pd.NA, "no_speed", message)


def without_speed(tables: Mapping[str, pd.DataFrame]) -> Iterator[tuple[object, ...]]:
    """Rows of the warning table: a class that runs on no machine, and machines without a speed for some class."""
    jobs = tables["jobs"]
    jobs = jobs[~jobs["urgent"].astype(bool)] if len(jobs) else jobs
    for (name, job, model), rows in jobs.groupby(["workload", "class", "model"], sort=False) if len(jobs) else ():
        lacking = rows[rows["status"] == NO_SPEED]
        if len(lacking) == len(rows):
            message = f"{name}.{job}: no machine that is offered has a speed for model {model}; it takes no part"
            yield ("comparison", None, model, pd.NA, "no_speed", message)
            continue
        for row in lacking.drop_duplicates("instance").itertuples():
            message = f"priced, but no speed for {job} (model {model}) of {name}; it does none of these jobs"
            yield ("comparison", row.instance, model, pd.NA, "no_speed", message)


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
