"""Reads a CSV of other people's figures row by row: a bad row is named by its line and left out."""

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sweetspot.errors import UserError

Row = TypeVar("Row")
Lines = list[tuple[int, list[str]]]


def read_lines(path: Path) -> tuple[list[str], Lines]:
    """The header, stripped, and each row that is not empty with its line. Raises UserError: no such file, no CSV."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            lines = csv.reader(handle, strict=True)
            header = [name.strip() for name in next(lines, [])]
            return header, [(lines.line_num, row) for row in lines if any(value.strip() for value in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: cannot be read as a CSV table: {error}") from None


def checked_rows(
    path: Path, names: Sequence[str], read: Lines, check: Callable[[dict[str, str]], Row]
) -> tuple[list[tuple[int, Row]], list[str]]:
    """What `check` makes of each row (text by name), with its line, and a message for each that it refuses.

    `check` raises ValueError with the reason.
    """
    rows, bad = [], []
    for line, values in read:
        try:
            rows.append((line, check(dict(zip(names, values, strict=True)))))
        except ValueError as error:
            reason = f"{len(values)} values; expected {len(names)}" if len(values) != len(names) else str(error)
            bad.append(f"{path}, line {line}: {reason}")
    return rows, bad


def no_usable_row(path: Path, expected: str, bad: Sequence[str]) -> UserError:
    """The error of a file of which nothing is left; the first bad row says why."""
    first = f"; {bad[0]}" if bad else ""
    return UserError(f"{path}: no usable row; expected {expected}{first}")


def number(row: Mapping[str, Any], name: str, whole: bool = False) -> float:
    """The value as a finite number above 0, a whole one where asked. Raises ValueError."""
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf or (whole and value % 1):
        raise ValueError(f"{name} is {row[name]!r}; expected a {'whole ' if whole else ''}number above 0")
    return value
