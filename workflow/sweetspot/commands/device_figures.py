"""Reads a CSV of other people's throughput on single devices."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from sweetspot.commands.csv_rows import checked_rows, no_usable_row, number, read_lines
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
    header, read = read_lines(path)
    for missing in [name for name in NEEDED if name not in header]:
        raise UserError(f"{path}, line 1: column '{missing}' is missing; expected {', '.join(NEEDED)}")
    found, bad = checked_rows(path, header, read, _checked)
    rows = [row for _, row in found if row is not None]
    if not rows:
        raise no_usable_row(path, "figures of single devices (gpus is 1)", bad)
    return DeviceFigures(pd.DataFrame(rows), len(found) - len(rows), bad)


def _checked(row: dict[str, str]) -> dict[str, Any] | None:
    """The row in `figures.COLUMNS`; None where it is of several devices. Raises ValueError."""
    for name in ("gpu", "model", "unit"):
        if not row[name].strip():
            raise ValueError(f"{name} is empty; expected a name")
    if number(row, "gpus") != 1:
        return None
    if not row["precision"].strip():
        raise ValueError("precision is empty; expected a name")
    given = {name: row.get(name, "").strip() for name in OPTIONAL}
    batch = given["batch_per_device"]
    return {
        "benchmark": given["benchmark"],
        "framework": framework_name(given["framework"]) if given["framework"] else "",
        "model": row["model"].strip(),
        "batch_size": number(row, "batch_per_device") if batch else math.nan,
        "precision": row["precision"].strip(),
        # What is counted and how long a sample is are parts of what is run.
        "dataset": " ".join(filter(None, (row["unit"].partition("/")[0].strip(), given["seq_len"]))),
        "xla": False,
        "gpu": row["gpu"].strip(),
        "images_per_s": number(row, "value"),
    }
