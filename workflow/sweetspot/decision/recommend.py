"""What to choose for each phase of the project, and how sure that is."""

from collections.abc import Mapping, Sequence

import pandas as pd

from sweetspot.decision.counted import TIE, the
from sweetspot.decision.phases import OVERALL, TRAINING, PricedPhase
from sweetspot.decision.standing import standing

COLUMNS = (
    "phase", "scope", "option", "runner_up", "usd", "hours", "margin", "margin_low", "margin_high", "p_cheapest",
    "confidence", "verdict", "balanced", "title", "balanced_title", "plan", "phase_title", "plan_title",
)  # fmt: skip

TITLES = {OVERALL: "all of it together", TRAINING: "all trainings together"}


def recommend(phases: Sequence[PricedPhase], titles: Mapping[str, str] | None = None) -> pd.DataFrame:
    """One row a phase: the persistent option that does it for the least money, and how sure that is.

    `scope`: the plan, or the workloads; `plan`: its name, null where there is none. `runner_up`: the cheapest
    persistent option that is another machine or way of paying than the option (`standing`); `margin` = its USD / USD of
    the option (`margin_low`, `margin_high`: 90 %), `p_cheapest` that the option, or more nodes of it, is the cheapest
    persistent one, `confidence` (clear, likely, too close to call), `title`: its name for people;
    `verdict`: that name, or too close to call and between which; `balanced`: the persistent option
    with the least USD x hours, for whom half the time is worth twice the money;
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
            **_row(phase),
        }
        for phase in phases
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(phase: PricedPhase) -> dict[str, object]:
    table, usd = phase.table, phase.usd
    if table.empty:
        return {"confidence": "clear", "verdict": phase.nobody}
    found = standing(table, usd)
    field, best = found.field, table.loc[found.best]
    balanced = field.iloc[int((field["usd"] * field["hours"]).to_numpy().argmin())]
    result = {
        "option": best["option"],
        "title": best["title"],
        "usd": best["usd"],
        "hours": best["hours"],
        "p_cheapest": found.p_cheapest,
        "confidence": found.confidence,
        "balanced": balanced["option"],
        "balanced_title": balanced["title"],
    }
    if found.rival is None:
        return {**result, "verdict": best["title"]}
    second = table.loc[found.rival]
    close = found.confidence == TIE
    return {
        **result,
        "runner_up": second["option"],
        "margin": float(second["usd"] / best["usd"]),
        "margin_low": found.low,
        "margin_high": found.high,
        "verdict": f"too close to call: {the(best['title'])} or {the(second['title'])}" if close else best["title"],
    }
