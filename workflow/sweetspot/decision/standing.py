"""Who is the best of a field and who it is held against, and the two probabilities: one rule for all."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.draws import interval, shares
from sweetspot.wording import confidence


class Standing(NamedTuple):
    """The best of a field and who it is held against.

    `field`: rows that nobody takes away, all where everything can be; `best`, `rival`: labels of the table (None: no
    other alternative); `p_cheapest` of the best's alternative in the field (`shares`);
    `low`, `high`: 90 % of the rival's USD / the best's.
    """

    field: pd.DataFrame
    best: int
    rival: int | None
    p_cheapest: float
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
    first = shares(drawn, list(same))[same.iloc[0]]
    best, others = int(field.index[0]), field.index[~ours]
    if not len(others):
        return Standing(field, best, None, first, "clear")
    with np.errstate(invalid="ignore"):
        low, high = interval(usd[others[0]] / drawn[0])
    return Standing(field, best, int(others[0]), first, confidence(first), float(low), float(high))
