"""Plans of phases decided: the tables of what each rests on, and what would change what is recommended for them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision import mix_breakeven, mix_worth
from sweetspot.decision.certainty import amount
from sweetspot.decision.counted import Money, the
from sweetspot.decision.options import records
from sweetspot.decision.phase_breakeven import break_even_rows
from sweetspot.decision.phase_costs import plan_costs
from sweetspot.decision.phase_figures import phase_figures
from sweetspot.decision.phase_levers import Line, Sums, prices
from sweetspot.decision.phase_options import option_table
from sweetspot.decision.phase_turning import line_crossings, tornado_rows, turn_plan, turning_rows
from sweetspot.decision.phase_worth import worth_rows
from sweetspot.decision.phases import PricedPhase
from sweetspot.decision.plan_rows import TORNADO, TURNING, nearest_first
from sweetspot.decision.settings import Settings
from sweetspot.decision.simulate import Draws
from sweetspot.decision.standing import standing

NEAREST = 3  # turning points that are named


class Decided(NamedTuple):
    """The tables of the plans, by the names of plans of months (TABLES of `plan_of_months`) and `plan_options`; all
    phases, those of plans with what would change them.
    """

    tables: dict[str, pd.DataFrame]
    phases: list[PricedPhase]


def decide_phases(
    phases: Sequence[PricedPhase], options: pd.DataFrame, draws: Draws, plans: pd.DataFrame, settings: Settings
) -> Decided:
    """What the plans among `phases` (`phases.phases`) rest on; `plans`: the rows of results/<study>/plans that fit."""
    month_days, money = settings.month_days, settings.money
    costs = [plan_costs(phase, options, plans) for phase in phases if phase.plan is not None and phase.whole]
    turned = [turn_plan(one, month_days) for one in costs]
    points = {one.plan.name: turning_rows(one, money) for one in turned}
    tables = {
        "plan_options": option_table(phases),
        "phase_figures": phase_figures(costs),
        "plan_turning_points": _table(points.values(), TURNING),
        "plan_tornado": _table((tornado_rows(one, money) for one in turned), TORNADO),
        "plan_break_even": _table((break_even_rows(one, options, draws) for one in turned), mix_breakeven.COLUMNS),
        "plan_worth_knowing": _table((worth_rows(one, options, draws) for one in turned), mix_worth.COLUMNS),
    }
    changed = [
        replace(phase, would_change=_in_words(
            points[phase.plan] if phase.whole else _price_turns(phase, options, month_days), money
        ))
        if phase.plan is not None else phase
        for phase in phases
    ]  # fmt: skip
    return Decided(tables, changed)


def _table(rows: Iterable[Iterable[dict[str, Any]]], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame([row for part in rows for row in part], columns=list(columns))


def _price_turns(phase: PricedPhase, options: pd.DataFrame, month_days: float) -> list[dict[str, Any]]:
    """Where prices turn one phase of a plan: the assumption, its value there, and what to, the nearest first."""
    table, found = phase.table, standing(phase.table, phase.usd)
    rows = records(options[options["option"].isin(table["option"])].drop_duplicates("option"))
    known = {row["option"]: row for row in rows}
    taken = np.isin(np.arange(len(table)), found.field.index.to_numpy())
    running, held = (table[name].to_numpy(float) for name in ("usd_running", "usd_possession"))
    alternatives = table["alternative"].to_numpy(object)
    sums = Sums([known[name] for name in table["option"]], running, held, taken, alternatives)
    ours = taken & (alternatives == alternatives[found.best])
    turns = [
        {"assumption": lever.name, "turning_value": lever.value * turn.factor, "unit": lever.unit,
         "factor": turn.factor, "to_title": str(table["title"].iloc[turn.to])}
        for lever in prices(sums, month_days)
        if isinstance(lever.changed, Line)
        for turn in line_crossings(sums, ours, taken & ~ours, lever.changed, lever.most / lever.value)
    ]  # fmt: skip
    return nearest_first(turns)


def _in_words(rows: Sequence[dict[str, Any]], money: Money) -> str:
    """The turning points of the nearest figures, the nearer of two sides."""
    nearest = list({row["assumption"]: row for row in reversed(rows)}.values())
    said = [(row, *money.counted(row["turning_value"], row["unit"])) for row in nearest_first(nearest)[:NEAREST]]
    return "; ".join(
        f"{row['assumption']}: at {amount(value)} {unit} (then {the(row['to_title'])})" for row, value, unit in said
    )
