"""Say of each claim of a text whether it holds, with what was recomputed.

A claim that does not recompute is `contradicted` if every figure used is printed by the source itself. If a stand-in or
another publication's figure took part, it `differs` from what these make of it, which refutes nothing.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Any

from sweetspot.claims.checks import CHECKS
from sweetspot.claims.lookup import OWN, CannotCheckError, Evidence, cited, foreign, sentences
from sweetspot.study import claims as kinds
from sweetspot.study.claims import half_a_digit

HOLDS, CONTRADICTED, DIFFERS = "holds", "contradicted", "differs"
UNKNOWN, NOT_PRINTED = "cannot be checked", "not printed"
FAILED = (CONTRADICTED, DIFFERS)


def check_claims(claims: Sequence[kinds.Claim], evidence: Evidence) -> list[dict[str, Any]]:
    """One row a claim.

    Columns: id, kind, text, lead (it stands first on the page), printed, relation (equals, at_least, at_most of what is
    recomputed to that), computed, computed_low, computed_high, unit, source, `verdict` (holds, contradicted, differs,
    cannot be checked, or not printed: recomputed, but the text gives no number), `reason` (one sentence), `rests_on`
    (the figures used that are not the source's own, or OWN) and `detail` (values by model, what was compared).
    Said of several models, `computed` is the median over them; `computed_low` and `computed_high` are the range over
    models and over the rounding of the printed numbers used. The claim holds if the printed number comes out for each
    model, within that rounding and the claim's tolerance. A number that is not there is None.
    """
    own = cited(claims)
    return [_row(claim, evidence, own) for claim in claims]


def _row(claim: kinds.Claim, evidence: Evidence, own: frozenset[str]) -> dict[str, Any]:
    row = claim.model_dump(include={"id", "kind", "text", "printed", "relation", "unit", "source", "lead"})
    blank = {"computed": None, "computed_low": None, "computed_high": None, "rests_on": None, "detail": None}
    if isinstance(claim, kinds.Fact):
        return {**row, **blank, "verdict": UNKNOWN, "reason": claim.reason or "A statement, not a computed figure"}
    try:
        recomputed = CHECKS[type(claim)](claim, evidence)
    except CannotCheckError as missing:
        return {**row, **blank, "verdict": UNKNOWN, "reason": str(missing)}
    values = sorted(recomputed.values.values())
    reached = [value for value in values if math.isfinite(value)]
    several = len(values) > 1 or not reached
    spelled = ", ".join(f"{name} {_figure(value)}" for name, value in recomputed.values.items()) if several else None
    ends = _widened(claim, *(recomputed.ends or (reached[0], reached[-1]))) if reached else None
    others = foreign(recomputed.figures, own)
    each = [recomputed.ends] if recomputed.ends else [(value, value) for value in values]
    verdict = _verdict(claim, [_widened(claim, *pair) for pair in each], others)
    return {
        **row,
        "computed": _finite(statistics.median(values)),
        "computed_low": ends[0] if ends and math.isfinite(values[0]) else None,
        "computed_high": ends[1] if ends and math.isfinite(values[-1]) else None,
        "verdict": verdict,
        "reason": _reason(claim, verdict, others, recomputed.note),
        "rests_on": "; ".join(others) or OWN,
        "detail": sentences(spelled, recomputed.note) or None,
    }


def _widened(claim: kinds.Claim, low: float, high: float) -> tuple[float, float]:
    """The ends of a value stretched by the rounding of the printed figures that it is proportional to."""
    for printed in claim.rounded_inputs:
        share = half_a_digit(printed) / float(printed)
        low, high = min(low * (1 - share), low * (1 + share)), max(high * (1 - share), high * (1 + share))
    return low, high


def _verdict(claim: kinds.Claim, each: Sequence[tuple[float, float]], others: Sequence[str]) -> str:
    """`each`: ends of the recomputed values, inf where one is never reached; `others`: figures not of the source."""
    if not claim.checkable:
        return UNKNOWN
    if claim.printed is None:
        return NOT_PRINTED
    # 0.865 printed as 0.87 must not fail on the last digit of a float.
    slack = claim.tolerance + 1e-9 * max(1.0, abs(claim.printed))
    above = all(claim.printed >= low - slack for low, _ in each)
    below = all(claim.printed <= high + slack for _, high in each)
    if {"equals": above and below, "at_least": below, "at_most": above}[claim.relation]:
        return HOLDS
    return DIFFERS if others else CONTRADICTED


def _reason(claim: kinds.Claim, verdict: str, others: Sequence[str], how: str | None) -> str:
    """One sentence for a reader of the source: the claim's own, or one made from the verdict."""
    used = "; ".join(others)
    if claim.reason:
        return f"{claim.reason}; used here: {used}" if verdict == DIFFERS else claim.reason
    if verdict == HOLDS:
        return f"It comes out with the {used}" if others else how or f"It comes out of {OWN}"
    if verdict == DIFFERS:
        return f"The source does not print the {used}, with which it comes out otherwise"
    return "The source prints no number for it" if verdict == NOT_PRINTED else how or "Nothing is computed from it"


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _figure(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "never"
