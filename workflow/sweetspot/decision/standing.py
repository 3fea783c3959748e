"""Who is the best of a field and who it is held against, and the two probabilities: one rule for all."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.simulate import interval
from sweetspot.wording import confidence

SAME_COST = 1e-6  # costs nearer than this share of the lower one are the same: nobody chooses by a millionth


def shares(usd: np.ndarray, alternatives: Sequence[Hashable], tolerance: float = SAME_COST) -> dict[Hashable, float]:
    """`p_cheapest` of each alternative: the share of cases in which nothing else costs less, by more than `tolerance`.

    `usd`: a row a choice, a column a case, infinite or NaN where the choice never does the work; `alternatives`: what
    each choice is one of, in the order of the rows. What costs the same within the tolerance (a share of the lower
    cost) takes nothing from each other: where alternatives tie, each counts as the cheapest, so that the shares add up
    to more than 1. A case in which nothing does the work counts for none.
    """
    known = np.where(np.isnan(usd), np.inf, usd)
    lowest = known.min(axis=0)
    first = np.isfinite(known) & (known <= lowest + tolerance * np.abs(np.where(np.isfinite(lowest), lowest, 0.0)))
    rows: dict[Hashable, list[int]] = {}
    for place, name in enumerate(alternatives):
        rows.setdefault(name, []).append(place)
    return {name: float(first[places].any(axis=0).mean()) for name, places in rows.items()}


def p_cheaper(usd: np.ndarray, other: np.ndarray, tolerance: float = SAME_COST) -> float:
    """The share of cases in which `usd` is less than `other` (an entry a case, as in `shares`); a tie counts half.

    So both orders add up to 1, and of two that always cost the same neither is the cheaper. What never does the work
    is dearer than what does.
    """
    one, two = (np.where(np.isnan(each), np.inf, each) for each in (usd, other))
    lower = np.minimum(np.abs(one), np.abs(two))
    with np.errstate(invalid="ignore"):
        same = (one == two) | (np.abs(one - two) <= tolerance * lower)
    return float(np.mean(np.where(same, 0.5, one < two)))


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
