"""A monthly workload as a decision: its mixes of owned and rented machines, and their USD at any parameter values."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

from sweetspot.decision.decision_problem import (
    FURTHEST,
    Array,
    BreakEvenCase,
    Choice,
    Costs,
    DecisionProblem,
    Parameter,
    ParameterValues,
    TurningPoint,
    all_of,
    known_or_assumed,
    parameters_of,
)
from sweetspot.decision.monthly_work import PER_MONTH, MonthlyWork
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import Counts, Problem, even_indices, growth_by_month
from sweetspot.mixes.search import Mix, MixSearch, climb, step, useful_counts
from sweetspot.titles import model_title

WORTH_PRICING = 1.6  # times the best: a more expensive mix is priced only where its figures change
WORTH_DECIDING = 1.2  # times the best estimate: more expensive numbers of machines are no starts of a decision
PRECISION = 6e-7  # of the logarithm of a factor at which the answer changes
EXACT = 2e-12  # of a factor at which two mixes cost the same, found in few steps; costs are nearly straight lines
MARGIN = 2e-7  # on either side of a crossing; both sides together are less than the precision
LOGS = np.log([1.1, 1.25, 1.6, 2.5, FURTHEST]).tolist()  # of factors at which the answer is decided
BREAK_EVEN_LOGS = sorted([*np.negative(LOGS), 0.0, *LOGS])  # of factors at which owning and renting are priced
INTERVAL_MONTHS = 6  # months of each sample, for the interval of where a machine pays
ESTIMATE_SAMPLES = 250  # samples of an estimate, one month of each


def _month_usd(problem: Problem, mix: Mix, counts: Counts) -> float:
    """Return expected USD per month of a mix with other numbers of machines."""
    return float(dispatch(mix.variant(problem), counts).usd.mean())


def _plan(mix: Mix) -> tuple[str, Counts, frozenset[str]]:
    """Return what a mix decides: source, numbers of machines, speeds timed first. Equal ones cost the same always."""
    return mix.source, mix.counts, mix.timed


@dataclass(eq=False, kw_only=True)
class MonthlyProblem(DecisionProblem):
    """Mixes of a monthly workload and their USD at any values of its parameters.

    An estimate dispatches one month of ESTIMATE_SAMPLES samples and is corrected by its error at the baseline (control
    variate).
    """

    work: MonthlyWork
    mixes: list[Mix]
    _errors: dict[tuple[Mix, Counts], float] = field(default_factory=dict)

    @cached_property
    def _estimate_problem(self) -> Problem:
        """The sample of estimates at the baseline."""
        return _sample(self.work.drawn)

    @cached_property
    def runner_up(self) -> int | None:
        """Index of the mix that the best is compared with, for the tornado; None without another.

        The cheapest that buys other machines than the best, else the cheapest other one.
        """
        usd = self.samples_usd.mean(axis=1)
        finite = [index for index in range(1, len(usd)) if usd[index] < np.inf]
        best = self.mixes[0].bought.keys()
        different = [index for index in finite if self.mixes[index].bought.keys() != best]
        return min(different or finite, key=usd.tolist().__getitem__, default=super().runner_up)

    def title(self, index: int, count: float, alternative: str | None = None) -> str:
        """Return a mix in words, for the page and for tables of turning points.

        Parameters
        ----------
        index, count, alternative
            Index of the mix; number of machines that it buys; key of the offer that a mix which buys nothing rents most
            (None: that of the baseline).
        """
        bought = self.mixes[index].bought
        work = self.work
        if alternative and alternative != self.choices[index].alternative:
            return work.rental_title(work.title(alternative))
        if len(bought) != 1 or count in bought.values():
            return self.choices[index].title
        return f"{count:g} × {work.title(next(iter(bought)))}"

    def cost_usd(self, values: ParameterValues) -> Costs:
        """Return USD, machines bought and alternatives at what-if values, mix x case, for sweeps and turning points.

        USD are estimates from few samples. The alternative of a mix that buys nothing is the offer that it rents most,
        because another offer is another answer.
        """
        shape = (len(self.mixes), values.cases)
        usd = np.full(shape, np.inf)
        machines = np.zeros(shape)
        alternative = np.empty(shape, object)
        for case in range(values.cases):
            factors = {key: float(np.broadcast_to(by, values.cases)[case]) for key, by in values.values.items()}
            single = ParameterValues(1, factors)
            sample = _sample(self.work.moved(single))
            months = self.months * single.work("months")
            rented = dispatch(self.mixes[0].variant(sample), sample.owned).lead
            for index, mix in enumerate(self.mixes):
                is_open = not (mix.bought or mix.single_offer)
                alternative[index, case] = (is_open and rented) or self.choices[index].alternative
            for index in self._contenders(single):
                counts, month_usd = self._best_counts(sample, self.mixes[index])
                usd[index, case] = month_usd * months
                machines[index, case] = np.maximum(np.subtract(counts, sample.owned), 0).sum()
        return Costs(usd, machines, alternative)

    def is_changed(self, costs: Costs) -> Array:
        """Return booleans by case: whether another mix is the cheapest, or another offer is rented most."""
        alternative = np.asarray(costs.alternative)[self.cheapest(costs), np.arange(costs.usd.shape[1])]
        return np.asarray(alternative != np.asarray(self.baseline.alternative)[self.best, 0])

    def _contenders(self, values: ParameterValues) -> list[int]:
        """Return indices of the mixes worth pricing at what-if `values`, because pricing each would take too long.

        A mix is numbers of machines owned and offers rented. Priced are those nearly the best, the runner-up, and those
        that buy a machine whose figures change.
        """
        limit = WORTH_PRICING * min(mix.expected for mix in self.mixes)
        return [
            index
            for index, mix in enumerate(self.mixes)
            if not values.values
            or index == self.runner_up
            or (mix.expected <= limit and not mix.single_offer)
            or any(values.rows & self.work.source_by_name[name].rows_by_label.keys() for name in mix.bought)
        ]

    def _best_counts(self, sample: Problem, mix: Mix) -> tuple[Counts, float]:
        """Return (machines of each kind, USD per month): the cheapest numbers of machines for a mix at what-if values.

        At least one of each kind that it buys. `sample`: the problem at these values with few samples, which is
        dispatched; its error at the baseline is corrected.
        """

        @cache
        def usd(counts: Counts) -> float:
            """Return the USD per month of the mix with these numbers of machines; infinite beyond the budget.

            The few samples of `sample` are corrected by their error as planned; `climb` minimises it.
            """
            if not self.work.affords(counts):
                return np.inf
            if (mix, counts) not in self._errors:
                error = _month_usd(self.work.drawn, mix, counts) - _month_usd(self._estimate_problem, mix, counts)
                self._errors[mix, counts] = error if math.isfinite(error) else 0.0
            return _month_usd(sample, mix, counts) + self._errors[mix, counts]

        kinds = [index for index, kind in enumerate(sample.held) if kind.name in mix.bought]
        minimum = tuple(count + (index in kinds) for index, count in enumerate(sample.owned))
        counts = climb(mix.counts, usd, kinds, minimum, useful_counts(sample))
        return counts, usd(counts)

    def _turning_point(self, parameter: Parameter, side: float) -> TurningPoint | None:
        """Return the nearest factor of a parameter at which the answer changes, decided on all samples; None without
        one. `side`: below (-1) or above (1) the baseline. Distances are |log factor|. The mixes decided at both ends of
        a range in which the answer changes give a crossing; the answer is decided on either side of it, until it
        changes just there.
        """
        limit = max(0.0, parameter.log_limit(math.exp(side)))
        first = _answer(self.mixes[0])

        @cache
        def best(distance: float) -> Mix:
            return self._decide(parameter, side * distance) if distance else self.mixes[0]

        def is_changed(distance: float) -> bool:
            return _answer(best(distance)) != first

        # Use of a machine falls with its price and rises with its speed: what is the same at the end is so between.
        logs = np.array([*(log_factor for log_factor in LOGS if log_factor < limit and not parameter.rows), limit])
        # What is estimated to stay the same is not decided on all samples.
        distances = logs[self.is_changed(self.at(parameter, np.exp(side * logs)))]
        inner = 0.0
        outer = next(filter(is_changed, distances.tolist()), 0.0)
        if outer == 0.0:
            return None
        while outer - inner > PRECISION:
            middle = (inner + outer) / 2
            second = best(outer)
            crossing = abs(self._crossing(parameter, side * inner, side * outer, best(inner), second))
            for distance in (crossing + MARGIN, crossing - MARGIN, middle):
                if inner < distance < outer and outer - inner > PRECISION:
                    inner, outer = (inner, distance) if is_changed(distance) else (distance, outer)
                    # At the crossing both cost the same: if either is best beyond it, nothing is cheaper before it.
                    if outer == crossing + MARGIN and _plan(best(outer)) in (_plan(best(inner)), _plan(second)):
                        inner = outer
        mix = best(outer)
        for to, candidate in enumerate(self.mixes):
            if candidate.bought.keys() == mix.bought.keys() and not candidate.single_offer:
                lead = "" if mix.bought else mix.done.lead
                return TurningPoint(math.exp(side * outer), to, sum(mix.bought.values()), lead or str(to))
        return None

    def _problem(self, parameter: Parameter, log_factor: float) -> Problem:
        """Return the problem, all samples, with a parameter at exp(`log_factor`) times its baseline."""
        return self.work.moved(ParameterValues(1, {parameter: math.exp(log_factor)}))

    def _decide(self, parameter: Parameter, log_factor: float) -> Mix:
        """Return the best mix if a parameter is exp(`log_factor`) times its baseline, decided on all samples.

        Where it differs from today's best the answer has changed, which `_turning_point` looks for.
        """
        problem = self._problem(parameter, log_factor)
        sample = _sample(problem)
        estimates = dict(self._best_counts(sample, mix) for mix in self.mixes if not mix.single_offer)
        limit = WORTH_DECIDING * min(estimates.values())
        starts = {problem.owned, *(counts for counts, usd in estimates.items() if usd <= limit)}
        kinds = np.flatnonzero((np.array([*starts]) != problem.owned).any(axis=0)).tolist()
        return MixSearch(problem, self.work.affords).best(sorted(starts), kinds)

    def _crossing(self, parameter: Parameter, inner: float, outer: float, first: Mix, second: Mix) -> float:
        """Return where the answer changes: the log factor of a parameter at which two mixes cost the same. If the first
        buys nothing and another offer than the planned one is paid most already nearer to `inner`, that is returned;
        `outer` where neither happens.

        `inner`, `outer`: logarithms of the factors between which it is looked for; `first`, `second`: the mixes
        (machines owned, offers rented), of which the first is the best at `inner`.
        """
        lead = self.mixes[0].done.lead

        def saving(log_factor: float) -> float:
            """Return USD per month by which the second mix is cheaper, to find its zero."""
            problem = self._problem(parameter, log_factor)
            search = MixSearch(problem, self.work.affords)
            first_usd, second_usd = (search.rank(mix._replace(done=mix.at(problem))) for mix in (first, second))
            with np.errstate(invalid="ignore"):  # Where neither does the work the first is no choice any more.
                return float(np.nan_to_num(np.subtract(first_usd, second_usd), nan=1e300))

        def excess(log_factor: float) -> float:
            """Return USD per month that the first mix pays to another offer above what it pays to the planned one."""
            usd = dict(first.at(self._problem(parameter, log_factor)).rent_by_offer)
            planned_usd = usd.pop(lead, 0.0)
            return max(usd.values(), default=0.0) - planned_usd

        end = _root(saving, inner, outer, EXACT)
        return end if first.bought else _root(excess, inner, end, MARGIN / 2)

    def break_even_cases(self) -> Iterator[BreakEvenCase]:
        """Yield USD with less USD without one machine for sale or contract, along all work, jobs of a class, or project
        months. There is a case per machine and parameter. From each it is computed from how much on the machine pays.
        """
        work = self.work
        owned = work.drawn.owned
        best = work.mixes[0].done
        without = work.mix_of(owned)
        further = ((kind.name, step(owned, index, 1)) for index, kind in enumerate(work.drawn.held) if not kind.there)
        offered = {name: work.mix_of(counts) for name, counts in further if work.affords(counts)}
        urgent = [job_class.name for job_class in work.classes if job_class.urgent]
        device_hours = sum(best.device_hours(name).mean() for name in best.sources)
        all_work = replace(all_of("the work of a month", "device_hours"), value=device_hours, unit="device-hours/month")
        quantities = ("months", PER_MONTH)[: len(work.work.jobs)]  # Jobs of the only class are all the work.
        parameters = [
            parameter
            for parameter in self.parameters
            if parameter.quantity in quantities and parameter.subject not in urgent
        ]
        for parameter in [*parameters, all_work] if offered else ():
            problems = [
                problem.select(..., even_indices(problem.jobs.shape[2], INTERVAL_MONTHS))
                for problem in (self._problem(parameter, log_factor) for log_factor in BREAK_EVEN_LOGS)
            ]
            for name, mix in offered.items():
                if parameter.quantity == "months" and work.source_by_name[name].offer["purchase"] != "own":
                    continue
                yield self._break_even_case(name, without, mix, parameter, problems)

    def _break_even_case(
        self, name: str, without: Mix, with_machine: Mix, parameter: Parameter, problems: list[Problem]
    ) -> BreakEvenCase:
        """Return USD per month with one machine more less that without, each with rentals: at which values does it pay?

        USD are by factor of the parameter, and by sample and factor. `name`: option of the machine; `without`,
        `with_machine`: the mixes; `problems`: at BREAK_EVEN_LOGS, with a few months; the factors at which both cost the
        same in all months are added.
        """
        with np.errstate(invalid="ignore"):  # Where neither does the work the machine does not pay.
            samples = np.stack([with_machine.at(problem).usd - without.at(problem).usd for problem in problems], axis=1)
        usd = dict(zip(BREAK_EVEN_LOGS, samples.mean(axis=0), strict=True))
        for inner, outer in pairwise(BREAK_EVEN_LOGS):
            if np.sign(usd[inner]) != np.sign(usd[outer]):
                usd.setdefault(self._crossing(parameter, inner, outer, with_machine, without), 0.0)
        logs, central = np.array(sorted(usd.items())).T
        no_jump = np.zeros(len(usd), bool)
        selected = np.searchsorted(logs, BREAK_EVEN_LOGS)
        return BreakEvenCase(name, self.work.title(name), parameter, np.exp(logs), central, no_jump, samples, selected)


def _sample(problem: Problem) -> Problem:
    """Return the problem on at most ESTIMATE_SAMPLES samples, one month of each."""
    samples, months = problem.jobs.shape[1:]
    selected = even_indices(samples, ESTIMATE_SAMPLES)
    return problem.select(selected, selected % months)


def _root(function: Callable[[float], float], start: float, end: float, precision: float) -> float:
    """Return the log factor at which a function of it changes its sign, within `precision`; `end` where it does not."""
    from scipy.optimize import brentq  # lazily: only monthly work needs it

    function = cache(function)
    return float(brentq(function, start, end, xtol=precision)) if function(start) * function(end) < 0 else end


def _answer(mix: Mix) -> object:
    """Return a key of a mix's answer: the kinds that it buys; if none, the name of the offer that it rents most."""
    return frozenset(mix.bought) or mix.done.lead


def monthly_problem(work: MonthlyWork) -> MonthlyProblem | None:
    """Return the decision between the mixes (machines owned, offers rented) of a monthly workload, which all analyses
    take. None where no mix can run all its jobs.
    """
    months = work.work.months
    if not np.isfinite(work.mixes[0].expected):
        return None
    mixes = [mix for mix in work.distinct_mixes if np.isfinite(mix.expected) and work.affords(mix.counts)]
    if not any(mix.counts == work.drawn.owned and not mix.source for mix in mixes):
        mixes.append(work.mix_of(work.drawn.owned))
    labels = frozenset(work.rows)
    choices = []
    for index, mix in enumerate(mixes):
        # What it rests on most: the machine that it buys, else what it rents.
        name = next(iter(mix.bought), mix.source or mix.done.lead)
        row = work.source_by_name.get(name, work.sources[0]).offer
        names = (row["option"], work.mix_title(mix), row, str(index))
        choices.append(Choice(*names, labels, already_owned=not mix.bought))
    job_parameters = list(_job_parameters(work))
    offers = []
    for source in work.sources:
        row = source.offer
        names = (row["option"], row["title"], row, row["option"])
        offers.append(Choice(*names, frozenset(source.rows_by_label), already_owned=source.there > 0))
    speeds = {row["row"]: row for source in work.sources for row in source.rows if row is not None}
    all_jobs = [all_of("number of jobs a month")] if len(work.work.jobs) > 1 else []
    return MonthlyProblem(
        workload=work.name,
        months=months,
        choices=tuple(choices),
        parameters=(
            *(
                _within_price(parameter, work)
                for parameter in parameters_of(offers, [*speeds.values()], work.month_days)
            ),
            *(parameter for parameter, _ in job_parameters),
            *all_jobs,
        ),
        samples_usd=np.stack([mix.done.usd * months for mix in mixes]),
        work_samples=tuple(pair for pair in job_parameters if np.ptp(pair[1]) > 0),
        rows=work.rows,
        work=work,
        mixes=mixes,
    )


def _within_price(parameter: Parameter, work: MonthlyWork) -> Parameter:
    """Return a parameter, a resale value with a maximum, for analyses: nobody resells a machine for more than it cost.

    The maximum follows from the low end of the price, where the samples of resale values are cut too; others stay.
    """
    if parameter.figure != "residual_usd":
        return parameter
    offer = work.source_by_name[parameter.subject].offer
    return replace(parameter, maximum=parameter.maximum * min(1.0, offer["capex_usd_low"] / offer["capex_usd"]))


def _job_parameters(work: MonthlyWork) -> Iterator[tuple[Parameter, Array]]:
    """Yield (parameter, its samples, one value each) for each class's jobs per month, and its urgent jobs, so that
    analyses show how the amount of work moves the answer.
    """
    samples = (work.numbers / growth_by_month(work.growth, work.work.months)).mean(axis=2)
    for job_class, jobs in zip(work.classes, samples, strict=True):
        amount = job_class.number
        title = model_title(job_class.job.name)
        name = f"urgent jobs of {title} a month" if job_class.urgent else f"jobs of {title} a month"
        maximum = job_class.job.per_month.value if job_class.urgent else math.inf
        if amount.value > 0:
            bounds = (amount.value, *known_or_assumed(amount.value, *amount.ends, "declared"))
            labels = (PER_MONTH, job_class.name, name, "jobs/month")
            yield Parameter(*labels, *bounds, PER_MONTH, maximum=maximum), jobs
