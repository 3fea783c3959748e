"""A warning is a pair (rule, message), kept as data from where it is found to the page. In a table the column
`warnings` (`..._warnings` in a joined one) holds a list of pairs, written as Arrow list<struct<rule: string, message:
string>>. An empty list means none. Nobody reads a rule back out of a message.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa


class Warned(NamedTuple):
    """`rule`: a slug that programs and tables count by; `message`: a sentence for people."""

    rule: str
    message: str


def warning(rule: str, message: str) -> dict[str, str]:
    """Return a warning as the dict with keys `rule` and `message` that a table's column `warnings` holds."""
    return {"rule": rule, "message": message}


def pairs(value: Any) -> list[Warned]:
    """Return the (rule, message) warnings in one cell of a column `warnings`; [] for None, NaN."""
    if isinstance(value, str):
        raise TypeError(f"a warning is a pair of rule and message, not the text {value!r}")
    if not hasattr(value, "__len__"):
        return []  # None and NaN: a column that an older or empty table lacks
    return [Warned(str(pair["rule"]), str(pair["message"])) for pair in value]


def as_text(value: Any) -> str:
    """Return the warnings of one cell as a text, `rule: message; rule: message`, for a CSV file or a page."""
    return "; ".join(dict.fromkeys(f"{pair.rule}: {pair.message}" for pair in pairs(value)))


def joined(*values: Any) -> list[dict[str, str]]:
    """Return the warnings of several cells as one list of dicts {rule, message}, each once, in order."""
    unique: Iterable[Warned] = dict.fromkeys(pair for value in values for pair in pairs(value))
    return [warning(*pair) for pair in unique]


def arrow_type() -> "pa.DataType":
    """Return the Arrow type of a column `warnings`; needed where every list is empty."""
    import pyarrow as pa

    return pa.list_(pa.struct([("rule", pa.string()), ("message", pa.string())]))
