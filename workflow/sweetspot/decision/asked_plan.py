"""The work of months at another use, with more or fewer jobs or within a deadline: decided anew, as the page was."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.decision.asked import at_days, readable, verdict_anew
from sweetspot.decision.fits import apart
from sweetspot.decision.plan_of_months import decide
from sweetspot.decision.settings import Settings
from sweetspot.decision.simulate import simulate

if TYPE_CHECKING:
    from sweetspot.study.monthly import JobClass, Monthly
    from sweetspot.study.terms import Amount


def ask_plan(
    works: "Mapping[str, Monthly]",
    options: pd.DataFrame,
    offers: pd.DataFrame,
    settings: Settings,
    days: float | None = None,
    jobs: float = 1.0,
    due: float | None = None,
) -> dict[str, pd.DataFrame]:
    """The tables of the mixes (`decide`), their rows of the queue table (`queue`), and the `verdict`.

    The draws are those of the page: where nothing is changed the tables are its own too.

    options: comparison/options.parquet; offers: all of results/<study>/offers/. days: that every owned machine works a
    month, at most; jobs: so many times as many of every class; due: hours within which a result of every class is asked
    for.
    """
    every = readable(options)
    if days is not None:
        every = at_days(every, days)
    rows, _ = apart(every)
    more = {name: _with_jobs(work, jobs) for name, work in works.items()}
    drawn = simulate(rows, settings.seed)
    found = decide(more, rows, every, drawn, offers, settings, due, turning=False)
    return found.tables | {"queue": found.queue, "verdict": verdict_anew(rows, drawn, settings, months=found)}


def _with_jobs(work: "Monthly", factor: float) -> "Monthly":
    return work.model_copy(update={"jobs": [_more(job, factor) for job in work.jobs]})


def _more(job: "JobClass", factor: float) -> "JobClass":
    numbers = {"per_month": job.per_month, "urgent_per_month": job.urgent_per_month}
    return job.model_copy(update={name: _times(number, factor) for name, number in numbers.items() if number})


def _times(number: "Amount", factor: float) -> "Amount":
    ends = {name: getattr(number, name) for name in ("value", "low", "high")}
    return number.model_copy(update={name: end * factor for name, end in ends.items() if end is not None})
