"""A monthly workload as a decision: what its mixes of owned and rented machines cost at any values."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sweetspot.decision.decision_problem import (
    ALL_JOBS,
    ASSUMED_RANGE,
    COARSE_FACTORS,
    COARSE_PRECISION,
    FURTHEST,
    Array,
    Choice,
    Costs,
    DecisionProblem,
    Parameter,
    ParameterValues,
    TurningPoint,
    all_of,
    parameters_of,
)
from sweetspot.decision.monthly_work import GROWTH, PER_MONTH, MonthlyWork
from sweetspot.decision.simulate import value_with_bounds
from sweetspot.decision.sources import is_best, mix_title
from sweetspot.decision.turning import BreakEvenCase, CostDifference
from sweetspot.mixes.dispatch import DispatchResult, dispatch, dispatch_once
from sweetspot.mixes.problem import Counts, Problem, grown
from sweetspot.mixes.search import BEST, Mix, best_mix, climb, step, useful_counts
from sweetspot.mixes.timing import even_indices
from sweetspot.phrases.decided import beside_in_words
from sweetspot.titles import model_title

if TYPE_CHECKING:
    pass  # lazily: its models take longer to import than all this computes

NEARLY_BEST = 1.6  # times the best: a more expensive mix is priced only where its figures change
ESTIMATE_RANGE = 0.1  # in the logarithm of a factor: how far an estimated turning point may be off
# In logarithms of factors: the answer has changed so far beyond a turning point, and not yet so far before it.
BEYOND, BEFORE = 2e-3, 8e-3
WORTH_DECIDING = 1.2  # times the best estimate: more expensive numbers of machines are no starts of a decision
RELATIVE_STEP = 1e-3  # of a factor, either side of a turning point
JUMP = 0.1  # of the rise over two relative steps: a larger difference at the crossing is a jump
NEWTON_STEPS, LAST_STEP = 4, 3e-8  # a step below the second is the last: a hundredth of it remains
INTERVAL_MONTHS = 6  # months of each sample, for the interval of where a machine pays
MAXIMUM_GROWTH = 0.5  # per month: no turning point is sought beyond
WORK = "device_hours"  # quantity: all work of a month
ESTIMATE_SAMPLES = 250  # samples of an estimate, one month of each


class Strategy(NamedTuple):
    """One way to do the work.

    It has the only offer by the hour (empty: any), machines of each owned kind, the share of their hours that is used
    at most, and the speeds that are timed first.
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


def _usd(problem: Problem, strategy: Strategy) -> Array:
    """Return the expected USD per month."""
    return np.asarray(strategy.dispatch(problem).usd.mean())


def _rent_by_offer(problem: Problem, strategy: Strategy) -> Array:
    """Return the expected USD per month that are paid to each offer by the hour."""
    rent_by_offer = strategy.dispatch(problem).rent_by_offer
    return np.array([rent_by_offer.get(offer.name, 0.0) for offer in problem.rented])


def first_change(logs: Iterable[float], is_changed: Callable[[float], bool], inner: float = 0.0) -> float | None:
    """Find where something changes first, by bisection to COARSE_PRECISION.

    Parameters
    ----------
    logs
        Logarithms of factors in the order in which they are looked at.
    is_changed
        Whether it has changed at such a logarithm.
    inner
        Where it has not.

    Returns
    -------
    float or None
        A logarithm at which it has changed; None where it has at none of them.
    """
    for outer in logs:
        if is_changed(outer):
            while abs(outer - inner) > COARSE_PRECISION:
                middle = (inner + outer) / 2
                inner, outer = (inner, middle) if is_changed(middle) else (middle, outer)
            return outer
        inner = outer
    return None


@dataclass(eq=False, kw_only=True)
class MonthlyProblem(DecisionProblem):
    """Mixes of a monthly workload and what they cost at any values of its parameters.

    An estimate dispatches one month of ESTIMATE_SAMPLES samples and is corrected by its error at the baseline (control
    variate).
    """

    work: MonthlyWork
    mixes: list[Mix]
    is_expensive = True
    _errors: dict[object, Array] = field(default_factory=dict)
    _problems: dict[Parameter, list[tuple[Problem, Problem]]] = field(default_factory=dict)

    @cached_property
    def runner_up(self) -> int | None:
        """Index of the cheapest mix with other machines than the best, else of the cheapest other."""
        usd = self.samples_usd.mean(axis=1)
        finite = [index for index in range(1, len(usd)) if usd[index] < np.inf]
        best = _commitments(self.mixes[0])
        different = [index for index in finite if _commitments(self.mixes[index]) != best]
        return min(different or finite, key=lambda index: float(usd[index]), default=super().runner_up)

    def title(self, index: int, count: float, alternative: str | None = None) -> str:
        """Return a mix in words: with the machines that it buys in a case, or with what it rents most."""
        bought, work = self.mixes[index].bought, self.work
        if alternative not in (None, self.choices[index].alternative):
            return f"nothing bought, {beside_in_words(work.title(str(alternative)), work.at_home)}"
        if len(bought) != 1 or count in bought.values():
            return self.choices[index].title
        return f"{count:g} × {work.title(next(iter(bought)))}"

    def _problem(self, parameter: Parameter, log_factor: float) -> Problem:
        return self.work.moved(ParameterValues(1, {parameter: math.exp(log_factor)}))

    def _sample(self, problem: Problem) -> Problem:
        """Return the samples of an estimate: one month each, or several where there are few samples."""
        samples, months = problem.jobs.shape[1:]
        if samples < ESTIMATE_SAMPLES:
            return problem.select(*np.divmod(even_indices(samples * months, ESTIMATE_SAMPLES), months))
        selected = even_indices(samples, ESTIMATE_SAMPLES)
        return problem.select(selected, selected % months)

    def _estimate(self, figure: Callable[[Problem, Strategy], Array], sample: Problem, strategy: Strategy) -> Array:
        """Return a figure of a strategy, estimated."""
        if (figure, strategy) not in self._errors:
            baseline = self.work.drawn
            with np.errstate(invalid="ignore"):
                error = figure(baseline, strategy) - figure(self._sample(baseline), strategy)
            self._errors[figure, strategy] = np.where(np.isfinite(error), error, 0.0)
        return figure(sample, strategy) + self._errors[figure, strategy]

    def _estimated_usd(self, sample: Problem, strategy: Strategy) -> float:
        return float(self._estimate(_usd, sample, strategy))

    def _best_counts(self, sample: Problem, mix: Mix) -> tuple[Counts, float]:
        """Return the numbers of the machines a mix buys that cost the least (one at least), and their USD a month."""

        @cache
        def usd(counts: Counts) -> float:
            if not self.work.affords(counts):
                return np.inf
            return self._estimated_usd(sample, Strategy.of(mix)._replace(counts=counts))

        kinds = [index for index, kind in enumerate(sample.held) if kind.name in mix.bought]
        minimum = tuple(count + (index in kinds) for index, count in enumerate(sample.owned))
        counts = climb(mix.counts, usd, kinds, minimum, useful_counts(sample)) if kinds else mix.counts
        return counts, usd(counts)

    def cost_usd(self, values: ParameterValues) -> Costs:
        """Return the costs of all mixes in each case; the alternative of one that buys nothing is what it rents."""
        shape = (len(self.mixes), values.cases)
        usd, machines, alternative = np.full(shape, np.inf), np.zeros(shape), np.empty(shape, object)
        for case in range(values.cases):
            factors = {key: float(np.broadcast_to(by, values.cases)[case]) for key, by in values.values.items()}
            single = ParameterValues(1, factors)
            sample, months = self._sample(self.work.moved(single)), self.months * float(single.work("months"))
            for index, mix in enumerate(self.mixes):
                alternative[index, case] = self._alternative(sample, index)
                if self._may_be_best(index, single):
                    counts, month_usd = self._best_counts(sample, mix)
                    usd[index, case] = month_usd * months
                    machines[index, case] = np.maximum(np.subtract(counts, sample.owned), 0).sum()
        return Costs(usd, machines, alternative)

    def _may_be_best(self, index: int, values: ParameterValues) -> bool:
        """Return whether a mix is nearly the best at the baseline, or figures of its machines change."""
        labels = {label for name in self.mixes[index].bought for label in self.work.source(name).labels}
        return not values.values or bool(labels & values.rows) or index in self._contenders

    @cached_property
    def _contenders(self) -> set[int | None]:
        """Indices of the mixes that are compared with the best at all values."""
        limit = NEARLY_BEST * min(mix.expected for mix in self.mixes)
        nearly_best = {index for index, mix in enumerate(self.mixes) if mix.expected <= limit and not mix.one_offer}
        return {*nearly_best, self.runner_up}

    def _alternative(self, sample: Problem, index: int) -> str:
        """Return what a mix is: itself where it buys or rents nothing, else the offer that it rents most."""
        mix = self.mixes[index]
        if not (any(_commitments(mix)) or mix.one_offer):
            rent = self._estimate(_rent_by_offer, sample, Strategy.of(mix)._replace(source=""))
            if rent.max(initial=0.0) > 0:
                return sample.rented[int(rent.argmax())].name
        return self.choices[index].alternative

    # --- turning points on all samples --------------------------------------------------------------------------------

    def refine(self, parameter: Parameter, point: TurningPoint) -> TurningPoint | None:
        """Return an estimated turning point on all samples; None where there is none.

        Estimates keep the strategy of each mix. What is worth timing first follows the figures too, so the answer is
        decided again on all samples a little before and beyond the point; where it changes elsewhere the point is
        sought among such answers.
        """
        side, limit = math.copysign(1.0, math.log(point.factor)), parameter.log_limit(point.factor)

        def is_changed(distance: float) -> bool:
            return _answer(self._decide(parameter, side * distance)) != _answer(self.mixes[0])

        crossing = self._crossing_distance(parameter, point, side, limit)
        distance = abs(math.log(point.factor)) if crossing is None else crossing
        is_right = crossing is not None and is_changed(distance + BEYOND)
        if is_right and (distance <= BEFORE or not is_changed(distance - BEFORE)):
            return self._exact_point(parameter, side * distance, self._decide(parameter, side * (distance + BEYOND)))
        nearer = [math.log(factor) for factor in COARSE_FACTORS if math.log(factor) < distance]
        further = (distance + count * ESTIMATE_RANGE for count in (1, 2, 4, 8))
        logs = [max(distance - BEFORE, 0.0), distance + BEYOND, *(log for log in further if log < limit), limit]
        changed = first_change([*nearer, *logs], is_changed)
        if changed is None:
            return None
        return self._exact_point(parameter, side * changed, self._decide(parameter, side * changed))

    def _decide(self, parameter: Parameter, log_factor: float) -> Mix:
        """Return the best mix on all samples at a factor of a parameter."""
        values = ParameterValues(1, {parameter: math.exp(log_factor)})
        problem = self.work.moved(values)
        sample, estimates = self._sample(problem), dict[Counts, float]()
        for index, mix in enumerate(self.mixes):
            if not mix.one_offer and self._may_be_best(index, values):
                counts, usd = self._best_counts(sample, mix)
                estimates[counts] = min(usd, estimates.get(counts, np.inf))
        limit = WORTH_DECIDING * min(estimates.values())
        starts = {problem.owned, *(counts for counts, usd in estimates.items() if usd <= limit)}
        kinds = [index for index, owned in enumerate(problem.owned) if any(counts[index] != owned for counts in starts)]
        return best_mix(problem, sorted(starts), kinds, self.work)

    def _exact_point(self, parameter: Parameter, log_factor: float, mix: Mix) -> TurningPoint | None:
        """Return a turning point with the mix that is the best beyond it; None where it is none of the mixes."""
        kin = (
            index
            for index, choice in enumerate(self.mixes)
            if not choice.one_offer and _commitments(choice) == _commitments(mix)
        )
        to, factor = next(kin, None), math.exp(log_factor)
        if to is None:
            return None
        lead = "" if any(_commitments(mix)) else mix.done.lead
        usd = float(_usd(self._problem(parameter, log_factor), Strategy.of(mix))) * self.months_at(parameter, factor)
        return TurningPoint(factor, to, usd, float(sum(mix.bought.values())), lead or str(to))

    def _crossing_distance(self, parameter: Parameter, point: TurningPoint, side: float, limit: float) -> float | None:
        """Return where two mixes cost the same on all samples, or another offer is rented most; None without one.

        It is the logarithm of a factor, without its sign.
        """
        pair, start = (self.mixes[0], self.mixes[point.to]), math.log(point.factor)
        best = Strategy.of(pair[0])
        if best != Strategy.of(pair[1]):
            sample = self._sample(self._problem(parameter, start))
            strategies = [Strategy.of(mix)._replace(counts=self._best_counts(sample, mix)[0]) for mix in pair]
            return abs(self._crossing(parameter, start, *strategies))

        def is_changed(distance: float) -> bool:
            result = best._replace(source="").dispatch(self._problem(parameter, side * distance))
            return result.lead != self.mixes[0].done.lead

        inner = abs(start) - ESTIMATE_RANGE
        inner = inner if inner > 0 and not is_changed(inner) else 0.0
        return first_change([*np.arange(abs(start), limit, ESTIMATE_RANGE), limit], is_changed, inner)

    def _crossing(self, parameter: Parameter, log_factor: float, first: Strategy, second: Strategy) -> float:
        """Return the logarithm of the factor at which two strategies cost the same on all samples, near an estimate.

        Newton's method with the slope of the estimates, which is off by less than a percent. At a jump, such as where
        a job is in time from there on, there is no slope to follow, and the estimate stays.
        """
        from scipy.optimize import newton  # lazily: only turning points of months need it

        def difference(log_factor: float) -> float:
            problem = self._problem(parameter, log_factor)
            return float(_usd(problem, second)) - float(_usd(problem, first))

        def estimate(log_factor: float) -> float:
            sample = self._sample(self._problem(parameter, log_factor))
            return self._estimated_usd(sample, second) - self._estimated_usd(sample, first)

        rise = estimate(log_factor + RELATIVE_STEP) - estimate(log_factor - RELATIVE_STEP)
        if not abs(estimate(log_factor)) < JUMP * abs(rise) < np.inf:
            return log_factor
        slope = rise / (2 * RELATIVE_STEP)
        root = newton(difference, log_factor, lambda _: slope, tol=LAST_STEP, maxiter=NEWTON_STEPS, disp=False)
        return float(root) if abs(root - log_factor) < ESTIMATE_RANGE else log_factor

    # --- from how much on a machine pays ------------------------------------------------------------------------------

    def break_even_cases(self) -> Iterator[BreakEvenCase]:
        """Yield each machine for sale and contract with all work, jobs of one class, and months of the project."""
        work, owned, best = self.work, self.work.drawn.owned, self.work.mixes[0].done
        device_hours = sum(float(best.device_hours(name).mean()) for name in best.sources)
        for index in work.drawn.for_sale:
            counts, name = step(owned, index, 1), work.drawn.held[index].name
            if not work.affords(counts):
                continue
            pair = self._with_counts(owned), self._with_counts(counts)
            is_owned = work.source(name).offer["purchase"] == "own"
            for parameter in self.parameters:
                is_class = parameter.quantity == PER_MONTH and not parameter.subject.endswith("(urgent)")
                if parameter.quantity == ALL_JOBS or (is_class and len(work.work.jobs) == 1):
                    label = ("the work of a month", WORK, device_hours, "device-hours/month")
                elif is_class or (parameter.quantity == "months" and is_owned):
                    label = (parameter.name, parameter.quantity, parameter.value, parameter.unit)
                else:
                    continue
                difference, exact = self._cost_difference(*pair, parameter)
                p_pays = float(np.mean(difference.samples[:, difference.factors == 1.0] <= 0))
                yield BreakEvenCase(name, work.title(name), parameter, *label, difference, p_pays, exact)

    def _with_counts(self, counts: Counts) -> Strategy:
        """Return so many machines and whatever is cheapest beside them by the best strategy within the limits."""
        return Strategy.of(self.work.with_strategy(Mix(BEST, "", dispatch(self.work.drawn, counts))))

    def _problems_at(self, parameter: Parameter, logs: Array) -> list[tuple[Problem, Problem]]:
        """Return, per factor, the samples of an estimate and some months of all samples; the same for all machines."""
        if parameter not in self._problems:
            problems = [self._problem(parameter, log_factor) for log_factor in logs]
            self._problems[parameter] = [
                (self._sample(problem), problem.select_months(even_indices(problem.jobs.shape[2], INTERVAL_MONTHS)))
                for problem in problems
            ]
        return self._problems[parameter]

    def _cost_difference(
        self, without: Strategy, with_machine: Strategy, parameter: Parameter
    ) -> tuple[CostDifference, Callable[[float, bool], float]]:
        """Return the cost of one machine and what is owned less that of what is owned alone, rentals beside both.

        The second value makes a factor exact from which the machine pays (`begins`), or up to which.
        """
        grid = np.log([*COARSE_FACTORS, FURTHEST])
        logs = np.array([*-grid[::-1], 0.0, *grid])
        factors = np.exp(logs)

        def difference(sample: Problem) -> float:
            return self._estimated_usd(sample, with_machine) - self._estimated_usd(sample, without)

        problems, samples = self._problems_at(parameter, logs), []
        for _, months in problems:
            usd, usd_without = (
                dispatch_once(months.variant(strategy.filled, "", strategy.timed), strategy.counts).usd
                for strategy in (with_machine, without)
            )
            with np.errstate(invalid="ignore"):  # Where neither does the work the machine does not pay.
                samples.append(usd - usd_without)
        estimates = np.array([[difference(sample) for sample, _ in problems]])

        def exact(factor: float, begins: bool) -> float:
            after = int(np.searchsorted(factors, factor)) + (not begins)

            def is_changed(log_factor: float) -> bool:
                return (difference(self._sample(self._problem(parameter, log_factor))) <= 0) == begins

            log_factor = first_change([logs[after]], is_changed, logs[after - 1])
            return (
                factor if log_factor is None else math.exp(self._crossing(parameter, log_factor, without, with_machine))
            )

        jumps = np.zeros(factors.size, bool)
        return CostDifference(factors, estimates, np.stack(samples, axis=1), factors, jumps, jumps), exact


def _commitments(mix: Mix) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the machines that a mix buys and those that it sells."""
    return tuple(sorted(mix.bought)), tuple(sorted(mix.sold))


def _answer(mix: Mix) -> object:
    """Return what a mix buys and sells; if nothing, the offer that it rents most."""
    return _commitments(mix) if any(_commitments(mix)) else mix.done.lead


def monthly_problem(work: MonthlyWork) -> MonthlyProblem | None:
    """Return the decision of a monthly workload; None where no mix does the work."""
    best, months = work.mixes[0], work.work.months
    if not np.isfinite(best.expected):
        return None
    mixes = [best]
    mixes += [mix for mix in work.mixes if not is_best(mix, best) and work.keeps(mix) and np.isfinite(mix.expected)]
    if not any(mix.counts == work.drawn.owned and not mix.source for mix in mixes):
        mixes.append(work.with_strategy(Mix(BEST, "", dispatch(work.drawn, work.drawn.owned))))
    labels = frozenset(work.rows)
    choices = []
    for index, mix in enumerate(mixes):
        # What it rests on most: the machine that it buys, else what it rents.
        name = next(iter(mix.bought), mix.source or mix.done.lead)
        row = work.source(name).offer if name else work.sources[0].offer
        choices.append(
            Choice(row["option"], mix_title(mix, work), row, str(index), labels, already_owned=not mix.bought)
        )
    job_parameters = list(_job_parameters(work))
    all_jobs = [all_of("number of jobs a month")] if len(work.work.jobs) > 1 else []
    return MonthlyProblem(
        workload=work.name,
        months=months,
        size_text=f"{months:g} months",
        choices=tuple(choices),
        parameters=(*_offer_parameters(work), *(parameter for parameter, _ in job_parameters), *all_jobs),
        samples_usd=np.stack([mix.done.usd * months for mix in mixes]),
        work_samples=tuple(pair for pair in job_parameters if np.ptp(pair[1]) > 0),
        neighbour_usd=_neighbour_usd(best, months),
        rows=work.rows,
        work=work,
        mixes=mixes,
    )


def _neighbour_usd(best: Mix, months: float) -> Array | None:
    """Return USD by sample of the mixes of one machine more or fewer than the best that do the work."""
    problem, samples = best.problem, []
    for index in problem.adjustable:
        kind, count = problem.held[index], best.counts[index]
        for change in (-1, 1):
            is_possible = kind.for_sale or kind.minimum <= count + change <= kind.there
            if is_possible and count + change >= kind.minimum:
                usd = dispatch(problem, step(best.counts, index, change)).usd * months
                samples += [usd] * bool(np.isfinite(usd).all())
    return np.stack(samples) if samples else None


def _offer_parameters(work: MonthlyWork) -> Iterator[Parameter]:
    """Yield figures of the offers."""
    offers = [
        replace(
            Choice.of(source.offer),
            alternative=source.offer["option"],
            labels=source.labels,
            already_owned=bool(source.there),
        )
        for source in work.sources
    ]
    speeds = {row["row"]: row for source in work.sources for row in source.rows if row is not None}
    for parameter in parameters_of(offers, list(speeds.values()), work.month_days):
        maximum = parameter.maximum
        if parameter.figure == "residual_usd":
            # Samples of a price list are cut at its lowest price; a higher resale value would be of no price list.
            price, lowest, _ = value_with_bounds(work.source(parameter.subject).offer, "capex_usd")
            maximum *= min(1.0, lowest / price)
        yield replace(parameter, maximum=maximum)


def _job_parameters(work: MonthlyWork) -> Iterator[tuple[Parameter, Array]]:
    """Yield the numbers of jobs of each class and of its urgent ones, and their growth, with samples."""
    jobs = (work.numbers / grown(work.growth, work.work.months)).mean(axis=2)
    for index, job_class in enumerate(work.classes):
        title, growth = model_title(job_class.job.name), job_class.job.growth_per_month
        if job_class.urgent:
            label, maximum = f"urgent jobs of {title} a month", job_class.job.per_month.value
        else:
            label, maximum = f"jobs of {title} a month", np.inf
        rows = [(PER_MONTH, label, "jobs/month", job_class.number, maximum, jobs[index])]
        if not job_class.urgent:
            label = f"growth of the jobs of {title}"
            rows.append((GROWTH, label, "share/month", growth, MAXIMUM_GROWTH, work.growth[index]))
        for quantity, name, unit, amount, highest, samples in rows:
            value, (low, high) = amount.value, amount.ends
            if not value > 0:
                continue
            basis = "declared" if low < high else "assumed"
            if not low < high:
                low, high = value * (1 - ASSUMED_RANGE), value * (1 + ASSUMED_RANGE)
            label_and_range = (quantity, job_class.name, name, unit, value, low, high, basis, quantity)
            yield Parameter(*label_and_range, maximum=highest), samples
