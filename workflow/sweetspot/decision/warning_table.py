"""Warnings beside the numbers: what a reader must know of a figure before staking money on it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.bills.fits import Needs, fit_warnings, memory_warnings
from sweetspot.cells import USABLE
from sweetspot.decision.offers_left_out import machines_alone
from sweetspot.decision.options import OFFER, records
from sweetspot.decision.options import Row as Option
from sweetspot.study.settings import Settings
from sweetspot.throughput.speed_errors import ROUND_HIGH, ROUND_LOW
from sweetspot.warnings import pairs
from sweetspot.wording import DISPATCH, ROUNDS

if TYPE_CHECKING:
    from sweetspot.decision.compare import Inputs

COLUMNS = ("scope", "instance", "model", "batch_size", "rule", "message")
Row = tuple[object, ...]
NAMED = ("best", "rival", "take", "take_rival")  # columns of the verdict


def warning_table(
    inputs: "Inputs", options: pd.DataFrame, settings: Settings, needs: Needs, more: Iterable[Row] = ()
) -> pd.DataFrame:
    """One row per warning: COLUMNS. Every pair of the tables' columns `warnings` is in it, whatever its rule.

    `options`: all, those that do not fit among them; `more`: rows found elsewhere (`offers_left_out`). Scope:
    throughput, efficiency, extrapolation (of the headline method), price, comparison (what the decision itself had to
    assume). Rules found here: a status without a warning of its own, left_out (not measured, for the budget),
    no_interval, no_figure and no_price (machines that have the other alone, unless another machine's figure rests on
    them), those of `fits`, mixed_protocol (figures measured here beside figures of others), rounds_apart (published
    times of several rounds), and stale_price for the price lint's `stale` and `stale_rate`.
    """
    led = inputs.extrapolation
    led = led[led["headline"].astype(bool)] if "headline" in led.columns else led.head(0)
    rows = [
        *_told("throughput", inputs.throughput),
        *_of_runs(inputs),
        *_told("efficiency", inputs.efficiency),
        *_told("extrapolation", led),
        *_of_prices(inputs.price_lint),
        *_of_options(options),
        *_of_rounds(options),
        *machines_alone(inputs, options, led, settings),
        *fit_warnings(options, needs),
        *memory_warnings(options, inputs.throughput, needs),
        *more,
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).drop_duplicates()
    return table.sort_values(list(COLUMNS[:5]), kind="stable", na_position="first").reset_index(drop=True)


def decisive_rows(
    verdict: pd.DataFrame, choices: pd.DataFrame, sources: pd.DataFrame, options: pd.DataFrame
) -> list[Option]:
    """The options whose figures carry the answer: those that its verdict names, or that do the work of a mix so named.

    Of a work with parts (`lab.bert` of `lab`) the rows of all its parts; of a plan of phases those of its model.
    """
    answer = verdict[verdict["is_answer"].astype(bool)]
    if answer.empty:
        return []
    name, told = answer["workload"].iloc[0], set(answer[list(NAMED)].iloc[0].dropna())
    mine = choices[choices["workload"] == name]
    if mine["cost"].eq(DISPATCH).any():
        own = options[options["workload"].str.startswith(f"{name}.")]
        told = set(sources.loc[(sources["workload"] == name) & sources["mix"].isin(told), "option"])
    elif mine["cost"].eq(ROUNDS).any():
        own = options[options["model"] == mine["model"].iloc[0]]
    else:
        own = options[options["workload"] == name]
    return records(own[own["option"].isin(told)].drop_duplicates(["option", "model"]))


def with_decisive(table: pd.DataFrame, named: Sequence[Option], offers: pd.DataFrame) -> pd.DataFrame:
    """`table` with a column `decisive` (bool): the warning could change the answer.

    It concerns the cell of an option in `named`, or stands beside its offer (`offers.parquet`), or concerns its model
    as a whole.
    """
    cells = {(row["instance"], row["model"], row["batch_size"]) for row in named}
    models, bought = {model for _, model, _ in cells}, {tuple(row[name] for name in OFFER) for row in named}
    paid = [row for row in offers.to_dict("records") if tuple(row[name] for name in OFFER) in bought]
    priced = {(row["instance"], pair.message) for row in paid for pair in pairs(row.get("warnings"))}
    priced |= {(None, message) for _, message in priced}  # a finding on a whole list names no instance

    def decides(row: Any) -> bool:
        if row.scope == "price":
            return (None if pd.isna(row.instance) else row.instance, row.message) in priced
        if pd.isna(row.instance):
            return row.model in models
        return (row.instance, row.model, row.batch_size) in cells

    return table.assign(decisive=[decides(row) for row in table.itertuples()]).astype({"decisive": bool})


def _told(scope: str, table: pd.DataFrame) -> Iterator[Row]:
    """The pairs of a table's column `warnings`, with the cell that they stand beside."""
    for row in table.to_dict("records"):
        for rule, message in pairs(row.get("warnings")):
            yield (scope, row["instance"], row["model"], row["batch_size"], rule, message)


def _of_runs(inputs: "Inputs") -> Iterator[Row]:
    for row in inputs.throughput[~inputs.throughput["status"].isin(USABLE)].itertuples():
        if row.status not in {pair.rule for pair in pairs(row.warnings)}:
            yield ("throughput", row.instance, row.model, row.batch_size, row.status, f"status {row.status}")
    for row in inputs.left_out.itertuples():
        cell = f"{row.framework}, {row.gpus} device(s), {row.precision}, variant {row.variant}"
        message = f"not measured within {row.budget}: run {row.runs} ({cell}); a larger budget adds it"
        yield ("throughput", row.instance, row.model, row.batch_size, "left_out", message)


def _of_prices(price_lint: pd.DataFrame) -> Iterator[Row]:
    for row in price_lint.itertuples():
        if row.severity == "warning":
            rule = "stale_price" if row.rule.startswith("stale") else row.rule
            yield ("price", row.instance or None, None, pd.NA, rule, row.message)


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
