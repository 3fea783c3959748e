"""What an answer rests on: each uncertain or movable figure once, whatever the kind of work."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import mul
from typing import NamedTuple

import numpy as np

from sweetspot.bills.rates import Factor, Number, moves_ahead, or_zero
from sweetspot.choice_kinds import FACTOR
from sweetspot.decision.options import Row
from sweetspot.decision.simulate import ends, rent_ends
from sweetspot.throughput.speed_errors import Error, or_nan, speed_errors
from sweetspot.titles import model_title
from sweetspot.wording import the

FURTHEST = 5.0  # factor of an assumption, either way, beyond which nothing is looked for
ASSUMED_RANGE = 0.20  # either side, where nothing states a range; marked as assumed
PATHS = "price paths"  # range of a rent: its draws
ALL_JOBS, ALL_RENT, SPEED, RENT, TARIFF = "jobs", "rents", "speed", "usd_per_hour", "usd_per_kwh"
OF_THE_TEAM = ("months", "days_per_month")
OF_A_MACHINE = {
    "capex_usd": ("price of {box}", "USD"),
    "residual_usd": ("resale value of {box}", "USD"),
    "maintenance_usd_per_month": ("maintenance of {box}", "USD/month"),
    "kw": ("power of {box}", "kW"),
    "sell_for_usd": ("what {box} would sell for", "USD"),
}
OF_THERE = ("kw", "sell_for_usd")  # of a machine that is there these count; of one for sale all but the last
OF_SALE = tuple(OF_A_MACHINE)[:-1]

Array = np.ndarray


class Assumption(NamedTuple):
    """One uncertain or movable figure. `quantity`: what it is (a column of the options, or one of the words above),
    `subject`: of whom (an option, a price list, a class of jobs, a correlation key of speeds; empty: of all), `name` in
    words, `unit` (FACTOR: said as a factor), `value` with its range and where that is from; `figure`: what it moves of
    the `rows` of the options, or of the work where there are none; `most` that it can be.
    """

    quantity: str
    subject: str
    name: str
    unit: str
    value: float
    low: float
    high: float
    range_basis: str
    figure: str
    rows: frozenset[int] = frozenset()
    most: float = np.inf


class Choice(NamedTuple):
    """One thing that one could do, or an offer that it may take: `row` of the options that it rests on most (with its
    title for people), `labels` of all its rows; choices of the same `alternative` are no rivals of each other; `taken`:
    the answer may take it; `there`: it is there already, what it cost is spent.
    """

    option: str
    title: str
    row: Row
    alternative: str
    labels: frozenset[int]
    taken: bool = True
    there: bool = False

    @classmethod
    def of(cls, row: Row, taken: bool = True) -> "Choice":
        """That of one option alone."""
        return cls(row["option"], str(row["title"]), row, str(row["alternative"]), frozenset([row["row"]]), taken)


@dataclass(frozen=True)
class Moved:
    """Values of assumptions, as factors of what is planned: an array over the same `cases` for each."""

    cases: int
    values: Mapping[Assumption, Number]

    def of(self, label: int | None) -> Factor:
        """The factor of each figure of one row of the options."""

        def factor(figure: str) -> Number:
            return _product(by for one, by in self.values.items() if one.figure == figure and label in one.rows)

        return factor

    @cached_property
    def rows(self) -> frozenset[int]:
        """The rows of the options that a figure moves of."""
        return frozenset().union(*(assumption.rows for assumption in self.values))

    def touches(self, label: int) -> bool:
        """Whether a figure of that row moves."""
        return label in self.rows

    def work(self, figure: str, subject: str | None = None) -> Number:
        """The factor of a figure of the work: of all its rows together, or of one class."""
        told = ((one, by) for one, by in self.values.items() if one.figure == figure)
        return _product(by for one, by in told if subject is None or one.subject in ("", subject))


def _product(factors: Iterable[Number]) -> Number:
    return reduce(mul, factors, 1.0)


def assumptions_of(offers: Sequence[Choice], speeds: Sequence[Row], month_days: float) -> list[Assumption]:
    """Every figure of the offers that may turn an answer: rents, machines for sale, tariffs, the team's use, speeds.
    `speeds`: the rows of the options that the work's speeds are of, each once.
    """
    rented = [one for one in offers if one.row["purchase"] != "own"]
    owned = [one for one in offers if one.row["purchase"] == "own"]
    return [
        *_rents(rented),
        *(found for one in owned for found in _of_machine(one)),
        *_tariffs(owned),
        *_of_the_team(offers, owned, month_days),
        *_speeds(speeds),
    ]


def _highest_resale(row: Row) -> float:
    """Highest resale value in USD whose upper bound is not above the purchase price of the new machine."""
    upper, value = float(or_nan(row.get("residual_usd_high"))), float(row["residual_usd"])
    return float(row["capex_usd"]) * (value / upper if upper > value > 0 else 1.0)


def _of_row(
    row: Row, figure: str, name: str, unit: str, rows: frozenset[int], subject: str | None = None, most: float = np.inf
) -> Assumption:
    """A figure of one row of the options, with its range; of the row's option where no other `subject` is told."""
    value, whose = float(row[figure]), row["option"] if subject is None else subject
    low, high, basis = range_of(row, figure, value)
    return Assumption(figure, whose, name, unit, value, low, min(high, most), basis, figure, rows, most)


def _rents(rented: Sequence[Choice]) -> Iterator[Assumption]:
    """The price of an hour, once for a machine in whichever number of nodes; of all offers; and where prices move."""
    for name in dict.fromkeys(one.alternative for one in rented):
        alike = [one for one in rented if one.alternative == name]
        row = min(alike, key=lambda one: one.row["gpus"]).row
        yield _of_row(row, RENT, f"price of {the(str(row['title']))}", "USD/hour", _labels(alike))
    if len(rented) > 1:
        yield all_of("all rented prices", ALL_RENT, RENT, _labels(rented))
    moving = [one for one in rented if moves_ahead(one.row)]
    if moving:
        value, (low, high) = float(moving[0].row["rent_factor"]), rent_ends(moving[0].row)
        told = ("rent_factor", "", "mean rent over the project", FACTOR, value, min(low, value), max(high, value))
        yield Assumption(*told, PATHS, "rent_factor", _labels(moving))


def _of_machine(one: Choice) -> Iterator[Assumption]:
    for figure, (said, unit) in OF_A_MACHINE.items():
        if or_zero(one.row[figure]) > 0 and figure in (OF_THERE if one.there else OF_SALE):
            most = float(one.row["capex_usd"]) if figure == "residual_usd" else np.inf
            made = _of_row(one.row, figure, said.format(box=the(str(one.row["title"]))), unit, one.labels, most=most)
            yield made._replace(most=_highest_resale(one.row)) if figure == "residual_usd" else made


def _tariffs(owned: Sequence[Choice]) -> Iterator[Assumption]:
    """One electricity price for all machines of a price list."""
    lists: dict[str, list[Choice]] = {}
    for one in owned:
        if or_zero(one.row[TARIFF]) > 0:
            lists.setdefault(one.row["price_list"], []).append(one)
    for name, here in lists.items():
        row = here[0].row
        told = f"electricity price of {row['price_list_title']}" if len(lists) > 1 else "electricity price"
        yield _of_row(row, TARIFF, told, "USD/kWh", _labels(here), subject=name)


def _of_the_team(offers: Sequence[Choice], owned: Sequence[Choice], month_days: float) -> Iterator[Assumption]:
    """Months and days of use are the team's, whichever machine it has or takes; rents are means over these months."""
    bought = [one for one in owned if not one.there]
    if not bought:
        return
    row = next((one.row for one in bought if one.row["is_reference"]), bought[0].row)
    yield _of_row(row, "months", "length of the project", "months", _labels(offers), subject="")
    days = ("days_per_month", "days of use a month", "days/month")
    yield _of_row(row, *days, _labels(owned), subject="", most=month_days)


def _speeds(rows: Sequence[Row]) -> Iterator[Assumption]:
    """Speeds as factors, each error once: figures with one correlation key move together."""
    errors = speed_errors(rows)
    groups: dict[Error, list[Row]] = {}
    for row in rows:
        groups.setdefault(errors[row["row"]], []).append(row)
    for error, alike in groups.items():
        first, models = alike[0], list(dict.fromkeys(row["model"] for row in alike))
        value = float(first["images_per_s"])
        if not value > 0:
            continue
        known = isinstance(first.get("gpu"), str) and error[0] != "prediction"  # a prediction is off by its machine
        device = first["gpu"] if known else the(str(first["title"]))
        several = f"{first['figure_gpus']:g} × " if error[0] == "images_per_s" and first["figure_gpus"] > 1 else ""
        on = f" on {model_title(models[0])}" if len(models) == 1 else ""
        low, high, basis = range_of(first, "images_per_s", value)
        told = (SPEED, error_key(error), f"speed of {several}{device}{on}", FACTOR, 1.0, low / value, high / value)
        yield Assumption(*told, basis, "images_per_s", frozenset(row["row"] for row in alike))


def all_of(
    name: str, quantity: str = ALL_JOBS, figure: str = ALL_JOBS, rows: frozenset[int] = frozenset()
) -> Assumption:
    """So many times all of something; without more: the work."""
    return Assumption(quantity, "", name, FACTOR, 1.0, 1 - ASSUMED_RANGE, 1 + ASSUMED_RANGE, "assumed", figure, rows)


def _labels(offers: Sequence[Choice]) -> frozenset[int]:
    return frozenset(label for one in offers for label in one.labels)


def error_key(error: Error) -> str:
    """A correlation key of speeds as a key of the tables."""
    return "|".join(map(str, error))


def range_of(row: Row, figure: str, value: float) -> tuple[float, float, str]:
    """Low and high of a row's figure, and their basis: declared, an interval, or assumed (ASSUMED_RANGE)."""
    _, low, high = ends(row, figure)
    if low < high:  # NaN is not below anything
        measured = figure == "images_per_s" and not row["assumed_interval"]
        basis = "interval" if measured else "assumed" if figure == "images_per_s" else "declared"
        return low, high, basis
    return value * (1 - ASSUMED_RANGE), value * (1 + ASSUMED_RANGE), "assumed"
