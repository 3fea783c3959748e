"""Plans of phases decided: the tables of what each rests on, and what would change what is recommended for them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd

from sweetspot.decision.cost_rounds import Planned, pays_of_rounds, phase_question, rounds_question
from sweetspot.decision.pays import PAYS, pays_rows
from sweetspot.decision.phase_options import option_table
from sweetspot.decision.phases import PricedPhase
from sweetspot.decision.settings import Settings
from sweetspot.decision.simulate import Draws
from sweetspot.decision.tornado import TORNADO, TURNING, in_a_sentence, tornado_rows, turned, turning_rows
from sweetspot.decision.worth_knowing import WORTH, timings_of, worth_rows

NEAREST = 3  # turning points that are named


class Decided(NamedTuple):
    """The tables of the plans, by the names of plans of months (TABLES of `plan_of_months`) and `plan_options`; all
    phases, those of plans with what would change them; the plans as questions.
    """

    tables: dict[str, pd.DataFrame]
    phases: list[PricedPhase]
    planned: list[Planned]


def decide_phases(
    phases: Sequence[PricedPhase], options: pd.DataFrame, draws: Draws, plans: pd.DataFrame, settings: Settings
) -> Decided:
    """What the plans among `phases` (`phases.phases`) rest on; `plans`: the rows of results/<study>/plans that fit."""
    month_days, money, timings = settings.month_days, settings.money, timings_of(options)
    whole = [phase for phase in phases if phase.plan is not None and phase.whole]
    planned = [rounds_question(phase, options, plans, month_days) for phase in whole]
    asked = [turned(one.question) for one in planned]
    points = {one.question.workload: turning_rows(one, money) for one in asked}
    pays = (pays_rows(one.question.workload, pays_of_rounds(one, options, draws)) for one in planned)
    tables = {
        "plan_options": option_table(phases),
        "plan_turning_points": _table(points.values(), TURNING),
        "plan_tornado": _table((tornado_rows(one, money) for one in asked), TORNADO),
        "plan_break_even": _table(pays, PAYS),
        "plan_worth_knowing": _table((worth_rows(one, draws, timings) for one in asked), WORTH),
    }
    return Decided(tables, [_with_change(phase, points, options, settings) for phase in phases], planned)


def _with_change(
    phase: PricedPhase, points: dict[str, list[dict[str, Any]]], options: pd.DataFrame, settings: Settings
) -> PricedPhase:
    """A phase of a plan with what would change what is recommended for it."""
    if phase.plan is None:
        return phase
    rows = (
        points[phase.plan]
        if phase.whole
        else turning_rows(turned(phase_question(phase, options, settings.month_days)), settings.money)
    )
    return replace(phase, would_change=in_a_sentence(rows, NEAREST, settings.money))


def _table(rows: Iterable[Iterable[dict[str, Any]]], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame([row for part in rows for row in part], columns=list(columns))
