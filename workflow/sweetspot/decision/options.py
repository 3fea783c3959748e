"""The options of a study: one row per option, model and workload with everything the decision needs."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series, concat

from sweetspot.bills.fits import Needs, does_not_fit, with_fits
from sweetspot.bills.rates import with_rent_factor
from sweetspot.cells import INTERRUPTIBLE, USABLE
from sweetspot.declared_tables import columns_of
from sweetspot.errors import UserError
from sweetspot.study.settings import Settings
from sweetspot.throughput.best import best_figures
from sweetspot.throughput.stand_in import YEAR
from sweetspot.titles import unit_in_words

LEVEL_RUNS = 0.95  # throughput.parquet: t interval over runs
LEVEL_PREDICTION = 0.90  # extrapolation.parquet: prediction interval
# Factor either side of a figure that is published without an interval, 90 % (docs/decision.md, figures without an
# interval): published repeats of one device, model, batch and precision lie within 1.29 of their median; a stand-in
# adds one doubling of the batch, within 1.44, and each year between the study and its software (YEAR).
ASSUMED_FACTOR = 1.29
ASSUMED_FACTOR_STAND_IN = 1.56
PROPORTION = 1.05  # Bills that differ from USD per image by more than this decide by themselves.
NO_MODEL = "any"
Row = dict[str, Any]
OFFER = ("price_list", "instance", "purchase")
CELL = ("instance", "framework", "model", "batch_size", "gpus", "precision")
FIGURE = ("images_per_s", "images_per_s_low", "images_per_s_high")
STAND_IN_YEARS = "stand_in_years"
# What is known of the figure behind a cost; the last two of a published time to a target.
FIGURE_COLUMNS = (
    "nodes", *FIGURE, "level", "interval_df", "throughput_basis", "throughput_source",
    STAND_IN_YEARS, "round", "rounds_behind",
)  # fmt: skip
# Of jobs side by side on one machine: what costs say of all of them together (`side_...`), by its name elsewhere.
SIDE = {f"side_{name}": name for name in (*FIGURE, "figure_images_per_s", "figure_gpus")}
SIDE |= {"side_basis": "throughput_basis", "side_source": "throughput_source"}
# What an option takes from its offer (offers.parquet); the rest of their common columns is that of its cost.
COST_COLUMNS = {*OFFER, "provider", "gpu", "gpus", "as_of", "source", "basis", "power_basis"}
TERMS = [name for name in columns_of("offers") if name in {*columns_of("options")} - COST_COLUMNS]


def build_options(
    costs: DataFrame,
    offers: DataFrame,
    throughput: DataFrame,
    extrapolation: DataFrame,
    settings: Settings,
    needs: Needs | None = None,
    titles: Mapping[str, str] | None = None,
) -> DataFrame:
    """Return the table of options, from which every decision is made: one row per offer, model and workload.

    An offer is (price_list, instance, purchase); rows are at the study's headline batch, sorted by model, workload,
    USD. Columns: those of its cost, TERMS of its offer, and: `option` (its key in all tables), `title`, `model_title`,
    `nodes` (null: one), `alternative` (`with_alternative`), `in_answer` (offers of its price list may be the answer),
    `is_reference` (the option that the decision is about), `persistent` (not interrupted by the provider, or accepted
    as such), FIGURE with `level` (coverage), `runs`, `interval_df` (degrees of freedom), `assumed_interval`
    (ASSUMED_FACTOR is used), `throughput_source`, `throughput_basis`, STAND_IN, `round` with `rounds_behind` (newer
    ones) and `rounds_apart` (of them, those of another option of its model), `fixed_usd_per_month` (owning only),
    `variable_usd_per_hour` (per hour of use, overhead of interruptions included), `rent_months`, `rent_factor`
    (`with_rent_factor`), `unit` (word for what speeds count), `workload_title`, `fits` with `memory_need_gib` and
    `gpu_memory_gib`. A workload without a model has the model NO_MODEL and no throughput. Raises UserError where the
    study's reference has no priced figure, costs nothing, or does not fit.

    Parameters
    ----------
    costs, offers, throughput, extrapolation
        The tables of results/<study>/.
    settings, needs, titles
        The study's settings; memory that each workload needs, by name (options known not to fit have `in_answer`
        False); titles of workloads by name.
    """
    rows = _with_speeds(_headline_costs(costs, settings), throughput, extrapolation)
    rows = with_fits(with_alternative(_with_offers(rows, offers, settings.study)), settings, needs or {})
    eligible = rows["price_list"].isin(list(settings.answer_prices)) | (not settings.answer_prices)
    lists = rows["price_list_title"].astype(object).fillna(rows["price_list"])
    rows = rows.assign(
        persistent=~rows["purchase"].isin(INTERRUPTIBLE) | settings.accepts_interruptions,
        in_answer=eligible & ~does_not_fit(rows),
        option=_names(rows, rows["instance"], rows["price_list"], eligible | True),
        title=_names(rows, _titles_of(rows["instance"], settings.titles), lists, eligible),
        model_title=_titles_of(rows["model"], settings.models),
        workload_title=_titles_of(rows["workload"], titles or {}),
        unit=unit_in_words(set(throughput.get("unit", Series(dtype=object)).dropna())),
    )
    # A few hundred rows read one by one: plain objects are quicker to reach than Arrow strings.
    rows = rows.astype({name: object for name in rows.columns if pd.api.types.is_string_dtype(rows[name])})
    # Copied into few blocks: columns added one by one leave many, which each row read would gather.
    rows = rows.sort_values(["model", "workload", "usd", "option"], kind="stable", ignore_index=True).copy()
    return with_rent_factor(rows.assign(is_reference=_references(rows, settings)).copy()).copy()


def _titles_of(names: Series, titles: Mapping[str, str]) -> Series:
    """Return the title of each name, the name itself where it has none."""
    return names.map(lambda name: titles.get(name, name)).astype(object)


def _headline_costs(costs: DataFrame, settings: Settings) -> DataFrame:
    """Return the rows of `costs` of which options are made: one per offer, model and workload.

    It is the best cell (number of devices, framework) at the study's headline batch size and precision, by images per
    USD.
    """
    batch_size = costs["model"].map(settings.batch_sizes)  # Missing: any.
    is_any = batch_size.isna() & (costs["model"].isna() | costs["model"].isin(list(settings.batch_sizes)))
    rows = costs[(is_any | costs["batch_size"].eq(batch_size)) & costs["status"].eq("ok")]
    rows = rows.assign(
        model=rows["model"].astype(object).fillna(NO_MODEL),
        differs=2 * (rows["precision"] != settings.precision) + (rows["framework"] != settings.framework),
    )
    rows = rows.sort_values(["differs", "images_per_usd"], ascending=[True, False], kind="stable")
    return rows.drop(columns="differs").drop_duplicates([*OFFER, "model", "workload"])


def _with_speeds(rows: DataFrame, throughput: DataFrame, extrapolation: DataFrame) -> DataFrame:
    """Return `rows` with the speed behind each cost (FIGURE_COLUMNS: images/s, interval, source), and `rounds_apart`.

    `rows`: costs of options; `throughput`, `extrapolation`: tables of measured and predicted speeds. Where several jobs
    run side by side on one machine (`jobs_at_once`, else 1) the rate is that of all of them; `figure_images_per_s`,
    `figure_gpus`: images/s of the figure behind it (of a single job the rate itself), and its number of devices. An
    interval that nobody knows is an assumed factor either way, marked `assumed_interval`.
    """
    measured = throughput[throughput["instance"].isin(rows["instance"].unique()) & throughput["status"].isin(USABLE)]
    predicted = extrapolation[extrapolation["headline"].astype(bool)]
    tables = [
        measured.assign(level=LEVEL_RUNS, throughput_basis=measured["basis"]),
        predicted.assign(level=LEVEL_PREDICTION, throughput_basis="extrapolated"),
    ]
    figures = best_figures(concat(tables), CELL).rename(columns={"source": "throughput_source"})
    figures = figures.reindex(columns=[*CELL, *FIGURE_COLUMNS])
    rows = rows.drop(columns=[*FIGURE_COLUMNS], errors="ignore")
    rows = rows.merge(figures, on=list(CELL), how="left", validate="many_to_one")
    behind = rows["rounds_behind"].astype(float)
    newest = behind.groupby(rows["model"]).transform("min")
    rows = rows.assign(
        rounds_behind=behind,
        rounds_apart=(behind - newest).fillna(0.0),
        jobs_at_once=rows.get("jobs_at_once", Series(1.0, rows.index)).fillna(1.0),
        figure_images_per_s=rows["images_per_s"],
        figure_gpus=rows["gpus"] * 1.0,
    )

    side = rows["jobs_at_once"] > 1
    if side.any():
        for name, column in SIDE.items():
            rows[column] = rows[column].astype(rows[name].dtype).mask(side, rows[name])
        is_predicted = rows["throughput_basis"] == "extrapolated"
        rows["level"] = rows["level"].mask(side, np.where(is_predicted, LEVEL_PREDICTION, LEVEL_RUNS))
        # A mean of runs keeps its interval, not its degrees of freedom.
        rows[["interval_df", STAND_IN_YEARS]] = rows[["interval_df", STAND_IN_YEARS]].astype(float).mask(side)

    value, low, high = (rows[name] for name in FIGURE)
    lacks = value.notna() & (low.isna() | high.isna())
    weak = rows["throughput_basis"].isin(["stand_in", "extrapolated"])
    years = rows[STAND_IN_YEARS].astype(float).fillna(0.0)
    aged = np.exp(np.hypot(math.log(ASSUMED_FACTOR_STAND_IN), years * math.log(YEAR)))  # Independent errors.
    factor = np.where(weak, aged, ASSUMED_FACTOR)
    return rows.drop(columns=[*SIDE], errors="ignore").assign(
        assumed_interval=lacks,
        images_per_s_low=low.mask(lacks, value / factor),
        images_per_s_high=high.mask(lacks, value * factor),
        level=rows["level"].mask(lacks, LEVEL_PREDICTION),
    )


def _with_offers(rows: DataFrame, offers: DataFrame, study: str) -> DataFrame:
    """Return `rows` (costs of options) with the TERMS of their offer, USD per month of ownership and USD per hour of
    use. The fixed USD of an owned machine are divided by 1 - downtime; those of a rented one are 0, and its price per
    hour at the planned use is multiplied by machine hours per hour of training. Raises UserError without days of use.
    """
    prices = offers.reindex(columns=[*OFFER, *TERMS]).drop_duplicates(list(OFFER))
    rows = rows.drop(columns=TERMS, errors="ignore")
    rows = rows.merge(prices, on=list(OFFER), how="inner", validate="many_to_one")
    is_owned = rows["purchase"] == "own"
    for name in rows.loc[is_owned & rows["days_per_month"].isna(), "instance"]:
        raise UserError(f"study {study}: offer 'own' of {name} has no days_per_month; expected a number")

    fixed = rows["fixed_usd_per_month"] / (1.0 - rows["downtime_share"].fillna(0.0))
    rent = rows["usd_per_hour"] * rows["spot_overhead"].fillna(1.0)
    return rows.assign(
        fixed_usd_per_month=fixed.where(is_owned, 0.0),
        variable_usd_per_hour=rows["variable_usd_per_hour"].where(is_owned, rent),
    )


def _names(rows: DataFrame, machines: Series, lists: Series, eligible: Series) -> Series:
    """Return a name per row of options that tells it from all others, for tables and page.

    It is the machine, the purchase unless on demand or owned, and the price list, for eligible options only where
    several have the same name. By row: `machines`, `lists` (names), `eligible` (booleans).
    """
    with_purchase = machines + " (" + rows["purchase"].str.replace("_", " ") + ")"
    names = machines.where(rows["purchase"].isin(["on_demand", "own"]), with_purchase)
    offers = rows["price_list"] + "|" + rows["purchase"]
    is_shared = names.map(offers.groupby(names.where(eligible)).nunique()) > 1
    return names.where(eligible & ~is_shared, names + " [" + lists + "]")


def _references(rows: DataFrame, settings: Settings) -> Series:
    """Return booleans by row of options: whether it is the reference, the machine that the decision is about.

    One option per model is: owned first, then persistent, then least USD/hour. Raises UserError where the study's
    reference has no price or speed, or costs nothing.
    """
    name = settings.reference
    options = rows[rows["instance"] == settings.reference]
    about = f"study {settings.study}: reference {name!r}"
    if name is not None and len(rows) and does_not_fit(options).all():
        raise UserError(
            f"{about} has no priced figure at batch {dict(settings.batch_sizes)} on devices with enough memory; "
            "expected an offer of it, and a throughput of it or of the machine that it is estimated from (measure_on)"
        )
    if (options["usd_per_hour"] == 0).any():
        raise UserError(f"{about} costs nothing; expected a machine with a price")

    options = options[options["in_answer"] & (options["images_per_s"] > 0)]
    order = options.assign(rank=2 * (options["purchase"] != "own") + ~options["persistent"])
    first = order.sort_values(["rank", "usd_per_hour"], kind="stable").drop_duplicates("model")
    return rows["option"].eq(rows["model"].map(first.set_index("model")["option"]))


def trained(options: DataFrame) -> dict[str, DataFrame]:
    """Return {model: its options (rows) with images/s > 0, each once instead of per workload}, to compare machines.

    Row labels stay, because samples are found by them.
    """
    rows = options[options["images_per_s"] > 0].drop_duplicates(["option", "model"])
    return {str(model): table for model, table in rows.groupby("model")}


def records(rows: DataFrame) -> list[Row]:
    """Return a dictionary per row of the options, by column; `row` is the label that indexes the samples."""
    # A tenth of the time that to_dict takes of so many columns.
    columns = {"row": rows.index.tolist()} | {str(name): rows[name].tolist() for name in rows.columns}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def with_alternative(rows: DataFrame) -> DataFrame:
    """Return rows of options with `alternative`, equal for ways to get one machine, which are not compared with each
    other: its rows in several price lists or numbers of nodes.

    Several nodes are a way to use the machine that they are made of, the first of the same provider, device, devices
    per node and purchase; their sizes are one alternative even where nobody rents a single node.
    """
    nodes = rows["nodes"].astype(float).fillna(1.0)
    text = rows[["provider", "gpu", "purchase", "instance"]].astype(object)
    devices = (rows["gpus"] / nodes).map("{:g}".format)
    cluster = text["provider"] + " with " + text["gpu"] + " in nodes of " + devices
    text["offer"] = cluster + text["purchase"]
    single = text["instance"].where(nodes <= 1).groupby(text["offer"]).transform("first")
    machine = text["instance"].where(nodes <= 1, single.fillna(cluster))
    return rows.assign(alternative=machine + " (" + text["purchase"] + ")")


def staying(rows: DataFrame) -> DataFrame:
    """Return rows with `in_answer` and `persistent` (the provider does not stop it); if none, all with `in_answer`."""
    in_answer = rows[rows["in_answer"]]
    persistent = in_answer[in_answer["persistent"]]
    return persistent if len(persistent) else in_answer


def bills_decide(rows: DataFrame) -> bool:
    """Return whether bills (whole hours, fees, minimum sums) rank options otherwise than USD per image would.

    They do if they differ from these by more than PROPORTION. `rows`: options with `usd` and `images_per_usd`.
    """
    product = (rows["usd"] * rows["images_per_usd"])[rows["usd"] != 0]
    return bool(len(product) and product.notna().all() and product.max() > PROPORTION * product.min())
