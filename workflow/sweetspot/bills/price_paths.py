"""Rent over the months of a project: central factors, and sampled paths."""

from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sweetspot.bills.schemas import SUFFIXES, TABLES, FloatArray

LONGEST = 600
MOVING = ("drift", "jumps", "random_walk")  # kinds of path on which a price may change
EDGE = NormalDist().inv_cdf(0.95)  # lows and highs are 5th and 95th percentiles
TREND_COLUMNS = tuple(name for name in TABLES["offers"] if name.startswith("trend"))


def mean_factor(change: npt.ArrayLike, months: npt.ArrayLike) -> FloatArray:
    """Return a project's mean rent / today's rent, by which its rentals are priced.
    Month t = 0, 1, ... pays (1 + change)^(t / 12), the price at its beginning; part of a month counts as its fraction.
    `change`: share per year (NaN: constant); `months`: the project's length.
    """
    yearly, span = np.nan_to_num(np.asarray(change, float)), np.minimum(np.asarray(months, float), LONGEST)
    monthly = (1.0 + yearly) ** (1.0 / 12.0)
    full_months = np.floor(span)
    last = monthly**full_months
    with np.errstate(divide="ignore", invalid="ignore"):  # The sum of a geometric series.
        total = np.where(monthly == 1.0, full_months, (1.0 - last) / (1.0 - monthly))
    return np.asarray((total + (span - full_months) * last) / span)


def central_change(offer: Mapping[str, Any]) -> float:
    """Return the share per year by which the price of a row of offers is expected to change: a drift's median; else 0.
    A list price that is cut once in eight years is constant in most years, and a random walk has no drift.
    """
    return float(offer["trend_change"]) if offer.get("trend_kind") == "drift" else 0.0


def central_changes(offers: pd.DataFrame) -> pd.Series:
    """Return the `central_change` (share per year) of each row of the offers table, as a column."""
    return offers["trend_change"].where(offers["trend_kind"] == "drift", 0.0).astype(float)


def at_mean_rent(rows: pd.DataFrame, months: float | None) -> pd.DataFrame:
    """Return offers with `usd_per_hour` averaged over a project of `months` months; None: at today's price."""
    if months is None:
        return rows
    return rows.assign(usd_per_hour=rows["usd_per_hour"] * mean_factor(central_changes(rows), months))


def sampled_path(
    offer: Mapping[str, Any], market: FloatArray, specific: FloatArray, jump: FloatArray, size: FloatArray
) -> FloatArray:
    """Return possible future rents of an offer, sample x month, as multiples of today's, for intervals of cost.

    Parameters
    ----------
    offer, market, specific, jump, size
        Row of offers (`trend_*`); noise, sample x month: standard normal of all offers and of this one (a drift takes a
        year's first), uniform (whether a jump comes) and standard normal (how large) of all machines of the provider.
    """
    months = market.shape[1]
    kind = offer.get("trend_kind")
    if kind == "jumps":
        monthly = np.where(jump < float(offer["trend_per_year"]) / 12.0, _change(offer, size), 0.0)
    elif kind in ("drift", "random_walk"):
        common = float(offer["trend_market_share"])
        noise = np.sqrt(common) * market + np.sqrt(1.0 - common) * specific
        if kind == "drift":
            monthly = _change(offer, noise[:, 12 * (np.arange(months) // 12)]) / 12.0
        else:
            monthly = noise * float(offer["trend_sd_log"]) / np.sqrt(12.0)
    else:
        monthly = np.zeros_like(market)
    logs = np.zeros_like(market)
    logs[:, 1:] = np.cumsum(monthly[:, :-1], axis=1)
    return np.exp(logs)


def _change(offer: Mapping[str, Any], noise: FloatArray) -> FloatArray:
    """Return the log of a price change for normal `noise`; the offer's low and high are 5th and 95th percentiles."""
    value, low, high = (np.log1p(float(offer[f"trend_change{end}"])) for end in SUFFIXES)
    return np.where(noise < 0, value + noise * (value - low) / EDGE, value + noise * (high - value) / EDGE)


def mean_of_months(path: FloatArray, months: npt.ArrayLike) -> FloatArray:
    """Return each sample's mean rent over a project: of `path` (sample x month) over `months`, fractions weighted."""
    span = np.broadcast_to(np.asarray(months, float), (path.shape[0],))
    weight = np.clip(span[:, None] - np.arange(path.shape[1]), 0.0, 1.0)
    return np.asarray((path * weight).sum(axis=1) / weight.sum(axis=1))


def mean_of_parts(path: FloatArray, starts: FloatArray, length: float) -> FloatArray:
    """Return each sample's mean rent in each of several parts of a project (its sampled months), sample x part.

    Parameters
    ----------
    path, starts, length
        Price by sample x month (its last one goes on); begin of each part in months; length of every part in months.
    """
    months = path.shape[1]
    begin = np.arange(months)
    end = np.where(begin == months - 1, np.inf, begin + 1.0)
    overlap = np.minimum(end, starts[:, None] + length) - np.maximum(begin, starts[:, None])
    weight = np.clip(overlap, 0.0, length) / length
    return np.asarray(path @ weight.T)
