"""How often the rent of the next 12 months lay in the band that presets fitted on earlier years gave."""

from typing import Any

import numpy as np
import pandas as pd
from sweetspot.bills.price_paths import mean_of_months, sampled_path
from sweetspot.study.trends import PRESETS, Drift, Fixed, Jumps, Path, RandomWalk

from research.known_then import DEVICES, presets_at
from research.rent_history import CLOUD, LIST, SPOT, YEAR, Series, series_of

LEVEL, DRAWS = 0.90, 4000
KINDS = {LIST: "hyperscaler", CLOUD: "small_cloud", SPOT: "spot"}
ALL_YEARS = "all"


def coverage(history: pd.DataFrame, first_year: int) -> pd.DataFrame:
    """One row a kind and start year, and one for all years: `inside`, the share of series-years in the band.

    The band of a start year is that of presets fitted to what was seen before it; `shipped`: of the presets that the
    program ships, which know all years. A series counts once a year, by the share of its windows inside: they overlap.
    Where too little was known to fit anything, `inside` is null and the year does not count among all.
    """
    rows = []
    last = int(history["time"].max()) // YEAR
    for year in range(first_year, last + 1):
        known = presets_at(history, year * YEAR)
        for kind, name in KINDS.items():
            for one in series_of(history, kind, strict=kind == CLOUD):
                starts = [start for start in one.starts(YEAR) if start // YEAR == year]
                if starts:
                    past, shipped = (_of(preset, name, one) for preset in (known.get(name), PRESETS[name]))
                    realised = np.array([mean_rent(one, start) for start in starts])
                    rows.append(
                        {"kind": kind, "year": str(year), "windows": len(starts), "inside": _inside(past, realised),
                         "shipped": _inside(shipped, realised)}
                    )  # fmt: skip
    found = pd.DataFrame(rows)
    return _summed(pd.concat([found, found[found["inside"].notna()].assign(year=ALL_YEARS)]))


def _of(preset: Path | None, name: str, one: Series) -> Path | None:
    """List prices of old devices are assumed to stay."""
    current = pd.Series([one.key[1]]).str.contains(DEVICES)[0]
    return preset if name != "hyperscaler" or current else Fixed(kind="fixed")


def _summed(found: pd.DataFrame) -> pd.DataFrame:
    groups = found.groupby(["kind", "year"], sort=True)
    made = groups.agg(series=("inside", "size"), windows=("windows", "sum"), inside=("inside", "mean"),
                      shipped=("shipped", "mean"))  # fmt: skip
    return made.reset_index()


def mean_rent(one: Series, start: float) -> float:
    """Mean of 12 monthly prices over the first."""
    prices = one.at(start + np.arange(YEAR))
    return float(prices.mean() / prices[0])


def _inside(preset: Path | None, realised: np.ndarray) -> float:
    if preset is None:
        return float("nan")
    low, high = band(preset)
    return float(np.mean((realised >= low - 1e-9) & (realised <= high + 1e-9)))


def band(preset: Path, seed: int = 2018) -> tuple[float, float]:
    """The central 90 % of the mean rent of 12 months over today's."""
    noise = np.random.default_rng(seed)
    market, own, size = (noise.standard_normal((DRAWS, YEAR)) for _ in range(3))
    path = sampled_path(_terms(preset), market, own, noise.random((DRAWS, YEAR)), size)
    low, high = np.quantile(mean_of_months(path, YEAR), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _terms(preset: Path) -> dict[str, Any]:
    """The columns of an offer that state a path (bills/price_paths.py), of a preset."""
    if isinstance(preset, Drift):
        low, high = (preset.change_per_year if end is None else end for end in (preset.low, preset.high))
        changes = {"trend_change": preset.change_per_year, "trend_change_low": low, "trend_change_high": high}
        return {"trend_kind": "drift", **changes, "trend_market_share": preset.market_share}
    if isinstance(preset, Jumps):
        changes = {"trend_change": preset.change, "trend_change_low": preset.change_low}
        changes["trend_change_high"] = preset.change_high
        return {"trend_kind": "jumps", **changes, "trend_per_year": preset.per_year}
    if isinstance(preset, RandomWalk):
        return {"trend_kind": "random_walk", "trend_sd_log": preset.sd_log_year, "trend_market_share": 0.0}
    return {"trend_kind": "fixed"}
