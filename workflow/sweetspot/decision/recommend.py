"""What to choose for each phase of the project, and how sure that is."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.counted import DOLLARS, TIE, Money, amount, span, the
from sweetspot.decision.simulate import Draws
from sweetspot.decision.standing import standing

COLUMNS = (
    "phase", "scope", "option", "runner_up", "usd", "hours", "margin", "margin_low", "margin_high", "p_cheapest",
    "confidence", "verdict", "balanced", "title", "balanced_title", "plan", "phase_title", "plan_title",
)  # fmt: skip

TITLES: dict[str, str] = {}


class PricedPhase(NamedTuple):
    """Options in time, cheapest first, and their draws."""

    name: str
    scope: str
    table: pd.DataFrame
    usd: np.ndarray
    models: tuple[str, ...]
    nobody: str = ""
    plan: str | None = None
    title: str = ""


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


def deadline_phases(
    options: pd.DataFrame, draws: Draws, hours: Sequence[float], money: Money = DOLLARS
) -> Iterator[PricedPhase]:
    """One phase for each workload and deadline (`hours`), shortest first: the options that finish within it.

    options: `build_options`. An option counts by its central hours; the USD drawn are those of its draws in time, and
    infinite where a draw is late, so that the probability of the recommendation is that of the cheapest option in time.
    Where no persistent option is fast enough the table is empty and `nobody` says which is the fastest.
    """
    titled = "workload_title" in options.columns
    for workload, rows in options.dropna(subset=["hours", "usd"]).groupby("workload", sort=True):
        models = tuple(rows["model"].unique())
        for deadline in sorted(hours):
            name = f"{workload} within {span(deadline)}"
            title = f"{rows['workload_title'].iloc[0]}, within {span(deadline)}" if titled else ""
            kept = rows[rows["hours"] <= deadline].sort_values(["usd", "option"], kind="stable")
            if not kept["persistent"].any():
                yield PricedPhase(
                    name, str(workload), kept.head(0), np.empty((0, 0)), models, _nobody(rows, money), title=title
                )
                continue
            where = kept.index.to_numpy()
            kept = kept.assign(alternative=kept["option"])  # with a deadline more nodes are another choice
            usd = np.where(draws.hours[where] <= deadline, draws.usd[where], np.inf)
            yield PricedPhase(name, str(workload), kept.reset_index(drop=True), usd, models, title=title)


def _nobody(rows: pd.DataFrame, money: Money) -> str:
    own = rows[rows["persistent"].astype(bool)]
    first = (own if len(own) else rows).sort_values(["hours", "usd"], kind="stable").iloc[0]
    paid = f"{amount(money.of(first['usd']))} {money.code}"
    return f"none can: the fastest, {the(first['title'])}, takes {span(first['hours'])} for {paid}"
