"""What every claim of a text has, and how it names the options that it speaks of."""

from typing import Literal

from pydantic import Field

from sweetspot.study.base import Closed, Slug, Text
from sweetspot.study.purchases import Purchase

Measure = Literal["usd", "hours", "images_per_usd", "images_per_s"]


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
    relation: Literal["equals", "at_least", "at_most"] = Field(
        "equals", description="at_least: 'more than'; the recomputed number may lie above the printed one"
    )
    source: Text = Field(description="Where it is printed")
    reason: Text | None = Field(None, description="What a reader should know beside the verdict")
