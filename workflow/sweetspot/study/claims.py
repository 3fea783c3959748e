"""What a study's text claims, as data: one closed model a kind of claim (config/studies/<study>/claims.yaml)."""

import ast
import math
import operator
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, StringConstraints

from sweetspot.errors import refuse
from sweetspot.study.base import Closed, Purchase, Slug, Text, validated
from sweetspot.study.yamlfile import load_yaml

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


Measure = Literal["usd", "hours", "images_per_usd", "images_per_s"]
Printed = Annotated[str, StringConstraints(pattern=r"^[0-9]*[1-9][0-9]*(\.[0-9]+)?$|^[0-9]+\.[0-9]*[1-9][0-9]*$")]


class Choice(Closed):
    """Which options a claim speaks of; every key given must fit."""

    instance: Slug | None = Field(None, description="One instance")
    purchase: Purchase | None = Field(None, description="One way of paying")
    provider: Slug | None = Field(None, description="All instances of a provider")
    price_list: Slug | None = Field(None, description="All offers of a price list")
    persistent: bool | None = Field(None, description="true: nobody takes it away; false: spot or preemptible")


class Base(Closed):
    """What every claim has."""

    id: Slug = Field(description="Short name of the claim")
    text: Text = Field(description="What the text says, in one's own words")
    printed: float | None = Field(None, description="The number printed")
    unit: Text | None = Field(None, description="Its unit")
    tolerance: float = Field(0.0, ge=0, description="How far the recomputed number may lie from the printed one")
    rounded_inputs: list[Printed] = Field(
        [],
        description='Rounded figures that the value is proportional to, as printed ("1.06"); their rounding widens it',
    )
    relation: Literal["equals", "at_least", "at_most"] = Field(
        "equals", description="at_least: 'more than'; the recomputed number may lie above the printed one"
    )
    checkable: bool = Field(
        True,
        description="false: what is recomputed stands beside the printed number and decides nothing (see reason)",
    )
    lead: bool = Field(
        False, description="Whether it stands first on the page, printed beside recomputed: what the source set out for"
    )
    source: Text = Field(description="Where it is printed: the id of the publication, then the place")
    reason: Text | None = Field(None, description="One plain sentence: why the verdict is what it is")


class Published(Closed):
    """A throughput figure of another publication to set beside the claim."""

    model: Slug = Field(description="Model")
    images_per_s: float = Field(gt=0, description="Images a second printed there")
    batch_size: int = Field(gt=0, description="Batch per device")
    source: Text = Field(description="Where it is printed")


class Fact(Base):
    """A statement that no table can confirm or refute."""

    kind: Literal["fact"] = Field(description="The kind of claim that this is")


class Price(Base):
    """The hourly price of an offer."""

    kind: Literal["price"] = Field(description="The kind of claim that this is")
    of: Choice = Field(description="The offer")
    hours: float = Field(1.0, gt=0, description="Hours that the printed price covers")


class MonthlyCost(Base):
    """What an owned machine costs a month at its planned use."""

    kind: Literal["monthly_cost"] = Field(description="The kind of claim that this is")
    of: Choice = Field(description="The offer")
    part: Literal["all", "fixed", "electricity"] = Field("all", description="Which part of it")


class Composition(Base):
    """A price put together from a machine and its devices, the machine's share by the price of its siblings."""

    kind: Literal["composition"] = Field(description="The kind of claim that this is")
    vcpus: int = Field(gt=0, description="Virtual processors of the machine")
    siblings: list[tuple[int, float]] = Field(
        min_length=1, description="[vcpus, USD an hour] of machines of its family"
    )
    cards: int = Field(ge=0, description="Devices attached")
    usd_per_card_hour: float = Field(ge=0, description="Price of one device")


class PriceRatio(Base):
    """Price of one offer as a share of another's."""

    kind: Literal["price_ratio"] = Field(description="The kind of claim that this is")
    of: Choice = Field(description="The offer")
    to: Choice = Field(description="The offer it is compared with")
    as_discount: bool = Field(False, description="true: 1 - ratio, what is saved; false: what is paid")
    percent: bool = Field(False, description="Printed in percent")


class Ratio(Base):
    """How many times better an option is than another: USD other / one, all else one / other; models give a range."""

    kind: Literal["ratio"] = Field(description="The kind of claim that this is")
    measure: Measure = Field(description="The figure")
    of: Choice = Field(description="The option")
    to: Choice = Field(description="The options it is compared with; the best of them counts")
    models: list[Slug] = Field([], description="Models it is said of; none: all")
    stated_images_per_s: float | None = Field(None, gt=0, description="Throughput that the text itself gives `of`")
    published: list[Published] = Field([], description="Throughput of `to` printed elsewhere, to set beside the claim")
    within: tuple[float, float] | None = Field(None, description="Count the models whose ratio lies between the two")


class SmallestGain(Base):
    """Place of one model when the gain in images per USD of an option over another is ordered, least first."""

    kind: Literal["smallest_gain"] = Field(description="The kind of claim that this is")
    of: Choice = Field(description="The option")
    to: Choice = Field(description="The option it is compared with")
    model: Slug = Field(description="The model said to have the smallest gain")


class Saving(Base):
    """How much cheaper an option trains than the cheapest of others: 1 - USD / USD, in percent."""

    kind: Literal["saving"] = Field(description="The kind of claim that this is")
    of: Choice = Field(description="The option")
    to: Choice = Field(description="The options whose cheapest it is compared with")
    models: list[Slug] = Field([], description="Models it is said of; none: all")


class Rank(Base):
    """The place of an option in an order."""

    kind: Literal["rank"] = Field(description="The kind of claim that this is")
    measure: Measure = Field(description="usd and hours: least first; images per ...: most first")
    of: Choice = Field(description="The option")
    among: Choice = Field(Choice(), description="Who is ranked")
    without: Choice | None = Field(None, description="Who is left out of the ranking")
    models: list[Slug] = Field([], description="Models it is said of; none: all")


class Dominated(Base):
    """How many options are neither slower nor dearer than one, and better in one of both: 0 is the front."""

    kind: Literal["dominated"] = Field(description="The kind of claim that this is")
    of: Choice = Field(description="The option")
    among: Choice = Field(Choice(), description="The options that it is held against")
    models: list[Slug] = Field([], description="Models it is said of; none: all")


class BreakEven(Base):
    """Days of use a month from which the reference is cheaper by a factor than every one of the options."""

    kind: Literal["break_even"] = Field(description="The kind of claim that this is")
    against: Choice = Field(description="The options; the last to be beaten counts")
    factor: float = Field(1.0, gt=0, description="2: twice as cheap")
    models: list[Slug] = Field([], description="Models it is said of; none: all")


class GainAt(Base):
    """How many times cheaper the reference is at a number of days of use a month."""

    kind: Literal["gain_at"] = Field(description="The kind of claim that this is")
    against: Choice = Field(description="The option")
    days: float = Field(gt=0, le=31, description="Days of use a month")
    models: list[Slug] = Field([], description="Models it is said of; none: all")


class Extrapolated(Base):
    """A throughput that the study extrapolated, by a named method."""

    kind: Literal["extrapolated"] = Field(description="The kind of claim that this is")
    instance: Slug = Field(description="The machine")
    model: Slug = Field(description="The model")
    batch_size: int = Field(gt=0, description="Batch per device")
    method: Slug = Field("mean_efficiency", description="The method")


class MeanEfficiency(Base):
    """The mean of the study's efficiencies for a model and batch."""

    kind: Literal["mean_efficiency"] = Field(description="The kind of claim that this is")
    model: Slug = Field(description="The model")
    batch_size: int = Field(gt=0, description="Batch per device")


def _computes(value: str) -> str:
    evaluate(value)
    return value


Expression = Annotated[str, StringConstraints(max_length=200), AfterValidator(_computes)]


class Arithmetic(Base):
    """A figure that follows from other figures that the text prints; tables do not enter."""

    kind: Literal["arithmetic"] = Field(description="The kind of claim that this is")
    expression: Expression = Field(
        description="The text's own numbers with + - * / and brackets; ~ before one that was rounded when printed"
    )
    also: list[Text] = Field([], description="Other publications whose numbers stand in the expression")


class Counted(Base):
    """For how many of several things a figure of the text, computed from others that it prints, lies above a bound."""

    kind: Literal["counted"] = Field(description="The kind of claim that this is")
    expressions: dict[Text, Expression] = Field(min_length=1, description="Each thing's figure, as in `arithmetic`")
    above: float = Field(1.0, description="The bound")
    also: list[Text] = Field([], description="Other publications whose numbers stand in the expressions")


class Bill(Base):
    """What a workload costs with an offer, or one line of that bill."""

    kind: Literal["bill"] = Field(description="The kind of claim that this is")
    of: Choice = Field(description="The offer")
    workload: Slug = Field(description="The workload of workloads.yaml")
    gpus: int | None = Field(None, gt=0, description="Devices used, where the machine was measured with several counts")
    line: Text | None = Field(None, description="One line of the bill; absent: its total")
    minus: Choice | None = Field(None, description="An offer whose bill is taken away: what a term of billing adds")


class Idle(Base):
    """What a run pays for devices that stand idle: bill x (1 - utilisation x devices used / devices)."""

    kind: Literal["idle"] = Field(description="The kind of claim that this is")
    of: Choice = Field(description="The offer")
    workload: Slug = Field(description="The workload")
    gpus: int | None = Field(None, gt=0, description="Devices used, where the machine was measured with several counts")
    utilisation: float = Field(gt=0, le=1, description="Average utilisation of the devices used")
    cards: int = Field(1, gt=0, description="Devices in the machine")
    cards_used: int | None = Field(None, gt=0, description="Devices that the utilisation speaks of; absent: all")


class Recoup(Base):
    """Days of use until a bought machine's price is what the same work costs rented: capex / (hours p R / R_rented)."""

    kind: Literal["recoup"] = Field(description="The kind of claim that this is")
    of: Choice = Field(description="The bought machine")
    against: Choice = Field(description="The rented one")
    hours_per_day: float = Field(24.0, gt=0, le=24, description="Hours of use a day")
    models: list[Slug] = Field([], description="Models it is said of; none: all")


class ThroughputRatio(Base):
    """How many times faster one machine is than another, whether or not they are priced."""

    kind: Literal["throughput_ratio"] = Field(description="The kind of claim that this is")
    instance: Slug = Field(description="The machine")
    to: Slug = Field(description="The machine it is compared with")
    models: list[Slug] = Field([], description="Models it is said of; none: all")
    within: tuple[float, float] | None = Field(None, description="Count the models whose ratio lies between the two")


class Wins(Base):
    """For how many models an option is strictly better than the best of others."""

    kind: Literal["wins"] = Field(description="The kind of claim that this is")
    measure: Measure = Field(description="usd and hours: less is better; images per ...: more is better")
    of: Choice = Field(description="The option")
    to: Choice = Field(Choice(), description="The options it is compared with; the best of them counts")
    models: list[Slug] = Field([], description="Models it is said of; none: all")


Claim = Annotated[
    Fact | Price | MonthlyCost | Composition | PriceRatio | Ratio | SmallestGain | Saving | Rank | Dominated | BreakEven
    | GainAt | Extrapolated | MeanEfficiency | Arithmetic | Counted | Bill | Idle | Recoup | ThroughputRatio | Wins,
    Field(discriminator="kind"),
]  # fmt: skip


class Claims(Closed):
    """The claims of one text."""

    claims: list[Claim] = Field(description="Each claim with the kind that recomputes it")


def load_claims(path: str | Path) -> list[Claim]:
    """The claims of a study; none where it has no claims.yaml. Raises UserError naming file, key and value."""
    file = Path(path)
    if not file.is_file():
        return []
    data = load_yaml(file)
    claims = validated(Claims, {"claims": data}, file).claims
    repeated = [name for name, count in Counter(claim.id for claim in claims).items() if count > 1]
    refuse(f"{file}: id {name!r} stands twice; each claim needs its own" for name in repeated)
    return claims
