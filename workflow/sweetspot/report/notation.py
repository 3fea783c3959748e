"""Numbers and bases as text for people, and the rows of tables that hold them."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from sweetspot.report import pd

Row = Mapping[str, Any]


class Basis(NamedTuple):
    """How a basis is shown: its sign, the shape of the charts that is like it, a word for a key, what it means."""

    sign: str
    shape: str
    word: str
    meaning: str


# Shapes, not colours alone, tell the bases apart.
SHOWN = {
    "measured": Basis("●", "circle", "measured here", "timed on this machine"),
    "own": Basis("◉", "triangle-down", "measured by ourselves", "timed by ourselves, outside this workflow"),
    "published": Basis("◆", "diamond", "published", "printed by somebody else"),
    "equivalent": Basis("■", "square", "of an equal machine", "another machine's figure, said to be equal"),
    "scaled": Basis(
        "▲", "triangle-up", "scaled up", "devices × the single-device figure × a published efficiency"
    ),
    "stand_in": Basis(
        "✚", "cross", "stand-in", "nearest published batch or precision of the same device and model"
    ),
    "transferred": Basis(
        "▶", "triangle-right", "from another device", "the same workload on another device, by the relation of the two"
    ),
    "extrapolated": Basis("◌", "circle", "predicted", "predicted for a machine nobody has measured"),
    "arithmetic": Basis(
        "✕", "stroke", "by arithmetic",
        "operations of the work by the share of a device's peak that published figures reach",
    ),
}  # fmt: skip
BASIS_SIGNS = {name: one.sign for name, one in SHOWN.items()}


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
        return str(amount).replace("inf", "∞").replace("-", "–")
    if amount == 0:
        return "0"
    places = max(0, digits - 1 - int(f"{amount:.{digits - 1}e}".split("e")[1]))  # 99.96 is rounded to 100
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
