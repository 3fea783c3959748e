"""Ranks of options; costs along a parameter: range, turning points, where a purchase pays off, the page's controls."""

from collections.abc import Iterable

import numpy as np
from pandas import DataFrame

from sweetspot.decision.decision_problem import Array, BreakEvenCase, DecisionProblem, Parameter
from sweetspot.decision.options import Row, bills_decide, staying, trained
from sweetspot.decision.simulate import Draws
from sweetspot.decision.verdict import COMMITMENT, NOTHING
from sweetspot.declared_tables import columns_of
from sweetspot.draws import interval

# One of each is a control: the first that a problem has.
CONTROLS = (("jobs", "per_month"), ("months",), ("capex_usd",), ("rents", "usd_per_hour"), ("days_per_month",),
            ("usd_per_kwh",))  # fmt: skip
PAYS = ("break_even_value", "break_even_low", "break_even_high", "pays_until")
STEPS_A_SIDE = 6
RANKED = {"rank": "usd", "rank_hours": "hours", "rank_carbon": "kg_co2e"}
REACH = 3.0  # times the planned value, at the end of either side


def turning_rows(problem: DecisionProblem) -> list[Row]:
    """Return rows of the table `turning_points`, one per parameter and side on which it turns the answer.

    From `turning_value` on `to_title` is the best. The nearest turning point comes first.
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
    """Return rows of the table `tornado`, one per parameter, the widest swing of `margin` first.

    `margin`: USD of the cheapest other alternative / USD of the best, at the baseline and at both ends of the range;
    `flip_value`, `flip_factor`: the nearest turning point, NaN beyond a factor of FURTHEST. [] without a runner-up.
    """
    rows, runner_up = [], problem.runner_up
    if runner_up is None:
        return []
    best_title, rival_title = (problem.title_at(problem.baseline, index, 0) for index in (problem.best, runner_up))
    for parameter in problem.parameters:
        value, factor = parameter.value, problem.nearest(parameter)
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
    """Return the columns, by name, that say which work and which parameter a row is about."""
    columns = {name: getattr(parameter, name) for name in ("quantity", "unit", "value")}
    return problem.row_names | columns | {"assumption": parameter.name, "subject": parameter.subject or None}


def pays_rows(workload: str, cases: Iterable[BreakEvenCase]) -> list[Row]:
    """Return rows of the table `break_even`, one per machine or contract and quantity, all else at the baseline.

    `break_even_value`: value from which the machine costs no more than the cheapest rental; `pays_until`: value from
    which a further machine makes it more expensive again. The range that holds the baseline counts, else the first one;
    0: pays from the least value (1/FURTHEST) on; NaN: at no value. `_low`, `_high`: 90 % of the samples;
    `p_pays`: share of samples in which it pays at the baseline.
    """
    rows = []
    for case in cases:
        parameter, sampled = case.parameter, case.factors[case.selected]
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
    """Return the factors from which and until which each row of cost differences is at most 0 (owning pays off).

    Parameters
    ----------
    difference
        USD, row x factor, at most 0 where owning pays off; linear between factors with equal numbers of machines.
    factors
        In ascending order, 1 (the baseline) among them.
    machines
        Number of machines by factor.

    Returns
    -------
    numpy.ndarray
        Begins by row: 0 if from the least factor on, infinite if at none; ends by row: infinite if up to the last
        factor.
    """
    baseline = _baseline(factors)
    bounds = []
    for usd in difference:
        pays, begin, end = usd <= 0, np.inf, np.inf
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


def ranks(options: DataFrame, draws: Draws) -> DataFrame:
    """Return the options of each model and workload with their ranks by USD, hours and carbon.

    Parameters
    ----------
    options
        The table of options.
    draws
        Their samples.

    Returns
    -------
    pandas.DataFrame
        The table `ranks`, a row per option, model and workload: speed, USD, hours and images/USD with `_low` and
        `_high` (90 %); `rank` by USD, `rank_hours` and `rank_carbon` (null: unknown), 1 is best; energy and carbon,
        `_low` and `_high` with every factor at that end; `basis` and `source` of the throughput, `price_source` and
        `as_of` of the price; `by_bills`: bills rank the model's options, not USD per image.
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
