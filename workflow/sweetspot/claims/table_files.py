"""The tables of the claims on disk: those that they are checked against, and the one that they end in."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.json

from sweetspot.claims.lookup import Row
from sweetspot.files import read_arrow, write_arrow

# Plain rows instead of pandas: importing it takes twice the time of all checks of a study.
COLUMNS = {
    "options": (
        "option", "instance", "purchase", "provider", "price_list", "persistent", "is_reference", "model",
        "images_per_s", "images_per_usd", "hours", "usd", "usd_per_hour", "throughput_basis", "throughput_source",
        "capex_usd", "fits",
        "fixed_usd_per_month", "variable_usd_per_hour",
    ),
    "offers": (
        "price_list", "instance", "purchase", "provider", "usd_per_hour", "days_per_month", "downtime_share",
        "fixed_usd_per_month", "energy_usd_per_hour", "basis", "source",
    ),
    "costs": ("price_list", "instance", "purchase", "provider", "workload", "gpus", "usd", "basis", "source"),
    "bills": ("price_list", "instance", "purchase", "workload", "gpus", "line", "usd"),
    "throughput": ("instance", "model", "batch_size", "images_per_s", "basis", "status", "source"),
    "extrapolation": ("instance", "base_instance", "model", "batch_size", "method", "images_per_s"),
    "efficiency": ("instance", "model", "batch_size", "basis", "efficiency", "source"),
}  # fmt: skip
TEXTS, NUMBERS = ("id", "kind", "text"), ("printed", "computed", "computed_low", "computed_high")
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in TEXTS),
        *((name, pa.float64()) for name in NUMBERS),
        *((name, pa.string()) for name in ("unit", "verdict", "reason", "source", "rests_on", "detail", "relation")),
        ("lead", pa.bool_()),
    ]
)


class TableFiles(Mapping[str, list[Row]]):
    """Rows by the table's name, with the COLUMNS that claims speak of; each table is read when it is first asked for.

    `files`: the Parquet file or files of each table, as in the rule's input.
    """

    def __init__(self, files: Mapping[str, str | Sequence[str]]) -> None:
        self._files = {name: [paths] if isinstance(paths, str) else list(paths) for name, paths in files.items()}
        self._read: dict[str, list[Row]] = {}

    def __getitem__(self, name: str) -> list[Row]:
        if name not in self._read:
            self._read[name] = [row for path in self._files[name] for row in _rows(path, COLUMNS[name])]
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def _rows(path: str | Path, columns: Sequence[str]) -> list[Row]:
    lacking = dict.fromkeys(columns)
    return [{**lacking, **row} for row in read_arrow(path, columns).to_pylist()]


def write_claims(rows: Sequence[Row], path: str | Path) -> None:
    """Write comparison/claims.parquet whole."""
    write_arrow(_table(rows), path)


def _table(rows: Sequence[Row]) -> pa.Table:
    # By way of JSON: pyarrow imports pandas to convert a single Python object, and reads JSON by itself.
    lines = "\n".join(json.dumps(row) for row in rows)
    if not lines:
        return SCHEMA.empty_table()
    parsing = pyarrow.json.ParseOptions(explicit_schema=SCHEMA, unexpected_field_behavior="error")
    reading = pyarrow.json.ReadOptions(use_threads=False)
    return pyarrow.json.read_json(pa.py_buffer(lines.encode()), reading, parsing).select(SCHEMA.names)
