"""What to find out first: USD saved by knowing each uncertain figure exactly, and USD of timing a machine."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from pandas import DataFrame

from sweetspot.bills.rates import by_contract
from sweetspot.bills.renting import HOUR_S, billed_seconds
from sweetspot.decision.decision_problem import RENT, SPEED, Array, DecisionProblem, Parameter
from sweetspot.decision.options import Row
from sweetspot.decision.simulate import OF_THE_TEAM, Draws, Figure
from sweetspot.draws import LEVEL
from sweetspot.throughput.speed_errors import Error, figure_behind
from sweetspot.wording import the

# A machine is started, the software installed (some 10 GB), and three runs of five minutes are timed.
LEARN_MINUTES = 30.0
BY_THE_HOUR = ("on_demand", "spot", "preemptible")
STANDARD_ERRORS = 1.6449  # Either side of a mean they cover LEVEL.
assert LEVEL == 0.90
# Between these quantiles the regression is piecewise linear: costs are smooth in a figure, or go as its inverse.
KNOTS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)
TimingCosts = dict[tuple[str, int], Row]  # What timing a machine costs, by its device and how many.


class Value(NamedTuple):
    """Expected saving if a figure is known before the decision, in the unit of the costs, and its standard error.

    halves: saving in each half of the draws with choices fitted to the other half; below 0 from noise alone.
    """

    worth: float
    error: float
    halves: tuple[float, float] = (0.0, 0.0)


class UncertainFigure(NamedTuple):
    """A figure that could be found out: columns of `worth_knowing`, samples, indices of choices that depend on it."""

    columns: Row
    samples: Array
    choices: list[int]


def worth_rows(problem: DecisionProblem, draws: Draws, timing_costs: TimingCosts) -> list[Row]:
    """Return the USD that knowing each uncertain figure of a decision saves, the most valuable figure first.

    Parameters
    ----------
    problem
        The decision: choices, samples of their costs, and parameters.
    draws
        The samples of the options.
    timing_costs
        Cost of timing by device and number of devices (`timings_of`).

    Returns
    -------
    list
        Rows of `worth_knowing`; none without a rival. `evppi_usd`: expected saving over the project of a choice made
        with the figure known, corrected for the ranking of noisy estimates; `_low` and `_high`: 90 % of its Monte
        Carlo error; `rests_on_it`: number of choices that depend on it; `turning_point`: nearest value that changes
        the answer; `project_usd`: mean cost of the choice made without it. Figures with one correlation key are one
        row.
    """
    usd = problem.samples_usd[problem.competing]
    figures = list(_uncertain_figures(problem, draws, timing_costs)) if len(usd) > 1 else []
    if not figures:
        return []

    values = []
    for figure in figures:
        # Of the choices that do not depend on the figure the cheapest is enough, and needs no fit.
        independent = np.delete(usd, figure.choices, axis=0).mean(axis=1)
        cheapest = np.full((min(1, independent.size), usd.shape[1]), independent.min(initial=np.inf))
        values.append(partial_value(np.concatenate([usd[figure.choices], cheapest]), figure.samples))
    single, error = np.array([(value.worth, value.error) for value in values]).T
    # A figure that never changes the choice is worth 0 and ranks with no other.
    worth, is_positive = np.zeros(len(values)), error > 0
    halves = np.array([value.halves for value in values])
    worth[is_positive] = without_selection(halves[is_positive])
    table = DataFrame([figure.columns for figure in figures]).assign(
        **problem.row_names,
        rests_on_it=[len(figure.choices) for figure in figures],
        project_usd=usd.mean(axis=1).min(),
        evppi_usd=worth,
        evppi_usd_low=np.maximum(worth - STANDARD_ERRORS * error, 0.0),
        evppi_usd_high=worth + STANDARD_ERRORS * error,
        single=single,
    )
    # What is worth the same after ranking keeps the order of the single estimates.
    table = table.sort_values(["evppi_usd", "single", "figure"], ascending=[False, False, True], kind="stable")
    return table.to_dict("records")


def timings_of(options: DataFrame) -> TimingCosts:
    """Return USD of LEARN_MINUTES on the cheapest hourly offer, and its title, by device and number of devices."""
    is_hourly = options["purchase"].isin(BY_THE_HOUR) & options["usd_per_hour"].gt(0)
    rows = options[is_hourly & options["in_answer"]]
    terms = rows[["granularity_s", "minimum_s"]].astype(float).fillna(0.0).to_numpy().T
    usd = rows["usd_per_hour"].to_numpy(float) * billed_seconds(60.0 * LEARN_MINUTES, *terms) / HOUR_S
    rows = rows.assign(cost_to_learn_usd=usd, learn_on_title=rows["title"])
    rows = rows.sort_values(["cost_to_learn_usd", "option"], kind="stable").drop_duplicates(["gpu", "gpus"])
    return rows.set_index(["gpu", "gpus"])[["cost_to_learn_usd", "learn_on_title"]].to_dict("index")


def _uncertain_figures(problem: DecisionProblem, draws: Draws, timing_costs: TimingCosts) -> Iterator[UncertainFigure]:
    """Yield sampled figures that change some choice's cost, once per correlation key; then those of the work."""
    by_error: dict[Error, list[tuple[list[int], Figure]]] = {}
    for figure in draws.figures:
        choices = _choices_on(problem, figure)
        if choices:
            by_error.setdefault(figure.error, []).append((choices, figure))

    for group in by_error.values():
        choices = sorted({index for indices, _ in group for index in indices})
        figure = min(group, key=lambda pair: pair[0][0])[1]
        columns = _figure_columns(problem, figure, timing_costs)
        yield UncertainFigure(columns, figure.values[: problem.samples_usd.shape[1]], choices)
    for parameter, samples in problem.work_samples:
        columns = _parameter_columns(problem, parameter, parameter.value)
        columns |= {"title": parameter.subject, "figure": f"number of {parameter.name}"}
        yield UncertainFigure(columns, samples, list(range(problem.competing.size)))


def _choices_on(problem: DecisionProblem, figure: Figure) -> list[int]:
    """Return indices (into `competing`) of the choices whose cost depends on a figure: all, if they share it."""
    rows, is_shared = set(figure.rows), problem.reference is not None
    if figure.name in problem.not_sampled:
        return []
    if is_shared and figure.name in OF_THE_TEAM:
        return list(range(problem.competing.size)) if problem.reference in rows else []
    # Where days of use are the team's, the price of a contract's hour is no figure of its own.
    return [
        index
        for index, choice in enumerate(problem.choices[number] for number in problem.competing)
        if rows & choice.labels and not (is_shared and figure.name == RENT and by_contract(choice.row))
    ]


def _parameter_columns(problem: DecisionProblem, parameter: Parameter, value: float) -> Row:
    """Return columns of `worth_knowing` for a parameter with a value: name, quantity, unit, turning point."""
    columns = {"figure": parameter.name, "quantity": parameter.quantity, "unit": parameter.unit, "value": value}
    return columns | {"turning_point": problem.nearest(parameter) * value}


def _figure_columns(problem: DecisionProblem, figure: Figure, timing_costs: TimingCosts) -> Row:
    """Return columns of `worth_knowing` for a figure: title, value, turning point, and cost of timing a speed."""
    row, is_speed = problem.row_of(figure.rows), figure.name == "images_per_s"
    # Jobs side by side are as slow together as the figure of one of them, which is what can be timed.
    value = row[figure.name] / (figure_behind(row) if is_speed else 1.0)
    name = f"{figure.name.replace('_', ' ')} of {the(row['title'])}"
    columns = {"figure": name, "quantity": figure.name, "unit": "", "title": row["title"], "value": value}

    for parameter in problem.parameters:
        if parameter.figure == figure.name and (not parameter.rows or parameter.rows.intersection(figure.rows)):
            columns |= _parameter_columns(problem, parameter, value)
            break
    if is_speed:
        columns |= {"quantity": SPEED, "unit": f"{row.get('unit') or 'images'}/s"}
        columns |= timing_costs.get((row["gpu"], int(row["figure_gpus"])), {})
    return columns


def partial_value(costs: Array, figure: Array) -> Value:
    """Return EVPPI(x) = min over options of E[cost] - E_x[min over options of E[cost given x]]; never negative.

    `costs`: option x draw; `figure`: x in each draw. E[cost given x] is a piecewise linear least
    squares fit of cost differences on x (Strong, Oakley & Brennan 2014 smooth the same way); the option to take at x
    is read from a fit to the other half of the draws, and its cost is that of the draws themselves, so that noise in a
    fit cannot look like a saving. The standard error is that of a mean over draws: it says how far the draws carry, not
    how well the figures are known. A figure that changes the choice in no draw is worth exactly 0.
    (Raiffa & Schlaifer 1961 for what it means.)
    """
    differences = costs - costs[costs.mean(axis=1).argmin()]  # less the choice without more knowledge
    differences = differences[(differences < 0).any(axis=1)]  # others cost no less on average
    count = figure.size
    if not len(differences) or not figure.max() > figure.min():
        return Value(0.0, 0.0)
    basis, saved = _basis(figure), np.zeros(count)
    for number in range(2):
        test, training = slice(number, None, 2), slice(1 - number, None, 2)
        columns = basis[training].T
        weights = np.linalg.lstsq(columns @ columns.T, columns @ differences[:, training].T, rcond=None)[0]
        fitted = basis[test] @ weights  # draw x option
        chosen = differences[:, test][fitted.argmin(axis=1), np.arange(len(fitted))]
        saved[test] = np.where(fitted.min(axis=1) < 0, -chosen, 0.0)
    halves = (saved[::2].mean(), saved[1::2].mean())
    return Value(max(0.0, saved.mean()), saved.std() / np.sqrt(count), halves)


def without_selection(halves: Array) -> Array:
    """Return worths of figures corrected for ranking, one per figure: the highest of noisy estimates is too high.

    halves: figure x 2, `Value.halves`. The worth of the figure that ranks k-th by one half of the draws is estimated by
    the other half; the mean of both ways, made to fall with k (least squares), goes to the k-th by both together.
    Unbiased for the first figure (a split sample: Efron & Tibshirani 1993, ch. 17); never negative.
    """
    from scipy.optimize import isotonic_regression  # lazily: it takes longer to import than the rest

    if len(halves) == 0:
        return np.zeros(0)
    first, second = halves[:, 0], halves[:, 1]
    crossed = (second[np.argsort(-first, kind="stable")] + first[np.argsort(-second, kind="stable")]) / 2
    worth = np.empty(len(halves))
    falling = isotonic_regression(crossed, increasing=False).x
    worth[np.argsort(-halves.sum(axis=1), kind="stable")] = np.maximum(falling, 0.0)
    return worth


def _basis(figure: Array) -> Array:
    """Return a matrix, draw x column: 1, x and (x - knot)+ for the figure x in standard deviations."""
    scaled = (figure - figure.mean()) / figure.std()
    knots = np.unique(np.quantile(scaled, KNOTS, method="nearest"))
    inner = knots[(knots > scaled.min()) & (knots < scaled.max())]
    return np.column_stack([np.ones(figure.size), scaled, np.maximum(scaled[:, None] - inner, 0.0)])
