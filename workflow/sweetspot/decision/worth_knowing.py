"""What to find out first: what each uncertain figure is worth, known exactly, and what a timing of it costs."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.rates import by_contract
from sweetspot.bills.renting import HOUR_S, billed_seconds
from sweetspot.decision.assumption import RENT, SPEED, TARIFF, Array, error_key
from sweetspot.decision.options import Row, rate_of
from sweetspot.decision.question import Question
from sweetspot.decision.simulate import Draws, Figure
from sweetspot.draws import LEVEL
from sweetspot.known_value import Value, partial_value, without_selection
from sweetspot.throughput.speed_errors import figure_behind
from sweetspot.wording import the

# A machine is started, the software installed (some 10 GB), and three runs of five minutes are timed.
LEARN_MINUTES = 30.0
BY_THE_HOUR = ("on_demand", "spot", "preemptible")
STANDARD = 1.6449  # standard errors either side that cover LEVEL
assert LEVEL == 0.90
WORTH = (
    "workload", "model", "model_title", "assumption", "figure", "quantity", "subject", "option", "instance", "title",
    "unit", "value", "evppi_usd", "evppi_se_usd", "evppi_usd_low", "evppi_usd_high", "evppi_alone_usd",
    "cost_to_learn_usd", "minutes_to_learn", "learn_on", "learn_on_title", "turning_point", "rests_on_it", "options",
    "project", "project_usd", "draws",
)  # fmt: skip
Timings = dict[tuple[str, int], Row]  # what timing a machine costs, by its devices and their count


class Uncertain(NamedTuple):
    """A figure that somebody could find out: its row of the table without its worth, its draws, the choices on it."""

    about: dict[str, Any]
    values: Array
    places: list[int]


def worth_rows(question: Question, draws: Draws, timings: Timings) -> list[dict[str, Any]]:
    """Rows of WORTH, one an uncertain figure that a choice rests on, the one worth most first; none without a rival.

    `evppi_usd`: expected saving over the project of a choice made with that figure known exactly, of that made without,
    in USD, of a figure of this rank (`without_selection`); `evppi_se_usd` its Monte Carlo error, `evppi_usd_low`,
    `evppi_usd_high` 90 % of it; `evppi_alone_usd`: as if no other figure had been looked at (`partial_value`).
    `quantity`, `subject` as in the tornado; `value` the planned one; `option`, `instance`, `title`: the cheapest choice
    that rests on it, `rests_on_it` how many do, of `options`. Speeds: `cost_to_learn_usd` = `minutes_to_learn` on
    `learn_on`, the cheapest offer of a machine with those devices; null where nobody rents such a machine.
    `turning_point`: the nearest value at which the answer changes (null: none within a factor of 5). `project`: what is
    paid for, `project_usd`: its mean cost on the choice made. Figures with one correlation key are one row.
    """
    usd = question.drawn[question.competing]
    if question.beside is not None:
        usd = np.concatenate([usd, question.beside])
    if len(usd) < 2:
        return []
    every = set(range(int(question.competing.size)))
    found = [
        each._replace(places=list(range(len(usd)))) if set(each.places) == every else each
        for each in _uncertain(question, draws, timings)
    ]
    values = [_value(usd, each) for each in found]
    about = question.about | {"options": len(usd), "project": question.told, "draws": usd.shape[1]}
    about |= {"project_usd": float(usd.mean(axis=1).min())}
    rows = [about | each.about | worth for each, worth in zip(found, _worths(values), strict=True)]
    return sorted(rows, key=lambda row: (-row["evppi_usd"], -row["evppi_alone_usd"], row["figure"]))


def timings_of(options: pd.DataFrame) -> Timings:
    """What LEARN_MINUTES cost on the cheapest offer by the hour of a machine with those devices and so many."""
    rows = options[options["purchase"].isin(BY_THE_HOUR) & options["usd_per_hour"].gt(0)]
    rows = rows[rows["in_answer"].astype(bool)].drop_duplicates("option")
    terms = rows.reindex(columns=["granularity_s", "minimum_s"]).astype(float).fillna(0.0).to_numpy().T
    usd = rows["usd_per_hour"].to_numpy(float) * billed_seconds(60.0 * LEARN_MINUTES, *terms) / HOUR_S
    cheapest: Timings = {}
    for row, paid in sorted(
        zip(rows.to_dict("records"), usd, strict=True), key=lambda pair: (pair[1], pair[0]["option"])
    ):
        told = {"cost_to_learn_usd": float(paid), "minutes_to_learn": LEARN_MINUTES}
        told |= {"learn_on": row["option"], "learn_on_title": row["title"]}
        cheapest.setdefault((row["gpu"], row["gpus"]), told)
    return cheapest


def _uncertain(question: Question, draws: Draws, timings: Timings) -> Iterator[Uncertain]:
    """The drawn figures that a choice rests on, those with one correlation key once; then those of the work."""
    together = dict[tuple[object, ...], list[tuple[list[int], Figure]]]()
    for figure in draws.figures:
        if figure.name not in question.held_still:
            places = _places(question, figure)
            if places:
                together.setdefault(figure.error, []).append((places, figure))
    for found in together.values():
        places = sorted({place for one_of, _ in found for place in one_of})
        figure = min(found, key=lambda pair: pair[0][0])[1]
        row = question.row_of(figure.rows)
        yield Uncertain(
            _about(question, figure, row, timings) | {"rests_on_it": len(places)},
            figure.values[: question.drawn.shape[1]],
            places,
        )
    for assumption, values in question.drawn_work:
        same = {name: getattr(assumption, name) for name in ("quantity", "subject", "unit", "value")}
        told = {"assumption": assumption.name, "figure": f"number of {assumption.name}", "title": assumption.subject}
        every = list(range(int(question.competing.size)))
        at = {"turning_point": question.nearest(assumption) * assumption.value, "rests_on_it": len(every)}
        yield Uncertain(same | told | at, values, every)


def _places(question: Question, figure: Figure) -> list[int]:
    """Which of the competing choices rest on a drawn figure: all, where it is the team's."""
    rows = set(figure.rows)
    if figure.name in question.of_the_team:
        return list(range(int(question.competing.size))) if question.reference in rows else []
    # Where days of use are the team's, the price of a contract's hour is no figure of its own.
    moot = figure.name == RENT and "days_per_month" in question.of_the_team
    found = ((number, question.choices[place]) for number, place in enumerate(question.competing))
    return [number for number, one in found if rows & one.labels and not (moot and by_contract(one.row))]


def _about(question: Question, figure: Figure, row: Row, timings: Timings) -> dict[str, Any]:
    speed = figure.name == "images_per_s"
    subject = str({"images_per_s": error_key(figure.error), TARIFF: row["price_list"]}.get(figure.name, row["option"]))
    alike = [one for one in question.assumptions if one.quantity == (SPEED if speed else figure.name)]
    found = next((one for one in alike if one.subject in ("", subject)), None)
    # Jobs side by side are as slow together as the figure of one of them, which is what can be timed.
    value = float(row[figure.name]) / (figure_behind(row) if speed else 1.0)
    name = f"{figure.name.replace('_', ' ')} of {the(str(row['title']))}"
    told = {key: row[key] for key in ("option", "instance", "title")} | {"value": value}
    told |= timings.get((row["gpu"], int(row["figure_gpus"])), {}) if speed else {}
    told |= {"quantity": SPEED if speed else figure.name, "unit": rate_of(row) if speed else ""}
    if found is None:
        return told | {"assumption": name, "figure": name, "subject": subject}
    told |= {"assumption": found.name, "figure": found.name, "subject": found.subject or None}
    return told | {"unit": rate_of(row) if speed else found.unit, "turning_point": question.nearest(found) * value}


def _value(usd: Array, one: Uncertain) -> Value:
    """`partial_value` among the choices that rest on the figure and the cheapest that does not. What does not rest on
    it costs the same on average whatever the figure is: so much is known, and need not be fitted.
    """
    others = [number for number in range(len(usd)) if number not in one.places]
    if not others:
        return partial_value(usd, one.values)
    aside = np.full((1, one.values.size), usd[others].mean(axis=1).min())
    return partial_value(np.concatenate([usd[one.places], aside]), one.values)


def _worths(values: list[Value]) -> list[dict[str, float]]:
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
