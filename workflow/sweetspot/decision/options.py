"""The options of a study: one row per (option, model, workload) with everything the decision needs."""

import numpy as np
import pandas as pd

from sweetspot.cells import BASES
from sweetspot.config import Study
from sweetspot.errors import UserError

# Spot and preemptible machines can be taken away; everything else stays until its user lets it go.
INTERRUPTIBLE = ("spot", "preemptible")
LEVEL_RUNS = 0.95  # throughput.parquet: t interval over runs
LEVEL_PREDICTION = 0.90  # extrapolation.parquet: prediction interval
HOURS_A_DAY = 24.0
OFFER = ("price_list", "instance", "purchase")
CELL = ("instance", "model", "batch_size", "gpus", "precision")
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
    `persistent` (bool), `images_per_s`, `_low`, `_high` with `level` (coverage of that interval), `runs`,
    `fixed_usd_per_month` (paid whatever the use; owning only), `variable_usd_per_hour` (paid per hour of use,
    overhead of interruptions included). Rows without a price or a throughput are left out.
    Raises UserError where nothing is left, or where the study's reference has no offer.
    """
    rows = _headline_costs(costs, study)
    rows = _with_throughput(rows, throughput, extrapolation)
    wanted = [column for column in offers.columns if column not in rows.columns or column in OFFER]
    ranges = [name for name in _range_columns() if name in offers.columns]
    prices = offers[[*dict.fromkeys([*wanted, *ranges, "usd_per_hour"])]].drop_duplicates(list(OFFER))
    rows = rows.drop(columns=[name for name in (*ranges, "usd_per_hour") if name in rows.columns])
    rows = rows.merge(prices, on=list(OFFER), how="inner", validate="many_to_one")
    rows = rows[(rows["usd_per_hour"] > 0) & (rows["images_per_s"] > 0)]
    if rows.empty:
        raise UserError(
            f"study {study.name}: no cell at batch {study.cells.headline_batch_size} has both a throughput and a price;"
            " expected at least one offer for an instance with a figure"
        )
    rows = _with_rates(rows, study)
    rows["persistent"] = ~rows["purchase"].isin(INTERRUPTIBLE)
    rows["option"] = _labels(rows)
    if study.reference is not None and study.reference not in set(rows["instance"]):
        raise UserError(
            f"study {study.name}: reference {study.reference!r} has no priced throughput; expected an offer"
        )
    return rows.sort_values(["model", "workload", "usd", "option"], kind="stable").reset_index(drop=True)


def _range_columns() -> list[str]:
    return [f"{name}{end}" for name in RANGES for end in ("", "_low", "_high")]


def _headline_costs(costs: pd.DataFrame, study: Study) -> pd.DataFrame:
    """The cost rows the answer is about, one per offer, model and workload: the asked precision, best cell first."""
    question = study.cells
    rows = costs[(costs["batch_size"] == question.headline_batch_size) & costs["model"].isin(question.model)]
    if "status" in rows.columns:
        rows = rows[rows["status"].isna() | (rows["status"] == "ok")]
    rows = rows[rows["images_per_usd"] > 0]
    preference = rows.assign(
        _other_precision=rows["precision"] != question.precision,
        _other_framework=rows["framework"] != question.framework,
    ).sort_values(
        ["_other_precision", "_other_framework", "images_per_usd"], ascending=[True, True, False], kind="stable"
    )
    rows = preference.drop(columns=["_other_precision", "_other_framework"])
    return rows.drop_duplicates([*OFFER, "model", "workload"])


def _with_throughput(rows: pd.DataFrame, throughput: pd.DataFrame, extrapolation: pd.DataFrame) -> pd.DataFrame:
    """`rows` with the figure behind each cost: images/s, interval, coverage, runs, source."""
    measured = throughput[throughput["instance"].isin(rows["instance"].unique()) & (throughput["status"] == "ok")]
    measured = measured.assign(level=LEVEL_RUNS)
    predicted = extrapolation[extrapolation["headline"].astype(bool)] if "headline" in extrapolation else extrapolation
    predicted = predicted.assign(level=LEVEL_PREDICTION, runs=np.nan, basis="extrapolated")
    keep = [*CELL, "images_per_s", "images_per_s_low", "images_per_s_high", "level", "runs", "basis", "source"]
    tables = [table[[name for name in keep if name in table.columns]] for table in (measured, predicted) if len(table)]
    if not tables:
        return rows.iloc[:0]
    figures = pd.concat(tables, ignore_index=True)
    figures["_figure_basis"] = figures.pop("basis")
    # A measured figure of the very cell is better evidence than a prediction for it; then the faster variant.
    figures = figures.assign(_order=figures["_figure_basis"].map({name: n for n, name in enumerate(BASES)}))
    figures = figures.sort_values(["_order", "images_per_s"], ascending=[True, False], kind="stable")
    figures = figures.drop_duplicates(list(CELL)).drop(columns=["_order"])
    overlap = [name for name in figures.columns if name in rows.columns and name not in CELL]
    merged = rows.drop(columns=overlap).merge(figures, on=list(CELL), how="inner", validate="many_to_one")
    return merged.rename(columns={"source": "throughput_source", "_figure_basis": "throughput_basis"})


def _with_rates(rows: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Split each hourly rate into what use costs and what possession costs.

    Renting: variable = rate x overhead, overhead = nominal images per USD / priced images per USD.
    Owning (DESIGN.md, office hour): variable = kW x PUE x USD/kWh; fixed a month = (rate - variable) x 24 x days.
    """
    rows = rows.copy()
    own = rows["purchase"] == "own"
    days = rows["days_per_month"].where(own)
    energy = (rows["kw"] * rows["pue"].fillna(1.0) * rows["usd_per_kwh"]).where(own, 0.0).fillna(0.0)
    overhead = (3600.0 * rows["images_per_s"] / rows["usd_per_hour"]) / rows["images_per_usd"]
    fixed = (rows["usd_per_hour"] - energy) * HOURS_A_DAY * days
    missing = rows.loc[own & days.isna(), "instance"]
    if len(missing):
        raise UserError(
            f"study {study.name}: offer 'own' of {missing.iloc[0]} has no days_per_month; expected a number"
        )
    rows["variable_usd_per_hour"] = energy.where(own, rows["usd_per_hour"] * overhead)
    rows["fixed_usd_per_month"] = fixed.where(own, 0.0)
    return rows


def _labels(rows: pd.DataFrame) -> pd.Series:
    """Names for people: the instance, its purchase where not the usual one, its price list where that is needed."""
    usual = rows["purchase"].isin(["on_demand", "own"])
    names = rows["instance"].where(usual, rows["instance"] + " (" + rows["purchase"] + ")")
    lists = rows.assign(_name=names).groupby("_name")["price_list"].nunique()
    shared = names.isin(lists[lists > 1].index)
    return names.where(~shared, names + " [" + rows["price_list"] + "]")


def hourly(rows: pd.DataFrame, days: float | pd.Series) -> pd.Series:
    """USD an hour of use at `days` of use a month: fixed / (24 d) + variable (DESIGN.md, office hour)."""
    return rows["fixed_usd_per_month"] / (HOURS_A_DAY * days) + rows["variable_usd_per_hour"]
