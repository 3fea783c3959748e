"""Reads a CSV of other people's throughput on single devices."""

import csv
import math
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.scaling.partners import framework_name

NEEDED = ("gpu", "gpus", "model", "precision", "value", "unit")
OPTIONAL = ("benchmark", "framework", "seq_len", "batch_per_device", "notes")


class DeviceFigures(NamedTuple):
    """table: rows of one device in `figures.COLUMNS`; several: rows of more; bad: a message for each bad row."""

    table: pd.DataFrame
    several: int
    bad: list[str]


def read_device_figures(path: Path) -> DeviceFigures:
    """Figures of single devices: columns NEEDED and OPTIONAL, others are ignored.

    Raises UserError: no such file, no CSV, a column missing, no usable row.
    """
    header, read = _read(path)
    for missing in [name for name in NEEDED if name not in header]:
        raise UserError(f"{path}, line 1: column '{missing}' is missing; expected {', '.join(NEEDED)}")
    rows, bad, several = [], [], 0
    for line, values in read:
        try:
            row = _checked(dict(zip(header, values, strict=True)))
            several += row is None
            rows += [row] if row else []
        except ValueError as error:
            reason = f"{len(values)} values; expected {len(header)}" if len(values) != len(header) else str(error)
            bad.append(f"{path}, line {line}: {reason}")
    if not rows:
        first = f"; {bad[0]}" if bad else ""
        raise UserError(f"{path}: no usable row; expected figures of single devices (gpus is 1){first}")
    return DeviceFigures(pd.DataFrame(rows), several, bad)


def _read(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            lines = csv.reader(handle, strict=True)
            header = [name.strip() for name in next(lines, [])]
            return header, [(lines.line_num, row) for row in lines if any(value.strip() for value in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: cannot be read as a CSV table: {error}") from None


def _checked(row: dict[str, str]) -> dict[str, Any] | None:
    """The row in `figures.COLUMNS`; None where it is of several devices. Raises ValueError."""
    for name in ("gpu", "model", "unit"):
        if not row[name].strip():
            raise ValueError(f"{name} is empty; expected a name")
    if _number(row, "gpus") != 1:
        return None
    if not row["precision"].strip():
        raise ValueError("precision is empty; expected a name")
    given = {name: row.get(name, "").strip() for name in OPTIONAL}
    batch = given["batch_per_device"]
    return {
        "benchmark": given["benchmark"],
        "framework": framework_name(given["framework"]) if given["framework"] else "",
        "model": row["model"].strip(),
        "batch_size": _number(row, "batch_per_device") if batch else math.nan,
        "precision": row["precision"].strip(),
        # What is counted and how long a sample is are parts of what is run.
        "dataset": " ".join(filter(None, (row["unit"].partition("/")[0].strip(), given["seq_len"]))),
        "xla": False,
        "gpu": row["gpu"].strip(),
        "images_per_s": _number(row, "value"),
    }


def _number(row: dict[str, str], name: str) -> float:
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ValueError(f"{name} is {row[name]!r}; expected a number above 0")
    return value
