"""What would my workload do on other devices, from one figure that I measured?

FIGURE is GPU:MODEL:PRECISION[:BATCH]=RATE: what you timed on one device, in samples per second; BATCH is the batch of
that device. Or RUNFILE, a run file of this project (results/benchmarks/**/run~N.parquet). Give --measured twice for a
workload timed on two devices: two tell more than one. The throughput on another device is learnt from published figures
of many workloads on many devices (`python -m research validate-transfer` says how wrong that is); more devices follow
by the scaling model, with both errors. Intervals hold 90 %. A device that nobody has run is known by its data sheet.

    sweetspot predict --measured "RTX 4090:resnet50:fp16:256=1120" --on h100-sxm,rtx-5090 --gpus 1,8
    sweetspot predict --measured results/benchmarks/.../run~1.parquet --on a100,l40s --json
"""

import argparse
import json
import math
import re
from collections.abc import Sequence

import pandas as pd

from sweetspot.commands.json_values import without_nan
from sweetspot.errors import UserError
from sweetspot.frameworks import FRAMEWORKS
from sweetspot.number_text import parse_number
from sweetspot.scaling.device_predictions import predict_throughput
from sweetspot.scaling.several_devices import INTERCONNECTS
from sweetspot.throughput.published import RATES
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.plausibility import beyond_peak_factor
from sweetspot.transfer.specifications import Devices, precision_name
from sweetspot.transfer.transferring import Measured, measured_from_run_files
from sweetspot.warnings import as_text, joined
from sweetspot.wording import amount

FIGURE = re.compile(r"(?P<gpu>[^:=]+):(?P<model>[^:=]+):(?P<precision>[^:=]+)(?::(?P<batch>[^:=]*))?=(?P<rate>[^:=]+)")
FORM = 'GPU:MODEL:PRECISION[:BATCH]=RATE, such as "RTX 4090:resnet50:fp16:256=1120"'


def measured(text: str, framework: str, devices: Devices) -> Measured:
    """Parse a figure of `--measured`, e.g. 'RTX 4090:resnet50:fp16:256=1120', or read a run file.

    Parameters
    ----------
    text
        The figure, or the path of a run file.
    framework
        Framework of the figure; a run file states it.
    devices
        All devices by name.

    Raises
    ------
    UserError
        The text has another form, or the rate exceeds the peak of the device.

    """
    if text.endswith(".parquet"):
        return measured_from_run_files([text], devices)
    match = FIGURE.fullmatch(text.strip())
    if match is None:
        raise UserError(f"--measured is {text!r}; expected {FORM}, or a run file")
    rate = parse_number(match["rate"], "--measured: the rate")
    if not RATES[0] <= rate <= RATES[1]:
        raise UserError(f"--measured: the rate is {match['rate']!r}; expected samples per second, above 0")
    batch_size = parse_number(match["batch"], "--measured: the batch") if match["batch"] else math.nan
    if match["batch"] and not (batch_size >= 1 and batch_size.is_integer()):
        raise UserError(f"--measured: the batch is {match['batch']!r}; expected a whole number above 0")
    device, model, precision = devices.get(match["gpu"].strip()), match["model"].strip(), match["precision"]
    precision = precision_name(precision)
    factor = beyond_peak_factor(match["gpu"].strip(), 1, precision, model, "", rate)
    if factor > 1:
        raise UserError(
            f"--measured is {text!r}: {factor:.3g} times what {device.gpu} can do at its dense peak; "
            "expected a rate that it can reach"
        )
    return Measured(device, rate, model, precision, framework, batch_size)


def _parse_counts(text: str) -> list[int]:
    counts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch(r"[1-9]\d{0,3}", count) for count in counts):
        raise UserError(f"--gpus is {text!r}; expected whole numbers from 1 to 9999, such as 1,8")
    return list(dict.fromkeys(map(int, counts)))


def report(figures: Sequence[Measured], table: pd.DataFrame) -> str:
    """Return the predictions as text for a person, with the warnings below the table."""
    lines = []
    for figure in figures:
        batch = "" if math.isnan(figure.batch_size) else f", batch {figure.batch_size:g}"
        cell = f"{figure.model}, {figure.precision}{batch}, {figure.framework}"
        lines.append(f"measured: {figure.device.gpu}, {cell}: {figure.images_per_s:,.4g} {figure.unit}/s")
    lines.append(f"\n{'device':<28} {'gpus':>5} {'per second':>11} {'low':>9} {'high':>9}  {'basis':<12} joined by")
    machines_by_warning: dict[str, list[str]] = {}
    for row in table.itertuples():
        rates = (row.images_per_s, row.images_per_s_low, row.images_per_s_high)
        rate, low, high = ("-" if math.isnan(value) else amount(value) for value in rates)
        numbers = f"{row.gpus:>5} {rate:>11} {low:>9} {high:>9}"
        lines.append(f"{row.gpu:<28} {numbers}  {row.basis:<12} {row.interconnect}".rstrip())
        for warning in row.warnings:
            machines_by_warning.setdefault(as_text([warning]), []).append(f"{row.gpus} x {row.gpu}")
    lines.append("\nlow and high: 90 % prediction interval")
    if machines_by_warning:
        lines.append("\nwarnings")
    lines += [f"  {text} ({', '.join(machines)})" for text, machines in machines_by_warning.items()]
    return "\n".join(lines)


def _as_json(figures: Sequence[Measured], table: pd.DataFrame) -> str:
    content = {
        "measured": [
            {
                "gpu": figure.device.gpu,
                "images_per_s": figure.images_per_s,
                "model": figure.model,
                "precision": figure.precision,
            }
            for figure in figures
        ],
        "predicted": [without_nan(row) | {"warnings": joined(row["warnings"])} for row in table.to_dict("records")],
        "level": 0.9,
    }
    return json.dumps(content, indent=2)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line of `sweetspot predict`."""
    add = parser.add_argument
    help_text = f"{FORM}; or a run file; may be repeated"
    add("--measured", metavar="FIGURE", action="append", required=True, help=help_text)
    add("--on", metavar="GPU,...", required=True, help="devices, such as h100-sxm,rtx-5090")
    add("--gpus", metavar="N,...", default="1", help="how many of each, such as 1,8 (1)")
    help_text = "framework of the figure (torch); a run file states its framework"
    add("--framework", choices=sorted(FRAMEWORKS), default="torch", help=help_text)
    add("--interconnect", choices=INTERCONNECTS, help="what joins several devices; default: by the form of the device")
    add("--json", action="store_true", help="print one JSON object instead of text")


def run(arguments: argparse.Namespace) -> None:
    """Print the table. Raises UserError."""
    devices = shipped_devices()
    figures = [measured(text, arguments.framework, devices) for text in arguments.measured]
    gpus = [name.strip() for name in arguments.on.split(",") if name.strip()]
    if not gpus:
        raise UserError(f"--on is {arguments.on!r}; expected devices, such as h100-sxm,rtx-5090")
    table = predict_throughput(figures, gpus, _parse_counts(arguments.gpus), arguments.interconnect)
    print(_as_json(figures, table) if arguments.json else report(figures, table))
