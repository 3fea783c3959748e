"""The spread between runs of one machine, shared by its cells: what a few runs of each of many cells can say.

Two runs alone say almost nothing (Student's t with one degree of freedom is 12.7); three cells of two runs have three
degrees of freedom together (3.2).
"""

import math

import numpy as np
import pandas as pd

LEVEL = 0.95  # coverage of the interval of a figure
OUTLIER = 0.05  # chance that any cell of a machine without outliers is taken for one


def spread_of_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """What each cell's interval is made of: `spread`, `interval_df`, `own_spread`, `half`; index of `cells`.

    cells: `place` (machine: cells of equal value share their spread), `runs` (usable ones), `variance` (of the natural
    logarithm of the runs' mean times, n - 1; NaN below two runs) and `step_error` (root mean square over the runs of
    the relative standard error of the mean step within a run; NaN where runs have fewer than two steps).

    The variance of a place is pooled: sum((n - 1) variance) / sum(n - 1); its degrees of freedom are sum(n - 1). A cell
    that varies more (`outlying`) keeps its own and stands apart (`own_spread`). spread = the pooled standard deviation,
    but at least `step_error`: runs that agree by luck are known no better than their steps. half = t(97.5 %,
    interval_df) x spread / sqrt(runs), in logarithms: the figure lies within a factor exp(half). A cell of one run has
    none: nothing shows whether it varies like the others.
    """
    several = cells["runs"] >= 2
    freedom = (cells["runs"] - 1).where(several).astype(float)
    squares = cells["variance"] * freedom
    apart = pd.Series(False, index=cells.index)
    for _, own in cells[several].groupby("place"):
        apart[own.index] = outlying(own["variance"].to_numpy(float), freedom[own.index].to_numpy())
    group = [cells["place"], apart]
    df = freedom.groupby(group).transform("sum").where(~apart, freedom).where(several)
    variance = (squares.groupby(group).transform("sum") / df).where(~apart, cells["variance"])
    spread = np.fmax(np.sqrt(variance), cells["step_error"]).where(several)
    half = _quantile(df) * spread / np.sqrt(cells["runs"].where(several))
    return pd.DataFrame({"spread": spread, "interval_df": df, "own_spread": apart, "half": half}, index=cells.index)


def outlying(variance: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """Which variances exceed the others' by more than chance (bool).

    variance, freedom: estimates and their degrees of freedom (>= 1), of one machine. The largest ratio to the pooled
    variance of the rest is held against Fisher's F at OUTLIER / number of cells (Cochran's test for unequal degrees of
    freedom: 't Lam 2010, Anal. Chim. Acta 659, 68), and again without it until none is left. Needs two cells at least.
    """
    apart = np.zeros(len(variance), dtype=bool)
    while (~apart).sum() > 1 and variance[~apart].max() > 0:
        from scipy.special import fdtrc  # a fifth of a second that single runs do not need

        kept = np.flatnonzero(~apart)
        squares, df = (variance * freedom)[kept], freedom[kept]
        rest = (squares.sum() - squares) / (df.sum() - df)
        ratio = np.divide(variance[kept], rest, out=np.full(len(kept), math.inf), where=rest > 0)
        # Of cells with equally many runs only the most variable can be the least likely one.
        first = [int(np.where(df == number, ratio, -1.0).argmax()) for number in np.unique(df)]
        chance = fdtrc(df[first], df.sum() - df[first], ratio[first])
        if chance.min() >= OUTLIER / len(kept):
            break
        worst = first[int(chance.argmin())]
        apart[kept[worst]] = True
    return apart


def _quantile(df: pd.Series) -> pd.Series:
    """97.5 % quantile of Student's t; NaN where there are no degrees of freedom."""
    if df.isna().all():
        return df
    from scipy.special import stdtrit

    return pd.Series(stdtrit(df, (1 + LEVEL) / 2), index=df.index)
