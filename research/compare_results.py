"""Compare two results figure by figure: what did a change of the program do?

Reads every Parquet table of two results folders (all studies), or of two folders of one study; runs, logs and the
page's copies are left out. Rows are matched by the columns that name them, whatever their order; figures are compared
to a relative tolerance, text exactly. Writes a line a table to stdout: rows, figures compared, those that differ with
the largest difference and its row, columns added and removed, text that differs. Exit code 1 where a figure differs, or
a row or table is not found again; 0 where only text differs, or a column or table is new.

    python -m research compare-results before/results results
    python -m research compare-results before/results/rare-2018 results/rare-2018 --tolerance 1e-6
"""

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_numeric_dtype
from sweetspot.errors import UserError
from sweetspot.files import read_parquet

APART = {"benchmarks", "logs", "report"}  # runs, logs and the page's copies of the tables are no results of their own
SHOWN = 60  # characters of a text cell
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `python -m research compare-results`."""
    parser.add_argument("before", type=Path, metavar="BEFORE", help="a results folder, or results/STUDY")
    parser.add_argument("after", type=Path, metavar="AFTER", help="the other one, of the same kind")
    parser.add_argument(
        "--tolerance", type=float, default=1e-9, help="relative difference up to which figures are equal (1e-9)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print a line a table; 1 where a figure, a row or a table of BEFORE is not found again, else 0."""
    if not arguments.tolerance >= 0:
        raise UserError(f"--tolerance is {arguments.tolerance}; expected a number that is not negative")
    before, after = _tables_below(arguments.before), _tables_below(arguments.after)
    same, compared, figures, texts = True, 0, 0, 0
    for study in sorted(before.keys() | after.keys()):
        print(study)
        old, new = before.get(study, {}), after.get(study, {})
        for name in sorted(old.keys() | new.keys()):
            if name not in new or name not in old:
                print(f"  {name}: only {'before' if name in old else 'after'}")
                same &= name in new
                continue
            found = difference(read_parquet(old[name]), read_parquet(new[name]), arguments.tolerance)
            print(f"  {name}: {_line(found)}")
            same &= found.same_figures
            compared, figures, texts = compared + 1, figures + found.figures, texts + found.texts
    verdict = "all equal" if same else "NOT all equal"
    reworded = f"; {texts:,} text cells differ" if texts else ""
    print(f"{compared} tables, {figures:,} figures compared to {arguments.tolerance:g}: {verdict}{reworded}")
    return 0 if same else 1


def _tables_below(folder: Path) -> dict[str, dict[str, Path]]:
    """Parquet files by study and by name (`costs/aws`). A folder of one study is the study "".

    Raises UserError where there is none.
    """
    if (folder / "throughput.parquet").is_file():
        found = {"": _tables(folder)}
    else:
        subfolders = sorted(folder.iterdir()) if folder.is_dir() else []
        studies = {entry.name: _tables(entry) for entry in subfolders if entry.is_dir() and entry.name not in APART}
        found = {name: tables for name, tables in studies.items() if tables}
    if not any(found.values()):
        raise UserError(f"{folder}: no table is below it; expected a folder such as results or results/STUDY")
    return found


def _tables(folder: Path) -> dict[str, Path]:
    named = {file.relative_to(folder): file for file in sorted(folder.rglob("*.parquet"))}
    return {str(name.with_suffix("")): file for name, file in named.items() if name.parts[0] not in APART}


def _line(found: Difference) -> str:
    """A difference in one line: rows, figures, columns, text."""
    rows = f"{found.rows_before} rows" if found.rows_before == found.rows_after else ""
    parts = [rows or f"{found.rows_before} -> {found.rows_after} rows", f"{found.figures} figures"]
    if found.moved and found.worst:
        parts.append(f"{found.moved} DIFFER, most by {found.largest:.3g} in {_cell(found.worst)}")
    for when, only in (("before", found.only_before), ("after", found.only_after)):
        if only:
            parts.append(f"{len(only)} ROWS ONLY {when.upper()}, such as {_named(only[0])}")
    if found.added:
        parts.append(f"columns added: {', '.join(found.added)}")
    if found.removed:
        parts.append(f"columns removed: {', '.join(found.removed)}")
    if found.texts and found.example:
        parts.append(f"{found.texts} text cells differ, such as {_cell(found.example)}")
    return "; ".join(parts)


def _cell(cell: Cell) -> str:
    before, after = _value(cell.before), _value(cell.after)
    if max(len(before), len(after)) > SHOWN:
        # A long text is shown from a little before the place where the two part.
        apart = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
        start = max(0, apart - SHOWN // 4)
        before, after = (f"{'...' if start else ''}{_short(text[start:])}" for text in (before, after))
    return f"{cell.column}: {before or 'nothing'} -> {after or 'nothing'} ({_named(cell.row)})"


def _named(names: dict[str, str]) -> str:
    return ", ".join(f"{name} {_short(value)}" for name, value in names.items())


def _value(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float) else " ".join(str(value).split())


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


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
