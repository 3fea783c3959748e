"""A decision: the choices for one piece of work, the parameters they rest on, and what each choice costs."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sweetspot.bills.rates import Factor, Number
from sweetspot.decision.options import Row
from sweetspot.throughput.speed_errors import Error

if TYPE_CHECKING:
    from sweetspot.decision.turning import BreakEvenCase  # which imports this module

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


def error_key(error: Error) -> str:
    """Return a correlation key of speeds as text, for tables."""
    return "|".join(map(str, error))


def _product(factors: Iterable[Number]) -> Number:
    return math.prod(factors, start=1.0)


BASELINE = ParameterValues(1, {})


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
    not_sampled: ClassVar[tuple[str, ...]] = ()  # figures whose samples change no cost

    @abstractmethod
    def cost_usd(self, values: ParameterValues) -> Costs:
        """Return the costs of all choices in each case."""

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
        return self.title(index, float(costs.counts[index, case]))

    def cheapest(self, costs: Costs) -> Array:
        """Return the index of the cheapest eligible choice in each case."""
        return np.where(self.eligible[:, None], costs.usd, np.inf).argmin(axis=0)

    def is_changed(self, costs: Costs) -> Array:
        """Return in which cases another alternative is the cheapest; a tie changes nothing."""
        rivals, incumbents = costs.usd[self.rivals], costs.usd[self.incumbents]
        return np.asarray(rivals.min(axis=0, initial=np.inf) < incumbents.min(axis=0, initial=np.inf))

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

        The range is divided again and again.
        """
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
                return self._point_at(costs, int(changed[0]), math.exp(outer))

    def _point_at(self, costs: Costs, case: int, factor: float) -> TurningPoint:
        to = int(self.cheapest(costs)[case])
        return TurningPoint(factor, to, float(costs.usd[to, case]), float(costs.counts[to, case]))
