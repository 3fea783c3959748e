"""A monthly workload from the tables of a study: machines for its jobs, and samples of uncertain figures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sweetspot.bills.rates import or_zero
from sweetspot.decision.decision_problem import error_key
from sweetspot.decision.monthly_work import PER_MONTH, MonthlyWork, Source, Trial, WorkClass
from sweetspot.decision.options import OFFER, records
from sweetspot.decision.simulate import Draws, value_with_bounds
from sweetspot.decision.worth_knowing import timings_of
from sweetspot.draws import LEVEL_RANGE, spread, stream
from sweetspot.errors import refuse
from sweetspot.mixes.problem import NEVER, Array, SpeedErrors, growth_by_month, month_noise

if TYPE_CHECKING:
    from sweetspot.study.monthly import Monthly

MIX_DRAWS = 1000  # Samples, each with its months: the standard error of a probability of 0.8 is 1.3 points.
FIGURES = {
    "hours": "hours",
    "usd": "usd",
    "variable": "variable_usd_per_hour",
    "days": "days_per_month",
}
OWNERSHIP_FIGURES = ("capex_usd", "residual_usd", "maintenance_usd_per_month", "months")


def monthly_work(
    name: str, work: "Monthly", options: pd.DataFrame, draws: Draws, offers: pd.DataFrame, month_days: float, seed: int
) -> MonthlyWork:
    """Return a monthly workload with its machines (persistent options in the answer), sampled and at central figures.

    Parameters
    ----------
    name, work
        Name and terms of the workload; an owned machine (`have`) without a figure gets no jobs.
    options, draws
        The options that fit, and their samples.
    offers
        All offers.
    month_days
        Days of a month.
    seed
        The study's seed.

    Raises
    ------
    UserError
        Where an owned machine has no offer `own`.
    """
    owned = set(offers.loc[offers["purchase"] == "own", "instance"])
    refuse(
        f"workloads.yaml: {name}.have names {machine!r}; expected a machine with an offer `own` in a price list"
        for machine in sorted({*work.have} - owned)
    )
    table, classes = _with_terms(options, offers), _classes_of(name, work)
    sampled = {figure: getattr(draws, figure)[:, :MIX_DRAWS] for figure in FIGURES}
    size = sampled["hours"].shape[1]
    speed_keys, logs, ownership = dict[int, str](), dict[str, Array](), dict[tuple[str, int], Array]()
    for figure in draws.figures:
        samples, key = figure.values[:MIX_DRAWS], error_key(figure.error)
        if figure.name == "images_per_s":
            speed_keys |= dict.fromkeys(figure.rows, key)
            logs.setdefault(key, np.log(samples))
        elif figure.name in OWNERSHIP_FIGURES:
            planned = table.loc[figure.rows, figure.name]
            ownership |= {(figure.name, label): samples / value for label, value in planned.items() if value > 0}
    errors = SpeedErrors(tuple(logs), np.array([*logs.values()]).reshape(len(logs), size))
    numbers, growth = _job_samples(name, work, classes, seed, size)
    monthly = MonthlyWork(
        name=name,
        work=work,
        classes=classes,
        sources=_sources(work, classes, table),
        figures=sampled,
        numbers=numbers,
        growth=growth,
        offer_samples=ownership | _delivery_samples(table, seed, size),
        month_days=month_days,
        rents=draws.rents,
        speed_keys=speed_keys,
        speed_errors=errors,
        trials=_trials(table, speed_keys),
    )
    central = {figure: table[column].to_numpy(float)[:, None] for figure, column in FIGURES.items()}
    numbers, growth = _job_samples(name, work, classes, None, 1)
    central_work = replace(
        monthly,
        figures=central,
        numbers=numbers,
        growth=growth,
        offer_samples=_delivery_samples(table, None, 1),
        rents=None,
        speed_errors=SpeedErrors(errors.keys, np.zeros((len(errors.keys), 1))),
    )
    return replace(monthly, central_work=central_work)


def _job_samples(
    name: str, work: "Monthly", classes: Sequence[WorkClass], seed: int | None, size: int
) -> tuple[Array, Array]:
    """Return jobs per month, class x sample x month, and growth per month, class x sample; medians if seed is None."""
    numbers, growth = list[Array](), list[Array]()
    for job_class in classes:
        job, number = job_class.job, job_class.number
        noise = _noise(seed, size, "growth_per_month", name, job.name)
        value, low, high = (1.0 + rate for rate in (job.growth_per_month.value, *job.growth_per_month.ends))
        growth.append(spread(value, low, high, LEVEL_RANGE, noise) - 1.0)
        growth_factors = growth_by_month(growth[-1][None], work.months)[0]
        by_month = np.zeros(growth_factors.shape)
        if seed is not None:
            generator = stream(seed, PER_MONTH, name, job.name, job_class.urgent)
            by_month = month_noise(generator, size, by_month.shape[1], work.months_alike)
        jobs = spread(number.value, *number.ends, LEVEL_RANGE, by_month) * growth_factors
        numbers.append(np.minimum(numbers[-1], jobs) if job_class.urgent else jobs)
    return np.stack(numbers), np.stack(growth)


def _noise(seed: int | None, size: int, *key: object) -> Array:
    """Return `size` standard normal samples of the stream `key`; zeros (the median) without a seed."""
    return np.zeros(size) if seed is None else stream(seed, *key).standard_normal(size)


def _classes_of(name: str, work: "Monthly") -> tuple[WorkClass, ...]:
    """Return the job classes of a workload, each followed by a class of its urgent jobs if it has a deadline."""
    classes = []
    for job in work.jobs:
        classes.append(WorkClass(job.name, f"{name}.{job.name}", job, False, NEVER))
        if job.within_hours is not None:
            classes.append(WorkClass(f"{job.name} (urgent)", f"{name}.{job.name}", job, True, job.within_hours))
    return tuple(classes)


def _with_terms(options: pd.DataFrame, offers: pd.DataFrame) -> pd.DataFrame:
    """Return options with `term_fixed` (USD/month), `term_variable` (USD/hour), `term_months` and `upfront_usd`."""
    names = {"fixed_usd_per_month": "term_fixed", "variable_usd_per_hour": "term_variable"}
    terms = offers.reindex(columns=[*OFFER, "term_months", "upfront_usd", *names]).rename(columns=names)
    return options.merge(terms.drop_duplicates(list(OFFER)), on=list(OFFER), how="left", validate="many_to_one")


def _sources(work: "Monthly", classes: Sequence[WorkClass], options: pd.DataFrame) -> tuple[Source, ...]:
    """Return a source per persistent option of the classes; owned machines count in the first list that offers them."""
    is_owned = options["instance"].isin(work.have) & options["purchase"].eq("own")
    workloads, counts, sources = [job_class.workload for job_class in classes], Counter(work.have), []
    is_used = (options["in_answer"].astype(bool) | is_owned) & options["persistent"].astype(bool)
    for _, group in options[is_used & options["workload"].isin(workloads)].groupby("option", sort=False):
        rows = records(group)
        by_workload = {row["workload"]: row for row in reversed(rows)}
        count = counts.pop(rows[0]["instance"], 0) if rows[0]["purchase"] == "own" else 0
        sources.append(Source(rows[0], tuple(map(by_workload.get, workloads)), count))
    return tuple(sources)


def _delivery_samples(options: pd.DataFrame, seed: int | None, size: int) -> dict[tuple[str, int], Array]:
    """Return samples of the months until delivery, by (figure, row label), where a machine is not there at once."""
    samples, figure = {}, "delivery_months"
    for row in records(options):
        if or_zero(row.get(figure)) > 0:
            noise = _noise(seed, size, "delivery", row["option"])
            samples[figure, row["row"]] = spread(*value_with_bounds(row, figure), LEVEL_RANGE, noise)
    return samples


def _trials(options: pd.DataFrame, speed_keys: Mapping[int, str]) -> dict[str, Trial]:
    """Return the cheapest timing of each uncertain speed, by correlation key; none if no such machine is rented out."""
    timings, trials = timings_of(options), dict[str, Trial]()
    for row in records(options):
        key, timing = speed_keys.get(row["row"]), timings.get((row["gpu"], int(or_zero(row["figure_gpus"]))))
        if key is not None and timing is not None:
            trial = Trial(timing["cost_to_learn_usd"], timing["learn_on_title"])
            trials[key] = min(trials.get(key, trial), trial)
    return trials
