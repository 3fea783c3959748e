"""The figures that a plan of months rests on, each as something that can be moved: prices, power, speeds, jobs."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sweetspot.decision.counted import the
from sweetspot.decision.mix_problem import MIX_DRAWS, Figures, Posed, Source
from sweetspot.decision.mix_words import Words
from sweetspot.decision.options import Row
from sweetspot.decision.simulate import Figure, Number, or_zero, possession, sold_for, speed_error
from sweetspot.decision.tornado import ASSUMED_RANGE, FACTOR, OWNED_PARAMETERS, range_of
from sweetspot.mixes.problem import Array, Problem
from sweetspot.study.titles import model_title

if TYPE_CHECKING:
    from sweetspot.study.terms import Amount

OF_THE_MONTH = ("capex_usd", "residual_usd", "maintenance_usd_per_month", "months")  # of a machine for sale
JOBS, SPEED, RENT, TARIFF, ALL_JOBS, ALL_RENT = "per_month", "speed", "usd_per_hour", "usd_per_kwh", "jobs", "rents"
Known = Mapping[tuple[str, int], Array]  # draws of an offer's figure by its name and the row of the options


class Parts(NamedTuple):
    """What a problem is made of."""

    sources: tuple[Source, ...]
    figures: Figures
    jobs: Array
    known: Known


class Lever(NamedTuple):
    """One figure: `quantity` what it is (a column of the offers, JOBS, SPEED, ALL_JOBS, ALL_RENT), `subject` of whom
    (an option, a class, a price list, an error of speeds; empty: of all), `name` in words, value, unit (FACTOR: it is
    said as a factor of what it is today) and range with its basis; `most` that it can be. `changed`: the parts of the
    problem with it at a factor of its value.
    """

    quantity: str
    subject: str
    name: str
    unit: str
    value: float
    low: float
    high: float
    basis: str
    changed: Callable[[Parts, float], Parts]
    most: float = np.inf


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
        found.append(_share(ALL_RENT, "all rented prices", _dearer(tuple(one.offer["option"] for one in rented))))
    for one in owned:
        found += list(_owned(one, posed, words))
    found += list(_tariffs(owned))
    found += list(_speeds(posed))
    return [*found, *_demand(posed)]


def _share(quantity: str, name: str, changed: Callable[[Parts, float], Parts]) -> Lever:
    return Lever(quantity, "", name, FACTOR, 1.0, 1 - ASSUMED_RANGE, 1 + ASSUMED_RANGE, "assumed", changed)


def _rent(one: Source, words: Words) -> Lever:
    row, option = one.offer, one.offer["option"]
    value, title = float(row["usd_per_hour"]), the(words.title(option))
    ends = range_of(row, RENT, value)
    return Lever(RENT, option, f"price of {title}", "USD/hour", value, *ends, _dearer((option,)))


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
    row, option = one.offer, one.offer["option"]
    title = the(words.title(option))
    of_sale = () if one.there else (*OF_THE_MONTH, "days_per_month")
    for name in (*of_sale, "kw"):
        value = or_zero(row[name])
        if value > 0:
            said, unit = OWNED_PARAMETERS[name]
            most = {"days_per_month": posed.month_days, "residual_usd": float(row["capex_usd"])}.get(name, np.inf)
            said = "months that the purchase of {box} is spread over" if name == "months" else said
            said = f"{said} of {{box}}" if name == "days_per_month" else said
            low, high, basis = range_of(row, name, value)
            changed = _of_box(option, name)
            yield Lever(name, option, said.format(box=title), unit, value, low, min(high, most), basis, changed, most)


def _of_box(option: str, name: str) -> Callable[[Parts, float], Parts]:
    def changed(parts: Parts, factor: float) -> Parts:
        source = next(one for one in parts.sources if one.offer["option"] == option)
        rows = _rows([source])
        if name in OF_THE_MONTH:
            longer = _month(source.offer, parts.known, {name: factor}) / _month(source.offer, parts.known, {})
            return parts._replace(figures=_scaled(parts.figures, "fixed", rows, longer))
        column = {"kw": "variable", "days_per_month": "days"}[name]
        return parts._replace(figures=_scaled(parts.figures, column, rows, factor))

    return changed


def _month(row: Row, known: Known, factors: Mapping[str, float]) -> Number:
    """USD a month of possession (`possession`) in each draw, figures at factors of what they are."""

    def drawn(name: str) -> Number:
        return known.get((name, row["row"]), or_zero(row[name])) * factors.get(name, 1.0)

    months, capex = drawn("months"), drawn("capex_usd")
    resale = sold_for(row, capex, drawn("residual_usd"), months)
    care = or_zero(row["maintenance_usd_per_month"]) * factors.get("maintenance_usd_per_month", 1.0)
    return possession(row | {"maintenance_usd_per_month": care}, capex, months, resale)


def _tariffs(owned: list[Source]) -> Iterator[Lever]:
    """One electricity price for all machines of a price list."""
    lists = dict.fromkeys(one.offer["price_list"] for one in owned if or_zero(one.offer["usd_per_kwh"]) > 0)
    for name in lists:
        row = next(one.offer for one in owned if one.offer["price_list"] == name)
        said, unit = OWNED_PARAMETERS[TARIFF]
        told = said if len(lists) == 1 else f"{said} of {row['price_list_title']}"
        value = float(row[TARIFF])
        yield Lever(TARIFF, name, told, unit, value, *range_of(row, TARIFF, value), _tariff(name))


def _tariff(price_list: str) -> Callable[[Parts, float], Parts]:
    def changed(parts: Parts, factor: float) -> Parts:
        here = [one for one in parts.sources if _pays(one, price_list)]
        return parts._replace(figures=_scaled(parts.figures, "variable", _rows(here), factor))

    return changed


def _pays(one: Source, price_list: str) -> bool:
    return bool(one.offer["purchase"] == "own" and one.offer["price_list"] == price_list)


def _speeds(posed: Posed) -> Iterator[Lever]:
    """Speeds, each error once: those that are off together move together."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for source in posed.sources:
        for row in filter(None, source.rows):
            groups.setdefault(speed_error(row), []).append(row)
    for error, rows in groups.items():
        first, models = rows[0], list(dict.fromkeys(row["model"] for row in rows))
        value = float(first["images_per_s"])
        if not value > 0:
            continue
        device = first["gpu"] if isinstance(first.get("gpu"), str) else first["title"]
        several = f"{first['figure_gpus']:g} × " if error[0] == "images_per_s" and first["figure_gpus"] > 1 else ""
        on = f" on {model_title(models[0])}" if len(models) == 1 else ""
        low, high, basis = range_of(first, "images_per_s", value)
        name = f"speed of {several}{device}{on}"
        yield Lever(SPEED, error_key(error), name, FACTOR, 1.0, low / value, high / value, basis, _faster(error))


def error_key(error: tuple[object, ...]) -> str:
    """An error of speeds as a key of the tables."""
    return "|".join(map(str, error))


def _faster(error: tuple[object, ...]) -> Callable[[Parts, float], Parts]:
    """Hours and bills of the rows go as one over their speed; so does who is in time."""

    def changed(parts: Parts, factor: float) -> Parts:
        every = [row for source in parts.sources for row in source.rows if row is not None]
        rows = sorted({row["row"] for row in every if speed_error(row) == error})
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
        yield _share(ALL_JOBS, "all jobs a month", _busier(posed, names, (False, True)))


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
