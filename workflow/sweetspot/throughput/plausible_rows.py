"""What becomes of figures that the devices cannot have reached: the decision does not rest on them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from sweetspot.warnings import joined, warning

# Published repeats of one figure lie within a factor of 1.29 of their median (90 %; docs/decision.md, figures without
# an interval); throughput.parquet holds ends of 95 %, 1.36. What is at most so fast may be that much slower.
SLOWER = math.exp(math.log(1.29) * 1.959964 / 1.644854)
BEYOND_PEAK, MORE_THAN_LINEAR = "beyond_peak", "more_than_n_times_one"  # rules; the first is a status too


@dataclass(frozen=True)
class ImpossibleFigure:
    """A throughput figure above what its devices can reach. `row`: its position in the table; `rule`, `message`: of
    its warning; `limit`: the highest possible samples per second (NaN: not known, and the figure is left out);
    `source`: of the figure that the limit is made from.
    """

    row: int
    rule: str
    message: str
    limit: float
    source: str


FindImpossible = Callable[[pd.DataFrame], Sequence[ImpossibleFigure]]


def without_impossible(figures: pd.DataFrame, impossible: Sequence[ImpossibleFigure]) -> pd.DataFrame:
    """Return the table `figures` without the rows that `impossible` names by position."""
    return figures.drop(index=figures.index[[figure.row for figure in impossible]])


def replaced_rows(figures: pd.DataFrame, impossible: Sequence[ImpossibleFigure]) -> pd.DataFrame:
    """Return the `impossible` rows of `figures`, each with a warning and lowered to what its devices can reach, so
    that no decision rests on a published or measured speed beyond the hardware's limit. A row with a known limit gets
    it as `images_per_s` and upper bound, limit / SLOWER as lower bound, and the basis `scaled` (n times one device). A
    row without a known limit loses its figure (NaN) and gets the status `beyond_peak`.
    """
    rows = figures.iloc[[figure.row for figure in impossible]]
    limits = pd.Series([figure.limit for figure in impossible], rows.index, dtype=float)
    sources = pd.Series([f"{figure.source} ; " for figure in impossible], rows.index, dtype=str)
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
