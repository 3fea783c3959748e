"""What to find out first: USD saved by knowing each uncertain figure exactly, and USD of timing a machine."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.rates import by_contract
from sweetspot.bills.renting import HOUR_S, billed_seconds
from sweetspot.decision.decision_problem import RENT, SPEED, TARIFF, Array, DecisionProblem, error_key
from sweetspot.decision.known_value import Value, partial_value, without_selection
from sweetspot.decision.options import Row
from sweetspot.decision.simulate import Draws, Figure
from sweetspot.declared_tables import columns_of
from sweetspot.draws import LEVEL
from sweetspot.throughput.speed_errors import figure_behind
from sweetspot.wording import the

# A machine is started, the software installed (some 10 GB), and three runs of five minutes are timed.
LEARN_MINUTES = 30.0
BY_THE_HOUR = ("on_demand", "spot", "preemptible")
STANDARD_ERRORS = 1.6449  # Either side of a mean they cover LEVEL.
assert LEVEL == 0.90
WORTH = columns_of("worth_knowing")
TimingCosts = dict[tuple[str, int], Row]  # What timing a machine costs, by its device and how many.


@dataclass(frozen=True)
class UncertainFigure:
    """A figure that could be found out: its columns of WORTH, its samples, and indices of choices that depend on it."""

    columns: dict[str, Any]
    samples: Array
    choices: list[int]


def worth_rows(question: DecisionProblem, draws: Draws, timing_costs: TimingCosts) -> list[dict[str, Any]]:
    """Return the USD that knowing each uncertain figure of a decision saves, the most valuable figure first.

    Parameters
    ----------
    question
        The decision: choices, samples of their costs, and parameters.
    draws
        The samples of the options.
    timing_costs
        Cost of timing by device and number of devices (`timings_of`).

    Returns
    -------
    list
        Rows of WORTH; none without a rival. `evppi_usd`: expected saving over the project of a choice made with the
        figure known, corrected for the ranking of noisy estimates; `_low` and `_high`: 90 % of its Monte Carlo error;
        `rests_on_it`: number of choices that depend on it; `turning_point`: nearest value that changes the answer;
        `project_usd`: mean cost of the choice made without it. Figures with one correlation key are one row.
    """
    usd = question.samples_usd[question.competing]
    if question.neighbour_usd is not None:
        usd = np.concatenate([usd, question.neighbour_usd])
    figures = list(_uncertain_figures(question, draws, timing_costs)) if len(usd) > 1 else []
    if not figures:
        return []
    values = [_value(usd, figure, len(figure.choices) == question.competing.size) for figure in figures]
    errors = np.array([value.error for value in values])
    # A figure that never changes the choice is worth 0 and ranks with no other.
    worth = np.zeros(len(values))
    worth[errors > 0] = without_selection(
        np.array([value.halves for value in values if value.error > 0]).reshape(-1, 2)
    )
    margins = STANDARD_ERRORS * errors
    table = pd.DataFrame([figure.columns for figure in figures]).assign(
        **question.row_names,
        project=question.size_text,
        project_usd=float(usd.mean(axis=1).min()),
        evppi_usd=worth,
        evppi_usd_low=np.maximum(0.0, worth - margins),
        evppi_usd_high=worth + margins,
        single=[value.worth for value in values],
    )
    # What is worth the same after ranking keeps the order of the single estimates.
    table = table.sort_values(["evppi_usd", "single", "figure"], ascending=[False, False, True], kind="stable")
    return table.drop(columns="single").to_dict("records")


def timings_of(options: pd.DataFrame) -> TimingCosts:
    """Return USD of LEARN_MINUTES on the cheapest hourly offer, and that offer, by device and number of devices."""
    rows = options[options["purchase"].isin(BY_THE_HOUR) & options["usd_per_hour"].gt(0)]
    rows = rows[rows["in_answer"].astype(bool)].drop_duplicates("option")
    terms = rows.reindex(columns=["granularity_s", "minimum_s"]).astype(float).fillna(0.0).to_numpy().T
    usd = rows["usd_per_hour"].to_numpy(float) * billed_seconds(60.0 * LEARN_MINUTES, *terms) / HOUR_S
    rows = rows.assign(cost_to_learn_usd=usd, minutes_to_learn=LEARN_MINUTES)
    rows = rows.sort_values(["cost_to_learn_usd", "option"], kind="stable").drop_duplicates(["gpu", "gpus"])
    rows = rows.rename(columns={"option": "learn_on", "title": "learn_on_title"}).set_index(["gpu", "gpus"])
    return rows[["cost_to_learn_usd", "minutes_to_learn", "learn_on", "learn_on_title"]].to_dict("index")


def _uncertain_figures(question: DecisionProblem, draws: Draws, timing_costs: TimingCosts) -> Iterator[UncertainFigure]:
    """Yield sampled figures that change some choice's cost, once per correlation key; then those of the work."""
    by_error: dict[tuple[object, ...], list[tuple[list[int], Figure]]] = {}
    for figure in draws.figures:
        choices = [] if figure.name in question.not_sampled else _choices_on(question, figure)
        if choices:
            by_error.setdefault(figure.error, []).append((choices, figure))
    for group in by_error.values():
        choices = sorted({index for indices, _ in group for index in indices})
        figure = min(group, key=lambda pair: pair[0][0])[1]
        columns = _figure_columns(question, figure, timing_costs) | {"rests_on_it": len(choices)}
        yield UncertainFigure(columns, figure.values[: question.samples_usd.shape[1]], choices)
    choices = list(range(int(question.competing.size)))
    for assumption, samples in question.work_samples:
        columns = {
            "assumption": assumption.name,
            "figure": f"number of {assumption.name}",
            "quantity": assumption.quantity,
            "title": assumption.subject,
            "unit": assumption.unit,
            "value": assumption.value,
            "rests_on_it": len(choices),
            "turning_point": question.nearest(assumption) * assumption.value,
        }
        yield UncertainFigure(columns, samples, choices)


def _choices_on(question: DecisionProblem, figure: Figure) -> list[int]:
    """Return indices (into `competing`) of the choices whose cost depends on a figure: all, if they share it."""
    rows = set(figure.rows)
    if figure.name in question.of_the_team:
        return list(range(int(question.competing.size))) if question.reference in rows else []
    # Where days of use are the team's, the price of a contract's hour is no figure of its own.
    skips_contracts = figure.name == RENT and "days_per_month" in question.of_the_team
    choices = [question.choices[index] for index in question.competing]
    return [
        index
        for index, choice in enumerate(choices)
        if rows & choice.labels and not (skips_contracts and by_contract(choice.row))
    ]


def _figure_columns(question: DecisionProblem, figure: Figure, timing_costs: TimingCosts) -> dict[str, Any]:
    """Return columns of WORTH for a figure: title, value, unit, quantity, turning point, and cost of timing a speed."""
    row, is_speed = question.row_of(figure.rows), figure.name == "images_per_s"
    subjects = {"images_per_s": error_key(figure.error), TARIFF: row["price_list"]}
    subject = str(subjects.get(figure.name, row["option"]))
    quantity = SPEED if is_speed else figure.name
    # Jobs side by side are as slow together as the figure of one of them, which is what can be timed.
    value = float(row[figure.name]) / (figure_behind(row) if is_speed else 1.0)
    columns = {
        "title": row["title"],
        "value": value,
        "quantity": quantity,
        "unit": f"{row.get('unit') or 'images'}/s" if is_speed else "",
    }
    if is_speed:
        columns |= timing_costs.get((row["gpu"], int(row["figure_gpus"])), {})
    for assumption in question.parameters:
        if assumption.quantity == quantity and assumption.subject in ("", subject):
            columns |= {
                "unit": columns["unit"] or assumption.unit,
                "turning_point": question.nearest(assumption) * value,
            }
            return columns | {"assumption": assumption.name, "figure": assumption.name}
    name = f"{figure.name.replace('_', ' ')} of {the(str(row['title']))}"
    return columns | {"assumption": name, "figure": name}


def _value(usd: Array, figure: UncertainFigure, of_all: bool) -> Value:
    """Return the USD saved by knowing a figure, among the choices that depend on it and the cheapest other.

    `usd`: choice x sample; `of_all`: all choices and their variants depend on the figure. Other choices need no fit.
    """
    independent = np.delete(usd, figure.choices, axis=0)
    if of_all or not len(independent):
        return partial_value(usd, figure.samples)
    cheapest = np.full((1, figure.samples.size), independent.mean(axis=1).min())
    return partial_value(np.concatenate([usd[figure.choices], cheapest]), figure.samples)
