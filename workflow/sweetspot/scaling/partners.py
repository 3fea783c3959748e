"""Multi-device figures and their single-device partners in one table of published throughput."""

import statistics
from typing import get_args

import pandas as pd

from sweetspot.scaling.evidence import EVIDENCE_COLUMNS, SUPER_LINEAR, super_linear
from sweetspot.scaling.machine import family
from sweetspot.study.base import Framework
from sweetspot.throughput.published_machine import with_machine_facts
from sweetspot.warnings import warning

DATASETS = ("synthetic", "real")
FRAMEWORKS = ("", *get_args(Framework))  # empty: not said; others exchange gradients in ways that nothing here models
SAME = ["benchmark", "framework", "gpu", "model", "batch_size", "precision", "dataset"]


def with_partners(published: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split the multi-device rows of FRAMEWORKS on synthetic or real data into those with a partner and without.

    published: the columns of a study's throughput.csv (images_per_s of all devices; batch_size may be missing).
    A partner is a single-device row of the same benchmark, framework, device, model, batch, precision and dataset; of
    several, those of the same instance and note, else all of them, by their median. Returns (paired, alone), both with
    the index of `published`; paired has also `base_images_per_s`, `base_source`, `efficiency` (dimensionless),
    `family` (of the device), `warnings` (rules `super_linear` and `inconsistent`) and the columns of
    `published_machine.with_machine_facts`, read from names where the row does not say them.
    """
    own = published.assign(framework=[_framework(name) for name in published["framework"].fillna("").astype(str)])
    rows = with_machine_facts(own[own["dataset"].isin(DATASETS) & own["framework"].isin(FRAMEWORKS)])
    rows = rows.assign(
        batch_size=rows["batch_size"].astype(float),
        **{name: rows[name].fillna("").astype(str) for name in ("instance", "note")},
    )
    stated = rows["batch_size"].fillna(0)  # two figures without a batch are partners
    key = pd.Series(
        list(zip(*(stated if name == "batch_size" else rows[name] for name in SAME), strict=True)), rows.index
    )
    several = rows[rows["gpus"] > 1]
    partners = _partners(rows, key)
    found = several.index[[key[index] in partners for index in several.index]]
    bases = [
        partners.get((*key[index], instance, note), partners[key[index]])
        for index, instance, note in zip(found, several.loc[found, "instance"], several.loc[found, "note"], strict=True)
    ]
    paired = several.loc[found].assign(
        base_images_per_s=[value for value, _ in bases], base_source=[source for _, source in bases]
    )
    paired["efficiency"] = paired["images_per_s"] / (paired["gpus"] * paired["base_images_per_s"])
    paired["family"] = paired["gpu"].map(family).astype(object)
    paired["warnings"] = _warnings(paired, key.loc[found])
    return paired, several.drop(index=found)


def _framework(name: str) -> str:
    """The project's name for a framework: `PyTorch (NGC)` is torch, `TensorFlow 2` is tensorflow; others lower case."""
    plain = name.strip().lower()
    return next((ours for ours in FRAMEWORKS if ours and ours in plain), plain)


def published_evidence(study: str, published: pd.DataFrame) -> pd.DataFrame:
    """The paired rows of a study's throughput.csv in EVIDENCE_COLUMNS; no date where the figure states a version."""
    paired, _ = with_partners(published)
    return paired.assign(study=study, as_of="")[list(EVIDENCE_COLUMNS)].reset_index(drop=True)


def _partners(rows: pd.DataFrame, key: pd.Series) -> dict[tuple, tuple[float, str]]:
    """Median figure and sources of the single-device rows: by SAME, and by SAME with instance and note."""
    groups: dict[tuple, list[tuple[float, str]]] = {}
    for row in rows[rows["gpus"] == 1].itertuples():
        for name in (key[row.Index], (*key[row.Index], row.instance, row.note)):
            groups.setdefault(name, []).append((row.images_per_s, row.source))
    return {
        name: (statistics.median(value for value, _ in found), " ; ".join(dict.fromkeys(text for _, text in found)))
        for name, found in groups.items()
    }


def _warnings(paired: pd.DataFrame, key: pd.Series) -> list[list[dict[str, str]]]:
    """A base figure slower than its share of several devices spoils every row that rests on it."""
    worst = paired["efficiency"].groupby([key, paired["instance"], paired["note"]]).transform("max")
    return [_warned(own, high) for own, high in zip(paired["efficiency"], worst, strict=True)]


def _warned(own: float, worst: float) -> list[dict[str, str]]:
    if own > SUPER_LINEAR or worst <= SUPER_LINEAR:
        return super_linear(own)
    words = f"the same single-device figure gives efficiency {worst:.2f} elsewhere"
    return [warning("inconsistent", words)]
