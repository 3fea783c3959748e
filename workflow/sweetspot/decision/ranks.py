"""Ranks of all options by money, time and carbon, and which of them nothing beats in both."""

import numpy as np
import pandas as pd

from sweetspot.decision.contenders import bills_decide, staying
from sweetspot.decision.options import trained
from sweetspot.decision.simulate import Draws
from sweetspot.draws import interval, shares

SAMPLED = ("images_per_s", "images_per_usd", "hours", "usd")
OPTION_COLUMNS = (
    *("option", "instance", "purchase", "price_list", "provider", "persistent", "model", "workload", "batch_size"),
    *("gpus", "precision", "usd_per_hour", "title", "in_answer", "model_title"),
)
ENERGY = (
    *("kwh", "kwh_low", "kwh_high", "kg_co2e", "kg_co2e_low", "kg_co2e_high"),
    *("power_basis", "power_source", "grid_source", "energy_lacks"),
)
RANKED = {"rank": "usd", "rank_hours": "hours", "rank_carbon": "kg_co2e"}
FRONT = (
    *("model", "workload", "option", "hours", "usd", "on_front", "dominated_by", "kg_co2e"),
    *("on_front_with_carbon", "dominated_by_with_carbon"),
)


def ranks(options: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """Rank the options of each model and workload.

    Parameters
    ----------
    options
        The table of options.
    draws
        Their samples.

    Returns
    -------
    pandas.DataFrame
        A row per option, model and workload: OPTION_COLUMNS; SAMPLED with `_low` and `_high` (90 %); `rank` by USD,
        `rank_hours` and `rank_carbon` (null: unknown), 1 is best; `p_cheapest` among the options that nobody takes
        away; ENERGY, `_low` and `_high` with every factor at that end; `basis` and `source` of the throughput,
        `price_source` and `as_of` of the price; `by_bills`: bills rank the model's options, not USD per image.

    """
    table = options[[name for name in OPTION_COLUMNS if name in options.columns]].copy()
    for name in SAMPLED:
        table[name] = options[name]
        table[f"{name}_low"], table[f"{name}_high"] = interval(getattr(draws, name))
    for rank, name in RANKED.items():
        positions = options[name].groupby([options["model"], options["workload"]]).rank(method="min")
        table[rank] = positions.astype("Int64")
    billed = {model for model, rows in trained(options).items() if bills_decide(staying(rows))}
    table = table.assign(
        **{name: options[name] for name in (*ENERGY, "basis", "as_of")},
        source=options["throughput_source"],
        price_source=options["source"],
        p_cheapest=_p_cheapest(options, draws),
        by_bills=options["model"].isin(billed),
    )
    return table.sort_values(["model", "workload", "rank"], kind="stable").reset_index(drop=True)


def _p_cheapest(options: pd.DataFrame, draws: Draws) -> np.ndarray:
    """Return the share of samples in which no persistent option of its model and workload is cheaper."""
    share = np.full(len(options), np.nan)
    persistent = options[options["persistent"]]
    for rows in persistent.groupby(["model", "workload"]).indices.values():
        labels = persistent.index[rows].to_numpy()
        share[labels] = list(shares(draws.usd[labels], labels.tolist()).values())
    return share


def dominates(objectives: np.ndarray) -> np.ndarray:
    """Return the matrix [a, b]: a is no worse than b in every objective (columns, less is better) and better in one.

    NaN never dominates and is never dominated.
    """
    first, second = objectives[:, None, :], objectives[None, :, :]
    return np.asarray((first <= second).all(axis=2) & (first < second).any(axis=2))


def frontier(options: pd.DataFrame) -> pd.DataFrame:
    """Mark the options of each model and workload that nothing beats in both time and USD (FRONT), cheapest first.

    `dominated_by`: the cheapest option that is neither slower nor more expensive; `_with_carbon`: kg CO2e is a third
    objective, null where it is unknown.
    """
    parts = [_front(rows) for _, rows in options.groupby(["model", "workload"], sort=True)]
    return pd.concat(parts, ignore_index=True)[list(FRONT)] if parts else pd.DataFrame(columns=list(FRONT))


def _front(rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows.sort_values(["usd", "hours"], kind="stable")
    names = rows["option"].to_numpy()
    for suffix, objectives in (("", ["hours", "usd"]), ("_with_carbon", ["hours", "usd", "kg_co2e"])):
        matrix = dominates(rows[objectives].to_numpy(float))
        beaten = pd.Series(matrix.any(axis=0), rows.index)
        # Rows are ordered by USD: the first that dominates is the cheapest.
        cheapest = pd.Series(names[matrix.argmax(axis=0)], rows.index, object)
        rows = rows.assign(**{f"on_front{suffix}": ~beaten, f"dominated_by{suffix}": cheapest.where(beaten, None)})
    known = rows["on_front_with_carbon"].astype("boolean").where(rows["kg_co2e"].notna())
    return rows.assign(on_front_with_carbon=known)
