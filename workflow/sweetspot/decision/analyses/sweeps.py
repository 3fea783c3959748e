"""USD of the cheapest choice of each commitment at values of the page's controls: work, months, prices, days of use."""

from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.rates import by_contract
from sweetspot.choice_kinds import BUY, CONTRACT
from sweetspot.decision.choice_table import NOTHING
from sweetspot.decision.decision_problem import Array, Choice, DecisionProblem, Parameter
from sweetspot.draws import interval

# One of each is a control: the first that a problem has.
CONTROLS = (("jobs", "per_month"), ("months",), ("capex_usd",), ("rents", "usd_per_hour"), ("days_per_month",),
            ("usd_per_kwh",))  # fmt: skip
STEPS_A_SIDE = 6
REACH = 3.0  # times the planned value, at the end of either side


def controls(problem: DecisionProblem) -> list[Parameter]:
    """Return the parameters that the page can move, one per quantity: of several, that of the cheapest choice."""
    ranks = {choice.option: -rank for rank, choice in enumerate(problem.choices)}
    by_rank = sorted(problem.parameters, key=lambda parameter: ranks.get(parameter.subject, -len(ranks)))
    by_quantity = {parameter.quantity: parameter for parameter in by_rank}
    quantities = (next((name for name in control if name in by_quantity), "") for control in CONTROLS)
    return [by_quantity[quantity] for quantity in quantities if quantity]


def factors_of(parameter: Parameter) -> Array:
    """Return up to 2 STEPS_A_SIDE + 1 factors of a control's value, from 1/REACH to REACH, with the planned one (1)."""
    highest = min(REACH, parameter.maximum / parameter.value)
    below = np.geomspace(1 / REACH, 1.0, STEPS_A_SIDE + 1)
    return below if highest <= 1.0 else np.append(below, np.geomspace(1.0, highest, STEPS_A_SIDE + 1)[1:])


def commitment_of(choice: Choice) -> str:
    """Return the commitment of a choice: BUY, CONTRACT or NOTHING (rented, or already owned)."""
    if choice.already_owned:
        return NOTHING
    return BUY if choice.row["purchase"] == "own" else CONTRACT if by_contract(choice.row) else NOTHING


def sweep_rows(problem: DecisionProblem) -> list[dict[str, Any]]:
    """Return rows of the table `sweeps`: the cheapest choice by control, value and commitment, all else as planned.

    `usd` is that of central figures; `usd_low`, `usd_high` (90 %) and `p_cheapest`, the share of samples in which it
    costs the least, are of the study's samples, which move in proportion.
    """
    rows = []
    eligible = np.flatnonzero(problem.eligible)
    commitments = [commitment_of(problem.choices[index]) for index in eligible]
    planned_usd = np.where(problem.baseline.usd, problem.baseline.usd, 1.0)
    for parameter in controls(problem):
        factors = factors_of(parameter)
        costs = problem.at(parameter, factors)
        cheapest = pd.DataFrame(costs.usd[eligible], eligible).groupby(commitments).idxmin()
        for step, factor in enumerate(factors):
            indices = cheapest[step][np.isfinite(costs.usd[cheapest[step], step])]
            usd = costs.usd[indices, step]
            samples = problem.samples_usd[indices] * (usd / planned_usd[indices, 0])[:, None]
            low, high = interval(samples)
            table = pd.DataFrame({"usd": usd, "usd_low": low, "usd_high": high, "commitment": indices.index})
            rows += table.assign(
                workload=problem.workload,
                quantity=parameter.quantity,
                control=parameter.name,
                unit=parameter.unit,
                value=parameter.value * factor,
                is_planned=factor == 1.0,
                title=[problem.title_at(costs, index, step) for index in indices],
                p_cheapest=(samples <= samples.min(axis=0, initial=np.inf)).mean(axis=1),
            ).to_dict("records")
    return rows
