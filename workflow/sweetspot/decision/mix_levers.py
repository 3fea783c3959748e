"""The figures that a plan of months rests on, each as something that can be moved: prices, power, speeds, jobs."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sweetspot.decision import lever_names, plan_rows
from sweetspot.decision.lever_names import ALL_JOBS, ALL_RENT, JOBS, OF_THE_MONTH, Known, month_at, share_of_today
from sweetspot.decision.mix_problem import MIX_DRAWS, Figures, Posed, Source
from sweetspot.decision.mix_words import Words
from sweetspot.decision.options import Row
from sweetspot.decision.simulate import Figure, Number, or_zero
from sweetspot.decision.speed_errors import Error, speed_errors
from sweetspot.decision.tornado import ASSUMED_RANGE
from sweetspot.mixes.problem import Array, Problem
from sweetspot.study.titles import model_title

if TYPE_CHECKING:
    from sweetspot.study.terms import Amount


class Parts(NamedTuple):
    """What a problem is made of."""

    sources: tuple[Source, ...]
    figures: Figures
    jobs: Array
    known: Known


Lever = plan_rows.Lever[Callable[[Parts, float], Parts]]


def move(posed: Posed, lever: Lever, known: Known, central: bool = False) -> Callable[[float], Problem]:
    """The problem by the factor of a lever; with draws, or at central figures."""
    base = posed.central if central else posed.drawn
    parts = Parts(posed.sources, posed.middle if central else posed.figures, base.jobs, {} if central else known)

    def at(factor: float) -> Problem:
        made = lever.changed(parts, factor)
        return posed.problem(made.sources, made.figures, made.jobs)

    return at


def known_of(figures: tuple[Figure, ...]) -> Known:
    """The draws of every uncertain figure of an offer."""
    return {(figure.name, row): figure.values[:MIX_DRAWS] for figure in figures for row in figure.rows}


def levers(posed: Posed, words: Words) -> list[Lever]:
    """Every figure of a plan that may turn it: rents, what a machine for sale costs, power, tariffs, speeds, jobs."""
    rented = [one for one in posed.sources if one.offer["purchase"] != "own"]
    owned = [one for one in posed.sources if one.offer["purchase"] == "own"]
    found = [_rent(one, words) for one in rented]
    if len(rented) > 1:
        options = tuple(one.offer["option"] for one in rented)
        found.append(share_of_today(ALL_RENT, "all rented prices", _dearer(options)))
    for one in owned:
        found += list(_owned(one, posed, words))
    found += list(_tariffs(owned))
    found += list(_speeds(posed))
    return [*found, *_demand(posed)]


def _rent(one: Source, words: Words) -> Lever:
    option = one.offer["option"]
    return lever_names.rent(one.offer, words.title(option), _dearer((option,)))


def _dearer(options: tuple[str, ...]) -> Callable[[Parts, float], Parts]:
    """All that is paid for rented options: the bills of jobs, and of what is committed to the month and the hour."""

    def changed(parts: Parts, factor: float) -> Parts:
        rows = _rows(source for source in parts.sources if source.offer["option"] in options)
        figures = _scaled(_scaled(parts.figures, "usd", rows, factor), "variable", rows, factor)
        return parts._replace(figures=figures)

    return changed


def _rows(sources: Any) -> list[int]:
    """Rows of the options that sources stand on."""
    found = (row for source in sources for row in (source.offer, *source.rows) if row is not None)
    return sorted({row["row"] for row in found})


def _scaled(figures: Figures, name: str, rows: list[int], factor: Number) -> Figures:
    column = getattr(figures, name).copy()
    column[rows] *= factor
    return figures._replace(**{name: column})


def _owned(one: Source, posed: Posed, words: Words) -> Iterator[Lever]:
    """Of a machine for sale what its month costs and its days of use; of one that is there too its power."""
    option = one.offer["option"]
    of_sale = () if one.there else (*OF_THE_MONTH, "days_per_month")
    for name in (*of_sale, "kw"):
        found = lever_names.owned(one.offer, name, words.title(option), posed.month_days, _of_box(option, name))
        if found is not None:
            yield found


def _of_box(option: str, name: str) -> Callable[[Parts, float], Parts]:
    def changed(parts: Parts, factor: float) -> Parts:
        source = next(one for one in parts.sources if one.offer["option"] == option)
        rows = _rows([source])
        if name in OF_THE_MONTH:
            longer = month_at(source.offer, {name: factor}, parts.known) / month_at(source.offer, {}, parts.known)
            return parts._replace(figures=_scaled(parts.figures, "fixed", rows, longer))
        column = {"kw": "variable", "days_per_month": "days"}[name]
        return parts._replace(figures=_scaled(parts.figures, column, rows, factor))

    return changed


def _tariffs(owned: list[Source]) -> Iterator[Lever]:
    """One electricity price for all machines of a price list."""
    lists = dict.fromkeys(one.offer["price_list"] for one in owned if or_zero(one.offer["usd_per_kwh"]) > 0)
    for name in lists:
        row = next(one.offer for one in owned if one.offer["price_list"] == name)
        yield lever_names.tariff(row, len(lists) > 1, _tariff(name))


def _tariff(price_list: str) -> Callable[[Parts, float], Parts]:
    def changed(parts: Parts, factor: float) -> Parts:
        here = [one for one in parts.sources if _pays(one, price_list)]
        return parts._replace(figures=_scaled(parts.figures, "variable", _rows(here), factor))

    return changed


def _pays(one: Source, price_list: str) -> bool:
    return bool(one.offer["purchase"] == "own" and one.offer["price_list"] == price_list)


def _speeds(posed: Posed) -> Iterator[Lever]:
    """Speeds, each error once: those that are off together move together."""
    every = [row for source in posed.sources for row in filter(None, source.rows)]
    errors, groups = speed_errors(every), dict[Error, list[Row]]()
    for row in every:
        groups.setdefault(errors[row["row"]], []).append(row)
    for error, rows in groups.items():
        found = lever_names.speed(error, rows, _faster(sorted({row["row"] for row in rows})))
        if found is not None:
            yield found


def _faster(rows: list[int]) -> Callable[[Parts, float], Parts]:
    """Hours and bills of the rows go as one over their speed; so does who is in time."""

    def changed(parts: Parts, factor: float) -> Parts:
        figures = _scaled(_scaled(parts.figures, "hours", rows, 1 / factor), "usd", rows, 1 / factor)
        quicker = (tuple(_sooner(row, rows, factor) for row in one.rows) for one in parts.sources)
        sources = (one._replace(rows=found) for one, found in zip(parts.sources, quicker, strict=True))
        return parts._replace(figures=figures, sources=tuple(sources))

    return changed


def _sooner(row: Row | None, rows: list[int], factor: float) -> Row | None:
    return row if row is None or row["row"] not in rows else row | {"hours": row["hours"] / factor}


def _demand(posed: Posed) -> Iterator[Lever]:
    """Jobs a month of each class, of its urgent ones, and of all."""
    for job in posed.work.jobs:
        yield _number(posed, job.name, job.per_month, urgent=False)
        if job.urgent_per_month is not None and job.urgent_per_month.value > 0:
            yield _number(posed, job.name, job.urgent_per_month, urgent=True)
    if len(posed.work.jobs) > 1:
        names = tuple(job.name for job in posed.work.jobs)
        yield share_of_today(ALL_JOBS, "all jobs a month", _busier(posed, names, (False, True)))


def _number(posed: Posed, name: str, number: "Amount", urgent: bool) -> Lever:
    value, (low, high) = number.value, number.ends
    ends = (
        (low, high, "declared") if low < high else (value * (1 - ASSUMED_RANGE), value * (1 + ASSUMED_RANGE), "assumed")
    )
    told = f"{'urgent ' if urgent else ''}jobs of {model_title(name)} a month"
    # More jobs of a class are not more urgent ones; there are never more of these than of all.
    most = next(job.per_month.value for job in posed.work.jobs if job.name == name) if urgent else np.inf
    subject = f"{name} (urgent)" if urgent else name
    return Lever(JOBS, subject, told, "jobs/month", value, *ends, _busier(posed, (name,), (urgent,)), most)


def _busier(posed: Posed, names: tuple[str, ...], which: tuple[bool, ...]) -> Callable[[Parts, float], Parts]:
    """Numbers of jobs at a factor: `which` of all jobs of a class (False) and its urgent ones (True)."""

    def changed(parts: Parts, factor: float) -> Parts:
        jobs = parts.jobs.copy()
        for place, one in enumerate(posed.classes):
            if one.urgent or one.job.name not in names:
                continue
            urgent = place + 1 if place + 1 < len(jobs) and posed.classes[place + 1].urgent else None
            hurried = 0.0 if urgent is None else parts.jobs[urgent]
            every = (parts.jobs[place] + hurried) * (factor if False in which else 1.0)
            if urgent is not None:
                jobs[urgent] = np.minimum(every, hurried * (factor if True in which else 1.0))
                hurried = jobs[urgent]
            jobs[place] = every - hurried
        return parts._replace(jobs=jobs)

    return changed
