"""Order of the options by money and by time, and how sure that order is."""

import numpy as np
import pandas as pd

from sweetspot.decision.options import trained
from sweetspot.decision.simulate import Draws, interval
from sweetspot.decision.standing import shares

FIGURES = ("images_per_s", "images_per_usd", "hours", "usd")
KEPT = (
    "option", "instance", "purchase", "price_list", "provider", "persistent", "model", "workload", "batch_size", "gpus",
    "precision", "usd_per_hour", "title", "in_answer", "model_title",
)  # fmt: skip
ENERGY = (
    "kwh", "kwh_low", "kwh_high", "kg_co2e", "kg_co2e_low", "kg_co2e_high", "power_basis", "power_source",
    "grid_source", "energy_lacks",
)  # fmt: skip


def ranks(options: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """One row per (option, model, workload) with figures, 90 % intervals and places.

    Columns: those that name the option, `images_per_s`, `images_per_usd`, `hours`, `usd` with `_low`/`_high`; `rank`
    (by USD, 1 = cheapest), `rank_hours` (1 = fastest), `rank_persistent` and `rank_hours_persistent` (among options
    that nobody takes away; null for the others), `p_cheapest` (among the persistent), `basis`, `source` of the
    throughput, `price_source`, `as_of` of the price. ENERGY: as in costs and offers, `_low` and `_high` with every
    factor at that end (no 90 % interval); `rank_carbon` (1 = least kg CO2e; null where it is not known).
    """
    table = options[[name for name in KEPT if name in options.columns]].copy()
    for name in FIGURES:
        table[name] = options[name]
        table[f"{name}_low"], table[f"{name}_high"] = interval(getattr(draws, name))
    group = [options["model"], options["workload"]]
    kept = options["persistent"]
    for name, column in (("usd", "rank"), ("hours", "rank_hours")):
        table[column] = _places(options[name], group)
        table[f"{column}_persistent"] = _places(options[name].where(kept), group)
    table[list(ENERGY)] = options[list(ENERGY)]
    table["rank_carbon"] = _places(options["kg_co2e"], group)
    table["p_cheapest"] = _p_cheapest(options, draws)
    table["basis"] = options["basis"]
    table["source"] = options["throughput_source"]
    table["price_source"] = options["source"]
    table["as_of"] = options["as_of"]
    return table.sort_values(["model", "workload", "rank"], kind="stable").reset_index(drop=True)


def _places(values: pd.Series, group: list[pd.Series]) -> pd.Series:
    return values.groupby(group).rank(method="min").astype("Int64")


def _p_cheapest(options: pd.DataFrame, draws: Draws) -> np.ndarray:
    """Share of draws in which no persistent option of its model and workload is cheaper than a persistent one."""
    share = np.full(len(options), np.nan)
    persistent = options[options["persistent"]]
    for rows in persistent.groupby(["model", "workload"]).indices.values():
        where = persistent.index[rows].to_numpy()
        share[where] = list(shares(draws.usd[where], where.tolist()).values())
    return share


def pairs(options: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """P(A cheaper than B) and P(A faster than B) for every ordered pair of options of a model.

    Columns: model, a, b, `p_cheaper` (USD an image), `p_faster` (images/s). A tie counts as half, so that the two
    orders of a pair add to 1.
    """
    parts = []
    for model, rows in trained(options).items():
        where, names = rows.index.to_numpy(), rows["option"].to_numpy()
        cheaper, faster = _beats(draws.images_per_usd[where]), _beats(draws.images_per_s[where])
        a, b = np.nonzero(~np.eye(len(names), dtype=bool))
        found = {"a": names[a], "b": names[b], "p_cheaper": cheaper[a, b], "p_faster": faster[a, b]}
        parts.append(pd.DataFrame({"model": model, **found}))
    columns = ["model", "a", "b", "p_cheaper", "p_faster"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _beats(figures: np.ndarray) -> np.ndarray:
    """Matrix [a, b]: share of draws in which row a is above row b, a tie counted half."""
    size, draws = figures.shape
    share = np.full((size, size), 0.5)
    for place in range(size - 1):
        one, others = figures[place], figures[place + 1 :]
        above, below = np.count_nonzero(one > others, axis=1), np.count_nonzero(one < others, axis=1)
        share[place, place + 1 :] = 0.5 + 0.5 * (above - below) / draws
        share[place + 1 :, place] = 1.0 - share[place, place + 1 :]
    return share
