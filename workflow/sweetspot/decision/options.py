"""The options of a study: one row per option, model and workload with everything the decision needs."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.fits import Needs, does_not_fit, with_fits
from sweetspot.bills.price_paths import TREND_COLUMNS
from sweetspot.bills.rates import with_rent_factor
from sweetspot.cells import INTERRUPTIBLE, USABLE
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
# What an option takes from its offer (offers.parquet): figures with a range, then terms.
RANGED = (
    "usd_per_hour", "capex_usd", "residual_usd", "months", "kw", "usd_per_kwh", "days_per_month",
    "interruptions_per_hour", "delivery_months",
)  # fmt: skip
TERMS = (
    "price_list_title", "month_usd", "maintenance_usd_per_month", "staff_usd_per_month", "discount_rate",
    "downtime_share", "pue", "energy_usd_per_hour", "fixed_usd_per_month", "variable_usd_per_hour", "spot_overhead",
    "checkpoint_s", "restore_s", "wait_s", "every_s", "power_source", "grid_source", "energy_lacks", "granularity_s",
    "minimum_s", *TREND_COLUMNS, "residual_points",
)  # fmt: skip


def build_options(
    costs: pd.DataFrame,
    offers: pd.DataFrame,
    throughput: pd.DataFrame,
    extrapolation: pd.DataFrame,
    settings: Settings,
    needs: Needs | None = None,
) -> pd.DataFrame:
    """Return one row per option, model and workload at the study's headline batch, sorted by model, workload, USD.

    An option is one offer: (price_list, instance, purchase).

    Parameters
    ----------
    costs, offers, throughput, extrapolation
        The tables of results/<study>/.
    settings
        The study's settings.
    needs
        Memory that each workload needs; options known not to fit have `in_answer` False.

    Returns
    -------
    pandas.DataFrame
        The columns of its cost, RANGED and TERMS of its offer, and: `option` (its key in all tables), `title`,
        `model_title`, `nodes` (null: one), `alternative` (`with_alternative`), `in_answer` (offers of its price list
        may be the answer), `is_reference` (the option that the decision is about), `persistent` (not interrupted by the
        provider, or accepted as such), FIGURE with `level` (coverage), `runs`, `interval_df` (degrees of freedom),
        `assumed_interval` (ASSUMED_FACTOR is used), `throughput_source`, `throughput_basis`, STAND_IN, `round` with
        `rounds_behind` (newer ones) and `rounds_apart` (of them, those of another option of its model),
        `fixed_usd_per_month` (owning only), `variable_usd_per_hour` (per hour of use, overhead of interruptions
        included), `rent_months`, `rent_factor` (`with_rent_factor`), `fits` with `memory_need_gib` and
        `gpu_memory_gib`. A workload without a model has the model NO_MODEL and no throughput.

    Raises
    ------
    UserError
        The study's reference has no priced figure, costs nothing, or does not fit.
    """
    rows = _with_throughput(_headline_costs(costs, settings), throughput, extrapolation)
    rows = with_alternative(_with_intervals(_with_offers(rows, offers, settings.study)))
    rows = with_fits(rows, settings, needs or {})
    eligible = rows["price_list"].isin(list(settings.answer_prices)) | (not settings.answer_prices)
    lists = rows["price_list_title"].where(rows["price_list_title"].notna(), rows["price_list"])
    rows = rows.assign(
        persistent=~rows["purchase"].isin(INTERRUPTIBLE) | settings.accepts_interruptions,
        in_answer=eligible & ~does_not_fit(rows),
        option=_names(rows, rows["instance"], rows["price_list"], pd.Series(True, rows.index)),
        title=_names(rows, _titles_of(rows["instance"], settings.titles), lists, eligible),
        model_title=_titles_of(rows["model"], settings.models),
    )
    # A few hundred rows read one by one: plain objects are quicker to reach than Arrow strings.
    rows = rows.astype({name: object for name in rows.columns if pd.api.types.is_string_dtype(rows[name])})
    # Copied into few blocks: columns added one by one leave many, which each row read would gather.
    rows = rows.sort_values(["model", "workload", "usd", "option"], kind="stable").reset_index(drop=True).copy()
    return with_rent_factor(rows.assign(is_reference=_references(rows, settings)).copy()).copy()


def _titles_of(names: pd.Series, titles: Mapping[str, str]) -> pd.Series:
    """Return the title of each name, the name itself where it has none."""
    return names.map(lambda name: titles.get(name, name)).astype(object)


def _headline_costs(costs: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Return one row of `costs` per offer, model and workload: the best cell at the headline batch and precision."""
    costs = costs.reindex(columns=[*dict.fromkeys([*costs, "status"])])
    batch_size = costs["model"].map(settings.batch_sizes)  # Missing: any.
    is_any = batch_size.isna() & (costs["model"].isna() | costs["model"].isin(list(settings.batch_sizes)))
    rows = costs[(is_any | costs["batch_size"].eq(batch_size)) & costs["status"].fillna("ok").eq("ok")]
    rows = rows.assign(
        model=rows["model"].astype(object).fillna(NO_MODEL),
        differs=2 * (rows["precision"] != settings.precision) + (rows["framework"] != settings.framework),
    )
    rows = rows.sort_values(["differs", "images_per_usd"], ascending=[True, False], kind="stable")
    return rows.drop(columns="differs").drop_duplicates([*OFFER, "model", "workload"])


def _with_throughput(rows: pd.DataFrame, throughput: pd.DataFrame, extrapolation: pd.DataFrame) -> pd.DataFrame:
    """Return `rows` with FIGURE_COLUMNS (images/s, interval, source) of a cell's best figure, and `rounds_apart`."""
    measured = throughput[throughput["instance"].isin(rows["instance"].unique()) & throughput["status"].isin(USABLE)]
    predicted = extrapolation[extrapolation["headline"].astype(bool)]
    tables = [
        measured.assign(level=LEVEL_RUNS, throughput_basis=measured["basis"]),
        predicted.assign(level=LEVEL_PREDICTION, throughput_basis="extrapolated"),
    ]
    figures = best_figures(pd.concat(tables), CELL).rename(columns={"source": "throughput_source"})
    figures = figures.reindex(columns=[*CELL, *FIGURE_COLUMNS])
    rows = rows.drop(columns=[*FIGURE_COLUMNS], errors="ignore")
    rows = rows.merge(figures, on=list(CELL), how="left", validate="many_to_one")
    behind = rows["rounds_behind"].astype(float)
    newest = behind.groupby(rows["model"]).transform("min")
    return _with_side_by_side(rows.assign(rounds_behind=behind, rounds_apart=(behind - newest).fillna(0.0)))


def _with_side_by_side(rows: pd.DataFrame) -> pd.DataFrame:
    """Return `rows` with `images_per_s` of all jobs together where several run side by side on one machine.

    `jobs_at_once`: number of such jobs, else 1; `figure_images_per_s`, `figure_gpus`: images/s of the figure behind
    that rate (of a single job the rate itself), and its number of devices.
    """
    count = rows.get("jobs_at_once", pd.Series(1.0, rows.index)).fillna(1.0)
    rows = rows.assign(jobs_at_once=count, figure_images_per_s=rows["images_per_s"], figure_gpus=rows["gpus"] * 1.0)
    side = count > 1
    if side.any():
        for name, column in SIDE.items():
            rows[column] = rows[column].astype(rows[name].dtype).mask(side, rows[name])
        is_predicted = side & (rows["throughput_basis"] == "extrapolated")
        rows["level"] = rows["level"].mask(side, LEVEL_RUNS).mask(is_predicted, LEVEL_PREDICTION)
        # A mean of runs keeps its interval, not its degrees of freedom.
        rows[["interval_df", STAND_IN_YEARS]] = rows[["interval_df", STAND_IN_YEARS]].astype(float).mask(side)
    return rows.drop(columns=[*SIDE], errors="ignore").copy()


def _with_offers(rows: pd.DataFrame, offers: pd.DataFrame, study: str) -> pd.DataFrame:
    """Return `rows` with RANGED and TERMS of their offer, USD per month of ownership and USD per hour of use.

    The fixed USD of an owned machine are divided by 1 - downtime; those of a rented one are 0, and its price per hour
    at the planned use is multiplied by machine hours per hour of training.
    """
    terms = [*(f"{name}{end}" for name in RANGED for end in ("", "_low", "_high")), *TERMS]
    prices = offers.reindex(columns=[*OFFER, *terms]).drop_duplicates(list(OFFER))
    rows = rows.drop(columns=terms, errors="ignore")
    rows = rows.merge(prices, on=list(OFFER), how="inner", validate="many_to_one")
    is_owned = rows["purchase"] == "own"
    for row in rows[is_owned & rows["days_per_month"].isna()].itertuples():
        raise UserError(f"study {study}: offer 'own' of {row.instance} has no days_per_month; expected a number")
    fixed = rows["fixed_usd_per_month"] / (1.0 - rows["downtime_share"].fillna(0.0))
    rent = rows["usd_per_hour"] * rows["spot_overhead"].fillna(1.0)
    return rows.assign(
        fixed_usd_per_month=fixed.where(is_owned, 0.0),
        variable_usd_per_hour=rows["variable_usd_per_hour"].where(is_owned, rent),
    )


def _with_intervals(rows: pd.DataFrame) -> pd.DataFrame:
    """Return `rows` with an assumed factor as interval of images/s where none is known, marked `assumed_interval`."""
    value, low, high = (rows[name] for name in FIGURE)
    lacks = value.notna() & (low.isna() | high.isna())
    weak = rows["throughput_basis"].isin(["stand_in", "extrapolated"])
    years = rows[STAND_IN_YEARS].astype(float).fillna(0.0)
    aged = np.exp(np.hypot(math.log(ASSUMED_FACTOR_STAND_IN), years * math.log(YEAR)))  # Independent errors.
    factor = np.where(weak, aged, ASSUMED_FACTOR)
    return rows.assign(
        assumed_interval=lacks,
        images_per_s_low=low.mask(lacks, value / factor),
        images_per_s_high=high.mask(lacks, value * factor),
        level=rows["level"].mask(lacks, LEVEL_PREDICTION),
    )


def _names(rows: pd.DataFrame, machines: pd.Series, lists: pd.Series, eligible: pd.Series) -> pd.Series:
    """Return names: machine; purchase unless on demand or owned; price list.

    The price list of eligible options is named only where several have the same name.
    """
    with_purchase = machines + " (" + rows["purchase"].str.replace("_", " ") + ")"
    names = machines.where(rows["purchase"].isin(["on_demand", "own"]), with_purchase)
    offers = rows["price_list"] + "|" + rows["purchase"]
    is_shared = names.map(offers.groupby(names.where(eligible)).nunique()) > 1
    return names.where(eligible & ~is_shared, names + " [" + lists + "]")


def _references(rows: pd.DataFrame, settings: Settings) -> pd.Series:
    """Return booleans: rows of each model's reference option (owned first, then persistent, then least USD/hour)."""
    name, options = settings.reference, rows[rows["instance"] == settings.reference]
    about = f"study {settings.study}: reference {name!r}"
    if name is not None and len(rows) and options.empty:
        batches = [f"{size or 'of its own figure'} ({model})" for model, size in settings.batch_sizes.items()]
        raise UserError(
            f"{about} has no priced figure at batch {', '.join(batches)}; expected an offer of it, and a throughput of "
            "it or of the machine that it is estimated from (measure_on)"
        )
    if len(options) and does_not_fit(options).all():
        row = options.iloc[0]
        raise UserError(
            f"{about} has devices of {row['gpu_memory_gib']:g} GiB; expected {row['memory_need_gib']:.3g} GiB or more, "
            f"which workload {row['workload']} needs on each"
        )
    if (options["usd_per_hour"] == 0).any():
        raise UserError(f"{about} costs nothing; expected a machine with a price")
    options = options[options["in_answer"] & (options["images_per_s"] > 0)]
    order = options.assign(rank=2 * (options["purchase"] != "own") + ~options["persistent"].astype(bool))
    first = order.sort_values(["rank", "usd_per_hour"], kind="stable").drop_duplicates("model")
    return rows["option"].eq(rows["model"].map(first.set_index("model")["option"]))


def trained(options: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return, by model, the options with images/s > 0, each option once instead of per workload; labels are kept."""
    rows = options[options["images_per_s"] > 0].drop_duplicates(["option", "model"])
    return {str(model): table for model, table in rows.groupby("model")}


def records(rows: pd.DataFrame) -> list[Row]:
    """Return a dictionary per row of the options, by column; `row` is the label that indexes the samples."""
    # A tenth of the time that to_dict takes of so many columns.
    columns = {"row": rows.index.tolist()} | {str(name): rows[name].tolist() for name in rows.columns}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def same_machine(first: Row, second: Row) -> bool:
    """Return whether two options have the same machine and purchase (and differ at most in their price list)."""
    return bool(first["instance"] == second["instance"] and first["purchase"] == second["purchase"])


def titled(options: pd.DataFrame, throughput: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return options with `workload_title` (its key if it has no title) and `unit`, the word for what speeds count."""
    units = throughput["unit"].dropna() if "unit" in throughput.columns else ()
    return options.assign(workload_title=_titles_of(options["workload"], titles), unit=unit_in_words(set(units)))


def with_alternative(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with `alternative`, a key shared by one machine's rows in several price lists or numbers of nodes.

    Several nodes are a way to use the machine that they are made of, the first of the same provider, device, devices
    per node and purchase; their sizes are one alternative even where nobody rents a single node.
    """
    nodes = rows["nodes"].astype(float).fillna(1.0)
    single = rows[["provider", "gpu", "purchase", "instance"]].astype(object)
    devices = (rows["gpus"] / nodes).map("{:g}".format)
    cluster = single["provider"] + " with " + single["gpu"] + " in nodes of " + devices
    single = single.assign(cluster=cluster)[["cluster", "purchase", "instance"]]
    nearest = single[nodes <= 1].drop_duplicates(["cluster", "purchase"])
    machine = single.merge(nearest, on=["cluster", "purchase"], how="left")["instance_y"].set_axis(rows.index)
    alternative = single["instance"].where(nodes <= 1, machine.fillna(cluster))
    return rows.assign(alternative=alternative + " (" + single["purchase"] + ")")
