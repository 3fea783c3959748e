"""What to find out first: what each uncertain figure is worth, known exactly, and what a timing of it costs."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.decision.counted import the
from sweetspot.decision.known_value import Value, partial_value, without_selection
from sweetspot.decision.options import Row
from sweetspot.decision.project import Project, by_contract, projects
from sweetspot.decision.simulate import LEVEL, Draws, Figure, or_zero, possession
from sweetspot.decision.titled import rate_of
from sweetspot.decision.tornado import OWNED_PARAMETERS

# A machine is started, the software installed (some 10 GB), and three runs of five minutes are timed.
LEARN_MINUTES = 30.0
BY_THE_HOUR = ("on_demand", "spot", "preemptible")
OF_ONE = " of {box}"  # in the name of what one machine has
STANDARD = 1.6449  # standard errors either side that cover LEVEL
assert LEVEL == 0.90
COLUMNS = (
    "model", "assumption", "figure", "quantity", "subject", "option", "instance", "title", "unit", "value",
    "evppi_usd", "evppi_se_usd", "evppi_usd_low", "evppi_usd_high", "evppi_alone_usd", "cost_to_learn_usd",
    "minutes_to_learn", "learn_on", "learn_on_title", "turning_point", "rests_on_it", "options", "project",
    "project_usd", "draws",
)  # fmt: skip
NAMES = OWNED_PARAMETERS | {
    "usd_per_hour": ("price of {box}", "USD/hour"),
    "interruptions_per_hour": ("interruptions of {box}", "1/hour"),
}


class Known(NamedTuple):
    """What timing a machine costs, by its devices and their count; the tornado by model, quantity and subject."""

    timings: dict[tuple[str, int], Row]
    turning: dict[tuple[str, str, str | None], Row]


def worth_knowing(options: pd.DataFrame, draws: Draws, tornado: pd.DataFrame, month_days: float) -> pd.DataFrame:
    """One row per (model, uncertain figure of an option that competes), the one worth most first.

    `evppi_usd`: expected saving over the project of a choice made with that figure known exactly, of that made without,
    in USD, of a figure of this rank (`without_selection`); `evppi_se_usd` its Monte Carlo error, `evppi_usd_low`,
    `evppi_usd_high` 90 % of it; `evppi_alone_usd`: as if no other figure had been looked at (`partial_value`).
    `quantity`, `subject`, `unit` as in the tornado, `assumption` and `figure` in words, with the machine's key and its
    title; `value` the central one; `option`, `instance`, `title`: the cheapest option that rests on it, `rests_on_it`
    how many do, of `options` that compete. Speeds: `cost_to_learn_usd` = `minutes_to_learn` on `learn_on`, the
    cheapest offer of a machine with those devices, by its terms of billing; null where nobody rents such a machine.
    `turning_point`: the value nearest the central one at which the winner changes (of the tornado where it has the
    assumption), null where none is known. `project`: what is paid for, `project_usd`: its mean cost on the option
    chosen. Figures that are off together (one error) are one row.
    """
    rows: list[Row] = []
    flips = tornado.reindex(columns=["model", "quantity", "subject", "value", "flip_value"])
    turning = {
        (row["model"], row["quantity"], row["subject"] if isinstance(row["subject"], str) else None): row
        for row in flips.to_dict("records")
    }
    known = Known(timings(options), turning)
    for one in projects(options, draws, month_days):
        figures = list(figures_of(one, draws))
        values = [value_of(one, figure, places) for figure, places in figures]
        found = [
            _row(one, figure, places, known) | worth
            for (figure, places), worth in zip(figures, worths_of(values), strict=True)
        ]
        rows += sorted(found, key=lambda row: (-row["evppi_usd"], -row["evppi_alone_usd"], row["assumption"]))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def figures_of(one: Project, draws: Draws) -> Iterator[tuple[Figure, list[int]]]:
    """The uncertain figures that a competing option rests on, and the places of all that do.

    Of figures that are off together one, that of the cheapest option. Days of use are those of the work: the project
    has them once, every option rests on them, and a contract's hour moves with them.
    """
    place, box = {row["row"]: number for number, row in enumerate(one.rows)}, one.reference
    together: dict[tuple[object, ...], list[tuple[list[int], Figure]]] = {}
    for figure in draws.figures:
        places = sorted({place[row] for row in figure.rows if row in place})
        if box is not None and figure.name == "days_per_month":
            places = list(place.values()) if box["row"] in figure.rows else []
        if box is not None and figure.name == "usd_per_hour":
            places = [number for number in places if not by_contract(one.rows[number])]
        if places:
            together.setdefault(figure.error, []).append((places, figure))
    for found in together.values():
        yield min(found, key=lambda pair: pair[0][0])[1], sorted({number for places, _ in found for number in places})


def value_of(one: Project, figure: Figure, places: list[int]) -> Value:
    """`partial_value` among the options that rest on the figure and the cheapest that does not.

    What does not rest on it costs the same on average whatever the figure is: so much is known, and need not be fitted.
    """
    others = [number for number in range(len(one.rows)) if number not in places]
    if not others:
        return partial_value(one.usd, figure.values)
    aside = np.full((1, figure.values.size), one.mean[others].min())
    return partial_value(np.concatenate([one.usd[places], aside]), figure.values)


def worths_of(values: list[Value]) -> list[Row]:
    """For each figure the columns evppi_*. One that changes the choice in no draw is worth 0 and ranks with nobody."""
    ranked = [number for number, value in enumerate(values) if value.error > 0]
    worth = np.zeros(len(values))
    worth[ranked] = without_selection(np.array([values[number].halves for number in ranked]).reshape(-1, 2))
    return [
        {
            "evppi_usd": float(mean),
            "evppi_se_usd": value.error,
            "evppi_usd_low": max(0.0, float(mean) - STANDARD * value.error),
            "evppi_usd_high": float(mean) + STANDARD * value.error,
            "evppi_alone_usd": value.worth,
        }
        for mean, value in zip(worth, values, strict=True)
    ]


def _row(one: Project, figure: Figure, places: list[int], known: Known) -> dict[str, Any]:
    box = one.reference
    row = box if box is not None and box["row"] in figure.rows else one.rows[places[0]]
    name, unit = NAMES[figure.name]
    if box is None and figure.name == "days_per_month":
        name += OF_ONE
    return {
        "model": one.model,
        "assumption": name.format(box=row["option"]),
        "figure": name.format(box=the(row["title"])),
        "quantity": figure.name,
        "subject": row["option"] if OF_ONE in name else None,
        **{key: row[key] for key in ("option", "instance", "title")},
        "unit": rate_of(row) if figure.name == "images_per_s" else unit,
        "value": float(row[figure.name]),
        **(known.timings.get((row["gpu"], row["gpus"]), {}) if figure.name == "images_per_s" else {}),
        "turning_point": _turned(one, figure.name, places, row, known),
        "rests_on_it": len(places),
        "options": len(one.rows),
        "project": one.told,
        "project_usd": float(one.mean.min()),
        "draws": int(figure.values.size),
    }


def timings(options: pd.DataFrame) -> dict[tuple[str, int], Row]:
    """What LEARN_MINUTES cost on the cheapest offer by the hour of a machine with those devices and so many."""
    rows = options[options["purchase"].isin(BY_THE_HOUR) & options["usd_per_hour"].gt(0)]
    rows = rows[rows["in_answer"].astype(bool)].drop_duplicates("option")
    terms = rows.reindex(columns=["gpu", "gpus", "usd_per_hour", "option", "title", "granularity_s", "minimum_s"])
    cheapest: dict[tuple[str, int], Row] = {}
    for row in terms.to_dict("records"):
        told = {
            "cost_to_learn_usd": _billed(row),
            "minutes_to_learn": LEARN_MINUTES,
            "learn_on": row["option"],
            "learn_on_title": row["title"],
        }
        best = cheapest.setdefault((row["gpu"], row["gpus"]), told)
        if (told["cost_to_learn_usd"], told["learn_on"]) < (best["cost_to_learn_usd"], best["learn_on"]):
            cheapest[row["gpu"], row["gpus"]] = told
    return cheapest


def _billed(row: Row) -> float:
    """USD of LEARN_MINUTES at an offer, whole units of billing and its minimum."""
    seconds = 60.0 * LEARN_MINUTES
    unit, least = or_zero(row["granularity_s"]), or_zero(row["minimum_s"])
    billed = max(least, math.ceil(seconds / unit) * unit if unit > 0 else seconds)
    return float(row["usd_per_hour"]) * billed / 3600.0


def _turned(one: Project, figure: str, places: list[int], row: Row, known: Known) -> float:
    """The value at which the winner changes, the others fixed: of the tornado, where it has the assumption.

    A rival box's price by that of its hour, in which it is linear. Any other speed or hourly price, and a speed on
    which several options rest (the tornado moves one): where the cheapest option that rests on it costs what the
    cheapest of the others does.
    """
    subject = row["option"] if OF_ONE in NAMES[figure][0] else None
    found = known.turning.get((one.model, figure, subject))
    if found is not None and (figure != "images_per_s" or len(places) == 1):
        return float(found["flip_value"])
    if figure == "capex_usd":
        hour = known.turning.get((one.model, "usd_per_hour", subject))
        return math.nan if hour is None else _capex_at(row, float(hour["flip_value"]) - float(hour["value"]))
    others = np.delete(one.central, places)
    if figure not in ("images_per_s", "usd_per_hour") or not len(others):
        return math.nan
    factor = others.min() / one.central[places].min()
    return float(row[figure]) * (factor if figure == "usd_per_hour" else 1.0 / factor)


def _capex_at(row: Row, dearer: float) -> float:
    """The price of an owned machine whose hour of planned use costs so many USD more; NaN where none does."""
    here = possession(row, row["capex_usd"], row["months"])
    a_dollar = possession(row, row["capex_usd"] + 1.0, row["months"]) - here
    idle = float(row["fixed_usd_per_month"]) / float(here)  # what downtime adds
    capex = float(row["capex_usd"] + dearer * HOURS_A_DAY * row["days_per_month"] / (a_dollar * idle))
    return capex if capex > 0 else math.nan
