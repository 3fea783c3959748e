"""Reads a CSV of other people's throughput figures: of several counts of devices, or of pairs of them."""

import csv
import math
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

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
    header, read = _read(path)
    pairs = is_pair_table(header)
    names = header if pairs else [OURS.get(name, name) for name in header]
    needed = PAIR_NEEDED if pairs else NEEDED
    for missing in [name for name in needed if name not in names]:
        other = f" (or '{SPELLINGS[missing]}')" if missing in SPELLINGS and not pairs else ""
        raise UserError(f"{path}, line 1: column '{missing}'{other} is missing; expected {', '.join(needed)}")
    rows, bad = [], []
    for line, values in read:
        try:
            row = dict(zip(names, values, strict=True))
            checked = checked_pair(row) if pairs else _checked(row)
            rows += [{"line": line, **checked}] if checked else []
        except ValueError as error:
            reason = f"{len(values)} values; expected {len(names)}" if len(values) != len(names) else str(error)
            bad.append(f"{path}, line {line}: {reason}")
    if not rows:
        raise UserError(f"{path}: no usable row; expected figures of one and of several devices{_first(bad)}")
    if pairs:
        paired = pairs_frame(rows)
        return Figures(paired, paired.head(0), bad)
    return Figures(*with_partners(pd.DataFrame(rows, columns=["line", *NEEDED, *OPTIONAL])), bad)


def _first(bad: list[str]) -> str:
    return f"; {bad[0]}" if bad else ""


def _read(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            lines = csv.reader(handle, strict=True)
            header = [name.strip() for name in next(lines, [])]
            return header, [(lines.line_num, row) for row in lines if any(value.strip() for value in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: cannot be read as a CSV table: {error}") from None


def _checked(row: dict[str, str]) -> dict[str, Any]:
    for name in ("gpu", "model", "precision"):
        if not row[name].strip():
            raise ValueError(f"{name} is empty; expected a name")
    given: dict[str, Any] = {name: row.get(name, "").strip() for name in (*NEEDED, *OPTIONAL)}
    given["gpus"] = int(_number(given, "gpus", whole=True))
    given["batch_size"] = _number(given, "batch_size", whole=True) if given["batch_size"] else math.nan
    given["images_per_s"] = _number(given, "images_per_s", whole=False)
    return given


def _number(row: dict[str, Any], name: str, whole: bool) -> float:
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf or (whole and value % 1):
        raise ValueError(f"{name} is {row[name]!r}; expected a {'whole ' if whole else ''}number above 0")
    return value
