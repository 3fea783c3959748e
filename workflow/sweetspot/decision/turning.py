"""How far each parameter changes costs in its range, where it changes the answer, and where a purchase pays off."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sweetspot.decision.decision_problem import Array, Parameter
from sweetspot.draws import interval

if TYPE_CHECKING:
    from sweetspot.decision.decision_problem import DecisionProblem  # It imports the cases below.


class CostDifference(NamedTuple):
    """USD of owning or committing minus USD of renting, row x factor of a parameter.

    `planned` has one row, `samples` one per sample; `jump`: the number of machines differs from that of the factor
    before.
    """

    factors: Array
    planned: Array
    samples: Array
    sample_factors: Array
    jump: Array
    sample_jump: Array


class BreakEvenCase(NamedTuple):
    """A machine to own or commit to, and a parameter with `name`, `quantity`, baseline `planned` and unit."""

    option: str
    title: str
    assumption: Parameter
    name: str
    quantity: str
    planned: float
    unit: str
    difference: CostDifference
    p_pays: float


def turning_rows(problem: "DecisionProblem") -> list[dict[str, Any]]:
    """Return rows of the table `turning_points`, one per parameter and side on which it turns the answer.

    From `turning_value` on `to_title` is the best, with `boxes` machines bought. The nearest turning point comes first.
    """
    rows = [
        _parameter_columns(problem, parameter)
        | {
            "side": "above" if point.factor > 1 else "below",
            "turning_value": parameter.value * point.factor,
            "factor": point.factor,
            "to_title": problem.title(point.to, point.machines, point.alternative),
            "boxes": int(point.machines) if problem.choices[point.to].row["purchase"] == "own" else 0,
        }
        for parameter, points in problem.turning_points.items()
        for point in points
    ]
    # Rounded: where two turn at the same factor, the order must not depend on the last digit.
    return sorted(rows, key=lambda row: round(abs(float(np.log(row["factor"]))), 6))


def tornado_rows(problem: "DecisionProblem") -> list[dict[str, Any]]:
    """Return rows of the table `tornado`, one per parameter, the widest swing of `margin` first.

    `margin`: USD of the cheapest other alternative / USD of the best, at the baseline and at both ends of the range;
    `flip_value`, `flip_factor`: the nearest turning point, NaN beyond a factor of FURTHEST. [] without a runner-up.
    """
    if problem.runner_up is None:
        return []
    rows = [_tornado_row(problem, parameter) for parameter in problem.parameters]
    # Rounded: where two swing by the same (months, days of use), the order must not depend on the last digit.
    rows.sort(key=lambda row: -round(np.nan_to_num(abs(row["margin_high"] - row["margin_low"])), 9))
    titles = (problem.title_at(problem.baseline, index, 0) for index in (problem.best, problem.runner_up))
    best_title, rival_title = titles
    return [row | {"best_title": best_title, "rival_title": rival_title} for row in rows]


def _parameter_columns(problem: "DecisionProblem", parameter: Parameter) -> dict[str, Any]:
    """Return the columns, by name, that say which work and which parameter a row is about."""
    columns = {name: getattr(parameter, name) for name in ("quantity", "unit", "value")}
    return problem.row_names | columns | {"assumption": parameter.name, "subject": parameter.subject or None}


def _tornado_row(problem: "DecisionProblem", parameter: Parameter) -> dict[str, Any]:
    """Return columns of `tornado` for one parameter: margins at its value, low and high, and its turning point."""
    value, factor = parameter.value, problem.nearest(parameter)
    usd = problem.at(parameter, np.array([value, parameter.low, parameter.high]) / value).usd
    best_usd, rival_usd = (usd[choices].min(axis=0, initial=np.inf) for choices in (problem.incumbents, problem.rivals))
    with np.errstate(invalid="ignore"):  # Where nothing does the work both are infinite: there is no margin.
        margins = rival_usd / best_usd
    columns = {name: getattr(parameter, name) for name in ("low", "high", "range_basis")}
    for index, end in enumerate(("", "_low", "_high")):
        columns |= {f"usd{end}": best_usd[index], f"margin{end}": margins[index]}
    return _parameter_columns(problem, parameter) | columns | {"flip_value": factor * value, "flip_factor": factor}


def pays_rows(workload: str, cases: Iterable[BreakEvenCase]) -> list[dict[str, Any]]:
    """Return rows of the table `break_even`, one per machine or contract and quantity, all else at the baseline.

    `break_even_value`: value from which the machine costs no more than the cheapest rental; `pays_until`: value from
    which a further machine makes it more expensive again. The range that holds the baseline counts, else the first one;
    0: pays from the least value (1/FURTHEST) on; NaN: at no value. `_low`, `_high`: 90 % of the samples;
    `p_pays`: share of samples in which it pays at the baseline.
    """
    rows = []
    for case in cases:
        lines = case.difference
        begin, end = stretch(lines.planned, lines.factors, lines.jump)
        low, high = interval(stretch(lines.samples, lines.sample_factors, lines.sample_jump)[0])
        factors = np.array([begin[0], low, high, end[0]])
        values = case.planned * np.where(np.isfinite(factors), factors, np.nan)
        names = ("break_even_value", "break_even_low", "break_even_high", "pays_until")
        rows.append(
            dict(zip(names, values.tolist(), strict=True))
            | {name: getattr(case, name) for name in ("title", "quantity", "unit", "planned", "p_pays")}
            | {
                "workload": workload,
                "reference": case.option,
                "assumption": case.name,
                "factor": values[0] / case.planned,
                "subject": case.assumption.subject or None,
            }
        )
    return rows


def stretch(difference: Array, factors: Array, jump: Array) -> tuple[Array, Array]:
    """Return the factors from which and until which each row of cost differences is at most 0 (owning pays off).

    Parameters
    ----------
    difference
        USD, row x factor, at most 0 where owning pays off; linear between factors without a jump.
    factors
        In ascending order, 1 (the baseline) among them.
    jump
        By factor: whether the number of machines differs from that of the factor before.

    Returns
    -------
    tuple
        Begin by row: 0 if from the least factor on, infinite if at none; end by row: infinite if up to the last factor.
    """
    pays, index = difference <= 0, np.arange(factors.size)
    ever, row = pays.any(axis=1), np.arange(len(pays))
    baseline = int(np.abs(np.log(factors)).argmin())
    last_without = np.where(pays, -1, index)[:, : baseline + 1].max(axis=1)
    first = np.where(pays[:, baseline], last_without + 1, pays.argmax(axis=1))
    after = ~pays & (index > first[:, None])
    end = np.where(ever & after.any(axis=1), factors[after.argmax(axis=1) - 1], np.inf)

    before = np.maximum(first - 1, 0)
    height = difference[row, before]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = height / (height - difference[row, first])
        crossing = factors[before] + share * (factors[first] - factors[before])
    begin = np.where(jump[first] | ~np.isfinite(height), factors[first], crossing)
    return np.where(ever, np.where(first > 0, begin, 0.0), np.inf), end
