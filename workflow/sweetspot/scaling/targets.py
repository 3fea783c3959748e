"""All that a study learns about scaling: errors, and the throughput of machines nobody has measured."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from threadpoolctl import threadpool_limits

from sweetspot.cells import USABLE
from sweetspot.scaling.fitted import FittedScaling, combined_limit
from sweetspot.scaling.intervals import LEARNED_METHOD, METHODS, validation_table
from sweetspot.scaling.methods import METHOD_DESCRIPTIONS, RULE_2018, MeanEfficiency
from sweetspot.scaling.networks import unlisted_network_warning, with_network_facts
from sweetspot.scaling.step_facts import with_declared_facts
from sweetspot.scaling.strong import fit_strong, strong_cells
from sweetspot.study.instances import cautions, nodes_of
from sweetspot.throughput.published import against_published
from sweetspot.warnings import joined

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import StudyCells, Target

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
FIGURE_KEY = ["family", "gpus", "model", "framework", "precision", "xla"]


def target_cells(
    throughput: pd.DataFrame,
    targets: Sequence["Target"],
    question: "StudyCells",
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
    renamed = [name for name in throughput if name.startswith("images_per_s")] + ["warnings"]
    bases = throughput[
        (throughput["gpus"] == 1)
        & throughput["status"].isin(USABLE)
        & throughput["model"].isin(question.model)
        & throughput["batch_size"].isin(question.batch_size)
        & (throughput["precision"] == question.precision)
        & (throughput["framework"] == question.framework)
    ].rename(columns={name: f"base_{name}" for name in renamed})
    tables = [bases.assign(base_instance="").head(0)]
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
    return pd.concat(tables[-len(targets) :], ignore_index=True)


def extrapolate_cells(
    cells: pd.DataFrame, facts: pd.DataFrame, fitted: FittedScaling, rule: MeanEfficiency
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
    rule
        The 2018 rule on the study's efficiencies, with their spread as its interval; without
        averages the fitted rule is used.

    Returns
    -------
    pd.DataFrame
        EXTRAPOLATION_COLUMNS with 90 % prediction intervals; cells that a method cannot predict
        are left out.
    """
    tables = []
    for name in fitted.methods:
        if name == RULE_2018 and len(rule.averages):
            predicted = rule.predict(facts).assign(source="")
        else:
            predicted = fitted.predict(name, facts)
        warnings = fitted.add_count_warnings(cells["warnings"], facts)
        if name == LEARNED_METHOD:
            rows = zip(warnings, facts["model"], facts["is_listed"], strict=True)
            warnings = [
                pairs if is_listed else joined(pairs, [unlisted_network_warning(model)])
                for pairs, model, is_listed in rows
            ]
        source = METHOD_DESCRIPTIONS[name] + predicted["source"]
        predicted = predicted.assign(source=source, warnings=warnings)
        tables.append(extrapolation_rows(cells, predicted, name))
    table = pd.concat(tables, ignore_index=True)
    return table[table["efficiency"].notna()].reset_index(drop=True)


def extrapolation_rows(cells: pd.DataFrame, predicted: pd.DataFrame, method: str) -> pd.DataFrame:
    """Compute the throughput of target cells: gpus x images_per_s of one device x efficiency.

    Parameters
    ----------
    cells
        The table of `target_cells`.
    predicted
        efficiency, low, high (90 % prediction interval), source, warnings; same index.
    method
        The name of the method.

    Returns
    -------
    pd.DataFrame
        EXTRAPOLATION_COLUMNS without a headline. The interval combines that of the efficiency
        with that of the base, where the base has one. The warnings of a transferred base are kept.
    """
    rate = cells["gpus"] * cells["base_images_per_s"] * predicted["efficiency"]
    base_warnings = cells["base_warnings"].where(cells["basis"] == "transferred", None)
    pairs = zip(predicted["warnings"], base_warnings, strict=True)
    table = cells.assign(
        method=method,
        efficiency=predicted["efficiency"],
        headline=False,
        basis="extrapolated",
        images_per_s=rate,
        source=method + ": " + predicted["source"] + " ; " + cells["source"],
        warnings=[joined(*sources) for sources in pairs],
    )
    for name, sign in (("low", -1), ("high", 1)):
        base_limit = cells[f"base_images_per_s_{name}"] / cells["base_images_per_s"]
        efficiency_limit = predicted[name] / predicted["efficiency"]
        table[f"images_per_s_{name}"] = combined_limit(rate, base_limit**TO_90_PERCENT, efficiency_limit, sign=sign)
    return table.reindex(columns=list(EXTRAPOLATION_COLUMNS))


def with_published_warnings(estimated: pd.DataFrame, facts: pd.DataFrame, evidence: pd.DataFrame) -> pd.DataFrame:
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
    in_node = evidence["nodes"].eq(1).fillna(False).astype(bool)
    published = evidence[evidence["exchange"].astype(bool) & in_node]
    rate = published["efficiency"] * published["gpus"] * published["base_images_per_s"]
    groups = dict(iter(published.assign(rate=rate).groupby(FIGURE_KEY)))
    machines = facts.drop_duplicates("instance")[["instance", "gpu", "family", "xla"]]
    warnings = []
    for row in estimated.merge(machines, on="instance", how="left").itertuples():
        figures = groups.get(tuple(getattr(row, name) for name in FIGURE_KEY))
        pairs = (
            against_published(row.images_per_s, f"{row.gpus} x {row.gpu}", figures["rate"], figures["batch_size"])
            if figures is not None
            else []
        )
        warnings.append(joined(row.warnings, pairs))
    return estimated.assign(warnings=warnings)


def with_equivalents(extrapolated: pd.DataFrame, instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """Add the rows of each machine that is declared equivalent to a target."""
    tables = [extrapolated]
    for name, declared in instances.items():
        rows = extrapolated[extrapolated["instance"] == declared.equivalent_to]
        source = f"{name} declared equivalent to {declared.equivalent_to} ; " + rows["source"]
        warnings = [joined(pairs, cautions(instances, name)) for pairs in rows["warnings"]]
        tables.append(rows.assign(instance=name, source=source, warnings=warnings))
    return pd.concat([table for table in tables if len(table)], ignore_index=True)


def curve_cells(cells: pd.DataFrame, instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """Repeat the target cells at every count of CURVE_COUNTS."""
    tables = []
    for count in CURVE_COUNTS:
        nodes = [nodes_of(instances, name, count) for name in cells["instance"]]
        tables.append(cells.assign(gpus=count, nodes=nodes))
    return pd.concat(tables, ignore_index=True)


# Threads that wait for each other cost 15 CPU-seconds on these small matrices where one takes 2.
@threadpool_limits.wrap(limits=1, user_api="blas")
def extrapolate_study(
    tables: Mapping[str, pd.DataFrame],
    instances: Mapping[str, "Instance"],
    targets: Sequence["Target"],
    question: "StudyCells",
    method: str,
    times: Sequence[pd.DataFrame] = (),
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
        The headline, one of METHODS. Without evidence there is only the learned method, with its
        priors.
    times
        The study's times to a target (`read_times`), then further ones to learn from. A machine
        whose device was timed at another count only is estimated from the study's times.
    """
    evidence = with_network_facts(tables["evidence"])
    fitted = FittedScaling.fit(evidence, METHODS if len(evidence) else [LEARNED_METHOD])
    headline = method if method in fitted.methods else LEARNED_METHOD
    rule = MeanEfficiency(tables["averages"])
    cells = target_cells(tables["throughput"], targets, question, instances)
    extrapolated = cells.reindex(columns=list(EXTRAPOLATION_COLUMNS))
    curve = cells.reindex(columns=list(CURVE_COLUMNS))
    if len(cells):
        facts = with_network_facts(with_declared_facts(cells, instances))
        extrapolated = extrapolate_cells(cells, facts, fitted, rule)
        extrapolated["headline"] = extrapolated["method"] == headline
        extrapolated = with_published_warnings(extrapolated, facts, evidence)
        extrapolated = with_equivalents(extrapolated, instances)

        curve = curve_cells(cells, instances).assign(method=headline)
        facts = with_network_facts(with_declared_facts(curve, instances))
        is_rule = headline == RULE_2018 and len(rule.averages)
        predicted = rule.predict(facts) if is_rule else fitted.predict(headline, facts)
        curve = curve.join(predicted[["efficiency", "low", "high"]])[list(CURVE_COLUMNS)]
    if times and len(times[0]):
        strong = fit_strong(times[0], times[1:])
        timed = strong_cells(times[0], strong, question, instances, EXTRAPOLATION_COLUMNS)
        filled = [table for table in (extrapolated, timed) if len(table)]
        extrapolated = pd.concat(filled or [extrapolated], ignore_index=True)
    errors = fitted.errors if len(evidence) else {}
    return {
        "extrapolation": extrapolated,
        "curve": curve,
        "validation": validation_table(errors),
    }
