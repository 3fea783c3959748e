"""How wrong is the throughput that is predicted for one device from another?

FILE is a CSV of figures of single devices: columns gpu, gpus, model, precision, value, unit; where known benchmark,
framework, seq_len, batch_per_device. Every device of a workload is predicted from every other one. Nothing is learnt
from FILE. Without FILE the shipped figures are left out in turn.

    python -m research validate-transfer
    python -m research validate-transfer FILE --json
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
from sweetspot.transfer.figures import as_figures, shipped_devices, shipped_figures

from research.figures_csv import read_device_figures
from research.transfer_errors import (
    DEFAULT,
    DEVICE_AND_PROGRAM,
    DEVICE_AND_WORKLOAD,
    LEFT_OUT,
    METHODS,
    errors,
    errors_of_file,
    summarize,
    with_methods,
)

PLACES = {"both devices in the pool": True, "a device by its data sheet only": False}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command line of `python -m research validate-transfer`."""
    parser.add_argument("file", type=Path, metavar="FILE", nargs="?", help="CSV of figures of single devices")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def run(arguments: argparse.Namespace) -> None:
    """Print the errors; a bad row is named on stderr and left out. Raises UserError."""
    result = validate_file(arguments.file) if arguments.file else validate_shipped()
    for sentence in result.get("bad_rows", []):
        print(f"warning: {sentence}", file=sys.stderr)
    print(json.dumps(result, indent=2) if arguments.json else report(result))


def validate_file(path: Path) -> dict[str, Any]:
    """Return headline, methods, places (the methods where both devices are known, and elsewhere), and what is left out.

    Raises UserError.
    """
    content, devices = read_device_figures(path), shipped_devices()
    table = errors_of_file(as_figures(content.table), shipped_figures())
    places = {place: table[table["both_known"] == known] for place, known in PLACES.items()} if len(table) else {}
    return {
        "headline": DEFAULT,
        "methods": _by_method(table),
        "places": [row | {"place": place} for place, part in places.items() for row in _by_method(part)],
        "unspecified": sorted({str(gpu) for gpu in content.table["gpu"] if devices.find(str(gpu)) is None}),
        "several_devices": content.several,
        "bad_rows": content.bad,
    }


def validate_shipped() -> dict[str, Any]:
    """Return headline and methods, each with what was `left_out` of the shipped figures."""
    figures = shipped_figures()
    rows = []
    for left_out in LEFT_OUT:
        table = errors(figures, left_out)
        known = pd.Series(left_out not in (DEVICE_AND_WORKLOAD, DEVICE_AND_PROGRAM), table.index)
        rows += [row | {"left_out": left_out} for row in _by_method(with_methods(table, known))]
    return {"headline": DEFAULT, "methods": rows}


def _by_method(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [summarize(table, method) for method in METHODS] if len(table) else []


def report(result: dict[str, Any]) -> str:
    """Return the result as text for a person."""
    lines = [f"{'method':<30}{'rows':>6}{'median':>9}{'p90':>7}{'in 90 %':>9}  of"]
    for row in [*result["methods"], *result.get("places", [])]:
        shares = f"{row['median_abs_error']:>9.1%}{row['p90_abs_error']:>7.0%}{row['coverage90']:>9.0%}"
        where = row.get("place") or (f"{row['left_out']} left out" if "left_out" in row else "all pairs")
        lines.append(f"{row['method']:<30}{row['rows']:>6}{shares}  {where}")
    if "unspecified" in result:
        lines.append(f"devices that nobody has specified, left out: {', '.join(result['unspecified']) or 'none'}")
        lines.append(f"rows of several devices, left out: {result['several_devices']}")
    return "\n".join(lines)
