"""A plan of phases by option: what all of it costs on each, who is the best, and who that is held against."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.phases import TOTALS, PricedPhase
from sweetspot.decision.simulate import interval
from sweetspot.decision.standing import p_cheaper, standing

COLUMNS = (
    "workload", "option", "alternative", "instance", "purchase", "price_list", "title", "persistent", "machines",
    "hours", "hours_low", "hours_high", "planned_hours", "usd", "usd_low", "usd_high", "usd_running", "usd_possession",
    "after_months", "is_best", "is_rival", "times_best", "times_best_low", "times_best_high", "p_cheapest",
    "p_cheaper",
    "confidence", "months", "model", "basis",
)  # fmt: skip


def option_table(phases: Sequence[PricedPhase]) -> pd.DataFrame:
    """One row a plan of phases and option that may be taken (COLUMNS), cheapest first; `workload`: the plan.

    `usd` of the whole plan, of which `usd_running` by use and `usd_possession` by the month; 90 % of the draws in
    `_low`, `_high`; `machines` bought (null: rented), `planned_hours` of one of them; `after_months`: bought so late,
    rented until then (null: not so). `is_best`, `is_rival`, `p_cheapest`, `confidence` are those of `standing`, as in
    the recommendation; `times_best`: USD / USD of the best, `_low`, `_high` in 90 % of the draws. `months` of the plan
    (null: it states none), `model` that its hours are of; `basis` of speed and price, the weaker.
    """
    rows = [row for phase in phases if phase.whole and "usd_running" in phase.table.columns for row in _rows(phase)]
    numbers = dict.fromkeys(("machines", "after_months", "p_cheapest", "p_cheaper", "months"), "float64")
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(numbers)


def _rows(phase: PricedPhase) -> list[dict[str, Any]]:
    table, found = phase.table, standing(phase.table, phase.usd)
    # Bought later, a machine is as well known as bought at once.
    table = table.assign(basis=table["basis"].fillna(table["instance"].map(table.groupby("instance")["basis"].first())))
    with np.errstate(invalid="ignore"):
        ratio = phase.usd / phase.usd[found.best]
    ends = {"usd": interval(phase.usd), "times_best": interval(ratio)}
    same = ("option", "alternative", "instance", "title", "persistent", "hours", "usd", "usd_running", "usd_possession",
            "after_months", *TOTALS)  # fmt: skip
    rows = []
    for place, row in enumerate(table.to_dict("records")):
        best = place == found.best
        drawn = {f"{name}_low": low[place] for name, (low, _) in ends.items()}
        drawn |= {f"{name}_high": high[place] for name, (_, high) in ends.items()}
        rows.append(
            {"workload": phase.plan, "months": phase.months, "model": phase.models[0]}
            | {name: row.get(name) for name in same if name != "boxes"}
            | {"is_best": best, "is_rival": place == found.rival, "times_best": row["usd"] / table["usd"][found.best]}
            | drawn
            | {"p_cheapest": found.p_cheapest if best else None, "confidence": found.confidence if best else None}
            | {"p_cheaper": None if best else p_cheaper(phase.usd[place], phase.usd[found.best])}
        )
    return rows
