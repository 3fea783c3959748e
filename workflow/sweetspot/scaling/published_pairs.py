"""Published figures of n devices with their base of fewer devices."""

import statistics
from collections.abc import Sequence
from typing import Any

import pandas as pd

from sweetspot.frameworks import FRAMEWORKS, PUBLISHED
from sweetspot.scaling.evidence import EVIDENCE_COLUMNS, MAXIMUM_EFFICIENCY, super_linear_warnings
from sweetspot.scaling.step_facts import device_family
from sweetspot.throughput.published import with_machine_facts
from sweetspot.warnings import warning

DATASETS = ("synthetic", "real")
# Frameworks whose exchange of gradients is modelled; empty: not stated.
MODELLED_FRAMEWORKS = ("", *(name for name, ability in FRAMEWORKS.items() if ability.package), *PUBLISHED)
# Programs whose batch is known where nobody has changed it.
DEFAULT_BATCH_BENCHMARKS = ("", "tf_cnn_benchmarks")
POD_FABRIC = "ici"  # joins up to a pod of devices without a node in between
PAIR_KEY = ["benchmark", "framework", "gpu", "model", "batch_size", "precision", "dataset"]
BATCH_UNKNOWN = warning("batch_not_stated", "the batch is not stated, nor how long a step of one device takes")


def pair_with_bases(published: pd.DataFrame) -> pd.DataFrame:
    """Compute scaling efficiencies from published speeds (`published`: columns of throughput.csv): pair each figure of
    n devices with a base of fewer devices (`_find_base`), the evidence from which scaling is learnt. The base has the
    same benchmark, framework, device, model, batch (or none), precision and dataset. Returned are the rows of modelled
    frameworks on synthetic or real data that have a base, with base_gpus, base_nodes, base_images_per_s, `efficiency`
    against the base, `family`, `warnings` and the columns of `with_machine_facts`.
    """
    frameworks = published["framework"].fillna("").astype(str).map(framework_name)
    rows = published.assign(framework=frameworks)
    rows = rows[rows["dataset"].isin(DATASETS) & rows["framework"].isin(MODELLED_FRAMEWORKS)]
    rows = with_machine_facts(rows)
    rows = rows.assign(
        batch_size=rows["batch_size"].astype(float),
        instance=rows["instance"].fillna("").astype(str),
        note=rows["note"].fillna("").astype(str),
    )
    bases: dict[Any, tuple[int, Any, float]] = {}
    # Two figures without a batch are a pair too, hence dropna=False.
    for _, group in rows.groupby(PAIR_KEY, dropna=False, sort=False):
        figures = list(group.itertuples())
        bases |= {row.Index: base for row in figures if row.gpus > 1 and (base := _find_base(row, figures))}
    base_table = pd.DataFrame.from_dict(bases, "index", object, ["base_gpus", "base_nodes", "base_images_per_s"])
    paired = rows.join(base_table, how="inner")
    paired = paired.astype({"base_gpus": "int64", "base_images_per_s": "float64"})
    paired["efficiency"] = paired["images_per_s"] / (paired["gpus"] * paired["base_images_per_s"])
    paired["family"] = paired["gpu"].map(device_family).astype(object)
    paired["warnings"] = _pair_warnings(paired)
    return paired


def _find_base(row: Any, figures: Sequence[Any]) -> tuple[int, Any, float] | None:
    """Find what a published speed of n devices is compared with to get its scaling efficiency: return (devices, nodes,
    images/s per device) of its base, or None if no figure can serve. `row`: a row of throughput.csv; `figures`: all
    rows of the same workload. The base is the row of one device. For a row that spans nodes the base is the largest
    count within one node, so that only the loss between nodes shows, or else the smallest count; the latter also on
    POD_FABRIC. Of several rows those of the same instance and note; images/s is their median.
    """
    spans_nodes = pd.notna(row.nodes) and row.nodes > 1
    fewer = [figure for figure in figures if figure.gpus < row.gpus]
    in_node = [figure.gpus for figure in fewer if pd.notna(figure.nodes) and figure.nodes == 1]
    smallest = min((figure.gpus for figure in fewer), default=0)
    count = max(in_node) if spans_nodes and in_node else smallest
    if count < 1 or (count > 1 and not spans_nodes and row.interconnect != POD_FABRIC):
        return None
    bases = [figure for figure in fewer if figure.gpus == count]
    machine = (row.instance, row.note)
    bases = [figure for figure in bases if (figure.instance, figure.note) == machine] or bases
    return count, bases[0].nodes, statistics.median(base.images_per_s for base in bases) / count


def framework_name(name: str) -> str:
    """Return the project's name of a framework, e.g. 'torch' for 'PyTorch (NGC)'; others in small letters."""
    lower = name.strip().lower()
    return next((modelled for modelled in MODELLED_FRAMEWORKS if modelled and modelled in lower), lower)


def published_evidence(study: str, published: pd.DataFrame) -> pd.DataFrame:
    """Return one row of the table evidence per scaling pair in a study's throughput.csv; `as_of` is empty."""
    paired = pair_with_bases(published)
    return paired.assign(study=study, as_of="")[list(EVIDENCE_COLUMNS)]


def _pair_warnings(paired: pd.DataFrame) -> list[list[dict[str, str]]]:
    """Return per row of `pair_with_bases` the warnings that keep it from being learnt from: an efficiency above what
    is possible, in this pair or in another with the same base; a batch that nobody states.
    """
    machine_key = [*PAIR_KEY, "instance", "note"]
    highest = paired.groupby(machine_key, dropna=False)["efficiency"].transform("max")
    has_default_batch = paired["benchmark"].fillna("").isin(DEFAULT_BATCH_BENCHMARKS)
    # The loss between nodes is learnt without the length of a step.
    needs_batch = paired["batch_size"].isna() & ~has_default_batch & (paired["base_gpus"] == 1)
    warnings = []
    for efficiency, maximum, is_missing in zip(paired["efficiency"], highest, needs_batch, strict=True):
        pairs = super_linear_warnings(efficiency)
        if not pairs and maximum > MAXIMUM_EFFICIENCY:
            message = f"the same single-device figure gives efficiency {maximum:.2f} elsewhere"
            pairs = [warning("inconsistent", message)]
        warnings.append(pairs + [BATCH_UNKNOWN] * is_missing)
    return warnings
