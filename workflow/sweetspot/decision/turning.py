"""How far each assumption changes costs in its range, where it changes the answer, and where a purchase pays off."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sweetspot.decision.decision_problem import Array, Parameter
from sweetspot.declared_tables import columns_of
from sweetspot.draws import interval

if TYPE_CHECKING:
    from sweetspot.decision.decision_problem import DecisionProblem, TurningPoint  # It imports the cases below.

ABOUT = ("workload", "model", "model_title", "assumption", "quantity", "subject", "unit", "value", "best_title")
TORNADO = columns_of("tornado")
TURNING = columns_of("turning_points")
PAYS = (
    "workload", "model", "reference", "title", "quantity", "subject", "assumption", "unit", "planned",
    "break_even_value", "break_even_low", "break_even_high", "pays_until", "factor", "p_pays",
)  # fmt: skip


class CostDifference(NamedTuple):
    """USD of owning or committing minus USD of renting, row x factor of an assumption.

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
    """A machine to own or commit to, and an assumption with `name`, `quantity`, baseline `planned` and unit."""

    option: str
    title: str
    assumption: Parameter
    name: str
    quantity: str
    planned: float
    unit: str
    difference: CostDifference
    p_pays: float


def turning_rows(question: "DecisionProblem") -> list[dict[str, Any]]:
    """Return rows of TURNING, one per assumption and side on which it turns the answer, the nearest first.

    From `turning_value` on `to_title` is the best, with `boxes` machines bought; `usd`: cost of both at that value.
    """
    pairs = [(assumption, turn) for assumption, nearest in question.turning_points.items() for turn in nearest]
    rows = [_turning_row(question, *pair) for pair in pairs]
    # Rounded: where two turn at the same factor, the order must not depend on the last digit.
    return sorted(rows, key=lambda row: round(abs(float(np.log(row["factor"]))), 6))


def tornado_rows(question: "DecisionProblem") -> list[dict[str, Any]]:
    """Return rows of TORNADO, one per assumption, the widest swing of costs first; [] without a runner-up.

    `margin`: USD of the cheapest other alternative / USD of the best, at the baseline and at both ends of the range;
    `flips`: another is the best within the range; `flip_value`, `flip_factor`: the nearest turning point, NaN beyond a
    factor of FURTHEST.
    """
    if question.runner_up is None:
        return []
    rival = question.choices[question.runner_up].option
    about = {"rival": rival, "rival_title": question.title_at(question.baseline, question.runner_up, 0)}
    rows = [_tornado_row(question, assumption) for assumption in question.parameters]
    # Rounded: where two swing by the same (months, days of use), the order must not depend on the last digit.
    rows.sort(key=lambda row: -round(np.nan_to_num(row["swing"]), 9))
    return [row | about for row in rows]


def _about(question: "DecisionProblem", assumption: Parameter) -> dict[str, Any]:
    columns = {name: getattr(assumption, name) for name in ("quantity", "unit", "value")}
    columns |= {"assumption": assumption.name, "subject": assumption.subject or None}
    return question.row_names | columns | {"best_title": question.title_at(question.baseline, question.best, 0)}


def _turning_row(question: "DecisionProblem", assumption: Parameter, turn: "TurningPoint") -> dict[str, Any]:
    return _about(question, assumption) | {
        "side": "above" if turn.factor > 1 else "below",
        "turning_value": assumption.value * turn.factor,
        "factor": turn.factor,
        "to_title": question.title(turn.to, turn.machines, turn.alternative),
        "boxes": int(turn.machines) if question.choices[turn.to].row["purchase"] == "own" else 0,
        "usd": turn.usd,
        "usd_per_month": turn.usd / question.months_at(assumption, turn.factor),
    }


def _tornado_row(question: "DecisionProblem", assumption: Parameter) -> dict[str, Any]:
    """Return columns of TORNADO for one assumption: USD and margins at its value, low and high, and turning point."""
    value, factor = assumption.value, question.nearest(assumption)
    costs = question.at(assumption, np.array([value, assumption.low, assumption.high]) / value)
    usd, rival_usd = (
        costs.usd[choices].min(axis=0, initial=np.inf) for choices in (question.incumbents, question.rivals)
    )
    with np.errstate(invalid="ignore"):  # Where nothing does the work both are infinite: there is no margin.
        margins = rival_usd / usd
    flips = bool(question.is_changed(costs)[1:].any())
    columns = {name: getattr(assumption, name) for name in ("low", "high", "range_basis")}
    for index, end in enumerate(("", "_low", "_high")):
        columns |= {f"usd{end}": usd[index], f"margin{end}": margins[index]}
    return _about(question, assumption) | columns | {
        "swing": abs(float(margins[2] - margins[1])),
        "flips": flips,
        "flip_value": factor * value,
        "flip_factor": factor,
    }  # fmt: skip


def pays_rows(workload: str, cases: Iterable[BreakEvenCase]) -> list[dict[str, Any]]:
    """Return rows of PAYS, one per machine or contract and quantity, all else at the baseline.

    `break_even_value`: value from which the machine costs no more than the cheapest rental; `pays_until`: value from
    which a further machine makes it more expensive again. The range that holds the baseline counts, else the first one;
    0: pays from the least value (1/FURTHEST) on; NaN: at no value. `_low`, `_high`: 90 % of the samples;
    `p_pays`: share of samples in which it pays at the baseline.
    """
    return [_pays_row(workload, case) for case in cases]


def _pays_row(workload: str, case: BreakEvenCase) -> dict[str, Any]:
    """Return PAYS by name for one case: the values from which and until which owning pays off, with a 90 % range."""
    lines, planned = case.difference, case.planned
    factor, until = (float(limit[0]) for limit in stretch(lines.planned, lines.factors, lines.jump))
    low, high = map(float, interval(stretch(lines.samples, lines.sample_factors, lines.sample_jump)[0]))
    values = {"break_even_value": factor, "break_even_low": low, "break_even_high": high, "pays_until": until}
    return {name: value * planned if np.isfinite(value) else np.nan for name, value in values.items()} | {
        "workload": workload,
        "model": None,
        "reference": case.option,
        "title": case.title,
        "quantity": case.quantity,
        "subject": case.assumption.subject or None,
        "assumption": case.name,
        "unit": case.unit,
        "planned": planned,
        "factor": factor if np.isfinite(factor) else np.nan,
        "p_pays": case.p_pays,
    }


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
    baseline = int(np.abs(np.log(factors)).argmin())
    last_without = np.where(pays[:, : baseline + 1], -1, index[: baseline + 1]).max(axis=1)
    first = np.where(pays[:, baseline], last_without + 1, pays.argmax(axis=1))
    after = ~pays & (index > first[:, None])
    last = np.where(after.any(axis=1), after.argmax(axis=1) - 1, index[-1])
    row, before = np.arange(first.size), np.maximum(first - 1, 0)
    height = difference[row, before]
    with np.errstate(divide="ignore", invalid="ignore"):
        drop = height - difference[row, first]
        crossing = factors[before] + height / drop * (factors[first] - factors[before])
    is_straight = ~jump[first] & np.isfinite(height)
    begin = np.where(first > 0, np.where(is_straight, crossing, factors[first]), 0.0)
    ever = pays.any(axis=1)
    end = np.where(ever & (last < factors.size - 1), factors[last], np.inf)
    return np.where(ever, begin, np.inf), end
