"""What knowing each uncertain figure is worth for the plan of months (EVPPI), on the plan's own draws."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.counted import the
from sweetspot.decision.known_value import partial_value
from sweetspot.decision.lever_names import JOBS, SPEED, TARIFF, error_key
from sweetspot.decision.mix_problem import MIX_DRAWS, Posed
from sweetspot.decision.mix_tables import Worked, rivals_of
from sweetspot.decision.mix_tornado import Turned
from sweetspot.decision.mix_words import Words
from sweetspot.decision.options import Row
from sweetspot.decision.plan_rows import Lever
from sweetspot.decision.simulate import Draws, Figure
from sweetspot.decision.titled import rate_of
from sweetspot.decision.worth_knowing import NAMES, timings, worths_of
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import Array
from sweetspot.mixes.search import neighbours

COLUMNS = (
    "workload", "assumption", "figure", "quantity", "subject", "unit", "value", "evppi_usd", "evppi_se_usd",
    "evppi_usd_low", "evppi_usd_high", "evppi_alone_usd", "cost_to_learn_usd", "minutes_to_learn", "learn_on",
    "learn_on_title", "title", "turning_point", "rests_on_it", "options", "project", "project_usd", "draws",
)  # fmt: skip


class Asked(NamedTuple):
    """One figure that somebody could find out: its row of the table without its worth, and its draws."""

    about: dict[str, Any]
    values: Array


def worth_table(turned: Sequence[Turned], options: pd.DataFrame, draws: Draws, words: Words) -> pd.DataFrame:
    """One row a workload and uncertain figure (COLUMNS), the one worth most first, as in the table worth_knowing.

    The choice is among the best mix, the pure options that do the work and the mixes of one machine more or less than
    the best; costs are the plan's in each of its draws, over its months. `quantity`, `subject` as in the plan's
    tornado; jobs a month are their mean over the months of the project.
    """
    rows: list[Row] = []
    known = timings(options)
    for one in turned:
        costs = costs_of(one.worked)
        if len(costs) < 2:
            continue
        asked = list(_asked(one, draws, known, words))
        values = [partial_value(costs, each.values) for each in asked]
        months = one.worked.posed.work.months
        about = {
            "workload": one.worked.posed.name,
            "options": len(costs),
            "project": f"{months:g} months",
            "project_usd": float(costs.mean(axis=1).min()),
            "draws": costs.shape[1],
        }
        found = [about | each.about | worth for each, worth in zip(asked, worths_of(values), strict=True)]
        rows += sorted(found, key=lambda row: (-row["evppi_usd"], -row["evppi_alone_usd"], row["figure"]))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def costs_of(worked: Worked) -> Array:
    """USD of the project by mix and draw: the best, the pure options, the best's neighbours; those that do the work."""
    best, posed = worked.mixes[0], worked.posed
    usd = [best.done.usd, *(one.done.usd for one in rivals_of(worked))]
    usd += [dispatch(best.problem, counts).usd for counts in neighbours(best.problem, best.counts)]
    found: Array = np.stack([one for one in usd if np.isfinite(one).all()] or [np.empty(0)])
    return found * posed.work.months


def _asked(one: Turned, draws: Draws, known: dict[tuple[str, int], Row], words: Words) -> Iterator[Asked]:
    """Figures of offers and speeds that a source rests on, those that are off together once; then numbers of jobs."""
    posed = one.worked.posed
    rows = {row["row"]: row for source in posed.sources for row in (source.offer, *source.rows) if row is not None}
    together: dict[tuple[object, ...], list[Figure]] = {}
    for figure in draws.figures:
        # What machines that are there cost is spent, and what they are sold for is no one's to choose.
        if any(row in rows for row in figure.rows):
            together.setdefault(figure.error, []).append(figure)
    for figures in together.values():
        places = sorted({row for figure in figures for row in figure.rows if row in rows})
        row, options = rows[places[0]], {rows[place]["option"] for place in places}
        named = row | {"title": words.title(row["option"])}
        about = figure_about(figures[0], named, len(options), known, one.levers, lambda lever: _turning(one, lever))
        yield Asked(about, figures[0].values[:MIX_DRAWS])
    yield from _jobs(one, posed)


def figure_about(
    figure: Figure,
    row: Row,
    rests_on: int,
    known: dict[tuple[str, int], Row],
    levers: Sequence[Lever[Any]],
    turning: Callable[[Lever[Any]], float],
) -> dict[str, Any]:
    """What a figure of `row` is, without its worth; `known`: what timing costs (`timings`); `turning`: where a lever
    turns the plan.
    """
    speed = figure.name == "images_per_s"
    said, unit = NAMES[figure.name]
    about = {
        "quantity": SPEED if speed else figure.name,
        "subject": error_key(figure.error) if speed else row["option"],
        "title": row["title"],
        "unit": rate_of(row) if speed else unit,
        "value": float(row[figure.name]),
        "rests_on_it": rests_on,
        **(known.get((row["gpu"], row["gpus"]), {}) if speed else {}),
    }
    lever = next((lever for lever in levers if _same(lever, about, row)), None)
    name = said.format(box=the(row["title"])) if lever is None else lever.name
    at = np.nan if lever is None else turning(lever) / lever.value * about["value"]
    return about | {"assumption": name, "figure": name, "turning_point": at}


def _same(lever: Lever[Any], about: dict[str, Any], row: Row) -> bool:
    """Whether a lever moves the figure; one tariff is that of all machines of a price list."""
    subject = row["price_list"] if lever.quantity == TARIFF else about["subject"]
    return (lever.quantity, lever.subject) == (about["quantity"], subject)


def _jobs(one: Turned, posed: Posed) -> Iterator[Asked]:
    """Mean jobs a month of the project, by class; of a class with urgent jobs these are among them."""
    jobs = posed.drawn.jobs.mean(axis=2)
    for lever in one.levers:
        if lever.quantity != JOBS:
            continue
        places = [
            place
            for place, each in enumerate(posed.classes)
            if each.name == lever.subject or (each.job.name == lever.subject and each.urgent)
        ]
        values = jobs[places].sum(axis=0)
        if values.min() < values.max():
            about = {name: getattr(lever, name) for name in ("quantity", "subject", "unit", "value")}
            told = {"assumption": lever.name, "figure": f"number of {lever.name}", "title": lever.subject}
            turning = {"turning_point": _turning(one, lever), "rests_on_it": len(one.worked.mixes) - 1}
            yield Asked(about | told | turning, values)


def _turning(one: Turned, lever: Lever[Any]) -> float:
    """The nearest turning point of a lever; NaN where it has none."""
    found = one.turns[one.levers.index(lever)]
    nearest = min(found, key=lambda turn: abs(np.log(turn.factor)), default=None)
    return float("nan") if nearest is None else nearest.factor * lever.value
