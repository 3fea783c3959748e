"""Test the transfer from one device to another on your own figures: how wrong would it have been?

Reads FILE, a CSV of figures of single devices: columns gpu, gpus, model, precision, value, unit; where known benchmark,
framework, seq_len, batch_per_device and notes; rows of several devices are left out, and counted. For every pair of
devices within a workload one is taken as known. What is learnt is learnt from the figures that the project ships, never
from FILE; a workload that stands in both is left out of the fit. Writes errors and coverage of the 90 % interval to
stdout, beside them those of the simple rule (yardstick): the median ratio of the two devices over all other workloads
of the same precision. Without FILE: on the shipped figures, with workloads, devices and both left out in turn.

    python -m research validate-transfer
    python -m research validate-transfer figures.csv
    python -m research validate-transfer figures.csv --json > errors.json
"""

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from sweetspot.throughput.calibration import Goal
from sweetspot.transfer.figures import as_figures, related, shipped_devices, shipped_figures
from sweetspot.transfer.left_out import KNOWN, MODERN, PROGRAMS, SPECIFIED, judged, shipped_errors, summary
from sweetspot.transfer.transferring import learn_devices

from research import validating
from research.figures_csv import DeviceFigures, read_device_figures
from research.validating import Validation

SUITE = "Lambda"  # whose workloads have run on the most devices: the yardstick was first tried on them
PLACES = {KNOWN: "devices known, workload new", SPECIFIED: "a device by its specifications only", "all": "all pairs"}
HEAD = "| left out in turn | figures | rows | median | 90th percentile | in the 90 % interval | yardstick | goal |"
GOALS = {(PROGRAMS, MODERN): Goal(0.15, 0.40)}


def _validate(given: DeviceFigures, studies: Path) -> dict[str, Any]:
    """Errors on the figures of `read_device_figures`: `places` (for each of PLACES that there is, `summary`), counts.

    Returns further `workloads`, `devices`, `unspecified` (devices of FILE without specifications), `several_devices`
    (rows left out), `alone` (figures whose workload has no second device).
    """
    devices = shipped_devices()
    figures = as_figures(given.table, devices)
    learnt = learn_devices(studies)
    pairs = judged(related(figures), learnt.relations, learnt.trusts)
    parts = {place: pairs if place == "all" else pairs[pairs["place"] == place] for place in PLACES}
    return {
        "places": [
            {"place": place, **summary(part["gap"], part["inside90"], part["yardstick"])}
            for place, part in parts.items()
            if len(part)
        ],
        "workloads": int(pairs["workload"].nunique()),
        "devices": sorted(set(pairs["device"])),
        "unspecified": sorted({str(gpu) for gpu in given.table["gpu"] if devices.find(str(gpu)) is None}),
        "several_devices": given.several,
        "alone": len(figures) - len(related(figures)),
    }


def report(path: Path, result: dict[str, Any]) -> str:
    """The result as text for a person."""
    lines = [
        f"{path}: {result['workloads']} workloads, {len(result['devices'])} devices; errors of predicted throughput, "
        "learnt from the shipped figures only",
        f"\n{'':<38} {'pairs':>6} {'median':>8} {'p90':>8} {'in 90 %':>8}   yardstick (median, p90)",
    ]
    for row in result["places"]:
        shown = " ".join(f"{row[name]:>8.1%}" for name in ("median_abs_error", "p90_abs_error", "coverage90"))
        lines.append(f"{PLACES[row['place']]:<38} {row['rows']:>6} {shown}   {_yardstick(row)}")
    if not result["places"]:
        lines.append("no workload with two devices that are specified")
    told = {"unspecified": "Devices that nobody has specified, left out", "bad_rows": "Bad rows, left out"}
    for key, title in told.items():
        lines += [f"\n{title}: {len(result[key])}", *(f"  {text}" for text in result[key])]
    lines.append(f"\nRows of several devices, left out: {result['several_devices']}; figures alone: {result['alone']}")
    return "\n".join(lines)


def _yardstick(row: dict[str, Any]) -> str:
    if not row["yardstick_rows"]:
        return "-"
    only = f" on {row['yardstick_rows']} of them" if row["yardstick_rows"] < row["rows"] else ""
    return f"{row['yardstick_median']:.1%}, {row['yardstick_p90']:.0%}{only}"


def _shipped_report(table: pd.DataFrame) -> str:
    """`left_out.shipped_errors` as Markdown, for docs/scaling.md."""
    lines = [HEAD, f"|{'---|' * 8}"]
    for row in table.to_dict("records"):
        errors = f"{row['median_abs_error']:.1%} | {row['p90_abs_error']:.0%} | {row['coverage90']:.0%}"
        goal = GOALS.get((row["left_out"], row["figures"]))
        asked = goal.told(row) if goal else ""
        lines.append(
            f"| {row['left_out']} | {row['figures']} | {row['rows']} | {errors} | {_yardstick(row)} | {asked} |"
        )
    return "\n".join(lines)


def _shipped(studies: Path) -> pd.DataFrame:
    return shipped_errors(shipped_figures(studies), SUITE)


add_arguments = partial(validating.add_arguments, figures="of single devices")
run = partial(validating.run, kind=Validation(_shipped, _shipped_report, read_device_figures, _validate, report))
