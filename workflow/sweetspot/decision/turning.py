"""How far each parameter changes costs in its range, where it changes the answer, and where a purchase pays off."""

from collections.abc import Iterable

import numpy as np

from sweetspot.decision.decision_problem import Array, BreakEvenCase, DecisionProblem, Parameter
from sweetspot.decision.options import Row
from sweetspot.draws import interval


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
    return sorted(rows, key=lambda row: round(abs(float(np.log(row["factor"]))), 6))


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
        usd = problem.at(parameter, np.array([value, parameter.low, parameter.high]) / value).usd
        best_usd, rival_usd = (usd[choices].min(axis=0) for choices in (problem.incumbents, problem.rivals))

        with np.errstate(invalid="ignore"):  # Where nothing does the work both are infinite: there is no margin.
            margin, low, high = rival_usd / best_usd
        rows.append(
            _parameter_columns(problem, parameter)
            | {name: getattr(parameter, name) for name in ("low", "high", "range_basis")}
            | {"margin": margin, "margin_low": low, "margin_high": high}
            | {"flip_value": factor * value, "flip_factor": factor}
            | {"best_title": best_title, "rival_title": rival_title}
        )
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
        lines = case.difference
        begin, end = stretch(lines.planned, lines.factors, lines.machines)
        low, high = interval(stretch(lines.samples, lines.sample_factors, lines.sample_machines)[0])
        factors = np.array([begin[0], low, high, end[0]])
        values = case.planned * np.where(np.isfinite(factors), factors, np.nan)

        names = ("break_even_value", "break_even_low", "break_even_high", "pays_until")
        columns = dict(zip(names, values.tolist(), strict=True)) | {
            name: getattr(case, name) for name in ("title", "quantity", "unit", "planned", "p_pays")
        }
        rows.append(
            columns
            | {"workload": workload, "reference": case.option, "assumption": case.name}
            | {"factor": values[0] / case.planned, "subject": case.assumption.subject or None}
        )
    return rows


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
    baseline = int(np.abs(np.log(factors)).argmin())
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
