"""All that a study learns about scaling, from one fit: validation, explanation, and machines nobody has measured."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from sweetspot.cells import USABLE
from sweetspot.errors import UserError
from sweetspot.scaling.across_nodes import Across, fit_across
from sweetspot.scaling.evidence import from_one_device, from_several_devices, sound, with_family
from sweetspot.scaling.machine import declared_facts
from sweetspot.scaling.methods import BY_NETWORK, METHODS, RULE_2018, Predictor, fit_method, mean_efficiency
from sweetspot.scaling.model_facts import networks_of, unknown_network, with_networks
from sweetspot.scaling.pooled import EXPLAIN_COLUMNS, explain, fit_eras
from sweetspot.scaling.strong import fit_strong, strong_cells
from sweetspot.scaling.validation import (
    Calibration,
    across_table,
    best_method,
    held_out,
    predict_with_interval,
    validation_table,
    widths,
)  # fmt: skip
from sweetspot.study.instances import cautions, nodes_of
from sweetspot.throughput.published import against_published
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import DeclaredNetwork, Question, Target

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
    ].rename(columns=lambda name: f"base_{name}" if name.startswith("images_per_s") or name == "warnings" else name)
    parts = []
    for target in targets:
        name, own = target.instance, base[base["instance"] == target.base_instance]
        cells = own.assign(base_instance=target.base_instance, instance=name, gpus=target.gpus)
        told = [cautions(instances, name)] * len(own)
        parts.append(cells.assign(nodes=nodes_of(instances, name, target.gpus), warnings=told))
    return pd.concat(parts, ignore_index=True) if parts else base.assign(base_instance="").head(0)


def extrapolate_all(cells: pd.DataFrame, facts: pd.DataFrame, fitted: Fitted, headline: str) -> pd.DataFrame:
    """Every fitted method on the target cells, in EXTRAPOLATION_COLUMNS; intervals are 90 % prediction intervals.

    cells: `target_cells`; facts: `declared_facts` of them; headline: the method to be marked.
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
    names = cells["instance"]
    counts = [
        cells.assign(gpus=count, nodes=[nodes_of(instances, name, count) for name in names]) for count in CURVE_COUNTS
    ]
    many = pd.concat(counts, ignore_index=True)  # an efficiency: the base's uncertainty is no part of it
    many = many.assign(base_images_per_s_low=np.nan, base_images_per_s_high=np.nan)
    found = _by_method(many, declared_facts(many, instances), fitted, headline, True)
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
        predicted = mean_efficiency(fitted.averages, cells).assign(source="")
    else:
        predicted = predict_with_interval(fitted.predictors[method], facts, width, fitted.across)
    most = np.where(facts["nodes"] == 1, fitted.most_gpus, fitted.most_on_nodes)
    told = [joined(*said) for said in zip(cells["warnings"], map(beyond_evidence, facts["gpus"], most), strict=True)]
    if method in BY_NETWORK:
        nets = zip(told, facts["model"], networks_of(facts), strict=True)
        told = [said if net.known else joined(said, [unknown_network(name)]) for said, name, net in nets]
    predicted = predicted.assign(source=METHODS[method] + predicted["source"], warnings=told)
    return extrapolation(cells, predicted, method, headline)


def beyond_evidence(gpus: int, most: float) -> list[dict[str, str]]:
    """The warning of more devices than any figure that was learned from (`most`; NaN: none); else nothing."""
    words = f"more devices than any figure that was learned from ({most:g})"
    return [warning("beyond_evidence", words)] if gpus > most else []


def held_against_published(estimated: pd.DataFrame, facts: pd.DataFrame, evidence: pd.DataFrame) -> pd.DataFrame:
    """`estimated` with the warning `against_published` where others have published as many such devices.

    estimated: EXTRAPOLATION_COLUMNS; facts: `declared_facts` of the cells (gpu, family, instance, xla of each machine);
    evidence: EVIDENCE_COLUMNS, of which one machine's devices that train together count (efficiency x devices x base).
    """
    places = facts.drop_duplicates("instance").set_index("instance")
    seen = evidence[evidence["exchange"].astype(bool) & evidence["nodes"].eq(1).fillna(False).astype(bool)]
    groups = dict(iter(seen.groupby(["family", "gpus", "model", "framework", "precision", "xla"])))
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
    table = cells.assign(
        method=method, efficiency=predicted["efficiency"], headline=headline, basis="extrapolated",
        images_per_s=cells["gpus"] * cells["base_images_per_s"] * predicted["efficiency"],
        source=[f"{method}: {why} ; {base}" for why, base in zip(predicted["source"], cells["source"], strict=True)],
        warnings=predicted["warnings"],
    )  # fmt: skip
    for name, sign in (("low", -1), ("high", 1)):
        base = TO_90 * np.log(cells[f"base_images_per_s_{name}"] / cells["base_images_per_s"])
        with np.errstate(divide="ignore"):  # a low of nothing at all stays one
            own = np.log(predicted[name] / predicted["efficiency"])
        table[f"images_per_s_{name}"] = table["images_per_s"] * np.exp(sign * np.hypot(base.fillna(0), own))
    if (moved := cells["basis"] == "transferred").any():
        told = zip(predicted["warnings"], cells["base_warnings"], moved, strict=True)
        table["warnings"] = [joined(own, base if transferred else None) for own, base, transferred in told]
    return table.reindex(columns=list(EXTRAPOLATION_COLUMNS))


# Small matrices: threads that wait for each other cost 15 CPU-seconds of validation where one takes 2.
@threadpool_limits.wrap(limits=1, user_api="blas")
def run(
    tables: Mapping[str, pd.DataFrame],
    instances: Mapping[str, "Instance"],
    targets: Sequence["Target"],
    question: "Question",
    method: str,
    times: Sequence[pd.DataFrame] = (),
    networks: Mapping[str, "DeclaredNetwork"] | None = None,
) -> dict[str, pd.DataFrame]:
    """The tables `extrapolation`, `curve`, `validation` and `explain` of a study.

    tables: `throughput`, `efficiency`, `averages`, `evidence`: the files of results/<study>/. method: one of METHODS,
    or `auto` for the one with the least error on device families left out. Every method is fitted to all evidence once,
    beside the fits that leave a family out. times: the study's times to a target (`read_times`) and others to learn
    from; machines whose device was timed at another count only are estimated from the study's. With fewer than two
    families nothing can be left out: the 2018 rule alone is used. networks: those that the study declares, by model.
    Raises UserError for an unknown method.
    """
    if method not in ("auto", *METHODS):
        raise UserError(f"study.yaml: key 'method' is {method!r}; expected auto or one of {', '.join(METHODS)}")
    known = with_networks(tables["evidence"], networks or {})
    evidence, several = from_one_device(known), from_several_devices(known)
    rule = with_family(tables["efficiency"], {name: instance.gpu for name, instance in instances.items()})
    names = list(METHODS) if evidence["family"].nunique() > 1 else []
    errors = held_out(evidence, rule, names) if names else pd.DataFrame({"method": [], "slice": []})
    validation = pd.concat([validation_table(errors), across_table(several)], ignore_index=True)
    headline = method if method != "auto" else best_method(validation) if names else RULE_2018
    rows = sound(evidence)
    pooled = fit_eras(rows if len(rows) else evidence) if len(evidence) else None
    cells = with_networks(target_cells(tables["throughput"], targets, question, instances), networks or {})
    fits = {name: fit_method(name, evidence, rule, pooled) for name in names} if len(cells) else {}
    wide = widths(errors) if names else {RULE_2018: None}
    most, most_on_nodes = (float(table["gpus"].max()) for table in (evidence, several))
    fitted = Fitted(fits, wide, tables["averages"], most, fit_across(several), most_on_nodes)
    estimated = cells
    if len(cells):
        facts = declared_facts(cells, instances)
        estimated = held_against_published(extrapolate_all(cells, facts, fitted, headline), facts, evidence)
        estimated = with_equivalents(estimated, instances)
    estimated = estimated.reindex(columns=list(EXTRAPOLATION_COLUMNS))
    if times and len(times[0]):
        timed = strong_cells(times[0], fit_strong(times[0], times[1:]), question, instances, EXTRAPOLATION_COLUMNS)
        estimated = pd.concat([part for part in (estimated, timed) if len(part)] or [estimated], ignore_index=True)
    return {
        "extrapolation": estimated,
        "curve": scaling_curve(cells, instances, fitted, headline),
        "validation": validation,
        "explain": explain(evidence, pooled) if pooled else pd.DataFrame(columns=list(EXPLAIN_COLUMNS)),
    }
