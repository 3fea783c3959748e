"""How wrong is the extrapolation to several devices, on figures of your own or on shipped ones that were left out?

Reads FILE, a CSV of one benchmark's figures of one and of several devices: columns gpu, gpus, model, batch_size,
precision, dataset, images_per_s, benchmark; where known instance, framework, framework_version, note, source. Or a
table of pairs of device counts: gpu, gpus_base, gpus, value_base, value, unit, model; where known precision, seq_len,
batch_per_device, framework, interconnect, notes. Every method is fitted to the figures that the project ships, never
to FILE, and predicts FILE's larger counts from its smaller ones. Without FILE, the shipped figures themselves are
predicted by fits without their device family and their publisher.

    python -m research validate-scaling
    python -m research validate-scaling figures.csv
    python -m research validate-scaling figures.csv --json > errors.json
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sweetspot.facts.shipped_tables import STUDIES, figures_file
from sweetspot.scaling.across_nodes import (
    MINIMUM_WIDTH,
    NodeScaling,
    node_errors,
    spans_nodes,
)
from sweetspot.scaling.evidence import (
    concat_filled,
    learnable,
    study_efficiency,
    study_evidence,
)
from sweetspot.scaling.fitted import FittedScaling, shipped_evidence
from sweetspot.scaling.intervals import (
    LEARNED_METHOD,
    METHODS,
    error_summary,
    validation_errors,
)
from sweetspot.scaling.published_pairs import POD_FABRIC
from sweetspot.scaling.step_facts import MODERN, eras_of
from sweetspot.scaling.strong import MINIMUM_WIDTH as MINIMUM_STRONG_WIDTH
from sweetspot.scaling.strong import StrongScaling, crossings, fit_strong, result_pairs, strong_errors
from sweetspot.study.instances import load_instances
from sweetspot.study.study import load_study
from sweetspot.throughput.calibration import calibrate
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.published import read_efficiency
from sweetspot.throughput.time_to_target import read_times
from sweetspot.transfer.figures import network_name
from sweetspot.warnings import as_text

from research import validating
from research.figures_csv import Figures, read_figures
from research.validating import Validation

FOUNDING_STUDY = "parkopedia-2018"
TIMES = ("eight-gpus-2026", "scaling-2026")  # where times to a target are shipped
STUDY_MODELS = ("inception3", "resnet50", "vgg16")
STUDY_BENCHMARKS = ("llama2_70b_lora", "llama31_8b")  # that a study asks about
WITHIN_NODE = "within a node"
ACROSS_NODES = "across nodes, batch per device fixed"
TIME_TO_TARGET = "across nodes, time to a target"
ARTEFACTS = {"super_linear", "inconsistent"}  # a figure, or the one beside it, is no speed of the devices
FAMILY, FAMILY_AND_PUBLISHER = "family", "family and publisher"
# How far the figures themselves allow: the publisher with all its sets, the machine alone, or nothing left out.
FAMILY_AND_OWNER, MACHINE, NOTHING = "family and all sets of the publisher", "machine", "nothing"
# What figures state of a run and its machine.
STATED = [
    "publisher", "gpu", "link", "framework_version", "variant", "xla", "model", "batch_size", "precision", "gpus",
]  # fmt: skip


class Goal(NamedTuple):
    """What errors on left-out figures must reach: median, 90th percentile, and 85 to 95 % in the 90 % interval."""

    median: float
    p90: float

    def verdict(self, row: Mapping[str, float]) -> str:
        """Say the goal, and whether a row (median_abs_error, p90_abs_error, coverage90) reaches it as printed."""
        missed = {
            "median": round(row["median_abs_error"], 3) > self.median,
            "90th percentile": round(row["p90_abs_error"], 2) > self.p90,
            "coverage": not 0.85 <= round(row["coverage90"], 2) <= 0.95,
        }
        names = " and ".join(name for name, is_missed in missed.items() if is_missed)
        goal = f"{100 * self.median:g} %, {100 * self.p90:g} %, 85 to 95 %"
        return f"{goal}: {names} missed" if names else f"{goal}: held"


GOALS = {
    (WITHIN_NODE, FAMILY_AND_PUBLISHER): Goal(0.033, 0.15),
    (TIME_TO_TARGET, FAMILY): Goal(0.08, 0.22),
}
SHIPPED_COLUMNS = (
    "where", "figures", "left_out", "rows", "median_abs_error", "p90_abs_error", "bias", "coverage90",
    "no_loss_median", "no_loss_p90", "model_mean_median", "model_mean_p90", "goal",
)  # fmt: skip
HEAD = (
    "| where | figures | left out | rows | median | 90th percentile | in the 90 % interval | nothing lost "
    "| mean by model | goal |"
)
LISTS = {
    "without_partner": "Rows without a partner of fewer devices",
    "flagged": "Flagged rows",
    "not_predicted": "Pairs within a node without a single device, not predicted",
}


@dataclass(frozen=True)
class ShippedFits:
    """What the shipped figures teach: each method with several nodes, times to a target."""

    scaling: FittedScaling
    strong: StrongScaling
    families: frozenset[str]


def founding_evidence(studies: Path) -> pd.DataFrame:
    """Return the evidence of the founding study, whose efficiencies the 2018 rule averages."""
    folder = figures_file(FOUNDING_STUDY, studies).parent
    study, instances = load_study(folder), load_instances(folder / "instances.yaml")
    throughput = gather_throughput([], study.cells, study.as_of.isoformat(), instances, folder)
    printed = read_efficiency(folder / "efficiency.csv")
    efficiency = study_efficiency(throughput, printed, instances, study.cells.framework)
    return study_evidence(FOUNDING_STUDY, efficiency, throughput, instances)


def all_shipped_evidence(studies: Path) -> pd.DataFrame:
    """Return the evidence of the pools and of the founding study."""
    return concat_filled([shipped_evidence(studies), founding_evidence(studies)])


def shipped_times(studies: Path) -> list[pd.DataFrame]:
    """Return the shipped times to a target: those a study asks about, then those of the pool."""
    return [read_times(figures_file(name, studies, "time_to_target.csv")) for name in TIMES]


@functools.cache
def fit_shipped(studies: Path) -> ShippedFits:
    """Fit every method to what is shipped."""
    evidence = all_shipped_evidence(studies)
    own_times, *further_times = shipped_times(studies)
    strong = fit_strong(own_times, further_times)
    return ShippedFits(FittedScaling.fit(evidence), strong, frozenset(evidence["family"]))


def no_loss_errors(rows: pd.DataFrame) -> dict[str, float]:
    """Return the errors of the plain rule that nothing is lost; rows: efficiency or log_minutes."""
    predicted = np.exp(-rows["log_minutes"]) if "log_minutes" in rows else 1 / rows["efficiency"]
    errors = (predicted - 1).abs()
    return {"no_loss_median": float(errors.median()), "no_loss_p90": float(errors.quantile(0.9))}


def model_mean_errors(rows: pd.DataFrame) -> dict[str, float]:
    """Return the errors of the plain rule that a network has its mean efficiency.

    rows: `learnable` evidence. The mean is that of other families and publishers; a network that only they lack
    takes the mean of its era.
    """
    network = rows["model"].map(lambda model: network_name(str(model)))
    predicted = pd.Series(np.nan, rows.index)
    for (family, publisher), part in rows.groupby(["family", "publisher"]):
        is_training = (rows["family"] != family) & (rows["publisher"] != publisher)
        training = rows[is_training]
        by_network = training["efficiency"].groupby([training["era"], network[is_training]]).mean()
        by_era = training["efficiency"].groupby(training["era"]).mean()
        means = by_network.reindex(pd.MultiIndex.from_arrays([part["era"], network[part.index]]))
        fallback = by_era.reindex(part["era"]).fillna(training["efficiency"].mean())
        predicted[part.index] = np.where(means.isna(), fallback, means)
    errors = (predicted / rows["efficiency"] - 1).abs()
    return {"model_mean_median": float(errors.median()), "model_mean_p90": float(errors.quantile(0.9))}


def with_owners(rows: pd.DataFrame) -> pd.DataFrame:
    """Name the owner of a repository as the publisher of its rows (`learnable` evidence), whatever the benchmark."""
    owner = rows["publisher"].str.extract(r"([\w.-]+)/[\w.-]+$")[0]
    return rows.assign(publisher=owner.fillna(rows["publisher"]))


def seen_errors(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return `learnable` evidence with the `error` of a fit that has seen all its rows, without inside90."""
    predicted = METHODS[method].fit(rows).efficiency(rows)
    return rows.assign(error=predicted / rows["efficiency"] - 1, inside90=np.nan)


def repeat_errors(rows: pd.DataFrame) -> pd.DataFrame:
    """Select the rows that agree with others in all that is STATED; `error`: of the median of the others.

    rows: `learnable` evidence. What is left is due to the machine, which no figure describes further.
    """
    repeats = rows[rows.duplicated(STATED, keep=False)]
    others = pd.Series(np.nan, repeats.index)
    for _, part in repeats.groupby(STATED, dropna=False):
        others[part.index] = [part["efficiency"].drop(index).median() for index in part.index]
    return repeats.assign(error=others / repeats["efficiency"] - 1, inside90=np.nan)


def with_coverage(errors: pd.DataFrame, minimum_width: float) -> pd.DataFrame:
    """Add inside90: whether the width from the other groups' errors contains each row.

    Parameters
    ----------
    errors
        `group` and `score` (|log error| at one doubling).
    minimum_width
        No width is below it.

    """
    groups, score = errors["group"].to_numpy(), errors["score"].to_numpy(dtype=float)
    widths = {
        name: max(calibrate(score[groups != name], groups[groups != name], 0.9), minimum_width) for name in set(groups)
    }
    return errors.assign(inside90=score <= np.array([widths[name] for name in groups]))


def time_errors(pairs: pd.DataFrame, group: str) -> pd.DataFrame:
    """Return `strong_errors` with `error` and inside90, each group left out in turn."""
    errors = strong_errors(pairs, group)
    score = errors["gap"].abs() / np.sqrt(errors["doublings"])
    errors = errors.assign(error=np.expm1(errors["gap"]), group=errors[group], score=score)
    return with_coverage(errors, MINIMUM_STRONG_WIDTH)


def shipped_table(studies: Path = STUDIES, method: str = LEARNED_METHOD) -> pd.DataFrame:
    """Return the errors of a method on shipped figures that were left out of its fits, in SHIPPED_COLUMNS."""
    evidence = all_shipped_evidence(studies)
    has_single_base = evidence["base_gpus"] == 1
    known = learnable(evidence[has_single_base])
    rows, owners = (validation_errors(METHODS[method], part) for part in (known, with_owners(known)))
    is_modern = rows["era"] == MODERN
    table = [
        (WITHIN_NODE, "all", FAMILY_AND_PUBLISHER, rows),
        (WITHIN_NODE, "modern programs", FAMILY_AND_PUBLISHER, rows[is_modern]),
        (WITHIN_NODE, "classic programs", FAMILY_AND_PUBLISHER, rows[~is_modern]),
        (WITHIN_NODE, "modern programs", FAMILY_AND_OWNER, owners[is_modern]),
        (WITHIN_NODE, "measured again", MACHINE, repeat_errors(known)),
        (WITHIN_NODE, "all", NOTHING, seen_errors(known, method)),
    ]
    several = evidence[~has_single_base]
    for group in (FAMILY, "variant"):
        errors = with_coverage(node_errors(several, group), MINIMUM_WIDTH)
        table.append((ACROSS_NODES, "scaling-2026", group, errors))
    pairs = result_pairs(pd.concat(shipped_times(studies)))
    for group in (FAMILY, "submitter"):
        errors = time_errors(pairs, group)
        is_asked = errors["benchmark"].isin(STUDY_BENCHMARKS)
        table.append((TIME_TO_TARGET, TIMES[0], group, errors[is_asked]))
        table.append((TIME_TO_TARGET, TIMES[1], group, errors[~is_asked]))
    records: list[dict[str, Any]] = []
    for where, figures, left_out, errors in table:
        record: dict[str, Any] = {"where": where, "figures": figures, "left_out": left_out}
        record |= {**error_summary(errors), **no_loss_errors(errors)}
        if left_out == FAMILY_AND_PUBLISHER:
            record |= model_mean_errors(errors)
        goal = GOALS.get((where, left_out)) if figures in ("all", TIMES[0]) else None
        records.append(record | {"goal": goal.verdict(record) if goal else ""})
    return pd.DataFrame(records).reindex(columns=list(SHIPPED_COLUMNS))


def is_artefact(evidence: pd.DataFrame) -> pd.Series:
    """Return whether a figure's warnings say that it is no speed of the devices."""
    return evidence["warnings"].map(lambda pairs: bool(ARTEFACTS & {pair["rule"] for pair in pairs}))


def predict_pairs(paired: pd.DataFrame, fits: ShippedFits, method: str) -> pd.DataFrame:
    """Predict pairs of device counts by the part of the model that knows them.

    Parameters
    ----------
    paired
        EVIDENCE_COLUMNS; where known `strong` (bool: efficiency is of times to a target) and `batches` (ratio of the
        global batches, NaN: not stated).
    fits
        What the shipped figures teach.
    method
        The method within a node.

    Returns
    -------
    pd.DataFrame
        The pairs with `where`, `predicted`, `error` and inside90. Pairs within a node whose base has several
        devices are left out: nothing is learnt of them.

    """
    is_time = paired.get("strong", pd.Series(False, paired.index)).astype(bool)
    has_single_base = ~is_time & (paired["base_gpus"] == 1)
    leaves_node = spans_nodes(paired) | (paired["interconnect"] == POD_FABRIC)
    tables = [
        _predict_from_single(paired[has_single_base], fits, method),
        _predict_across(paired[~is_time & ~has_single_base & leaves_node], fits.scaling.node_scaling),
        _predict_times(paired[is_time], fits.strong),
    ]
    return pd.concat([table for table in tables if len(table)] or tables[:1])


def _predict_from_single(rows: pd.DataFrame, fits: ShippedFits, method: str) -> pd.DataFrame:
    predicted = fits.scaling.predict(method, rows)
    where = np.where(spans_nodes(rows), ACROSS_NODES, WITHIN_NODE)
    return _with_errors(rows, where, predicted)


def _predict_across(rows: pd.DataFrame, node_scaling: NodeScaling) -> pd.DataFrame:
    predicted = node_scaling.predict(rows)
    factor = np.exp(predicted["width"])
    return _with_errors(rows, ACROSS_NODES, _with_bounds(predicted["efficiency"], factor))


def _predict_times(rows: pd.DataFrame, strong: StrongScaling) -> pd.DataFrame:
    batches = rows.get("batches", pd.Series(np.nan, rows.index)).astype(float).fillna(1.0)
    pairs = rows.assign(
        benchmark=rows["model"],
        doublings=np.log2(rows["gpus"] / rows["base_gpus"]).astype(float),
        leaves=crossings(rows["gpu"].astype(str), rows["base_gpus"], rows["gpus"]),
        log_batch=np.log(batches),
    )
    factor = strong.interval_factor(pairs["doublings"])
    return _with_errors(rows, TIME_TO_TARGET, _with_bounds(np.exp(-strong.log_change(pairs)), factor))


def _with_bounds(efficiency: pd.Series, factor: pd.Series) -> pd.DataFrame:
    bounds = {"efficiency": efficiency, "low": efficiency / factor, "high": efficiency * factor}
    return pd.DataFrame(bounds, efficiency.index)


def _with_errors(rows: pd.DataFrame, where: Any, predicted: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(
        predicted=predicted["efficiency"],
        error=predicted["efficiency"] / rows["efficiency"] - 1,
        inside90=rows["efficiency"].between(predicted["low"], predicted["high"]),
        where=where,
    )


def validate_figures(figures: Figures, studies: Path) -> dict[str, Any]:
    """Predict figures of a file by what the project ships in `studies`.

    Parameters
    ----------
    figures
        The result of `read_figures`.
    studies
        Folder of studies, which come before what is shipped.

    Returns
    -------
    dict
        `headline` (the default method); `methods` and `study_models` (lists: method, rows, median_abs_error,
        p90_abs_error, bias, coverage90; of pairs with a single device as base); `places` (the same of the headline
        within a node, across nodes and for times to a target, with the errors of taking nothing to be lost);
        `without_partner`, `not_predicted`, `flagged` (lists of rows); `families` and, of those, `families_fitted`.

    """
    paired, unpaired, _ = figures
    fits = fit_shipped(studies)
    predicted = predict_pairs(paired, fits, LEARNED_METHOD)
    has_warning = paired["warnings"].map(len) > 0
    within = predicted[predicted["where"] == WITHIN_NODE]
    of_study = within[within["model"].isin(STUDY_MODELS)]
    families = set(paired["family"])
    return {
        "headline": LEARNED_METHOD,
        "methods": _summaries(within, fits),
        "study_models": _summaries(of_study, fits),
        "places": [
            {"where": where, **error_summary(rows), **no_loss_errors(rows)} for where, rows in _places(predicted)
        ],
        "without_partner": [_describe_row(row) for row in unpaired.itertuples()],
        "not_predicted": [_describe_row(row) for row in paired.drop(index=predicted.index).itertuples()],
        "flagged": [
            {**_describe_row(row), "warning": as_text(row.warnings)} for row in paired[has_warning].itertuples()
        ],
        "families": sorted(families),
        "families_fitted": sorted(families & fits.families),
    }


def _summaries(rows: pd.DataFrame, fits: ShippedFits) -> list[dict[str, Any]]:
    if rows.empty:
        return []
    return [{"method": name, **error_summary(predict_pairs(rows, fits, name))} for name in fits.scaling.methods]


def _places(predicted: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Split pairs by place; those within a node are repeated without artefacts, if there are any."""
    places = [(str(where), rows) for where, rows in predicted.groupby("where")]
    within = predicted[predicted["where"] == WITHIN_NODE]
    clean = within[~is_artefact(within)]
    if 0 < len(clean) < len(within):
        places.append((f"{WITHIN_NODE}, no artefacts", clean))
        modern = clean[eras_of(clean) == MODERN]
        if 0 < len(modern) < len(clean):
            places.append((f"{WITHIN_NODE}, no artefacts, modern programs", modern))
    return places


def _describe_row(row: Any) -> dict[str, Any]:
    batch = None if np.isnan(row.batch_size) else int(row.batch_size)
    names = ("gpu", "instance", "model", "precision", "dataset")
    columns = {name: getattr(row, name) for name in names}
    return {"line": int(row.line), "gpus": int(row.gpus), "batch_size": batch, **columns}


def report(path: Path, result: dict[str, Any]) -> str:
    """Return the result as text for a person."""
    lines = [f"{path}: errors of predicted images/s, by methods fitted to the shipped figures only"]
    for title, key in (("all models", "methods"), ("inception3, resnet50, vgg16", "study_models")):
        if not result[key]:
            lines.append(f"\n{title}: no row of several devices with a single device as partner")
            continue
        lines.append(f"\n{title}")
        lines.append(f"{'method':<18} {'rows':>5} {'median':>8} {'p90':>8} {'bias':>8} {'in 90 %':>8}")
        for row in result[key]:
            mark = " <- headline" if row["method"] == result["headline"] else ""
            shares = _shares(row, "bias", "coverage90")
            lines.append(f"{row['method']:<18} {row['rows']:>5} {shares}{mark}")
    head = f"\n{'headline, and between nodes':<42} {'rows':>5} {'median':>8} {'p90':>8} {'in 90 %':>8}"
    lines.append(f"{head}  no loss")
    for row in result["places"]:
        no_loss = f"{row['no_loss_median']:.1%}, {row['no_loss_p90']:.1%}"
        lines.append(f"{row['where']:<42} {row['rows']:>5} {_shares(row, 'coverage90')}  {no_loss}")
    if result["families_fitted"]:
        lines.append(f"\nNot blind: the fit has figures of {', '.join(result['families_fitted'])} too.")
    for key, title in LISTS.items():
        lines.append(f"\n{title}: {len(result[key])}")
        for row in result[key]:
            batch = row["batch_size"] or "not stated"
            cell = f"{row['gpus']} x {row['gpu']}, {row['model']}, batch {batch}, {row['precision']}, {row['dataset']}"
            lines.append(f"  line {row['line']}: {cell}" + (f": {row['warning']}" if "warning" in row else ""))
    lines.append(f"\nBad rows, left out: {len(result['bad_rows'])}")
    return "\n".join([*lines, *(f"  {text}" for text in result["bad_rows"])])


def _shares(row: dict[str, Any], *names: str) -> str:
    return " ".join(f"{row[name]:>8.1%}" for name in ("median_abs_error", "p90_abs_error", *names))


def shipped_report(table: pd.DataFrame) -> str:
    """Return `shipped_table` as Markdown, for docs/scaling.md."""
    lines = [HEAD, f"|{'---|' * 10}"]
    for row in table.itertuples():
        coverage = f"{row.coverage90:.0%}" if np.isfinite(row.coverage90) else ""
        errors = f"{row.median_abs_error:.1%} | {row.p90_abs_error:.0%} | {coverage}"
        no_loss = f"{row.no_loss_median:.1%}, {row.no_loss_p90:.0%}"
        has_mean = np.isfinite(row.model_mean_median)
        mean = f"{row.model_mean_median:.1%}, {row.model_mean_p90:.0%}" if has_mean else ""
        cells = (row.where, row.figures, row.left_out, row.rows, errors, no_loss, mean, row.goal)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


add_arguments = functools.partial(validating.add_arguments, figures="one and several devices")
run = functools.partial(
    validating.run,
    kind=Validation(shipped_table, shipped_report, read_figures, validate_figures, report),
)
