"""A decision: the choices for one piece of work, the parameters behind their costs, and USD of each choice."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sweetspot.bills.rates import Factor, Number, moves_ahead, or_zero, rates
from sweetspot.choice_kinds import FACTOR
from sweetspot.decision.options import Row
from sweetspot.decision.simulate import Array, rent_bounds, value_with_bounds
from sweetspot.throughput.speed_errors import Error, speed_errors
from sweetspot.titles import model_title
from sweetspot.wording import the

FURTHEST = 5.0  # factor of a parameter, either way, beyond which nothing is looked for
ALL_JOBS = "jobs"
ALL_RENT = "rents"
SPEED = "speed"
RENT = "usd_per_hour"
TARIFF = "usd_per_kwh"
INTERVALS = 48  # into which the range of a turning point is divided, again and again
PRECISION = 2e-10  # of the logarithm of a factor
ASSUMED_RANGE = 0.20  # either side, where nothing states a range; marked as assumed
PATHS = "price paths"  # basis of the range of a mean rent: its samples
FIGURES = {
    "capex_usd": ("price of", "USD"),
    "residual_usd": ("resale value of", "USD"),
    "maintenance_usd_per_month": ("maintenance of", "USD/month"),
    "kw": ("power of", "kW"),
}


@dataclass(frozen=True)
class Parameter:
    """An uncertain or adjustable input of a decision (a price, a speed, an amount of work), with `value` and 90 %
    range.

    `quantity`: a column of the options, or one of the words above; `subject`: its owner (an option, a price list, a
    class of jobs, a correlation key of speeds; empty: everything); `figure`: the figure that changes in the `rows` of
    the options, or in the work where `rows` is empty; `range_basis`: where the range is from; `unit` FACTOR: written as
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
        """Return |log| of the farthest factor to be tried, below 1 if `factor` is below 1, else above 1 (`maximum`)."""
        return math.log(FURTHEST if factor < 1 else min(FURTHEST, self.maximum / self.value))


@dataclass(frozen=True)
class Choice:
    """One choice of a decision (buy, sign, rent), or an offer (one machine at one price) that a choice may use.

    `row`: the option that most of its cost comes from; `labels`: of all its rows. Choices of the same `alternative` are
    not compared with each other; only an `eligible` one can be the answer; an `already_owned` one is paid already.
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
        """Return the choice to take one option, from its row of the options table."""
        return cls(row["option"], row["title"], row, row["alternative"], frozenset([row["row"]]), eligible)


@dataclass(frozen=True)
class ParameterValues:
    """What-if values of parameters, as factors of their baseline: numbers, or arrays over the same `cases`."""

    cases: int
    values: Mapping[Parameter, Number]

    def factor(self, label: int | None, figure: str) -> Number:
        """Return by what a figure (a column of the options, such as a price) of one row is multiplied in each case; 1:
        unchanged. `cost_usd` multiplies prices and speeds by it. `label`: of the row in the table of options.
        """
        factors = (by for key, by in self.values.items() if key.figure == figure and label in key.rows)
        return math.prod(factors, start=1.0)

    def of(self, label: int | None) -> Factor:
        """Return a function from the name of a figure to its factor in the row with that label."""
        return partial(self.factor, label)

    @cached_property
    def rows(self) -> frozenset[int]:
        """Labels of the option rows in which some figure changes."""
        return frozenset().union(*(parameter.rows for parameter in self.values))

    def work(self, figure: str, subject: str | None = None) -> Number:
        """Return by what a figure of the work (jobs, months, days of use) is multiplied in each case, to scale costs
        with it. `figure`: its name; `subject`: a class of jobs, whose own factors count (None: of all classes).
        """
        pairs = [(key, by) for key, by in self.values.items() if key.figure == figure]
        return math.prod((by for key, by in pairs if subject is None or key.subject in ("", subject)), start=1.0)


def error_key(error: Error) -> str:
    """Return a correlation key of speeds as one text, its parts joined by '|'."""
    return "|".join(map(str, error))


BASELINE = ParameterValues(1, {})


def hour_change(row: Row, values: ParameterValues, rent: Number | None = None) -> Number:
    """Return USD per hour of use of an option at what-if values / USD as planned, by which its cost is scaled; if free,
    1.

    Parameters
    ----------
    row, values, rent
        Row of options (a machine at a price); parameters as factors of their baseline; sampled mean rent, as `rates`
        takes it (None: computed).
    """
    baseline = rates(row, BASELINE.of(None)).variable
    return rates(row, values.of(row["row"]), rent).variable / baseline if baseline else 1.0


@dataclass(frozen=True)
class Costs:
    """USD and number of machines (`counts`) of each choice in each case; USD is infinite if the work is not done.

    `alternative`: alternative that each choice belongs to, if this varies between cases. All are choice x case.
    """

    usd: Array
    counts: Array
    alternative: Array | None = None


class BreakEvenCase(NamedTuple):
    """USD of owning or committing to a machine minus USD of renting, along the factors of a parameter.

    `parameter`: with the name, quantity, value and unit of the amount that is stated to people. `usd`: at central
    figures, by factor; `samples`: sample x factor, at the `selected` of the factors (indices); `machines`: number of
    machines at each factor.
    """

    option: str
    title: str
    parameter: Parameter
    factors: Array
    usd: Array
    machines: Array
    samples: Array
    selected: Array


@dataclass(frozen=True)
class TurningPoint:
    """The factor of a parameter from which on another alternative's choice, index `to`, is the cheapest."""

    factor: float
    to: int
    machines: float
    alternative: str | None = None


@dataclass(eq=False, kw_only=True)
class DecisionProblem(ABC):
    """A workload, the choices for it, and USD of each choice at any values of the parameters.

    Parameters
    ----------
    workload, months
        Name, and length of the project in months (NaN: not stated).
    choices, parameters
        The choices, cheapest first, and the parameters that change their costs.
    samples_usd, model
        USD, choice x sample; the network, where the work is one job.
    reference
        Label of the option row whose months and days of use all choices share (None: they do not).
    work_samples, rows
        Parameters of the work with their samples; further rows of the options, by label.
    """

    workload: str
    months: float
    choices: tuple[Choice, ...]
    parameters: tuple[Parameter, ...]
    samples_usd: Array
    model: str = ""
    reference: int | None = None
    work_samples: tuple[tuple[Parameter, Array], ...] = ()
    rows: dict[int, Row] = field(default_factory=dict)
    not_sampled: ClassVar[tuple[str, ...]] = ()  # figures whose samples change no cost

    @abstractmethod
    def cost_usd(self, values: ParameterValues) -> Costs:
        """Return USD and machines of all choices in each case of the values, choice x case."""

    def break_even_cases(self) -> Iterable[BreakEvenCase]:
        """Return a case per machine or contract and parameter, for the values at which it is cheaper than rent."""
        return ()

    @property
    def row_names(self) -> dict[str, str | None]:
        """Columns that name the work in tables: workload and model (None if not one job)."""
        return {"workload": self.workload, "model": self.model or None}

    @cached_property
    def best(self) -> int:
        """Index of the cheapest eligible choice."""
        return int(self.eligible.argmax())

    @property
    def runner_up(self) -> int | None:
        """Index of the first eligible choice of another alternative than the best's; None without one."""
        return next(map(int, np.flatnonzero(self.rivals)), None)

    @cached_property
    def baseline(self) -> Costs:
        """USD and machines of all choices at the baseline, choice x 1."""
        return self.cost_usd(BASELINE)

    @cached_property
    def eligible(self) -> Array:
        """Booleans by choice: whether it may be the answer."""
        return np.array([choice.eligible for choice in self.choices])

    @cached_property
    def incumbents(self) -> Array:
        """Booleans by choice: whether it is eligible and of the best choice's alternative."""
        best = self.choices[self.best].alternative
        return self.eligible & np.array([choice.alternative == best for choice in self.choices])

    @property
    def rivals(self) -> Array:
        """Booleans by choice: whether it is eligible and of another alternative than the best."""
        return self.eligible & ~self.incumbents

    @cached_property
    def competing(self) -> Array:
        """Indices of the choices that can be the answer, on average the cheapest first: eligible, finite USD in every
        sample. What a figure is worth knowing is computed among these.
        """
        usd = np.where(self.eligible, self.samples_usd.mean(axis=1), np.inf)
        order = np.argsort(usd, kind="stable")
        return order[np.isfinite(usd[order])]

    def row_of(self, labels: Sequence[int]) -> Row:
        """Return the option row, of those with `labels`, that stands in tables for a figure that several share.

        It is the reference's, else the cheapest choice's, else the first.
        """
        chosen = {row["row"]: row for row in (self.choices[index].row for index in self.competing)}
        by_label = self.rows | chosen
        order = (self.reference, *chosen, *sorted(by_label))
        return next(by_label[label] for label in order if label in labels and label in by_label)

    def at(self, parameter: Parameter, factors: Array | Sequence[float]) -> Costs:
        """Return costs (choice x case) with one parameter at each of `factors` times its baseline, one case each.

        Everything else stays as planned; tornado, turning points and sweeps ask this way.
        """
        return self.cost_usd(ParameterValues(len(factors), {parameter: np.asarray(factors, float)}))

    def title(self, index: int, count: float, alternative: str | None = None) -> str:
        """Return a choice in words, such as '2 × title', for the page and for tables of turning points.

        Parameters
        ----------
        index, count, alternative
            Index of the choice; number of its machines; the offer that is rented most, of a choice that may rent
            several (here ignored).
        """
        title = self.choices[index].title
        return f"{count:g} × {title}" if count > 1 else title

    def title_at(self, costs: Costs, index: int, case: int) -> str:
        """Return a choice in words, with its number of machines and main offer in one case, to say which answer comes
        next.

        Parameters
        ----------
        costs, index, case
            Costs of all choices, as `cost_usd` returns them; index of the choice, and of the case (column of `costs`).
        """
        alternative = None if costs.alternative is None else costs.alternative[index, case]
        return self.title(index, float(costs.counts[index, case]), alternative)

    def cheapest(self, costs: Costs) -> Array:
        """Return the index of the cheapest eligible choice, one per case."""
        return np.where(self.eligible[:, None], costs.usd, np.inf).argmin(axis=0)

    def is_changed(self, costs: Costs) -> Array:
        """Return booleans by case (column of `costs`): whether the answer is another than at the baseline, because
        another alternative is cheaper than the best's; False in a tie.
        """
        rivals = costs.usd[self.rivals]
        incumbents = costs.usd[self.incumbents]
        return np.asarray(rivals.min(axis=0, initial=np.inf) < incumbents.min(axis=0, initial=np.inf))

    @cached_property
    def turning_points(self) -> dict[Parameter, list[TurningPoint]]:
        """Where the answer changes: the nearest turning points of each parameter below and above its baseline, [] where
        there is none within a factor of FURTHEST. The page names them as what would change the verdict.
        """
        return {
            parameter: [point for side in (-1.0, 1.0) if (point := self._turning_point(parameter, side))]
            for parameter in self.parameters
        }

    def nearest(self, parameter: Parameter) -> float:
        """Return the factor of a parameter's turning point that is nearest to 1; NaN without one."""
        factors = (point.factor for point in self.turning_points[parameter])
        return min(factors, key=lambda factor: abs(math.log(factor)), default=math.nan)

    def _turning_point(self, parameter: Parameter, side: float) -> TurningPoint | None:
        """Return the nearest factor of a parameter at which the answer changes; None if none does within FURTHEST (five
        times). `side`: below (-1) or above (1) the baseline. The range is divided again and again, so that the factor
        is exact.
        """
        inner = 0.0
        outer = side * parameter.log_limit(math.exp(side))
        if not side * outer > 0:
            return None
        while True:
            logs = np.linspace(inner, outer, INTERVALS + 1)
            costs = self.at(parameter, np.exp(logs))
            changed = np.flatnonzero(self.is_changed(costs)[1:]) + 1
            if not changed.size:
                return None
            inner = logs[changed[0] - 1]
            outer = logs[changed[0]]
            if abs(outer - inner) <= PRECISION:
                to = int(self.cheapest(costs)[changed[0]])
                return TurningPoint(math.exp(outer), to, float(costs.counts[to, changed[0]]))


def parameters_of(offers: Sequence[Choice], speeds: Sequence[Row], month_days: float) -> list[Parameter]:
    """Return the parameters (prices, speeds, months ...) that may change an answer, each with its 90 % range, for all
    analyses. A parameter is a figure of one or several offers with its baseline value; the tornado, say, has a bar for
    each.

    Parameters
    ----------
    offers, speeds, month_days
        Offers (a machine at a price) that the choices use; the rows of the options whose speeds the work has, each
        once; days of a month.
    """
    owned = [offer for offer in offers if offer.row["purchase"] == "own"]
    rented = [offer for offer in offers if offer not in owned]
    return [*_rents(rented), *_owned(offers, owned, month_days), *_speeds(speeds)]


def _of_offers(figure: str, name: str, unit: str, offers: Sequence[Choice], subject: str | None = None) -> Parameter:
    """Return one figure (column, such as a price) of all `offers` as a Parameter, which analyses move as one.

    Value and range are those of the first offer. `name`, `unit`: for people; `subject`: key of what owns it (None: the
    first offer's option).
    """
    row = offers[0].row
    value = row[figure]
    owner = row["option"] if subject is None else subject
    return Parameter(figure, owner, name, unit, value, *range_of(row, figure, value), figure, _labels(offers))


def _rents(rented: Sequence[Choice]) -> Iterator[Parameter]:
    """Yield rents as parameters, by which analyses move them.

    They are USD/hour of each rented machine (any number of nodes), a factor of all rents, and the mean over the project
    of rents that change with time. `rented`: offers that choices rent.
    """
    for offers in _groups(rented, [offer.alternative for offer in rented]).values():
        offers.sort(key=lambda offer: offer.row["gpus"])
        yield _of_offers(RENT, f"price of {the(offers[0].row['title'])}", "USD/hour", offers)
    if len(rented) > 1:
        yield all_of("all rented prices", ALL_RENT, RENT, _labels(rented))

    changing = [offer for offer in rented if moves_ahead(offer.row)]
    if changing:
        value = changing[0].row["rent_factor"]
        low, _, high = sorted([value, *rent_bounds(changing[0].row)])
        mean = all_of("mean rent over the project", "rent_factor", "rent_factor", _labels(changing))
        yield replace(mean, value=value, low=low, high=high, range_basis=PATHS)


def _owned(offers: Sequence[Choice], owned: Sequence[Choice], month_days: float) -> Iterator[Parameter]:
    """Yield the parameters of owned machines, by which analyses move their costs.

    They are price, resale, maintenance and power of each, tariffs of each price list, and months and days of use, equal
    for all. `offers`: all offers that choices use; `owned`: those of machines; `month_days`: days of a month.
    """
    for offer in owned:
        row = offer.row
        for figure, (name, unit) in FIGURES.items():
            # Of a machine that one has, all but the power is spent or settled.
            if or_zero(row[figure]) > 0 and (figure == "kw" or not offer.already_owned):
                parameter = _of_offers(figure, f"{name} {the(row['title'])}", unit, [offer])
                if figure == "residual_usd":
                    # No machine is sold for more than it cost; its range moves with the value.
                    price = row["capex_usd"]
                    highest = max(parameter.value, or_zero(row["residual_usd_high"]))
                    maximum = price * parameter.value / highest
                    parameter = replace(parameter, high=min(parameter.high, price), maximum=maximum)
                yield parameter

    billed = [offer for offer in owned if or_zero(offer.row[TARIFF]) > 0]
    lists = _groups(billed, [offer.row["price_list"] for offer in billed])
    for price_list, group in lists.items():
        name = f"electricity price of {group[0].row['price_list_title']}" if len(lists) > 1 else "electricity price"
        yield _of_offers(TARIFF, name, "USD/kWh", group, price_list)

    bought = [offer for offer in owned if not offer.already_owned]
    if bought:
        first = next((offer for offer in bought if offer.row["is_reference"]), bought[0])
        yield _of_offers("months", "length of the project", "months", [first, *offers], "")
        days = _of_offers("days_per_month", "days of use a month", "days/month", [first, *owned], "")
        yield replace(days, high=min(days.high, month_days), maximum=month_days)


def _speeds(rows: Sequence[Row]) -> Iterator[Parameter]:
    """Yield speeds as parameters (factors of their baseline, 1), one per correlation key: speeds with a common error
    move together. `rows`: rows of the options, with images/s and 90 % range.
    """
    errors = speed_errors(rows)
    for error, group in _groups(rows, [errors[row["row"]] for row in rows]).items():
        row = group[0]
        models = {row["model"] for row in group}
        value = row["images_per_s"]
        if not value > 0:
            continue

        # The error of a prediction is that of its machine, not of its device.
        is_device = isinstance(row.get("gpu"), str) and error[0] != "prediction"
        device = row["gpu"] if is_device else the(row["title"])
        name = f"{row['figure_gpus']:g} × " if error[0] == "images_per_s" and row["figure_gpus"] > 1 else ""
        name += device + (f" on {model_title(row['model'])}" if len(models) == 1 else "")
        low, high, basis = range_of(row, "images_per_s", value)
        labels = frozenset(row["row"] for row in group)
        speed = all_of(f"speed of {name}", SPEED, "images_per_s", labels)
        yield replace(speed, subject=error_key(error), low=low / value, high=high / value, range_basis=basis)


def all_of(
    name: str, quantity: str = ALL_JOBS, figure: str = ALL_JOBS, rows: frozenset[int] = frozenset()
) -> Parameter:
    """Return a parameter that multiplies all values of a figure, such as all rents; by default the amount of work.

    Its baseline is 1, its range 20 % either side, assumed.

    Parameters
    ----------
    name, quantity, figure, rows
        What people call it; its key in tables; the figure that it multiplies; labels of the option rows in which it
        multiplies the figure (empty: a figure of the work).
    """
    bounds = (1 - ASSUMED_RANGE, 1 + ASSUMED_RANGE)
    return Parameter(quantity, "", name, FACTOR, 1.0, *bounds, "assumed", figure, rows)


def _labels(offers: Iterable[Choice]) -> frozenset[int]:
    return frozenset().union(*(offer.labels for offer in offers))


def _groups(items: Iterable[Any], keys: Iterable[Any]) -> dict[Any, list[Any]]:
    """Return {key: its items} in order, for parameters that several have in common: offers of one machine, rows of one
    error. `keys`: the key of each of the `items`.
    """
    groups: dict[Any, list[Any]] = {}
    for item, key in zip(items, keys, strict=True):
        groups.setdefault(key, []).append(item)
    return groups


def range_of(row: Row, figure: str, value: float) -> tuple[float, float, str]:
    """Return (low, high, basis): the range over which analyses move a figure of an option row, 90 % in its unit.

    The basis says where it is from: declared, interval or assumed (20 % either side).

    Parameters
    ----------
    row, figure, value
        A row of the options; the column, whose range is in `figure`_low and `figure`_high, if known; its value.
    """
    is_speed = figure == "images_per_s"
    basis = "declared" if not is_speed else "assumed" if row["assumed_interval"] else "interval"
    return known_or_assumed(value, *value_with_bounds(row, figure)[1:], basis)


def known_or_assumed(value: float, low: float, high: float, basis: str) -> tuple[float, float, str]:
    """Return (low, high, basis) of a value's range, which analyses use; ASSUMED_RANGE either side where none is known.

    The basis is then 'assumed', which tables show.

    Parameters
    ----------
    value, low, high, basis
        A value and its 90 % range, in its unit (NaN or equal ends: unknown); where the range is from.
    """
    if low < high:  # NaN is not below anything.
        return low, high, basis
    return value * (1 - ASSUMED_RANGE), value * (1 + ASSUMED_RANGE), "assumed"
