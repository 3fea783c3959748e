"""From the efficiencies of the methods to the throughput of a machine nobody has measured."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sweetspot.cells import USABLE
from sweetspot.scaling.machine import family
from sweetspot.scaling.mean_efficiency import mean_efficiency
from sweetspot.scaling.methods import METHODS, RULE_2018
from sweetspot.scaling.validation import predict_with_interval

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import Question, Target

EXTRAPOLATION_COLUMNS = (
    "instance",
    "base_instance",
    "gpus",
    "framework",
    "model",
    "batch_size",
    "precision",
    "variant",
    "method",
    "efficiency",
    "images_per_s",
    "images_per_s_low",
    "images_per_s_high",
    "headline",
    "basis",
    "source",
    "warning",
)

CURVE_COUNTS = (2, 3, 4, 6, 8)  # devices at which the curve of a chart is predicted
CURVE_COLUMNS = ("instance", "base_instance", "model", "batch_size", "gpus", "method", "efficiency", "low", "high")


def target_cells(throughput: pd.DataFrame, targets: Sequence["Target"], asked: "Question") -> pd.DataFrame:
    """The single-device cells from which the targets follow: one row per target and cell of the question.

    Columns: those of throughput.parquet for the base, with `instance`, `base_instance` and `gpus` of the target,
    and `base_images_per_s` with `_low`, `_high` (95 %, NaN where one run).
    """
    base = throughput[
        (throughput["gpus"] == 1)
        & throughput["status"].isin(USABLE)
        & throughput["model"].isin(asked.model)
        & throughput["batch_size"].isin(asked.batch_size)
        & (throughput["precision"] == asked.precision)
        & (throughput["framework"] == asked.framework)
    ].rename(columns=lambda name: f"base_{name}" if name.startswith("images_per_s") else name)
    parts = [
        base[base["instance"] == target.base_instance].assign(
            base_instance=target.base_instance, instance=target.instance, gpus=target.gpus
        )
        for target in targets
    ]
    return pd.concat(parts, ignore_index=True) if parts else base.assign(base_instance="").head(0)


def as_evidence(cells: pd.DataFrame, instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """Target cells with the facts that the methods read: card family, link as declared, no software version."""
    links = {name: instance.interconnect or "" for name, instance in instances.items()}
    return cells.assign(
        family=cells["gpu"].map(family),
        batch_size=cells["batch_size"].astype("float64"),
        note=[f"variant {v}; {links.get(i, '')}" for i, v in zip(cells["instance"], cells["variant"], strict=True)],
        framework_version="",
        dataset="synthetic",
    )


def extrapolate_all(
    cells: pd.DataFrame,
    facts: pd.DataFrame,
    tables: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame],
    width: Mapping[str, Mapping[float, float]],
    headline: str,
) -> pd.DataFrame:
    """Every method on the target cells, in EXTRAPOLATION_COLUMNS; intervals are 90 % prediction intervals.

    cells: `target_cells`; facts: `as_evidence` of them; tables: evidence, the study's efficiency with `family`, and
    its averages; width: `validation.widths`; headline: the method to be marked. The 2018 rule's interval is that of
    a further family by the spread of the study's own; the others' are calibrated on families left out.
    """
    evidence, rule, averages = tables
    parts = []
    for method, own in width.items():
        if method == RULE_2018 and len(averages):
            predicted = mean_efficiency(averages, cells)
        else:
            predicted = predict_with_interval(method, evidence, rule, facts, dict(own))
        beyond = facts["gpus"] > evidence["gpus"].max()
        warning = np.where(beyond, f"more devices than any figure in hand ({evidence['gpus'].max()})", None)
        parts.append(
            extrapolation(cells, predicted.assign(source=METHODS[method], warning=warning), method, method == headline)
        )
    return pd.concat(parts, ignore_index=True)


def scaling_curve(
    cells: pd.DataFrame,
    facts: pd.DataFrame,
    tables: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame],
    width: Mapping[str, Mapping[float, float]],
    headline: str,
) -> pd.DataFrame:
    """The headline method at every count of CURVE_COUNTS for the target cells, in CURVE_COLUMNS.

    Arguments as for `extrapolate_all`; `low`, `high`: 90 % prediction interval of the efficiency.
    """
    if cells.empty or headline not in width:
        return pd.DataFrame(columns=list(CURVE_COLUMNS))
    many, their = (
        pd.concat([table.assign(gpus=count) for count in CURVE_COUNTS], ignore_index=True) for table in (cells, facts)
    )
    found = extrapolate_all(many, their, tables, {headline: width[headline]}, headline)
    one = found["efficiency"] / found["images_per_s"]
    found = found.assign(low=found["images_per_s_low"] * one, high=found["images_per_s_high"] * one)
    return found[list(CURVE_COLUMNS)]


def extrapolation(cells: pd.DataFrame, predicted: pd.DataFrame, method: str, headline: bool) -> pd.DataFrame:
    """Throughput of the target cells by one method, in EXTRAPOLATION_COLUMNS.

    cells: `target_cells`. predicted: efficiency, low, high (90 % prediction interval), source, warning; same index.
    images_per_s = gpus x base images_per_s x efficiency, all devices together; the interval is that of the
    efficiency, the base taken as it stands.
    """
    share = cells["gpus"] * cells["base_images_per_s"]
    table = cells.assign(
        method=method,
        efficiency=predicted["efficiency"],
        images_per_s=share * predicted["efficiency"],
        images_per_s_low=share * predicted["low"],
        images_per_s_high=share * predicted["high"],
        headline=headline,
        basis="extrapolated",
        source=[f"{method}: {why} ; {base}" for why, base in zip(predicted["source"], cells["source"], strict=True)],
        warning=predicted["warning"],
    )
    return table[list(EXTRAPOLATION_COLUMNS)]
