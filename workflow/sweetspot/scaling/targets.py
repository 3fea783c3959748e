"""All that a study learns about scaling: errors, and the throughput of machines nobody has measured."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
from threadpoolctl import threadpool_limits

from sweetspot.cells import USABLE
from sweetspot.declared_tables import columns_of
from sweetspot.scaling.evidence import concat_filled
from sweetspot.scaling.fitted import FittedScaling, predicted_rates
from sweetspot.scaling.intervals import LEARNED_METHOD, METHODS, validation_table
from sweetspot.scaling.methods import METHOD_DESCRIPTIONS, RULE_2018, MeanEfficiency
from sweetspot.scaling.step_facts import with_declared_facts
from sweetspot.scaling.strong import fit_strong, strong_cells
from sweetspot.study.instances import Instance, cautions, nodes_of
from sweetspot.study.study import StudyCells, Target
from sweetspot.throughput.published import against_published
from sweetspot.warnings import joined

EXTRAPOLATION_COLUMNS = columns_of("extrapolation")
# From the 95 % bounds of throughput.parquet to the 90 % of a prediction, in logarithms.
TO_90_PERCENT = 1.644854 / 1.959964
FIGURE_KEY = ["family", "gpus", "model", "framework", "precision", "xla"]


def target_cells(
    throughput: pd.DataFrame, targets: Sequence[Target], question: StudyCells, instances: Mapping[str, Instance]
) -> pd.DataFrame:
    """Select the single-device speeds from which the speed of a study's larger machines is extrapolated. Returned is a
    row per target and cell: the columns of `throughput` for the base, with `instance`, `base_instance`, `gpus`,
    `nodes` and declared `warnings` of the target, and `base_images_per_s` with `_low`, `_high` (95 %, NaN for one run)
    and `base_warnings`.

    Parameters
    ----------
    throughput, targets, question, instances
        results/<study>/throughput.parquet; machines to extrapolate to, each with the instance of its single device;
        what the study measures (models, batches, precision, framework); the declared machines by name.
    """
    bases = throughput.query(
        f"gpus == 1 and status in {USABLE} and model in @question.model and batch_size in @question.batch_size and "
        "precision == @question.precision and framework == @question.framework"
    )
    renamed = {name: f"base_{name}" for name in [*bases.filter(like="images_per_s"), "instance", "warnings"]}
    machines = [
        (
            row.instance,
            row.base_instance,
            row.gpus,
            nodes_of(instances, row.instance, row.gpus),
            cautions(instances, row.instance),
        )
        for row in targets
    ]
    table = pd.DataFrame(machines, columns=["instance", "base_instance", "gpus", "nodes", "warnings"])
    table = table.astype({"gpus": "int64", "nodes": "int64"})
    return table.merge(bases.drop(columns=["gpus", "nodes"]).rename(columns=renamed), on="base_instance")


def extrapolate_cells(
    cells: pd.DataFrame, facts: pd.DataFrame, fitted: FittedScaling, evidence: pd.DataFrame
) -> pd.DataFrame:
    """Predict the speed of the target machines by each fitted method: a row of the table extrapolation per cell and
    method, with 90 % bounds, from which the decision takes the headline method and the report shows the others.

    Parameters
    ----------
    cells, facts, fitted, evidence
        The table of `target_cells`; `with_declared_facts` of it; the fitted methods; published pairs (table evidence).
    """
    tables = [
        with_published_warnings(extrapolation_rows(cells, fitted.predict(name, facts), name), facts, evidence)
        for name in fitted.methods
    ]
    return pd.concat(tables).dropna(subset="efficiency").reset_index(drop=True)


def extrapolation_rows(cells: pd.DataFrame, predicted: pd.DataFrame, method: str) -> pd.DataFrame:
    """Turn one method's predicted efficiencies into speeds of the target machines, rows of the table extrapolation
    (`headline` False).

    Parameters
    ----------
    cells, predicted, method
        The table of `target_cells`; efficiency, low, high (90 %) of its rows; one of METHODS.
    """
    base_warnings = cells["base_warnings"].where(cells["basis"] == "transferred", None)
    pairs = zip(cells["warnings"], base_warnings, strict=True)
    rates = predicted_rates(cells, predicted, TO_90_PERCENT)
    table = cells.assign(
        **rates,
        method=method,
        efficiency=predicted["efficiency"],
        headline=False,
        basis="extrapolated",
        source=f"{method}: {METHOD_DESCRIPTIONS[method]} ; " + cells["source"],
        warnings=[joined(*sources) for sources in pairs],
    )
    return table.reindex(columns=EXTRAPOLATION_COLUMNS)


def with_published_warnings(estimated: pd.DataFrame, facts: pd.DataFrame, evidence: pd.DataFrame) -> pd.DataFrame:
    """Check extrapolated speeds against published ones of as many devices of the same family in one node: add a
    warning where a rate lies far outside them (`against_published`), for the report.

    Parameters
    ----------
    estimated, facts, evidence
        Rows of the table extrapolation; `with_declared_facts` of the same rows; published pairs (table evidence).
    """
    rate = evidence["efficiency"] * evidence["gpus"] * evidence["base_images_per_s"]
    is_node = evidence["nodes"].eq(1).fillna(False).astype(bool) & evidence["exchange"].astype(bool)
    published = evidence.assign(rate=rate)[is_node]
    groups = dict(iter(published.groupby(FIGURE_KEY)))
    keys = facts[FIGURE_KEY].itertuples(index=False, name=None)
    warnings = []
    for row, gpu, key in zip(estimated.itertuples(), facts["gpu"], keys, strict=True):
        figures = groups.get(key, published.head(0))
        pairs = against_published(row.images_per_s, f"{row.gpus} x {gpu}", figures["rate"], figures["batch_size"])
        warnings.append(joined(row.warnings, pairs))
    return estimated.assign(warnings=warnings)


def with_equivalents(extrapolated: pd.DataFrame, instances: Mapping[str, Instance]) -> pd.DataFrame:
    """Return the table extrapolation with a copy of a target's rows for each machine that declares itself
    `equivalent_to` that target, such as the same machine at another provider.
    """
    tables = [extrapolated]
    for name, declared in instances.items():
        rows = extrapolated[extrapolated["instance"] == declared.equivalent_to]
        source = f"{name} declared equivalent to {declared.equivalent_to} ; " + rows["source"]
        warnings = [joined(pairs, cautions(instances, name)) for pairs in rows["warnings"]]
        tables.append(rows.assign(instance=name, source=source, warnings=warnings))
    return concat_filled(tables, EXTRAPOLATION_COLUMNS)


# Threads that wait for each other cost 15 CPU-seconds on these small matrices where one takes 2.
@threadpool_limits.wrap(limits=1, user_api="blas")
def extrapolate_study(
    tables: Mapping[str, pd.DataFrame],
    instances: Mapping[str, Instance],
    targets: Sequence[Target],
    question: StudyCells,
    method: str,
    times: Sequence[pd.DataFrame] = (),
) -> dict[str, pd.DataFrame]:
    """Predict the speed of a study's machines that nobody measured. Return its tables by name: `extrapolation` (speeds
    of the targets with 90 % bounds, which the decision prices) and `validation` (errors by method, for the report).

    Parameters
    ----------
    tables, instances, targets, question
        `throughput`, `averages` and `evidence` of results/<study>/; machines by name; machines to extrapolate to; what
        the study measures.
    method, times
        The headline method, one of METHODS (without evidence there is only the learned one, with its priors); the
        study's times to a target (`read_times`), for machines timed at another count, then further ones.
    """
    evidence = tables["evidence"]
    fitted = FittedScaling.fit(evidence, METHODS if len(evidence) else [LEARNED_METHOD])
    if RULE_2018 in fitted.methods and len(tables["averages"]):
        rule = MeanEfficiency(tables["averages"])
        fitted = replace(fitted, methods={**fitted.methods, RULE_2018: rule})
    headline = method if method in fitted.methods else LEARNED_METHOD
    cells = target_cells(tables["throughput"], targets, question, instances)
    extrapolated = cells.reindex(columns=EXTRAPOLATION_COLUMNS)
    if len(cells):
        facts = with_declared_facts(cells, instances)
        extrapolated = extrapolate_cells(cells, facts, fitted, evidence)
        extrapolated["headline"] = extrapolated["method"] == headline
        extrapolated = with_equivalents(extrapolated, instances)
    if times and len(times[0]):
        strong = fit_strong(times[0], times[1:])
        timed = strong_cells(times[0], strong, question, instances, EXTRAPOLATION_COLUMNS)
        extrapolated = concat_filled([extrapolated, timed], EXTRAPOLATION_COLUMNS)
    validation = validation_table(fitted.errors if len(evidence) else {})
    return {"extrapolation": extrapolated, "validation": validation}
