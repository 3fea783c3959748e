"""Test the extrapolation on your own figures: how wrong would each method have been?

Reads FILE, a CSV of one benchmark's figures of one and of several devices: columns gpu, gpus, model, batch_size,
precision, dataset, images_per_s, benchmark; where known instance, framework, framework_version, note,
source. Or a table of pairs of device counts: gpu, gpus_base, gpus, value_base, value, unit, model; where known
precision, seq_len, batch_per_device, framework, notes. Every method is fitted on the figures that the project ships,
never on FILE, and predicts FILE's larger counts from its smaller ones.
Writes the errors to stdout; without FILE those on the shipped figures themselves, left out in turn.

    sweetspot validate-scaling
    sweetspot validate-scaling figures.csv
    sweetspot validate-scaling figures.csv --json > errors.json
"""

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.commands import validating
from sweetspot.commands.figures_csv import Figures, read_figures
from sweetspot.commands.validating import Validation
from sweetspot.scaling.evidence import from_one_device
from sweetspot.scaling.judge import WITHIN, Learned, artefacts, judged, learn, no_loss, shipped_evidence, shipped_table
from sweetspot.scaling.methods import fit_method
from sweetspot.scaling.validation import (
    STUDY_MODELS,
    Calibration,
    best_method,
    held_out,
    summary,
    validation_table,
    widths,
)
from sweetspot.warnings import as_text

HEAD = (
    "| where | figures | left out in turn | rows | median | 90th percentile | in the 90 % interval "
    "| nothing lost | goal |"
)
LEFT = {
    "without_partner": "Rows without a partner of fewer devices",
    "flagged": "Flagged rows",
    "not_predicted": "Pairs within a node without a single device, not predicted",
}


@functools.cache
def _shipped(studies: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    evidence, rule = shipped_evidence(studies)
    return evidence, rule, held_out(from_one_device(evidence), rule)


def _validate(figures: Figures, studies: Path) -> dict[str, Any]:
    """Errors of each method on the figures of `read_figures`, fitted on what the project ships in `studies`.

    Returns `methods` and `study_models` (lists: method, rows, median_abs_error, p90_abs_error, bias, coverage90; rows
    within a node whose partner is a single device), `places` (the same of the headline within a node, across nodes
    and for times to a target, with `no_loss_median` and `no_loss_p90`, the errors of taking nothing to be
    lost), `headline` (the method with the best error on shipped families left out), `without_partner` (multi-device
    rows that have no partner), `not_predicted`, `flagged` (super-linear or inconsistent), `families`,
    `families_fitted` (those of FILE that the shipped figures hold too).
    """
    paired, alone, _ = figures
    flagged = paired[[len(told) > 0 for told in paired["warnings"]]]
    evidence, rule, errors = _shipped(studies)
    headline, wide = best_method(validation_table(errors)), widths(errors)
    learned = learn(evidence, rule, headline, wide[headline], studies)
    told = judged(paired, learned)
    one = told[told["where"] == WITHIN]
    studied = one[one["model"].isin(STUDY_MODELS)]
    return {
        "headline": headline,
        "methods": _by_method(one, evidence, rule, learned, wide),
        "study_models": _by_method(studied, evidence, rule, learned, wide),
        "places": [{"where": where, **summary(part), **no_loss(part)} for where, part in _places_of(told)],
        "without_partner": [_place(row) for row in alone.itertuples()],
        "not_predicted": [_place(row) for row in paired.drop(index=told.index).itertuples()],
        "flagged": [{**_place(row), "warning": as_text(row.warnings)} for row in flagged.itertuples()],
        "families": sorted(set(paired["family"])),
        "families_fitted": sorted(set(paired["family"]) & set(evidence["family"])),
    }


def _places_of(told: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The figures by place, and those within a node once more without artefacts, where there are any."""
    parts = [(str(where), part) for where, part in told.groupby("where")]
    sound = told[(told["where"] == WITHIN) & ~artefacts(told)]
    return parts + ([(f"{WITHIN}, no artefacts", sound)] if 0 < len(sound) < (told["where"] == WITHIN).sum() else [])


def _by_method(
    paired: pd.DataFrame, evidence: pd.DataFrame, rule: pd.DataFrame, learned: Learned, wide: dict[str, Calibration]
) -> list[dict[str, Any]]:
    one = from_one_device(evidence)
    tried = {
        method: judged(paired, learned._replace(predictor=fit_method(method, one, rule), width=width))
        for method, width in (wide.items() if len(paired) else ())
    }
    return [{"method": method, **summary(told)} for method, told in tried.items()]


def _place(row: Any) -> dict[str, Any]:
    batch = None if np.isnan(row.batch_size) else int(row.batch_size)
    named = {name: getattr(row, name) for name in ("gpu", "instance", "model", "precision", "dataset")}
    return {"line": int(row.line), "gpus": int(row.gpus), "batch_size": batch, **named}


def report(path: Path, result: dict[str, Any]) -> str:
    """The result as text for a person."""
    lines = [f"{path}: errors of predicted images/s, by methods fitted on the shipped figures only"]
    for title, key in (("all models", "methods"), ("inception3, resnet50, vgg16", "study_models")):
        if not result[key]:
            lines.append(f"\n{title}: no multi-device row with a single-device partner")
            continue
        lines += [f"\n{title}", f"{'method':<18} {'rows':>5} {'median':>8} {'p90':>8} {'bias':>8} {'in 90 %':>8}"]
        for row in result[key]:
            mark = " <- headline" if row["method"] == result["headline"] else ""
            lines.append(f"{row['method']:<18} {row['rows']:>5} {_shares(row, 'bias', 'coverage90')}{mark}")
    lines.append(f"\n{'headline, and between nodes':<42} {'rows':>5} {'median':>8} {'p90':>8} {'in 90 %':>8}  no loss")
    for row in result["places"]:
        nothing = f"{row['no_loss_median']:.1%}, {row['no_loss_p90']:.1%}"
        lines.append(f"{row['where']:<42} {row['rows']:>5} {_shares(row, 'coverage90')}  {nothing}")
    if result["families_fitted"]:
        lines.append(f"\nNot blind: the fit holds figures of {', '.join(result['families_fitted'])} too.")
    for key, title in LEFT.items():
        lines.append(f"\n{title}: {len(result[key])}")
        for row in result[key]:
            batch = row["batch_size"] or "not stated"
            cell = f"{row['gpus']} x {row['gpu']}, {row['model']}, batch {batch}, {row['precision']}, {row['dataset']}"
            lines.append(f"  line {row['line']}: {cell}" + (f": {row['warning']}" if "warning" in row else ""))
    lines += [f"\nBad rows, left out: {len(result['bad_rows'])}", *(f"  {text}" for text in result["bad_rows"])]
    return "\n".join(lines)


def _shares(row: dict[str, Any], *more: str) -> str:
    return " ".join(f"{row[name]:>8.1%}" for name in ("median_abs_error", "p90_abs_error", *more))


def _shipped_report(table: pd.DataFrame) -> str:
    """`judge.shipped_table` as Markdown, for docs/scaling.md."""
    lines = [HEAD, f"|{'---|' * 9}"]
    for row in table.itertuples():
        errors = f"{row.median_abs_error:.1%} | {row.p90_abs_error:.0%} | {row.coverage90:.0%}"
        plain = f"{row.no_loss_median:.1%}, {row.no_loss_p90:.0%}"
        told = f"{row.where} | `{row.figures}` | {row.left_out} | {row.rows} | {errors} | {plain} | {row.goal}"
        lines.append(f"| {told} |")
    return "\n".join(lines)


add_arguments = functools.partial(validating.add_arguments, figures="one and several devices")
run = functools.partial(
    validating.run, kind=Validation(shipped_table, _shipped_report, read_figures, _validate, report)
)
