"""Multi-device figures and their partners of fewer devices in one table of published throughput."""

import statistics
from typing import Any

import pandas as pd

from sweetspot.scaling.evidence import EVIDENCE_COLUMNS, SUPER_LINEAR, super_linear
from sweetspot.scaling.machine import family
from sweetspot.study.frameworks import FRAMEWORKS
from sweetspot.study.frameworks import PUBLISHED as PUBLISHED_FRAMEWORKS
from sweetspot.throughput.published import with_machine_facts
from sweetspot.warnings import warning

DATASETS = ("synthetic", "real")
# Empty: not said; others exchange gradients in ways that nothing here models, and nobody publishes a script of one's
# own under our name.
PUBLISHED = ("", *(name for name, ability in FRAMEWORKS.items() if ability.package), *PUBLISHED_FRAMEWORKS)
BASE_COLUMNS = ("base_gpus", "base_nodes", "base_images_per_s", "base_source")
DEFAULT_BATCHES = ("", "tf_cnn_benchmarks")  # programs whose batch is known where nobody changed it
NO_STEP = "the batch is not stated, so nothing says how long a step of one device takes"
FABRIC = "ici"  # joins up to a pod of devices without a node in between
SAME = ["benchmark", "framework", "gpu", "model", "batch_size", "precision", "dataset"]


def with_partners(published: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split the multi-device rows of PUBLISHED on synthetic or real data into those with a partner and without.

    published: the columns of a study's throughput.csv (images_per_s of all devices; batch_size may be missing).
    A partner is a row of fewer devices of the same benchmark, framework, device, model, batch, precision and dataset
    (`_base` says which). Returns (paired, alone), both with the index of `published`; paired has also BASE_COLUMNS
    (`base_images_per_s` of one device of the partner), `efficiency` (dimensionless, against the partner), `family` (of
    the device), `warnings` (rules `super_linear` and `inconsistent`) and the columns of
    `published_machine.with_machine_facts`, read from names where the row does not say them.
    """
    own = published.assign(framework=[framework_name(name) for name in published["framework"].fillna("").astype(str)])
    rows = with_machine_facts(own[own["dataset"].isin(DATASETS) & own["framework"].isin(PUBLISHED)])
    rows = rows.assign(
        batch_size=rows["batch_size"].astype(float),
        **{name: rows[name].fillna("").astype(str) for name in ("instance", "note")},
    )
    bases: dict[Any, tuple[int, Any, float, str] | None] = {}
    for _, own in rows.groupby(SAME, dropna=False, sort=False):  # two figures without a batch are partners
        group = list(own.itertuples())
        bases |= {row.Index: _base(row, group) for row in group if row.gpus > 1}
    found = [index for index in rows.index if bases.get(index)]
    told = pd.DataFrame([bases[index] for index in found], found, BASE_COLUMNS, dtype=object)
    paired = rows.loc[found].join(told).astype({"base_gpus": "int64", "base_images_per_s": "float64"})
    paired["efficiency"] = paired["images_per_s"] / (paired["gpus"] * paired["base_images_per_s"])
    paired["family"] = paired["gpu"].map(family).astype(object)
    paired["warnings"] = _warnings(paired)
    return paired, rows.loc[[index for index in rows.index if index in bases and not bases[index]]]


def _base(row: Any, group: list[Any]) -> tuple[int, Any, float, str] | None:
    """What a figure of several devices is compared with, in BASE_COLUMNS, of the rows of its own group; None: nothing.

    A single device. Where the figure spans several nodes, or a fabric that joins whole pods, the largest count within
    one node, so that what lies between nodes stands alone; where neither was published, the smallest count. Of several
    such rows those of the same instance and note, else all of them, by their median.
    """
    spans = pd.notna(row.nodes) and row.nodes > 1
    fewer = [other for other in group if other.gpus < row.gpus]
    within = [other.gpus for other in fewer if pd.notna(other.nodes) and other.nodes == 1]
    count = max(within) if spans and within else min((other.gpus for other in fewer), default=0)
    if count < 1 or (count > 1 and not spans and row.interconnect != FABRIC):
        return None
    rows = [other for other in fewer if other.gpus == count]
    rows = [other for other in rows if (other.instance, other.note) == (row.instance, row.note)] or rows
    per_device = statistics.median(other.images_per_s for other in rows) / count
    return count, rows[0].nodes, per_device, " ; ".join(dict.fromkeys(other.source for other in rows))


def framework_name(name: str) -> str:
    """The project's name for a framework: `PyTorch (NGC)` is torch, `TensorFlow 2` is tensorflow; others lower case."""
    plain = name.strip().lower()
    return next((ours for ours in PUBLISHED if ours and ours in plain), plain)


def published_evidence(study: str, published: pd.DataFrame) -> pd.DataFrame:
    """The paired rows of a study's throughput.csv in EVIDENCE_COLUMNS; no date where the figure states a version."""
    paired, _ = with_partners(published)
    return paired.assign(study=study, as_of="")[list(EVIDENCE_COLUMNS)].reset_index(drop=True)


def _warnings(paired: pd.DataFrame) -> list[list[dict[str, str]]]:
    """A base figure slower than its share of several devices spoils every row that rests on it."""
    worst = paired.groupby([*SAME, "instance", "note"], dropna=False)["efficiency"].transform("max")
    unstated = paired["batch_size"].isna() & ~paired["benchmark"].fillna("").isin(DEFAULT_BATCHES)
    unstated &= paired["base_gpus"] == 1  # what lies between nodes is learnt without it
    told = []
    for own, high, missing in zip(paired["efficiency"], worst, unstated, strict=True):
        spoilt = own <= SUPER_LINEAR < high
        words = f"the same single-device figure gives efficiency {high:.2f} elsewhere"
        warned = [warning("inconsistent", words)] if spoilt else super_linear(own)
        told.append(warned + ([warning("batch_not_stated", NO_STEP)] if missing else []))
    return told
