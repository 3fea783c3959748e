"""What differs between two states of one table: rows matched, figures compared to a tolerance, text exactly.

Meant for results before and after a change of the program, so it takes what such a change brings: another order of rows
and columns, columns added and removed, a column that holds nothing on one side.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

PROSE = {
    "balanced", "condition", "first", "message", "note", "price_source", "reason", "second", "source", "text",
    "warning", "would_change",
}  # fmt: skip
"""Columns of sentences: they are reworded, so they say nothing of which row is which."""
DIGITS = 8  # significant digits by which a float helps to name a row: fewer than any tolerance in use
ROUNDING = 1e-14  # of a column's largest figure: what is left of sums that cancel


class Texts(NamedTuple):
    """The shared columns of a table as texts, by column, and each row's whole text."""

    cells: dict[str, list[str]]
    all: pd.Series


@dataclass(frozen=True)
class Cell:
    """One cell that differs: its column, the row by its naming columns, and both values."""

    column: str
    row: dict[str, str]
    before: Any
    after: Any


@dataclass(frozen=True)
class Difference:
    """What differs between a table before and after.

    `figures`: numeric cells compared; `moved`: those that differ; `largest`: the largest relative difference
    |after - before| / max(|before|, |after|) among them (infinite where a figure appeared or went) and `worst` its
    cell. `only_before`, `only_after`: rows without a partner. `texts`: other cells that differ; `example` the first.
    """

    rows_before: int
    rows_after: int
    figures: int = 0
    moved: int = 0
    largest: float = 0.0
    worst: Cell | None = None
    texts: int = 0
    example: Cell | None = None
    only_before: tuple[dict[str, str], ...] = ()
    only_after: tuple[dict[str, str], ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def same_figures(self) -> bool:
        """Whether every row has a partner and no figure differs. Reworded text and new columns do not count."""
        return not (self.moved or self.only_before or self.only_after)


def difference(before: pd.DataFrame, after: pd.DataFrame, tolerance: float) -> Difference:
    """Compare two states of a table in the columns that both have.

    Figures are equal within `tolerance` times the larger of the two, or within ROUNDING of the column's largest.
    """
    shared = [column for column in before.columns if column in after.columns]
    old, new = _texts(before, shared), _texts(after, shared)
    listed = {column for column in shared if _holds_lists(before[column]) or _holds_lists(after[column])}
    names = _naming_columns(old, new, shared, listed)
    left, right = _pairs(old, new, _ways(before, after, shared, names))
    figures = moved = texts = 0
    largest, worst, example = 0.0, None, None
    for column in shared:
        one, other = before[column].iloc[left], after[column].iloc[right]
        if _are_figures(before[column], after[column]):
            apart = _relative(_numbers(one), _numbers(other), tolerance)
            figures += len(apart)
            moved += int((apart > 0).sum())
            if len(apart) and apart.max() > largest:
                at = int(apart.argmax())
                largest = float(apart[at])
                worst = Cell(column, _row(old, names, left[at]), one.iloc[at], other.iloc[at])
        else:
            unlike = [at for at in range(len(left)) if old.cells[column][left[at]] != new.cells[column][right[at]]]
            texts += len(unlike)
            if unlike and example is None:
                at = unlike[0]
                example = Cell(column, _row(old, names, left[at]), one.iloc[at], other.iloc[at])
    return Difference(
        rows_before=len(before),
        rows_after=len(after),
        figures=figures,
        moved=moved,
        largest=largest,
        worst=worst,
        texts=texts,
        example=example,
        only_before=tuple(_row(old, names, at) for at in sorted(set(range(len(before))) - set(left))),
        only_after=tuple(_row(new, names, at) for at in sorted(set(range(len(after))) - set(right))),
        added=tuple(str(column) for column in after.columns if column not in before.columns),
        removed=tuple(str(column) for column in before.columns if column not in after.columns),
    )


def _ways(before: pd.DataFrame, after: pd.DataFrame, shared: list[str], names: list[str]) -> list[list[str]]:
    """By which columns rows are paired, one way after the other: all that name them, those of them without floats,
    those before the table's first float. A row that needed a figure to name it is found again when the figure moved.
    """
    floats = {column for column in shared if _is_float(before[column]) or _is_float(after[column])}
    first = next((at for at, column in enumerate(shared) if column in floats), len(shared))
    ways = [names, [name for name in names if name not in floats], [name for name in names if name in shared[:first]]]
    return [way for way in ways if way or not names]


def _naming_columns(before: Texts, after: Texts, shared: Sequence[str], listed: set[str]) -> list[str]:
    """The shortest run of columns from the left, without prose and lists, that tells all rows apart; or all of them."""
    names: list[str] = []
    for column in shared:
        if column in PROSE or column in listed:
            continue
        names.append(column)
        if not any(_keys(side, names).duplicated().any() for side in (before, after)):
            break
    return names


def _pairs(before: Texts, after: Texts, ways: Sequence[Sequence[str]]) -> tuple[list[int], list[int]]:
    """Positions of the rows that belong together: by the columns of the first way, what is left by the next, ...

    Rows of equal names are paired in the order of all their values.
    """
    left, right = np.arange(len(before.all)), np.arange(len(after.all))
    found: list[tuple[int, int]] = []
    for way in ways:
        sides = [_ordered(before, left, way), _ordered(after, right, way)]
        joined = sides[0].merge(sides[1], on=["key", "nth"], suffixes=("_before", "_after"))
        found += zip(joined["at_before"].tolist(), joined["at_after"].tolist(), strict=True)
        left = np.setdiff1d(left, joined["at_before"])
        right = np.setdiff1d(right, joined["at_after"])
    found.sort()
    return [one for one, _ in found], [other for _, other in found]


def _ordered(texts: Texts, at: np.ndarray, way: Sequence[str]) -> pd.DataFrame:
    """Rows `at` with their key and the how-many-eth of that key they are, in the order of all shared values."""
    rows = pd.DataFrame({"key": _keys(texts, way).iloc[at].to_numpy(), "at": at, "all": texts.all.iloc[at].to_numpy()})
    rows["nth"] = rows.sort_values(["key", "all"], kind="stable").groupby("key").cumcount()
    return rows[["key", "at", "nth"]]


def _texts(table: pd.DataFrame, columns: Sequence[str]) -> Texts:
    cells = {column: [_text(value) for value in table[column].astype(object)] for column in columns}
    return Texts(cells, _joined(cells, columns, len(table)))


def _keys(texts: Texts, columns: Sequence[str]) -> pd.Series:
    return _joined(texts.cells, columns, len(texts.all))


def _joined(cells: dict[str, list[str]], columns: Sequence[str], rows: int) -> pd.Series:
    """One text a row."""
    if not columns:
        return pd.Series([""] * rows, dtype=object)
    parts = [cells[column] for column in columns]
    return pd.Series(["\x1f".join(values) for values in zip(*parts, strict=True)], dtype=object)


def _text(value: Any) -> str:
    """A cell as text: floats to DIGITS digits; None, NaN and an empty list are one and the same."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, sort_keys=True, default=str) if len(value) else ""
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float | np.floating):
        return f"{float(value):.{DIGITS}g}"
    return str(value)


def _holds_lists(column: pd.Series) -> bool:
    return any(isinstance(value, list | tuple | dict | np.ndarray) for value in column.astype(object))


def _is_float(column: pd.Series) -> bool:
    """Whether a column holds figures that are no whole numbers (a column of counts with gaps is one of counts)."""
    if not pd.api.types.is_float_dtype(column):
        return False
    known = column.dropna()
    return bool(len(known) and (known % 1 != 0).any())


def _are_figures(before: pd.Series, after: pd.Series) -> bool:
    sides = [side for side in (before, after) if side.notna().any()]
    numeric = all(pd.api.types.is_numeric_dtype(side) and not pd.api.types.is_bool_dtype(side) for side in sides)
    return bool(sides) and numeric


def _numbers(column: pd.Series) -> np.ndarray:
    return pd.to_numeric(column).to_numpy(dtype=float, na_value=math.nan)


def _relative(one: np.ndarray, other: np.ndarray, tolerance: float) -> np.ndarray:
    """Relative difference of each pair; 0 where it is within the tolerance, infinite where one alone is missing."""
    size = np.fmax(np.abs(one), np.abs(other))
    scale = np.max(size, where=np.isfinite(size), initial=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.abs(one - other)
        relative = np.where(np.isfinite(apart), apart / size, math.inf)
        equal = (one == other) | (np.isnan(one) & np.isnan(other))
        equal |= (apart <= tolerance * size) & np.isfinite(size)
        equal |= apart <= ROUNDING * scale
    return np.where(equal, 0.0, relative)


def _row(texts: Texts, names: Sequence[str], at: int) -> dict[str, str]:
    return {name: text for name in names if (text := texts.cells[name][at])}
