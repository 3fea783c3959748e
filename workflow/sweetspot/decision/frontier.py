"""Which options nobody should choose: time against money, with and without the risks of an option."""

import numpy as np
import pandas as pd

from sweetspot.decision.simulate import Draws
from sweetspot.study.purchases import INTERRUPTIBLE

COLUMNS = (
    "model", "workload", "option", "instance", "purchase", "persistent", "hours", "usd", "interruptible", "estimated",
    "risk", "on_front", "dominated_by", "on_front_with_risk", "dominated_by_with_risk", "p_on_front", "basis",
    "kwh", "kg_co2e", "power_basis", "on_front_with_carbon", "dominated_by_with_carbon",
)  # fmt: skip
MAX_DRAWS = 1000  # of a share of draws; its standard error is at most 1.6 percentage points


def dominates(objectives: np.ndarray) -> np.ndarray:
    """Matrix [a, b]: a dominates b, every objective of a <= that of b and one <.

    `objectives` is (options, objectives), less being better. NaN never dominates and is never dominated.
    """
    one, other = objectives[:, None, :], objectives[None, :, :]
    return np.asarray((one <= other).all(axis=2) & (one < other).any(axis=2))


def frontier(options: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """One row per (model, workload, option), cheapest first.

    `on_front` is time against USD alone; `dominated_by` names the cheapest option that is neither slower nor dearer.
    `interruptible` (spot, preemptible) and `estimated` (throughput extrapolated) are risks: with them as further
    objectives an option is dominated only by one that adds no risk (`on_front_with_risk`, `dominated_by_with_risk`).
    kg CO2e is a third objective (`on_front_with_carbon`, `dominated_by_with_carbon`) among the options whose carbon is
    known; null for the others. `p_on_front`: share of the draws in which the option is on the front of time and USD.
    `risk` in words.
    """
    table = options.assign(
        interruptible=options["purchase"].isin(INTERRUPTIBLE),
        estimated=options["throughput_basis"].eq("extrapolated"),
    )
    table["risk"] = [
        " and ".join(word for word, given in (("interruption", one), ("extrapolated", other)) if given) or "none"
        for one, other in zip(table["interruptible"], table["estimated"], strict=True)
    ]
    parts = [_front(rows, draws) for _, rows in table.groupby(["model", "workload"], sort=True)]
    return pd.concat(parts, ignore_index=True)[list(COLUMNS)] if parts else pd.DataFrame(columns=list(COLUMNS))


def _front(rows: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    rows = rows.sort_values(["usd", "hours"], kind="stable")
    money_and_time = rows[["hours", "usd"]].to_numpy(float)
    with_risk = rows[["hours", "usd", "interruptible", "estimated"]].to_numpy(float)
    names = rows["option"].to_numpy()
    found = rows.copy()
    for objectives, suffix in ((money_and_time, ""), (with_risk, "_with_risk")):
        matrix = dominates(objectives)
        beaten = np.asarray(matrix.any(axis=0))
        # Rows are ordered by USD: the first that dominates is the cheapest.
        found[f"on_front{suffix}"] = ~beaten
        found[f"dominated_by{suffix}"] = pd.Series(names[matrix.argmax(axis=0)], rows.index, object).where(beaten, None)
    carbon = rows[["hours", "usd", "kg_co2e"]].to_numpy(float)
    known = ~np.isnan(carbon[:, 2])
    # One of unknown carbon beats none and is beaten by none: no place can be said of it.
    matrix = dominates(carbon) & known[:, None]
    beaten = pd.Series(matrix.any(axis=0), rows.index)
    found["on_front_with_carbon"] = (~beaten).astype("boolean").where(known)
    found["dominated_by_with_carbon"] = pd.Series(names[matrix.argmax(axis=0)], rows.index, object).where(beaten, None)
    found["p_on_front"] = _share_on_front(draws, rows.index.to_numpy())
    return found


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
