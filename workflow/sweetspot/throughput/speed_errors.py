"""Which speeds are off together, and which figure stands behind each."""

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
    """What the speed of each of the options (`row`: its label) is off together with, as `simulate` draws it.

    A machine declared as fast as one that is predicted has the figure of that one, and its error: whose row comes
    first in the options.
    """
    known: dict[Error, Error] = {}
    ordered = sorted(rows, key=lambda row: row["row"])
    return {row["row"]: known.setdefault(figure_key(row), speed_error(row)) for row in ordered}


def speed_error(row: Row) -> Error:
    """What the figure of a row is off together with: figures of the same error are off by one factor.

    A figure without an interval shares it with its device and framework, a prediction with its machine, both over all
    models: the cautious reading where costs of several models are added. The error of a measured mean is its own.
    """
    if row["throughput_basis"] == "arithmetic":
        return ("arithmetic", row.get("gpu"))
    if row["assumed_interval"]:
        return ("card", row.get("gpu"), row["framework"])  # the word is part of the seed: another gives other draws
    return ("prediction", row["instance"]) if row["throughput_basis"] == "extrapolated" else _speed(row)


def figure_key(row: Row) -> Error:
    """The figure that is drawn for a row's speed: rows with the same have the same draws.

    One error is the same noise; but an interval of another kind spreads it otherwise.
    """
    freedom = degrees_of_freedom(row)
    return (*_speed(row), row["level"], freedom if freedom >= 1 else 0.0, *common_errors(row))


def degrees_of_freedom(row: Row) -> float:
    """Of the interval of a mean of runs; NaN where the speed is no such mean."""
    return or_nan(row["interval_df"]) if row["throughput_basis"] == "measured" else float("nan")


def common_errors(row: Row) -> dict[Error, tuple[float, float]]:
    """What a figure is off beside its own error, each with its factor of 90 % below and above: the same for all figures
    that have it.

    A published time where another option's is of a newer round: one error a round between them. A figure by arithmetic:
    how well the reader's software uses a device.
    """
    if row["throughput_basis"] == "arithmetic":
        return {SOFTWARE: (1 / SOFTWARE_FACTOR, SOFTWARE_FACTOR)}
    apart = or_nan(row.get("rounds_apart"))
    if not apart > 0:
        return {}
    behind = int(row["rounds_behind"])
    return {("round", step): (ROUND_LOW, ROUND_HIGH) for step in range(behind - int(apart) + 1, behind + 1)}


def figure_behind(row: Row) -> float:
    """The row's rate over the figure that it is made of: jobs side by side are as slow together as one alone."""
    figure = or_nan(row.get("figure_images_per_s"))
    return or_nan(row["images_per_s"]) / figure if figure > 0 else 1.0


def or_nan(value: float | None) -> float:
    """The number, NaN where there is none."""
    return float("nan") if value is None or pd.isna(value) else float(value)


def _speed(row: Row) -> Error:
    value, gpus = (row.get(f"figure_{name}", row[name]) for name in ("images_per_s", "gpus"))
    return ("images_per_s", row.get("gpu"), int(or_nan(gpus)), row["model"], or_nan(value))
