"""The 2018 study's rule: n devices deliver n x one device x the mean efficiency of the families in hand."""

import math

import pandas as pd


def mean_efficiency(average: pd.DataFrame, cells: pd.DataFrame, level: float = 0.9) -> pd.DataFrame:
    """Efficiency of each cell by the mean of the families at the same model, batch and precision.

    average: `evidence.average_efficiency`. cells: columns model, batch_size, precision (index kept).
    Where the model is not in hand, the mean over all models at the nearest batch (in doublings) is taken; where
    the precision is not, that of the other precisions; an unknown batch takes the mean over the batches.
    Returns efficiency, low, high (dimensionless): the interval is the `level` prediction interval of a further
    family, mean +- t(n-1) s sqrt(1 + 1/n); NaN with fewer than two families. Source: Parkopedia 2018, section 3.
    """
    wanted = list(zip(cells["model"], cells["batch_size"].astype(float).fillna(0.0), cells["precision"], strict=True))
    known = {cell: _row(average, *cell, level) for cell in set(wanted)}
    rows = [known[cell] for cell in wanted]
    return pd.DataFrame(rows, columns=["efficiency", "low", "high"], index=cells.index)


def _row(
    average: pd.DataFrame, model: str, batch_size: float, precision: str, level: float
) -> tuple[float, float, float]:
    from scipy.special import stdtrit  # the t quantile; scipy.stats takes a second to import

    near = average
    for column, value in (("model", model), ("precision", precision)):
        same = near[near[column] == value]
        near = same if len(same) else near
    if len(near) and batch_size > 0:
        distance = near["batch_size"].map(lambda batch: abs(math.log2(batch / batch_size)))
        near = near[distance <= distance.min() + 1e-9]
    if near.empty:
        return math.nan, math.nan, math.nan
    families, mean = near["families"].max(), near["efficiency"].mean()
    if families < 2:
        return mean, math.nan, math.nan
    half = stdtrit(families - 1, (1 + level) / 2) * near["spread"].mean() * math.sqrt(1 + 1 / families)
    return mean, max(mean - half, 0.0), mean + half
