"""USD of the cheapest choice of each commitment at values of the page's controls: work, months, prices, days of use."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sweetspot.bills.rates import by_contract
from sweetspot.choice_kinds import BUY, CONTRACT
from sweetspot.decision.choice_table import NOTHING
from sweetspot.decision.decision_problem import Array, Choice, DecisionProblem, Parameter
from sweetspot.declared_tables import columns_of
from sweetspot.draws import interval

# One of each is a control: the first that a problem has.
CONTROLS = (("jobs", "per_month"), ("months",), ("capex_usd",), ("rents", "usd_per_hour"), ("days_per_month",),
            ("usd_per_kwh",))  # fmt: skip
STEPS_A_SIDE = 6
REACH = 3.0  # times the planned value, at the end of either side
COLUMNS = columns_of("sweeps")


def controls(problem: DecisionProblem) -> list[Parameter]:
    """Return the parameters that the page can move, one per quantity: of several, that of the cheapest choice."""
    ranks = {choice.option: -rank for rank, choice in enumerate(problem.choices)}
    by_rank = sorted(problem.parameters, key=lambda parameter: ranks.get(parameter.subject, -len(ranks)))
    by_quantity = {parameter.quantity: parameter for parameter in by_rank}
    found = (next((name for name in quantities if name in by_quantity), "") for quantities in CONTROLS)
    return [by_quantity[quantity] for quantity in found if quantity]


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


def sweep_rows(problem: DecisionProblem) -> Iterator[dict[str, Any]]:
    """Yield rows of COLUMNS: the cheapest choice by control, value and commitment, all else as planned.

    `usd` is that of central figures; `usd_low`, `usd_high` (90 %) and `p_cheapest`, the share of samples in which it
    costs the least, are of the study's samples, which move in proportion.
    """
    commitments = np.array([commitment_of(choice) for choice in problem.choices])
    possible = {name: problem.eligible & (commitments == name) for name in np.unique(commitments)}
    for parameter in controls(problem):
        factors = factors_of(parameter)
        costs = problem.at(parameter, factors)
        for step, factor in enumerate(factors):
            usd = {name: np.where(mask, costs.usd[:, step], np.inf) for name, mask in possible.items()}
            cheapest = {name: int(of_kind.argmin()) for name, of_kind in usd.items() if np.isfinite(of_kind).any()}
            samples = {
                name: problem.samples_usd[index] * costs.usd[index, step] / (problem.baseline.usd[index, 0] or 1.0)
                for name, index in cheapest.items()
            }
            lowest = np.min(list(samples.values()), axis=0, initial=np.inf)
            for name, index in cheapest.items():
                low, high = interval(samples[name])
                yield {
                    "workload": problem.workload,
                    "quantity": parameter.quantity,
                    "control": parameter.name,
                    "unit": parameter.unit,
                    "value": parameter.value * factor,
                    "is_planned": factor == 1.0,
                    "commitment": name,
                    "title": problem.title_at(costs, index, step),
                    "usd": costs.usd[index, step],
                    "usd_low": float(low),
                    "usd_high": float(high),
                    "p_cheapest": float(np.mean(samples[name] <= lowest)),
                }
