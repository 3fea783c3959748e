"""All warnings about the figures of a study, and which of them could change the answer."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sweetspot.bills.fits import fit_warnings
from sweetspot.cells import USABLE
from sweetspot.decision.choice_table import PricedWork
from sweetspot.decision.options import OFFER, Row, records
from sweetspot.study.settings import Settings
from sweetspot.throughput.speed_errors import ROUND_HIGH, ROUND_LOW
from sweetspot.warnings import pairs
from sweetspot.wording import DISPATCH, ROUNDS

if TYPE_CHECKING:
    from sweetspot.decision.compare import Inputs

WARNINGS = ("scope", "instance", "model", "batch_size", "rule", "message")
WarningRow = tuple[object, ...]  # The values of WARNINGS.
CHOICES = ("best", "rival", "take", "take_rival")  # Columns of the verdict.


def warning_table(
    inputs: "Inputs", options: pd.DataFrame, settings: Settings, names: Iterable[str], works: Sequence[PricedWork] = ()
) -> pd.DataFrame:
    """Return all warnings of a study as one table, each once.

    Parameters
    ----------
    inputs
        The tables of the study, with their columns `warnings`.
    options
        All options, those that do not fit included.
    settings
        The study's settings.
    names
        Names of all workloads.
    works
        The priced works, with their offers without a known speed.

    Returns
    -------
    pandas.DataFrame
        WARNINGS. `scope`: throughput, efficiency, extrapolation (of the headline method), price, or comparison
        (assumptions of the decision itself).
    """
    predicted = inputs.extrapolation
    predicted = predicted[predicted["headline"].astype(bool)] if "headline" in predicted.columns else predicted.head(0)
    tables = {"throughput": inputs.throughput, "efficiency": inputs.efficiency, "extrapolation": predicted}
    rows: list[WarningRow] = [
        (scope, row["instance"], row["model"], row["batch_size"], pair.rule, pair.message)
        for scope, table in tables.items()
        for row in table.to_dict("records")
        for pair in pairs(row.get("warnings"))
    ]
    rows += _run_warnings(inputs.left_out)
    rows += _price_warnings(inputs.price_lint)
    rows += _unpriced_machines(inputs, predicted, settings)
    rows += _option_warnings(options)
    rows += fit_warnings(options)
    rows += _speed_warnings(works, names, options)
    table = pd.DataFrame(rows, columns=list(WARNINGS)).drop_duplicates()
    return table.sort_values(list(WARNINGS[:5]), kind="stable", na_position="first").reset_index(drop=True)


def decisive_rows(
    verdict: pd.DataFrame, choices: pd.DataFrame, sources: pd.DataFrame, options: pd.DataFrame
) -> list[Row]:
    """Return rows of the options that the answer depends on: those named by its verdict, or used by its mixes.

    Parameters
    ----------
    verdict, choices, sources, options
        The tables of the comparison.

    Returns
    -------
    list
        Option rows as dictionaries; for a workload with parts (`lab.bert` of `lab`) those of all its parts, for a
        plan of phases those of its model.
    """
    answer = verdict[verdict["is_answer"].astype(bool)].head(1)
    names: set[object] = {*answer.reindex(columns=list(CHOICES)).to_numpy().ravel()}
    for name in answer["workload"]:
        of_work, rows = choices[choices["workload"] == name], options[options["workload"] == name]
        if of_work["cost"].eq(DISPATCH).any():
            rows = options[options["workload"].str.startswith(f"{name}.")]
            names = set(sources.loc[(sources["workload"] == name) & sources["mix"].isin(names), "option"])
        elif of_work["cost"].eq(ROUNDS).any():
            rows = options[options["model"] == of_work["model"].iloc[0]]
        return records(rows[rows["option"].isin(names)].drop_duplicates(["option", "model"]))
    return []


def with_decisive(table: pd.DataFrame, decisive: Sequence[Row], offers: pd.DataFrame) -> pd.DataFrame:
    """Return the table with a Boolean column `decisive`: whether a warning could change the answer.

    Parameters
    ----------
    table
        The warnings.
    decisive
        Options that the answer depends on; a warning about their cell, offer or model is decisive.
    offers
        The offers, with their column `warnings`.
    """
    cells = {(row["instance"], row["model"], row["batch_size"]) for row in decisive}
    models = {row["model"] for row in decisive}
    keys = {tuple(row[name] for name in OFFER) for row in decisive}
    chosen = [row for row in offers.to_dict("records") if tuple(row[name] for name in OFFER) in keys]
    messages = {pair.message for row in chosen for pair in pairs(row.get("warnings"))}
    instances = {None, *(row["instance"] for row in chosen)}  # A finding on a whole list names no instance.
    rows = table.assign(instance=table["instance"].astype(object).where(table["instance"].notna(), None))
    is_decisive = [
        row.message in messages and row.instance in instances
        if row.scope == "price"
        else (row.instance, row.model, row.batch_size) in cells
        if row.instance
        else row.model in models
        for row in rows.itertuples()
    ]
    return table.assign(decisive=np.array(is_decisive, bool))


def _unpriced_machines(inputs: "Inputs", predicted: pd.DataFrame, settings: Settings) -> Iterator[WarningRow]:
    """Yield a warning per machine with a figure of a model of the study, but no price and no other use of it."""
    priced = set(inputs.offers.get("instance", ()))
    figures = pd.concat([inputs.throughput[inputs.throughput["status"].isin(USABLE)], predicted])
    timed = set(figures.loc[figures["model"].isin(list(settings.batch_sizes)), "instance"])
    for name in timed - priced - set(settings.stands_behind) if priced else ():
        message = "its figures are known, but no price list offers it; it takes no part"
        yield ("comparison", name, None, pd.NA, "no_price", message)


def _speed_warnings(works: Sequence[PricedWork], names: Iterable[str], options: pd.DataFrame) -> Iterator[WarningRow]:
    """Yield warnings about machines without a speed for a workload, and workloads for which no machine has one."""
    for work in works:
        for instance in work.without_speed["instance"].unique():
            message = f"{work.name}: no figure of {work.model or 'its model'} is known; it takes no part"
            yield ("comparison", instance, work.model or None, pd.NA, "no_speed", message)
    for name in {*names} - {*options["workload"]} - {work.name for work in works}:
        message = f"workload {name}: no machine that is offered has a speed for it; it takes no part"
        yield ("comparison", None, None, pd.NA, "no_speed", message)


def _run_warnings(left_out: pd.DataFrame) -> Iterator[WarningRow]:
    """Yield a warning per run that the budget left out."""
    for row in left_out.itertuples():
        cell = f"{row.framework}, {row.gpus} device(s), {row.precision}, variant {row.variant}"
        message = f"not measured within {row.budget}: run {row.runs} ({cell}); a larger budget adds it"
        yield ("throughput", row.instance, row.model, row.batch_size, "left_out", message)


def _price_warnings(price_lint: pd.DataFrame) -> Iterator[WarningRow]:
    for row in price_lint.to_dict("records"):
        if row["severity"] == "warning":
            rule = "stale_price" if row["rule"].startswith("stale") else row["rule"]
            yield ("price", row["instance"] or None, None, pd.NA, rule, row["message"])


def _option_warnings(options: pd.DataFrame) -> Iterator[WarningRow]:
    """Yield warnings of assumed intervals, measured beside published figures, and times of several rounds."""
    assumed = options[options["assumed_interval"].astype(bool)].drop_duplicates(["instance", "model"])
    for row in assumed.itertuples():
        factor = row.images_per_s_high / row.images_per_s
        message = f"a factor of {factor:.2f} is assumed"
        yield ("comparison", row.instance, row.model, row.batch_size, "no_interval", message)
    for model, rows in options[options["throughput_basis"].notna()].groupby("model"):
        if 0 < rows["throughput_basis"].eq("measured").mean() < 1:
            message = "figures measured here stand beside published ones: other software and another protocol"
            yield ("comparison", None, model, rows["batch_size"].iloc[0], "mixed_protocol", message)
    dated = options.reindex(columns=["model", "gpu", "round", "rounds_behind", "in_answer"]).dropna(subset=["round"])
    for model, rows in dated[dated["in_answer"].astype(bool)].groupby("model"):
        devices = rows.sort_values("rounds_behind").groupby("round", sort=False)["gpu"].unique()
        if len(devices) > 1:
            rounds = "; ".join(f"{name}: {', '.join(sorted(names))}" for name, names in devices.items())
            change = f"became {ROUND_LOW:g} to {ROUND_HIGH:g} times as fast from one round to the next"
            message = f"published times of several rounds are compared ({rounds}); the same machine {change}"
            yield ("comparison", None, model, pd.NA, "rounds_apart", f"{message}, which is sampled for each round")
