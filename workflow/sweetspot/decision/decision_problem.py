"""A decision: the choices for one piece of work, the parameters behind their costs, and USD of each choice."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import ClassVar, NamedTuple

import numpy as np

from sweetspot.bills.rates import Factor, Number, rates
from sweetspot.decision.options import Row
from sweetspot.throughput.speed_errors import Error

FURTHEST = 5.0  # factor of a parameter, either way, beyond which nothing is looked for
ALL_JOBS, ALL_RENT, SPEED, RENT, TARIFF = "jobs", "rents", "speed", "usd_per_hour", "usd_per_kwh"
INTERVALS = 48  # into which the range of a turning point is divided, again and again
PRECISION = 2e-10  # of the logarithm of a factor
# Figures in which every cost is a straight line.
PRICES = ("usd_per_hour", "rent_factor", "capex_usd", "residual_usd", "maintenance_usd_per_month", "kw", "usd_per_kwh")

Array = np.ndarray


@dataclass(frozen=True)
class Parameter:
    """An uncertain or adjustable input of a decision, with its baseline `value` and 90 % range.

    `quantity`: a column of the options, or one of the words above; `subject`: its owner (an option, a price list,
    a class of jobs, a correlation key of speeds; empty: everything); `figure`: the figure that changes in the `rows` of
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
    """One choice of a decision (buy, sign, rent), or an offer that a choice may use.

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
        return cls(row["option"], str(row["title"]), row, str(row["alternative"]), frozenset([row["row"]]), eligible)


@dataclass(frozen=True)
class ParameterValues:
    """Values of parameters as factors of their baseline: numbers, or arrays over the same `cases`."""

    cases: int
    values: Mapping[Parameter, Number]

    def factor(self, label: int | None, figure: str) -> Number:
        """Return the factor, over its baseline, of a figure of the row with that label; 1 if unchanged."""
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
        """Return the factor of a figure of the work, of all its parameters or of those of one class (`subject`)."""
        pairs = ((key, by) for key, by in self.values.items() if key.figure == figure)
        return math.prod((by for key, by in pairs if subject is None or key.subject in ("", subject)), start=1.0)


def error_key(error: Error) -> str:
    """Return a correlation key of speeds as one text, its parts joined by '|'."""
    return "|".join(map(str, error))


BASELINE = ParameterValues(1, {})


def hour_change(row: Row, values: ParameterValues, rent: Number | None = None) -> Number:
    """Return USD per hour of use of an option row at parameter values over that at the baseline; 1 if it is free.

    Parameters
    ----------
    row, rent
        As `rates` takes them.
    values
        Values of the parameters.
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


class CostDifference(NamedTuple):
    """USD of owning or committing minus USD of renting, row x factor of a parameter.

    `planned` has one row, `samples` one per sample; `machines`: number of machines at each factor.
    """

    factors: Array
    planned: Array
    samples: Array
    sample_factors: Array
    machines: Array
    sample_machines: Array


class BreakEvenCase(NamedTuple):
    """A machine to own or commit to, and a parameter with `name`, `quantity`, baseline `planned` and unit."""

    option: str
    title: str
    assumption: Parameter
    name: str
    quantity: str
    planned: float
    unit: str
    difference: CostDifference
    p_pays: float


@dataclass(frozen=True)
class TurningPoint:
    """The factor of a parameter from which on another alternative's choice, index `to`, is the cheapest."""

    factor: float
    to: int
    usd: float
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
    samples_usd
        USD, choice x sample.
    model
        The network, where the work is one job.
    reference
        Label of the option row whose months and days of use all choices share (None: they do not).
    work_samples
        Parameters of the work with their samples.
    neighbour_usd
        USD of variants of a choice with one machine more or fewer, variant x sample.
    rows
        Further rows of the options, by label.
    """

    workload: str
    months: float
    choices: tuple[Choice, ...]
    parameters: tuple[Parameter, ...]
    samples_usd: Array
    model: str = ""
    reference: int | None = None
    work_samples: tuple[tuple[Parameter, Array], ...] = ()
    neighbour_usd: Array | None = None
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

    def months_at(self, parameter: Parameter, factor: float) -> float:
        """Return the length of the project in months with a parameter at `factor` times its baseline."""
        return self.months * (factor if parameter.figure == "months" else 1.0)

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
        """Indices of the eligible choices with finite USD in every sample, the cheapest on average first."""
        usd = np.where(self.eligible, self.samples_usd.mean(axis=1), np.inf)
        order = np.argsort(usd, kind="stable")
        return order[np.isfinite(usd[order])]

    def row_of(self, labels: Sequence[int]) -> Row:
        """Return the option row among `labels` that represents a figure: the reference's, else the cheapest one."""
        chosen = {row["row"]: row for row in (self.choices[index].row for index in self.competing)}
        by_label = self.rows | chosen
        order = (self.reference, *chosen, *sorted(by_label))
        return next(by_label[label] for label in order if label in labels and label in by_label)

    def at(self, parameter: Parameter, factors: Array | Sequence[float]) -> Costs:
        """Return costs (choice x case) with one parameter at each of `factors` times its baseline, one case each."""
        return self.cost_usd(ParameterValues(len(factors), {parameter: np.asarray(factors, float)}))

    def title(self, index: int, count: float, alternative: str | None = None) -> str:
        """Return a choice in words, such as '2 × title'; `count`: number of machines."""
        title = self.choices[index].title
        return f"{count:g} × {title}" if count > 1 else title

    def title_at(self, costs: Costs, index: int, case: int) -> str:
        """Return a choice in words, with its number of machines in one case of `costs`."""
        return self.title(index, float(costs.counts[index, case]))

    def cheapest(self, costs: Costs) -> Array:
        """Return the index of the cheapest eligible choice, one per case."""
        return np.where(self.eligible[:, None], costs.usd, np.inf).argmin(axis=0)

    def is_changed(self, costs: Costs) -> Array:
        """Return booleans by case: whether another alternative is cheaper than the best's; False in a tie."""
        rivals, incumbents = costs.usd[self.rivals], costs.usd[self.incumbents]
        return np.asarray(rivals.min(axis=0, initial=np.inf) < incumbents.min(axis=0, initial=np.inf))

    @cached_property
    def turning_points(self) -> dict[Parameter, list[TurningPoint]]:
        """The nearest turning points of each parameter below and above the baseline, within a factor of FURTHEST."""
        return {
            parameter: [point for side in (-1.0, 1.0) if (point := self._turning_point(parameter, side))]
            for parameter in self.parameters
        }

    def nearest(self, parameter: Parameter) -> float:
        """Return the factor of a parameter's turning point that is nearest to 1; NaN without one."""
        factors = (point.factor for point in self.turning_points[parameter])
        return min(factors, key=lambda factor: abs(math.log(factor)), default=math.nan)

    def _turning_point(self, parameter: Parameter, side: float) -> TurningPoint | None:
        """Return the nearest turning point below (`side` -1) or above (1) the baseline; None without one."""
        inner, outer = 0.0, side * parameter.log_limit(math.exp(side))
        if not side * outer > 0:
            return None
        while True:
            logs = np.linspace(inner, outer, INTERVALS + 1)
            costs = self.at(parameter, np.exp(logs))
            changed = np.flatnonzero(self.is_changed(costs)[1:]) + 1
            if not changed.size:
                return None
            inner, outer = logs[changed[0] - 1], logs[changed[0]]
            if abs(outer - inner) <= PRECISION:
                to = int(self.cheapest(costs)[changed[0]])
                usd, machines = (float(values[to, changed[0]]) for values in (costs.usd, costs.counts))
                return TurningPoint(math.exp(outer), to, usd, machines)
