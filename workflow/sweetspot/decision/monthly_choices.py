"""The choices of a monthly workload, its mixes, and the parameters that change their costs."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sweetspot.decision.decision_problem import Array, Choice, Parameter
from sweetspot.decision.monthly_problem import MonthlyProblem
from sweetspot.decision.monthly_work import MonthlyWork
from sweetspot.decision.parameters import ASSUMED_RANGE, all_of, parameters_of
from sweetspot.decision.simulate import value_with_bounds
from sweetspot.decision.sources import is_best, mix_title
from sweetspot.decision.work_classes import GROWTH, PER_MONTH
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import grown
from sweetspot.mixes.search import BEST, Mix, step
from sweetspot.titles import model_title

MAXIMUM_GROWTH = 0.5  # per month: no turning point is sought beyond


def monthly_problem(work: MonthlyWork) -> MonthlyProblem | None:
    """Return the decision between the mixes of a monthly workload; None where no mix can run all its jobs."""
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
    """Return USD of feasible mixes with one machine more or fewer than the best, mix x sample; None without any."""
    problem, samples = best.problem, []
    for index, (kind, count) in enumerate(zip(problem.held, best.counts, strict=True)):
        for change in (-1, 1):
            is_possible = not kind.there or kind.minimum <= count + change <= kind.there
            if is_possible and count + change >= kind.minimum:
                usd = dispatch(problem, step(best.counts, index, change)).usd * months
                samples += [usd] * bool(np.isfinite(usd).all())
    return np.stack(samples) if samples else None


def _offer_parameters(work: MonthlyWork) -> Iterator[Parameter]:
    """Yield the parameters of the offers: prices, figures of machines, tariffs, months, days of use, speeds."""
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
    """Yield each class's jobs per month, urgent jobs and growth as a parameter with its samples (one value each)."""
    jobs = (work.numbers / grown(work.growth, work.work.months)).mean(axis=2)
    for index, (name, _, job, urgent, _) in enumerate(work.classes):
        title = model_title(job.name)
        label, maximum = (
            (f"urgent jobs of {title} a month", job.per_month.value) if urgent else (f"jobs of {title} a month", np.inf)
        )
        rows = [(PER_MONTH, label, "jobs/month", work.classes[index].number, maximum, jobs[index])]
        if not urgent:
            label = f"growth of the jobs of {title}"
            rows.append((GROWTH, label, "share/month", job.growth_per_month, MAXIMUM_GROWTH, work.growth[index]))
        for quantity, label, unit, amount, maximum, samples in rows:
            value, (low, high), basis = amount.value, amount.ends, "declared"
            if not low < high:
                low, high, basis = value * (1 - ASSUMED_RANGE), value * (1 + ASSUMED_RANGE), "assumed"
            if value > 0:
                columns = (quantity, name, label, unit, value, low, high, basis, quantity)
                yield Parameter(*columns, maximum=maximum), samples
