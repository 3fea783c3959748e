"""How prices move: paths of rents in the months to come, what a machine is worth later, and presets fitted to both."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import Discriminator, Field, Tag

from sweetspot.cells import INTERRUPTIBLE
from sweetspot.facts.shipped_tables import table
from sweetspot.study.base import Closed, Share

Years = Annotated[float, Field(ge=0, le=20)]
Point = Annotated[tuple[Years, Share, Share, Share], Field(strict=False)]
# Losing all of it is no price; three times today's is beyond every path of the history.
Change = Annotated[float, Field(gt=-1, le=2)]
CurveName = Literal["data-centre", "gaming"]

# (years since the device came out, share of its new price: median, low, high), from (0, 1). `python -m research
# fit-price-paths` recomputes them from facts/pools/prices-2026/resale.csv. Shares above 1 were seen (shortage);
# nobody may plan with more than 1.
CURVES: dict[str, list[list[float]]] = {
    curve: [
        [float(row[name]) for name in ("years", "share", "low", "high")]
        for row in table("resale_curves")
        if row["curve"] == curve
    ]
    for curve in get_args(CurveName)
}


class Resale(Closed):
    """A machine sold at the end of the project at a share of its price that falls with its age."""

    curve: CurveName | None = None
    """Curve by age: data-centre or gaming devices (docs/studies.md)"""
    points: list[Point] = []
    """A curve of one's own: [years, share of the new price, its 5 % end, its 95 % end], by age"""
    share: Share
    """Share of the purchase that the curve is of: of a whole server less than 1, such as its devices"""
    age_years: Years = 0.0
    """Years since the device came out, when it is bought: curves count from there"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message per mistake: not one of curve and points, points out of order."""
        if (self.curve is None) == (not self.points):
            yield "one of curve, points"
        ages = [point[0] for point in self.points]
        if ages != sorted({*ages} - {0.0}):
            yield f"points by ascending years, found {ages}"
        for years, share, low, high in self.points:
            if not low <= share <= high:
                yield f"low <= share <= high at {years:g} years, found {low:g}, {share:g}, {high:g}"

    def by_years(self) -> list[Point]:
        """Return the resale value by time: (years since the purchase; median, low, high share of its price) each."""
        import numpy as np

        curve = np.array([(0.0, 1.0, 1.0, 1.0), *(CURVES[self.curve] if self.curve else self.points)])
        ages = np.append(self.age_years, curve[curve[:, 0] > self.age_years, 0])  # linear between points, flat beyond
        shares = [self.share * np.interp(ages, curve[:, 0], column) for column in curve.T[1:]]
        return list(map(tuple, np.column_stack([ages - self.age_years, *shares]).tolist()))


PresetName = Literal["hyperscaler", "small_cloud", "spot", "fixed"]


class Fixed(NamedTuple):
    """A price that stays the same."""

    kind: str


class Jumps(NamedTuple):
    """A list price that is cut now and then, for all machines of a provider at once; a change, its 5 and 95 % end."""

    kind: str
    per_year: float
    change: float
    change_low: float
    change_high: float


class RandomWalk(NamedTuple):
    """A price whose logarithm walks at random: its deviation after 12 months, and the share common to all offers."""

    kind: str
    sd_log_year: float
    market_share: float = 0.0


class Drift(Closed):
    """A price that changes by another factor every year, part of which all offers share."""

    kind: Literal["drift"]
    """It changes every year"""
    change_per_year: Change
    """Change over a year, median: -0.03 falls by 3 %"""
    low: Change | None = None
    """5 % end of the change over a year; absent: it is certain"""
    high: Change | None = None
    """95 % end"""
    market_share: Share = 0.0
    """Share of the variance of the logarithm that all offers have in common"""


Path = Fixed | Jumps | Drift | RandomWalk
Trend = Annotated[
    Annotated[PresetName, Tag("(preset)")] | Annotated[Drift, Tag("(own)")],
    Discriminator(lambda trend: "(preset)" if isinstance(trend, str) else "(own)"),
]

# `python -m research fit-price-paths` recomputes each number from facts/pools/prices-2026 (research/README.md).
PRESETS: dict[str, Path] = {
    "fixed": Fixed("fixed"),
    "hyperscaler": Jumps("jumps", per_year=0.13, change=-0.33, change_low=-0.46, change_high=-0.25),
    "small_cloud": Drift(kind="drift", change_per_year=-0.03, low=-0.40, high=0.27, market_share=0.2),
    "spot": RandomWalk("random_walk", sd_log_year=0.51),
}
# Whose list prices the preset was fitted to. All others, OCI too, were among the smaller clouds of the fit.
HYPERSCALERS = ("aws", "azure", "gcp")
# Devices of training machines, whose list prices were cut, and their successors. No price of an older or smaller one
# (K520, K80, M60, P100, V100, T4, A10, L4, L40S) ever was.
CURRENT = re.compile(r"\b(A100|H100|H200|GH200|B200|GB200|B300|GB300|MI300X|MI325X|MI350X|MI355X)\b")


def preset_of(provider: str, purchase: str, gpu: str) -> PresetName:
    """Return the name in PRESETS of how an offer's price moves in future, for an offer that states no trend.

    Parameters
    ----------
    provider, purchase, gpu
        Who rents out the machine, how it is paid and its device. Contracts, own machines and such are `fixed`.
    """
    if purchase in INTERRUPTIBLE:
        return "spot"
    if purchase != "on_demand":
        return "fixed"
    if provider.lower() in HYPERSCALERS:
        return "hyperscaler" if CURRENT.search(gpu.upper()) else "fixed"
    return "small_cloud"
