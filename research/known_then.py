"""What a buyer knew at the beginning of a month, and nothing later: prices, presets fitted to them, resale."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtrit
from sweetspot.bills.price_paths import EDGE
from sweetspot.study.trends import CURRENT, Drift, Jumps, Path, Point, RandomWalk

from research import path_fit
from research.rent_history import CLOUD, LIST, QUOTE, SERIES, SPOT, series_of, windows

DEVICES = CURRENT.pattern.replace("(", "(?:")
STALE = 12  # months after which a price that nobody has seen again is no offer
FEW = 20  # windows below which a reading says nothing
# Cuts of list prices that were known before 2018: Google, November 2017, P100 2.30 to 1.46 and K80 0.70 to 0.45.
EARLY_CUTS = (-0.365, -0.357)


@dataclass(frozen=True)
class Market:
    """Rents in USD per device and hour by (kind, provider), the presets by kind, points of the resale curve."""

    rents: dict[tuple[str, str], float]
    presets: dict[str, Path]
    resale: tuple[Point, ...]


def rents_at(history: pd.DataFrame, gpu: str, month: float) -> dict[tuple[str, str], float]:
    """The last price seen of each provider before a month, at most STALE months old; its cheapest machine."""
    rows = history[(history["gpu"] == gpu) & history["kind"].isin([LIST, CLOUD, QUOTE])]
    rows = rows[(rows["time"] <= month) & (rows["time"] >= month - STALE)]
    last = rows.sort_values("time").drop_duplicates(["kind", *SERIES], keep="last")
    found = last.groupby(["kind", "provider"])["usd_per_gpu_hour"].min()
    return {(str(kind), str(provider)): float(usd) for (kind, provider), usd in found.items()}


def presets_at(history: pd.DataFrame, month: float) -> dict[str, Path]:
    """The presets fitted to what was seen before a month; one of which too little was known is not among them.

    All series share a few market years. What those years show of the spread is widened to that of a t distribution with
    as many degrees of freedom as there are years.
    """
    seen = history[history["time"] < month]
    cuts = path_fit.list_cuts(seen, DEVICES)
    sizes = sorted((*cuts.sizes, *EARLY_CUTS))
    # Half a cut more than seen (Jeffreys): none in a few years does not mean never.
    jumps = Jumps(
        kind="jumps",
        per_year=(len(cuts.sizes) + 0.5) / max(cuts.years, 1.0),
        change=float(np.median(sizes)),
        change_low=sizes[0],
        change_high=sizes[-1],
    )
    found: dict[str, Path] = {"hyperscaler": jumps}
    for name, fit in (("small_cloud", _drift), ("spot", _walk)):
        path = fit(seen)
        if path is not None:
            found[name] = path
    return found


def widened(years: int) -> float:
    """95 % point of a t distribution over that of the normal one."""
    return float(stdtrit(years, 0.95)) / EDGE


def _drift(seen: pd.DataFrame) -> Drift | None:
    strict = windows(series_of(seen, CLOUD, strict=True))
    told = [path_fit.cloud_years(seen, strict=one) for one in (True, False)] if len(strict) >= FEW else []
    spans = path_fit.cloud_spans(seen) if told else None
    if spans is None:
        return None
    told += [spans] if spans.windows >= FEW else []
    median = spans.median if spans.windows >= FEW else float(np.mean([one.median for one in told]))
    wide = widened((strict["start"] // 12).nunique())
    low, high = (np.mean([np.log1p(getattr(one, end)) for one in told]) for end in ("low", "high"))
    centre = np.log1p(median)
    ends = [float(np.expm1(centre + wide * gap)) for gap in (min(low - centre, 0.0), max(high - centre, 0.0))]
    share = min(1.0, path_fit.cloud_market(seen))
    return Drift(kind="drift", change_per_year=median, low=ends[0], high=ends[1], market_share=share)


def _walk(seen: pd.DataFrame) -> RandomWalk | None:
    spread = path_fit.spot_spread(seen)
    yearly = [sd * np.sqrt(12 / span) for span, (sd, _, count) in spread.items() if count >= FEW]
    if not yearly:
        return None
    years = (windows(series_of(seen, SPOT), 1)["start"] // 12).nunique()
    return RandomWalk(kind="random_walk", sd_log_year=min(3.0, float(np.mean(yearly)) * widened(years)))


def resale_at(resale: pd.DataFrame, month: float) -> tuple[Point, ...]:
    """The resale curve of data-centre devices fitted to what was sold before a month."""
    found = path_fit.resale_curve(resale[resale["time"] < month], "data-centre")
    return tuple((age, *(min(1.0, share) for share in ends)) for age, *ends, _ in found)  # type: ignore[misc]


def market_at(history: pd.DataFrame, resale: pd.DataFrame, gpu: str, month: float) -> Market:
    """All of it at the beginning of a month."""
    return Market(rents_at(history, gpu, month), presets_at(history, month), resale_at(resale, month))


def server_at(servers: pd.DataFrame, gpu: str, month: float) -> float | None:
    """USD of a new server's device by the last quote before a month."""
    rows = servers[(servers["gpu"] == gpu) & (servers["time"] <= month)].sort_values("time")
    return float(rows["usd_per_gpu"].iloc[-1]) if len(rows) else None
