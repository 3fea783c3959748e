"""Scaling efficiencies of a study: its own table, and what its throughput of one and of several devices implies."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.cells import USABLE, weakest
from sweetspot.scaling.machine import family
from sweetspot.throughput.best import mark_best

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance

EFFICIENCY_COLUMNS = (
    "base_instance",
    "instance",
    "gpus",
    "model",
    "batch_size",
    "precision",
    "variant",
    "efficiency",
    "basis",
    "source",
    "warning",
)
SUPERLINEAR = 1.05
OBSERVED = ("measured", "published")  # a scaled figure holds an efficiency already; using it would count it twice
EVIDENCE_COLUMNS = (
    "study",
    "family",
    "gpu",
    "instance",
    "gpus",
    "framework",
    "framework_version",
    "model",
    "batch_size",
    "precision",
    "variant",
    "dataset",
    "note",
    "as_of",
    "base_images_per_s",
    "efficiency",
    "source",
    "warning",
)
SAME_CELL = ["framework", "model", "batch_size", "precision"]


def study_efficiency(
    throughput: pd.DataFrame, table: pd.DataFrame, instances: Mapping[str, "Instance"]
) -> pd.DataFrame:
    """Efficiencies of a study, one row per instance pair and cell, in EFFICIENCY_COLUMNS and `best` (of the variants).

    throughput: results/<study>/throughput.parquet (images_per_s of all devices together).
    table: the study's efficiency.csv as `throughput.published.read_efficiency` gives it; basis `published`.
    instances: declared machines; `base_instance` names the one-device machine of the same family.
    efficiency = images_per_s(n) / (n x images_per_s(1)), dimensionless, from cells that were measured or
    published for n = 1 and n > 1; the base is the same instance with one device, else its base_instance.
    A pair printed in the table and measured too stands twice, with its basis. Cells without a partner give no row.
    """
    printed = table.assign(basis="published", warning=None)
    observed = throughput[throughput["basis"].isin(OBSERVED) & throughput["status"].isin(USABLE)]
    singles: dict[tuple, list[Any]] = {}
    for row in observed[observed["gpus"] == 1].itertuples():
        singles.setdefault(_place(row, row.instance), []).append(row)
    pairs = [_paired(row, singles, instances) for row in observed[observed["gpus"] > 1].itertuples()]
    computed = pd.DataFrame([pair for pair in pairs if pair], columns=list(EFFICIENCY_COLUMNS))
    parts = [part[list(EFFICIENCY_COLUMNS)] for part in (printed, computed) if len(part)]
    if not parts:
        return _typed(computed)
    both = pd.concat(parts, ignore_index=True)
    both["warning"] = [_warning(value, text) for value, text in zip(both["efficiency"], both["warning"], strict=True)]
    return _typed(both)


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    same = [name for name in EFFICIENCY_COLUMNS if name not in ("variant", "efficiency", "source", "warning")]
    text = {name: "string" for name in EFFICIENCY_COLUMNS}
    typed = table.astype(text | {"gpus": "int64", "batch_size": "int64", "efficiency": "float64"})
    return mark_best(typed, "efficiency", same)


def _place(row: Any, instance: str | None) -> tuple:
    return (instance, *(getattr(row, name) for name in SAME_CELL))


def _paired(row: Any, singles: Mapping[tuple, list[Any]], instances: Mapping[str, "Instance"]) -> dict | None:
    declared = instances.get(row.instance)
    for base in (row.instance, declared.base_instance if declared else None):
        found = singles.get(_place(row, base), [])
        if found:
            one = next((single for single in found if single.variant == row.variant), found[0])
            return {
                **{name: getattr(row, name) for name in ("instance", "gpus", "model", "batch_size", "precision")},
                "base_instance": base,
                "variant": row.variant,
                "efficiency": row.images_per_s / (row.gpus * one.images_per_s),
                "basis": weakest(row.basis, one.basis),
                "source": " ; ".join(dict.fromkeys([row.source, one.source])),
                "warning": None,
            }
    return None


def _warning(efficiency: float, present: str | None) -> str | None:
    if efficiency <= SUPERLINEAR:
        return present
    return f"super-linear: efficiency {efficiency:.2f} is above {SUPERLINEAR}; the single-device figure is too slow"


def study_evidence(
    study: str, efficiency: pd.DataFrame, throughput: pd.DataFrame, instances: Mapping[str, "Instance"]
) -> pd.DataFrame:
    """A study's efficiencies with the speed of their single device, in EVIDENCE_COLUMNS.

    efficiency: `study_efficiency`; throughput: results/<study>/throughput.parquet. Pairs whose single-device figure
    (images_per_s of the base at the same model, batch and precision, a stand-in included) is not in hand are left out.
    """
    cell = ["base_instance", "model", "batch_size", "precision"]
    single = throughput[(throughput["gpus"] == 1) & throughput["status"].isin(USABLE)].rename(
        columns={"instance": "base_instance", "images_per_s": "base_images_per_s"}
    )
    single = single.drop_duplicates(cell)[[*cell, "framework", "gpu", "as_of", "base_images_per_s"]]
    pairs = efficiency.merge(single, on=cell, how="inner")
    links = {name: instance.interconnect or "" for name, instance in instances.items()}
    table = pairs.assign(
        study=study,
        family=pairs["gpu"].map(family),
        framework_version="",
        dataset="synthetic",
        note=[f"variant {v}; {links.get(i, '')}" for i, v in zip(pairs["instance"], pairs["variant"], strict=True)],
        batch_size=pairs["batch_size"].astype("float64"),
    )
    return table[list(EVIDENCE_COLUMNS)]


def average_efficiency(efficiency: pd.DataFrame) -> pd.DataFrame:
    """Mean over the families (instance pairs) of each model and batch: the 2018 study's last row of table 1.

    efficiency: EFFICIENCY_COLUMNS. A pair that stands several times (printed and measured, several variants)
    counts once, by its mean; pairs with a super-linear figure are left out and counted in `left_out`.
    Returns model, batch_size, precision, efficiency (mean), spread (sample standard deviation over the families),
    families, left_out. Source: Parkopedia 2018, section 3.
    """
    cell = ["model", "batch_size", "precision"]
    pairs = efficiency.groupby([*cell, "base_instance", "instance", "gpus"], as_index=False)["efficiency"].mean()
    sound = pairs["efficiency"] <= SUPERLINEAR
    means = pairs[sound].groupby(cell)["efficiency"].agg(efficiency="mean", spread="std", families="size")
    left_out = (~sound).groupby([pairs[name] for name in cell]).sum().rename("left_out")
    return means.join(left_out.astype("int64"), how="left").reset_index()
