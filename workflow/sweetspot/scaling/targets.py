"""From the efficiencies of the methods to the throughput of a machine nobody has measured."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.cells import USABLE
from sweetspot.scaling.across_nodes import Across, over_the_network, within_node
from sweetspot.scaling.machine import declared_facts, family
from sweetspot.scaling.methods import BY_NETWORK, METHODS, RULE_2018, Predictor, mean_efficiency
from sweetspot.scaling.model_facts import networks_of, unknown_network
from sweetspot.scaling.validation import Calibration, predict_with_interval
from sweetspot.study.instances import cautions, nodes_of
from sweetspot.throughput.published import against_published
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import Question, Target

EXTRAPOLATION_COLUMNS = (
    "instance", "base_instance", "gpus", "nodes", "framework", "model", "batch_size", "precision", "variant",
    "method", "efficiency", "images_per_s", "images_per_s_low", "images_per_s_high", "headline", "basis",
    "source", "round", "rounds_behind", "warnings",
)  # fmt: skip

TO_90 = 1.644854 / 1.959964  # from the 95 % ends of throughput.parquet to the 90 % of a prediction, in logarithms
CURVE_COUNTS = (2, 3, 4, 6, 8)  # devices at which the curve of a chart is predicted
CURVE_COLUMNS = ("instance", "base_instance", "model", "batch_size", "gpus", "method", "efficiency", "low", "high")


class Fitted(NamedTuple):
    """What the figures teach, fitted once for all that is predicted from it.

    predictors: method -> fit to all evidence; widths: method -> `validation.widths` of it; averages: of the study's own
    efficiencies, on which the 2018 rule rests; most_gpus: the largest device count of one node in the evidence (NaN:
    none); across: what several nodes cost, and most_on_nodes the largest count that it was learned from.
    """

    predictors: Mapping[str, Predictor]
    widths: Mapping[str, Calibration | None]
    averages: pd.DataFrame
    most_gpus: float
    across: Across
    most_on_nodes: float


def target_cells(
    throughput: pd.DataFrame, targets: Sequence["Target"], asked: "Question", instances: Mapping[str, "Instance"]
) -> pd.DataFrame:
    """The single-device cells from which the targets follow: one row per target and cell of the question.

    Columns: those of throughput.parquet for the base, with `instance`, `base_instance`, `gpus`, `nodes` and declared
    `warnings` of the target, and `base_images_per_s` with `_low`, `_high` (95 %, NaN where one run).
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
            base_instance=target.base_instance,
            instance=target.instance,
            gpus=target.gpus,
            nodes=nodes_of(instances, target.instance, target.gpus),
            base_warnings=base.loc[base["instance"] == target.base_instance, "warnings"],
            warnings=[cautions(instances, target.instance)] * int((base["instance"] == target.base_instance).sum()),
        )
        for target in targets
    ]
    return pd.concat(parts, ignore_index=True) if parts else base.assign(base_instance="").head(0)


def as_evidence(cells: pd.DataFrame, instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """Target cells with the facts that the methods read: family, interconnect as declared, no software version."""
    return declared_facts(cells, instances).assign(
        family=cells["gpu"].map(family),
        batch_size=cells["batch_size"].astype("float64"),
        framework_version="",
        dataset="synthetic",
    )


def extrapolate_all(cells: pd.DataFrame, facts: pd.DataFrame, fitted: Fitted, headline: str) -> pd.DataFrame:
    """Every fitted method on the target cells, in EXTRAPOLATION_COLUMNS; intervals are 90 % prediction intervals.

    cells: `target_cells`; facts: `as_evidence` of them; headline: the method to be marked.
    """
    parts = [_by_method(cells, facts, fitted, method, method == headline) for method in fitted.widths]
    return pd.concat(parts, ignore_index=True)


def with_equivalents(extrapolated: pd.DataFrame, instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """The rows of `extrapolate_all`, and for each machine declared equivalent to a target the same rows of its own."""
    parts = [extrapolated]
    for name, declared in instances.items():
        rows = extrapolated[extrapolated["instance"] == declared.equivalent_to]
        if len(rows):
            words = f"{name} declared equivalent to {declared.equivalent_to} ; "
            told = [joined(own, cautions(instances, name)) for own in rows["warnings"]]
            parts.append(rows.assign(instance=name, source=words + rows["source"], warnings=told))
    return pd.concat(parts, ignore_index=True)


def scaling_curve(
    cells: pd.DataFrame, instances: Mapping[str, "Instance"], fitted: Fitted, headline: str
) -> pd.DataFrame:
    """The headline method at every count of CURVE_COUNTS for the target cells, in CURVE_COLUMNS.

    Arguments as for `extrapolate_all`; `low`, `high`: 90 % prediction interval of the efficiency.
    """
    if cells.empty or headline not in fitted.widths:
        return pd.DataFrame(columns=list(CURVE_COLUMNS))
    many = pd.concat(
        [
            cells.assign(gpus=count, nodes=[nodes_of(instances, name, count) for name in cells["instance"]])
            for count in CURVE_COUNTS
        ],
        ignore_index=True,
    ).assign(base_images_per_s_low=np.nan, base_images_per_s_high=np.nan)  # an efficiency: the base is no part of it
    found = _by_method(many, as_evidence(many, instances), fitted, headline, True)
    one = found["efficiency"] / found["images_per_s"]
    found = found.assign(low=found["images_per_s_low"] * one, high=found["images_per_s_high"] * one)
    return found[list(CURVE_COLUMNS)]


def _by_method(cells: pd.DataFrame, facts: pd.DataFrame, fitted: Fitted, method: str, headline: bool) -> pd.DataFrame:
    """One method on the target cells.

    The 2018 rule's interval is that of a further family by the spread of the study's own; the others' are calibrated
    on families left out.
    """
    width = fitted.widths[method]
    if width is None or (method == RULE_2018 and len(fitted.averages)):
        predicted = mean_efficiency(fitted.averages, cells)
    else:
        predicted = predict_with_interval(fitted.predictors[method], within_node(facts), width)
        predicted = over_the_network(predicted.assign(source=METHODS[method]), facts, fitted.across)
    known = [net.known or method not in BY_NETWORK for net in networks_of(facts)]
    told = [
        joined(own, _beyond(row, fitted), [] if fine else [unknown_network(row.model)])
        for own, row, fine in zip(cells["warnings"], facts.itertuples(), known, strict=True)
    ]
    source = predicted.get("source", METHODS[method])
    return extrapolation(cells, predicted.assign(source=source, warnings=told), method, headline)


def _beyond(row: Any, fitted: Fitted) -> list[dict[str, str]]:
    """The warning `beyond_evidence` of a cell with more devices than any figure that was learned from."""
    most = fitted.most_gpus if row.nodes == 1 else fitted.most_on_nodes
    if not row.gpus > most:
        return []
    return [warning("beyond_evidence", f"more devices than any figure that was learned from ({most:g})")]


def held_against_published(estimated: pd.DataFrame, facts: pd.DataFrame, evidence: pd.DataFrame) -> pd.DataFrame:
    """`estimated` with the warning `against_published` where others have published as many such devices.

    estimated: EXTRAPOLATION_COLUMNS; facts: `as_evidence` of the cells (gpu, family, instance and xla of each machine);
    evidence: EVIDENCE_COLUMNS, of which one machine's devices that train together count (efficiency x devices x base).
    """
    places = facts.drop_duplicates("instance").set_index("instance")
    seen = evidence[evidence["exchange"].astype(bool) & evidence["nodes"].eq(1).fillna(False).astype(bool)]
    same = ["family", "gpus", "model", "framework", "precision", "xla"]
    groups = {key: rows for key, rows in seen.groupby(same)}
    told = []
    for row in estimated.itertuples():
        place = places.loc[row.instance]
        known = (place["family"], row.gpus, row.model, row.framework, row.precision, place["xla"])
        rows = groups.get(known, seen.head(0))
        rates = rows["efficiency"] * rows["gpus"] * rows["base_images_per_s"]
        gap = against_published(row.images_per_s, f"{row.gpus} x {place['gpu']}", rates, rows["batch_size"])
        told.append(joined(row.warnings, gap))
    return estimated.assign(warnings=told)


def extrapolation(cells: pd.DataFrame, predicted: pd.DataFrame, method: str, headline: bool) -> pd.DataFrame:
    """Throughput of the target cells by one method, in EXTRAPOLATION_COLUMNS.

    cells: `target_cells`. predicted: efficiency, low, high (90 % prediction interval), source, warnings; same index.
    images_per_s = gpus x base images_per_s x efficiency, all devices together; the interval is that of the
    efficiency. Where the base's own ends are known (several runs, a stated range, a transferred figure), half the width
    of the interval's logarithm is the root of the squares of both halves; a base without ends is taken as it stands.
    The warnings of a transferred base are told too.
    """
    predicted = _with_uncertain_base(cells, predicted)
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
        warnings=predicted["warnings"],
    )
    return table.reindex(columns=list(EXTRAPOLATION_COLUMNS))


def _with_uncertain_base(cells: pd.DataFrame, predicted: pd.DataFrame) -> pd.DataFrame:
    """`predicted` with low and high that hold what the base's ends leave open, and a transferred base's warnings."""
    table = predicted.copy()
    for name, sign in (("low", -1), ("high", 1)):
        base = TO_90 * np.log(cells[f"base_images_per_s_{name}"] / cells["base_images_per_s"])
        with np.errstate(divide="ignore"):  # a low of nothing at all stays one
            own = np.log(predicted[name] / predicted["efficiency"])
        table[name] = predicted["efficiency"] * np.exp(sign * np.hypot(base, own))
        table[name] = table[name].where(base.notna(), predicted[name])
    moved = cells["basis"] == "transferred"
    if moved.any():
        pairs = zip(predicted["warnings"], cells["base_warnings"], moved, strict=True)
        table["warnings"] = [joined(own, base if transferred else None) for own, base, transferred in pairs]
    return table
