"""The tables between the rooms: their columns with types, units and meanings, as facts/tables.csv declares them.
docs/tables.md is made of the same file. `path`: where a price list states the figure, e.g. `own.capex` of an offer.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from sweetspot import warnings
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table
from sweetspot.files import read_arrow, write_arrow

if TYPE_CHECKING:
    import pandas as pd

LIMIT_NUMBERS = ("allowed", "actual", "saved_usd")  # of a limit that a choice breaks
VERSION = {b"sweetspot_tables": b"3"}  # in each file; raised when a column goes or changes its meaning


@cache
def schema_of(name: str) -> pa.Schema:
    """Return the Arrow schema of the table `name` as declared in facts/tables.csv, by which tables are written and
    checked; a column with bounds has two more, `_low` and `_high`.
    """
    text, number = pa.string(), pa.float64()
    types = {
        "text": text,
        "integer": pa.int64(),
        "flag": pa.bool_(),
        "number": number,
        "texts": pa.list_(text),
        "numbers": pa.list_(number),
        # A resale curve: years since the purchase, and the share of the price.
        "curve": pa.list_(pa.struct({"years": number, "kept": number})),
        "limits": pa.list_(pa.struct({"limit": text, "title": text} | dict.fromkeys(LIMIT_NUMBERS, number))),
        "warnings": warnings.arrow_type(),
    }
    fields = [
        pa.field(row["column"] + end, types[row["type"]], metadata={key: row[key] for key in ("unit", "description")})
        for row in table("tables")
        if row["table"] == name
        for end in (("", "_low", "_high") if row["bounds"] else ("",))
    ]
    return pa.schema(fields, VERSION)


def columns_of(name: str) -> list[str]:
    """Return the names of a table's columns in their declared order, with `_low` and `_high`."""
    return schema_of(name).names


def write_table(frame: "pd.DataFrame", path: str | Path, name: str = "") -> None:
    """Write a result table as a whole Parquet file, checked against its declaration; declared columns that it lacks
    become nulls.

    Parameters
    ----------
    frame, path
        The rows, and the Parquet file to write.
    name
        The table's name; '': the file's name. Raises ValueError for an undeclared column or another type.
    """
    schema = schema_of(name or Path(path).stem)
    if unknown := set(frame.columns) - set(schema.names):
        raise ValueError(f"{path}: facts/tables.csv declares no column {', '.join(sorted(unknown))}")
    # A column without any value is one of floats to pandas, whatever it would hold.
    objects = dict.fromkeys((field.name for field in schema if not pa.types.is_primitive(field.type)), object)
    frame = frame.reindex(columns=schema.names).astype(objects)
    write_arrow(pa.Table.from_pandas(frame, schema, preserve_index=False), path)


def read_table(path: str | Path) -> "pd.DataFrame":
    """Read a result table (Parquet) as a DataFrame. UserError if a version of Sweetspot with other columns wrote it."""
    content = read_arrow(path)
    if VERSION.items() - (content.schema.metadata or {}).items():
        raise UserError(f"{path}: was written by another version of it; run its study: nothing is measured again")
    return content.to_pandas(use_threads=False)
