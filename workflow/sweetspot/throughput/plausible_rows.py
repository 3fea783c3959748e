"""What becomes of figures that the devices cannot have reached: the decision does not rest on them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from sweetspot.warnings import joined, warning

# Published repeats of one figure lie within a factor of 1.29 of their median (90 %; docs/decision.md,
# figures without an interval); throughput.parquet holds ends of 95 %, 1.36. What is at most so fast
# may be that much slower.
SLOWER = math.exp(math.log(1.29) * 1.959964 / 1.644854)
BEYOND_PEAK, MORE_THAN_LINEAR = "beyond_peak", "more_than_n_times_one"  # rules; the first is a status too


@dataclass(frozen=True)
class ImpossibleFigure:
    """A figure that cannot be.

    `row`: its position in the table; `limit`: samples per second that can be at most (NaN: not known, and the figure
    is left out); `source`: what the limit rests on.
    """

    row: int
    rule: str
    message: str
    limit: float
    source: str


FindImpossible = Callable[[pd.DataFrame], Sequence[ImpossibleFigure]]


def without_impossible(figures: pd.DataFrame, impossible: Sequence[ImpossibleFigure]) -> pd.DataFrame:
    """Return the rows of a table that can be."""
    return figures.drop(index=figures.index[[figure.row for figure in impossible]])


def replaced_rows(figures: pd.DataFrame, impossible: Sequence[ImpossibleFigure]) -> pd.DataFrame:
    """Return the impossible rows of a table as the decision may use them, each with its warning.

    Parameters
    ----------
    figures
        Rows of throughput.parquet, with `warnings`, `basis`, `status` and `source`.
    impossible
        What was found in them, by position.

    Returns
    -------
    pandas.DataFrame
        A figure with a limit has the limit as value and high end, a low end by SLOWER, and the basis `scaled`: it is
        n times that of one device. One without has no figure and the status `beyond_peak`.
    """
    rows = figures.iloc[[figure.row for figure in impossible]]
    limits = pd.Series([figure.limit for figure in impossible], rows.index, dtype=float)
    sources = pd.Series([f"{figure.source} ; " for figure in impossible], rows.index, dtype=object)
    has_limit = limits.notna()
    pairs = zip(impossible, rows["warnings"], strict=True)
    return rows.assign(
        images_per_s=limits,
        images_per_s_low=limits / SLOWER,
        images_per_s_high=limits,
        interval_df=math.nan,
        warnings=[joined([warning(figure.rule, figure.message)], values) for figure, values in pairs],
        source=rows["source"].mask(has_limit, sources + rows["source"]),
        basis=rows["basis"].mask(has_limit, "scaled"),
        status=rows["status"].where(has_limit, BEYOND_PEAK),
    )
