"""A warning is a pair (rule, message), kept as data from where it is found to the page."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np


class Warned(NamedTuple):
    """`rule`: a slug that programs and tables count by; `message`: a sentence for people."""

    rule: str
    message: str


def warning(rule: str, message: str) -> dict[str, str]:
    """The pair as it stands in a table's column `warnings`."""
    return {"rule": rule, "message": message}


def pairs(value: Any) -> list[Warned]:
    """The warnings in a cell of a table: a list, an array of pairs, or nothing."""
    if not isinstance(value, list | tuple | np.ndarray):
        return []  # None and NaN: a column that an older or empty table lacks
    return [Warned(str(pair["rule"]), str(pair["message"])) for pair in value]


def as_text(value: Any) -> str:
    """The messages of a cell, joined for a table that has no lists."""
    return "; ".join(dict.fromkeys(pair.message for pair in pairs(value)))


def joined(*values: Any) -> list[dict[str, str]]:
    """The warnings of several cells, each pair once, in order."""
    found: Iterable[Warned] = dict.fromkeys(pair for value in values for pair in pairs(value))
    return [warning(*pair) for pair in found]
