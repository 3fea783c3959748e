"""What differs between two states of one table: rows matched, figures compared to a tolerance, text exactly.

Meant for results before and after a change of the program, so it takes what such a change brings: another order of rows
and columns, columns added and removed, a column that holds nothing on one side.
"""

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_numeric_dtype

PROSE = {
    "balanced", "condition", "first", "message", "note", "price_source", "reason", "second", "source", "text",
    "warning", "would_change",
}  # fmt: skip
"""Columns of sentences: they are reworded, so they say nothing of which row is which."""
DIGITS = 8  # significant digits by which a float helps to name a row: fewer than any tolerance in use
ROUNDING = 1e-14  # of a column's largest figure: what is left of sums that cancel
NTH, AT = "\x1fnth", "\x1fat"  # no table has such a column


class Cell(NamedTuple):
    """One cell that differs: its column, the row by its naming columns, and both values."""

    column: str
    row: dict[str, str]
    before: Any
    after: Any


class Difference(NamedTuple):
    """What differs between a table before and after.

    `figures`: numeric cells compared; `moved`: those that differ; `largest`: the largest relative difference
    |after - before| / max(|before|, |after|) among them (infinite where a figure appeared or went) and `worst` its
    cell. `only_before`, `only_after`: rows without a partner. `texts`: other cells that differ; `example` the first.
    """

    rows_before: int
    rows_after: int
    figures: int
    moved: int
    largest: float
    worst: Cell | None
    texts: int
    example: Cell | None
    only_before: tuple[dict[str, str], ...]
    only_after: tuple[dict[str, str], ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def same_figures(self) -> bool:
        """Whether every row has a partner and no figure differs. Reworded text and new columns do not count."""
        return not (self.moved or self.only_before or self.only_after)


def difference(before: pd.DataFrame, after: pd.DataFrame, tolerance: float) -> Difference:
    """Compare two states of a table in the columns that both have.

    Figures are equal within `tolerance` times the larger of the two, or within ROUNDING of the column's largest.
    """
    shared = [column for column in before.columns if column in after.columns]
    old, new = (table[shared].reset_index(drop=True).astype(object).map(_text) for table in (before, after))
    names = _naming_columns(old, new, [name for name in shared if not _is_prose(name, before, after)])
    pairs = _pairs(old, new, _ways(before, after, shared, names))
    left, right = pairs.T
    figures = moved = texts = 0
    largest, worst, example = 0.0, None, None
    for column in shared:
        one, other = before[column].iloc[left], after[column].iloc[right]
        if numeric := _are_figures(before[column], after[column]):
            apart = _relative(_numbers(one), _numbers(other), tolerance)
            figures, moved = figures + len(apart), moved + int((apart > 0).sum())
        else:
            apart = (old[column].to_numpy()[left] != new[column].to_numpy()[right]).astype(float)
            texts += int(apart.sum())
        if not apart.any() or (apart.max() <= largest if numeric else example):
            continue
        at = int(apart.argmax())
        cell = Cell(column, _row(old, names, left[at]), one.iloc[at], other.iloc[at])
        if numeric:
            largest, worst = float(apart[at]), cell
        else:
            example = cell
    return Difference(
        rows_before=len(before),
        rows_after=len(after),
        figures=figures,
        moved=moved,
        largest=largest,
        worst=worst,
        texts=texts,
        example=example,
        only_before=tuple(_row(old, names, at) for at in np.setdiff1d(old.index, left)),
        only_after=tuple(_row(new, names, at) for at in np.setdiff1d(new.index, right)),
        added=tuple(str(column) for column in after.columns if column not in before.columns),
        removed=tuple(str(column) for column in before.columns if column not in after.columns),
    )


def _is_prose(name: str, *tables: pd.DataFrame) -> bool:
    """Whether a column holds sentences or lists, which name no row."""
    lists = (isinstance(value, list | tuple | dict | np.ndarray) for table in tables for value in table[name])
    return name in PROSE or any(lists)


def _naming_columns(old: pd.DataFrame, new: pd.DataFrame, columns: list[str]) -> list[str]:
    """The shortest run of columns from the left that tells all rows apart; or all of them."""
    runs = (columns[:count] for count in range(1, len(columns)))
    return next((run for run in runs if not (old.duplicated(run).any() or new.duplicated(run).any())), columns)


def _ways(before: pd.DataFrame, after: pd.DataFrame, shared: list[str], names: list[str]) -> list[list[str]]:
    """By which columns rows are paired, one way after the other: all that name them, those of them without floats,
    those before the table's first float. A row that needed a figure to name it is found again when the figure moved.
    """
    floats = [column for column in shared if _is_float(before[column]) or _is_float(after[column])]
    first = shared.index(floats[0]) if floats else len(shared)
    ways = [names, [name for name in names if name not in floats], [name for name in names if name in shared[:first]]]
    return [way for way in ways if way or not names]


def _pairs(old: pd.DataFrame, new: pd.DataFrame, ways: Sequence[list[str]]) -> np.ndarray:
    """Positions of the rows that belong together, in two columns: by the columns of the first way, the rest by the
    next, ... Rows of equal names are paired in the order of all their values.
    """
    found = []
    for way in ways:
        one, other = (_ordered(side, way) for side in (old, new))
        joined = one.merge(other, on=[*way, NTH])
        found.append(joined[[f"{AT}_x", f"{AT}_y"]].to_numpy(dtype=int))
        old, new = old.drop(joined[f"{AT}_x"]), new.drop(joined[f"{AT}_y"])
    pairs = np.concatenate(found)
    return pairs[pairs[:, 0].argsort()]


def _ordered(side: pd.DataFrame, way: list[str]) -> pd.DataFrame:
    """The columns of the way, which of its name a row is, in the order of all values, and its position."""
    rows = side.sort_values(list(side.columns)) if len(side.columns) else side
    same = [rows[name] for name in way] or np.zeros(len(rows))
    return rows[way].assign(**{NTH: rows.groupby(same).cumcount(), AT: rows.index})


def _text(value: Any) -> str:
    """A cell as text: floats to DIGITS digits; None, NaN and an empty list are one and the same."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, sort_keys=True, default=str) if value else ""
    if pd.isna(value):
        return ""
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def _is_float(column: pd.Series) -> bool:
    """Whether a column holds figures that are no whole numbers (a column of counts with gaps is one of counts)."""
    return is_float_dtype(column) and bool((column.dropna() % 1 != 0).any())


def _are_figures(before: pd.Series, after: pd.Series) -> bool:
    sides = [side for side in (before, after) if side.notna().any()]
    return bool(sides) and all(is_numeric_dtype(side) and not is_bool_dtype(side) for side in sides)


def _numbers(column: pd.Series) -> np.ndarray:
    return pd.to_numeric(column).to_numpy(dtype=float, na_value=math.nan)


def _relative(one: np.ndarray, other: np.ndarray, tolerance: float) -> np.ndarray:
    """Relative difference of each pair; 0 where it is within the tolerance, infinite where one alone is missing."""
    size = np.fmax(np.abs(one), np.abs(other))
    scale = np.max(size, where=np.isfinite(size), initial=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.abs(one - other)
        relative = np.where(np.isfinite(apart), apart / size, math.inf)
        equal = (one == other) | (np.isnan(one) & np.isnan(other)) | (apart <= ROUNDING * scale)
        equal |= (apart <= tolerance * size) & np.isfinite(size)
    return np.where(equal, 0.0, relative)


def _row(texts: pd.DataFrame, names: Sequence[str], at: int) -> dict[str, str]:
    return {name: text for name in names if (text := texts.at[at, name])}
