"""How a rental price may move in the months to come: four kinds of path, and the presets fitted to real paths."""

import re
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from sweetspot.study.base import Closed
from sweetspot.study.purchases import INTERRUPTIBLE
from sweetspot.study.terms import Share

# Losing all of it is no price; ten times today's is beyond every path of the history.
Change = Annotated[float, Field(strict=True, gt=-1, le=9)]
Rate = Annotated[float, Field(strict=True, ge=0, le=12)]
Spread = Annotated[float, Field(strict=True, gt=0, le=3)]
PresetName = Literal["hyperscaler", "small_cloud", "spot", "fixed"]


class Fixed(Closed):
    """A price that stays."""

    kind: Literal["fixed"] = Field(description="It stays where it is")


class Jumps(Closed):
    """A list price that stays until it is cut, all machines of a provider at once."""

    kind: Literal["jumps"] = Field(description="It stays until it jumps")
    per_year: Rate = Field(description="Jumps a year")
    change: Change = Field(description="Change at a jump, median: -0.33 is a cut by a third")
    change_low: Change = Field(description="Its 5 % end")
    change_high: Change = Field(description="Its 95 % end")


class Drift(Closed):
    """A price that changes by another factor every year, part of which all offers share."""

    kind: Literal["drift"] = Field(description="It changes every year")
    change_per_year: Change = Field(description="Change over a year, median: -0.03 falls by 3 %")
    low: Change | None = Field(None, description="5 % end of the change over a year; absent: it is certain")
    high: Change | None = Field(None, description="95 % end")
    market_share: Share = Field(
        0.0, description="Share of the variance of the logarithm that all offers have in common"
    )


class RandomWalk(Closed):
    """A price whose logarithm walks at random."""

    kind: Literal["random_walk"] = Field(description="It walks at random, without a drift")
    sd_log_year: Spread = Field(
        description="Standard deviation of the logarithm after 12 months; grows as sqrt(months)"
    )
    market_share: Share = Field(0.0, description="Share of the variance that all offers have in common")


Path = Fixed | Jumps | Drift | RandomWalk
Trend = Annotated[
    Annotated[PresetName, Tag("(preset)")] | Annotated[Annotated[Path, Field(discriminator="kind")], Tag("(own)")],
    Discriminator(lambda given: "(preset)" if isinstance(given, str) else "(own)"),
]

# `python -m research fit-price-paths` recomputes each number from facts/pools/prices-2026 (research/README.md).
PRESETS: dict[str, Path] = {
    "fixed": Fixed(kind="fixed"),
    "hyperscaler": Jumps(kind="jumps", per_year=0.13, change=-0.33, change_low=-0.46, change_high=-0.25),
    "small_cloud": Drift(kind="drift", change_per_year=-0.03, low=-0.40, high=0.27, market_share=0.2),
    "spot": RandomWalk(kind="random_walk", sd_log_year=0.51),
}
# Whose list prices the preset was fitted to. All others, OCI too, were among the smaller clouds of the fit.
HYPERSCALERS = ("aws", "azure", "gcp")
# Devices of training machines, whose list prices were cut, and their successors. No price of an older or smaller one
# (K520, K80, M60, P100, V100, T4, A10, L4, L40S) ever was.
CURRENT = re.compile(r"\b(A100|H100|H200|GH200|B200|GB200|B300|GB300|MI300X|MI325X|MI350X|MI355X)\b")


def preset_of(provider: str, purchase: str, gpu: str) -> PresetName:
    """The preset of an offer that states no trend, by who lets the machine and how it is paid.

    Interruptible: `spot`. Contracts and own machines: `fixed`. On demand: `hyperscaler` for AWS, Azure and Google, of
    which old devices are `fixed`; `small_cloud` for every other provider, known or not.
    """
    if purchase in INTERRUPTIBLE:
        return "spot"
    if purchase != "on_demand":
        return "fixed"
    if provider.lower() in HYPERSCALERS:
        return "hyperscaler" if CURRENT.search(gpu.upper()) else "fixed"
    return "small_cloud"


def named(trend: Trend) -> tuple[str, Path]:
    """The name for people of a trend, and what it says: a preset's name, or the kind of one's own."""
    return (trend, PRESETS[trend]) if isinstance(trend, str) else (f"own {trend.kind}", trend)
