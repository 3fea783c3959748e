"""Correlation keys of speeds: which figures share an error."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

Row = Mapping[str, Any]  # of the options of a decision
Error = tuple[object, ...]
# From one round of MLPerf to the next the same device in the same number became so many times as fast by new software:
# 5th and 95th percentile of the 28 such pairs of medians in eight-gpus-2026/time_to_target.csv, v4.0 to v6.0.
ROUND_LOW, ROUND_HIGH = 0.98, 1.35
# A figure by arithmetic is as good as the reader's software, which is not known, and the same on all machines: what the
# published figures of tokens-2026 lie apart (90 % of full fine-tuning within 2.4 of their middle) without what remains
# between devices and models of one software (1.78). exp(sqrt(ln(2.4)^2 - ln(1.78)^2)) is 1.9; of LoRA it is 1.5, of
# QLoRA and pretraining 4: the middle of the four.
SOFTWARE: Error = ("software",)
SOFTWARE_FACTOR = 2.5


def speed_errors(rows: Iterable[Row]) -> dict[int, Error]:
    """Return {option's `row` number: correlation key}, by which the simulation samples speeds: those with equal keys
    (tuples) get the same random error. `rows`: options of the decision, {column: value}. Options with the same figure
    (`figure_key`), such as a machine declared equivalent to another, get the key of the first of them.
    """
    errors: dict[Error, Error] = {}
    ordered = sorted(rows, key=lambda row: row["row"])
    return {row["row"]: errors.setdefault(figure_key(row), speed_error(row)) for row in ordered}


def speed_error(row: Row) -> Error:
    """Return the correlation key of an option's speed: options whose speeds are too high or too low together, by one
    factor, get equal tuples, and the simulation samples one error for all of them. A guess without an interval shares
    its error per device and framework ("card", gpu, framework), a prediction per machine ("prediction", instance),
    both over all models: cautious where costs of several models are added. A measured or published speed has a key of
    its own (`_speed`). `row`: the option, {column: value}.
    """
    if row["throughput_basis"] == "arithmetic":
        return ("arithmetic", row.get("gpu"))
    if row["assumed_interval"]:
        return ("card", row.get("gpu"), row["framework"])  # the word is part of the seed: another gives other draws
    return ("prediction", row["instance"]) if row["throughput_basis"] == "extrapolated" else _speed(row)


def figure_key(row: Row) -> Error:
    """Return a tuple that identifies an option's speed with its uncertainty (figure, interval, degrees of freedom,
    shared errors): options with equal tuples use the same figure, so the simulation gives them the same samples.
    """
    freedom = degrees_of_freedom(row)
    return (*_speed(row), row["level"], freedom if freedom >= 1 else 0.0, *common_errors(row))


def degrees_of_freedom(row: Row) -> float:
    """Return the degrees of freedom of a measured speed's interval; NaN for a speed that was not measured."""
    return or_nan(row["interval_df"]) if row["throughput_basis"] == "measured" else float("nan")


def common_errors(row: Row) -> dict[Error, tuple[float, float]]:
    """Return the error factors that an option's speed shares with other options, on top of its own error, for the
    simulation to sample once for all: {correlation key (tuple): (low, high) factors of a 90 % interval}. A published
    time to a target has one for each newer MLPerf round of another option's time (software got faster since); a speed
    by arithmetic has one for how well the reader's software uses a device; other speeds have none ({}).
    """
    if row["throughput_basis"] == "arithmetic":
        return {SOFTWARE: (1 / SOFTWARE_FACTOR, SOFTWARE_FACTOR)}
    round_distance = or_nan(row.get("rounds_apart"))
    if not round_distance > 0:
        return {}
    behind = int(row["rounds_behind"])
    return {("round", step): (ROUND_LOW, ROUND_HIGH) for step in range(behind - int(round_distance) + 1, behind + 1)}


def figure_behind(row: Row) -> float:
    """Return images_per_s / figure_images_per_s (e.g. several jobs over one alone); 1.0 without such a figure."""
    figure = or_nan(row.get("figure_images_per_s"))
    return or_nan(row["images_per_s"]) / figure if figure > 0 else 1.0


def or_nan(value: float | None) -> float:
    """Return the number as a float, NaN for None or a missing value."""
    return float("nan") if pd.isna(value) else float(value)  # type: ignore[arg-type]


def _speed(row: Row) -> Error:
    """Return the key of an option with a measured or published speed: ("images_per_s", device, number, model, images/s
    to six digits), equal for options that rest on the very same figure, so that they are wrong together.
    """
    value, gpus = (row.get(f"figure_{name}", row[name]) for name in ("images_per_s", "gpus"))
    return ("images_per_s", row.get("gpu"), int(or_nan(gpus)), row["model"], float(f"{or_nan(value):.6g}"))
