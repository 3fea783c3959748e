"""Ranks of options, costs along a parameter (range, turning points, where a purchase pays off), what to find out."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from pandas import DataFrame

from sweetspot.bills.rates import by_contract
from sweetspot.bills.renting import HOUR_S, billed_seconds
from sweetspot.decision.decision_problem import RENT, SPEED, Array, BreakEvenCase, DecisionProblem, Parameter
from sweetspot.decision.options import Row, bills_decide, staying, trained
from sweetspot.decision.simulate import OF_THE_TEAM, Draws, Figure
from sweetspot.decision.verdict import COMMITMENT, NOTHING
from sweetspot.declared_tables import columns_of
from sweetspot.draws import interval
from sweetspot.throughput.speed_errors import Error, figure_behind
from sweetspot.wording import the

# One of each is a control: the first that a problem has.
CONTROLS = (("jobs", "per_month"), ("months",), ("capex_usd",), ("rents", "usd_per_hour"), ("days_per_month",),
            ("usd_per_kwh",))  # fmt: skip
PAYS = ("break_even_value", "break_even_low", "break_even_high", "pays_until")
STEPS_A_SIDE = 6
RANKED = {"rank": "usd", "rank_hours": "hours", "rank_carbon": "kg_co2e"}
REACH = 3.0  # times the planned value, at the end of either side
# A machine is started, the software installed (some 10 GB), and three runs of five minutes are timed.
LEARN_MINUTES = 30.0
BY_THE_HOUR = ("on_demand", "spot", "preemptible")
STANDARD_ERRORS = 1.6449  # Either side of a mean they cover LEVEL, 90 %.
# Between these quantiles the regression is piecewise linear: costs are smooth in a figure, or go as its inverse.
KNOTS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)
TimingCosts = dict[tuple[str, int], Row]  # What timing a machine costs, by its device and how many.


def turning_rows(problem: DecisionProblem) -> list[Row]:
    """Return rows of the table `turning_points`, from which the page says what would change the answer: one per
    parameter (price, speed, amount of work ...) and side of its baseline on which it turns the answer.

    From `turning_value`, in the parameter's unit, on `to_title` is the best choice. The nearest turning point comes
    first.
    """
    rows = [
        _parameter_columns(problem, parameter)
        | {
            "side": "above" if point.factor > 1 else "below",
            "turning_value": parameter.value * point.factor,
            "factor": point.factor,
            "to_title": problem.title(point.to, point.machines, point.alternative),
        }
        for parameter, points in problem.turning_points.items()
        for point in points
    ]
    # Rounded: where two turn at the same factor, the order must not depend on the last digit.
    return sorted(rows, key=lambda row: round(abs(np.log(row["factor"])), 6))


def tornado_rows(problem: DecisionProblem) -> list[Row]:
    """Return rows of the table `tornado`, one per parameter: how far its range moves the answer. The page draws them as
    bars. `margin`: USD of the cheapest other alternative / USD of the best, at the baseline and at both ends (`_low`,
    `_high`) of the parameter's 90 % range; `flip_value`, `flip_factor`: the nearest turning point, NaN beyond a factor
    of FURTHEST. The widest swing of `margin` is first; [] without a runner-up.
    """
    rows = []
    runner_up = problem.runner_up
    if runner_up is None:
        return []
    best_title, rival_title = (problem.title_at(problem.baseline, index, 0) for index in (problem.best, runner_up))
    for parameter in problem.parameters:
        value = parameter.value
        factor = problem.nearest(parameter)
        usd = problem.at(parameter, [1.0, parameter.low / value, parameter.high / value]).usd
        best_usd, rival_usd = (usd[choices].min(axis=0) for choices in (problem.incumbents, problem.rivals))

        with np.errstate(invalid="ignore"):  # Where nothing does the work both are infinite: there is no margin.
            margins = rival_usd / best_usd
        row = _parameter_columns(problem, parameter) | {"best_title": best_title, "rival_title": rival_title}
        row |= {name: getattr(parameter, name) for name in ("low", "high", "range_basis")}
        for index, end in enumerate(("", "_low", "_high")):
            row |= {f"usd{end}": best_usd[index], f"margin{end}": margins[index]}
        rows.append(row | {"flip_value": factor * value, "flip_factor": factor})
    # Rounded: where two swing by the same (months, days of use), the order must not depend on the last digit.
    return sorted(rows, key=lambda row: -round(np.nan_to_num(abs(row["margin_high"] - row["margin_low"])), 9))


def _parameter_columns(problem: DecisionProblem, parameter: Parameter) -> Row:
    """Return {column: value}: which work and which parameter a row of `tornado` or `turning_points` is about."""
    columns = {name: getattr(parameter, name) for name in ("quantity", "unit", "value")}
    return problem.row_names | columns | {"assumption": parameter.name, "subject": parameter.subject or None}


def pays_rows(workload: str, cases: Iterable[BreakEvenCase]) -> list[Row]:
    """Return rows of the table `break_even`: from how much work (or how many months, days of use) on buying pays.

    One per machine or contract and quantity, all else at the baseline. `break_even_value`: value from which the machine
    costs no more than the cheapest rental; `pays_until`: value from which a further machine makes it more expensive
    again. The range that holds the baseline counts, else the first one; 0: pays from the least value (1/FURTHEST) on;
    NaN: at no value. `_low`, `_high`: 90 % of the samples; `p_pays`: share of samples in which it pays at the baseline.
    `cases`: USD of owning less USD of renting along a parameter.
    """
    rows = []
    for case in cases:
        parameter = case.parameter
        sampled = case.factors[case.selected]
        begin, end = stretch(case.usd[None], case.factors, case.machines)
        bounds = interval(stretch(case.samples, sampled, case.machines[case.selected])[0])
        factors = np.array([begin[0], *bounds, end[0]])
        factors[np.isinf(factors)] = np.nan
        row = {
            "workload": workload,
            "reference": case.option,
            "title": case.title,
            "assumption": parameter.name,
            "subject": parameter.subject or None,
            "quantity": parameter.quantity,
            "unit": parameter.unit,
            "planned": parameter.value,
            "factor": factors[0],
            "p_pays": np.mean(case.samples[:, _baseline(sampled)] <= 0),
        }
        rows.append(row | dict(zip(PAYS, parameter.value * factors, strict=True)))
    return rows


def _baseline(factors: Array) -> int:
    """Return the index of the factor nearest to 1."""
    return int(np.abs(np.log(factors)).argmin())


def stretch(difference: Array, factors: Array, machines: Array) -> Array:
    """Return (begins, ends) by row: the factors from which and until which owning costs no more than renting.

    Begins are 0 if from the least factor on, infinite if at none; ends are infinite if up to the last factor.

    Parameters
    ----------
    difference, factors, machines
        USD owned less USD rented, row x factor, linear between factors with equal numbers of machines; factors in
        ascending order, 1 (the baseline) among them; number of machines by factor.
    """
    baseline = _baseline(factors)
    bounds = []
    for usd in difference:
        pays = usd <= 0
        begin = np.inf
        end = np.inf
        if pays.any():
            costly = np.flatnonzero(~pays[: baseline + 1])
            first = int(costly.max(initial=-1)) + 1 if pays[baseline] else int(pays.argmax())
            after = np.flatnonzero(~pays[first:])
            end = factors[first + after[0] - 1] if after.size else np.inf

            before = max(first - 1, 0)
            begin = factors[first] if first else 0.0
            if first and machines[first] == machines[before] and np.isfinite(usd[before]):
                begin = np.interp(0.0, usd[[first, before]], factors[[first, before]])
        bounds.append((begin, end))
    return np.array(bounds).T


def controls(problem: DecisionProblem) -> list[Parameter]:
    """Return the parameters that readers can move on the page, one per quantity (work, months, price, rent ...).

    Of several parameters of one quantity, such as the prices of two machines, it is that of the cheapest choice.
    `problem`: the choices for a workload, and what they cost at any values of its parameters.
    """
    ranks = {choice.option: -rank for rank, choice in enumerate(problem.choices)}
    by_rank = sorted(problem.parameters, key=lambda parameter: ranks.get(parameter.subject, -len(ranks)))
    by_quantity = {parameter.quantity: parameter for parameter in by_rank}
    quantities = (next((name for name in control if name in by_quantity), "") for control in CONTROLS)
    return [by_quantity[quantity] for quantity in quantities if quantity]


def factors_of(parameter: Parameter) -> Array:
    """Return the factors, ascending, by which a control of the page multiplies a parameter's value in its sweep.

    They are at most 13, evenly spaced in their logarithm, from 1/3 to 3 or to the parameter's maximum; 1, the planned
    value, is one of them.
    """
    highest = max(1.0, min(REACH, parameter.maximum / parameter.value))
    sides = (np.geomspace(1.0, end, STEPS_A_SIDE + 1) for end in (1 / REACH, highest))
    return np.unique(np.concatenate([*sides]))


def sweep_rows(problem: DecisionProblem) -> list[Row]:
    """Return rows of the table `sweeps`, which the page's sliders read: what the work costs if one control is moved.

    A row per control (a parameter such as the amount of work), its value and commitment (buy, contract or nothing) has
    the cheapest choice of that commitment, all else as planned. `usd` is that of central figures; `usd_low`, `usd_high`
    (90 %) and `p_cheapest`, the share of samples in which it costs the least, are of the study's samples, which move in
    proportion.
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


def ranks(options: DataFrame, draws: Draws) -> DataFrame:
    """Return the table `ranks`, which lists and ranks all options: a row per option (a machine at a price), model and
    workload. Speed, USD, hours and images/USD have `_low` and `_high` (90 %); `rank` by USD, `rank_hours` and
    `rank_carbon` (null: unknown), 1 is best; energy and carbon, `_low` and `_high` with every factor at that end;
    `basis` and `source` of the throughput, `price_source` and `as_of` of the price; `by_bills`: bills rank the model's
    options, not USD per image. `options`: table of options; `draws`: samples (simulated futures) of their speed, USD
    and hours.
    """
    table = options.reindex(columns=columns_of("ranks"))
    for name in ("images_per_s", "images_per_usd", "hours", "usd"):
        table[f"{name}_low"], table[f"{name}_high"] = interval(getattr(draws, name))
    groups = options.groupby(["model", "workload"])
    for rank, name in RANKED.items():
        table[rank] = groups[name].rank(method="min").astype("Int64")
    billed = [model for model, rows in trained(options).items() if bills_decide(staying(rows))]
    table = table.assign(
        source=options["throughput_source"], price_source=options["source"], by_bills=options["model"].isin(billed)
    )
    return table.sort_values(["model", "workload", "rank"], kind="stable").reset_index(drop=True)


class Value(NamedTuple):
    """Expected saving if a figure is known before the decision, in the unit of the costs, and its standard error."""

    worth: float
    error: float


class UncertainFigure(NamedTuple):
    """A figure that could be found out: columns of `worth_knowing`, samples, indices of choices that depend on it."""

    columns: Row
    samples: Array
    choices: list[int]


def worth_rows(problem: DecisionProblem, draws: Draws, timing_costs: TimingCosts) -> list[Row]:
    """Return rows of `worth_knowing`: the USD that knowing each uncertain figure saves, the most valuable figure first.

    None without a rival. `evppi_usd`: expected saving over the project of a choice made with the figure known; `_low`
    and `_high`: 90 % of its Monte Carlo error; `turning_point`: nearest value that changes the answer; `project_usd`:
    mean cost of the choice made without it. Figures with one correlation key are one row.

    Parameters
    ----------
    problem, draws, timing_costs
        The decision (choices, samples of their costs, and parameters); the samples of the options; cost of timing by
        device and number of devices (`timings_of`).
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
    worth, error = np.array(values).T
    table = DataFrame([figure.columns for figure in figures]).assign(
        **problem.row_names,
        project_usd=usd.mean(axis=1).min(),
        evppi_usd=worth,
        evppi_usd_low=np.maximum(worth - STANDARD_ERRORS * error, 0.0),
        evppi_usd_high=worth + STANDARD_ERRORS * error,
    )
    table = table.sort_values(["evppi_usd", "figure"], ascending=[False, True], kind="stable")
    return table.to_dict("records")


def timings_of(options: DataFrame) -> TimingCosts:
    """Return what finding out a speed costs: {(device, number of devices): {cost_to_learn_usd, learn_on_title}}.

    It is the bill of half an hour on the cheapest offer by the hour with such devices, and the title of that offer.
    `options`: table of options, a machine at a price each.
    """
    is_hourly = options["purchase"].isin(BY_THE_HOUR) & options["usd_per_hour"].gt(0)
    rows = options[is_hourly & options["in_answer"]]
    terms = rows[["granularity_s", "minimum_s"]].astype(float).fillna(0.0).to_numpy().T
    usd = rows["usd_per_hour"].to_numpy(float) * billed_seconds(60.0 * LEARN_MINUTES, *terms) / HOUR_S
    rows = rows.assign(cost_to_learn_usd=usd, learn_on_title=rows["title"])
    rows = rows.sort_values(["cost_to_learn_usd", "option"], kind="stable").drop_duplicates(["gpu", "gpus"])
    return rows.set_index(["gpu", "gpus"])[["cost_to_learn_usd", "learn_on_title"]].to_dict("index")


def _uncertain_figures(problem: DecisionProblem, draws: Draws, timing_costs: TimingCosts) -> Iterator[UncertainFigure]:
    """Yield what could be found out before deciding, for `worth_rows` to value: sampled figures that change some
    choice's cost, once per correlation key (an error that several share); then the numbers of jobs.
    """
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
        columns = _columns_of_value(problem, parameter, parameter.value)
        columns |= {"title": parameter.subject, "figure": f"number of {parameter.name}"}
        yield UncertainFigure(columns, samples, list(range(problem.competing.size)))


def _choices_on(problem: DecisionProblem, figure: Figure) -> list[int]:
    """Return which choices cost more or less when a figure (a price, a speed) changes, because its value is counted for
    these. They are indices into `problem.competing`; a figure that all choices share (months, days of use) gives all.
    """
    rows = set(figure.rows)
    is_shared = problem.reference is not None
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


def _columns_of_value(problem: DecisionProblem, parameter: Parameter, value: float) -> Row:
    """Return columns of `worth_knowing` for a parameter with a value: name, quantity, unit, turning point."""
    columns = {"figure": parameter.name, "quantity": parameter.quantity, "unit": parameter.unit, "value": value}
    return columns | {"turning_point": problem.nearest(parameter) * value}


def _figure_columns(problem: DecisionProblem, figure: Figure, timing_costs: TimingCosts) -> Row:
    """Return what the table `worth_knowing` says of a figure, {column: value}: title, value, turning point, cost to
    learn. `timing_costs`: of `timings_of`; a speed is learnt by timing one machine.
    """
    row = problem.row_of(figure.rows)
    is_speed = figure.name == "images_per_s"
    # Jobs side by side are as slow together as the figure of one of them, which is what can be timed.
    value = row[figure.name] / (figure_behind(row) if is_speed else 1.0)
    name = f"{figure.name.replace('_', ' ')} of {the(row['title'])}"
    columns = {"figure": name, "quantity": figure.name, "unit": "", "title": row["title"], "value": value}

    for parameter in problem.parameters:
        if parameter.figure == figure.name and (not parameter.rows or parameter.rows.intersection(figure.rows)):
            columns |= _columns_of_value(problem, parameter, value)
            break
    if is_speed:
        columns |= {"quantity": SPEED, "unit": f"{row.get('unit') or 'images'}/s"}
        columns |= timing_costs.get((row["gpu"], int(row["figure_gpus"])), {})
    return columns


def partial_value(costs: Array, figure: Array) -> Value:
    """Return what knowing a figure x before choosing saves (EVPPI): min over options of E[cost] - E_x[min of E[cost
    given x]]. Never negative. `costs`: option x draw; `figure`: x in each draw. E[cost given x] is a piecewise linear
    least squares fit of cost differences on x (Strong, Oakley & Brennan 2014 smooth the same way); the option to take
    at x is read from a fit to the other half of the draws, and its cost is that of the draws themselves, so that noise
    in a fit cannot look like a saving. The standard error is that of a mean over draws: it says how far the draws
    carry, not how well the figures are known. A figure that changes the choice in no draw is worth exactly 0. (Raiffa &
    Schlaifer 1961 for what it means.)
    """
    differences = costs - costs[costs.mean(axis=1).argmin()]  # less the choice without more knowledge
    count = figure.size
    if not figure.max() > figure.min():
        return Value(0.0, 0.0)
    basis = _basis(figure)
    saved = np.zeros(count)
    for number in range(2):
        test = slice(number, None, 2)
        training = slice(1 - number, None, 2)
        columns = basis[training].T
        weights = np.linalg.lstsq(columns @ columns.T, columns @ differences[:, training].T, rcond=None)[0]
        fitted = basis[test] @ weights  # draw x option
        saved[test] = -differences[:, test][fitted.argmin(axis=1), np.arange(len(fitted))]
    return Value(max(0.0, saved.mean()), saved.std() / np.sqrt(count))


def _basis(figure: Array) -> Array:
    """Return the columns of a piecewise linear fit of costs on a sampled figure x: a matrix, draw x column.

    They are 1, x in standard deviations, and (x - knot)+ at the quantiles KNOTS; `figure`: x, one value per draw.
    """
    scaled = (figure - figure.mean()) / figure.std()
    knots = np.unique(np.quantile(scaled, KNOTS, method="nearest"))
    inner = knots[(knots > scaled.min()) & (knots < scaled.max())]
    return np.column_stack([np.ones(figure.size), scaled, np.maximum(scaled[:, None] - inner, 0.0)])
