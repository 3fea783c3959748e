"""The options of a study: one row per (option, model, workload) with everything the decision needs."""

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.cells import USABLE
from sweetspot.errors import UserError
from sweetspot.study.study import Study
from sweetspot.throughput.best import best_figures

# Spot and preemptible machines can be taken away; everything else stays until its user lets it go.
INTERRUPTIBLE = ("spot", "preemptible")
LEVEL_RUNS = 0.95  # throughput.parquet: t interval over runs
LEVEL_PREDICTION = 0.90  # extrapolation.parquet: prediction interval
# Factor either side of a figure that brings no interval of its own, 90 % (docs/decision.md, figures without an
# interval): published repeats of one card, model, batch and precision lie within 1.29 of their median; a stand-in
# adds one doubling of the batch, within 1.44.
ASSUMED_FACTOR = 1.29
ASSUMED_FACTOR_STAND_IN = 1.56
NO_MODEL = "any"
OFFER = ("price_list", "instance", "purchase")
CELL = ("instance", "model", "batch_size", "gpus", "precision")
FIGURE = ("images_per_s", "images_per_s_low", "images_per_s_high")
RANGES = ("usd_per_hour", "capex_usd", "months", "kw", "usd_per_kwh", "days_per_month")


def build_options(
    costs: pd.DataFrame,
    offers: pd.DataFrame,
    throughput: pd.DataFrame,
    extrapolation: pd.DataFrame,
    study: Study,
) -> pd.DataFrame:
    """One row per (option, model, workload) at the study's headline batch, sorted by model, workload, USD.

    An option is one offer: (price_list, instance, purchase). `costs`, `offers`, `throughput` and
    `extrapolation` are the tables of results/<study>/. Columns made here: `option` (label for people),
    `persistent` (bool; where the study accepts interruptions, all are), `images_per_s`, `_low`, `_high` with `level`
    (coverage of that interval), `runs`, `assumed_interval` (the figure brought none; ASSUMED_FACTOR serves),
    `throughput_source`, `throughput_basis`, `throughput_warnings`, `stand_in_*` of throughput.parquet,
    `fixed_usd_per_month` (paid whatever the use; owning only), `variable_usd_per_hour` (paid per hour of use,
    overhead of interruptions included). Rows without a price are left out; a workload without a model has the
    model `any` and no throughput. Raises UserError where the study's reference has no priced figure.
    """
    rows = _with_throughput(_headline_costs(costs, study), throughput, extrapolation)
    ranges = [name for name in _range_columns() if name in offers.columns]
    wanted = [name for name in offers.columns if name not in rows.columns or name in OFFER]
    prices = offers[[*dict.fromkeys([*wanted, *ranges, "usd_per_hour"])]].drop_duplicates(list(OFFER))
    rows = rows.drop(columns=[name for name in dict.fromkeys([*ranges, "usd_per_hour"]) if name in rows.columns])
    rows = rows.merge(prices, on=list(OFFER), how="inner", validate="many_to_one")
    rows = _with_rates(_with_intervals(rows[rows["usd_per_hour"] > 0]), study)
    rows["persistent"] = ~rows["purchase"].isin(INTERRUPTIBLE) | study.accepts_interruptions
    rows["option"] = _labels(rows)
    if study.reference is not None and len(rows) and study.reference not in set(rows["instance"]):
        raise UserError(
            f"study {study.name}: reference {study.reference!r} has no priced figure at batch "
            f"{study.cells.headline_batch_size}; expected an offer and a throughput for it"
        )
    # A few hundred rows read one by one: plain objects are quicker to reach than Arrow strings.
    rows = rows.astype({name: object for name in rows.columns if pd.api.types.is_string_dtype(rows[name])})
    rows = rows.sort_values(["model", "workload", "usd", "option"], kind="stable").reset_index(drop=True)
    return rows.copy()  # into few blocks: columns added one by one leave many, and each row read gathers them all


def _range_columns() -> list[str]:
    return [f"{name}{end}" for name in RANGES for end in ("", "_low", "_high")]


def _headline_costs(costs: pd.DataFrame, study: Study) -> pd.DataFrame:
    """The cost rows the answer is about, one per offer, model and workload: the asked precision, best cell first."""
    question = study.cells
    batch = costs["model"].map({model: question.headline(model) for model in question.model})
    asked = costs["batch_size"] == batch
    rows = costs[asked | costs["model"].isna()]
    if "status" in rows.columns:
        rows = rows[rows["status"].isna() | (rows["status"] == "ok")]
    rows = rows.assign(
        model=rows["model"].astype(object).where(rows["model"].notna(), NO_MODEL),
        _other_precision=rows["precision"] != question.precision,
        _other_framework=rows["framework"] != question.framework,
    )
    order = ["_other_precision", "_other_framework", "images_per_usd"]
    rows = rows.sort_values(order, ascending=[True, True, False], kind="stable").drop(columns=order[:2])
    return rows.drop_duplicates([*OFFER, "model", "workload"])


def _with_throughput(rows: pd.DataFrame, throughput: pd.DataFrame, extrapolation: pd.DataFrame) -> pd.DataFrame:
    """`rows` with the figure behind each cost: images/s, interval, coverage, runs, source."""
    measured = throughput[throughput["instance"].isin(rows["instance"].unique()) & throughput["status"].isin(USABLE)]
    predicted = extrapolation[extrapolation["headline"].astype(bool)]
    keep = [*CELL, *FIGURE, "level", "runs", "throughput_basis", "throughput_source", "throughput_warnings"]
    keep += [name for name in throughput.columns if name.startswith("stand_in_")]
    figures = pd.concat(
        [
            measured.assign(level=LEVEL_RUNS, throughput_basis=measured["basis"]),
            predicted.assign(level=LEVEL_PREDICTION, runs=0, throughput_basis="extrapolated"),
        ],
        ignore_index=True,
    )
    figures = best_figures(figures, CELL)
    figures = figures.rename(columns={"source": "throughput_source", "warnings": "throughput_warnings"})[keep]
    overlap = [name for name in figures.columns if name in rows.columns and name not in CELL]
    return rows.drop(columns=overlap).merge(figures, on=list(CELL), how="left", validate="many_to_one")


def _with_intervals(rows: pd.DataFrame) -> pd.DataFrame:
    """Give a figure without an interval the spread that its basis has shown elsewhere, marked `assumed_interval`."""
    rows = rows.copy()
    none = rows["images_per_s"].notna() & (rows["images_per_s_low"].isna() | rows["images_per_s_high"].isna())
    weak = rows["throughput_basis"].isin(["stand_in", "extrapolated"])
    factor = np.where(weak, ASSUMED_FACTOR_STAND_IN, ASSUMED_FACTOR)
    rows["assumed_interval"] = none
    rows["images_per_s_low"] = rows["images_per_s_low"].mask(none, rows["images_per_s"] / factor)
    rows["images_per_s_high"] = rows["images_per_s_high"].mask(none, rows["images_per_s"] * factor)
    rows["level"] = rows["level"].mask(none, LEVEL_PREDICTION)
    return rows


def _with_rates(rows: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Split each hourly rate into what use costs and what possession costs.

    Renting: variable = rate x overhead, overhead = nominal images per USD / priced images per USD.
    Owning (DESIGN.md, office hour): variable = kW x PUE x USD/kWh; fixed a month = (rate - variable) x 24 x days.
    """
    rows = rows.copy()
    own = rows["purchase"] == "own"
    idle = rows.loc[own & rows["days_per_month"].isna(), "instance"]
    if len(idle):
        raise UserError(f"study {study.name}: offer 'own' of {idle.iloc[0]} has no days_per_month; expected a number")
    energy = (rows["kw"] * rows["pue"].fillna(1.0) * rows["usd_per_kwh"]).fillna(0.0).where(own, 0.0)
    overhead = (3600.0 * rows["images_per_s"] / rows["usd_per_hour"] / rows["images_per_usd"]).fillna(1.0)
    fixed = (rows["usd_per_hour"] - energy) * HOURS_A_DAY * rows["days_per_month"]
    rows["variable_usd_per_hour"] = energy.where(own, rows["usd_per_hour"] * overhead)
    rows["fixed_usd_per_month"] = fixed.where(own, 0.0)
    return rows


def _labels(rows: pd.DataFrame) -> pd.Series:
    """Names for people: the instance, its purchase where not the usual one, its price list where that is needed."""
    usual = rows["purchase"].isin(["on_demand", "own"])
    names = rows["instance"].where(usual, rows["instance"] + " (" + rows["purchase"].str.replace("_", " ") + ")")
    offers = rows["price_list"] + "|" + rows["purchase"]
    shared = names.map(offers.groupby(names).nunique()) > 1
    return names.where(~shared, names + " [" + rows["price_list"] + "]")


def hourly(rows: pd.DataFrame, days: float | pd.Series) -> pd.Series:
    """USD an hour of use at `days` of use a month: fixed / (24 d) + variable (DESIGN.md, office hour)."""
    return rows["fixed_usd_per_month"] / (HOURS_A_DAY * days) + rows["variable_usd_per_hour"]


def trained(options: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The options with a throughput by model, without the repetition by workload; row labels kept."""
    rows = options[options["images_per_s"] > 0].drop_duplicates(["option", "model"])
    return {str(model): part for model, part in rows.groupby("model")}
