"""Reads a CSV of other people's throughput figures: of several counts of devices, or of pairs of them."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from sweetspot.commands.csv_rows import checked_rows, no_usable_row, number, read_lines
from sweetspot.commands.pair_table import PAIR_NEEDED, checked_pair, is_pair_table, pairs_frame
from sweetspot.errors import UserError
from sweetspot.scaling.partners import with_partners
from sweetspot.throughput.published_machine import STATED

SPELLINGS = {"gpus": "gpu_count", "batch_size": "batch_per_gpu", "images_per_s": "images_per_sec"}
NEEDED = ("gpu", "gpus", "model", "batch_size", "precision", "dataset", "images_per_s", "benchmark")
OURS = {other: ours for ours, other in SPELLINGS.items()}
OPTIONAL = ("instance", "framework", "framework_version", "variant", "source", "note", *STATED)


class Figures(NamedTuple):
    """paired: evidence with `line`; alone: rows without a partner; bad: a message for each row that was left out."""

    paired: pd.DataFrame
    alone: pd.DataFrame
    bad: list[str]


def read_figures(path: Path) -> Figures:
    """Figures of several devices with those of fewer, of a throughput CSV or a table of pairs.

    Columns of a throughput CSV: NEEDED and OPTIONAL, under these names or those of SPELLINGS, batch_size may be empty;
    of a table of pairs those of `pair_table`. Further ones are ignored. `line` is the row's line in the file. Raises
    UserError: no such file, no CSV, a column missing, no usable row.
    """
    header, read = read_lines(path)
    pairs = is_pair_table(header)
    names = header if pairs else [OURS.get(name, name) for name in header]
    needed = PAIR_NEEDED if pairs else NEEDED
    for missing in [name for name in needed if name not in names]:
        other = f" (or '{SPELLINGS[missing]}')" if missing in SPELLINGS and not pairs else ""
        raise UserError(f"{path}, line 1: column '{missing}'{other} is missing; expected {', '.join(needed)}")
    found, bad = checked_rows(path, names, read, checked_pair if pairs else _checked)
    rows = [{"line": line, **row} for line, row in found if row is not None]
    if not rows:
        raise no_usable_row(path, "figures of one and of several devices", bad)
    if pairs:
        paired = pairs_frame(rows)
        return Figures(paired, paired.head(0), bad)
    return Figures(*with_partners(pd.DataFrame(rows, columns=["line", *NEEDED, *OPTIONAL])), bad)


def _checked(row: dict[str, str]) -> dict[str, Any] | None:
    for name in ("gpu", "model", "precision"):
        if not row[name].strip():
            raise ValueError(f"{name} is empty; expected a name")
    given: dict[str, Any] = {name: row.get(name, "").strip() for name in (*NEEDED, *OPTIONAL)}
    given["gpus"] = int(number(given, "gpus", whole=True))
    given["batch_size"] = number(given, "batch_size", whole=True) if given["batch_size"] else math.nan
    given["images_per_s"] = number(given, "images_per_s")
    return given
