"""A monthly workload as a decision: its mixes of owned and rented machines, and their USD at any parameter values."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sweetspot.decision.decision_problem import (
    ALL_JOBS,
    FURTHEST,
    PRICES,
    Array,
    BreakEvenCase,
    Choice,
    CostDifference,
    Costs,
    DecisionProblem,
    Parameter,
    ParameterValues,
    TurningPoint,
)
from sweetspot.decision.monthly_work import GROWTH, PER_MONTH, MonthlyWork
from sweetspot.decision.parameters import all_of, known_or_assumed, parameters_of
from sweetspot.decision.simulate import value_with_bounds
from sweetspot.decision.sources import is_best, mix_title, rental_title
from sweetspot.mixes.dispatch import DispatchResult, dispatch
from sweetspot.mixes.problem import Counts, Problem, even_indices, growth_by_month
from sweetspot.mixes.search import Mix, MixSearch, climb, step, useful_counts
from sweetspot.titles import model_title

MAXIMUM_GROWTH = 0.5  # per month: no turning point is sought beyond
COARSE_LOGS = np.log([1.1, 1.25, 1.6, 2.5])  # of factors that are evaluated before FURTHEST
COARSE_PRECISION = 1e-4  # of the logarithm of a factor
CHECKEDLY_BEST = 1.6  # times the best: a more expensive mix is priced only where its figures change
ESTIMATE_RANGE = 0.1  # in the logarithm of a factor: how far an estimated turning point may be off
# In logarithms of factors: the answer has changed so far beyond a turning point, and not yet so far before it.
BEYOND, BEFORE, CHECKED = 2e-3, 8e-3, 2e-4
WORTH_DECIDING = 1.2  # times the best estimate: more expensive numbers of machines are no starts of a decision
PRECISION = 1e-8  # of the logarithm of a factor at which costs are equal
LARGEST = 1e300  # USD; stands for what does not do the work
BREAK_EVEN_LOGS = [-math.log(FURTHEST), *-COARSE_LOGS[::-1], 0.0, *COARSE_LOGS, math.log(FURTHEST)]
INTERVAL_MONTHS = 6  # months of each sample, for the interval of where a machine pays
WORK = "device_hours"  # quantity: all work of a month
ESTIMATE_SAMPLES = 250  # samples of an estimate, one month of each


class Strategy(NamedTuple):
    """One way to run the jobs of a problem, without costs.

    `source`: the only offer by the hour (empty: any); `counts`: machines of each owned kind; `timed`: keys of the
    speeds that are timed first.
    """

    source: str
    counts: Counts
    timed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, mix: Mix) -> "Strategy":
        """Return the source, counts and timings of a mix, without its dispatch."""
        return cls(mix.source, mix.counts, mix.timed)

    def dispatch(self, problem: Problem) -> DispatchResult:
        """Return the dispatch of a problem by this strategy."""
        return dispatch(_variant(problem, self.source, self.timed), self.counts)


@lru_cache(maxsize=8)  # What is expected of its offers is computed once for all numbers of machines.
def _variant(problem: Problem, first: str, timed: frozenset[str]) -> Problem:
    """Return the problem with an offer that jobs try first (empty: any), and timed speeds."""
    return replace(problem, first=first, timed=timed)


def _usd(problem: Problem, strategy: Strategy) -> Array:
    """Return the expected USD per month of a strategy, a mean over samples and months (array of no axes)."""
    return np.asarray(strategy.dispatch(problem).usd.mean())


def _rent_by_offer(problem: Problem, strategy: Strategy) -> Array:
    """Return the expected USD per month paid to each offer by the hour, in the order of `problem.rented`."""
    rent_by_offer = strategy.dispatch(problem).rent_by_offer
    return np.array([rent_by_offer.get(offer.name, 0.0) for offer in problem.rented])


def first_change(logs: Iterable[float], is_changed: Callable[[float], bool], inner: float = 0.0) -> float | None:
    """Return the first logarithm of a factor at which `is_changed` holds, by bisection to COARSE_PRECISION.

    Parameters
    ----------
    logs
        Logarithms of factors in the order in which they are tried.
    is_changed
        Function that returns whether the answer has changed at a logarithm.
    inner
        A logarithm at which the answer has not changed.

    Returns
    -------
    float or None
        A logarithm at which the answer has changed; None if it has at none of `logs`.
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
    """Mixes of a monthly workload and their USD at any values of its parameters.

    An estimate dispatches one month of ESTIMATE_SAMPLES samples and is corrected by its error at the baseline (control
    variate).
    """

    work: MonthlyWork
    mixes: list[Mix]
    _errors: dict[object, Array] = field(default_factory=dict)

    @cached_property
    def runner_up(self) -> int | None:
        """Index of the cheapest mix that buys or sells other machines than the best, else of the cheapest other mix."""
        usd = self.samples_usd.mean(axis=1)
        finite = [index for index in range(1, len(usd)) if usd[index] < np.inf]
        best = _commitments(self.mixes[0])
        different = [index for index in finite if _commitments(self.mixes[index]) != best]
        return min(different or finite, key=usd.tolist().__getitem__, default=super().runner_up)

    def title(self, index: int, count: float, alternative: str | None = None) -> str:
        """Return a mix in words: `count` machines that it buys, or the offer `alternative` that it rents most."""
        bought, work = self.mixes[index].bought, self.work
        if alternative not in (None, self.choices[index].alternative):
            return f"nothing bought, {rental_title(work.title(str(alternative)), work.at_home)}"
        if len(bought) != 1 or count in bought.values():
            return self.choices[index].title
        return f"{count:g} × {work.title(next(iter(bought)))}"

    def _problem(self, parameter: Parameter, log_factor: float) -> Problem:
        """Return the problem, all samples, with a parameter at exp(`log_factor`) times its baseline."""
        return self.work.moved(ParameterValues(1, {parameter: math.exp(log_factor)}))

    def _sample(self, problem: Problem) -> Problem:
        """Return the problem on ESTIMATE_SAMPLES samples, one month of each, or several months if samples are few."""
        samples, months = problem.jobs.shape[1:]
        if samples < ESTIMATE_SAMPLES:
            return problem.select(*np.divmod(even_indices(samples * months, ESTIMATE_SAMPLES), months))
        selected = even_indices(samples, ESTIMATE_SAMPLES)
        return problem.select(selected, selected % months)

    def _estimate(self, figure: Callable[[Problem, Strategy], Array], sample: Problem, strategy: Strategy) -> Array:
        """Return `figure` (USD per month) of a strategy on a small `sample`, corrected by its error at the baseline."""
        if (figure, strategy) not in self._errors:
            baseline = self.work.drawn
            with np.errstate(invalid="ignore"):
                error = figure(baseline, strategy) - figure(self._sample(baseline), strategy)
            self._errors[figure, strategy] = np.where(np.isfinite(error), error, 0.0)
        return figure(sample, strategy) + self._errors[figure, strategy]

    def _best_counts(self, sample: Problem, mix: Mix) -> tuple[Counts, float]:
        """Return the machine numbers, at least 1 of each kind that a mix buys, of least cost, and USD per month."""

        @cache
        def usd(counts: Counts) -> float:
            if not self.work.affords(counts):
                return np.inf
            return float(self._estimate(_usd, sample, Strategy.of(mix)._replace(counts=counts)))

        kinds = [index for index, kind in enumerate(sample.held) if kind.name in mix.bought]
        minimum = tuple(count + (index in kinds) for index, count in enumerate(sample.owned))
        counts = climb(mix.counts, usd, kinds, minimum, useful_counts(sample)) if kinds else mix.counts
        return counts, usd(counts)

    def cost_usd(self, values: ParameterValues) -> Costs:
        """Return USD, machines bought and alternatives (of a mix that buys nothing: its main offer), mix x case."""
        shape = (len(self.mixes), values.cases)
        usd, machines, alternative = np.full(shape, np.inf), np.zeros(shape), np.empty(shape, object)
        for case in range(values.cases):
            factors = {key: float(np.broadcast_to(by, values.cases)[case]) for key, by in values.values.items()}
            single = ParameterValues(1, factors)
            sample, months = self._sample(self.work.moved(single)), self.months * float(single.work("months"))
            alternative[:, case] = [self._alternative(sample, index) for index in range(len(self.mixes))]
            for index in self._contenders(single):
                counts, month_usd = self._best_counts(sample, self.mixes[index])
                usd[index, case] = month_usd * months
                machines[index, case] = np.maximum(np.subtract(counts, sample.owned), 0).sum()
        return Costs(usd, machines, alternative)

    def _contenders(self, values: ParameterValues) -> list[int]:
        """Return indices of the mixes worth pricing at `values`: nearly the best, or with changed machine figures."""
        limit, contenders = CHECKEDLY_BEST * min(mix.expected for mix in self.mixes), []
        for index, mix in enumerate(self.mixes):
            labels = {label for name in mix.bought for label in self.work.source_by_name[name].labels}
            is_near = (mix.expected <= limit and not mix.one_offer) or index == self.runner_up
            if is_near or not values.values or labels & values.rows:
                contenders.append(index)
        return contenders

    def _alternative(self, sample: Problem, index: int) -> str:
        """Return the name of the offer that a mix without purchases rents most; of other mixes, their own key."""
        mix = self.mixes[index]
        if not (any(_commitments(mix)) or mix.one_offer):
            rent = self._estimate(_rent_by_offer, sample, Strategy.of(mix)._replace(source=""))
            if rent.max(initial=0.0) > 0:
                return sample.rented[int(rent.argmax())].name
        return self.choices[index].alternative

    def title_at(self, costs: Costs, index: int, case: int) -> str:
        """Return a mix in words, with its machines and main offer in one case of `costs`."""
        return self.title(index, float(costs.counts[index, case]), np.asarray(costs.alternative)[index, case])

    def is_changed(self, costs: Costs) -> Array:
        """Return booleans by case: whether another mix is the cheapest, or another offer is rented most."""
        alternative = np.asarray(costs.alternative)[self.cheapest(costs), np.arange(costs.usd.shape[1])]
        return np.asarray(alternative != np.asarray(self.baseline.alternative)[self.best, 0])

    # --- where the answer changes -------------------------------------------------------------------------------------

    def _turning_point(self, parameter: Parameter, side: float) -> TurningPoint | None:
        """Return the nearest turning point below (`side` -1) or above (1) the baseline; None without one.

        Estimates keep the strategy of each mix. The speeds worth timing first change with the figures, so the answer is
        decided again on all samples a little before and beyond the point; where it changes elsewhere the point is
        sought among such answers. Distances are |log factor|.
        """
        limit = parameter.log_limit(math.exp(side))
        # A price is a straight line in each cost: the far end alone tells whether the answer changes.
        coarse = [] if parameter.figure in PRICES else [log for log in COARSE_LOGS if log < limit]

        @cache
        def estimate(distance: float) -> Costs:
            return self.at(parameter, [math.exp(side * distance)])

        @cache
        def decide(distance: float) -> Mix:
            return self._decide(parameter, side * distance)

        def is_changed(distance: float) -> bool:
            return _answer(decide(distance)) != _answer(self.mixes[0])

        logs = [*coarse, limit] if limit > 0 else []
        start = first_change(logs, lambda log: bool(self.is_changed(estimate(log))[0]))
        if start is None:
            return None
        crossing = self._crossing_distance(parameter, side, start, int(self.cheapest(estimate(start))[0]))
        distance = start if crossing is None else crossing
        inside, outside = max(distance - CHECKED, 0.0), distance + CHECKED
        if crossing is None or not is_changed(outside) or is_changed(inside):
            further = (distance + count * ESTIMATE_RANGE for count in (1, 2, 4, 8))
            logs = [max(distance - BEFORE, 0.0), distance + BEYOND, *(log for log in further if log < limit), limit]
            changed = first_change([*COARSE_LOGS[distance > COARSE_LOGS], *logs], is_changed)
            if changed is None:
                return None
            distance = outside = changed
        return self._exact_point(parameter, side * distance, decide(outside))

    def _decide(self, parameter: Parameter, log_factor: float) -> Mix:
        """Return the best mix on all samples with a parameter at exp(`log_factor`) times its baseline."""
        values = ParameterValues(1, {parameter: math.exp(log_factor)})
        problem = self.work.moved(values)
        sample, estimates = self._sample(problem), dict[Counts, float]()
        for index in self._contenders(values):
            if not self.mixes[index].one_offer:
                counts, usd = self._best_counts(sample, self.mixes[index])
                estimates[counts] = min(usd, estimates.get(counts, np.inf))
        limit = WORTH_DECIDING * min(estimates.values())
        starts = {problem.owned, *(counts for counts, usd in estimates.items() if usd <= limit)}
        kinds = [index for index, owned in enumerate(problem.owned) if any(counts[index] != owned for counts in starts)]
        return MixSearch(problem, self.work).best(sorted(starts), kinds)

    def _exact_point(self, parameter: Parameter, log_factor: float, mix: Mix) -> TurningPoint | None:
        """Return the turning point at `log_factor` to `mix`, the best beyond it; None if no choice buys the same."""
        for index, choice in enumerate(self.mixes):
            if not choice.one_offer and _commitments(choice) == _commitments(mix):
                factor, lead = math.exp(log_factor), "" if any(_commitments(mix)) else mix.done.lead
                usd = float(_usd(self._problem(parameter, log_factor), Strategy.of(mix)))
                usd *= self.months_at(parameter, factor)
                return TurningPoint(factor, index, usd, float(sum(mix.bought.values())), lead or str(index))
        return None

    def _crossing_distance(self, parameter: Parameter, side: float, start: float, to: int) -> float | None:
        """Return the distance at which mix `to` costs as much as the best, or another offer is rented most, else None.

        All samples are used.
        """
        pair = (self.mixes[0], self.mixes[to])
        best = Strategy.of(pair[0])
        if best != Strategy.of(pair[1]):
            sample = self._sample(self._problem(parameter, side * start))
            strategies = [Strategy.of(mix)._replace(counts=self._best_counts(sample, mix)[0]) for mix in pair]
            return abs(self._crossing(parameter, side * start, *strategies))

        def is_changed(distance: float) -> bool:
            result = best._replace(source="").dispatch(self._problem(parameter, side * distance))
            return result.lead != self.mixes[0].done.lead

        limit, inner = parameter.log_limit(math.exp(side)), start - ESTIMATE_RANGE
        inner = inner if inner > 0 and not is_changed(inner) else 0.0
        return first_change([*np.arange(start, limit, ESTIMATE_RANGE), limit], is_changed, inner)

    def _crossing(self, parameter: Parameter, log_factor: float, first: Strategy, second: Strategy) -> float:
        """Return the log factor near `log_factor` at which two strategies' mean USD are equal; else `log_factor`."""
        from scipy.optimize import brentq  # lazily: only turning points of months need it

        def difference(log_factor: float) -> float:
            problem = self._problem(parameter, log_factor)
            with np.errstate(invalid="ignore"):  # Where neither does the work.
                usd = _usd(problem, second) - _usd(problem, first)
            return float(np.nan_to_num(usd, nan=LARGEST, posinf=LARGEST, neginf=-LARGEST))

        bounds = log_factor - ESTIMATE_RANGE, log_factor + ESTIMATE_RANGE
        if difference(bounds[0]) * difference(bounds[1]) > 0:
            return log_factor
        return float(brentq(difference, *bounds, xtol=PRECISION))

    # --- from how much on a machine pays ------------------------------------------------------------------------------

    def break_even_cases(self) -> Iterator[BreakEvenCase]:
        """Yield a case per machine for sale or contract and parameter: all work, jobs of a class, or project months."""
        work, owned, best = self.work, self.work.drawn.owned, self.work.mixes[0].done
        device_hours = sum(float(best.device_hours(name).mean()) for name in best.sources)
        problems: dict[Parameter, dict[float, Problem]] = {}  # the same for all machines
        for index, kind in enumerate(work.drawn.held):
            counts, name = step(owned, index, 1), kind.name
            if kind.there or not work.affords(counts):
                continue
            pair = Strategy.of(work.mix_of(owned)), Strategy.of(work.mix_of(counts))
            is_owned = work.source_by_name[name].offer["purchase"] == "own"
            for parameter in self.parameters:
                is_class = parameter.quantity == PER_MONTH and not parameter.subject.endswith("(urgent)")
                if parameter.quantity == ALL_JOBS or (is_class and len(work.work.jobs) == 1):
                    label = ("the work of a month", WORK, device_hours, "device-hours/month")
                elif is_class or (parameter.quantity == "months" and is_owned):
                    label = (parameter.name, parameter.quantity, parameter.value, parameter.unit)
                else:
                    continue
                if parameter not in problems:
                    problems[parameter] = {log: self._selected_months(parameter, log) for log in BREAK_EVEN_LOGS}
                difference = self._cost_difference(*pair, parameter, problems[parameter])
                p_pays = float(np.mean(difference.samples[:, difference.sample_factors == 1.0] <= 0))
                yield BreakEvenCase(name, work.title(name), parameter, *label, difference, p_pays)

    def _selected_months(self, parameter: Parameter, log_factor: float) -> Problem:
        """Return `_problem` with INTERVAL_MONTHS of its months."""
        problem = self._problem(parameter, log_factor)
        return problem.select(..., even_indices(problem.jobs.shape[2], INTERVAL_MONTHS))

    def _cost_difference(
        self, without: Strategy, with_machine: Strategy, parameter: Parameter, problems: Mapping[float, Problem]
    ) -> CostDifference:
        """Return USD per month with one machine more less that without, each with rentals, by factor and sample.

        It is a mean over a few months; the factor at which both cost the same on all samples is added.
        """

        def difference(problem: Problem) -> Array:
            with np.errstate(invalid="ignore"):  # Where neither does the work the machine does not pay.
                return with_machine.dispatch(problem).usd - without.dispatch(problem).usd

        samples = np.stack([difference(problem) for problem in problems.values()], axis=1)
        usd = dict(zip(problems, samples.mean(axis=0), strict=True))
        for inner, outer in pairwise(problems):
            pays = usd[outer] <= 0

            def is_changed(log_factor: float, pays: bool = pays) -> bool:
                return (difference(self._selected_months(parameter, log_factor)).mean() <= 0) == pays

            if (usd[inner] <= 0) != pays:
                log_factor = first_change([outer], is_changed, inner) or outer
                usd[self._crossing(parameter, log_factor, without, with_machine)] = 0.0
        lines, no_jump = np.array(sorted(usd.items())).T, np.zeros(len(usd), bool)
        return CostDifference(np.exp(lines[0]), lines[[1]], samples, np.exp([*problems]), no_jump, no_jump)


def _commitments(mix: Mix) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sorted names of the kinds of machines that a mix buys, and of those that it sells."""
    return tuple(sorted(mix.bought)), tuple(sorted(mix.resold))


def _answer(mix: Mix) -> object:
    """Return a key of a mix's answer: kinds bought and sold; if none, the name of the offer that it rents most."""
    return _commitments(mix) if any(_commitments(mix)) else mix.done.lead


# --- the problem of a workload ----------------------------------------------------------------------------------------


def monthly_problem(work: MonthlyWork) -> MonthlyProblem | None:
    """Return the decision between the mixes of a monthly workload; None where no mix can run all its jobs."""
    best, months = work.mixes[0], work.work.months
    if not np.isfinite(best.expected):
        return None
    further = (mix for mix in work.mixes if not is_best(mix, best) and work.affords(mix.counts))
    mixes = [best, *(mix for mix in further if np.isfinite(mix.expected))]
    if not any(mix.counts == work.drawn.owned and not mix.source for mix in mixes):
        mixes.append(work.mix_of(work.drawn.owned))
    labels, choices = frozenset(work.rows), []
    for index, mix in enumerate(mixes):
        # What it rests on most: the machine that it buys, else what it rents.
        name = next(iter(mix.bought), mix.source or mix.done.lead)
        row = work.source_by_name.get(name, work.sources[0]).offer
        title = mix_title(mix, work)
        choices.append(Choice(row["option"], title, row, str(index), labels, already_owned=not mix.bought))
    job_parameters = list(_job_parameters(work))
    all_jobs = [all_of("number of jobs a month")] if len(work.work.jobs) > 1 else []
    return MonthlyProblem(
        workload=work.name,
        months=months,
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
    """Return USD of feasible mixes with one machine more or fewer than the best, mix x sample; None without any."""
    problem, samples = best.problem, []
    for index, (kind, count) in enumerate(zip(problem.held, best.counts, strict=True)):
        for number in (count - 1, count + 1):
            if kind.minimum <= number and (not kind.there or number <= kind.there):
                usd = dispatch(problem, step(best.counts, index, number - count)).usd * months
                samples += [usd] * bool(np.isfinite(usd).all())
    return np.stack(samples) if samples else None


def _offer_parameters(work: MonthlyWork) -> Iterator[Parameter]:
    """Yield the parameters of the offers: prices, figures of machines, tariffs, months, days of use, speeds."""
    offers = []
    for source in work.sources:
        option, title = source.offer["option"], str(source.offer["title"])
        offers.append(Choice(option, title, source.offer, option, source.labels, already_owned=source.there > 0))
    speeds = {row["row"]: row for source in work.sources for row in source.rows if row is not None}
    for parameter in parameters_of(offers, list(speeds.values()), work.month_days):
        maximum = parameter.maximum
        if parameter.figure == "residual_usd":
            # Samples of a price list are cut at its lowest price; a higher resale value would be of no price list.
            price, lowest, _ = value_with_bounds(work.source_by_name[parameter.subject].offer, "capex_usd")
            maximum *= min(1.0, lowest / price)
        yield replace(parameter, maximum=maximum)


def _job_parameters(work: MonthlyWork) -> Iterator[tuple[Parameter, Array]]:
    """Yield each class's jobs per month, urgent jobs and growth as a parameter with its samples (one value each)."""
    jobs = (work.numbers / growth_by_month(work.growth, work.work.months)).mean(axis=2)
    for index, job_class in enumerate(work.classes):
        job, title = job_class.job, model_title(job_class.job.name)
        if job_class.urgent:
            name, maximum = f"urgent jobs of {title} a month", job.per_month.value
        else:
            name, maximum = f"jobs of {title} a month", np.inf
        rows = [(PER_MONTH, name, "jobs/month", job_class.number, maximum, jobs[index])]
        if not job_class.urgent:
            name, amount = f"growth of the jobs of {title}", job.growth_per_month
            rows.append((GROWTH, name, "share/month", amount, MAXIMUM_GROWTH, work.growth[index]))
        for quantity, name, unit, amount, maximum, samples in rows:
            if amount.value > 0:
                bounds = (amount.value, *known_or_assumed(amount.value, *amount.ends, "declared"))
                yield Parameter(quantity, job_class.name, name, unit, *bounds, quantity, maximum=maximum), samples
