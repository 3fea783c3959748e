"""What to choose for each phase of the project, why, how sure, and what would change it."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sweetspot.decision.headline import confidence
from sweetspot.decision.simulate import Draws, interval

COLUMNS = (
    "phase", "option", "runner_up", "usd", "hours", "margin", "margin_low", "margin_high", "probability", "confidence",
    "verdict", "reason", "would_change", "workloads",
)  # fmt: skip


def recommend(
    options: pd.DataFrame, draws: Draws, phases: Mapping[str, Sequence[str]], tornado: pd.DataFrame
) -> pd.DataFrame:
    """One row a phase: the persistent option that does its workloads for the least money, and how sure that is.

    `phases`: workloads of each phase, by name; a phase without any in `options` is left out. An option must do all
    workloads (and their models) of a phase. `margin` = USD of the runner-up / USD of the option (`margin_low`,
    `margin_high`: 90 %), `probability` that it is the cheapest persistent option, `confidence` (clear, likely, too
    close to call), `verdict`: the option, or too close to call and between which; `reason` and `would_change` in words.
    """
    rows = []
    for phase, workloads in phases.items():
        found = _phase(options[options["workload"].isin(list(workloads))], draws)
        if found is None:
            continue
        table, usd = found
        rows.append({"phase": phase, "workloads": ", ".join(workloads), **_row(table, usd, tornado)})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _phase(rows: pd.DataFrame, draws: Draws) -> tuple[pd.DataFrame, np.ndarray] | None:
    """USD and hours of each option summed over the phase, cheapest first, with the draws of its USD."""
    if rows.empty:
        return None
    jobs = rows[["model", "workload"]].drop_duplicates().shape[0]
    groups = {name: part for name, part in rows.groupby("option", sort=False) if len(part) == jobs}
    groups = {name: part for name, part in groups.items() if np.isfinite(part[["usd", "hours"]].to_numpy(float)).all()}
    if not groups:
        return None
    table = pd.DataFrame(
        [
            {
                "option": name,
                "instance": part["instance"].iloc[0],
                "persistent": bool(part["persistent"].iloc[0]),
                "usd": part["usd"].sum(),
                "hours": part["hours"].sum(),
            }
            for name, part in groups.items()
        ]
    )
    usd = np.stack([draws.usd[part.index].sum(axis=0) for part in groups.values()])
    order = table.sort_values(["usd", "option"], kind="stable").index.to_numpy()
    return table.loc[order].reset_index(drop=True), usd[order]


def _row(table: pd.DataFrame, usd: np.ndarray, tornado: pd.DataFrame) -> dict[str, object]:
    kept = table[table["persistent"]]
    # Where everything can be taken away there is nothing better to recommend than the cheapest.
    field = kept if len(kept) else table
    best = field.iloc[0]
    drawn = usd[field.index.to_numpy()]
    probability = float(np.mean(drawn.argmin(axis=0) == 0))
    result = {"option": best["option"], "usd": best["usd"], "hours": best["hours"], "probability": probability}
    result["confidence"] = confidence(probability)
    result["would_change"] = _would_change(tornado)
    if len(field) == 1:
        return {**result, "confidence": "clear", "verdict": best["option"], "reason": "the only persistent option"}
    second = field.iloc[1]
    low, high = interval(drawn[1] / drawn[0])
    close = result["confidence"] == "too close to call"
    return {
        **result,
        "runner_up": second["option"],
        "margin": float(second["usd"] / best["usd"]),
        "margin_low": float(low),
        "margin_high": float(high),
        "verdict": f"too close to call: {best['option']} or {second['option']}" if close else best["option"],
        "reason": _reason(best, second, table, field),
    }


def _reason(best: pd.Series, second: pd.Series, table: pd.DataFrame, field: pd.DataFrame) -> str:
    parts = [
        f"{best['usd']:,.0f} USD and {best['hours']:,.0f} h; {second['option']} costs "
        f"{second['usd'] / best['usd']:.2f} times as much and takes {second['hours']:,.0f} h"
    ]
    fastest = field.sort_values(["hours", "usd"], kind="stable").iloc[0]
    if fastest["option"] not in (best["option"], second["option"]):
        parts.append(
            f"the fastest, {fastest['option']}, takes {fastest['hours']:,.0f} h for {fastest['usd'] / best['usd']:.1f} "
            "times the money"
        )
    taken = table[~table["persistent"]]
    if len(taken) and best["persistent"]:
        spot = taken.iloc[0]
        word = "less" if spot["usd"] < best["usd"] else "more"
        parts.append(
            f"{spot['option']}, which can be taken away, costs {abs(1 - spot['usd'] / best['usd']):.0%} {word}"
        )
    return "; ".join(parts)


def _would_change(tornado: pd.DataFrame) -> str:
    """The three assumptions whose turning point is nearest, over all models."""
    if tornado.empty:
        return ""
    known = tornado[tornado["flip_factor"].notna()]
    known = known.assign(distance=np.abs(np.log(known["flip_factor"].astype(float)))).sort_values(
        "distance", kind="stable"
    )
    nearest = known.drop_duplicates("assumption").head(3)
    return "; ".join(
        f"{row.assumption}: at {row.flip_value:.3g} {row.unit} ({row.model})" for row in nearest.itertuples()
    )
