"""Seeded Monte Carlo: what is uncertain, carried into rates, hours and money."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from sweetspot.bills.owning import usd_per_hour_of_use
from sweetspot.bills.rates import Number, Rates, Rents, or_zero, rates
from sweetspot.decision.options import OFFER, Row, records
from sweetspot.draws import DRAWS, LEVEL_RANGE, interval, spread, stream
from sweetspot.throughput.speed_errors import (
    common_errors,
    degrees_of_freedom,
    figure_behind,
    figure_key,
    or_nan,
    speed_error,
)

# What is drawn of an offer to rent and of a machine that is owned.
DRAWN = {
    False: ("usd_per_hour", "interruptions_per_hour"),
    True: ("capex_usd", "residual_usd", "months", "kw", "days_per_month", "usd_per_kwh"),
}
AN_HOUR = ("fixed_usd_per_month", "variable_usd_per_hour", "days_per_month")
PROJECT = ("months", "days_per_month")  # of them, those that are the team's, whichever machine it buys


@dataclass
class Figure:
    """One uncertain figure: the column of the options that it varies, its draws, the rows that rest on it; figures of
    the same `error` are off together, whoever is known makes the others known.
    """

    name: str
    values: np.ndarray
    error: tuple[object, ...]
    rows: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Draws:
    """Simulated values, one row per row of the options table, one column per draw. `images_per_s`, `fixed` (USD a
    month), `variable` (USD an hour of use), `days` (of use a month; NaN where rented), `hours`, `usd` (of the row's
    workload), `images_per_usd`. `figures`: those that were drawn, and vary. Where rents go is no such figure: nobody
    can find out what is to come; `rents` has their paths.
    """

    images_per_s: np.ndarray
    fixed: np.ndarray
    variable: np.ndarray
    days: np.ndarray
    hours: np.ndarray
    usd: np.ndarray
    images_per_usd: np.ndarray
    figures: tuple[Figure, ...] = ()
    rents: Rents | None = None


def simulate(options: pd.DataFrame, seed: int, draws: int = DRAWS) -> Draws:
    """Draw every uncertain figure of the options table (`build_options`) `draws` times. Throughput varies by its
    interval (t where it is a mean of runs), prices, box price, months, power, electricity price, days of use and
    interruptions by the price list's low and high. One figure is drawn once: the on-demand and the spot offer of an
    instance share its throughput, and so do instances declared equivalent (same device, count, value); the error of
    figures without an interval of their own is shared by all machines with the same device and framework, that of a
    prediction by all models of its machine; that of an older round and of the software (`common_errors`) by all figures
    that have it.
    """
    rows = records(options)
    if not rows:
        nothing = np.empty((0, draws))
        return Draws(nothing, nothing, nothing, nothing, nothing, nothing, nothing)
    figures = _Figures(seed, draws, rows)
    rents = Rents(partial(stream, seed), draws, _lengths(rows, seed, draws))
    rate = np.stack([figures.images_per_s(row) for row in rows])
    terms = zip(*(figures.rates(row, rents) for row in rows), strict=True)
    fixed, variable, days, longer = (np.stack([part + np.zeros(draws) for part in parts]) for parts in terms)
    column = {name: options[name].to_numpy(float)[:, None] for name in ("images_per_s", "hours", "usd", *AN_HOUR)}
    own, slower = options["purchase"].eq("own").to_numpy()[:, None], column["images_per_s"] / rate
    with np.errstate(invalid="ignore"):
        paid, central = (
            np.where(own, usd_per_hour_of_use(*terms), terms[1])
            for terms in ((fixed, variable, days), [column[name] for name in AN_HOUR])
        )
    dearer = np.divide(paid, central, out=np.ones_like(paid), where=central != 0)  # what costs nothing stays free
    # A workload without a throughput takes its stated hours.
    slower = np.where(np.isnan(slower), 1.0, slower)
    return Draws(
        images_per_s=rate,
        fixed=fixed,
        variable=variable,
        days=days,
        hours=column["hours"] * slower * longer,
        usd=column["usd"] * slower * dearer,
        images_per_usd=options["images_per_usd"].to_numpy(float)[:, None] / (slower * dearer),
        figures=tuple(found for found in figures.known.values() if found.values.min() < found.values.max()),
        rents=rents,
    )


def rent_ends(row: Row, draws: int = DRAWS) -> tuple[float, float]:
    """Interval (LEVEL_RANGE) of a row's mean rent of the project over today's price, in draws of its own."""
    length = np.full(draws, float(row["rent_months"]))
    factor = Rents(partial(stream, 0), draws, {row["model"]: length}).factor(row) * float(row["rent_factor"])
    low, high = interval(factor, LEVEL_RANGE)
    return float(low), float(high)


def _lengths(rows: list[Row], seed: int, draws: int) -> dict[str, np.ndarray]:
    """The project's months in each draw, by model: those of its owned reference."""
    figures, owned = _Figures(seed, draws, rows), (row for row in rows if _owned_reference(row))
    return {row["model"]: figures.offered(row, "months") for row in owned}


def _owned_reference(row: Row) -> bool:
    return row["is_reference"] and row["purchase"] == "own"


class _Figures:
    """Draws of single figures; the same figure gives the same draws."""

    def __init__(self, seed: int, draws: int, rows: list[Row]) -> None:
        self.seed, self.draws = seed, draws
        box = next(filter(_owned_reference, rows), None)
        # The project and the use of what is bought are the team's, whichever machine that is: one error for all.
        whose = () if box is None else tuple(box[part] for part in OFFER)
        self.shared = {} if box is None else {name: (name, *whose) for name in PROJECT}
        self.known: dict[tuple[object, ...], Figure] = {}

    def offered(self, row: Row, name: str) -> np.ndarray:
        """A number of an offer by its low and high; one electricity price for all boxes of a price list."""
        owner = tuple(row[part] for part in (OFFER[:1] if name == "usd_per_kwh" else OFFER))
        own = name in self.shared and row["purchase"] == "own"
        key = (name, *ends(row, name), *(() if own else owner))
        # Not the number itself: with another price written each draw is off by the same share.
        error = self.shared[name] if own else (name, *owner)
        if key not in self.known:
            noise = stream(self.seed, *error).standard_normal(self.draws)
            self.known[key] = Figure(name, spread(*ends(row, name), LEVEL_RANGE, noise), error)
        return self._of(key, row)

    def images_per_s(self, row: Row) -> np.ndarray:
        """The throughput behind a row."""
        error, behind = speed_error(row), figure_behind(row)
        value, low, high = (or_nan(row[f"images_per_s{end}"]) / behind for end in ("", "_low", "_high"))
        key, freedom = figure_key(row), degrees_of_freedom(row)
        if key not in self.known:
            source = stream(self.seed, *error)
            noise = source.standard_t(freedom, self.draws) if freedom >= 1 else source.standard_normal(self.draws)
            values = spread(value, low, high, row["level"], noise, freedom)
            for common, (low, high) in common_errors(row).items():
                alike = stream(self.seed, *common).standard_normal(self.draws)
                values = values * spread(1.0, low, high, LEVEL_RANGE, alike)
            self.known[key] = Figure("images_per_s", values, error)
        return self._of(key, row) * behind

    def _of(self, key: tuple[object, ...], row: Row) -> np.ndarray:
        self.known[key].rows.append(row["row"])
        return self.known[key].values

    def rates(self, row: Row, rents: Rents) -> Rates:
        """The row's month and hour in every draw."""
        drawn = DRAWN[row["purchase"] == "own"]

        def factor(name: str) -> Number:
            value = or_zero(row.get(name))
            return self.offered(row, name) / value if name in drawn and value > 0 else 1.0

        return rates(row, factor, rents.factor(row))


def ends(row: Row, name: str) -> tuple[float, float, float]:
    """A number of a row of the options with its low and high; NaN where there is none."""
    value, low, high = (or_nan(row.get(f"{name}{end}")) for end in ("", "_low", "_high"))
    return value, low, high
