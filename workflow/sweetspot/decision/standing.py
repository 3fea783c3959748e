"""Who is the best of a field, and who it is held against: one rule for all that is recommended."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.certainty import confidence
from sweetspot.decision.simulate import interval


class Standing(NamedTuple):
    """The best of a field and who it is held against.

    `field`: rows that nobody takes away, all where everything can be; `best`, `rival`: labels of the table (None: no
    other alternative); `probability`: share of the draws in which the best's alternative has the cheapest of the field;
    `low`, `high`: 90 % of the rival's USD / the best's.
    """

    field: pd.DataFrame
    best: int
    rival: int | None
    probability: float
    confidence: str
    low: float = np.nan
    high: float = np.nan


def standing(table: pd.DataFrame, usd: np.ndarray) -> Standing:
    """`table`: a row an option, cheapest first (`option`, `persistent`, `alternative`; without it each is its own);
    `usd`: its draws, infinite where a draw never does the work. The table has a row at least.
    """
    kept = table[table["persistent"].astype(bool)]
    field = kept if len(kept) else table
    drawn = usd[field.index.to_numpy()]
    own = field["option"]
    same = field["alternative"].fillna(own) if "alternative" in field.columns else own
    ours = same.eq(same.iloc[0]).to_numpy()
    cheapest = drawn.argmin(axis=0)
    probability = float(np.mean(ours[cheapest] & np.isfinite(drawn.min(axis=0))))
    best, others = int(field.index[0]), field.index[~ours]
    if not len(others):
        return Standing(field, best, None, probability, "clear")
    with np.errstate(invalid="ignore"):
        low, high = interval(usd[others[0]] / drawn[0])
    return Standing(field, best, int(others[0]), probability, confidence(probability), float(low), float(high))
