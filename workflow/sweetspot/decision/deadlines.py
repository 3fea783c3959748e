"""Who can finish by a deadline, and for how much: each deadline of the study is a further phase to recommend for."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from sweetspot.decision.certainty import amount, span
from sweetspot.decision.counted import DOLLARS, Money, the
from sweetspot.decision.phases import PricedPhase
from sweetspot.decision.simulate import Draws


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
