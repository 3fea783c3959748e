"""Evaluate a claim's expression: interval arithmetic over printed numbers and figures of the result tables."""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sweetspot.claims.lookup import CannotCheckError, Lookup
from sweetspot.study.claims import FUNCTIONS, Selector, parse_expression

Operation = Callable[[float, float], float]
OPERATIONS: dict[type[ast.operator], Operation] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
COMPARISONS: dict[type[ast.cmpop], Operation] = {ast.Lt: operator.lt, ast.LtE: operator.le}


class RoundedNumber(NamedTuple):
    """A computed value with the lowest and highest values that the rounding of printed numbers allows."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Expression:
    """The expression of a claim, such as `option(a, "usd") / ~1.06`, with all that is needed to evaluate it.

    `text`: as `load_claims` accepts it; `let`: selectors by the names that it uses; `models`: to evaluate it for,
    empty: all with a priced option; `lookup`: the functions that it may call.
    """

    text: str
    let: Mapping[str, Selector]
    models: Sequence[str]
    lookup: Lookup

    def values(self) -> dict[str, RoundedNumber]:
        """Return {model: value with bounds} of the claim's expression, to hold it against what was printed. {"": value}
        if it uses no figure of a model. Raises CannotCheckError if a figure is missing or a divisor may be 0.
        """
        return self._by_model(parse_expression(self.text))

    def _by_model(self, node: ast.expr) -> dict[str, RoundedNumber]:
        if not _uses_model(node):
            return {"": self._value(node, "")}
        return {model: self._value(node, model) for model in self.models or self.lookup.models()}

    def _value(self, node: ast.expr, model: str) -> RoundedNumber:
        """Return the value (with bounds) of a node of the parsed expression for a model's key or ''; recursive."""
        match node:
            case ast.Constant(value=int() | float() as number):
                return RoundedNumber(number, number, number)
            case ast.UnaryOp(op=ast.Invert(), operand=literal):
                printed = ast.get_source_segment(self.text, literal) or ""
                number = float(printed)
                half_a_digit = 0.5 * 10.0 ** -len(printed.partition(".")[2])  # 0.005 for 1.06, 0.5 for 167
                return RoundedNumber(number, number - half_a_digit, number + half_a_digit)
            case ast.UnaryOp(operand=operand):
                value, low, high = self._value(operand, model)
                return RoundedNumber(-value, -high, -low)
            case ast.BinOp(left=left, op=op, right=right):
                return _combine(OPERATIONS[type(op)], self._value(left, model), self._value(right, model))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                holds, smaller, larger = COMPARISONS[type(op)], self._value(left, model), self._value(right, model)
                # 1 or 0: by value, surely (low) and possibly (high).
                return RoundedNumber(
                    holds(smaller.value, larger.value),
                    holds(smaller.high, larger.low),
                    holds(smaller.low, larger.high),
                )
            case ast.Call(func=ast.Name(id="count"), args=conditions):
                outcomes = [outcome for condition in conditions for outcome in self._by_model(condition).values()]
                return RoundedNumber(*map(sum, zip(*outcomes, strict=True)))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                options = {keyword.arg or "": self._argument(keyword.value) for keyword in keywords}
                if "model=" in FUNCTIONS[name]:
                    options.setdefault("model", model)
                number = getattr(self.lookup, name)(*map(self._argument, arguments), **options)
                return RoundedNumber(number, number, number)
        raise ValueError(self.text)

    def _argument(self, node: ast.expr) -> Any:
        return self.let[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node)


def _uses_model(node: ast.AST) -> bool:
    """Return whether a parsed expression depends on the model, so that it is evaluated for each: a call names none."""
    match node:
        case ast.Call(func=ast.Name(id=name), keywords=keywords):
            return "model=" in FUNCTIONS.get(name, ()) and all(keyword.arg != "model" for keyword in keywords)
    return any(map(_uses_model, ast.iter_child_nodes(node)))


def _combine(operation: Operation, first: RoundedNumber, second: RoundedNumber) -> RoundedNumber:
    if operation is operator.truediv and second.low <= 0 <= second.high:
        raise CannotCheckError("a divisor may be 0")
    corners = [operation(a, b) for a in (first.low, first.high) for b in (second.low, second.high)]
    return RoundedNumber(operation(first.value, second.value), min(corners), max(corners))
