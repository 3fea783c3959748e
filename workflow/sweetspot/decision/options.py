"""The options of a study: one row per (option, model, workload) with everything the decision needs."""

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
STAND_IN = ("stand_in_gpu", "stand_in_framework", "stand_in_batch_size", "stand_in_precision")
STAND_IN_YEARS = "stand_in_years"
# What is known of the figure behind a cost; the last two of a published time to a target.
BEHIND = (
    "nodes", *FIGURE, "level", "runs", "interval_df", "throughput_basis", "throughput_source", *STAND_IN,
    STAND_IN_YEARS, "round", "rounds_behind",
)  # fmt: skip
# Of jobs side by side on one machine: what costs say of all of them together (`side_...`), by its name elsewhere.
SIDE = {f"side_{name}": name for name in (*FIGURE, "figure_images_per_s", "figure_gpus")}
SIDE |= {"side_basis": "throughput_basis", "side_source": "throughput_source"}
RANGED = (
    "usd_per_hour", "capex_usd", "residual_usd", "months", "kw", "usd_per_kwh", "days_per_month",
    "interruptions_per_hour", "delivery_months", "sell_for_usd",
)  # fmt: skip
# What an option takes from its offer (offers.parquet) beside those ranges.
TERMS = (
    "price_list_title", "month_usd", "maintenance_usd_per_month", "staff_usd_per_month",
    "discount_rate", "downtime_share", "pue",
    "energy_usd_per_hour", "fixed_usd_per_month", "variable_usd_per_hour", "spot_overhead", "checkpoint_s", "restore_s",
    "wait_s", "every_s", "power_source", "grid_source", "energy_lacks", "granularity_s", "minimum_s",
    *TREND_COLUMNS, "residual_points", "offer_until", "offer_ended",
)  # fmt: skip


def build_options(
    costs: pd.DataFrame,
    offers: pd.DataFrame,
    throughput: pd.DataFrame,
    extrapolation: pd.DataFrame,
    settings: Settings,
    needs: Needs | None = None,
) -> pd.DataFrame:
    """One row per (option, model, workload) at the study's headline batch, sorted by model, workload, USD.

    An option is one offer: (price_list, instance, purchase). `costs`, `offers`, `throughput` and
    `extrapolation` are the tables of results/<study>/. A row has the columns of its cost, its offer's RANGED and
    TERMS, and those made here: `option` (its key in all tables), `title` (its name for people), `model_title` (that of
    the model), `nodes` (null: one) and `alternative` (`with_alternative`), `in_answer` (its price list is one that the
    answer takes offers of), `is_reference` (the option that the decision is about), `persistent` (bool; where
    the study accepts interruptions, all are), `images_per_s`, `_low`, `_high` with `level` (coverage of that interval),
    `runs`, `interval_df` (degrees of freedom of a measured one), `assumed_interval` (no
    interval published: ASSUMED_FACTOR is used), `throughput_source`, `throughput_basis`, the figure that stands in
    (STAND_IN, STAND_IN_YEARS; null where none does), `round` of a published time with `rounds_behind` (newer ones that
    anybody submitted to) and `rounds_apart` (of them, those that another option of its model is of), `price_basis`,
    `fixed_usd_per_month` (paid whatever the use; owning only), `variable_usd_per_hour` (paid per hour of use, overhead
    of interruptions included), `rent_months` and `rent_factor` (rents are means over the project: `with_rent_factor`).
    Of what is free `images_per_usd` is null. What is known not to fit (`fits`, null: not known; `memory_need_gib` by
    `needs` against `gpu_memory_gib`) is never in the answer; a workload without a model has the model `any` and no
    throughput. Raises UserError where the study's reference has no priced figure, costs nothing, or does not fit.
    """
    rows = _with_throughput(_headline_costs(costs, settings), throughput, extrapolation)
    rows = _with_rates(_with_intervals(_with_offers(rows, offers)), settings.study)
    rows = with_alternative(with_fits(rows, settings, needs or {}))
    asked = rows["price_list"].isin(list(settings.answer_prices)) | (not settings.answer_prices)
    known = rows["price_list_title"].where(rows["price_list_title"].notna(), rows["price_list"])
    machines = rows["instance"].map(lambda name: settings.titles.get(name, name)).astype(object)
    rows = rows.assign(
        persistent=~rows["purchase"].isin(INTERRUPTIBLE) | settings.accepts_interruptions,
        in_answer=asked & ~does_not_fit(rows),
        option=_names(rows, rows["instance"], rows["price_list"], pd.Series(True, rows.index)),
        title=_names(rows, machines, known, asked),
        model_title=rows["model"].map(lambda model: settings.models.get(model, model)).astype(object),
    )
    # A few hundred rows read one by one: plain objects are quicker to reach than Arrow strings.
    rows = rows.astype({name: object for name in rows.columns if pd.api.types.is_string_dtype(rows[name])})
    rows = rows.sort_values(["model", "workload", "usd", "option"], kind="stable").reset_index(drop=True)
    rows = rows.copy()  # into few blocks: columns added one by one leave many, and each row read gathers them all
    rows["is_reference"] = _references(rows, settings)
    return with_rent_factor(rows).copy()


def _headline_costs(costs: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The cost rows the answer is about, one per offer, model and workload: the asked precision, best cell first."""
    rows = costs[is_asked(costs, settings)]
    if "status" in rows.columns:
        rows = rows[rows["status"].isna() | (rows["status"] == "ok")]
    rows = rows.assign(
        model=rows["model"].astype(object).where(rows["model"].notna(), NO_MODEL),
        _other_precision=rows["precision"] != settings.precision,
        _other_framework=rows["framework"] != settings.framework,
    )
    order = ["_other_precision", "_other_framework", "images_per_usd"]
    rows = rows.sort_values(order, ascending=[True, True, False], kind="stable").drop(columns=order[:2])
    return rows.drop_duplicates([*OFFER, "model", "workload"])


def is_asked(rows: pd.DataFrame, settings: Settings) -> pd.Series:
    """Whether rows of costs or plans are of the study's headline batch of their model, or of a machine's own."""
    own = [model for model, batch in settings.batch_sizes.items() if batch is None]
    same = rows["batch_size"] == rows["model"].map(settings.batch_sizes)
    return same | rows["model"].isin(own) | rows["model"].isna()


def _with_throughput(rows: pd.DataFrame, throughput: pd.DataFrame, extrapolation: pd.DataFrame) -> pd.DataFrame:
    """`rows` with the figure behind each cost: images/s, interval, coverage, runs, source, what stands in."""
    measured = throughput[throughput["instance"].isin(rows["instance"].unique()) & throughput["status"].isin(USABLE)]
    predicted = extrapolation[extrapolation["headline"].astype(bool)]
    both = [
        measured.assign(level=LEVEL_RUNS, throughput_basis=measured["basis"]),
        predicted.assign(level=LEVEL_PREDICTION, runs=0, throughput_basis="extrapolated"),
    ]
    figures = best_figures(pd.concat(both), CELL).rename(columns={"source": "throughput_source"})
    rows = rows.drop(columns=[*BEHIND], errors="ignore")
    rows = rows.merge(figures.reindex(columns=[*CELL, *BEHIND]), on=list(CELL), how="left", validate="many_to_one")
    behind = rows["rounds_behind"].astype(float)
    apart = (behind - behind.groupby(rows["model"]).transform("min")).fillna(0.0)
    return _with_side_by_side(rows.assign(rounds_behind=behind, rounds_apart=apart))


def _with_side_by_side(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` where jobs run side by side on one machine: their figure is all of them together, not the machine's own.
    `jobs_at_once`: how many; null in costs where one job takes the machine, 1 here. `figure_images_per_s`,
    `figure_gpus`: the figure that stands behind the rate, elsewhere the rate itself, and of how many devices.
    """
    rows = rows.assign(jobs_at_once=rows["jobs_at_once"].fillna(1.0) if "jobs_at_once" in rows.columns else 1.0)
    rows = rows.assign(figure_images_per_s=rows["images_per_s"], figure_gpus=rows["gpus"].astype(float))
    side = rows["jobs_at_once"] > 1
    if side.any():
        for name, own in SIDE.items():
            rows[own] = rows[own].astype(rows[name].dtype).mask(side, rows[name])
        predicted = rows["throughput_basis"] == "extrapolated"
        rows["level"] = rows["level"].mask(side, predicted.map({True: LEVEL_PREDICTION, False: LEVEL_RUNS}))
        # A mean of runs keeps its interval, not its degrees of freedom; what stands in is told by its source.
        rows[["interval_df", STAND_IN_YEARS]] = rows[["interval_df", STAND_IN_YEARS]].astype(float).mask(side)
        rows[[*STAND_IN]] = rows[[*STAND_IN]].astype(object).mask(side)
    return rows.drop(columns=[*SIDE], errors="ignore").copy()


def _with_offers(rows: pd.DataFrame, offers: pd.DataFrame) -> pd.DataFrame:
    """The rows with RANGED, TERMS and `price_basis` of their offer, what costs nothing among them."""
    terms = [*(f"{name}{end}" for name in RANGED for end in ("", "_low", "_high")), *TERMS]
    prices = offers.rename(columns={"basis": "price_basis"}).reindex(columns=[*OFFER, "price_basis", *terms])
    rows = rows.drop(columns=terms, errors="ignore")
    return rows.merge(prices.drop_duplicates(list(OFFER)), on=list(OFFER), how="inner", validate="many_to_one")


def _with_intervals(rows: pd.DataFrame) -> pd.DataFrame:
    """Give a figure without an interval the spread that its basis has shown elsewhere, marked `assumed_interval`."""
    rows = rows.copy()
    none = rows["images_per_s"].notna() & (rows["images_per_s_low"].isna() | rows["images_per_s_high"].isna())
    weak = rows["throughput_basis"].isin(["stand_in", "extrapolated"])
    years = rows[STAND_IN_YEARS].astype(float).fillna(0.0)
    aged = np.exp(np.hypot(math.log(ASSUMED_FACTOR_STAND_IN), years * math.log(YEAR)))  # independent errors
    factor = np.where(weak, aged, ASSUMED_FACTOR)
    rows["assumed_interval"] = none
    rows["images_per_s_low"] = rows["images_per_s_low"].mask(none, rows["images_per_s"] / factor)
    rows["images_per_s_high"] = rows["images_per_s_high"].mask(none, rows["images_per_s"] * factor)
    rows["level"] = rows["level"].mask(none, LEVEL_PREDICTION)
    return rows


def _with_rates(rows: pd.DataFrame, study: str) -> pd.DataFrame:
    """What possession and an hour of use cost an option: `fixed_usd_per_month`, `variable_usd_per_hour`. Owning: the
    offer's, the fixed part borne by the hours in which the machine works (1 - downtime). Renting: nothing fixed;
    variable = hourly price at the planned use x overhead of interruptions (machine hours an hour of training).
    """
    rows = rows.copy()
    own = rows["purchase"] == "own"
    idle = rows.loc[own & rows["days_per_month"].isna(), "instance"]
    if len(idle):
        raise UserError(f"study {study}: offer 'own' of {idle.iloc[0]} has no days_per_month; expected a number")
    fixed = rows["fixed_usd_per_month"] / (1.0 - rows["downtime_share"].fillna(0.0))
    rented = rows["usd_per_hour"] * rows["spot_overhead"].fillna(1.0)
    rows["fixed_usd_per_month"] = fixed.where(own, 0.0)
    rows["variable_usd_per_hour"] = rows["variable_usd_per_hour"].where(own, rented)
    return rows


def _names(rows: pd.DataFrame, machines: pd.Series, lists: pd.Series, told: pd.Series) -> pd.Series:
    """What options are called: the machine, how it is paid where not simply rented or owned, and the price list, of
    those that are `told` only where several have the same name.
    """
    paid = machines + " (" + rows["purchase"].str.replace("_", " ") + ")"
    names = machines.where(rows["purchase"].isin(["on_demand", "own"]), paid)
    offers = rows["price_list"] + "|" + rows["purchase"]
    shared = names.map(offers.groupby(names.where(told)).nunique()) > 1
    return names.where(told & ~shared, names + " [" + lists + "]")


def _references(rows: pd.DataFrame, settings: Settings) -> pd.Series:
    """Whether a row is of its model's reference: the study's, owned, else persistent, else the cheapest an hour."""
    named, about = rows[rows["instance"] == settings.reference], f"study {settings.study}: reference"
    if settings.reference is not None and len(rows) and named.empty:
        raise UserError(
            f"{about} {settings.reference!r} has no priced figure at batch {_batches(settings)}; expected an offer of "
            "it, and a throughput of it or of the machine that it is estimated from (measure_on)"
        )
    if len(named) and does_not_fit(named).all():
        row = named.iloc[0]
        raise UserError(
            f"{about} {settings.reference!r} has devices of {row['gpu_memory_gib']:g} GiB; expected "
            f"{row['memory_need_gib']:.3g} GiB or more, which workload {row['workload']} needs on each"
        )
    if (named["usd_per_hour"] == 0).any():
        raise UserError(f"{about} {settings.reference!r} costs nothing; expected a machine with a price")
    found = named[named["in_answer"] & (named["images_per_s"] > 0)]
    found = found.assign(_rented=found["purchase"] != "own", _taken=~found["persistent"].astype(bool))
    found = found.sort_values(["_rented", "_taken", "usd_per_hour"], kind="stable").drop_duplicates("model")
    return rows["option"].eq(rows["model"].map(found.set_index("model")["option"]))


def _batches(settings: Settings) -> str:
    """The headline batch, or each model's where they differ."""
    batches = {name: f"{size or 'of its own figure'}" for name, size in settings.batch_sizes.items()}
    alike = len(set(batches.values())) == 1
    return ", ".join(dict.fromkeys(size if alike else f"{size} ({name})" for name, size in batches.items()))


def trained(options: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The options with a throughput by model, without the repetition by workload; row labels kept."""
    rows = options[options["images_per_s"] > 0].drop_duplicates(["option", "model"])
    return {str(model): part for model, part in rows.groupby("model")}


def records(rows: pd.DataFrame) -> list[Row]:
    """Rows of the options as plain values; `row` is the label by which the draws of a row are found."""
    # A tenth of the time that to_dict takes of so many columns.
    columns = {"row": rows.index.tolist()} | {str(name): rows[name].tolist() for name in rows.columns}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def same_machine(one: Row, other: Row) -> bool:
    """One machine under two price lists is one alternative."""
    return bool(one["instance"] == other["instance"] and one["purchase"] == other["purchase"])


def titled(options: pd.DataFrame, throughput: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """The options with `workload_title` (a workload without one has its key) and `unit`, what their speeds count."""
    names = options["workload"].map(lambda name: titles.get(name, name))
    units = throughput["unit"].dropna() if "unit" in throughput.columns else ()
    return options.assign(workload_title=names, unit=unit_in_words(set(units)))


def rate_of(option: Mapping[str, Any]) -> str:
    """The unit of an option's speed: `images/s`."""
    return f"{option.get('unit') or 'images'}/s"


def with_alternative(rows: pd.DataFrame) -> pd.DataFrame:
    """The options with `alternative`: rows of the same are one machine, under two price lists or in more nodes. Several
    nodes (`nodes`, null: one) are a way to use the machine that they are made of: of the same provider, device, devices
    a node and way of paying, the one whose node costs most nearly the same an hour. `option` keeps them apart.
    """
    alike, nodes = ["provider", "gpu", "devices", "purchase"], rows["nodes"].astype(float).fillna(1.0)
    node = (
        rows[["provider", "gpu", "purchase", "instance"]]
        .astype(object)
        .assign(devices=rows["gpus"] / nodes, usd=rows["usd_per_hour"] / nodes, row=rows.index)
    )
    both = node[nodes > 1].merge(node[nodes <= 1], on=alike, how="left", suffixes=("", "_single"))
    nearest = both.assign(apart=(both["usd_single"] - both["usd"]).abs()).sort_values("apart", kind="stable")
    single = nearest.drop_duplicates("row").set_index("row")["instance_single"].reindex(rows.index)
    # Nobody rents one node of it: its sizes are one alternative all the same.
    several = (
        node["provider"].astype(object)
        + " with "
        + node["gpu"].astype(object)
        + " in nodes of "
        + node["devices"].map("{:g}".format)
    )
    found = rows["instance"].astype(object).where(nodes <= 1, single.fillna(several))
    return rows.assign(alternative=found + " (" + rows["purchase"].astype(object) + ")")
