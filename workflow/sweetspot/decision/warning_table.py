"""All warnings about the figures of a study, and which of them could change the answer."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from pandas import DataFrame, Series, concat, isna

from sweetspot.bills.fits import fit_warnings
from sweetspot.cells import USABLE
from sweetspot.decision.options import OFFER, Row, records
from sweetspot.decision.verdict import PricedWork
from sweetspot.study.settings import Settings
from sweetspot.throughput.speed_errors import ROUND_HIGH, ROUND_LOW
from sweetspot.warnings import pairs
from sweetspot.wording import DISPATCH, ROUNDS

if TYPE_CHECKING:
    from sweetspot.decision.compare import Inputs

WARNINGS = ["scope", "instance", "model", "batch_size", "rule", "message"]
CHOICES = ["best", "rival", "take", "take_rival"]  # Columns of the verdict.


def warning_table(
    inputs: "Inputs", options: DataFrame, settings: Settings, names: Iterable[str], works: Sequence[PricedWork] = ()
) -> DataFrame:
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
    predicted = predicted[predicted.get("headline", Series(dtype=bool)).astype(bool)]
    tables = {"throughput": inputs.throughput, "efficiency": inputs.efficiency, "extrapolation": predicted}
    rows: list[tuple[object, ...]] = [
        (scope, row["instance"], row["model"], row["batch_size"], pair.rule, pair.message)
        for scope, table in tables.items()
        for row in table.to_dict("records")
        for pair in pairs(row.get("warnings"))
    ]

    for row in inputs.left_out.itertuples():
        cell = f"{row.framework}, {row.gpus} device(s), {row.precision}, variant {row.variant}"
        message = f"not measured within {row.budget}: run {row.runs} ({cell}); a larger budget adds it"
        rows.append(("throughput", row.instance, row.model, row.batch_size, "left_out", message))
    for row in inputs.price_lint.itertuples():
        if row.severity == "warning":
            rule = "stale_price" if row.rule.startswith("stale") else row.rule
            rows.append(("price", row.instance or None, None, pd.NA, rule, row.message))
    rows += fit_warnings(options)

    def about(instance: str | None, model: str | None, rule: str, message: str, batch_size: object = pd.NA) -> None:
        rows.append(("comparison", instance, model, batch_size, rule, message))

    # Machines with a speed for a model of the study, or an offer, but not both.
    priced = set(inputs.offers.get("instance", ()))
    figures = concat([inputs.throughput[inputs.throughput["status"].isin(USABLE)], predicted])
    timed = set(figures.loc[figures["model"].isin(list(settings.batch_sizes)), "instance"])
    for name in timed - priced - set(settings.stands_behind) if priced else ():
        about(name, None, "no_price", "its figures are known, but no price list offers it; it takes no part")
    for work in works:
        message = f"{work.name}: no figure of {work.model or 'its model'} is known; it takes no part"
        for instance in work.without_speed["instance"].unique():
            about(instance, work.model or None, "no_speed", message)
    for name in {*names} - {*options["workload"]} - {work.name for work in works}:
        message = f"workload {name}: no machine that is offered has a speed for it; it takes no part"
        about(None, None, "no_speed", message)

    # Intervals that nobody published, and times of several rounds.
    assumed = options[options["assumed_interval"].astype(bool)].drop_duplicates(["instance", "model"])
    for row in assumed.itertuples():
        message = f"a factor of {row.images_per_s_high / row.images_per_s:.2f} is assumed"
        about(row.instance, row.model, "no_interval", message, row.batch_size)
    for model, group in options[options["in_answer"].astype(bool)].groupby("model"):
        devices = group.sort_values("rounds_behind").groupby("round", sort=False)["gpu"].unique()
        if len(devices) > 1:
            rounds = "; ".join(f"{name}: {', '.join(sorted(names))}" for name, names in devices.items())
            change = f"became {ROUND_LOW:g} to {ROUND_HIGH:g} times as fast from one round to the next"
            message = f"published times of several rounds are compared ({rounds}); the same machine {change}"
            about(None, model, "rounds_apart", f"{message}, which is sampled for each round")

    table = DataFrame(rows, columns=WARNINGS).drop_duplicates()
    return table.sort_values(WARNINGS[:5], kind="stable", na_position="first", ignore_index=True)


def decisive_rows(verdict: DataFrame, choices: DataFrame, sources: DataFrame, options: DataFrame) -> list[Row]:
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
    names = answer.reindex(columns=CHOICES).to_numpy().ravel()
    for name in answer["workload"]:
        work, rows = choices[choices["workload"] == name].iloc[0], options[options["workload"] == name]
        if work["cost"] == DISPATCH:
            rows = options[options["workload"].str.startswith(f"{name}.")]
            names = sources.loc[(sources["workload"] == name) & sources["mix"].isin(names), "option"]
        elif work["cost"] == ROUNDS:
            rows = options[options["model"] == work["model"]]
        return records(rows[rows["option"].isin(names)].drop_duplicates(["option", "model"]))
    return []


def with_decisive(table: DataFrame, decisive: Sequence[Row], offers: DataFrame) -> DataFrame:
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
    decisive_offers = {tuple(row[name] for name in OFFER) for row in decisive}
    subjects: set[tuple[object, ...]] = {(None, row["model"]) for row in decisive}
    subjects |= {(row["instance"], row["model"], row["batch_size"]) for row in decisive}
    for row in offers.to_dict("records") if decisive_offers else ():
        if tuple(row[name] for name in OFFER) in decisive_offers:
            for pair in pairs(row.get("warnings")):  # A finding on a whole list names no instance.
                subjects |= {("price", row["instance"], pair.message), ("price", None, pair.message)}

    def subject_of(row: Row) -> tuple[object, ...]:
        instance = None if isna(row["instance"]) else row["instance"]
        if row["scope"] == "price":
            return ("price", instance, row["message"])
        return (instance, row["model"], row["batch_size"]) if instance else (None, row["model"])

    is_decisive = [subject_of(row) in subjects for row in table.to_dict("records")]
    return table.assign(decisive=Series(is_decisive, table.index, dtype=bool))
