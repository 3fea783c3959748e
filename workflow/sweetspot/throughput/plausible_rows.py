"""What becomes of figures that the devices cannot have reached: the decision does not rest on them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from sweetspot.cells import CELL_COLUMNS
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
    rows = figures.iloc[[figure.row for figure in impossible]].copy()
    limits = [figure.limit for figure in impossible]
    rows["images_per_s"] = limits
    rows["images_per_s_low"] = rows["images_per_s"] / SLOWER
    rows["images_per_s_high"] = rows["images_per_s"]
    rows["interval_df"] = math.nan
    pairs = zip(rows["warnings"], impossible, strict=True)
    rows["warnings"] = [joined([warning(figure.rule, figure.message)], values) for values, figure in pairs]
    has_limit = rows["images_per_s"].notna()
    sources = [f"{figure.source} ; {source}" for figure, source in zip(impossible, rows["source"], strict=True)]
    rows["source"] = pd.Series(sources, rows.index, dtype=object).where(has_limit, rows["source"])
    rows["basis"] = rows["basis"].where(~has_limit, "scaled")
    rows["status"] = rows["status"].where(has_limit, BEYOND_PEAK)
    return rows


def with_replaced(table: pd.DataFrame, replaced: pd.DataFrame) -> pd.DataFrame:
    """Add replaced rows to a table of one row a cell; a cell that has another figure keeps it and takes the warning."""
    key = list(CELL_COLUMNS)
    cells, replaced_cells = (pd.MultiIndex.from_frame(rows[key]) for rows in (table, replaced))
    has_figure = replaced_cells.isin(cells[table["images_per_s"] > 0])
    added = dict(zip(replaced_cells[has_figure], replaced.loc[has_figure, "warnings"], strict=True))
    pairs = zip(cells, table["warnings"], strict=True)
    warned = table.assign(warnings=[joined(added.get(cell), warnings) for cell, warnings in pairs])
    if has_figure.all():
        return warned
    return pd.concat([warned, replaced[~has_figure].reindex(columns=table.columns)], ignore_index=True)
