"""Reads a CSV of other people's throughput: of several counts of devices, of pairs of them, or of single devices.

A bad row is named by its line and left out.
"""

import csv
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pandas as pd
from sweetspot.errors import UserError
from sweetspot.scaling.evidence import super_linear_warnings
from sweetspot.scaling.published_pairs import DATASETS, MODELLED_FRAMEWORKS, framework_name, pair_with_bases
from sweetspot.scaling.step_facts import device_family
from sweetspot.study.instances import Interconnect
from sweetspot.throughput.published import MACHINE_FACTS, with_machine_facts

SPELLINGS = {"gpus": "gpu_count", "batch_size": "batch_per_gpu", "images_per_s": "images_per_sec"}
NEEDED = ("gpu", "gpus", "model", "batch_size", "precision", "dataset", "images_per_s", "benchmark")
OPTIONAL = ("instance", "framework", "framework_version", "variant", "source", "note", *MACHINE_FACTS)
DEVICE_NEEDED = ("gpu", "gpus", "model", "precision", "value", "unit")
DEVICE_OPTIONAL = ("benchmark", "framework", "seq_len", "batch_per_device", "notes")
PAIR_NEEDED = ("gpu", "gpus_base", "gpus", "value_base", "value", "unit", "model")
MINUTES = "minutes"
NODE = 8  # devices of one machine where the row does not say
RACK = {"gb200": 72, "gb300": 72}  # devices that fast links join
POD = re.compile(r"\btpu\b", re.IGNORECASE)
BATCHED = ("images", "sequences", "samples")  # what a batch counts; mels and samples of audio are parts of one
IN_UNIT_OF_RATE = "batch in the unit of the rate"  # words of the notes: not in samples, but in what is counted
BATCHES = re.compile(r"global batch ([\d.]+) -> ([\d.]+)")
HALF = {"amp": "fp16", "amp_bf16": "bf16", "fp16 amp": "fp16", "bfloat16": "bf16", "fp32/tf32": "tf32"}
SHARDED = re.compile(r"fsdp|full_shard|shard_grad_op|zero", re.IGNORECASE)

Row = dict[str, Any]
Lines = list[tuple[int, list[str]]]


class Figures(NamedTuple):
    """paired: evidence with `line`; alone: rows without a partner; bad: a message for each row that was left out."""

    paired: pd.DataFrame
    alone: pd.DataFrame
    bad: list[str]


class DeviceFigures(NamedTuple):
    """table: rows of one device in `figures.COLUMNS`; several: rows of more; bad: a message for each bad row."""

    table: pd.DataFrame
    several: int
    bad: list[str]


def read_figures(path: Path) -> Figures:
    """Figures of several devices with those of fewer, of a throughput CSV or a table of pairs.

    Columns of a throughput CSV: NEEDED and OPTIONAL, under these names or those of SPELLINGS, batch_size may be empty;
    of a table of pairs PAIR_NEEDED, and where known benchmark, precision, seq_len, batch_per_device, framework, notes.
    `unit` tells what is counted: `minutes` (to a target, strong scaling), else so much a second at a fixed batch per
    device. Further columns are ignored. `line` is the row's line in the file. Raises UserError: no such file, no CSV,
    a column missing, no usable row.
    """
    header, lines = _lines(path)
    what = "figures of one and of several devices"
    if {"value_base", "gpus_base"} <= set(header):
        rows, _, bad = _checked_rows(path, header, lines, PAIR_NEEDED, _pair, what)
        paired = _pairs(pd.DataFrame(rows))
        return Figures(paired, paired.head(0), bad)
    ours = {other: name for name, other in SPELLINGS.items()}
    rows, _, bad = _checked_rows(path, [ours.get(name, name) for name in header], lines, NEEDED, _several, what)
    table = pd.DataFrame(rows, columns=["line", *NEEDED, *OPTIONAL])
    paired = pair_with_bases(table)
    is_modelled = table["framework"].map(framework_name).isin(MODELLED_FRAMEWORKS) & table["dataset"].isin(DATASETS)
    unpaired = table[is_modelled & (table["gpus"] > 1) & ~table.index.isin(paired.index)]
    return Figures(paired, unpaired, bad)


def read_device_figures(path: Path) -> DeviceFigures:
    """Figures of single devices: columns DEVICE_NEEDED and DEVICE_OPTIONAL, others are ignored.

    Raises UserError: no such file, no CSV, a column missing, no usable row.
    """
    what = "figures of single devices (gpus is 1)"
    rows, several, bad = _checked_rows(path, *_lines(path), DEVICE_NEEDED, _single, what)
    return DeviceFigures(pd.DataFrame(rows).drop(columns="line"), several, bad)


def _lines(path: Path) -> tuple[list[str], Lines]:
    """The header, stripped, and each row that is not empty with its line. Raises UserError: no such file, no CSV."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            lines = csv.reader(handle, strict=True)
            header = [name.strip() for name in next(lines, [])]
            return header, [(lines.line_num, row) for row in lines if any(value.strip() for value in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: cannot be read as a CSV table: {error}") from None


def _checked_rows(
    path: Path, names: Sequence[str], lines: Lines, needed: Sequence[str],
    check: Callable[[dict[str, str]], Row | None], what: str,
) -> tuple[list[Row], int, list[str]]:  # fmt: skip
    """What `check` makes of each row, with its `line`; of how many it makes None; a message for each that it refuses.

    `check` raises ValueError with the reason; `what` is expected. Raises UserError: a column of `needed` is missing, no
    usable row (the first bad one says why).
    """
    for missing in [name for name in needed if name not in names]:
        other = f" (or '{SPELLINGS[missing]}')" if needed is NEEDED and missing in SPELLINGS else ""
        raise UserError(f"{path}, line 1: column '{missing}'{other} is missing; expected {', '.join(needed)}")
    rows, bad = [], []
    for line, values in lines:
        try:
            if len(values) != len(names):
                raise ValueError(f"{len(values)} values; expected {len(names)}")
            row = check({name: value.strip() for name, value in zip(names, values, strict=True)})
        except ValueError as error:
            bad.append(f"{path}, line {line}: {error}")
            continue
        if row is not None:
            rows.append({"line": line, **row})
    if not rows:
        first = f"; {bad[0]}" if bad else ""
        raise UserError(f"{path}: no usable row; expected {what}{first}")
    return rows, len(lines) - len(rows) - len(bad), bad


def _several(row: dict[str, str]) -> Row:
    _need_names(row, "gpu", "model", "precision")
    given: Row = {name: row.get(name, "") for name in (*NEEDED, *OPTIONAL)}
    given["gpus"] = int(_number(given, "gpus", whole=True))
    given["batch_size"] = _number(given, "batch_size", whole=True) if given["batch_size"] else math.nan
    return given | {"images_per_s": _number(given, "images_per_s")}


def _pair(row: dict[str, str]) -> Row | None:
    """One row with numbers for its figures; None: the base itself, or no further device. Raises ValueError."""
    _need_names(row, "gpu", "model", "unit")
    counts = {name: int(_number(row, name, whole=True)) for name in ("gpus_base", "gpus")}
    values = {name: _number(row, name) for name in ("value_base", "value")}
    if counts["gpus"] < counts["gpus_base"]:
        raise ValueError(f"gpus is {counts['gpus']}; expected at least gpus_base, {counts['gpus_base']}")
    return None if counts["gpus"] == counts["gpus_base"] else {**row, **counts, **values}


def _single(row: dict[str, str]) -> Row | None:
    """The row with the columns of `figures.as_figures`; None where it is of several devices. Raises ValueError."""
    _need_names(row, "gpu", "model", "unit")
    if _number(row, "gpus") != 1:
        return None
    _need_names(row, "precision")
    given = {name: row.get(name, "") for name in DEVICE_OPTIONAL}
    return {
        "benchmark": given["benchmark"],
        "framework": framework_name(given["framework"]),
        "model": row["model"],
        "batch_size": _number(row, "batch_per_device") if given["batch_per_device"] else math.nan,
        "precision": row["precision"],
        # What is counted and how long a sample is are parts of what is run.
        "dataset": " ".join(filter(None, (row["unit"].partition("/")[0].strip(), given["seq_len"]))),
        "xla": False,
        "gpu": row["gpu"],
        "images_per_s": _number(row, "value"),
        "unit": "",
    }


def _need_names(row: Mapping[str, str], *columns: str) -> None:
    for column in columns:
        if not row[column]:
            raise ValueError(f"{column} is empty; expected a name")


def _number(row: Mapping[str, Any], name: str, whole: bool = False) -> float:
    value = _told(row[name])
    if not 0 < value < math.inf or (whole and value % 1):
        raise ValueError(f"{name} is {row[name]!r}; expected a {'whole ' if whole else ''}number above 0")
    return value


def _pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Checked rows as evidence: efficiency, base_*, nodes, family, warnings and what the notes say of batches.

    base_images_per_s is of one device; nodes are those that the devices fill (`NODE`, `RACK`, a TPU's pod is one)
    unless the row has a column `nodes`. `batches`: the ratio of the global batches (NaN: not told).
    """
    text = ("benchmark", "framework", "framework_version", "precision", "notes", "seq_len", "batch_per_device",
            "instance", "interconnect", "source")  # fmt: skip
    for name in text:
        table[name] = table.get(name, "")
    strong = table["unit"].str.strip().str.lower() == MINUTES
    faster = (table["value"] / table["value_base"]).where(~strong, table["value_base"] / table["value"])
    pods = table["gpu"].str.contains(POD)
    table = table.assign(
        note="",
        variant=table["framework"].map(lambda text: "fsdp" if SHARDED.search(text) else ""),
        framework=table["framework"].map(framework_name),
        framework_version=table["framework_version"].where(
            table["framework_version"] != "", table["framework"].map(_version)
        ),
        precision=table["precision"].map(lambda text: HALF.get(text.lower(), text.lower())),
        batch_size=[_batch(row) for row in table.itertuples()],
        family=table["gpu"].map(device_family),
        efficiency=faster * table["gpus_base"] / table["gpus"],
        base_images_per_s=table["value_base"] / table["gpus_base"],
        nodes=_nodes(table, "gpus"),
        base_nodes=_nodes(table, "gpus_base"),
        base_gpus=table["gpus_base"],
        interconnect=table["interconnect"]
        .where(table["interconnect"].isin(get_args(Interconnect)), "")
        .mask(pods, "ici"),
        batches=[_batches(text) for text in table["notes"]],
        strong=strong,
        dataset="synthetic",
        as_of="",
    )
    table["warnings"] = [super_linear_warnings(value) for value in table["efficiency"]]
    return with_machine_facts(table)


def _version(framework: str) -> str:
    """What a framework's name says of its version: a vendor's build, or TensorFlow 2 without more."""
    plain = framework.lower()
    return "NGC" if "ngc" in plain else "2.3+" if plain.startswith("tensorflow 2") else ""


def _nodes(table: pd.DataFrame, column: str) -> pd.Series:
    joined = [RACK.get(name, 256 if POD.search(gpu) else NODE) for name, gpu in
              zip(table["gpu"].map(device_family), table["gpu"], strict=True)]  # fmt: skip
    return pd.Series([math.ceil(gpus / most) for gpus, most in zip(table[column], joined, strict=True)], table.index)


def _batch(row: Any) -> float:
    """Samples a device works on between two exchanges, in the unit that is counted; NaN: not told."""
    batch, length = _told(row.batch_per_device), _told(row.seq_len)
    counted = row.unit.partition("/")[0].strip().lower()
    if IN_UNIT_OF_RATE in row.notes:
        return batch
    return batch * length if counted == "tokens" else batch if counted in BATCHED else math.nan


def _batches(text: str) -> float:
    found = BATCHES.search(text)
    return float(found[2]) / float(found[1]) if found else math.nan


def _told(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
