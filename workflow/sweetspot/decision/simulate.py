"""Seeded Monte Carlo: what is uncertain, carried into rates, hours and money."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY, fixed_per_month
from sweetspot.bills.spot import overhead

Number = float | np.ndarray
DRAWS = 4000  # standard error of a probability of 0.8: 0.6 percentage points
LEVEL = 0.90  # coverage of every interval of the decision
LEVEL_RANGE = 0.90  # a price list's low and high are read as its 5th and 95th percentile
# A t with one degree of freedom has no mean; a factor of ten is far beyond any honest pair of runs.
WIDEST = float(np.log(10.0))


@dataclass(frozen=True)
class Draws:
    """Simulated values, one row per row of the options table, one column per draw.

    `images_per_s`, `fixed` (USD a month), `variable` (USD an hour of use), `days` (of use a month; NaN where rented),
    `hours`, `usd` (of the row's workload), `images_per_usd`.
    """

    images_per_s: np.ndarray
    fixed: np.ndarray
    variable: np.ndarray
    days: np.ndarray
    hours: np.ndarray
    usd: np.ndarray
    images_per_usd: np.ndarray


def stream(seed: int, *key: object) -> np.random.Generator:
    """A generator of its own for each uncertain figure, so that a new offer never changes the others' draws."""
    return np.random.default_rng([seed, zlib.crc32("|".join(map(str, key)).encode())])


def spread(
    value: float, low: float, high: float, level: float, noise: np.ndarray, runs: float = float("nan")
) -> np.ndarray:
    """Draws of a positive figure with median `value` and central interval [low, high] of coverage `level`.

    Log-normal in two pieces: below the median with the spread of `low`, above with that of `high`, so that an
    asymmetric interval keeps both ends. `noise` is standard normal, or standard t with runs - 1 degrees of freedom
    where `runs` >= 2 (a mean of independent runs). Without an interval, or for a value that is not positive,
    the figure does not vary.
    """
    if not 0 < low <= value <= high:
        return np.full(noise.shape, value)
    edge = _edge(level, runs)
    scale = np.where(noise < 0, np.log(value / low), np.log(high / value)) / edge
    return value * np.exp(np.clip(scale * noise, -WIDEST, WIDEST))


def _edge(level: float, runs: float) -> float:
    if runs >= 2:
        from scipy.special import stdtrit  # lazily: only measured figures need it

        return float(stdtrit(runs - 1, (1 + level) / 2))
    return NormalDist().inv_cdf((1 + level) / 2)


def interval(draws: np.ndarray, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper end of the central interval along the last axis; infinite draws are ordered, not averaged."""
    last = draws.shape[-1] - 1
    low, high = round(last * (1 - level) / 2), round(last * (1 + level) / 2)
    # Two order statistics; a quantile by interpolation would make NaN of two infinite draws, and sort everything.
    ends = np.partition(draws, (low, high), axis=-1)
    return ends[..., low], ends[..., high]


def simulate(options: pd.DataFrame, seed: int, draws: int = DRAWS) -> Draws:
    """Draw every uncertain figure of the options table (`build_options`) `draws` times.

    Throughput varies by its interval (t where it is a mean of runs), prices, box price, months, power, electricity
    price and days of use by the price list's low and high. One figure is drawn once: the on-demand and the spot
    offer of an instance share its throughput, and so do instances declared equivalent (same device, count, value);
    the error of figures without an interval of their own is shared by all machines with the same card, that of a
    prediction by all models of its machine.
    """
    cache: dict[tuple[object, ...], np.ndarray] = {}
    records = options.to_dict("records")
    if not records:
        return Draws(*(np.empty((0, draws)) for _ in range(7)))
    rate = np.stack([_rate(row, seed, draws, cache) for row in records])
    prices = [_price(row, seed, draws, cache) for row in records]
    fixed, variable, days = (np.stack(part) for part in zip(*prices, strict=True))
    column = {name: options[name].to_numpy(float)[:, None] for name in ("images_per_s", "hours", "usd")}
    with np.errstate(invalid="ignore"):
        paid = np.where(np.isnan(days), 0.0, fixed / (HOURS_A_DAY * days)) + variable
    slower, dearer = column["images_per_s"] / rate, paid / _central_rate(options)[:, None]
    return Draws(
        images_per_s=rate,
        fixed=fixed,
        variable=variable,
        days=days,
        hours=column["hours"] * slower,
        usd=column["usd"] * slower * dearer,
        images_per_usd=options["images_per_usd"].to_numpy(float)[:, None] / (slower * dearer),
    )


def _central_rate(options: pd.DataFrame) -> np.ndarray:
    own = options["purchase"].eq("own")
    fixed = (options["fixed_usd_per_month"] / (HOURS_A_DAY * options["days_per_month"])).where(own, 0.0)
    return (fixed + options["variable_usd_per_hour"]).to_numpy(float)


def _drawn(
    row: Mapping[str, Any],
    name: str,
    seed: int,
    draws: int,
    cache: dict[tuple[object, ...], np.ndarray],
    owner: tuple[object, ...],
) -> np.ndarray:
    """Draws of one number of an offer by its low and high; equal keys give equal draws."""
    value = row.get(name)
    value = float("nan") if value is None else float(value)
    low, high = (row.get(f"{name}{end}") for end in ("_low", "_high"))
    low, high = (float("nan") if edge is None else float(edge) for edge in (low, high))
    key = (name, value, low, high, *owner)
    if key not in cache:
        noise = stream(seed, *key).standard_normal(draws)
        cache[key] = spread(value, low, high, LEVEL_RANGE, noise)
    return cache[key]


def _rate(row: Mapping[str, Any], seed: int, draws: int, cache: dict[tuple[object, ...], np.ndarray]) -> np.ndarray:
    value, low, high = (float(row[f"images_per_s{end}"]) for end in ("", "_low", "_high"))
    key = ("images_per_s", row.get("gpu"), row["gpus"], row["model"], value)
    if key not in cache:
        runs = float(row["runs"]) if row["throughput_basis"] == "measured" else float("nan")
        source = stream(seed, *_error(row, value))
        noise = source.standard_t(runs - 1, draws) if runs >= 2 else source.standard_normal(draws)
        cache[key] = spread(value, low, high, row["level"], noise, runs)
    return cache[key]


def _error(row: Mapping[str, Any], value: float) -> tuple[object, ...]:
    """What two figures must share to be off together.

    A borrowed figure is off by its card, a prediction by its machine, both for all models at once: the cautious
    reading where costs of several models are added. A measured mean is off on its own.
    """
    if row["assumed_interval"]:
        return ("card", row.get("gpu"))
    if row["throughput_basis"] == "extrapolated":
        return ("prediction", row["instance"])
    return ("images_per_s", row.get("gpu"), row["gpus"], row["model"], value)


def _price(
    row: Mapping[str, Any], seed: int, draws: int, cache: dict[tuple[object, ...], np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fixed USD a month, variable USD an hour, days a month of one offer."""
    offer = (row["price_list"], row["instance"], row["purchase"])
    if row["purchase"] != "own":
        price = _drawn(row, "usd_per_hour", seed, draws, cache, offer)
        stretch = _stretch(row, seed, draws, cache, offer)
        variable = row["variable_usd_per_hour"] * price / row["usd_per_hour"] * stretch
        return np.zeros(draws), variable, np.full(draws, np.nan)
    part = {
        name: _drawn(row, name, seed, draws, cache, offer) for name in ("capex_usd", "months", "kw", "days_per_month")
    }
    # One electricity price for all boxes of a price list.
    tariff = _drawn(row, "usd_per_kwh", seed, draws, cache, (row["price_list"],))
    fixed = row["fixed_usd_per_month"] * possession(row, part["capex_usd"], part["months"]) / possession(row)
    pue = 1.0 if pd.isna(row["pue"]) else float(row["pue"])
    return fixed, np.nan_to_num(part["kw"] * pue * tariff), part["days_per_month"]


def _stretch(
    row: Mapping[str, Any],
    seed: int,
    draws: int,
    cache: dict[tuple[object, ...], np.ndarray],
    owner: tuple[object, ...],
) -> np.ndarray:
    """Machine hours a job takes by the interruptions drawn, over those by the central rate (Daly; bills.spot)."""
    often = _drawn(row, "interruptions_per_hour", seed, draws, cache, owner)
    if not or_zero(row.get("interruptions_per_hour")) > 0:
        return np.ones(draws)
    every = row["every_s"] / 3600.0
    dump, restore = row["checkpoint_s"] / 3600.0, or_zero(row["restore_s"]) / 3600.0
    return overhead(often, dump, restore, every) / overhead(row["interruptions_per_hour"], dump, restore, every)


def possession(row: Mapping[str, Any], capex: Number | None = None, months: Number | None = None) -> Number:
    """USD a month of owning, used or not (bills.owning.fixed_per_month); by default of the row's figures."""
    own = {
        "capex": row["capex_usd"] if capex is None else capex,
        "months": row["months"] if months is None else months,
        "residual": or_zero(row.get("residual_usd")),
        "maintenance": or_zero(row.get("maintenance_usd_per_month")),
        "staff": or_zero(row.get("staff_usd_per_month")),
    }
    return fixed_per_month(own, or_zero(row.get("discount_rate")))


def or_zero(value: float | None) -> float:
    """The number, 0 where there is none."""
    return 0.0 if value is None or pd.isna(value) else float(value)
