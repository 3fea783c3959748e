"""Warnings beside the numbers: what a reader must know of a figure before staking money on it."""

import re
from collections.abc import Iterator

import pandas as pd

COLUMNS = ("scope", "instance", "model", "batch_size", "rule", "message")
SUPER_LINEAR = 1.05
ASKED = re.compile(r"stand-in: asked (?P<asked>.+); nearest published (?P<found>.+)")
PARTS = ("card", "framework", "batch", "precision")
# First words of the warnings that collect_throughput writes.
PREFIXES = {
    "n = 1": "n_is_1",
    "drift": "drift",
    "throttling": "throttling",
    "warm-up": "warm_up",
    "imprecise": "imprecise",
    "emulation": "emulation",
    "logical devices": "logical_devices",
    "unstable": "unstable",
    "oom:": "oom",
    "failed:": "failed",
}


def warnings(
    throughput: pd.DataFrame,
    extrapolation: pd.DataFrame,
    efficiency: pd.DataFrame,
    price_lint: pd.DataFrame,
    options: pd.DataFrame,
    left_out: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """One row per warning: COLUMNS.

    Scope: throughput, efficiency, extrapolation, price, comparison (what the decision itself had to assume).
    Rules: n_is_1, drift, throttling, warm_up, imprecise, emulation, logical_devices, unstable, oom, failed,
    stand_in_batch, stand_in_precision, stand_in_framework, stand_in_card, super_linear (efficiency above 1.05),
    no_interval, mixed_protocol (figures measured here beside figures of others), left_out (not measured, for the
    budget), stale_price, the price lint's other warnings under their own rules, and other remarks as `note`.
    """
    rows = [
        *_of_throughput(throughput),
        *(_of_budget(left_out) if left_out is not None else ()),
        *_of_efficiency(efficiency),
        *_of_extrapolation(extrapolation),
        *_of_prices(price_lint),
        *_of_options(options),
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).drop_duplicates()
    return table.sort_values(list(COLUMNS[:5]), kind="stable", na_position="first").reset_index(drop=True)


def _of_throughput(table: pd.DataFrame) -> Iterator[tuple]:
    bad = table[table["warning"].notna() | ~table["status"].isin(["ok"])]
    for row in bad.itertuples():
        where = ("throughput", row.instance, row.model, row.batch_size)
        if row.status != "ok":
            yield (*where, row.status, f"status {row.status}" + (f": {row.warning}" if pd.notna(row.warning) else ""))
        elif pd.notna(row.warning):
            for rule, message in rules_of(row.warning):
                yield (*where, rule, message)


def _of_budget(table: pd.DataFrame) -> Iterator[tuple]:
    for row in table.itertuples():
        cell = f"{row.framework}, {row.gpus} device(s), {row.precision}, variant {row.variant}"
        message = f"not measured within {row.budget}: run {row.runs} ({cell}); a larger budget adds it"
        yield ("throughput", row.instance, row.model, row.batch_size, "left_out", message)


def rules_of(text: str) -> list[tuple[str, str]]:
    """The rules that a warning of throughput.parquet speaks of, each with its message."""
    stand_in = ASKED.fullmatch(text)
    if stand_in:
        asked, found = (_parts(stand_in[side]) for side in ("asked", "found"))
        return [
            (f"stand_in_{name}", f"{text}: the {name} differs")
            for name in PARTS
            if asked.get(name) != found.get(name)
        ]  # fmt: skip
    known = [
        (rule, message) for message in text.split("; ") for start, rule in PREFIXES.items() if message.startswith(start)
    ]
    return known or [("note", text)]


def _parts(text: str) -> dict[str, str]:
    return dict(zip(PARTS, text.split(", "), strict=False))


def _of_efficiency(table: pd.DataFrame) -> Iterator[tuple]:
    for row in table[table["efficiency"] > SUPER_LINEAR].itertuples():
        message = (
            f"super-linear: {row.gpus} devices give {row.efficiency:.2f} of {row.gpus} x one ({row.base_instance})"
        )
        yield ("efficiency", row.instance, row.model, row.batch_size, "super_linear", message)


def _of_extrapolation(table: pd.DataFrame) -> Iterator[tuple]:
    if "warning" not in table.columns:
        return
    for row in table[table["headline"].astype(bool) & table["warning"].notna()].itertuples():
        yield ("extrapolation", row.instance, row.model, row.batch_size, "note", row.warning)


def _of_prices(price_lint: pd.DataFrame) -> Iterator[tuple]:
    for row in price_lint.itertuples():
        if row.severity == "warning":
            rule = "stale_price" if row.rule.startswith("stale") else row.rule
            yield ("price", row.instance or None, None, pd.NA, rule, row.message)


def _of_options(options: pd.DataFrame) -> Iterator[tuple]:
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
