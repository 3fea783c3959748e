"""Intervals of measured cells, by the spread between runs that cells of one machine share: two runs alone say almost
nothing (Student's t with one degree of freedom is 12.7); three cells of two runs have three (3.2).
"""

import numpy as np
import pandas as pd

LEVEL = 0.95  # coverage of the interval of a figure
OUTLIER_CHANCE = 0.05  # chance that any cell of a machine without outliers is taken for one


def spread_of_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how uncertain each measured cell's speed is: `half_width` of the 95 % interval of its mean step time's
    logarithm, with `spread` (standard deviation between runs), `interval_df` (degrees of freedom) and `own_spread`
    (bool: not pooled). Cells of one machine share a variance, since two or three runs alone say too little. The pooled
    variance is sum((n - 1) variance) / sum(n - 1), with sum(n - 1) degrees of freedom; a cell that varies more
    (`outlying`) keeps the variance of its runs. The spread is the standard deviation, but at least `step_error`: runs
    that agree by luck are known no better than their steps. half_width = t(97.5 %, interval_df) spread / sqrt(runs). A
    cell of one run has none (NaN): nothing shows whether it varies like the others.

    Parameters
    ----------
    cells
        A row per cell with `machine_key` (cells of equal value share their spread), `runs` (usable ones), `variance`
        (of the natural logarithm of the runs' mean times, n - 1; NaN below two runs) and `step_error` (root mean
        square over the runs of the relative standard error of the mean step; NaN below two steps).
    """
    from scipy.special import stdtrit

    several = cells[cells["runs"] >= 2]
    freedom = several["runs"] - 1.0
    separate = pd.Series(False, several.index)
    for _, rows in several.groupby("machine_key"):
        separate[rows.index] = outlying(rows["variance"].to_numpy(float), freedom[rows.index].to_numpy())
    # A cell that stands apart is a group of its own.
    groups = [several["machine_key"], pd.Series(several.index, several.index).where(separate, -1)]
    interval_df = freedom.groupby(groups).transform("sum")
    variance = (several["variance"] * freedom).groupby(groups).transform("sum") / interval_df
    spread = np.fmax(np.sqrt(variance), several["step_error"])
    half_width = stdtrit(interval_df, (1 + LEVEL) / 2) * spread / np.sqrt(several["runs"])
    table = pd.DataFrame({"spread": spread, "interval_df": interval_df, "half_width": half_width})
    return table.reindex(cells.index).assign(own_spread=separate.reindex(cells.index, fill_value=False))


def outlying(variance: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """Return a bool per cell of one machine: True if its runs vary so much more than those of the other cells that it
    must not share their pooled variance. `variance`: between a cell's runs; `freedom`: its degrees of freedom (at
    least 1). The largest ratio to the pooled variance of the rest is compared with Fisher's F at OUTLIER_CHANCE /
    number of cells, and again without it until no outlier is left (Cochran; 't Lam 2010).
    """
    from scipy.special import fdtrc

    separate = np.zeros_like(variance, bool)
    while (~separate).sum() > 1 and variance[~separate].max() > 0:
        index = np.flatnonzero(~separate)
        squares, df = (variance * freedom)[index], freedom[index]
        rest_df = df.sum() - df
        with np.errstate(divide="ignore"):
            ratio = variance[index] / ((squares.sum() - squares) / rest_df)
        chance = fdtrc(df, rest_df, ratio)
        if chance.min() >= OUTLIER_CHANCE / len(index):
            break
        separate[index[chance.argmin()]] = True
    return separate
