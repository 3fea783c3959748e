"""A decision: the choices for one piece of work, the parameters they rest on, and what each choice costs."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sweetspot.bills.rates import Factor, Number, moves_ahead, or_zero
from sweetspot.choice_kinds import FACTOR
from sweetspot.decision.options import Row
from sweetspot.decision.simulate import OF_THE_TEAM as OF_THE_TEAM
from sweetspot.decision.simulate import rent_bounds, value_with_bounds
from sweetspot.throughput.speed_errors import Error, speed_errors
from sweetspot.titles import model_title
from sweetspot.wording import the

if TYPE_CHECKING:
    from sweetspot.decision.turning import BreakEvenCase  # which imports this module

FURTHEST = 5.0  # factor of a parameter, either way, beyond which nothing is looked for
ASSUMED_RANGE = 0.20  # either side, where nothing states a range; marked as assumed
PATHS = "price paths"  # basis of the range of a mean rent: its samples
ALL_JOBS, ALL_RENT, SPEED, RENT, TARIFF = "jobs", "rents", "speed", "usd_per_hour", "usd_per_kwh"
MACHINE_FIGURES = {
    "capex_usd": ("price of {box}", "USD"),
    "residual_usd": ("resale value of {box}", "USD"),
    "maintenance_usd_per_month": ("maintenance of {box}", "USD/month"),
    "kw": ("power of {box}", "kW"),
    "sell_for_usd": ("what {box} would sell for", "USD"),
}
FIGURES_IF_OWNED = ("kw", "sell_for_usd")
FIGURES_FOR_SALE = tuple(MACHINE_FIGURES)[:-1]
# Figures in which every cost is a straight line.
PRICES = ("usd_per_hour", "rent_factor", "capex_usd", "residual_usd", "maintenance_usd_per_month", "kw", "usd_per_kwh")
INTERVALS = 48  # into which the range of a turning point is divided, again and again
PRECISION = 2e-10  # of the logarithm of a factor
COARSE_FACTORS = (1.1, 1.25, 1.6, 2.5)  # evaluated before FURTHEST where a case is expensive
COARSE_PRECISION = 1e-4

Array = np.ndarray


@dataclass(frozen=True)
class Parameter:
    """An uncertain or adjustable input of a decision, with its baseline `value` and 90 % range.

    `quantity`: a column of the options, or one of the words above; `subject`: what it belongs to (an option, a price
    list, a class of jobs, a correlation key of speeds; empty: everything); `figure`: what it changes of the `rows` of
    the options, or of the work where there are none; `range_basis`: where the range is from; `unit` FACTOR: written as
    a factor; `maximum`: the largest value that it can have.
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
    maximum: float = math.inf

    def log_limit(self, factor: float) -> float:
        """Return the logarithm of the farthest factor on the side of another, without its sign."""
        return math.log(FURTHEST if factor < 1 else min(FURTHEST, self.maximum / self.value))


@dataclass(frozen=True)
class Choice:
    """One thing that one could do, or an offer that it may use.

    `row` of the options that it rests on most, `labels` of all its rows. Choices of the same `alternative` are not
    compared with each other; the answer is an `eligible` one; what was paid for one that is `already_owned` is spent.
    """

    option: str
    title: str
    row: Row
    alternative: str
    labels: frozenset[int]
    eligible: bool = True
    already_owned: bool = False

    @classmethod
    def of(cls, row: Row, eligible: bool = True) -> "Choice":
        """Return the choice of one option."""
        return cls(row["option"], str(row["title"]), row, str(row["alternative"]), frozenset([row["row"]]), eligible)


@dataclass(frozen=True)
class ParameterValues:
    """Values of parameters as factors of their baseline: numbers, or arrays over the same `cases`."""

    cases: int
    values: Mapping[Parameter, Number]

    def factor(self, label: int | None, figure: str) -> Number:
        """Return the factor of a figure of one row of the options."""
        return _product(by for key, by in self.values.items() if key.figure == figure and label in key.rows)

    def of(self, label: int | None) -> Factor:
        """Return the factors of one row of the options, by figure."""
        return partial(self.factor, label)

    @cached_property
    def rows(self) -> frozenset[int]:
        """Labels of the rows of which a figure changes."""
        return frozenset().union(*(parameter.rows for parameter in self.values))

    def touches(self, label: int) -> bool:
        """Return whether a figure of that row changes."""
        return label in self.rows

    def work(self, figure: str, subject: str | None = None) -> Number:
        """Return the factor of a figure of the work: of all its parameters together, or of one class of jobs."""
        subjects = None if subject is None else ("", subject)
        return _product(
            by
            for key, by in self.values.items()
            if key.figure == figure and (subjects is None or key.subject in subjects)
        )


def _product(factors: Iterable[Number]) -> Number:
    return math.prod(factors, start=1.0)


BASELINE = ParameterValues(1, {})


def parameters_of(offers: Sequence[Choice], speeds: Sequence[Row], month_days: float) -> list[Parameter]:
    """List the figures of offers that may change an answer.

    Parameters
    ----------
    offers
        What the choices use.
    speeds
        The rows of the options whose speeds the work has, each once.
    month_days
        Days of a month.

    Returns
    -------
    list of Parameter
        Rents, machines, tariffs, the team's months and days of use, speeds.
    """
    rented = [offer for offer in offers if offer.row["purchase"] != "own"]
    owned = [offer for offer in offers if offer.row["purchase"] == "own"]
    return [
        *_rents(rented),
        *(parameter for offer in owned for parameter in _machine_parameters(offer)),
        *_tariffs(owned),
        *_team_parameters(offers, owned, month_days),
        *_speeds(speeds),
    ]


def _row_parameter(
    row: Row, figure: str, name: str, unit: str, rows: frozenset[int], subject: str | None = None
) -> Parameter:
    """Return a figure of one row of the options with its range; without a `subject` it is of the row's option."""
    value = float(row[figure])
    return Parameter(
        figure,
        row["option"] if subject is None else subject,
        name,
        unit,
        value,
        *range_of(row, figure, value),
        figure,
        rows,
    )


def _rents(rented: Sequence[Choice]) -> Iterator[Parameter]:
    """Yield prices per hour, once for a machine in any number of nodes; that of all; the mean of those that change."""
    alternatives: dict[str, list[Choice]] = {}
    for offer in rented:
        alternatives.setdefault(offer.alternative, []).append(offer)
    for offers in alternatives.values():
        row = min((offer.row for offer in offers), key=lambda row: row["gpus"])
        yield _row_parameter(row, RENT, f"price of {the(str(row['title']))}", "USD/hour", _labels(offers))
    if len(rented) > 1:
        yield all_of("all rented prices", ALL_RENT, RENT, _labels(rented))
    changing = [offer for offer in rented if moves_ahead(offer.row)]
    if changing:
        row = changing[0].row
        value = float(row["rent_factor"])
        low, high = rent_bounds(row)
        name = ("rent_factor", "", "mean rent over the project", FACTOR)
        yield Parameter(*name, value, min(low, value), max(high, value), PATHS, "rent_factor", _labels(changing))


def _machine_parameters(offer: Choice) -> Iterator[Parameter]:
    row = offer.row
    for figure in FIGURES_IF_OWNED if offer.already_owned else FIGURES_FOR_SALE:
        if not or_zero(row[figure]) > 0:
            continue
        name, unit = MACHINE_FIGURES[figure]
        parameter = _row_parameter(row, figure, name.format(box=the(str(row["title"]))), unit, offer.labels)
        if figure == "residual_usd":
            # No machine is sold for more than it cost; its range moves with the value.
            price, upper, value = (float(row[name]) for name in ("capex_usd", "residual_usd_high", "residual_usd"))
            highest = price * value / upper if upper > value else price
            parameter = replace(parameter, high=min(parameter.high, price), maximum=highest)
        yield parameter


def _tariffs(owned: Sequence[Choice]) -> Iterator[Parameter]:
    """Yield one electricity price for all machines of a price list."""
    by_list: dict[str, list[Choice]] = {}
    for offer in owned:
        if or_zero(offer.row[TARIFF]) > 0:
            by_list.setdefault(offer.row["price_list"], []).append(offer)
    for price_list, offers in by_list.items():
        row = offers[0].row
        name = f"electricity price of {row['price_list_title']}" if len(by_list) > 1 else "electricity price"
        yield _row_parameter(row, TARIFF, name, "USD/kWh", _labels(offers), price_list)


def _team_parameters(offers: Sequence[Choice], owned: Sequence[Choice], month_days: float) -> Iterator[Parameter]:
    """Yield months and days of use, which are the team's with any machine; rents are means over these months."""
    bought = [offer.row for offer in owned if not offer.already_owned]
    if bought:
        row = next((row for row in bought if row["is_reference"]), bought[0])
        yield _row_parameter(row, "months", "length of the project", "months", _labels(offers), "")
        days = _row_parameter(row, "days_per_month", "days of use a month", "days/month", _labels(owned), "")
        yield replace(days, high=min(days.high, month_days), maximum=month_days)


def _speeds(rows: Sequence[Row]) -> Iterator[Parameter]:
    """Yield speeds as factors, one per correlation key."""
    errors = speed_errors(rows)
    by_error: dict[Error, list[Row]] = {}
    for row in rows:
        by_error.setdefault(errors[row["row"]], []).append(row)
    for error, group in by_error.items():
        row, models = group[0], {row["model"] for row in group}
        value = float(row["images_per_s"])
        if not value > 0:
            continue
        # The error of a prediction is that of its machine, not of its device.
        is_device = isinstance(row.get("gpu"), str) and error[0] != "prediction"
        device = row["gpu"] if is_device else the(str(row["title"]))
        count = f"{row['figure_gpus']:g} × " if error[0] == "images_per_s" and row["figure_gpus"] > 1 else ""
        model = f" on {model_title(row['model'])}" if len(models) == 1 else ""
        low, high, basis = range_of(row, "images_per_s", value)
        name = (SPEED, error_key(error), f"speed of {count}{device}{model}", FACTOR)
        labels = frozenset(row["row"] for row in group)
        yield Parameter(*name, 1.0, low / value, high / value, basis, "images_per_s", labels)


def all_of(
    name: str, quantity: str = ALL_JOBS, figure: str = ALL_JOBS, rows: frozenset[int] = frozenset()
) -> Parameter:
    """Return a common factor of all values of a figure; by default the amount of work."""
    bounds = (1 - ASSUMED_RANGE, 1 + ASSUMED_RANGE)
    return Parameter(quantity, "", name, FACTOR, 1.0, *bounds, "assumed", figure, rows)


def _labels(offers: Iterable[Choice]) -> frozenset[int]:
    return frozenset().union(*(offer.labels for offer in offers))


def error_key(error: Error) -> str:
    """Return a correlation key of speeds as text, for tables."""
    return "|".join(map(str, error))


def range_of(row: Row, figure: str, value: float) -> tuple[float, float, str]:
    """Return the 90 % range of a figure of a row and its basis: declared, interval, or assumed (ASSUMED_RANGE)."""
    _, low, high = value_with_bounds(row, figure)
    if not low < high:  # NaN is not below anything
        return value * (1 - ASSUMED_RANGE), value * (1 + ASSUMED_RANGE), "assumed"
    if figure != "images_per_s":
        return low, high, "declared"
    return low, high, "assumed" if row["assumed_interval"] else "interval"


@dataclass(frozen=True)
class Costs:
    """USD of each choice in each case, infinite where it does not do the work, and the machines that it takes.

    `alternative`: what each choice is, where this changes between cases. All are choice x case.
    """

    usd: Array
    counts: Array
    alternative: Array | None = None


@dataclass(frozen=True)
class TurningPoint:
    """From this factor of a parameter on, the choice `to` of another `alternative` is the cheapest."""

    factor: float
    to: int
    usd: float
    machines: float
    alternative: str | None = None


@dataclass(eq=False, kw_only=True)
class DecisionProblem(ABC):
    """A workload, the choices for it, and what each costs at any values of the parameters.

    Parameters
    ----------
    workload, months, size_text
        Name, length of the project (NaN: not stated), and size in words.
    choices, parameters
        What one could do, cheapest first, and what its costs rest on.
    samples_usd
        USD, choice x sample.
    model
        The network, where the work is one job.
    reference
        Label of the row whose months and days are those of the team.
    of_the_team
        Sampled figures that all choices share.
    work_samples
        Parameters of the work with their samples.
    neighbour_usd
        Samples of what costs almost the same as a choice: one machine more or fewer.
    rows
        Further rows of the options, by label.
    """

    workload: str
    months: float
    size_text: str
    choices: tuple[Choice, ...]
    parameters: tuple[Parameter, ...]
    samples_usd: Array
    model: str = ""
    reference: int | None = None
    of_the_team: tuple[str, ...] = ()
    work_samples: tuple[tuple[Parameter, Array], ...] = ()
    neighbour_usd: Array | None = None
    rows: Mapping[int, Row] = field(default_factory=dict)
    is_expensive: ClassVar[bool] = False  # Then few cases are evaluated, one at a time.
    not_sampled: ClassVar[tuple[str, ...]] = ()  # figures whose samples change no cost

    @abstractmethod
    def cost_usd(self, values: ParameterValues) -> Costs:
        """Return the costs of all choices in each case."""

    def refine(self, parameter: Parameter, point: TurningPoint) -> TurningPoint | None:
        """Return a turning point made exact; None where there is none after all."""
        return point

    def break_even_cases(self) -> "Iterable[BreakEvenCase]":
        """Return what could be owned or signed for, with the parameters from whose values on it pays."""
        return ()

    @property
    def row_names(self) -> dict[str, str | None]:
        """Columns of a table that name the work; for one job, its model too."""
        row = self.choices[0].row
        title = str(row.get("model_title") or row["model"]) if self.model else None
        return {"workload": self.workload, "model": self.model or None, "model_title": title}

    @cached_property
    def best(self) -> int:
        """Index of the cheapest eligible choice."""
        return int(self.eligible.argmax())

    @property
    def runner_up(self) -> int | None:
        """Index of the choice that the best is compared with; None without another alternative."""
        return next(map(int, np.flatnonzero(self.rivals)), None)

    def months_at(self, parameter: Parameter, factor: float) -> float:
        """Return the months of the project with a parameter at a factor of its baseline."""
        return self.months * (factor if parameter.figure == "months" else 1.0)

    @cached_property
    def baseline(self) -> Costs:
        """The costs at the baseline: one case."""
        return self.cost_usd(BASELINE)

    @cached_property
    def eligible(self) -> Array:
        """Which choices may be the answer."""
        return np.array([choice.eligible for choice in self.choices])

    @cached_property
    def incumbents(self) -> Array:
        """Which eligible choices are of the best's alternative."""
        best = self.choices[self.best].alternative
        return self.eligible & np.array([choice.alternative == best for choice in self.choices])

    @property
    def rivals(self) -> Array:
        """Which eligible choices are of another alternative."""
        return self.eligible & ~self.incumbents

    @cached_property
    def competing(self) -> Array:
        """Indices of the eligible choices that do the work in every sample, the cheapest on average first."""
        usd = np.where(self.eligible, self.samples_usd.mean(axis=1), np.inf)
        order = np.argsort(usd, kind="stable")
        return order[np.isfinite(usd[order])]

    def row_of(self, labels: Sequence[int]) -> Row:
        """Return the row that represents a sampled figure: the reference's, else the cheapest choice's."""
        chosen = {choice.row["row"]: choice.row for choice in (self.choices[index] for index in self.competing)}
        by_label = {**self.rows, **chosen}
        order = [self.reference, *chosen, *sorted(by_label)]
        return by_label[next(label for label in order if label in labels and label in by_label)]

    def at(self, parameter: Parameter, factors: Array | Sequence[float]) -> Costs:
        """Return the costs with one parameter at factors of its baseline."""
        return self.cost_usd(ParameterValues(len(factors), {parameter: np.asarray(factors, float)}))

    def title(self, index: int, count: float, alternative: str | None = None) -> str:
        """Return a choice in words, with the machines that it takes and the alternative that it is."""
        title = self.choices[index].title
        return f"{count:g} × {title}" if count > 1 else title

    def title_at(self, costs: Costs, index: int, case: int) -> str:
        """Return a choice in words as it is in one case."""
        alternative = None if costs.alternative is None else costs.alternative[index, case]
        return self.title(index, float(costs.counts[index, case]), alternative)

    def cheapest(self, costs: Costs) -> Array:
        """Return the index of the cheapest eligible choice in each case."""
        return np.where(self.eligible[:, None], costs.usd, np.inf).argmin(axis=0)

    def is_changed(self, costs: Costs) -> Array:
        """Return in which cases another alternative is the cheapest; a tie changes nothing."""
        if costs.alternative is None or self.baseline.alternative is None:
            rivals, incumbents = costs.usd[self.rivals], costs.usd[self.incumbents]
            return np.asarray(rivals.min(axis=0, initial=np.inf) < incumbents.min(axis=0, initial=np.inf))
        alternative = costs.alternative[self.cheapest(costs), np.arange(costs.usd.shape[1])]
        return np.asarray(alternative != self.baseline.alternative[self.best, 0])

    @cached_property
    def turning_points(self) -> dict[Parameter, list[TurningPoint]]:
        """The nearest turning points of each parameter below and above the baseline, within a factor of FURTHEST."""
        points = {}
        for parameter in self.parameters:
            pair = (self._turning_point(parameter, side) for side in (-1.0, 1.0))
            points[parameter] = [point for point in pair if point is not None]
        return points

    def nearest(self, parameter: Parameter) -> float:
        """Return the factor of the nearest turning point of a parameter; NaN without one."""
        factors = (point.factor for point in self.turning_points[parameter])
        return min(factors, key=lambda factor: abs(math.log(factor)), default=math.nan)

    def _turning_point(self, parameter: Parameter, side: float) -> TurningPoint | None:
        """Return the first factor on one side from which another alternative is the cheapest.

        The range is divided again and again. A price is a straight line in each cost, so that the advantage of the
        best only falls from some factor on: there the far end alone tells whether the answer changes.
        """
        outer = side * parameter.log_limit(math.exp(side))
        if not side * outer > 0:
            return None
        if parameter.figure in PRICES and not self.is_changed(self.at(parameter, [math.exp(outer)]))[0]:
            return None
        logs, parts, precision = np.linspace(0.0, outer, INTERVALS + 1)[1:], INTERVALS, PRECISION
        if self.is_expensive:
            coarse = [] if parameter.figure in PRICES else [side * math.log(factor) for factor in COARSE_FACTORS]
            logs = np.array([*(log for log in coarse if abs(log) < abs(outer)), outer])
            parts, precision = 2, COARSE_PRECISION
        inner, point = 0.0, None
        while True:
            for batch in logs[:, None] if self.is_expensive else logs[None]:
                costs = self.at(parameter, np.exp(batch))
                changed = np.flatnonzero(self.is_changed(costs))
                if changed.size:
                    first = int(changed[0])
                    inner, outer = (float(batch[first - 1]) if first else inner), float(batch[first])
                    point = self._point_at(costs, first, math.exp(outer))
                    break
                inner = float(batch[-1])
            if point is None:
                return None
            if abs(outer - inner) <= precision:
                return self.refine(parameter, point)
            logs = np.linspace(inner, outer, parts + 1)[1:-1]

    def _point_at(self, costs: Costs, case: int, factor: float) -> TurningPoint:
        to = int(self.cheapest(costs)[case])
        alternative = None if costs.alternative is None else costs.alternative[to, case]
        return TurningPoint(factor, to, float(costs.usd[to, case]), float(costs.counts[to, case]), alternative)
