"""A question and its one cost: what an analysis is given, whatever the kind of work."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sweetspot.decision.assumption import FURTHEST, Array, Assumption, Choice, Moved
from sweetspot.decision.options import Row
from sweetspot.decision.turning import BreakEvenCase

STEPS = 48  # of a factor up to FURTHEST, in which a turning point is looked for
ZOOMS = 6  # times that the step found is divided again by STEPS: 1e-10 of a factor
LOOKS = (1.1, 1.25, 1.6, 2.5)  # factors looked at before FURTHEST where a cost is dear
EXACT = 1e-4  # of a factor, where a cost is dear
# Figures in which every cost is a straight line.
PRICES = ("usd_per_hour", "rent_factor", "capex_usd", "residual_usd", "maintenance_usd_per_month", "kw", "usd_per_kwh")


class Costs(NamedTuple):
    """USD of each choice in each case, and the machines that it takes: choice x case. `USD` is infinite where a choice
    does not do the work. `alternative`: number of the alternative that each choice is, where it follows the case.
    """

    usd: Array
    counts: Array
    alternative: Array | None = None


class Turn(NamedTuple):
    """The factor of an assumption from which another alternative is the cheapest, which choice that is, its USD there
    and the `machines` that it takes; `alternative` as in Costs.
    """

    factor: float
    to: int
    usd: float
    machines: float
    alternative: int | None = None


@dataclass(frozen=True)
class Question:
    """Choices for one piece of work, what they rest on, and what they cost at any values of it. The choices are the
    cheapest first, `drawn` their USD by draw; `against`: place of the rival, where it is not the next alternative;
    `months` of the project (NaN: not said), `told`: its size in words; `word`: what the best is called. Drawn figures:
    those `of_the_team` are of every choice, as the row `reference` has them; those `held_still` are followed by no
    draw; `drawn_work`: numbers of jobs by draw; `beside`: USD by draw of what is as good as a choice (one machine more
    or less). `rows`: those of the options that figures are told of, `named`: a choice in words, where it follows the
    case. `dear`: a case takes long, so few are looked at; `settled`: a turning point made exact. `model`: of one job,
    what it trains; `held`: what could be held for the work (none: `break_even` has its days).
    """

    workload: str
    months: float
    choices: tuple[Choice, ...]
    assumptions: tuple[Assumption, ...]
    cost: Callable[[Moved], Costs]
    drawn: Array
    against: int | None = None
    told: str = ""
    word: str = "cheapest option"
    reference: int | None = None
    of_the_team: tuple[str, ...] = ()
    held_still: tuple[str, ...] = ()
    drawn_work: tuple[tuple[Assumption, Array], ...] = ()
    beside: Array | None = None
    rows: Mapping[int, Row] = field(default_factory=dict)
    named: Callable[[int, float, int | None], str] | None = None
    dear: bool = False
    settled: Callable[[Assumption, Turn], Turn | None] | None = None
    model: str = ""
    held: Callable[["Question"], Iterable[BreakEvenCase]] | None = None

    @property
    def about(self) -> dict[str, str | None]:
        """What a row of a table is of: the workload; of one job the model, and its name for people."""
        first = self.choices[0].row
        title = str(first.get("model_title") or first["model"]) if self.model else None
        return {"workload": self.workload, "model": self.model or None, "model_title": title}

    @cached_property
    def best(self) -> int:
        """The place of the cheapest choice that the answer may take."""
        return int(self.taken.argmax())

    @property
    def rival(self) -> int | None:
        """The place of what it is held against; None where there is no other alternative."""
        others = self.against if self.against is not None else next(iter(np.flatnonzero(self.others)), None)
        return None if others is None else int(others)

    def months_at(self, assumption: Assumption, factor: float) -> float:
        """Months of the project where an assumption is at a factor of its value."""
        return self.months * (factor if assumption.figure == "months" else 1.0)

    @cached_property
    def planned(self) -> Costs:
        """The costs as planned: one case."""
        return self.cost(Moved(1, {}))

    @cached_property
    def usd(self) -> Array:
        """USD of each choice as planned."""
        return self.planned.usd[:, 0]

    @cached_property
    def taken(self) -> Array:
        """Which choices the answer may take."""
        return np.array([one.taken for one in self.choices])

    @cached_property
    def ours(self) -> Array:
        """What is the best's alternative."""
        name = self.choices[self.best].alternative
        return self.taken & np.array([one.alternative == name for one in self.choices])

    @property
    def others(self) -> Array:
        """What the best is held against."""
        return self.taken & ~self.ours

    @cached_property
    def competing(self) -> Array:
        """Places of the choices taken that end in every draw, the cheapest on average first."""
        usd = np.where(self.taken, self.drawn.mean(axis=1), np.inf)
        order = np.argsort(usd, kind="stable")
        return order[np.isfinite(usd[order])]

    def row_of(self, labels: Sequence[int]) -> Row:
        """The row of the options that a drawn figure is told of: the reference's, else that of the cheapest choice that
        it is of, else the first.
        """
        own = {self.choices[place].row["row"]: self.choices[place].row for place in self.competing}
        known = {**self.rows, **own}
        order = [self.reference, *own, *sorted(known)]
        return known[next(label for label in order if label in labels and label in known)]

    def at(self, assumption: Assumption, factors: Array) -> Costs:
        """The costs with one assumption at `factors` of its value."""
        return self.cost(Moved(len(factors), {assumption: np.asarray(factors, float)}))

    def title(self, place: int, count: float, alternative: int | None = None) -> str:
        """A choice in words, with the machines that it takes; `alternative`: what it is there."""
        if self.named is not None:
            return self.named(place, count, alternative)
        title = self.choices[place].title
        return f"{count:g} × {title}" if count > 1 else title

    def title_at(self, costs: Costs, place: int, case: int) -> str:
        """A choice in words as it is in one case."""
        alternative = None if costs.alternative is None else int(costs.alternative[place, case])
        return self.title(place, float(costs.counts[place, case]), alternative)

    def cheapest(self, costs: Costs) -> Array:
        """The place of the cheapest choice that the answer may take, in each case."""
        return np.where(self.taken[:, None], costs.usd, np.inf).argmin(axis=0)

    def turned(self, costs: Costs) -> Array:
        """In which cases another alternative is the cheapest: ties do not turn an answer."""
        if costs.alternative is None:
            usd = np.where(self.taken[:, None], costs.usd, np.inf)
            return usd[self.others].min(axis=0, initial=np.inf) < usd[self.ours].min(axis=0, initial=np.inf)
        cases, planned = np.arange(costs.usd.shape[1]), self.planned.alternative
        assert planned is not None
        other: Array = costs.alternative[self.cheapest(costs), cases] != planned[self.best, 0]
        return other

    @cached_property
    def turns(self) -> dict[Assumption, list[Turn]]:
        """Of each assumption the nearest turning point below and above what is planned, within a factor of FURTHEST."""
        sides = (-1.0, 1.0)
        return {one: [turn for side in sides if (turn := _first(self, one, side))] for one in self.assumptions}

    def nearest(self, assumption: Assumption) -> float:
        """The factor of the nearest turning point of an assumption; NaN where there is none."""
        factors = (turn.factor for turn in self.turns[assumption])
        return min(factors, key=lambda factor: abs(np.log(factor)), default=float("nan"))


def _first(question: Question, assumption: Assumption, side: float) -> Turn | None:
    """The first factor on one side at which another alternative is the cheapest. A price is a straight line in each
    cost: what the best gains on the others only falls from some factor on, so that the far end alone says whether it
    turns the answer.
    """
    furthest = FURTHEST if side < 0 else min(FURTHEST, assumption.most / assumption.value)
    end = side * float(np.log(furthest))
    if not side * end > 0:
        return None
    if assumption.figure in PRICES and not question.turned(question.at(assumption, np.array([np.exp(end)])))[0]:
        return None
    return _by_looks(question, assumption, end) if question.dear else _by_grid(question, assumption, end)


def _by_grid(question: Question, assumption: Assumption, end: float) -> Turn | None:
    """By ever finer steps, each of STEPS cases at once."""
    inner, outer, found = 0.0, end, None
    for _ in range(ZOOMS):
        logs = np.linspace(inner, outer, STEPS + 1)
        costs = question.at(assumption, np.exp(logs[1:]))
        turned = question.turned(costs)
        if not turned.any():
            return found
        first = int(turned.argmax())
        inner, outer = float(logs[first]), float(logs[first + 1])
        found = _turn(question, costs, first, float(np.exp(outer)))
    return found


def _by_looks(question: Question, assumption: Assumption, end: float) -> Turn | None:
    """By single cases: at LOOKS, of a price at the far end alone; then by halving."""
    logs = [side * float(np.log(step)) for step in LOOKS if (side := np.sign(end)) and np.log(step) < abs(end)]
    looks = [end] if assumption.figure in PRICES else [*logs, end]
    inner, found = 0.0, None
    for outer in looks:
        costs = question.at(assumption, np.array([np.exp(outer)]))
        if question.turned(costs)[0]:
            found = _turn(question, costs, 0, float(np.exp(outer)))
            break
        inner = outer
    while found is not None and abs(outer - inner) > EXACT:
        middle = (inner + outer) / 2.0
        costs = question.at(assumption, np.array([np.exp(middle)]))
        if question.turned(costs)[0]:
            outer, found = middle, _turn(question, costs, 0, float(np.exp(middle)))
        else:
            inner = middle
    return found if found is None or question.settled is None else question.settled(assumption, found)


def _turn(question: Question, costs: Costs, case: int, factor: float) -> Turn:
    if costs.alternative is None:
        to = int(np.where(question.others, costs.usd[:, case], np.inf).argmin())
    else:
        to = int(question.cheapest(costs)[case])
    name = None if costs.alternative is None else int(costs.alternative[to, case])
    return Turn(factor, to, float(costs.usd[to, case]), float(costs.counts[to, case]), name)
