"""The numbers of the price presets, recomputed from the history (research/README.md)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from research.rent_history import CLOUD, LIST, SERIES, SPOT, YEAR, series_of, windows

SPANS = (1, 3, 6, 12)
MOVED = 0.01  # a list price that changes by less is rounding, or another region
# Ages at which second-hand prices are put together, in years: few were sold at any one age.
BINS = {"data-centre": (1.0, 2.5, 4.5, 6.5, 8.5, 13.0), "gaming": (0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 8.5)}
# Of five to nine points the least and the most are all that is known of the ends; of hundreds 5 % and 95 %.
MANY = 20


class Cuts(NamedTuple):
    """List prices: `per_year` cuts a series and year, `sizes` of them (ascending), of `years` series-years."""

    series: int
    years: float
    sizes: tuple[float, ...]

    @property
    def per_year(self) -> float:
        """Changes a series and year."""
        return len(self.sizes) / self.years


class Yearly(NamedTuple):
    """Changes over a year: 5 %, median, 95 %, of so many windows and series."""

    low: float
    median: float
    high: float
    windows: int
    series: int


def list_cuts(history: pd.DataFrame, devices: str, inside: bool = True) -> Cuts:
    """Changes of hyperscalers' list prices by 1 % or more, of the devices that match a pattern (or do not)."""
    found, years, sizes = 0, 0.0, []
    for one in series_of(history, LIST):
        if bool(pd.Series([one.key[1]]).str.contains(devices)[0]) == inside:
            steps = one.prices[1:] / one.prices[:-1] - 1.0
            sizes += [float(step) for step in steps if abs(step) >= MOVED]
            years += float(one.times[-1] - one.times[0]) / YEAR
            found += 1
    return Cuts(found, years, tuple(sorted(sizes)))


def cloud_years(history: pd.DataFrame, strict: bool) -> Yearly:
    """Changes over 12 months of the smaller clouds' prices."""
    found = windows(series_of(history, CLOUD, strict))
    return _yearly(np.expm1(found["log_change"]), found.groupby(SERIES).ngroups)


def cloud_spans(history: pd.DataFrame) -> Yearly:
    """Change a year over the whole of each series of a year or more: one figure a series."""
    rates = [
        (one.prices[-1] / one.prices[0]) ** (YEAR / (one.times[-1] - one.times[0])) - 1.0
        for one in series_of(history, CLOUD, strict=True)
        if one.times[-1] - one.times[0] >= YEAR
    ]
    return _yearly(pd.Series(rates, dtype=float), len(rates))


def _yearly(changes: pd.Series, series: int) -> Yearly:
    low, median, high = changes.quantile([0.05, 0.5, 0.95])
    return Yearly(float(low), float(median), float(high), len(changes), series)


def market_share(found: pd.DataFrame, period: Sequence[float]) -> float:
    """Share of the variance of changes that all series of a period have in common (one-way analysis of variance).

    `period`: that of each window. A series counts once a period, by its mean: its windows overlap.
    """
    each = found.assign(period=list(period)).groupby(["period", *SERIES])["log_change"].mean().reset_index()
    groups = [part["log_change"].to_numpy() for _, part in each.groupby("period") if len(part) > 1]
    if len(groups) < 2:
        return 0.0
    sizes = np.array([len(part) for part in groups])
    total = sizes.sum()
    mean = sum(part.sum() for part in groups) / total
    between = sum(len(part) * (part.mean() - mean) ** 2 for part in groups) / (len(groups) - 1)
    within = sum(((part - part.mean()) ** 2).sum() for part in groups) / (total - len(groups))
    common = max(0.0, (between - within) / ((total - (sizes**2).sum() / total) / (len(groups) - 1)))
    return float(common / (common + within)) if common + within > 0 else 0.0


def cloud_market(history: pd.DataFrame) -> float:
    """`market_share` of the smaller clouds, by the calendar year in which a window begins."""
    found = windows(series_of(history, CLOUD, strict=True))
    return market_share(found, (found["start"] // YEAR).tolist())


def spot_spread(history: pd.DataFrame) -> dict[int, tuple[float, float, int]]:
    """Standard deviation and median of the change of the log of spot prices, and windows, by months."""
    found = {span: windows(series_of(history, SPOT), span)["log_change"] for span in SPANS}
    return {span: (float(log.std()), float(log.median()), len(log)) for span, log in found.items()}


def spot_market(history: pd.DataFrame) -> float:
    """`market_share` of spot prices over 3 months, by the month in which a window begins."""
    found = windows(series_of(history, SPOT), 3)
    return market_share(found, found["start"].tolist())


def resale_curve(resale: pd.DataFrame, kind: str) -> list[tuple[float, float, float, float, int]]:
    """Age, share of the new price (median, 5 %, 95 %) and points of each age group of a class of devices.

    The age is the median of the group's; its ends are the least and the most where the points are few.
    """
    rows, found = resale[resale["class"] == kind], []
    for first, last in zip(BINS[kind], BINS[kind][1:], strict=False):
        here = rows[(rows["age_years"] >= first) & (rows["age_years"] < last)]
        if len(here):
            share = here["ratio_to_new"].astype(float)
            ends = (0.05, 0.95) if len(share) >= MANY else (0.0, 1.0)
            low, high = share.quantile(list(ends))
            found.append(
                (float(here["age_years"].median()), float(share.median()), float(low), float(high), len(share))
            )
    return found
