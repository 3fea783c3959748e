"""Sums and products of printed numbers, evaluated without running anything else.

`~` before a number says that it was rounded when printed: ~3.3 is anything from 3.25 to 3.35, ~0.90 from 0.895 to
0.905. A number without it is exact: a tariff, a count, the hours of a day.
"""

import ast
import math
import operator
from collections.abc import Callable
from typing import NamedTuple

OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Range(NamedTuple):
    """The value of the numbers as printed, and the lowest and highest that their rounding allows."""

    value: float
    low: float
    high: float


def evaluate(expression: str) -> float:
    """The value of numbers joined by + - * / and brackets, as printed. Raises ValueError as `spread`."""
    return spread(expression).value


def spread(expression: str) -> Range:
    """The value and range of numbers joined by + - * / and brackets; interval arithmetic over those marked `~`.

    Each `~` number counts for itself, so the same one written twice widens the range twice. Raises ValueError for
    anything else, for x / 0, and for a divisor whose range holds 0.
    """
    text = expression.strip()
    try:
        return _value(ast.parse(text, mode="eval").body, text)
    except (SyntaxError, ZeroDivisionError, RecursionError, MemoryError):
        raise ValueError(f"numbers with + - * / and brackets, found {expression[:60]!r}") from None


def half_a_digit(printed: str) -> float:
    """Half a unit of the last digit printed: 0.005 for 1.06, 0.05 for 3.0, 0.5 for 167."""
    _, _, decimals = printed.partition(".")
    return 0.5 * 10.0 ** -len(decimals)


def _value(node: ast.expr, text: str) -> Range:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return Range(float(number), float(number), float(number))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return _joined(OPERATORS[type(op)], _value(left, text), _value(right, text))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value, low, high = _value(operand, text)
            return Range(-value, -high, -low)
        case ast.UnaryOp(op=ast.Invert(), operand=ast.Constant(value=int() | float() as number) as literal):
            half = half_a_digit(ast.get_source_segment(text, literal) or "")
            return Range(float(number), number - half, number + half)
    raise ValueError("numbers with + - * / and brackets only")


def _joined(join: Callable[[float, float], float], left: Range, right: Range) -> Range:
    if join is operator.truediv and right.low <= 0 <= right.high:
        raise ZeroDivisionError
    ends = [join(one, other) for one in (left.low, left.high) for other in (right.low, right.high)]
    found = Range(join(left.value, right.value), min(ends), max(ends))
    if not all(math.isfinite(end) for end in found):
        raise ZeroDivisionError
    return found
