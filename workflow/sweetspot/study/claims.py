"""What a study's text claims (claims.yaml): each claim is an expression over the study's result tables."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from sweetspot.errors import refuse
from sweetspot.study.base import Closed, Purchase, Slug, Text, not_once, validated
from sweetspot.study.yamlfile import load_yaml

# Functions that an expression may call, with their parameters; a name with "=" is an optional keyword.
FUNCTIONS = {
    "price": ("selector",),
    "offer": ("selector", "column"),
    "option": ("selector", "column", "but=", "model="),
    "rank": ("selector", "column", "among=", "model="),
    "dominated": ("selector", "among=", "model="),
    "bill": ("selector", "workload", "line=", "gpus="),
    "speed": ("instance", "model="),
    "mean_efficiency": ("model", "batch_size"),
    "extrapolated": ("instance", "model", "batch_size"),
}
MAXIMUM = 1e18  # No product of sane figures overflows.
SELECTORS = ("selector", "but=", "among=")
COUNTS = ("batch_size", "gpus=")
MEASURES = ("usd", "hours", "images_per_usd", "images_per_s")
COLUMNS = {
    "offer": ("usd_per_hour", "days_per_month", "downtime_share", "capex_usd", "fixed_usd_per_month",
              "energy_usd_per_hour", "variable_usd_per_hour"),
    "option": MEASURES,
    "rank": MEASURES
}  # fmt: skip

Label = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
ExpressionText = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)]


class Selector(Closed):
    """Which offers or options an expression means: every key that is given must match."""

    instance: Slug | None = None
    """One instance; without a purchase its persistent offer, if any"""
    purchase: Purchase | None = None
    """One way of paying"""
    provider: Slug | None = None
    """All instances of a provider"""
    price_list: Slug | None = None
    """All offers of a price list"""
    persistent: bool | None = None
    """true: nobody takes it away; false: spot or preemptible"""


class Claim(Closed):
    """One claim of a text and the expression that recomputes it."""

    id: Slug
    """Short name of the claim"""
    text: Text
    """What the text says, in one's own words"""
    let: dict[Label, Selector] = {}
    """Names of the selectors that the expression uses"""
    value: ExpressionText | None = Field(
        None, examples=["100 * price(spot) / price(on_demand)", 'option(rented, "usd") / option(box, "usd")']
    )
    """What is computed: numbers, ~ before one that was rounded when printed, + - * /, brackets and functions
    (docs/decision.md); absent: a statement that no table can check"""
    models: list[Slug] = []
    """Models it is said of, one value for each; absent: all"""
    printed: float | None = None
    """The number printed"""
    unit: Text | None = None
    """Its unit"""
    tolerance: float = Field(0.0, ge=0)
    """How far the recomputed number may lie from the printed one"""
    relation: Literal["equals", "at_least", "at_most"] = "equals"
    """at_least: 'more than'; the recomputed number may lie above the printed one"""
    checkable: bool = True
    """false: the recomputed number decides nothing (say why in reason)"""
    lead: bool = False
    """Whether it stands first on the page: what the source set out for"""
    borrowed_from: list[Text] = []
    """Other publications whose numbers stand in the expression"""
    source: Text
    """Where it is printed: the id of the publication, then the place"""
    reason: Text | None = None
    """One plain sentence: why the verdict is what it is"""


class Claims(Closed):
    """The claims of one text."""

    claims: list[Claim]


def parse_expression(text: str) -> ast.expr:
    """Return the syntax tree of a claim's expression, e.g. '~1.06 * price(vm)', to evaluate it. Else ValueError."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(text) from error


def load_claims(path: str | Path) -> list[Claim]:
    """Read claims.yaml: the numbers and statements of the study's text that are recomputed from its result tables. []
    without the file. UserError with file, claim and offending text.
    """
    file = Path(path)
    if not file.is_file():
        return []
    claims = validated(Claims, {"claims": load_yaml(file)}, file).claims
    repeated = not_once([claim.id for claim in claims], "claims")
    sentences = [f"{file}: expected {text}" for text in dict.fromkeys(repeated)]
    refuse(sentences + [f"{file}: claim {claim.id!r} has {text}" for claim in claims for text in _mistakes(claim)])
    return claims


def _mistakes(claim: Claim) -> Iterator[str]:
    """Yield a clause of the user's error message for each part of a claim's expression that is not allowed."""
    try:
        yield from () if claim.value is None else _mistakes_below(parse_expression(claim.value), claim)
    except (ValueError, RecursionError):
        yield f"the value {claim.value!r:.60}; expected one expression"


def _mistakes_below(node: ast.expr, claim: Claim) -> Iterator[str]:
    """Yield a clause of the user's error message for each part of the syntax tree `node` that a claim's expression may
    not have: only numbers, + - * /, brackets and FUNCTIONS are allowed, since it is evaluated.
    """
    parts: list[ast.expr] = []
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool) and number <= MAXIMUM:
            pass
        case ast.UnaryOp(op=ast.USub(), operand=part) | ast.UnaryOp(op=ast.Invert(), operand=ast.Constant() as part):
            parts = [part]
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            parts = [left, right]
        case ast.Call(func=ast.Name(id="count"), args=[_, *_] as conditions, keywords=[]):
            for condition in conditions:
                match condition:
                    case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[right]):
                        parts += [left, right]
                    case _:
                        yield f"the condition {_source(condition)}; expected one comparison by < or <="
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
            yield from _wrong_arguments(node, name, claim)
        case _:
            functions = ", ".join([*FUNCTIONS, "count"])
            yield f"{_source(node)}; expected numbers, ~numbers, + - * /, brackets and {functions}"
    for part in parts:
        yield from _mistakes_below(part, claim)


def _source(node: ast.expr) -> str:
    """Return the first 60 characters of an expression in quotes, for a sentence."""
    return repr(ast.unparse(node)[:60])


def _wrong_arguments(call: ast.Call, name: str, claim: Claim) -> Iterator[str]:
    """Yield a clause of the user's error message per argument of a claim's `call` that is not as in FUNCTIONS."""
    required = [parameter for parameter in FUNCTIONS[name] if not parameter.endswith("=")]
    keywords = {f"{keyword.arg}=": keyword.value for keyword in call.keywords}
    if len(call.args) != len(required) or not keywords.keys() <= {*FUNCTIONS[name]}:
        yield f"{_source(call)}; expected {name}({', '.join(FUNCTIONS[name])})"
        return
    for parameter, node in zip([*required, *keywords], [*call.args, *keywords.values()], strict=True):
        allowed = claim.let if parameter in SELECTORS else COLUMNS[name] if parameter == "column" else None
        value = getattr(node, "id" if parameter in SELECTORS else "value", None)
        if not isinstance(value, int if parameter in COUNTS else str) or (allowed is not None and value not in allowed):
            expected = "a number or text in quotes" if allowed is None else f"one of {', '.join(allowed)}"
            yield f"{parameter} {ast.unparse(node)} in {name}(); expected {expected}"
