"""Claims of the cost studies: bills and their lines, idle devices, recouped purchases, wins, plain arithmetic."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from sweetspot.study.arithmetic import evaluate
from sweetspot.study.base import Slug, Text
from sweetspot.study.claim_base import Base, Choice, Measure


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
