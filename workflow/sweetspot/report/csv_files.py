"""Tables as CSV files that a spreadsheet shows as they are."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweetspot import warnings
from sweetspot.files import write_whole

if TYPE_CHECKING:
    import pyarrow as pa

FORMULA = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")  # how a cell begins that a spreadsheet computes


def write_csv(table: "pa.Table", path: str | Path) -> None:
    """Write an Arrow table as a CSV file that a spreadsheet shows unchanged; an interrupted run leaves no part of one.

    Warnings are written as text, other lists as JSON. A text that a spreadsheet would compute (it begins with =, +, -,
    @) gets an apostrophe in front; a number in a column of texts does not.
    """
    import pyarrow.csv

    with write_whole(path) as temporary:
        pyarrow.csv.write_csv(_text_columns(table), temporary)


def _text_columns(content: "pa.Table") -> "pa.Table":
    """Return an Arrow table that CSV can hold and no spreadsheet computes. Lists and warnings become text; what looks
    like a formula gets an apostrophe in front.
    """
    import pyarrow as pa

    for index, field in enumerate(content.schema):
        if pa.types.is_primitive(field.type):
            continue
        convert = warnings.as_text if field.name.endswith("warnings") else _as_text
        values = content.column(index).to_pylist()
        text = [convert(value) for value in values]
        if text != values or pa.types.is_nested(field.type):  # making a column takes longer than looking at one
            content = content.set_column(index, field.name, pa.array(text, type=pa.string()))
    return content


def _as_text(value: Any) -> str | None:
    """Return a cell (text, list, None) as text for CSV: a list as JSON, a formula behind an apostrophe; None stays."""
    if not isinstance(value, str):
        return None if value is None else json.dumps(value)
    return f"'{value}" if value.startswith(FORMULA) and not _is_number(value) else value


def _is_number(text: str) -> bool:
    """Return whether a text is a finite number: then it is no formula, and a spreadsheet may read it as it stands."""
    try:
        return text == text.strip() and math.isfinite(float(text))
    except ValueError:
        return False
