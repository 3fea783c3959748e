"""What every claim of a text has, and how it names the options that it speaks of."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from sweetspot.study.base import Closed, Slug, Text
from sweetspot.study.purchases import Purchase

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
