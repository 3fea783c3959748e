"""What to choose for each phase of the project, why, how sure, and what would change it."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sweetspot.decision.certainty import TIE, amount
from sweetspot.decision.counted import DOLLARS, Money, the
from sweetspot.decision.phases import OVERALL, TRAINING, PricedPhase
from sweetspot.decision.standing import standing

COLUMNS = (
    "phase", "scope", "option", "runner_up", "usd", "hours", "margin", "margin_low", "margin_high", "probability",
    "confidence", "verdict", "balanced", "reason", "would_change", "title", "balanced_title", "plan", "phase_title",
    "plan_title",
)  # fmt: skip

DEARER_HOUR = 1.1  # how much dearer by the hour the cheapest option must be to be worth a word

NEAREST = 3  # turning points that are named


TITLES = {OVERALL: "all of it together", TRAINING: "all trainings together"}


def recommend(
    phases: Sequence[PricedPhase],
    tornado: pd.DataFrame,
    money: Money = DOLLARS,
    titles: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """One row a phase: the persistent option that does it for the least money, and how sure that is.

    `scope`: the plan, or the workloads; `plan`: its name, null where there is none. `runner_up`: the cheapest
    persistent option that is another machine or way of paying than the option (`standing`); `margin` = its USD / USD of
    the option (`margin_low`, `margin_high`: 90 %), `probability` that the option, or more nodes of it, is the cheapest
    persistent one, `confidence` (clear, likely, too close to call), `title`: its name for people;
    `verdict`: that name, or too close to call and between which; `balanced`: the persistent option
    with the least USD x hours, for whom half the time is worth twice the money; `reason` and `would_change` in words;
    `phase_title`, `plan_title`: names for people of the phase and its plan, of workloads those of `titles`.
    """
    known = {**TITLES, **(titles or {})}
    rows = [
        {
            "phase": phase.name,
            "phase_title": phase.title or (TITLES if phase.plan else known).get(phase.name, phase.name),
            "scope": phase.scope,
            "plan": phase.plan,
            "plan_title": known.get(phase.plan, phase.plan) if phase.plan else None,
            **_row(phase, tornado, money),
        }
        for phase in phases
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(phase: PricedPhase, tornado: pd.DataFrame, money: Money) -> dict[str, object]:
    table, usd = phase.table, phase.usd
    if table.empty:
        return {"confidence": "clear", "verdict": phase.nobody, "reason": phase.nobody}
    found = standing(table, usd)
    field, best = found.field, table.loc[found.best]
    balanced = field.iloc[int((field["usd"] * field["hours"]).to_numpy().argmin())]
    result = {
        "option": best["option"],
        "title": best["title"],
        "usd": best["usd"],
        "hours": best["hours"],
        "probability": found.probability,
        "confidence": found.confidence,
        "balanced": balanced["option"],
        "balanced_title": balanced["title"],
        "would_change": _turning(phase, tornado, money),
    }
    if found.rival is None:
        return {**result, "verdict": best["title"], "reason": "the only one that cannot be taken away"}
    second = table.loc[found.rival]
    close = found.confidence == TIE
    return {
        **result,
        "runner_up": second["option"],
        "margin": float(second["usd"] / best["usd"]),
        "margin_low": found.low,
        "margin_high": found.high,
        "verdict": f"too close to call: {the(best['title'])} or {the(second['title'])}" if close else best["title"],
        "reason": _reason(best, second, balanced, table, field, money),
    }


def _reason(
    best: pd.Series, second: pd.Series, balanced: pd.Series, table: pd.DataFrame, field: pd.DataFrame, money: Money
) -> str:
    # A bill by the month has the same hours everywhere: then they say nothing.
    timed = field["hours"].max() > 1.001 * field["hours"].min()
    own, others = (f" and {amount(best['hours'])} h", f" and takes {amount(second['hours'])} h") if timed else ("", "")
    parts = [
        f"{amount(money.of(best['usd']))} {money.code}{own}; {the(second['title'])} costs "
        f"{second['usd'] / best['usd']:.2f} times as much{others}"
    ]
    dear = _dearer_hour(best, field)
    if dear:
        parts.append(dear)
    fastest = field.sort_values(["hours", "usd"], kind="stable").iloc[0]
    if timed and fastest["option"] not in (best["option"], second["option"]):
        parts.append(
            f"the fastest, {the(fastest['title'])}, takes {amount(fastest['hours'])} h for "
            f"{fastest['usd'] / best['usd']:.1f} times the money"
        )
    if balanced["option"] != best["option"]:
        parts.append(
            f"where half the time is worth twice the money, {the(balanced['title'])} "
            f"({amount(balanced['hours'])} h for {amount(money.of(balanced['usd']))} {money.code})"
        )
    if best.get("planned_hours", 0) > 0:
        of = "its planned use" if best.get("boxes", 1) <= 1 else f"planned use that each of the {best['boxes']:g} has"
        parts.append(f"it needs {amount(best['hours'])} of the {amount(best['planned_hours'])} hours of {of}")
    taken = table[~table["persistent"]]
    if len(taken) and best["persistent"]:
        spot = taken.iloc[0]
        apart = 100 * (spot["usd"] / best["usd"] - 1)
        word = "less" if apart < 0 else "more"
        parts.append(f"{the(spot['title'])}, which can be taken away, costs {abs(apart):.0f} % {word}")
    return "; ".join(parts)


def _dearer_hour(best: pd.Series, field: pd.DataFrame) -> str:
    """What a table of prices hides: the cheapest hour, where it is below the best option's and its work is dearer."""
    if "usd_per_hour" not in field.columns:
        return ""
    cheap = field.sort_values(["usd_per_hour", "usd"], kind="stable").iloc[0]
    dearer = best["usd_per_hour"] / cheap["usd_per_hour"]
    if not dearer > DEARER_HOUR:
        return ""
    return (
        f"its hour costs {dearer:.1f} times that of {the(cheap['title'])}, the cheapest hour, whose work costs "
        f"{cheap['usd'] / best['usd']:.2f} times as much"
    )


def _turning(phase: PricedPhase, tornado: pd.DataFrame, money: Money) -> str:
    """What would change the choice: of a plan what turns it, else what turns one job of the phase's models."""
    if phase.would_change is None:
        return _would_change(tornado[tornado["model"].isin(phase.models)], money)
    return phase.would_change


def _would_change(tornado: pd.DataFrame, money: Money) -> str:
    """The three assumptions whose turning point is nearest, over the models of the phase."""
    if tornado.empty:
        return ""
    known = tornado[tornado["flip_factor"].notna()]
    known = known.assign(distance=np.abs(np.log(known["flip_factor"].astype(float)))).sort_values(
        "distance", kind="stable"
    )
    nearest = known.drop_duplicates("assumption").head(NEAREST)
    told = [(row, *money.counted(row["flip_value"], row["unit"])) for row in nearest.to_dict("records")]
    return "; ".join(
        f"{row['assumption']}: at {amount(value)} {unit} ({row['model_title']})" for row, value, unit in told
    )
