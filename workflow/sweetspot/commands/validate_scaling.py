"""Test the extrapolation on your own figures: how wrong would each method have been?

Reads FILE, a CSV of one benchmark's figures of one and of several devices: columns gpu, gpus, model, batch_size,
precision, dataset, images_per_s, benchmark; where known instance, framework, framework_version, note,
source. Every method is fitted on the figures that the project ships, never on FILE, and predicts FILE's multi-device
rows from its single-device rows.
Writes the errors of each method to stdout.

    sweetspot validate-scaling figures.csv
    sweetspot validate-scaling figures.csv --json > errors.json
"""

import argparse
import csv
import functools
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

# Small matrices: threads cost more than they give, and a shared machine has other work.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np
import pandas as pd

from sweetspot.errors import UserError
from sweetspot.scaling.conformal import scores
from sweetspot.scaling.methods import fit_method
from sweetspot.scaling.partners import with_partners
from sweetspot.scaling.shipped import STUDIES, shipped_evidence
from sweetspot.scaling.validation import STUDY_MODELS, best_method, held_out, summary, validation_table, widths
from sweetspot.throughput.published_machine import STATED
from sweetspot.warnings import as_text

SPELLINGS = {"gpus": "gpu_count", "batch_size": "batch_per_gpu", "images_per_s": "images_per_sec"}
NEEDED = ("gpu", "gpus", "model", "batch_size", "precision", "dataset", "images_per_s", "benchmark")
OPTIONAL = ("instance", "framework", "framework_version", "variant", "source", "note", *STATED)


def read_figures(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Rows of a throughput CSV and a message for each bad row, which is left out.

    Columns: NEEDED and OPTIONAL, under these names or those of SPELLINGS; further ones are ignored. `line` is the
    row's line in the file. batch_size may be empty (NaN). Raises UserError: no such file, no CSV, a column missing.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            reader = csv.reader(handle, strict=True)
            header = [name.strip() for name in next(reader, [])]
            names = [next((our for our, other in SPELLINGS.items() if name == other), name) for name in header]
            for missing in [name for name in NEEDED if name not in names]:
                other = f" (or '{SPELLINGS[missing]}')" if missing in SPELLINGS else ""
                raise UserError(f"{path}, line 1: column '{missing}'{other} is missing; expected {', '.join(NEEDED)}")
            read = [(reader.line_num, row) for row in reader if any(value.strip() for value in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: cannot be read as a CSV table: {error}") from None
    rows, bad = [], []
    for line, values in read:
        try:
            rows.append({"line": line, **_checked(dict(zip(names, values, strict=True)))})
        except ValueError as error:
            reason = f"{len(values)} values; expected {len(names)}" if len(values) != len(names) else str(error)
            bad.append(f"{path}, line {line}: {reason}")
    return pd.DataFrame(rows, columns=["line", *NEEDED, *OPTIONAL]), bad


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


@functools.cache
def _shipped(studies: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The shipped figures, the 2018 study's table, and the errors on families left out."""
    evidence, rule = shipped_evidence(studies)
    return evidence, rule, held_out(evidence, rule)


def validate(figures: pd.DataFrame, studies: Path) -> dict[str, Any]:
    """Errors of each method on the figures (columns of `read_figures`), fitted on what the project ships in `studies`.

    Returns `methods` and `study_models` (lists: method, rows, median_abs_error, p90_abs_error, bias, coverage50,
    coverage90), `headline` (the method with the best error on shipped families left out), `without_partner`
    (multi-device rows that have no single-device row), `flagged` (super-linear or inconsistent), `families`,
    `families_fitted` (those of FILE that the shipped figures hold too).
    """
    paired, alone = with_partners(figures)
    flagged = paired[[len(told) > 0 for told in paired["warnings"]]]
    evidence, rule, errors = _shipped(studies)
    result: dict[str, Any] = {
        "headline": best_method(validation_table(errors)),
        "methods": [],
        "study_models": [],
        "without_partner": [_place(row) for row in alone.itertuples()],
        "flagged": [{**_place(row), "warning": as_text(row.warnings)} for row in flagged.itertuples()],
        "families": sorted(set(paired["family"])),
        "families_fitted": sorted(set(paired["family"]) & set(evidence["family"])),
    }
    if paired.empty:
        return result
    three = paired["model"].isin(STUDY_MODELS).to_numpy()
    for method, width in widths(errors).items():
        predicted = fit_method(method, evidence, rule)(paired)
        score = scores(paired["efficiency"], predicted)
        table = pd.DataFrame(
            {
                "error": (predicted["efficiency"] / paired["efficiency"] - 1).to_numpy(),
                "inside50": score <= width[0.5],
                "inside90": score <= width[0.9],
            }
        )
        result["methods"].append({"method": method, **summary(table)})
        if three.any():
            result["study_models"].append({"method": method, **summary(table[three])})
    return result


def _place(row: Any) -> dict[str, Any]:
    batch = None if np.isnan(row.batch_size) else int(row.batch_size)
    named = {name: getattr(row, name) for name in ("gpu", "instance", "model", "precision", "dataset")}
    return {"line": int(row.line), "gpus": int(row.gpus), "batch_size": batch, **named}


def report(path: Path, result: dict[str, Any]) -> str:
    """The result as text for a person."""
    lines = [f"{path}: errors of predicted images/s, by methods fitted on the shipped figures only"]
    for title, key in (("all models", "methods"), ("inception3, resnet50, vgg16", "study_models")):
        if not result[key]:
            lines += [f"\n{title}: no multi-device row with a single-device partner"]
            continue
        lines += [f"\n{title}", f"{'method':<18} {'rows':>5} {'median':>8} {'p90':>8} {'bias':>8} {'in 90 %':>8}"]
        for row in result[key]:
            values = [row[name] for name in ("median_abs_error", "p90_abs_error", "bias", "coverage90")]
            mark = " <- headline" if row["method"] == result["headline"] else ""
            lines.append(f"{row['method']:<18} {row['rows']:>5} " + " ".join(f"{v:>8.1%}" for v in values) + mark)
    if result["families_fitted"]:
        lines.append(f"\nNot blind: the fit holds figures of {', '.join(result['families_fitted'])} too.")
    for key, title in (("without_partner", "Rows without a single-device partner"), ("flagged", "Flagged rows")):
        lines.append(f"\n{title}: {len(result[key])}")
        for row in result[key]:
            batch = row["batch_size"] or "not stated"
            cell = f"{row['gpus']} x {row['gpu']}, {row['model']}, batch {batch}, {row['precision']}, {row['dataset']}"
            lines.append(f"  line {row['line']}: {cell}" + (f": {row['warning']}" if "warning" in row else ""))
    lines += [f"\nBad rows, left out: {len(result['bad_rows'])}", *(f"  {text}" for text in result["bad_rows"])]
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot validate-scaling`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="CSV of throughput figures, one and several devices")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument(
        "--studies", type=Path, metavar="DIR", help="where the project's studies are; default: beside the library"
    )


def run(arguments: argparse.Namespace) -> None:
    """Print the errors of each method; a bad row is named on stderr and left out. Raises UserError."""
    figures, bad = read_figures(arguments.file)
    for text in bad:
        print(f"warning: {text}", file=sys.stderr)
    if figures.empty:
        raise UserError(f"{arguments.file}: no usable row; expected figures of one and of several devices")
    shipped = validate(figures, arguments.studies or _studies())
    result = {"file": str(arguments.file), **shipped, "bad_rows": bad}
    print(json.dumps(result, indent=2) if arguments.json else report(arguments.file, result))


def _studies() -> Path:
    """Beside the library where that stands in its repository, else of the project in the current folder."""
    here = Path("config") / "studies"
    return here if not STUDIES.is_dir() and here.is_dir() else STUDIES
