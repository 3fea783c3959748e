"""Say of each claim of a text whether it holds, with what was recomputed."""

import math
from collections.abc import Sequence
from typing import Any

from sweetspot.claims.bill_checks import BILL_CHECKS
from sweetspot.claims.checks import OPTION_CHECKS
from sweetspot.claims.lookup import CannotCheckError, Evidence
from sweetspot.claims.words import sentences
from sweetspot.study import claims as kinds

HOLDS, FAILS, UNKNOWN, NOT_PRINTED = "holds", "does not", "cannot be checked", "not printed"
CHECKS = {**OPTION_CHECKS, **BILL_CHECKS}


def check_claims(claims: Sequence[kinds.Claim], evidence: Evidence) -> list[dict[str, Any]]:
    """One row a claim.

    Columns: id, kind, text, printed, computed, computed_low, computed_high, unit, source, `verdict` (holds, does not,
    cannot be checked, or not printed: recomputed, but the text gives no number) and `reason`. Said of several models,
    `computed` is the median over them, `computed_low` and `computed_high` their range; the claim holds if the printed
    number lies in that range widened by the claim's tolerance. A number that is not there is None.
    """
    return [_row(claim, evidence) for claim in claims]


def _row(claim: kinds.Claim, evidence: Evidence) -> dict[str, Any]:
    row = claim.model_dump(include={"id", "kind", "text", "printed", "unit", "source"})
    blank = {"computed": None, "computed_low": None, "computed_high": None}
    if isinstance(claim, kinds.Fact):
        return {**row, **blank, "verdict": UNKNOWN, "reason": claim.reason or "a statement, not a computed figure"}
    try:
        recomputed = CHECKS[type(claim)](claim, evidence)
    except CannotCheckError as missing:
        return {**row, **blank, "verdict": UNKNOWN, "reason": sentences(str(missing), claim.reason)}
    values = sorted(recomputed.values.values())
    reached = [value for value in values if math.isfinite(value)]
    several = len(values) > 1 or not reached
    spelled = ", ".join(f"{name} {_figure(value)}" for name, value in recomputed.values.items()) if several else None
    return {
        **row,
        "computed": _finite(_median(values)),
        "computed_low": _finite(values[0]),
        "computed_high": _finite(values[-1]),
        "verdict": _verdict(claim, reached),
        "reason": sentences(spelled, recomputed.note, claim.reason),
    }


def _verdict(claim: kinds.Claim, reached: Sequence[float]) -> str:
    if claim.printed is None:
        return NOT_PRINTED
    if not reached:
        return FAILS
    # 0.865 printed as 0.87 must not fail on the last digit of a float.
    slack = claim.tolerance + 1e-9 * max(1.0, abs(claim.printed))
    above, below = claim.printed >= min(reached) - slack, claim.printed <= max(reached) + slack
    return HOLDS if {"equals": above and below, "at_least": below, "at_most": above}[claim.relation] else FAILS


def _median(ordered: Sequence[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _figure(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "never"
