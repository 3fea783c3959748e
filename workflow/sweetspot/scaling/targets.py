"""From the efficiencies of the methods to the throughput of a machine nobody has measured."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from sweetspot.config import Question, Target

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
Predict = Callable[[pd.DataFrame], pd.DataFrame]


def target_cells(throughput: pd.DataFrame, targets: Sequence["Target"], asked: "Question") -> pd.DataFrame:
    """The single-device cells from which the targets follow: one row per target and cell of the question.

    Columns: those of throughput.parquet for the base, with `instance`, `base_instance` and `gpus` of the target,
    and `base_images_per_s` with `_low`, `_high` (95 %, NaN where one run).
    """
    base = throughput[
        (throughput["gpus"] == 1)
        & (throughput["status"] == "ok")
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
