"""Say what share of a device's peak runs reached.

Of each run file below a folder: the operations a second of all its devices, and their share of the dense peak of the
device (the table of devices.csv, with sources), which is the MFU. A processor has no row there, and no MFU.

    python -m research flop results/benchmarks
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sweetspot.cells import CELL_COLUMNS, USABLE
from sweetspot.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `python -m research flop`."""
    parser.add_argument("runs", metavar="FOLDER", type=Path, help="say what the run files below it reached")


def run(arguments: argparse.Namespace) -> None:
    """Print the table. Raises UserError."""
    print("\n".join(reached(arguments.runs)))


def reached(folder: Path) -> list[str]:
    """Lines of what run files reached, a run each. Raises UserError where there is none."""
    files = sorted(folder.rglob("*.parquet"))
    rows = [["cell", "run", "TFLOP/s", "dense peak", "MFU", "device"]]
    rows += [row for file in files if (row := _reached(file)) is not None]
    if len(rows) == 1:
        raise UserError(f"{folder}: no run file there tells what it reached; expected results/benchmarks")
    return aligned(rows)


def _reached(file: Path) -> list[str] | None:
    from sweetspot.harness.runfile import run_facts
    from sweetspot.throughput.run_files import summarise_runs

    (row,) = summarise_runs([str(file)]).to_dict("records")
    facts = run_facts(file)
    flop = facts.get("training_flop_per_sample") or training_flop(row["model"])
    if row["status"] not in USABLE or not flop:
        return None
    rate = flop * (row["samples_per_step"] or row["batch_size"] * row["gpus"]) / row["seconds"]
    peak = dense_peak(str(facts.get("device_name")), row["precision"]) * row["gpus"]
    cell = "/".join(str(row[name]) for name in CELL_COLUMNS)
    told = (
        [f"{rate / 1e12:.4g}", f"{peak / 1e12:.4g}", f"{rate / peak:.1%}"]
        if peak > 0
        else [f"{rate / 1e12:.4g}", "-", "-"]
    )
    return [cell, str(row["run"]), *told, str(facts.get("device_name"))]


def training_flop(network: str) -> float | None:
    """Operations of a training step for one unit of a network's throughput; None for a network that nobody counted.

    Of a transformer by formula. Of a network of images three forward passes, a multiply-add being two operations.
    """
    from sweetspot.facts.shipped_tables import table as facts_table
    from sweetspot.transformers import SHAPES

    from research.transformer_operations import training_flop as flop_of_shape

    shape = SHAPES.get(network)
    if shape is not None:
        return flop_of_shape(shape) / shape.units_per_sample
    for row in facts_table("network_operations"):
        if network in (row["network"], *row["names"].split(" ; ")):
            return 6e9 * float(row["forward_gmac"])
    return None


def dense_peak(name: str, precision: str) -> float:
    """Dense FLOP/s of a device in a precision; NaN for one that nobody has specified, such as a processor."""
    from sweetspot.transfer.figures import shipped_devices
    from sweetspot.transfer.specifications import PROCESSOR

    devices = shipped_devices()
    found: Any = None if PROCESSOR.search(name) else devices.find(name)
    return found.peak(precision) * 1e12 if found is not None else math.nan


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines of columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
