"""Numbers and bases as text for people, and the rows of tables that hold them."""

import math
from collections.abc import Mapping
from typing import Any

from sweetspot.report.heavy import pd

Row = Mapping[str, Any]

# Shapes, not colours alone, tell the bases apart; the charts use the same ones.
BASIS_SIGNS = {
    "measured": "●",
    "own": "◉",
    "published": "◆",
    "equivalent": "■",
    "scaled": "▲",
    "stand_in": "✚",
    "transferred": "▶",
    "extrapolated": "◌",
    "arithmetic": "✕",
}
BASIS_MEANING = {
    "measured": "timed on this machine",
    "own": "timed by ourselves, outside this workflow",
    "published": "printed by somebody else",
    "equivalent": "another machine's figure, said to be equal",
    "scaled": "devices × the single-device figure × a published efficiency",
    "stand_in": "nearest published batch or precision of the same device and model",
    "transferred": "the same workload on another device, by the relation of the two",
    "extrapolated": "predicted for a machine nobody has measured",
    "arithmetic": "operations of the work by the share of a device's peak that published figures reach",
}


def missing(value: object) -> bool:
    """Whether a cell holds nothing (None, NaN, NA)."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA refuses to be true or false
        return True


def number(value: object, digits: int = 3) -> str:
    """`digits` significant digits, whole from 100 on, thousands separated; a dash for nothing; text stays text."""
    if missing(value):
        return "–"
    if isinstance(value, str):
        return value
    amount = float(value)  # type: ignore[arg-type]
    if not math.isfinite(amount):
        return "∞" if amount > 0 else "–∞"
    if amount == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(amount))))
    told = f"{amount:,.{min(places, 6)}f}"
    return told.rstrip("0").rstrip(".") if "." in told and digits > 3 else told


def interval_text(low: object, high: object, digits: int = 3) -> str:
    """`low to high`, or nothing where both are missing; an open upper end is `never`."""
    if missing(low) and missing(high):
        return ""
    return f"{number(low, digits)} to {'never' if missing(high) else number(high, digits)}"


def text(value: object) -> str:
    """A value as text; nothing for a missing one."""
    return "" if missing(value) else str(value)


def records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """The rows of a table, each a dict by column."""
    names, columns = [str(name) for name in table.columns], [table[name].tolist() for name in table.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
