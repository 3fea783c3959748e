"""How wrong the extrapolation is: shipped figures left out in turn, and pairs of counts that others have published."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.scaling.across_nodes import (
    Across,
    covered,
    fit_across,
    held_out_across,
    over_the_network,
    predict_across,
    within_node,
)
from sweetspot.scaling.evidence import from_one_device, from_several_devices
from sweetspot.scaling.methods import Predictor, fit_method
from sweetspot.scaling.partners import FABRIC
from sweetspot.scaling.shipped import shipped_evidence
from sweetspot.scaling.strong import FLOOR as STRONG_FLOOR
from sweetspot.scaling.strong import (
    Change,
    Strong,
    fit_strong,
    held_out_strong,
    leaves_fast_links,
    log_change,
    pairs_of,
)
from sweetspot.scaling.validation import held_out, predict_with_interval, summary
from sweetspot.throughput.published import STUDIES
from sweetspot.throughput.time_to_target import read_times

TIMES = "eight-gpus-2026"  # the study whose times to a target are shipped
WITHIN, WEAK, STRONG_SCALING = "within a node", "across nodes, batch per device fixed", "across nodes, time to a target"
LEFT_OUT = {"family": "device families", "stack": "stacks", "submitter": "submitters"}
SHIPPED_COLUMNS = ("where", "figures", "left_out", "rows", "median_abs_error", "p90_abs_error", "bias", "coverage90")


def shipped_table(studies: Path = STUDIES, method: str = "pooled_ring") -> pd.DataFrame:
    """Errors of the headline on what the project ships, with device families, stacks and submitters left out in turn.

    Returns SHIPPED_COLUMNS, one row a place (WITHIN, WEAK, STRONG_SCALING), pool and group of LEFT_OUT. A stack is a
    framework with its way to share the work, a submitter the benchmark's maker or who handed a result in.
    """
    evidence, rule = shipped_evidence(studies)
    evidence = evidence.assign(
        stack=evidence["framework"].astype(str) + " " + evidence["variant"].astype(str),
        submitter=evidence["benchmark"].astype(str).str.split(",").str[0],
    )
    one, several = from_one_device(evidence), from_several_devices(evidence)
    pairs = pairs_of(read_times(studies / TIMES / "time_to_target.csv"))
    rows = []
    for group, words in LEFT_OUT.items():
        within = held_out(one, rule, [method], group)
        rows += [(WITHIN, study, words, part) for study, part in within.groupby("study")]
        rows.append((WEAK, "scaling-2026", words, covered(held_out_across(several, group))))
        if group in pairs:
            rows.append((STRONG_SCALING, TIMES, words, strong_errors(pairs, group)))
    table = [
        {"where": where, "figures": figures, "left_out": words, **summary(part)} for where, figures, words, part in rows
    ]
    return pd.DataFrame(table)[list(SHIPPED_COLUMNS)]


def strong_errors(pairs: pd.DataFrame, group: str) -> pd.DataFrame:
    """`held_out_strong` with error, inside50 and inside90, by widths from the errors of the other groups."""
    told = held_out_strong(pairs, group)
    score = told["gap"].abs() / np.sqrt(told["doublings"])
    return covered(told.assign(error=np.expm1(told["gap"]), left_out=told[group], score=score), STRONG_FLOOR)


class Learned(NamedTuple):
    """What the shipped figures teach: the headline's fit and its widths, several nodes, times to a target."""

    predictor: Predictor
    width: Mapping[float, float]
    across: Across
    strong: Strong


def learn(
    evidence: pd.DataFrame, rule: pd.DataFrame, method: str, width: Mapping[float, float], times: Path
) -> Learned:
    """Fit all of it to shipped evidence (`shipped_evidence`); times: a time_to_target.csv."""
    predictor = fit_method(method, from_one_device(evidence), rule)
    return Learned(predictor, width, fit_across(from_several_devices(evidence)), fit_strong(read_times(times)))


def judged(paired: pd.DataFrame, learned: Learned) -> pd.DataFrame:
    """Pairs of device counts with `where`, `predicted` (efficiency), `error` and `inside90`; same index.

    paired: EVIDENCE_COLUMNS; where known `strong` (bool: efficiency is of times to a target) and `batches` (ratio of
    the global batches, NaN: not told). Pairs within a node whose base has several devices are left out: nothing is
    learnt of them.
    """
    strong = paired.get("strong", pd.Series(False, paired.index)).astype(bool)
    one = ~strong & (paired["base_gpus"] == 1)
    joined = paired["nodes"].gt(1).fillna(False).astype(bool) | (paired["interconnect"] == FABRIC)
    weak = ~strong & ~one & joined
    parts = [
        _from_one(paired[one], learned),
        _from_several(paired[weak], learned.across),
        _strong(paired[strong], learned.strong),
    ]
    return pd.concat([part for part in parts if len(part)] or parts[:1])


def _from_one(rows: pd.DataFrame, learned: Learned) -> pd.DataFrame:
    predicted = predict_with_interval(learned.predictor, within_node(rows), learned.width).assign(source="")
    predicted = over_the_network(predicted, rows, learned.across)
    where = np.where(rows["nodes"].gt(1).fillna(False), WEAK, WITHIN)
    return _scored(rows, predicted["efficiency"], predicted["low"], predicted["high"]).assign(where=where)


def _from_several(rows: pd.DataFrame, across: Across) -> pd.DataFrame:
    told = predict_across(across, rows)
    spread = np.exp(told["width"])
    return _scored(rows, told["efficiency"], told["efficiency"] / spread, told["efficiency"] * spread).assign(
        where=WEAK
    )


def _strong(rows: pd.DataFrame, fitted: Strong) -> pd.DataFrame:
    batches = rows.get("batches", pd.Series(np.nan, rows.index)).astype(float).fillna(1.0)
    doublings = np.log2(rows["gpus"] / rows["base_gpus"]).astype(float)
    changes = [
        Change(row.model, doubled, leaves_fast_links(row.gpu, row.base_gpus, row.gpus), float(np.log(ratio)))
        for row, doubled, ratio in zip(rows.itertuples(), doublings, batches, strict=True)
    ]
    lost = [log_change(fitted.loss, fitted.samples, fitted.leaving, change) for change in changes]
    predicted = pd.Series(np.exp(-np.array(lost, dtype=float)), rows.index)
    spread = np.exp(np.hypot(fitted.width * np.sqrt(doublings), STRONG_FLOOR))
    return _scored(rows, predicted, predicted / spread, predicted * spread).assign(where=STRONG_SCALING)


def _scored(rows: pd.DataFrame, predicted: pd.Series, low: pd.Series, high: pd.Series) -> pd.DataFrame:
    inside = rows["efficiency"].between(low, high)
    return rows.assign(predicted=predicted, error=predicted / rows["efficiency"] - 1, inside50=False, inside90=inside)
