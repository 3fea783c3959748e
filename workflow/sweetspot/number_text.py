"""Numbers as people type them: one grammar for flags and for short texts such as '1.5B tokens'."""

import math
import re

from sweetspot.errors import UserError

NUMBER = r"[+-]?\d[\d.,]*(?:e[+-]?\d+)?|[+-]?\.\d+(?:e[+-]?\d+)?"
"""What `parse_number` may accept, without groups, for patterns of longer texts; matched without regard to case."""

_WITH_POINT = re.compile(r"([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d*)?|\.\d+", re.ASCII)
_WITH_COMMA = re.compile(r"\d+(\.\d{3})*,\d+", re.ASCII)
_SHAPE = re.compile(r"(?P<sign>[+-]?)(?P<digits>[\d.,]+)(?P<exponent>e[+-]?\d+)?", re.IGNORECASE)
# One comma with three digits behind it: a thousand to some, a decimal to others.
_AMBIGUOUS = re.compile(r"[1-9]\d{0,2},\d{3}")


def parse_number(text: str, name: str) -> float:
    """Parse a finite number as people type it, e.g. '1200', '1.5', '1,5', '2.8e8', '1,234,567' or '1.234,5'; spaces
    are ignored. A comma is a decimal comma unless it separates groups of three digits. Raises UserError, which calls
    the number `name` (e.g. '--rate'), for another text and for one such as '1,500', which can be read in two ways.
    """
    shape = _SHAPE.fullmatch(text.strip())
    digits = shape["digits"] if shape else ""
    if _AMBIGUOUS.fullmatch(digits):
        clear = f"{digits.replace(',', '')} or {digits.replace(',', '.')}"
        raise UserError(f"{name} is {digits!r}, which can be read in two ways; write {clear}")
    if _WITH_POINT.fullmatch(digits):
        number = digits.replace(",", "")
    elif _WITH_COMMA.fullmatch(digits):
        number = digits.replace(".", "").replace(",", ".")
    else:
        raise UserError(f"{name} is {text.strip()!r}; expected a number such as 1200, 1.5 or 2.8e8")
    value = float(f"{shape['sign']}{number}{shape['exponent'] or ''}") if shape else math.nan
    if not math.isfinite(value):
        raise UserError(f"{name} is {text.strip()!r}; expected a finite number")
    return value
