"""What an option's speed, month and hour are at any values of the figures that it rests on: one copy for every cost.

A draw, a moved assumption and an edited price are all factors of the figures of a row of the options; a rent is the
mean over the months of the project (docs/decision.md).
"""

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import fixed_per_month, resale_factor
from sweetspot.bills.price_paths import (
    LONGEST,
    MOVING,
    central_change,
    central_changes,
    mean_factor,
    mean_of_months,
    mean_of_parts,
    sampled_path,
)
from sweetspot.bills.renting import HOUR_S, makespan, overhead
from sweetspot.bills.schemas import FloatArray, Number

BY_RENT = ["usd", "usd_low", "usd_high", "variable_usd_per_hour"]
OVER_RENT = ["images_per_usd", "images_per_usd_low", "images_per_usd_high"]
MINIMUM_USE = 1e-3  # of a project: what comes later than that is paid for and of no use
Row = Mapping[str, Any]  # of the options
Factor = Callable[[str], Number]  # of the row's value with that name; 1 if it stays


def with_rent_factor(rows: pd.DataFrame) -> pd.DataFrame:
    """Return options with `rent_months`, `rent_factor`, and USD at the mean rent of a project, to compare with owning.
    `rows`: options, a workload on a machine at a price each. `rent_months`: months over which rents are averaged, those
    for which the model's reference is owned; NaN where the reference is not owned (prices of today are compared) or the
    price stays. `rent_factor`: that mean over today's price, 1 where it stays. `usd_per_hour` is today's.
    """
    owned = rows[rows["is_reference"] & (rows["purchase"] == "own")].drop_duplicates("model")
    months = rows["model"].map(owned.set_index("model")["months"]).where(rows["trend_kind"].isin(MOVING)).astype(float)
    factor = mean_factor(central_changes(rows), months)
    rows = rows.assign(rent_months=months, rent_factor=np.where(months.notna(), factor, 1.0))
    if months.notna().any():
        rows[BY_RENT] = rows[BY_RENT].mul(rows["rent_factor"], axis=0)
        rows[OVER_RENT] = rows[OVER_RENT].div(rows["rent_factor"], axis=0)
    return rows


def moves_ahead(row: Row) -> bool:
    """Return whether the hourly price of a row may change over the months of its project."""
    return row.get("trend_kind") in MOVING and row.get("rent_months", 0.0) > 0


def rent_over(row: Row, months: Number) -> Number:
    """Return the central mean rent over `months` / that over the row's own project; 1 where its price stays."""
    return mean_factor(central_change(row), months) / row["rent_factor"] if moves_ahead(row) else np.ones_like(months)


def central_rent_by_month(row: Row, starts: FloatArray, length: float) -> FloatArray:
    """Return an option's rent in each part of a project as a multiple of its mean rent, 1 x part, without uncertainty.

    Parameters
    ----------
    row, starts, length
        Row of options (a machine at a price); begin of each part in months from the start; months of every part.
    """
    last = math.ceil(float(starts[-1]) + length)
    path = (1.0 + central_change(row)) ** (np.arange(last)[None, :] / 12.0)
    return mean_of_parts(path, starts, length) / float(row["rent_factor"])


class Rents:
    """Sampled rents of offers as multiples of central or mean rents; all offers share one market's noise. `stream`:
    returns a random generator for a key; `draws`: number of samples; `lengths`: months of a project by model, by
    sample.
    """

    def __init__(
        self, stream: Callable[..., np.random.Generator], draws: int, lengths: Mapping[str, FloatArray]
    ) -> None:
        self._stream, self.draws, self._lengths = stream, draws, lengths
        longest = max([1.0, *(float(length.max()) for length in lengths.values())])
        self._months = math.ceil(round(min(longest, LONGEST), 9))
        self._noise = cache(self._fresh_noise)
        self._paths: dict[tuple[object, ...], FloatArray] = {}
        self._means: dict[tuple[object, ...], FloatArray] = {}

    def factor(self, row: Row) -> FloatArray:
        """Return an option's mean rent as a multiple of its central mean, one per sample; 1 if the price stays."""
        if not moves_ahead(row):
            return np.ones(self.draws)
        return self._mean(row) / float(row["rent_factor"])

    def by_month(self, row: Row, starts: FloatArray, length: float) -> FloatArray:
        """Return an option's sampled rent in each part of its project / its mean rent there, sample x part, for mixes.

        Parameters
        ----------
        row, starts, length
            Row of options; begin of each part in months from the project's start; length of every part in months.
        """
        months = min(math.ceil(round(float(starts[-1]) + length, 9)), LONGEST)
        return mean_of_parts(self._path(row, months), starts, length) / self._mean(row)[:, None]

    def _mean(self, row: Row) -> FloatArray:
        """Return an option's (row's) mean rent over its project / today's rent, one per sample: what it will cost."""
        key = (*_market_key(row), row["model"])
        if key not in self._means:
            self._means[key] = mean_of_months(self._path(row), self._lengths[row["model"]])
        return self._means[key]

    def _path(self, row: Row, months: int = 0) -> FloatArray:
        """Return an option's (row's) sampled rent / today's, sample x month, at least for the longest project."""
        months = max(months, self._months)
        market, provider = _market_key(row), ("list price", row["provider"])
        if (*market, months) not in self._paths:
            noises = (
                self._noise(months, "standard_normal", "rent market"),
                self._noise(months, "standard_normal", "rent", *market[:3]),
                self._noise(months, "random", *provider),
                self._noise(months, "standard_normal", *provider, "size"),
            )
            self._paths[(*market, months)] = sampled_path(row, *noises)
        return self._paths[(*market, months)]

    def _fresh_noise(self, months: int, kind: str, *key: object) -> FloatArray:
        """Return noise of rents, sample x month, "random" or "standard_normal"; more `months` leave the first alone."""
        noise = np.asarray(getattr(self._stream(*key), kind)((self.draws, self._months)))
        if months == self._months:
            return noise
        later = getattr(self._stream(*key, "later months"), kind)((self.draws, months - self._months))
        return np.concatenate([noise, later], axis=1)


def _market_key(row: Row) -> tuple[object, ...]:
    """Return a key, equal for offers whose prices change together: provider, device, kind of trend, its parameters."""
    terms = (str(row[name]) for name in ("trend_change", "trend_per_year", "trend_sd_log"))
    return (row["provider"], row["gpu"], row["trend_kind"], *terms)


class Rates(NamedTuple):
    """Cost rates of one option (a machine at a price): numbers, or arrays with one value per case. `fixed`: USD per
    month, used or not; `variable`: USD per hour of use; `days` of use per month (NaN if rented); `longer`: elapsed
    hours of a job as a multiple of the planned ones, at the same speed (interruptions).
    """

    fixed: Number
    variable: Number
    days: Number
    longer: Number


def rates(row: Row, factor: Factor, rent: Number | None = None) -> Rates:
    """Return what an option costs per month and hour if its values are multiplied by `factor`, as all analyses do.

    Parameters
    ----------
    row, factor, rent
        Row of options (a machine at a price); function from a column's name to its factor; sampled mean rent of the
        project as a multiple of the planned mean (None: calculated from the months).
    """
    if row["purchase"] == "own":
        planned = possession(row, lambda _: 1.0)
        fixed = row["fixed_usd_per_month"] * possession(row, factor) / (planned or 1.0)
        electricity = row["kw"] * factor("kw") * row["pue"] * row["usd_per_kwh"] * factor("usd_per_kwh")
        return Rates(fixed, electricity, row["days_per_month"] * factor("days_per_month"), 1.0)
    months = factor("months")
    if rent is None:
        rent = 1.0 if isinstance(months, float) and months == 1.0 else rent_over(row, row["rent_months"] * months)
    running, longer = _interrupted(row, factor("interruptions_per_hour"))
    price = factor("usd_per_hour") * rent * factor("rent_factor")
    return Rates(0.0, row["variable_usd_per_hour"] * price * running, np.nan, longer)


def _interrupted(row: Row, factor: Number) -> tuple[Number, Number]:
    """Return how much slower and dearer a spot job is if interruptions are `factor` times as frequent. (Machine hours,
    elapsed hours) / the planned; (1, 1) without any. `row`: of options, with `interruptions_per_hour`, and seconds to
    write a checkpoint, to restore it and to wait for another machine.
    """
    planned = or_zero(row.get("interruptions_per_hour"))
    if not planned > 0:
        return 1.0, 1.0
    dump, restore, wait = (or_zero(row.get(f"{name}_s")) / HOUR_S for name in ("checkpoint", "restore", "wait"))
    interval = float("nan") if pd.isna(row.get("every_s")) else float(row["every_s"]) / HOUR_S
    rate = planned * factor
    running = overhead(rate, dump, restore, interval) / overhead(planned, dump, restore, interval)
    return running, running * makespan(1.0, rate, wait) / makespan(1.0, planned, wait)


def possession(row: Row, factor: Factor, after: Number = 0.0) -> Number:
    """Return USD per month of owning a machine, used or not, at changed values, such as another price or more months.

    Parameters
    ----------
    row, factor, after
        Row of options; function from a column's name to its factor (the resale curve follows price and months); months
        from the project's begin to delivery, which leave the resale value as it is. Downtime is ignored.
    """
    capex, months = row["capex_usd"] * factor("capex_usd"), row["months"] * factor("months")
    price_factor = capex / row["capex_usd"] if row["capex_usd"] > 0 else 1.0
    curve = resale_factor(row.get("residual_points"), months, row["months"], price_factor)
    residual = np.asarray(row["residual_usd"] * factor("residual_usd") * curve)
    used_months = np.maximum(months - after, MINIMUM_USE * months)
    maintenance = row["maintenance_usd_per_month"] * factor("maintenance_usd_per_month")
    staff, discount_rate = row["staff_usd_per_month"], row["discount_rate"]
    return fixed_per_month(capex, used_months, residual, maintenance, staff, discount_rate) * used_months / months


def by_contract(row: Row) -> bool:
    """Return whether a row is a contract: rented and paid by the month, used or not."""
    return row["purchase"] != "own" and bool(pd.notna(row["days_per_month"]))


def or_zero(value: float | None) -> float:
    """Return a number as a float; 0.0 for None or NaN."""
    return 0.0 if value is None or pd.isna(value) else float(value)
