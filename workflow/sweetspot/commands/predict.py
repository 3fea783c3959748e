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
from pathlib import Path

import pandas as pd

from sweetspot.commands.json_values import without_nan
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.number_text import parse_number
from sweetspot.scaling.fitted import fit_shipped_scaling
from sweetspot.scaling.several_devices import INTERCONNECTS, scale_to_devices
from sweetspot.study.frameworks import FRAMEWORKS
from sweetspot.throughput.published import RATES
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.plausibility import beyond_peak_factor
from sweetspot.transfer.specifications import Devices, precision_name
from sweetspot.transfer.transferring import (
    Measured,
    check_below_peak,
    learn_devices,
    measured_from_run_files,
    transferred,
)
from sweetspot.warnings import as_text, joined
from sweetspot.wording import amount

COLUMNS = ("gpu", "gpus", "interconnect", "images_per_s", "images_per_s_low", "images_per_s_high")
FIGURE = re.compile(r"(?P<gpu>[^:=]+):(?P<model>[^:=]+):(?P<precision>[^:=]+)(?::(?P<batch>[^:=]*))?=(?P<rate>[^:=]+)")
FORM = 'GPU:MODEL:PRECISION[:BATCH]=RATE, such as "RTX 4090:resnet50:fp16:256=1120"'


def measured(text: str, framework: str, devices: Devices) -> Measured:
    """The figure of `--measured`: FORM, or the path of a run file. Raises UserError."""
    if text.endswith(".parquet"):
        return measured_from_run_files([text], devices)
    found = FIGURE.fullmatch(text.strip())
    if found is None:
        raise UserError(f"--measured is {text!r}; expected {FORM}, or a run file")
    rate = parse_number(found["rate"], "--measured: the rate")
    batch = parse_number(found["batch"], "--measured: the batch") if found["batch"] else math.nan
    if not RATES[0] <= rate <= RATES[1]:
        raise UserError(f"--measured: the rate is {found['rate']!r}; expected samples per second, above 0")
    if found["batch"] and not (batch >= 1 and batch % 1 == 0):
        raise UserError(f"--measured: the batch is {found['batch']!r}; expected a whole number above 0")
    precision, gpu = precision_name(found["precision"]), found["gpu"].strip()
    factor = beyond_peak_factor(gpu, 1, precision, found["model"].strip(), "", rate)
    if factor > 1:
        raise UserError(
            f"--measured is {text!r}: {factor:.3g} times what {devices.get(gpu).gpu} can do at its dense peak; "
            "expected a rate that it can reach"
        )
    return Measured(devices.get(gpu), rate, found["model"].strip(), precision, framework, batch)


def _counts(text: str) -> list[int]:
    """The device counts of `--gpus`. Raises UserError."""
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch(r"[1-9]\d{0,3}", part) for part in parts):
        raise UserError(f"--gpus is {text!r}; expected whole numbers from 1 to 9999, such as 1,8")
    return list(dict.fromkeys(int(part) for part in parts))


def prediction(
    known: list[Measured], on: list[str], gpus: list[int], joins: str | None, studies: Path = STUDIES
) -> pd.DataFrame:
    """One row a device and count: gpu, gpus, interconnect, images_per_s with `_low`, `_high` (90 %), basis, warnings.

    Raises UserError: figures of two workloads, and what `transferred` refuses.
    """
    workloads = {(figure.model, figure.precision, figure.framework) for figure in known}
    if len(workloads) > 1:
        told = " and ".join(f"{model} in {precision}" for model, precision, _ in sorted(workloads))
        raise UserError(f"--measured: figures of {told}; expected several devices with one workload")
    for figure in known:
        check_below_peak(figure)
    learnt = learn_devices(studies)
    wanted = list({device.gpu: device for device in (learnt.devices.get(name) for name in on)}.values())
    one = transferred(known, wanted, learnt)
    rows = [row.to_dict() | {"gpus": 1, "interconnect": "", "basis": "transferred"} for _, row in one.iterrows()]
    able, more = one[one["images_per_s"].notna()], [count for count in gpus if count > 1]
    if more and len(able):
        scaled = scale_to_devices(able, more, known[0], joins, fit_shipped_scaling(studies))
        rows += [row.to_dict() | {"basis": "extrapolated"} for _, row in scaled.iterrows()]
    order = {device.gpu: number for number, device in enumerate(wanted)}
    table = pd.DataFrame(rows).sort_values(["gpu", "gpus"], key=lambda c: c.map(order) if c.name == "gpu" else c)
    shown = table[table["gpus"].isin(gpus) | table["images_per_s"].isna()]
    return shown[[*COLUMNS, "basis", "warnings"]]


def report(known: list[Measured], table: pd.DataFrame) -> str:
    """The table as text for a person, with what to beware of below it."""
    lines = []
    for figure in known:
        batch = "" if math.isnan(figure.batch_size) else f", batch {figure.batch_size:g}"
        cell = f"{figure.model}, {figure.precision}{batch}, {figure.framework}"
        lines.append(f"measured: {figure.device.gpu}, {cell}: {figure.images_per_s:,.4g} {figure.unit}/s")
    lines.append(f"\n{'device':<28} {'gpus':>5} {'per second':>11} {'low':>9} {'high':>9}  {'basis':<12} joined by")
    notes: dict[str, list[str]] = {}
    for row in table.itertuples():
        rates = (row.images_per_s, row.images_per_s_low, row.images_per_s_high)
        middle, low, high = ("-" if math.isnan(rate) else amount(rate) for rate in rates)
        shown = f"{middle:>11} {low:>9} {high:>9}"
        lines.append(f"{row.gpu:<28} {row.gpus:>5} {shown}  {row.basis:<12} {row.interconnect}".rstrip())
        for pair in row.warnings:
            notes.setdefault(as_text([pair]), []).append(f"{row.gpus} x {row.gpu}")
    lines += ["\nlow and high: 90 % prediction interval"] + ["\nwarnings"] * bool(notes)
    return "\n".join([*lines, *(f"  {text} ({', '.join(where)})" for text, where in notes.items())])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot predict`."""
    add, told = parser.add_argument, f"{FORM}; or a run file; may be repeated"
    add("--measured", metavar="FIGURE", action="append", required=True, help=told)
    add("--on", metavar="GPU,...", required=True, help="devices, such as h100-sxm,rtx-5090")
    add("--gpus", metavar="N,...", default="1", help="how many of each, such as 1,8 (1)")
    told = "framework of the figure (torch); a run file tells its own"
    add("--framework", choices=sorted(FRAMEWORKS), default="torch", help=told)
    add("--interconnect", choices=INTERCONNECTS, help="what joins several devices; default: by the form of the device")
    add("--json", action="store_true", help="print one JSON object instead of text")


def run(arguments: argparse.Namespace) -> None:
    """Print the table. Raises UserError."""
    devices = shipped_devices()
    known = [measured(text, arguments.framework, devices) for text in arguments.measured]
    on = [name.strip() for name in arguments.on.split(",") if name.strip()]
    if not on:
        raise UserError(f"--on is {arguments.on!r}; expected devices, such as h100-sxm,rtx-5090")
    table = prediction(known, on, _counts(arguments.gpus), arguments.interconnect)
    if not arguments.json:
        print(report(known, table))
        return
    rows = [without_nan(row) | {"warnings": joined(row["warnings"])} for row in table.to_dict("records")]
    figures = [
        {"gpu": one.device.gpu, "images_per_s": one.images_per_s, "model": one.model, "precision": one.precision}
        for one in known
    ]
    print(json.dumps({"measured": figures, "predicted": rows, "level": 0.9}, indent=2))
