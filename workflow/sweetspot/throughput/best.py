"""The best of several variants of a cell, as the 2018 study marked it in its tables."""

from collections.abc import Sequence

import pandas as pd

from sweetspot.cells import USABLE


def mark_best(table: pd.DataFrame, value: str, same: Sequence[str]) -> pd.DataFrame:
    """`table` with a column `best` (bool): the row has the highest `value` of those equal in the columns `same`.

    Equal values are all the best; a row without a figure, or whose `status` (where there is one) is unusable, never
    is; a row that stands alone is.
    """
    figures = table[value].astype("float64")
    if "status" in table.columns:
        figures = figures.where(table["status"].isin(USABLE))
    highest = figures.groupby([table[name] for name in same], dropna=False).transform("max")
    return table.assign(best=(figures == highest).astype(bool))
