"""CSV tables with known columns: every mistake is one sentence with file, line, column and value."""

import math
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.errors import Faults, UserError, refuse
from sweetspot.spelling import near

MAX_COUNT = 10**9  # of devices, nodes or samples in a batch


class CsvFaults(Faults):
    """Gathers the mistakes in the rows of a CSV file, by line and column. Rows are numbered from 0."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def add_row(self, row: int, message: str) -> None:
        """Add a mistake of a row."""
        self.add(f"{self.path}, line {row + 2}: {message}")

    def add_cells(self, column: pd.Series, is_wrong: Any, expected: str) -> None:
        """Add a mistake for each cell of a column that is wrong.

        Parameters
        ----------
        column, is_wrong
            The values, and a flag for each.
        expected
            What is right, in words.
        """
        for row in np.flatnonzero(np.asarray(is_wrong, dtype=bool)):
            value = column.iloc[row]
            text = f"{value:g}" if isinstance(value, float) else repr(value)
            self.add_row(int(row), f"{column.name} is {text}; expected {expected}")

    def require_sources(self, table: pd.DataFrame) -> None:
        """Add the rows that do not say where their figure comes from."""
        for row in np.flatnonzero(table["source"].str.strip() == ""):
            self.add_row(int(row), "source is empty; expected its origin")

    def require_choices(self, table: pd.DataFrame, choices: Mapping[str, Collection[str]]) -> None:
        """Add the cells of some columns that are neither empty nor one of the column's choices."""
        for name, allowed in choices.items():
            if name in table.columns:
                wrong = ~table[name].isin(("", *allowed))
                self.add_cells(table[name], wrong, f"one of {', '.join(allowed)}, or nothing")

    def require_distinct(self, table: pd.DataFrame, key: list[str]) -> None:
        """Add the rows that repeat another in the columns `key`; a number that could not be read makes no cell."""
        cells = table[key].dropna()
        for values, rows in cells.groupby(key, sort=False).groups.items():
            first, *repeats = (self.row_origin(table, row) for row in rows)
            cell = ", ".join(f"{name}={value}" for name, value in zip(key, values, strict=True))
            for origin in repeats:
                self.add(f"{origin}: the cell {cell} is also {first}; keep one")

    def row_origin(self, table: pd.DataFrame, row: Any) -> str:
        """Return where the row of that label was read: the log that it names, else the line of the file."""
        log = table.at[row, "log"] if "log" in table.columns else None
        return log if isinstance(log, str) else f"{self.path}, line {row + 2}"

    def parse_numbers(self, column: pd.Series, kind: type, may_be_empty: bool) -> pd.Series:
        """Parse a text column as finite numbers above 0.

        Parameters
        ----------
        column
            Text.
        kind
            float, or int: at most MAX_COUNT.
        may_be_empty
            Whether an empty cell is no mistake.

        Returns
        -------
        Series
            NaN where a cell is empty or a mistake.
        """
        text = column.str.strip()
        numbers = pd.to_numeric(text, errors="coerce")
        is_wrong = ~numbers.between(0, math.inf, inclusive="neither")
        expected = "a number above 0"
        if kind is int:
            is_wrong |= (numbers % 1 != 0) | (numbers > MAX_COUNT)
            expected = f"a whole number above 0, at most {MAX_COUNT:,}"
        if may_be_empty:
            is_wrong &= text != ""
        self.add_cells(column, is_wrong, expected)
        if is_wrong.any():
            return numbers.where(~is_wrong)
        return numbers.astype("Int64" if may_be_empty and kind is int else kind)


def read_table(
    path: Path, columns: Mapping[str, type], optional: Iterable[str] = (), defaults: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Read a table as `read_rows` and raise UserError, a sentence for each mistake."""
    faults = CsvFaults(path)
    table = read_rows(faults, columns, optional, defaults)
    faults.end()
    return table


def read_rows(
    faults: CsvFaults,
    columns: Mapping[str, type],
    optional: Iterable[str] = (),
    defaults: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Read a CSV file and gather what is wrong in its cells; such numbers are NaN.

    Parameters
    ----------
    faults
        Knows the file, and gets the mistakes.
    columns
        Needed columns. Numbers must be finite and positive; text is kept as it stands.
    optional
        Columns of numbers that may be empty.
    defaults
        Further text columns, and what they hold where they are absent or empty.

    Raises
    ------
    UserError
        If the file is missing or no table, or a column is missing or unknown: a misspelt one would be lost silently.

    """
    path, defaults = faults.path, defaults or {}
    try:
        text = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: the file is needed and does not exist") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not a CSV table: {' '.join(str(error).split())}") from None
    missing = [name for name in columns if name not in text.columns]
    expected = f"expected {', '.join(columns)}"
    sentences = []
    for name in text.columns.difference([*columns, *defaults], sort=False):
        intended = near(name, missing) or near(name, defaults)
        lack = ""
        if intended in missing:
            missing.remove(intended)
            lack = f" and {intended!r} is missing"
        sentences.append(f"'{name}' is unknown{lack}; " + (f"did you mean '{intended}'?" if intended else expected))
    sentences = [*(f"'{name}' is missing; {expected}" for name in missing), *sentences]
    refuse(f"{path}, line 1: column {sentence}" for sentence in sentences)
    table = text[list(columns)].copy()
    for name, default in defaults.items():
        table[name] = text[name].replace("", default) if name in text.columns else default
    for name, kind in columns.items():
        if kind is not str:
            table[name] = faults.parse_numbers(text[name], kind, name in optional)
    return table
