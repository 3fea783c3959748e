"""All that a study learns about scaling: errors, and throughput of machines nobody has measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from sweetspot.cells import USABLE
from sweetspot.scaling.across_nodes import (
    NodeScaling,
    extend_across_nodes,
    fit_node_scaling,
    part_within_node,
)
from sweetspot.scaling.calibration import (
    LEARNED_METHOD,
    METHODS,
    CalibratedMethod,
    left_out_errors,
    validation_table,
)
from sweetspot.scaling.evidence import learnable, multi_device_bases, single_device_bases
from sweetspot.scaling.methods import METHOD_DESCRIPTIONS, RULE_2018, MeanEfficiency
from sweetspot.scaling.networks import unlisted_network_warning, with_network_facts
from sweetspot.scaling.step_facts import with_declared_facts
from sweetspot.scaling.strong import fit_strong, strong_cells
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
# From the 95 % bounds of throughput.parquet to the 90 % of a prediction, in logarithms.
TO_90_PERCENT = 1.644854 / 1.959964
CURVE_COUNTS = (2, 3, 4, 6, 8)  # devices at which the curve of a chart is predicted
CURVE_COLUMNS = (
    "instance", "base_instance", "model", "batch_size", "gpus", "method", "efficiency", "low", "high",
)  # fmt: skip


@dataclass(frozen=True)
class FittedMethods:
    """What the evidence teaches, fitted once for all predictions.

    methods: by name; rule: the 2018 rule on the study's efficiencies; maximum_gpus: the largest
    count of one node in the evidence (NaN: none); node_scaling: what several nodes cost;
    maximum_gpus_on_nodes: the largest count behind it.
    """

    methods: Mapping[str, CalibratedMethod]
    rule: MeanEfficiency
    maximum_gpus: float
    node_scaling: NodeScaling
    maximum_gpus_on_nodes: float

    def predict(self, name: str, facts: pd.DataFrame) -> pd.DataFrame:
        """Predict cells by a method.

        Parameters
        ----------
        name
            One of METHODS. The 2018 rule takes the study's efficiencies and their spread where
            there are any, on whatever number of nodes.
        facts
            The cells as `with_declared_facts` returns them.

        Returns
        -------
        pd.DataFrame
            efficiency, low, high (90 %), source (what the nodes cost); same index.
        """
        if name == RULE_2018 and len(self.rule.averages):
            return self.rule.predict(facts).assign(source="")
        predicted = self.methods[name].predict(part_within_node(facts))
        return extend_across_nodes(predicted, facts, self.node_scaling)


def target_cells(
    throughput: pd.DataFrame,
    targets: Sequence["Target"],
    question: "Question",
    instances: Mapping[str, "Instance"],
) -> pd.DataFrame:
    """Select the single-device cells from which the targets follow.

    Parameters
    ----------
    throughput
        results/<study>/throughput.parquet.
    targets
        Machines to extrapolate to, each with the instance of its single device.
    question
        The cells that the study is about.
    instances
        The declared machines.

    Returns
    -------
    pd.DataFrame
        One row per target and cell: the columns of `throughput` for the base, with `instance`,
        `base_instance`, `gpus`, `nodes` and declared `warnings` of the target, and
        `base_images_per_s` with `_low`, `_high` (95 %, NaN for one run) and `base_warnings`.
    """
    of_base = [name for name in throughput if name.startswith("images_per_s")] + ["warnings"]
    bases = throughput[
        (throughput["gpus"] == 1)
        & throughput["status"].isin(USABLE)
        & throughput["model"].isin(question.model)
        & throughput["batch_size"].isin(question.batch_size)
        & (throughput["precision"] == question.precision)
        & (throughput["framework"] == question.framework)
    ].rename(columns={name: f"base_{name}" for name in of_base})
    tables = []
    for target in targets:
        rows = bases[bases["instance"] == target.base_instance]
        cells = rows.assign(
            base_instance=target.base_instance,
            instance=target.instance,
            gpus=target.gpus,
            nodes=nodes_of(instances, target.instance, target.gpus),
            warnings=[cautions(instances, target.instance)] * len(rows),
        )
        tables.append(cells)
    if not tables:
        return bases.assign(base_instance="").head(0)
    return pd.concat(tables, ignore_index=True)


def extrapolate_cells(
    cells: pd.DataFrame, facts: pd.DataFrame, fitted: FittedMethods, headline: str
) -> pd.DataFrame:
    """Predict the target cells by every fitted method.

    Parameters
    ----------
    cells
        The table of `target_cells`.
    facts
        `with_declared_facts` of them, with network facts.
    fitted
        The fitted methods.
    headline
        The method that is marked.

    Returns
    -------
    pd.DataFrame
        EXTRAPOLATION_COLUMNS with 90 % prediction intervals; cells that a method cannot predict
        are left out.
    """
    tables = [
        _extrapolate_by_method(cells, facts, fitted, name, name == headline)
        for name in fitted.methods
    ]
    table = pd.concat(tables, ignore_index=True)
    return table[table["efficiency"].notna()].reset_index(drop=True)


def _extrapolate_by_method(
    cells: pd.DataFrame, facts: pd.DataFrame, fitted: FittedMethods, name: str, headline: bool
) -> pd.DataFrame:
    predicted = fitted.predict(name, facts)
    maxima = np.where(facts["nodes"] == 1, fitted.maximum_gpus, fitted.maximum_gpus_on_nodes)
    warnings = [
        joined(pairs, count_warnings(gpus, maximum))
        for pairs, gpus, maximum in zip(cells["warnings"], facts["gpus"], maxima, strict=True)
    ]
    if name == LEARNED_METHOD:
        rows = zip(warnings, facts["model"], facts["is_listed"], strict=True)
        warnings = [
            pairs if is_listed else joined(pairs, [unlisted_network_warning(model)])
            for pairs, model, is_listed in rows
        ]
    source = METHOD_DESCRIPTIONS[name] + predicted["source"]
    predicted = predicted.assign(source=source, warnings=warnings)
    return extrapolation_rows(cells, predicted, name, headline)


def count_warnings(gpus: int, maximum: float) -> list[dict[str, str]]:
    """Return the warning of more devices than any figure behind the fit (NaN: none), else []."""
    if not gpus > maximum:
        return []
    message = f"more devices than any figure that was learned from ({maximum:g})"
    return [warning("beyond_evidence", message)]


def extrapolation_rows(
    cells: pd.DataFrame, predicted: pd.DataFrame, method: str, headline: bool
) -> pd.DataFrame:
    """Compute the throughput of target cells: gpus x images_per_s of one device x efficiency.

    Parameters
    ----------
    cells
        The table of `target_cells`.
    predicted
        efficiency, low, high (90 % prediction interval), source, warnings; same index.
    method
        The name of the method.
    headline
        Whether the answer uses it.

    Returns
    -------
    pd.DataFrame
        EXTRAPOLATION_COLUMNS. Half the width of the interval's logarithm is the root of the sum of
        squares of that of the efficiency and that of the base, where the base has bounds. The
        warnings of a transferred base are kept.
    """
    table = cells.assign(
        method=method,
        efficiency=predicted["efficiency"],
        headline=headline,
        basis="extrapolated",
        images_per_s=cells["gpus"] * cells["base_images_per_s"] * predicted["efficiency"],
        source=method + ": " + predicted["source"] + " ; " + cells["source"],
        warnings=predicted["warnings"],
    )
    for name, sign in (("low", -1), ("high", 1)):
        base = np.log(cells[f"base_images_per_s_{name}"] / cells["base_images_per_s"])
        base = TO_90_PERCENT * base.fillna(0)
        with np.errstate(divide="ignore"):  # a lower bound of 0 stays 0
            efficiency = np.log(predicted[name] / predicted["efficiency"])
        bound = table["images_per_s"] * np.exp(sign * np.hypot(base, efficiency))
        table[f"images_per_s_{name}"] = bound
    is_transferred = cells["basis"] == "transferred"
    if is_transferred.any():
        rows = zip(predicted["warnings"], cells["base_warnings"], is_transferred, strict=True)
        table["warnings"] = [
            joined(pairs, base_pairs if transferred else None)
            for pairs, base_pairs, transferred in rows
        ]
    return table.reindex(columns=list(EXTRAPOLATION_COLUMNS))


def with_published_warnings(
    estimated: pd.DataFrame, facts: pd.DataFrame, evidence: pd.DataFrame
) -> pd.DataFrame:
    """Warn (`against_published`) where others have published as many devices of the same family.

    Parameters
    ----------
    estimated
        EXTRAPOLATION_COLUMNS.
    facts
        `with_declared_facts` of the cells: gpu, family, instance, xla of each machine.
    evidence
        EVIDENCE_COLUMNS; devices of one node that train together count.
    """
    machines = facts.drop_duplicates("instance").set_index("instance")
    in_node = evidence["nodes"].eq(1).fillna(False).astype(bool)
    published = evidence[evidence["exchange"].astype(bool) & in_node]
    key = ["family", "gpus", "model", "framework", "precision", "xla"]
    groups = dict(iter(published.groupby(key)))
    warnings = []
    for row in estimated.itertuples():
        machine = machines.loc[row.instance]
        row_key = (
            machine["family"], row.gpus, row.model, row.framework, row.precision, machine["xla"],
        )  # fmt: skip
        figures = groups.get(row_key, published.head(0))
        rates = figures["efficiency"] * figures["gpus"] * figures["base_images_per_s"]
        devices = f"{row.gpus} x {machine['gpu']}"
        pairs = against_published(row.images_per_s, devices, rates, figures["batch_size"])
        warnings.append(joined(row.warnings, pairs))
    return estimated.assign(warnings=warnings)


def with_equivalents(
    extrapolated: pd.DataFrame, instances: Mapping[str, "Instance"]
) -> pd.DataFrame:
    """Add the rows of each machine that is declared equivalent to a target."""
    tables = [extrapolated]
    for name, declared in instances.items():
        rows = extrapolated[extrapolated["instance"] == declared.equivalent_to]
        if len(rows):
            source = f"{name} declared equivalent to {declared.equivalent_to} ; " + rows["source"]
            warnings = [joined(pairs, cautions(instances, name)) for pairs in rows["warnings"]]
            tables.append(rows.assign(instance=name, source=source, warnings=warnings))
    return pd.concat(tables, ignore_index=True)


def scaling_curve(
    cells: pd.DataFrame,
    instances: Mapping[str, "Instance"],
    networks: Mapping[str, "DeclaredNetwork"],
    fitted: FittedMethods,
    headline: str,
) -> pd.DataFrame:
    """Predict the target cells at every count of CURVE_COUNTS by the headline method.

    Parameters
    ----------
    cells
        The table of `target_cells`.
    instances, networks
        What the study declares.
    fitted
        The fitted methods.
    headline
        One of METHODS.

    Returns
    -------
    pd.DataFrame
        CURVE_COLUMNS; `low`, `high`: 90 % prediction interval of the efficiency.
    """
    if cells.empty:
        return pd.DataFrame(columns=list(CURVE_COLUMNS))
    tables = [
        cells.assign(
            gpus=count, nodes=[nodes_of(instances, name, count) for name in cells["instance"]]
        )
        for count in CURVE_COUNTS
    ]
    counts = pd.concat(tables, ignore_index=True).assign(method=headline)
    facts = with_network_facts(with_declared_facts(counts, instances), networks)
    predicted = fitted.predict(headline, facts)[["efficiency", "low", "high"]]
    return counts.join(predicted)[list(CURVE_COLUMNS)]


# Threads that wait for each other cost 15 CPU-seconds on these small matrices where one takes 2.
@threadpool_limits.wrap(limits=1, user_api="blas")
def extrapolate_study(
    tables: Mapping[str, pd.DataFrame],
    instances: Mapping[str, "Instance"],
    targets: Sequence["Target"],
    question: "Question",
    method: str,
    times: Sequence[pd.DataFrame] = (),
    networks: Mapping[str, "DeclaredNetwork"] | None = None,
) -> dict[str, pd.DataFrame]:
    """Return the tables `extrapolation`, `curve` and `validation` of a study.

    Parameters
    ----------
    tables
        `throughput`, `efficiency`, `averages`, `evidence`: the files of results/<study>/.
    instances
        The declared machines.
    targets
        Machines to extrapolate to.
    question
        The cells that the study is about.
    method
        The headline, one of METHODS. Without any evidence the learned method has its priors, and
        it is the headline where the 2018 rule has no averages.
    times
        The study's times to a target (`read_times`), then further ones to learn from. A machine
        whose device was timed at another count only is estimated from the study's times.
    networks
        Networks that the study declares, by model.
    """
    declared = networks or {}
    evidence = with_network_facts(tables["evidence"], declared)
    on_node, on_nodes = single_device_bases(evidence), multi_device_bases(evidence)
    rows = learnable(on_node)
    rule = MeanEfficiency(tables["averages"])
    names = list(METHODS) if len(rows) else [LEARNED_METHOD]
    if len(rule.averages) and RULE_2018 not in names:
        names.append(RULE_2018)
    headline = method if method in names else LEARNED_METHOD

    errors = {name: left_out_errors(METHODS[name], rows) for name in names}
    fitted = FittedMethods(
        methods={name: CalibratedMethod.fit(METHODS[name], rows, errors[name]) for name in names},
        rule=rule,
        maximum_gpus=float(on_node["gpus"].max()),
        node_scaling=fit_node_scaling(on_nodes),
        maximum_gpus_on_nodes=float(on_nodes["gpus"].max()),
    )
    cells = target_cells(tables["throughput"], targets, question, instances)
    extrapolated = cells
    if len(cells):
        facts = with_network_facts(with_declared_facts(cells, instances), declared)
        extrapolated = extrapolate_cells(cells, facts, fitted, headline)
        extrapolated = with_published_warnings(extrapolated, facts, on_node)
        extrapolated = with_equivalents(extrapolated, instances)
    extrapolated = extrapolated.reindex(columns=list(EXTRAPOLATION_COLUMNS))
    if times and len(times[0]):
        strong = fit_strong(times[0], times[1:])
        timed = strong_cells(times[0], strong, question, instances, EXTRAPOLATION_COLUMNS)
        filled = [table for table in (extrapolated, timed) if len(table)]
        extrapolated = pd.concat(filled or [extrapolated], ignore_index=True)

    return {
        "extrapolation": extrapolated,
        "curve": scaling_curve(cells, instances, declared, fitted, headline),
        "validation": validation_table(errors if len(rows) else {}),
    }
