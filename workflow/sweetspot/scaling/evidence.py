"""Scaling efficiencies of a study: its own table, and what its throughput of one and of several devices implies."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sweetspot.cells import READ, USABLE, weakest
from sweetspot.scaling.machine import MODERN, declared_facts, eras, family
from sweetspot.study.instances import nodes_of
from sweetspot.throughput.best import best_figures, mark_best
from sweetspot.throughput.published import frameworks_of
from sweetspot.warnings import warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance

EFFICIENCY_COLUMNS = (
    "base_instance", "instance", "gpus", "nodes", "framework", "model", "batch_size", "precision", "variant",
    "interconnect", "network", "xla", "efficiency", "basis", "source", "warnings",
)  # fmt: skip
SUPER_LINEAR = 1.05  # an efficiency above it says that the single-device figure is too slow
OBSERVED = READ  # a scaled figure holds an efficiency already; using it would count it twice
EVIDENCE_COLUMNS = (
    "study", "benchmark", "family", "gpu", "instance", "gpus", "nodes", "framework", "framework_version",
    "model", "batch_size", "precision", "variant", "dataset", "interconnect", "interconnect_guessed", "network",
    "xla", "exchange", "note", "as_of", "base_gpus", "base_nodes", "base_images_per_s", "efficiency", "source",
    "warnings",
)  # fmt: skip
LOGICAL = [warning("logical_devices", "parts of one processor, not separate devices: no evidence of scaling")]
SAME_CELL = ["framework", "model", "batch_size", "precision"]


def study_efficiency(
    throughput: pd.DataFrame, table: pd.DataFrame, instances: Mapping[str, "Instance"], framework: str = "tensorflow"
) -> pd.DataFrame:
    """Efficiencies of a study, one row per instance pair and cell, in EFFICIENCY_COLUMNS and `best` (of the variants).

    throughput: results/<study>/throughput.parquet (images_per_s of all devices together).
    table: the study's efficiency.csv as `throughput.published.read_efficiency` gives it; basis `published`; a row that
    names no framework is of its instance's, else of `framework`, the study's.
    instances: declared machines; `base_instance` names the one-device machine of the same family, `interconnect` and
    `network` (null: not declared) go into the table.
    efficiency = images_per_s(n) / (n x images_per_s(1)), dimensionless, from cells that were measured or
    published for n = 1 and n > 1 with one framework; the base is the same instance with one device, else its
    base_instance. A pair printed in the table and measured too stands twice, with its basis. Cells without a partner
    give no row. `xla`: whether the steps on several devices were compiled by XLA.
    """
    observed = throughput[throughput["basis"].isin(OBSERVED) & throughput["status"].isin(USABLE)]
    singles: dict[tuple, list[Any]] = {}
    for row in observed[observed["gpus"] == 1].itertuples():
        singles.setdefault(_place(row, row.instance), []).append(row)
    pairs = [_paired(row, singles, instances) for row in observed[observed["gpus"] > 1].itertuples()]
    printed = table.assign(
        basis="published",
        framework=frameworks_of(table, instances, framework),
        nodes=[nodes_of(instances, row.instance, row.gpus) for row in table.itertuples()],
        xla=table["xla"] == "yes" if "xla" in table.columns else False,
    )
    parts = [part for part in (printed, pd.DataFrame([pair for pair in pairs if pair])) if len(part)]
    both = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(EFFICIENCY_COLUMNS))
    for name in ("interconnect", "network"):
        declared = {instance: getattr(entry, name) for instance, entry in instances.items()}
        both[name] = [declared.get(instance) for instance in both["instance"]]
    parts_of_one = both.get("logical", pd.Series(False, both.index)).eq(True)
    told = zip(both["efficiency"], parts_of_one, strict=True)
    both["warnings"] = [super_linear(value) + (LOGICAL if logical else []) for value, logical in told]
    text = {name: "string" for name in EFFICIENCY_COLUMNS if name != "warnings"}
    kinds = text | dict.fromkeys(("gpus", "nodes", "batch_size"), "int64") | {"efficiency": "float64", "xla": "bool"}
    same = [name for name in EFFICIENCY_COLUMNS if name not in ("variant", "efficiency", "source", "warnings")]
    return mark_best(both[list(EFFICIENCY_COLUMNS)].astype(kinds), "efficiency", same)


def _place(row: Any, instance: str | None) -> tuple:
    return (instance, *(getattr(row, name) for name in SAME_CELL))


def _paired(row: Any, singles: Mapping[tuple, list[Any]], instances: Mapping[str, "Instance"]) -> dict | None:
    declared = instances.get(row.instance)
    for base in (row.instance, declared.base_instance if declared else None):
        found = [one for one in singles.get(_place(row, base), []) if _multiplied_alike(one, row)]
        if found:
            one = next((single for single in found if single.variant == row.variant), found[0])
            return {
                **{name: getattr(row, name) for name in ("instance", "gpus", "nodes", *SAME_CELL, "variant", "xla")},
                "base_instance": base, "logical": bool(getattr(row, "logical", False)),
                "efficiency": row.images_per_s / (row.gpus * one.images_per_s),
                "basis": weakest(row.basis, one.basis),
                "source": " ; ".join(dict.fromkeys([row.source, one.source])),
            }  # fmt: skip
    return None


def _multiplied_alike(one: Any, row: Any) -> bool:
    """Whether two figures have the same products (`tf32` and `fp32` are no pair), as far as they say."""
    said = {told for cell in (one, row) if isinstance(told := getattr(cell, "products", None), str)}
    return len(said) < 2


def super_linear(efficiency: float) -> list[dict[str, str]]:
    """The warning of an efficiency above SUPER_LINEAR; none of any other."""
    if not efficiency > SUPER_LINEAR:
        return []
    words = f"efficiency {efficiency:.2f} is above {SUPER_LINEAR}; the single-device figure is too slow"
    return [warning("super_linear", words)]


def sound(evidence: pd.DataFrame) -> pd.DataFrame:
    """The rows to learn from: super-linear figures, and those of the same base, are predicted but not fitted.

    Nor are those without a batch, but for MODERN ones: suites fill the memory, and then steps are much alike.
    """
    allowed = np.where(eras(evidence) == MODERN, "batch_not_stated", "")
    told = zip(evidence["warnings"], allowed, strict=True)
    return evidence[np.array([not {pair["rule"] for pair in pairs} - {may} for pairs, may in told], dtype=bool)]


def study_evidence(
    study: str, efficiency: pd.DataFrame, throughput: pd.DataFrame, instances: Mapping[str, "Instance"]
) -> pd.DataFrame:
    """A study's efficiencies with the speed of their single device, in EVIDENCE_COLUMNS.

    efficiency: `study_efficiency`; throughput: results/<study>/throughput.parquet. Pairs whose single-device figure
    (images_per_s of the base with the same framework, model, batch and precision, a stand-in included) is missing are
    left out, and so are logical devices, which are never evidence.
    """
    cell = ["base_instance", *SAME_CELL]
    single = throughput[(throughput["gpus"] == 1) & throughput["status"].isin(USABLE)]
    single = best_figures(single.rename(columns={"instance": "base_instance"}), cell)
    single = single.rename(columns={"images_per_s": "base_images_per_s"})
    single = single[[*cell, "gpu", "as_of", "base_images_per_s"]]
    pairs = _of_devices(efficiency).merge(single, on=cell, how="inner")
    told = declared_facts(pairs, instances).assign(study=study, benchmark="", note="", base_gpus=1, base_nodes=1)
    return told[list(EVIDENCE_COLUMNS)]


def _of_devices(efficiency: pd.DataFrame) -> pd.DataFrame:
    """Without logical devices; an array, since an empty list would choose no columns of an empty table."""
    return efficiency[np.array([LOGICAL[0] not in told for told in efficiency["warnings"]], dtype=bool)]


def from_one_device(evidence: pd.DataFrame) -> pd.DataFrame:
    """The rows whose partner is a single device: what the methods of one node learn from."""
    return evidence[(evidence["base_gpus"] == 1).to_numpy()]


def from_several_devices(evidence: pd.DataFrame) -> pd.DataFrame:
    """The rows whose partner has several devices already: what is learnt of more nodes (`across_nodes`)."""
    return evidence[(evidence["base_gpus"] > 1).to_numpy()]


def all_evidence(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables of evidence one below the other; empty ones add nothing."""
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(EVIDENCE_COLUMNS))


def with_family(efficiency: pd.DataFrame, devices: Mapping[str, str]) -> pd.DataFrame:
    """efficiency.parquet with `family`, the device family of each base_instance (devices: instance -> device)."""
    return efficiency.assign(family=[family(devices.get(name, name)) for name in efficiency["base_instance"]])


def average_efficiency(efficiency: pd.DataFrame) -> pd.DataFrame:
    """Mean over the families (instance pairs) of each model and batch: the 2018 study's last row of table 1.

    efficiency: EFFICIENCY_COLUMNS. A pair that stands several times (printed and measured, several variants)
    counts once, by its mean; pairs with a super-linear figure are left out and counted in `left_out`, logical devices
    left out without a word: their rows of the table have one.
    Returns framework, model, batch_size, precision, efficiency (mean), spread (sample standard deviation over the
    families), families, left_out. Source: Parkopedia 2018, section 3.
    """
    rows = _of_devices(efficiency) if "warnings" in efficiency else efficiency
    pairs = rows.groupby([*SAME_CELL, "base_instance", "instance", "gpus"], as_index=False)["efficiency"].mean()
    sound = pairs["efficiency"] <= SUPER_LINEAR
    means = pairs[sound].groupby(SAME_CELL)["efficiency"].agg(efficiency="mean", spread="std", families="size")
    left_out = (~sound).groupby([pairs[name] for name in SAME_CELL]).sum().rename("left_out")
    return means.join(left_out.astype("int64"), how="left").reset_index()
