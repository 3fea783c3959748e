"""Whose figures a claim rests on: the source's own, or stand-ins and figures of other publications.

A claim that does not recompute is refuted only if every figure that the check used is printed by the source itself.
That follows from the basis and the source of the rows used, not from a mark on the claim.
"""

import re
from collections.abc import Iterable, Sequence

from sweetspot.claims.lookup import Figure, Row
from sweetspot.study.claims import Base

OWN = "the source's own figures"
# What a figure of the source itself may be: printed there, or made of such by its own factors.
OWN_BASES = ("published", "scaled")
NAMED = 3  # machines named before the rest is counted


def cited(claims: Iterable[Base]) -> frozenset[str]:
    """The publications whose claims these are: the first word of each claim's source."""
    return frozenset(re.split(r"[,:\s]", claim.source, maxsplit=1)[0] for claim in claims)


def foreign(figures: Iterable[Figure], own: frozenset[str]) -> list[str]:
    """In words, the figures that the publications `own` do not print: each kind of origin with what it is used for."""
    origins: dict[tuple[str, str], list[str]] = {}
    for figure in dict.fromkeys(figures):
        origin = _foreign_origin(figure, own)
        if origin is not None:
            names = origins.setdefault((figure.kind, origin), [])
            names += [figure.name] if figure.name not in names else []
    return [
        f"{kind} of {_together(names)}" + (f" ({origin})" if names != [origin] else "")
        for (kind, origin), names in origins.items()
    ]


def _foreign_origin(figure: Figure, own: frozenset[str]) -> str | None:
    """Why a figure is not the source's own: its basis, or the first link of its chain that names none of `own`."""
    if figure.basis not in OWN_BASES:
        return figure.basis.replace("_", "-") or "no basis"
    parts = [part for part in figure.source.split(";") if part.strip()]
    others = [part for part in parts if not any(name in part for name in own)]
    if parts and not others:
        return None
    return re.split(r"[,:(]", others[0], maxsplit=1)[0].strip() if others else "no source"


def _together(names: Sequence[str]) -> str:
    if len(names) <= NAMED + 1:
        return ", ".join(names)
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"


def sourced(kind: str, rows: Iterable[Row]) -> tuple[Figure, ...]:
    """The figures that rows of offers, costs, throughput or efficiency are."""
    return tuple(dict.fromkeys(_figure(kind, row, "basis", "source") for row in rows))


def speeds(options: Iterable[Row]) -> tuple[Figure, ...]:
    """The speeds of options."""
    return tuple(dict.fromkeys(_figure("speed", row, "throughput_basis", "throughput_source") for row in options))


def _figure(kind: str, row: Row, basis: str, source: str) -> Figure:
    return Figure(kind, row["instance"], row.get(basis) or "", row.get(source) or "")
