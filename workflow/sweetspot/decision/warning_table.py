"""Warnings beside the numbers: what a reader must know of a figure before staking money on it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from sweetspot.cells import USABLE
from sweetspot.decision.fits import Needs, fit_warnings, memory_warnings
from sweetspot.decision.headline import Contenders
from sweetspot.decision.options import OFFER, records
from sweetspot.decision.options import Row as Option
from sweetspot.decision.settings import Settings
from sweetspot.decision.speed_errors import ROUND_HIGH, ROUND_LOW
from sweetspot.warnings import pairs

COLUMNS = ("scope", "instance", "model", "batch_size", "rule", "message")
Row = tuple[object, ...]


def warning_table(
    throughput: pd.DataFrame,
    extrapolation: pd.DataFrame,
    efficiency: pd.DataFrame,
    price_lint: pd.DataFrame,
    options: pd.DataFrame,
    left_out: pd.DataFrame | None = None,
    offers: pd.DataFrame | None = None,
    settings: Settings | None = None,
    needs: Needs | None = None,
    more: Iterable[Row] = (),
) -> pd.DataFrame:
    """One row per warning: COLUMNS. Every pair of the tables' columns `warnings` is in it, whatever its rule.

    Scope: throughput, efficiency, extrapolation (of the headline method), price, comparison (what the decision itself
    had to assume). Rules found here: a status without a warning of its own, left_out (not measured, for the budget),
    no_interval, no_figure (an offer whose machine nobody has measured: it takes no part), no_price (a machine with a
    figure of the study's models that no price list offers, unless another machine's figure rests on it: it takes no
    part; told with `settings`), does_not_fit, unknown_memory_need and unknown_gpu_memory (where a workload states what
    it needs), memory_prediction (that need against a measured peak), no_speed (`more`: workloads of months),
    mixed_protocol (figures measured here beside figures of others), rounds_apart (published times of several rounds),
    and stale_price for the price lint's `stale` and `stale_rate`; its other warnings keep their rules.
    """
    rows = [
        *_of_throughput(throughput),
        *(_of_budget(left_out) if left_out is not None else ()),
        *_told("efficiency", efficiency),
        *_of_extrapolation(extrapolation),
        *_of_prices(price_lint),
        *_of_options(options),
        *(_without_figure(offers, options) if offers is not None else ()),
        *fit_warnings(options, needs or {}),
        *(memory_warnings(options, throughput, needs) if needs else ()),
        *(_without_price(offers, throughput, extrapolation, settings) if offers is not None and settings else ()),
        *more,
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).drop_duplicates()
    return table.sort_values(list(COLUMNS[:5]), kind="stable", na_position="first").reset_index(drop=True)


def decisive_rows(
    contending: Mapping[str, Contenders],
    headline: pd.DataFrame,
    options: pd.DataFrame | None = None,
    choices: pd.DataFrame | None = None,
) -> list[Option]:
    """The options whose figures carry the answer: all that its first screen names.

    Of the model that the answer speaks of; of all models where they have different winners. And the best of each plan
    of phases (`choices`) with what that is held against, among the `options`.
    """
    if options is not None and choices is not None and len(choices):
        held = choices[
            choices["cost"].eq("rounds") & (choices["is_best"].astype(bool) | choices["is_rival"].astype(bool))
        ]
        held = held.rename(columns={"choice": "option"})
        rows = options.merge(held[["option", "model"]].drop_duplicates(), on=["option", "model"])
        planned = records(rows.drop_duplicates(["option", "model"]))
        return [*decisive_rows(contending, headline), *planned]
    if headline.empty:
        return []
    models = headline[headline["scope"] == "model"]
    told = [headline["model"].iloc[0]] if models["winner"].nunique() == 1 else list(models["model"])
    return [row for model in told for row in contending[model].named()]


def with_decisive(table: pd.DataFrame, named: Sequence[Option], offers: pd.DataFrame) -> pd.DataFrame:
    """`table` with a column `decisive` (bool): the warning could change the answer.

    It concerns the cell of an option in `named`, or stands beside its offer (`offers.parquet`), or concerns its model
    as a whole.
    """
    cells = {(row["instance"], row["model"], row["batch_size"]) for row in named}
    models, bought = {model for _, model, _ in cells}, {tuple(row[name] for name in OFFER) for row in named}
    priced = {
        (row.instance, pair.message)
        for row in offers.itertuples()
        if tuple(getattr(row, name) for name in OFFER) in bought
        for pair in pairs(getattr(row, "warnings", None))
    }
    # A finding on a whole list names no instance.
    priced |= {(None, message) for _, message in priced}

    def decides(row: Any) -> bool:
        if row.scope == "price":
            return (None if pd.isna(row.instance) else row.instance, row.message) in priced
        if pd.isna(row.instance):
            return row.model in models
        return (row.instance, row.model, row.batch_size) in cells

    return table.assign(decisive=[decides(row) for row in table.itertuples()]).astype({"decisive": bool})


def _told(scope: str, table: pd.DataFrame) -> Iterator[Row]:
    """The pairs of a table's column `warnings`, with the cell that they stand beside."""
    if "warnings" not in table.columns:
        return
    for row in table.itertuples():
        for rule, message in pairs(row.warnings):
            yield (scope, row.instance, row.model, row.batch_size, rule, message)


def _of_throughput(table: pd.DataFrame) -> Iterator[Row]:
    yield from _told("throughput", table)
    for row in table[~table["status"].isin(USABLE)].itertuples():
        if row.status not in {pair.rule for pair in pairs(row.warnings)}:
            yield ("throughput", row.instance, row.model, row.batch_size, row.status, f"status {row.status}")


def _of_budget(table: pd.DataFrame) -> Iterator[Row]:
    for row in table.itertuples():
        cell = f"{row.framework}, {row.gpus} device(s), {row.precision}, variant {row.variant}"
        message = f"not measured within {row.budget}: run {row.runs} ({cell}); a larger budget adds it"
        yield ("throughput", row.instance, row.model, row.batch_size, "left_out", message)


def _of_extrapolation(table: pd.DataFrame) -> Iterator[Row]:
    if "headline" in table.columns:
        yield from _told("extrapolation", table[table["headline"].astype(bool)])


def _of_prices(price_lint: pd.DataFrame) -> Iterator[Row]:
    for row in price_lint.itertuples():
        if row.severity == "warning":
            rule = "stale_price" if row.rule.startswith("stale") else row.rule
            yield ("price", row.instance or None, None, pd.NA, rule, row.message)


def _without_figure(offers: pd.DataFrame, options: pd.DataFrame) -> Iterator[Row]:
    """Machines that have a price and no figure of any model of the study."""
    for name in sorted(set(offers.get("instance", [])) - set(options["instance"])):
        message = "it is offered, but no figure of a model of the study is known; it takes no part"
        yield ("comparison", name, None, pd.NA, "no_figure", message)


def _without_price(
    offers: pd.DataFrame, throughput: pd.DataFrame, extrapolation: pd.DataFrame, settings: Settings
) -> Iterator[Row]:
    """Machines that have a figure of a model of the study and no price; none is named where nothing has a price."""
    if offers.empty:
        return
    parts = [throughput[throughput["status"].isin(USABLE)]]
    if "headline" in extrapolation.columns:
        parts.append(extrapolation[extrapolation["headline"].astype(bool)])
    known = {
        name for part in parts for name in part.loc[part["model"].isin(list(settings.batch_sizes)), "instance"].unique()
    }
    for name in sorted(known - set(offers["instance"]) - set(settings.stands_behind)):
        message = "its figures are known, but no price list offers it; it takes no part"
        yield ("comparison", name, None, pd.NA, "no_price", message)


def _of_options(options: pd.DataFrame) -> Iterator[Row]:
    without = options[options["assumed_interval"].astype(bool)].drop_duplicates(["instance", "model"])
    for row in without.itertuples():
        factor = row.images_per_s_high / row.images_per_s
        message = f"{row.throughput_basis} without an interval; a factor of {factor:.2f} is assumed"
        yield ("comparison", row.instance, row.model, row.batch_size, "no_interval", message)
    for model, rows in options[options["throughput_basis"].notna()].groupby("model"):
        here = rows["throughput_basis"] == "measured"
        if here.any() and not here.all():
            message = "figures measured here stand beside published ones: other software and another protocol"
            yield ("comparison", None, model, rows["batch_size"].iloc[0], "mixed_protocol", message)
    yield from _of_rounds(options)


def _of_rounds(options: pd.DataFrame) -> Iterator[Row]:
    """Times that are published in several rounds, and held against each other."""
    apart = options.reindex(columns=["model", "gpu", "round", "rounds_behind", "in_answer"]).dropna(subset=["round"])
    for model, rows in apart[apart["in_answer"].astype(bool)].groupby("model"):
        names = rows.sort_values("rounds_behind").groupby("round", sort=False)["gpu"].agg(lambda of: sorted(set(of)))
        if len(names) > 1:
            told = "; ".join(f"{name}: {', '.join(devices)}" for name, devices in names.items())
            message = (
                f"published times of several rounds are compared ({told}); the same machine became {ROUND_LOW:g} to "
                f"{ROUND_HIGH:g} times as fast from one round to the next, and so much is drawn for each round between"
            )
            yield ("comparison", None, model, pd.NA, "rounds_apart", message)
