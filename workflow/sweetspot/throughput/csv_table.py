"""CSV tables whose rows are models: every mistake is one sentence with file, line, column and value."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pandas as pd
from pydantic import ConfigDict, field_validator

from sweetspot.errors import Faults, UserError, refuse
from sweetspot.spelling import hint, slipped
from sweetspot.study.base import PATTERNS, TEXT, Closed, Precision, validated

MAX_COUNT = 1_000_000_000
DTYPES: Mapping[Any, str] = {int: "int64", int | None: "Int64", float: "float64", float | None: "float64"}


class CsvRow(Closed):
    """Base of models of a CSV row. A field without a default is a required column without empty cells."""

    model_config = ConfigDict(strict=False, str_strip_whitespace=True)  # cells are text

    @field_validator("*")
    @classmethod
    def _is_sound(cls, value: Any) -> Any:
        """Let a cell's value pass unchanged into the row, after type conversion; raise ValueError (pydantic turns it
        into the user's error message) for a number not above 0, a count over MAX_COUNT, or a text with odd characters.
        """
        if isinstance(value, str) and not re.search(TEXT, value):
            raise ValueError(PATTERNS[TEXT])
        if isinstance(value, int | float) and not 0 < value <= (MAX_COUNT if isinstance(value, int) else math.inf):
            raise ValueError(f"a number above 0, a count of at most {MAX_COUNT:,}")
        return value

    @field_validator("precision", check_fields=False)
    @classmethod
    def _is_spelt(cls, value: str) -> str:
        """Let a precision pass unchanged; ValueError for a misspelling such as `FP16`, which never matches fp16."""
        if meant := slipped(value, get_args(Precision)):
            raise ValueError(meant)
        return value


def read_rows(path: Path, model: type[CsvRow]) -> pd.DataFrame:
    """Read a CSV file that a user wrote (published speeds, say) into a table with a column for each field of `model`,
    the pydantic class that describes and checks one row; an empty cell gets the field's default. Raises UserError if
    it is missing or no table, a column is missing or unknown (maybe misspelt), or a cell is wrong.
    """
    try:
        text = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: not a CSV table: {' '.join(str(error).split())}") from None
    fields = model.model_fields
    problems = [f"'{name}' is unknown{hint(name, fields)}" for name in text.columns if name not in fields]
    problems += [f"'{name}' is missing" for name, field in fields.items() if field.is_required() and name not in text]
    refuse(f"{path}, line 1: column {problem}; expected {', '.join(fields)}" for problem in problems)
    faults = Faults()
    rows = []
    for line, cells in enumerate(text.to_dict("records"), 2):
        with faults.gather():
            filled = {name: cell for name, cell in cells.items() if cell.strip()}
            rows.append(validated(model, filled, f"{path}, line {line}").model_dump())
    faults.end()
    dtypes = {name: DTYPES.get(field.annotation, "str") for name, field in fields.items()}
    return pd.DataFrame(rows, columns=list(fields)).astype(dtypes)


def require_distinct(table: pd.DataFrame, key: list[str], path: Path) -> None:
    """Raise UserError, with a sentence for each repeat, if two rows of a user's table are equal in the columns `key`,
    since it would be arbitrary which of the two figures counts.

    Parameters
    ----------
    table, key, path
        Rows of `read_rows`, the columns that must differ between rows, and the file, named in the message.
    """
    repeats = []
    for values, rows in table.groupby(key, sort=False).groups.items():
        first, *copies = (row_origin(table, row, path) for row in rows)
        cell = ", ".join(f"{name}={value}" for name, value in zip(key, values, strict=True))
        repeats += [f"{origin}: the cell {cell} is also {first}; keep one" for origin in copies]
    refuse(repeats)


def row_origin(table: pd.DataFrame, row: Any, path: Path) -> str:
    """Return, for error messages, the log file of the row with label `row`, else `path` and its line number."""
    log = table.at[row, "log"] if "log" in table.columns else None
    return log if isinstance(log, str) else f"{path}, line {row + 2}"
