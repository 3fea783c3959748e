"""Decide of each claim of a text whether it holds, beside what was recomputed.

A claim that does not recompute is `contradicted` if the source itself prints every figure used. If a stand-in or
another publication's figure took part, it `differs`, which refutes nothing.
"""

import re
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import pandas as pd
import pyarrow as pa

from sweetspot.claims.expression import Expression
from sweetspot.claims.lookup import CannotCheckError, Lookup, UsedFigure, read_rows
from sweetspot.files import write_arrow
from sweetspot.study.claims import Claim

HOLDS, CONTRADICTED, DIFFERS = "holds", "contradicted", "differs"
UNKNOWN, NOT_PRINTED = "cannot be checked", "not printed"
FAILED = (CONTRADICTED, DIFFERS)
SOURCE_FIGURES = "the source's own figures"
SOURCE_BASES = ("published", "scaled")  # Printed by the source, or made of that by its own factors.
MACHINES_LISTED = 3  # The rest is counted.


@dataclass(frozen=True)
class CheckedClaim:
    """A claim of a study with its verdict and the recomputed number: one row of comparison/claims.parquet.

    `computed` is the median over models; `computed_low` and `computed_high` are the range over models and over the
    rounding of printed numbers. `rests_on` names the figures that the source itself does not print, `detail` the
    value of each model.
    """

    id: str
    text: str
    printed: float | None
    relation: str
    unit: str | None
    source: str
    lead: bool
    verdict: str
    reason: str
    computed: float | None = None
    computed_low: float | None = None
    computed_high: float | None = None
    rests_on: str | None = None
    detail: str | None = None


TYPES = {"lead": pa.bool_(), **dict.fromkeys(("printed", "computed", "computed_low", "computed_high"), pa.float64())}
SCHEMA = pa.schema([(column.name, TYPES.get(column.name, pa.string())) for column in fields(CheckedClaim)])


def check_claims(claims: Sequence[Claim], tables: Mapping[str, pd.DataFrame]) -> list[CheckedClaim]:
    """Return each claim with its verdict: does the number that a publication prints follow from the study's tables? It
    holds if every model gives the printed number or bound. `claims`: of the study, each with its tolerance; `tables`:
    its result tables by name.
    """
    publications = {re.split(r"[,:\s]", claim.source)[0] for claim in claims}
    rows = read_rows(tables)
    return [_check(claim, Lookup(rows), publications) for claim in claims]


def write_claims(rows: Sequence[CheckedClaim], path: str | Path) -> None:
    """Write checked claims to a Parquet file (comparison/claims.parquet), one row each."""
    write_arrow(pa.Table.from_pylist([asdict(row) for row in rows], schema=SCHEMA), path)


def _check(claim: Claim, lookup: Lookup, publications: Collection[str]) -> CheckedClaim:
    """Return a claim with its recomputed number and verdict, a row of claims.parquet, from what `lookup` finds.
    `publications`: names of all that the study cites.
    """
    fields_of_claim = claim.model_dump(include=set(SCHEMA.names) - {"reason"})
    if claim.value is None:
        return CheckedClaim(
            **fields_of_claim, verdict=UNKNOWN, reason=claim.reason or "A statement, not a computed figure"
        )
    try:
        values = Expression(claim.value, claim.let, claim.models, lookup).values()
    except CannotCheckError as missing:
        return CheckedClaim(**fields_of_claim, verdict=UNKNOWN, reason=str(missing))
    figures = [UsedFigure("figures", name, "published", name) for name in claim.borrowed_from]
    foreign = _describe_foreign([*lookup.used, *figures], publications)
    middle, low, high = zip(*values.values(), strict=True)
    verdict = _decide(claim, low, high, foreign)
    rests_on = foreign or SOURCE_FIGURES
    reason = claim.reason or f"Figures used: {rests_on}"
    if claim.reason and verdict == DIFFERS:
        reason += f"; used here: {foreign}"
    return CheckedClaim(
        **fields_of_claim,
        verdict=verdict,
        reason=reason,
        computed=statistics.median(middle),
        computed_low=min(low),
        computed_high=max(high),
        rests_on=rests_on,
        detail=", ".join(f"{model} {number.value:.4g}" for model, number in values.items() if model) or None,
    )


def _decide(claim: Claim, low: Sequence[float], high: Sequence[float], foreign: str) -> str:
    """Return the verdict on a claim: whether its printed number lies within the recomputed range of all models. `low`,
    `high`: ends of that range by model; `foreign`: figures that the source does not print, in words, or ''.
    """
    if not claim.checkable:
        return UNKNOWN
    if claim.printed is None:
        return NOT_PRINTED
    # 0.865 printed as 0.87 must not fail on the last digit of a float.
    slack = claim.tolerance + 1e-9 * max(1.0, abs(claim.printed))
    above = claim.printed >= max(low) - slack
    below = claim.printed <= min(high) + slack
    if {"equals": above and below, "at_least": below, "at_most": above}[claim.relation]:
        return HOLDS
    return DIFFERS if foreign else CONTRADICTED


def _describe_foreign(used: Sequence[UsedFigure], publications: Collection[str]) -> str:
    """Return text on used figures that no publication prints, e.g. 'speed of p3.2xlarge (stand-in)', or ''.

    Where it is not empty a failed claim only `differs`. `publications`: names of all that the study cites.
    """
    machines: dict[tuple[str, str], list[str]] = {}
    for figure in used:
        names = machines.setdefault((figure.kind, _foreign_origin(figure, publications)), [])
        if figure.name not in names:
            names.append(figure.name)
    groups = []
    for (kind, origin), names in machines.items():
        rest = len(names) - MACHINES_LISTED
        listed = ", ".join(names) if rest <= 1 else f"{', '.join(names[:MACHINES_LISTED])} and {rest} more"
        if origin:
            groups.append(f"{kind} of {listed}" + (f" ({origin})" if names != [origin] else ""))
    return "; ".join(groups)


def _foreign_origin(figure: UsedFigure, publications: Collection[str]) -> str:
    """Return where a figure is from that none of `publications` prints: its basis ('stand-in') or its source; or ''."""
    if figure.basis not in SOURCE_BASES:
        return figure.basis.replace("_", "-") or "no basis"
    parts = (figure.source.strip(" ;") or "no source").split(";")
    foreign_parts = [part for part in parts if not any(name in part for name in publications)]
    return re.split(r"[,:(]", foreign_parts[0])[0].strip() if foreign_parts else ""
