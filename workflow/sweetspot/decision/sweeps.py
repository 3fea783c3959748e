"""USD of the cheapest choice of each commitment at values of the page's controls: work, months, prices, days of use."""

import numpy as np
from pandas import DataFrame

from sweetspot.decision.choice_table import COMMITMENT, NOTHING
from sweetspot.decision.decision_problem import Array, DecisionProblem, Parameter
from sweetspot.decision.options import Row
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
    highest = max(1.0, min(REACH, parameter.maximum / parameter.value))
    sides = (np.geomspace(1.0, end, STEPS_A_SIDE + 1) for end in (1 / REACH, highest))
    return np.unique(np.concatenate([*sides]))


def sweep_rows(problem: DecisionProblem) -> list[Row]:
    """Return rows of the table `sweeps`: the cheapest choice by control, value and commitment, all else as planned.

    `usd` is that of central figures; `usd_low`, `usd_high` (90 %) and `p_cheapest`, the share of samples in which it
    costs the least, are of the study's samples, which move in proportion.
    """
    rows = []
    eligible = np.flatnonzero(problem.eligible)
    choices = [problem.choices[index] for index in eligible]
    commitments = [
        NOTHING if choice.already_owned else COMMITMENT.get(choice.row["purchase"], NOTHING) for choice in choices
    ]
    planned_usd = np.where(problem.baseline.usd, problem.baseline.usd, 1.0)
    for parameter in controls(problem):
        factors = factors_of(parameter)
        costs = problem.at(parameter, factors)
        cheapest = DataFrame(costs.usd[eligible], eligible).groupby(commitments).idxmin()
        for step, factor in enumerate(factors):
            indices = cheapest[step][np.isfinite(costs.usd[cheapest[step], step])]
            usd = costs.usd[indices, step]
            samples = problem.samples_usd[indices] * (usd / planned_usd[indices, 0])[:, None]
            low, high = interval(samples)
            table = DataFrame({"usd": usd, "usd_low": low, "usd_high": high, "commitment": indices.index})
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
