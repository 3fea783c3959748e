"""Seeded Monte Carlo: samples of uncertain figures, and of the rates, hours and USD that follow."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from pandas import DataFrame

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

RENTED_FIGURES = ("usd_per_hour", "interruptions_per_hour")
OWNED_FIGURES = ("capex_usd", "residual_usd", "months", "kw", "days_per_month", "usd_per_kwh")
Array = np.ndarray
OF_THE_TEAM = ("months", "days_per_month")  # the team's, whichever machine it buys
HOURLY_TERMS = ("fixed_usd_per_month", "variable_usd_per_hour", "days_per_month")


@dataclass
class Figure:
    """One uncertain figure: the column of the options that varies, its samples, and labels of the rows that have it.

    Figures with the same `error` have the same relative error, so that knowing one reveals the others.
    """

    name: str
    values: Array
    error: tuple[object, ...]
    rows: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Draws:
    """Simulated values, row of the options x sample (one of the sampled futures).

    `fixed` (USD a month), `variable` (USD an hour of use), `days` (of use a month; NaN where rented); `hours` and `usd`
    of the row's workload; `figures`: the sampled figures that vary. Future rents are not in `figures`, because nobody
    can find them out; `rents` samples their paths.
    """

    images_per_s: Array
    fixed: Array
    variable: Array
    days: Array
    hours: Array
    usd: Array
    images_per_usd: Array
    figures: tuple[Figure, ...] = ()
    rents: Rents | None = None


def simulate(options: DataFrame, seed: int, draws: int = DRAWS) -> Draws:
    """Return samples of the uncertain figures of the options, and of their hours and USD, for all probabilities and
    ranges. Throughput varies by its interval (t where it is a mean of runs), prices, months, power, tariffs, days of
    use and interruptions by the price list's low and high. A figure is sampled once for all rows that share it, and so
    is the common error of figures with one device and framework, of an older round, or of the software.

    Parameters
    ----------
    options, seed, draws
        The table of options (`build_options`), whose order the rows of all arrays have; the study's seed; number of
        samples.
    """
    rows = records(options)
    owned = [row for row in rows if row["is_reference"] and row["purchase"] == "own"]
    sampler = _FigureSampler(seed, draws, next(iter(owned), None))
    rents = Rents(partial(stream, seed), draws, {row["model"]: sampler.offered(row, "months") for row in owned})
    rate = np.array([sampler.images_per_s(row) for row in rows]).reshape(len(rows), draws)
    terms = [[term + np.zeros(draws) for term in sampler.rates(row, rents)] for row in rows]
    fixed, variable, days, longer = np.array(terms).reshape(len(rows), 4, draws).swapaxes(0, 1)
    planned_rate, hours, usd, images_per_usd, *planned_terms = (
        options[name].to_numpy(float)[:, None]
        for name in ("images_per_s", "hours", "usd", "images_per_usd", *HOURLY_TERMS)
    )
    is_owned = options["purchase"].eq("own").to_numpy()[:, None]
    with np.errstate(invalid="ignore"):
        paid, planned = (
            np.where(is_owned, usd_per_hour_of_use(*costs), costs[1])
            for costs in ((fixed, variable, days), planned_terms)
        )
    # What costs nothing stays free, and a workload without a throughput takes its stated hours.
    price_factor = np.divide(paid, planned, out=np.ones_like(paid), where=planned != 0)
    slower = np.nan_to_num(planned_rate / rate, nan=1.0, posinf=np.inf)
    return Draws(
        images_per_s=rate,
        fixed=fixed,
        variable=variable,
        days=days,
        hours=hours * slower * longer,
        usd=usd * slower * price_factor,
        images_per_usd=images_per_usd / (slower * price_factor),
        figures=tuple(figure for figure in sampler.figures.values() if np.ptp(figure.values) > 0),
        rents=rents,
    )


def rent_bounds(row: Row, draws: int = DRAWS) -> tuple[float, float]:
    """Return (low, high) of an option row's mean rent over its project as multiples of today's price, a 90 % range.

    They come from `draws` sampled paths of the rent, and become the range of the parameter "mean rent".
    """
    length = np.full(draws, row["rent_months"])
    factor = Rents(partial(stream, 0), draws, {row["model"]: length}).factor(row) * row["rent_factor"]
    low, high = map(float, interval(factor, LEVEL_RANGE))
    return low, high


def value_with_bounds(row: Row, name: str) -> tuple[float, float, float]:
    """Return (value, low, high) of a figure of an option row in its own unit; NaN where missing."""
    value, low, high = (or_nan(row.get(f"{name}{suffix}")) for suffix in ("", "_low", "_high"))
    return value, low, high


@dataclass(frozen=True)
class _FigureSampler:
    """Samples single figures; the same figure always gets the same samples.

    `reference`: the owned machine whose months and days of use all owned machines share.
    """

    seed: int
    draws: int
    reference: Row | None
    figures: dict[tuple[object, ...], Figure] = field(default_factory=dict)

    def offered(self, row: Row, name: str) -> Array:
        """Return samples of a figure (a column such as `capex_usd`) of an option row, in its unit, one per sample.

        One tariff per price list, and the same months and days of use for all owned machines, because the team sets
        them.
        """
        owner = row
        if self.reference is not None and name in OF_THE_TEAM and row["purchase"] == "own":
            owner = self.reference
        # Without the number itself: with another price each sample is off by the same share.
        error = (name, *(owner[column] for column in (OFFER[:1] if name == "usd_per_kwh" else OFFER)))
        bounds = value_with_bounds(row, name)
        key = (*error, *bounds)
        if key not in self.figures:
            noise = stream(self.seed, *error).standard_normal(self.draws)
            self.figures[key] = Figure(name, spread(*bounds, LEVEL_RANGE, noise), error)
        return self._of_row(key, row)

    def images_per_s(self, row: Row) -> Array:
        """Return samples of an option row's images/s, one per future.

        They have the error of its own figure, and errors that it shares with others of its device, round or software.
        """
        key = figure_key(row)
        error = speed_error(row)
        behind = figure_behind(row)
        if key not in self.figures:
            value, low, high = (end / behind for end in value_with_bounds(row, "images_per_s"))
            source = stream(self.seed, *error)
            freedom = degrees_of_freedom(row)
            noise = source.standard_t(freedom, self.draws) if freedom >= 1 else source.standard_normal(self.draws)
            values = spread(value, low, high, row["level"], noise, freedom)
            for common, bounds in common_errors(row).items():
                noise = stream(self.seed, *common).standard_normal(self.draws)
                values = values * spread(1.0, *bounds, LEVEL_RANGE, noise)
            self.figures[key] = Figure("images_per_s", values, error)
        return self._of_row(key, row) * behind

    def _of_row(self, key: tuple[object, ...], row: Row) -> Array:
        """Return the samples of the figure with that key, and note that the row has it."""
        self.figures[key].rows.append(row["row"])
        return self.figures[key].values

    def rates(self, row: Row, rents: Rents) -> Rates:
        """Return what an option row costs in each sample: USD per month and per hour, days of use, delay by
        interruptions. `rents`: sampled rents of all options, from which that of the row is taken.
        """
        names = OWNED_FIGURES if row["purchase"] == "own" else RENTED_FIGURES

        def factor(name: str) -> Number:
            value = or_zero(row.get(name))
            return self.offered(row, name) / value if name in names and value > 0 else 1.0

        return rates(row, factor, rents.factor(row))
