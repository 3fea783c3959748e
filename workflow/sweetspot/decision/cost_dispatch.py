"""A monthly workload as a decision: what its mixes cost at any values of the assumptions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sweetspot.decision.assumption import (
    ALL_JOBS,
    ASSUMED_RANGE,
    FURTHEST,
    Array,
    Assumption,
    Choice,
    Moved,
    all_of,
    assumptions_of,
)
from sweetspot.decision.options import Row
from sweetspot.decision.posed import GROWTH, PER_MONTH, SOFTWARE_GAIN, Posed
from sweetspot.decision.question import EXACT, LOOKS, Costs, Question, Turn
from sweetspot.decision.simulate import ends
from sweetspot.decision.sources import is_best, mix_title
from sweetspot.decision.texts import beside_in_words
from sweetspot.decision.turning import BreakEvenCase, CostDifference
from sweetspot.mixes.dispatch import DispatchResult, dispatch, dispatch_once
from sweetspot.mixes.problem import Counts, Problem, grown, lighter
from sweetspot.mixes.search import BEST, Mix, climb, step, useful_counts
from sweetspot.mixes.timing import even_indices
from sweetspot.titles import model_title

if TYPE_CHECKING:
    from sweetspot.study.terms import Amount  # lazily: its models take longer to import than all this computes

NEARLY_BEST = 1.6  # times the best: a dearer mix is priced only where its figures change
RELATIVE_STEP = 1e-3  # of a factor, either side of a turning point
JUMP = 0.1  # of the rise over two relative steps: a larger difference at the crossing is a jump
FARTHEST_STEP = 0.1  # in the logarithm of a factor, from what estimates say
LEAD_UNCERTAINTY = 0.1  # in the logarithm of a factor: how far estimates of the most rented offer may be off
# In logarithms of factors: the answer has turned so far beyond a turning point, and not yet so far before it.
BEYOND, BEFORE = 2e-3, 8e-3
WORTH_DECIDING = 1.2  # times the best estimate: dearer numbers of machines are no starts of a decision
NEWTON_STEPS, LAST_STEP = 4, 3e-8  # a step below the second is the last: a hundredth of it remains
INTERVAL_MONTHS = 6  # months of each sample, for the interval of where a machine pays
MAXIMUM_GROWTH, MAXIMUM_GAIN = 0.5, 3.0  # per month, per year: no turning point is sought beyond
WORK = "device_hours"  # quantity: all work of a month
ESTIMATE_SAMPLES = 250  # samples of an estimate, one month of each


class Strategy(NamedTuple):
    """One way to do the work: the only offer by the hour (empty: any), machines of each owned kind, the share of their
    hours that is used at most, and the speeds that are timed first.
    """

    source: str
    counts: Counts
    filled: float
    timed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, mix: Mix) -> "Strategy":
        """Return the strategy of a mix."""
        return cls(mix.source, mix.counts, mix.filled, mix.timed)

    def dispatch(self, problem: Problem) -> DispatchResult:
        """Dispatch a problem by this strategy; cached for problems of one month."""
        variant = problem.variant(self.filled, self.source, self.timed)
        return (dispatch_once if variant.jobs.shape[2] == 1 else dispatch)(variant, self.counts)


def _single(assumption: Assumption, factor: float) -> Moved:
    return Moved(1, {assumption: float(factor)})


def _months_factor(assumption: Assumption, factor: float) -> float:
    return float(_single(assumption, factor).work("months"))


def _log_bounds(assumption: Assumption) -> tuple[float, float]:
    """Return the logarithms of the smallest and the largest factor of an assumption."""
    return -float(np.log(FURTHEST)), float(np.log(min(FURTHEST, assumption.most / assumption.value)))


@dataclass
class MonthlyCosts:
    """Mixes of a monthly workload and what they cost at any values of its assumptions.

    An estimate dispatches one month of ESTIMATE_SAMPLES samples and is corrected by its error at the baseline (control
    variate).
    """

    workload: Posed
    mixes: list[Mix]
    titles: list[str]
    assumptions: tuple[Assumption, ...]
    runner_up: int | None = None
    _errors: dict[Strategy, float] = field(default_factory=dict)
    _rent_errors: dict[Strategy, Array] = field(default_factory=dict)
    _problems: dict[Assumption, list[tuple[Problem, Problem]]] = field(default_factory=dict)

    def problem(self, values: Moved) -> Problem:
        """Return the problem at one case of the assumptions, with all samples."""
        return self.workload.moved(values) if values.values else self.workload.drawn

    def sample(self, problem: Problem) -> Problem:
        """Return the samples of an estimate: one month each, or several where there are few samples."""
        samples, months = problem.jobs.shape[1:]
        if samples < ESTIMATE_SAMPLES:
            return problem.select(*np.divmod(even_indices(samples * months, ESTIMATE_SAMPLES), months))
        selected = even_indices(samples, ESTIMATE_SAMPLES)
        return problem.select(selected, selected % months)

    def sample_at(self, assumption: Assumption, factor: float) -> Problem:
        """Return the samples of an estimate at a factor of an assumption."""
        return self.sample(self.problem(_single(assumption, factor)))

    def exact_usd(self, problem: Problem, strategy: Strategy) -> float:
        """Return the expected USD of the baseline's months on all samples of a problem."""
        return float(strategy.dispatch(problem).usd.mean()) * self.workload.work.months

    def estimate_usd(self, sample: Problem, strategy: Strategy) -> float:
        """Return the expected USD of the baseline's months, estimated."""
        if strategy not in self._errors:
            baseline = self.workload.drawn
            error = self.exact_usd(baseline, strategy) - self.exact_usd(self.sample(baseline), strategy)
            self._errors[strategy] = error if np.isfinite(error) else 0.0
        return self.exact_usd(sample, strategy) + self._errors[strategy]

    def best_counts(self, sample: Problem, mix: Mix) -> tuple[Counts, float]:
        """Return the numbers of the machines a mix buys that cost the least (one at least), and their USD."""
        usd_by_counts = dict[Counts, float]()

        def usd(counts: Counts) -> float:
            if counts not in usd_by_counts:
                strategy = Strategy.of(mix)._replace(counts=counts)
                affordable = self.workload.team_limits.affords(counts)
                usd_by_counts[counts] = self.estimate_usd(sample, strategy) if affordable else np.inf
            return usd_by_counts[counts]

        kinds = [index for index, kind in enumerate(sample.held) if kind.name in mix.bought]
        minimum = tuple(count + (index in kinds) for index, count in enumerate(sample.owned))
        best = climb(mix.counts, usd, kinds, minimum, useful_counts(sample)) if kinds else mix.counts
        return best, usd(best)

    def cost(self, values: Moved) -> Costs:
        """Return the costs of all mixes in every case; the alternative of a mix that buys nothing is what it rents."""
        shape = (len(self.mixes), values.cases)
        usd, machines, alternatives = np.full(shape, np.inf), np.zeros(shape), np.zeros(shape, dtype=int)
        for case in range(values.cases):
            factors = {key: float(np.broadcast_to(by, values.cases)[case]) for key, by in values.values.items()}
            single = Moved(1, factors)
            sample, length = self.sample(self.problem(single)), float(single.work("months"))
            for index, mix in enumerate(self.mixes):
                if self._may_be_best(index, values):
                    counts, baseline_usd = self.best_counts(sample, mix)
                    usd[index, case] = baseline_usd * length
                    bought = (max(0, n - owned) for n, owned in zip(counts, sample.owned, strict=True))
                    machines[index, case] = sum(bought)
                alternatives[index, case] = self._alternative(sample, index)
        return Costs(usd, machines, alternatives)

    def _may_be_best(self, index: int, values: Moved) -> bool:
        """Return whether a mix is nearly the best at the baseline, or figures of its machines change."""
        bought = [self.workload.source(name) for name in self.mixes[index].bought]
        is_changed = any(values.touches(label) for source in bought for label in source.labels)
        return is_changed or not values.values or index in self._contenders

    @cached_property
    def _contenders(self) -> list[int]:
        usd = {
            index: self.exact_usd(self.workload.drawn, Strategy.of(mix)._replace(source=""))
            for index, mix in enumerate(self.mixes)
            if not mix.one_offer
        }
        # However dear, the best is compared with another mix at all values.
        bought = self.mixes[0].bought.keys()
        runner_up_usd = min(
            (cost for index, cost in usd.items() if self.mixes[index].bought.keys() != bought), default=np.inf
        )
        contenders = [
            index for index, cost in usd.items() if cost <= max(NEARLY_BEST * min(usd.values()), runner_up_usd)
        ]
        return contenders if np.isfinite(runner_up_usd) or self.runner_up is None else [*contenders, self.runner_up]

    def _alternative(self, sample: Problem, index: int) -> int:
        """Return a number for what a mix is: itself where it buys, else the offer that it rents most."""
        mix = self.mixes[index]
        if mix.bought or mix.sold or mix.one_offer:
            return index
        strategy = Strategy.of(mix)._replace(source="")
        if strategy not in self._rent_errors:
            baseline = self.workload.drawn
            self._rent_errors[strategy] = _rent(baseline, strategy) - _rent(self.sample(baseline), strategy)
        rent = _rent(sample, strategy) + self._rent_errors[strategy]
        return len(self.mixes) + int(rent.argmax()) if rent.max(initial=0.0) > 0 else index

    def title(self, index: int, count: float, alternative: int | None) -> str:
        """Return a mix in words: with the machines that it buys in a case, or with what it rents most."""
        bought, workload = self.mixes[index].bought, self.workload
        if alternative is not None and alternative >= len(self.mixes):
            rented = workload.title(workload.drawn.rented[alternative - len(self.mixes)].name)
            return f"nothing bought, {beside_in_words(rented, workload.at_home)}"
        if len(bought) != 1 or count in bought.values():
            return self.titles[index]
        return f"{count:g} × {workload.title(next(iter(bought)))}"

    def exact_turn(self, assumption: Assumption, turn: Turn) -> Turn | None:
        """Return an estimated turning point on all samples; None where there is none.

        Estimates keep the strategy of each mix. What is worth timing first follows the figures too, so the answer is
        decided again on all samples a little before and beyond the point; where it turns elsewhere the point is sought
        among such answers.
        """
        direction = float(np.sign(np.log(turn.factor)))
        crossing = self._crossing_turn(assumption, turn)
        distance = abs(float(np.log((crossing or turn).factor)))
        beyond = self._decide(assumption, direction * (distance + BEYOND))
        is_turn = crossing is not None and self._differs(beyond)
        if is_turn and distance > BEFORE:
            is_turn = not self._differs(self._decide(assumption, direction * (distance - BEFORE)))
        if crossing is not None and is_turn:
            return self._turn_to(assumption, crossing, beyond)
        return self._decided_turn(assumption, turn, distance)

    def _decided_turn(self, assumption: Assumption, turn: Turn, distance: float) -> Turn | None:
        """Return the turning point where the decided answer first differs; None where it does not up to FURTHEST.

        `distance`: logarithm of a factor near which to begin.
        """
        direction = float(np.sign(np.log(turn.factor)))
        limit = abs(_log_bounds(assumption)[direction > 0])
        nearer = [float(np.log(factor)) for factor in LOOKS if np.log(factor) < distance]
        steps = (distance + count * LEAD_UNCERTAINTY for count in (1, 2, 4, 8))
        further = [outer for outer in steps if outer < limit]
        inner, outer, mix = 0.0, 0.0, None
        for outer in (*nearer, max(distance - BEFORE, 0.0), distance + BEYOND, *further, limit):
            answer = self._decide(assumption, direction * outer)
            if self._differs(answer):
                mix = answer
                break
            inner = outer
        while mix is not None and outer - inner > EXACT:
            middle = (inner + outer) / 2
            answer = self._decide(assumption, direction * middle)
            if self._differs(answer):
                outer, mix = middle, answer
            else:
                inner = middle
        if mix is None:
            return None
        return self._turn_to(assumption, turn._replace(factor=float(np.exp(direction * outer))), mix)

    def _decide(self, assumption: Assumption, log_factor: float) -> Mix:
        """Return the best mix on all samples at a factor of an assumption."""
        values = _single(assumption, float(np.exp(log_factor)))
        problem = self.problem(values)
        sample, estimates = self.sample(problem), dict[Counts, float]()
        for index, mix in enumerate(self.mixes):
            if not mix.one_offer and self._may_be_best(index, values):
                counts, usd = self.best_counts(sample, mix)
                estimates[counts] = min(usd, estimates.get(counts, np.inf))
        lowest = min(estimates.values())
        starts = {problem.owned, *(counts for counts, usd in estimates.items() if usd <= WORTH_DECIDING * lowest)}
        kinds = [n for n, owned in enumerate(problem.owned) if any(counts[n] != owned for counts in starts)]
        return self.workload.best_of(problem, sorted(starts), kinds)

    def _differs(self, mix: Mix) -> bool:
        """Return whether a mix is another answer than the best at the baseline."""
        return _answer(mix) != _answer(self.mixes[0])

    def _turn_to(self, assumption: Assumption, turn: Turn, mix: Mix) -> Turn | None:
        """Return a turning point with the mix that is the best beyond it; None where it is none of the mixes."""
        offers = [offer.name for offer in self.workload.drawn.rented]
        candidates = (
            n
            for n, choice in enumerate(self.mixes)
            if not choice.one_offer and _commitments(choice) == _commitments(mix)
        )
        to = next(candidates, None)
        if to is None:
            return None
        rents = not (mix.bought or mix.sold) and mix.done.lead
        alternative = len(self.mixes) + offers.index(mix.done.lead) if rents else to
        if alternative == turn.alternative and (turn.to == to or alternative >= len(self.mixes)):
            return turn
        usd = mix.expected * self.workload.work.months * _months_factor(assumption, turn.factor)
        return Turn(turn.factor, to, usd, float(sum(mix.bought.values())), alternative)

    def _crossing_turn(self, assumption: Assumption, turn: Turn) -> Turn | None:
        """Return where two mixes cost the same on all samples, or another offer is rented most; None without one."""
        pair = (self.mixes[0], self.mixes[turn.to])
        if Strategy.of(pair[0]) == Strategy.of(pair[1]):
            return self._lead_turn(assumption, turn)

        def strategies(sample: Problem) -> list[Strategy]:
            return [Strategy.of(mix)._replace(counts=self.best_counts(sample, mix)[0]) for mix in pair]

        factor, usd = self._crossing(assumption, turn.factor, strategies)
        return turn._replace(factor=factor, usd=usd * _months_factor(assumption, factor))

    def _lead_turn(self, assumption: Assumption, turn: Turn) -> Turn | None:
        """Return from where on the best rents another offer most, by bisection around the estimate."""
        best, offers = Strategy.of(self.mixes[0])._replace(source=""), self.workload.drawn.rented
        direction = float(np.sign(np.log(turn.factor)))

        def result_at(distance: float) -> DispatchResult:
            values = _single(assumption, np.exp(direction * distance))
            return dispatch(self.problem(values).variant(best.filled, "", best.timed), best.counts)

        lead, outer = self.mixes[0].done.lead, abs(float(np.log(turn.factor)))
        inner, limit = outer - LEAD_UNCERTAINTY, abs(_log_bounds(assumption)[direction > 0])
        inner = inner if inner > 0 and result_at(inner).lead == lead else 0.0
        while result_at(outer).lead == lead:
            if outer >= limit:
                return None
            inner, outer = outer, min(outer + LEAD_UNCERTAINTY, limit)
        while outer - inner > EXACT:
            middle = (inner + outer) / 2
            inner, outer = (middle, outer) if result_at(middle).lead == lead else (inner, middle)
        result, factor = result_at(outer), float(np.exp(direction * outer))
        usd = float(result.usd.mean()) * self.workload.work.months * _months_factor(assumption, factor)
        numbers = {offer.name: len(self.mixes) + index for index, offer in enumerate(offers)}
        return turn._replace(factor=factor, usd=usd, alternative=numbers.get(result.lead, turn.alternative))

    def _crossing(
        self, assumption: Assumption, factor: float, strategies: Callable[[Problem], list[Strategy]]
    ) -> tuple[float, float]:
        """Return the factor at which two strategies cost the same, near an estimate, and USD of the first there.

        Newton's method on all samples with the slope of the estimates, which is off by less than a percent, so that
        so much of the error is left after each step.
        """
        start = log_factor = float(np.log(factor))

        def difference(log_factor: float) -> float:
            sample = self.sample_at(assumption, np.exp(log_factor))
            first, second = (self.estimate_usd(sample, strategy) for strategy in strategies(sample))
            return second - first

        rise = difference(start + RELATIVE_STEP) - difference(start - RELATIVE_STEP)
        # At a jump (a job that is in time from here on) there is no slope to follow.
        is_smooth = np.isfinite(rise) and abs(difference(start)) < JUMP * abs(rise)
        pair = strategies(self.sample_at(assumption, factor))
        for _ in range(NEWTON_STEPS):
            problem = self.problem(_single(assumption, np.exp(log_factor)))
            first, second = (self.exact_usd(problem, strategy) for strategy in pair)
            change = -(second - first) * 2 * RELATIVE_STEP / rise if is_smooth else np.inf
            if not abs(change) < FARTHEST_STEP:
                return float(np.exp(start)), first
            log_factor += change
            if abs(change) < LAST_STEP:
                break
        return float(np.exp(log_factor)), first

    def break_even_cases(self, question: Question) -> Iterator[BreakEvenCase]:
        """Yield each machine for sale and contract with all work, jobs of one class, and months of the project."""
        workload, best = self.workload, self.workload.mixes[0].done
        work = sum(float(best.device_hours(name).mean()) for name in best.sources)
        baseline = workload.drawn
        for index in baseline.for_sale:
            if not workload.team_limits.affords(step(baseline.owned, index, 1)):
                continue
            name = baseline.held[index].name
            is_owned = workload.source(name).offer["purchase"] == "own"
            for assumption in question.assumptions:
                is_jobs = assumption.quantity == PER_MONTH and not assumption.subject.endswith("(urgent)")
                if assumption.quantity == ALL_JOBS or (is_jobs and len(workload.work.jobs) == 1):
                    label = ("the work of a month", WORK, work, "device-hours/month")
                elif is_jobs or (assumption.quantity == "months" and is_owned):
                    label = (assumption.name, assumption.quantity, assumption.value, assumption.unit)
                else:
                    continue
                difference, exact = self._cost_difference(index, assumption)
                at_baseline = difference.samples[:, np.abs(np.log(difference.factors)).argmin()]
                p_pays = float(np.mean(at_baseline <= 0))
                yield BreakEvenCase(name, workload.title(name), assumption, *label, difference, p_pays, exact)

    def _with_counts(self, counts: Counts) -> Strategy:
        """Return so many machines and whatever is cheapest beside them by the best strategy within the limits."""
        return Strategy.of(self.workload.with_strategy(Mix(BEST, "", dispatch(self.workload.drawn, counts))))

    def _problems_at(self, assumption: Assumption, factors: Array) -> list[tuple[Problem, Problem]]:
        """Return, per factor, the samples of an estimate and some months of all samples; kept for all machines."""
        if assumption not in self._problems:
            problems = [self.problem(_single(assumption, float(factor))) for factor in factors]
            self._problems[assumption] = [
                (self.sample(problem), problem.select_months(even_indices(problem.jobs.shape[2], INTERVAL_MONTHS)))
                for problem in problems
            ]
        return self._problems[assumption]

    def _cost_difference(
        self, index: int, assumption: Assumption
    ) -> tuple[CostDifference, Callable[[float, bool], float]]:
        """Return the cost of one machine and what is owned less that of what is owned alone, rentals beside both.

        The second value makes a factor exact from which the machine pays (`begins`), or up to which.
        """
        owned = self.workload.drawn.owned
        without, with_machine = self._with_counts(owned), self._with_counts(step(owned, index, 1))
        grid = (*LOOKS, FURTHEST)
        factors = np.unique([*(1 / factor for factor in grid), 1.0, *grid])

        def difference(sample: Problem) -> float:
            return self.estimate_usd(sample, with_machine) - self.estimate_usd(sample, without)

        samples = []
        for _, months in self._problems_at(assumption, factors):
            with np.errstate(invalid="ignore"):  # Where neither does the work the machine does not pay.
                usd, usd_without = (
                    dispatch_once(months.variant(strategy.filled, "", strategy.timed), strategy.counts).usd
                    for strategy in (with_machine, without)
                )
                samples.append(usd - usd_without)
        estimates = np.array([[difference(sample) for sample, _ in self._problems_at(assumption, factors)]])

        def exact(factor: float, begins: bool) -> float:
            after = int(np.searchsorted(factors, factor)) + (not begins)
            inner, outer = float(factors[after - 1]), float(factors[after])
            while np.log(outer / inner) > EXACT:
                middle = float(np.sqrt(inner * outer))
                pays = difference(self.sample_at(assumption, middle)) <= 0
                inner, outer = (inner, middle) if pays == begins else (middle, outer)
            return self._crossing(assumption, outer, lambda _: [without, with_machine])[0]

        jumps = np.zeros(factors.size, bool)
        return CostDifference(factors, estimates, np.stack(samples, axis=1), factors, jumps, jumps), exact


def _rent(problem: Problem, strategy: Strategy) -> Array:
    """Return USD per month that a strategy pays to each offer by the hour."""
    result = strategy.dispatch(problem)
    names = [offer.name for offer in problem.rented]
    return np.array([result.usd_by_use(name) if name in result.sources else 0.0 for name in names])


def dispatch_question(workload: Posed) -> Question | None:
    """Return the decision of a monthly workload; None where no mix does the work."""
    best, months = workload.mixes[0], workload.work.months
    if not np.isfinite(best.expected):
        return None
    others = (mix for mix in workload.mixes if not is_best(mix, best) and workload.team_limits.keeps(mix))
    choices = [best, *(mix for mix in others if np.isfinite(mix.expected))]
    if ("", workload.drawn.owned) not in ((mix.source, mix.counts) for mix in choices):
        choices.append(workload.with_strategy(Mix(BEST, "", dispatch(workload.drawn, workload.drawn.owned))))
    rows = [_main_row(mix, workload) for mix in choices]
    samples = np.stack([mix.done.usd * months for mix in choices])
    titles = [mix_title(mix, workload) for mix in choices]
    costs = MonthlyCosts(workload, choices, titles, _assumptions(workload), _runner_up(choices, samples))
    return Question(
        workload=workload.name,
        months=months,
        choices=tuple(
            Choice(row["option"], title, row, str(index), frozenset(workload.rows))
            for index, (row, title) in enumerate(zip(rows, titles, strict=True))
        ),
        assumptions=costs.assumptions,
        cost=costs.cost,
        drawn=samples,
        against=costs.runner_up,
        told=f"{months:g} months",
        word="best mix",
        drawn_work=tuple(_sampled_work(workload, costs.assumptions)),
        beside=_neighbours_usd(best, months),
        rows=workload.rows,
        named=costs.title,
        dear=True,
        settled=costs.exact_turn,
        held=costs.break_even_cases,
    )


def _runner_up(choices: Sequence[Mix], samples: Array) -> int | None:
    """Return the cheapest mix with other machines than the best, else the cheapest other; None without one."""
    usd = samples.mean(axis=1)
    others = [index for index in range(1, len(choices)) if usd[index] < np.inf]
    machines = (choices[0].bought.keys(), choices[0].sold.keys())
    different = [n for n in others if (choices[n].bought.keys(), choices[n].sold.keys()) != machines]
    return min(different or others, key=lambda index: float(usd[index]), default=None)


def _neighbours_usd(best: Mix, months: float) -> Array | None:
    """Return USD by sample of the mixes of one machine more or fewer than the best that do the work."""
    problem, usd = best.problem, []
    for index in problem.adjustable:
        kind, count = problem.held[index], best.counts[index]
        changes = (-1, 1) if kind.for_sale or count < kind.there else (-1,)
        for change in changes:
            if count + change >= kind.minimum:
                usd.append(dispatch(problem, step(best.counts, index, change)).usd * months)
    usd = [samples for samples in usd if np.isfinite(samples).all()]
    return np.stack(usd) if usd else None


def _commitments(mix: Mix) -> tuple[str, ...]:
    """Return the machines that a mix buys and sells."""
    return (*sorted(mix.bought), *sorted(mix.sold))


def _answer(mix: Mix) -> tuple[str, ...]:
    """Return what a mix buys and sells; if nothing, the offer that it rents most."""
    return _commitments(mix) or (mix.done.lead,)


def _main_row(mix: Mix, workload: Posed) -> Row:
    """Return the row of the options that a mix rests on most: the machine that it buys, else what it rents."""
    name = next(iter(mix.bought), mix.source or mix.done.lead)
    return workload.source(name).offer if name else workload.sources[0].offer


def _assumptions(workload: Posed) -> tuple[Assumption, ...]:
    """Return figures of the offers, then numbers of jobs of each class, of its urgent ones, and of all."""
    offers = [
        Choice.of(source.offer)._replace(
            alternative=source.offer["option"], labels=source.labels, there=bool(source.there)
        )
        for source in workload.sources
    ]
    speeds = {row["row"]: row for source in workload.sources for row in source.rows if row is not None}
    of_offers = assumptions_of(offers, list(speeds.values()), workload.month_days)
    limited = [
        _with_resale_limit(assumption, workload) if assumption.figure == "residual_usd" else assumption
        for assumption in of_offers
    ]
    return (*limited, *_job_assumptions(workload))


def _with_resale_limit(resale: Assumption, workload: Posed) -> Assumption:
    """Limit a resale value to where its upper bound is the lowest price of the machine.

    Costs of months are means of samples, and a price list has no samples above that price: it refuses such an amount
    and cuts a curve there. A higher value, moved with its range, would not give the costs of any price list.
    """
    price, lowest_price, _ = ends(workload.source(resale.subject).offer, "capex_usd")
    return resale._replace(most=resale.most * lowest_price / price) if lowest_price < price else resale


def _job_assumptions(workload: Posed) -> Iterator[Assumption]:
    for job_class in workload.classes:
        job, title = job_class.job, model_title(job_class.job.name)
        maximum = job.per_month.value if job_class.urgent else np.inf
        name = f"{'urgent ' if job_class.urgent else ''}jobs of {title} a month"
        yield from _amount_assumption(job_class.number, (PER_MONTH, job_class.name, name, "jobs/month"), maximum)
        if not job_class.urgent:
            label = (GROWTH, job_class.name, f"growth of the jobs of {title}", "share/month")
            yield from _amount_assumption(job.growth_per_month, label, MAXIMUM_GROWTH)
    label = (SOFTWARE_GAIN, "", "gain of software a year", "share/year")
    yield from _amount_assumption(workload.work.software_gain_per_year, label, MAXIMUM_GAIN)
    if len(workload.work.jobs) > 1:
        yield all_of("number of jobs a month")


def _amount_assumption(amount: "Amount", label: tuple[str, str, str, str], maximum: float) -> Iterator[Assumption]:
    """Yield a number of the work above 0 as an assumption, with the range that it has or ASSUMED_RANGE."""
    value, (low, high) = amount.value, amount.ends
    if value > 0:
        basis = "declared" if low < high else "assumed"
        if basis == "assumed":
            low, high = value * (1 - ASSUMED_RANGE), value * (1 + ASSUMED_RANGE)
        yield Assumption(*label, value, low, high, basis, label[0], frozenset(), maximum)


def _sampled_work(workload: Posed, assumptions: Sequence[Assumption]) -> Iterator[tuple[Assumption, Array]]:
    """Yield samples of the jobs per month without their growth (urgent ones included), growth, and gain of software."""
    months = workload.work.months
    jobs = (workload.numbers / grown(workload.growth, months) / lighter(workload.gain, months)).mean(axis=2)
    values = {(SOFTWARE_GAIN, ""): workload.gain}
    for row, job_class in enumerate(workload.classes):
        values[PER_MONTH, job_class.name] = jobs[row]
        values[GROWTH, job_class.name] = workload.growth[row]
    for assumption in assumptions:
        samples = values.get((assumption.quantity, assumption.subject))
        if samples is not None and np.ptp(samples) > 0:
            yield assumption, samples
