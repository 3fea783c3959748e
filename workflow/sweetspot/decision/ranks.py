"""Ranks of all options by money, time and carbon; who beats whom; and what nothing beats in both."""

from typing import Any

import numpy as np
import pandas as pd

from sweetspot.cells import INTERRUPTIBLE
from sweetspot.decision.contenders import bills_decide, staying
from sweetspot.decision.options import trained
from sweetspot.decision.simulate import Draws
from sweetspot.draws import interval, shares

FIGURES = ("images_per_s", "images_per_usd", "hours", "usd")
KEPT = (
    "option", "instance", "purchase", "price_list", "provider", "persistent", "model", "workload", "batch_size", "gpus",
    "precision", "usd_per_hour", "title", "in_answer", "model_title",
)  # fmt: skip
ENERGY = (
    "kwh", "kwh_low", "kwh_high", "kg_co2e", "kg_co2e_low", "kg_co2e_high", "power_basis", "power_source",
    "grid_source", "energy_lacks",
)  # fmt: skip
COLUMNS = (
    "model", "workload", "option", "instance", "purchase", "persistent", "hours", "usd", "interruptible", "estimated",
    "risk", "on_front", "dominated_by", "on_front_with_risk", "dominated_by_with_risk", "p_on_front", "basis",
    "kwh", "kg_co2e", "power_basis", "on_front_with_carbon", "dominated_by_with_carbon",
)  # fmt: skip
RISKS = ("none", "extrapolated", "interruption", "interruption and extrapolated")
MAX_DRAWS = 1000  # of a share of draws; its standard error is at most 1.6 percentage points


def ranks(options: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """One row per (option, model, workload) with figures, 90 % intervals and places. Columns: those that name the
    option, `images_per_s`, `images_per_usd`, `hours`, `usd` with `_low`/`_high`; `rank` (by USD, 1 = cheapest),
    `rank_hours` (1 = fastest), `rank_persistent` and `rank_hours_persistent` (among options that nobody takes away;
    null for the others), `p_cheapest` (among the persistent), `basis`, `source` of the throughput, `price_source`,
    `as_of` of the price. ENERGY: as in costs and offers, `_low` and `_high` with every factor at that end (no 90 %
    interval); `rank_carbon` (1 = least kg CO2e; null where it is not known); `by_bills`: bills rank the model's
    options, not USD per image (`bills_decide`).
    """
    table = options[[name for name in KEPT if name in options.columns]].copy()
    for name in FIGURES:
        table[name] = options[name]
        table[f"{name}_low"], table[f"{name}_high"] = interval(getattr(draws, name))
    for name, column in (("usd", "rank"), ("hours", "rank_hours"), ("kg_co2e", "rank_carbon")):
        for end, values in (("", options[name]), ("_persistent", options[name].where(options["persistent"]))):
            places = values.groupby([options["model"], options["workload"]]).rank(method="min")
            table[f"{column}{end}"] = places.astype("Int64")
    table = table.drop(columns="rank_carbon_persistent")
    billed = {model for model, rows in trained(options).items() if bills_decide(staying(rows))}
    found = table.assign(
        **{name: options[name] for name in (*ENERGY, "basis", "as_of")}, source=options["throughput_source"],
        price_source=options["source"], p_cheapest=_p_cheapest(options, draws), by_bills=options["model"].isin(billed),
    )  # fmt: skip
    return found.sort_values(["model", "workload", "rank"], kind="stable").reset_index(drop=True)


def _p_cheapest(options: pd.DataFrame, draws: Draws) -> np.ndarray:
    """Share of draws in which no persistent option of its model and workload is cheaper than a persistent one."""
    share = np.full(len(options), np.nan)
    persistent = options[options["persistent"]]
    for rows in persistent.groupby(["model", "workload"]).indices.values():
        where = persistent.index[rows].to_numpy()
        share[where] = list(shares(draws.usd[where], where.tolist()).values())
    return share


def pairs(options: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """P(A cheaper than B) and P(A faster than B) for every ordered pair of options of a model. Columns: model, a, b,
    `p_cheaper` (USD an image), `p_faster` (images/s). A tie counts as half, so that the two orders of a pair add to 1.
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


def dominates(objectives: np.ndarray) -> np.ndarray:
    """Matrix [a, b]: a dominates b, every objective of a <= that of b and one <. `objectives` is (options, objectives),
    less being better. NaN never dominates and is never dominated.
    """
    one, other = objectives[:, None, :], objectives[None, :, :]
    return np.asarray((one <= other).all(axis=2) & (one < other).any(axis=2))


def frontier(options: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """One row per (model, workload, option), cheapest first. `on_front` is time against USD alone; `dominated_by` names
    the cheapest option that is neither slower nor dearer. `interruptible` (spot, preemptible) and `estimated`
    (throughput extrapolated) are risks: with them as further objectives an option is dominated only by one that adds no
    risk (`on_front_with_risk`, `dominated_by_with_risk`). kg CO2e is a third objective (`on_front_with_carbon`,
    `dominated_by_with_carbon`) among the options whose carbon is known; null for the others. `p_on_front`: share of the
    draws in which the option is on the front of time and USD. `risk` in words.
    """
    taken, estimated = options["purchase"].isin(INTERRUPTIBLE), options["throughput_basis"].eq("extrapolated")
    risk = (2 * taken + estimated).map(dict(enumerate(RISKS)))
    table = options.assign(interruptible=taken, estimated=estimated, risk=risk)
    parts = [_front(rows, draws) for _, rows in table.groupby(["model", "workload"], sort=True)]
    return pd.concat(parts, ignore_index=True)[list(COLUMNS)] if parts else pd.DataFrame(columns=list(COLUMNS))


def _front(rows: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    rows = rows.sort_values(["usd", "hours"], kind="stable")
    names, found = rows["option"].to_numpy(), dict[str, Any](p_on_front=_share_on_front(draws, rows.index.to_numpy()))
    for suffix, more in (("", []), ("_with_risk", ["interruptible", "estimated"]), ("_with_carbon", ["kg_co2e"])):
        matrix = dominates(rows[["hours", "usd", *more]].to_numpy(float))
        beaten = pd.Series(matrix.any(axis=0), rows.index)
        # Rows are ordered by USD: the first that dominates is the cheapest.
        found[f"dominated_by{suffix}"] = pd.Series(names[matrix.argmax(axis=0)], rows.index, object).where(beaten, None)
        found[f"on_front{suffix}"] = ~beaten
    # One of unknown carbon beats none and is beaten by none: no place can be said of it.
    found["on_front_with_carbon"] = found["on_front_with_carbon"].astype("boolean").where(rows["kg_co2e"].notna())
    return rows.assign(**found)


def _share_on_front(draws: Draws, where: np.ndarray) -> np.ndarray:
    """Share of draws in which each row is on the front: cheaper than everything that is faster."""
    hours, usd = draws.hours[where, :MAX_DRAWS], draws.usd[where, :MAX_DRAWS]
    order = np.lexsort((usd, hours), axis=0)
    hours, sorted_usd = (np.take_along_axis(part, order, axis=0) for part in (hours, usd))
    best_before = np.minimum.accumulate(sorted_usd, axis=0)
    on_front = np.ones_like(sorted_usd, dtype=bool)
    on_front[1:] = sorted_usd[1:] < best_before[:-1]
    # Two equal points are both on the front.
    on_front[1:] |= (sorted_usd[1:] == sorted_usd[:-1]) & (hours[1:] == hours[:-1]) & on_front[:-1]
    back = np.empty_like(on_front)
    np.put_along_axis(back, order, on_front, axis=0)
    return back.mean(axis=1)
