"""How wrong the extrapolation is: shipped figures left out in turn, and pairs of counts that others have published."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.facts.shipped_tables import STUDIES, figures_file
from sweetspot.scaling.across_nodes import (
    Across,
    covered,
    fit_across,
    held_out_across,
    on_several_nodes,
    predict_across,
)
from sweetspot.scaling.evidence import (
    all_evidence,
    from_one_device,
    from_several_devices,
    study_efficiency,
    study_evidence,
    with_family,
)
from sweetspot.scaling.machine import MODERN, eras
from sweetspot.scaling.methods import Predictor, fit_method
from sweetspot.scaling.partners import FABRIC, published_evidence
from sweetspot.scaling.strong import FLOOR as STRONG_FLOOR
from sweetspot.scaling.strong import (
    Strong,
    fit_strong,
    held_out_strong,
    leaves_fast_links,
    others_strong,
    pairs_of,
)
from sweetspot.scaling.validation import Calibration, held_out, predict_with_interval, summary
from sweetspot.study.instances import load_instances
from sweetspot.study.study import load_study
from sweetspot.throughput.calibration import Goal
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.published import read_efficiency, read_published
from sweetspot.throughput.time_to_target import read_times

STUDY, POOLS = "parkopedia-2018", ("scaling-2020", "scaling-2026")
TIMES = ("eight-gpus-2026", "scaling-2026")  # where times to a target are shipped
LANGUAGE = ("llama2_70b_lora", "llama31_8b")  # benchmarks that a study asks about
WITHIN, WEAK, STRONG_SCALING = "within a node", "across nodes, batch per device fixed", "across nodes, time to a target"
LEFT_OUT = {"family": "device families", "stack": "stacks", "submitter": "submitters"}
OTHERS = "none: the same counts by others"  # how far submitters agree, which no model can better by much
NEWER = "within a node, modern programs"  # figures without a flaw; artefacts stand apart by their warnings
GOALS = {(NEWER, "scaling-2026"): Goal(0.035, 0.15), (STRONG_SCALING, "eight-gpus-2026"): Goal(0.08, 0.25)}
ARTEFACT = {"super_linear", "inconsistent"}  # the single-device figure, or that of all, is not what the devices can do
SHIPPED_COLUMNS = (
    "where", "figures", "left_out", "rows", "median_abs_error", "p90_abs_error", "bias", "coverage90",
    "no_loss_median", "no_loss_p90", "goal",
)  # fmt: skip


def shipped_evidence(studies: Path = STUDIES) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Evidence (EVIDENCE_COLUMNS) of the shipped studies, and the 2018 study's table with `family` for its rule.

    A folder of `studies` that has one's name comes before what is shipped.
    """
    folder, pools = figures_file(STUDY, studies).parent, {name: figures_file(name, studies) for name in POOLS}
    study, instances = load_study(folder), load_instances(folder / "instances.yaml")
    throughput = gather_throughput([], study.cells, study.as_of.isoformat(), instances, folder)
    printed = read_efficiency(folder / "efficiency.csv")
    table = study_efficiency(throughput, printed, instances, study.cells.framework)
    rule = with_family(table, {name: instance.gpu for name, instance in instances.items()})
    borrowed = [published_evidence(name, read_published(pool)) for name, pool in pools.items()]
    return all_evidence([*borrowed, study_evidence(STUDY, table, throughput, instances)]), rule


def shipped_table(studies: Path = STUDIES, method: str = "pooled_ring") -> pd.DataFrame:
    """Errors of the headline on what the project ships, with device families, stacks and submitters left out in turn.

    Returns SHIPPED_COLUMNS, one row a place (WITHIN, WEAK, STRONG_SCALING), pool and group of LEFT_OUT, and how far
    submitters' times of the same counts agree (OTHERS). A stack is a
    framework with its way to share the work, a submitter the benchmark's maker or who handed a result in.
    """
    evidence, rule = shipped_evidence(studies)
    evidence = evidence.assign(
        stack=evidence["framework"].astype(str) + " " + evidence["variant"].astype(str),
        submitter=evidence["benchmark"].astype(str).str.split(",").str[0],
    )
    one, several = from_one_device(evidence), from_several_devices(evidence)
    pairs = pairs_of(pd.concat(shipped_times(studies)))
    rows = []
    for group, words in LEFT_OUT.items():
        within = held_out(one, rule, [method], group)
        rows += [(WITHIN, study, words, part) for study, part in within.groupby("study")]
        newer = within[(eras(within) == MODERN) & ~artefacts(within)]
        rows.append((NEWER, "scaling-2026", words, newer))
        rows.append((WEAK, "scaling-2026", words, covered(held_out_across(several, group))))
        if group in pairs:
            rows += _timed(words, strong_errors(held_out_strong(pairs, group), group))
    rows += _timed(OTHERS, strong_errors(others_strong(pairs), "submitter"))
    table = [
        {"where": where, "figures": figures, "left_out": words, **summary(part), **no_loss(part)}
        for where, figures, words, part in rows
    ]
    for row in table:
        goal = GOALS.get((str(row["where"]), str(row["figures"]))) if row["left_out"] == LEFT_OUT["family"] else None
        row["goal"] = goal.told(row) if goal else ""
    return pd.DataFrame(table)[list(SHIPPED_COLUMNS)]


def artefacts(evidence: pd.DataFrame) -> pd.Series:
    """Whether a figure's warnings say that it is no speed of the devices: super-linear, or beside one that is."""
    return evidence["warnings"].map(lambda told: bool(ARTEFACT & {pair["rule"] for pair in told}))


def no_loss(part: pd.DataFrame) -> dict[str, float]:
    """Errors of taking nothing to be lost: `no_loss_median` and `no_loss_p90`; part: efficiency or log_minutes."""
    nothing = (np.exp(-part["log_minutes"]) if "log_minutes" in part else 1 / part["efficiency"]).sub(1).abs()
    return {"no_loss_median": float(nothing.median()), "no_loss_p90": float(nothing.quantile(0.9))}


def _timed(words: str, errors: pd.DataFrame) -> list[tuple[str, str, str, pd.DataFrame]]:
    own = errors["benchmark"].isin(LANGUAGE)
    return [(STRONG_SCALING, name, words, errors[kept]) for name, kept in zip(TIMES, (own, ~own), strict=True)]


def strong_errors(told: pd.DataFrame, group: str) -> pd.DataFrame:
    """`held_out_strong` with error, inside50 and inside90, by widths from the errors of the other groups."""
    score = told["gap"].abs() / np.sqrt(told["doublings"])
    return covered(told.assign(error=np.expm1(told["gap"]), left_out=told[group], score=score), STRONG_FLOOR)


class Learned(NamedTuple):
    """What the shipped figures teach: the headline's fit and its widths, several nodes, times to a target."""

    predictor: Predictor
    width: Calibration
    across: Across
    strong: Strong


def shipped_times(studies: Path) -> list[pd.DataFrame]:
    """The shipped times to a target: those of the study of eight devices and those of the pool, of other benchmarks."""
    return [read_times(figures_file(name, studies, "time_to_target.csv")) for name in TIMES]


def learn(evidence: pd.DataFrame, rule: pd.DataFrame, method: str, width: Calibration, studies: Path) -> Learned:
    """Fit all of it to shipped evidence (`shipped_evidence`), and to the times below `studies`."""
    predictor = fit_method(method, from_one_device(evidence), rule)
    own, *others = shipped_times(studies)
    return Learned(predictor, width, fit_across(from_several_devices(evidence)), fit_strong(own, others))


def judged(paired: pd.DataFrame, learned: Learned) -> pd.DataFrame:
    """Pairs of device counts with `where`, `predicted` (efficiency), `error` and `inside90`; same index.

    paired: EVIDENCE_COLUMNS; where known `strong` (bool: efficiency is of times to a target) and `batches` (ratio of
    the global batches, NaN: not told). Pairs within a node whose base has several devices are left out: nothing is
    learnt of them.
    """
    strong = paired.get("strong", pd.Series(False, paired.index)).astype(bool)
    one = ~strong & (paired["base_gpus"] == 1)
    weak = ~strong & ~one & (on_several_nodes(paired) | (paired["interconnect"] == FABRIC))
    parts = [
        _from_one(paired[one], learned),
        _from_several(paired[weak], learned.across),
        _strong(paired[strong], learned.strong),
    ]
    return pd.concat([part for part in parts if len(part)] or parts[:1])


def _from_one(rows: pd.DataFrame, learned: Learned) -> pd.DataFrame:
    told = predict_with_interval(learned.predictor, rows, learned.width, learned.across)
    where = np.where(on_several_nodes(rows), WEAK, WITHIN)
    return _scored(rows, where, told["efficiency"], told["low"], told["high"])


def _from_several(rows: pd.DataFrame, across: Across) -> pd.DataFrame:
    told = predict_across(across, rows)
    spread = np.exp(told["width"])
    return _scored(rows, WEAK, told["efficiency"], told["efficiency"] / spread, told["efficiency"] * spread)


def _strong(rows: pd.DataFrame, fitted: Strong) -> pd.DataFrame:
    batches = rows.get("batches", pd.Series(np.nan, rows.index)).astype(float).fillna(1.0)
    counts = zip(rows["gpu"], rows["base_gpus"], rows["gpus"], strict=True)
    pairs = rows.assign(
        benchmark=rows["model"],
        doublings=np.log2(rows["gpus"] / rows["base_gpus"]).astype(float),
        leaves=np.array([leaves_fast_links(*count) for count in counts], dtype=float),
        log_batch=np.log(batches),
    )
    predicted, spread = np.exp(-fitted.change(pairs)), fitted.reach(pairs["doublings"])
    return _scored(rows, STRONG_SCALING, predicted, predicted / spread, predicted * spread)


def _scored(
    rows: pd.DataFrame, where: str | np.ndarray, predicted: pd.Series, low: pd.Series, high: pd.Series
) -> pd.DataFrame:
    inside, error = rows["efficiency"].between(low, high), predicted / rows["efficiency"] - 1
    return rows.assign(predicted=predicted, error=error, inside90=inside, where=where)
