"""Validate every method on families left out, choose the headline, and estimate the machines nobody has measured."""

from pathlib import Path
from typing import Any

import pandas as pd
from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.files import read_parquet, write_parquet
from sweetspot.scaling.explain import EXPLAIN_COLUMNS, explain
from sweetspot.scaling.methods import METHODS, RULE_2018
from sweetspot.scaling.shipped import with_family
from sweetspot.scaling.targets import EXTRAPOLATION_COLUMNS, as_evidence, extrapolate_all, scaling_curve, target_cells
from sweetspot.scaling.validation import best_method, held_out, validation_table, widths
from sweetspot.study.instances import load_instances
from sweetspot.study.study import Question, Target


def main(inputs: dict[str, Any], targets: list[Target], question: Question, method: str, out: dict[str, str]) -> None:
    """Write extrapolation.parquet, and in scaling/: curve, validation and explain.parquet.

    With fewer than two card families nothing can be left out: the 2018 rule alone is used.
    """
    if method not in ("auto", *METHODS):
        raise UserError(f"study.yaml: key 'method' is {method!r}; expected auto or one of {', '.join(METHODS)}")
    throughput, evidence = read_parquet(inputs["throughput"]), read_parquet(inputs["evidence"])
    declared = load_instances(*(Path(file) for file in inputs["instances"]))
    table = read_parquet(inputs["efficiency"])
    rule = with_family(table, {name: instance.gpu for name, instance in declared.items()})
    cells = target_cells(throughput, targets, question)
    names = list(METHODS) if evidence["family"].nunique() > 1 else []
    errors = held_out(evidence, rule, names) if names else pd.DataFrame({"method": [], "slice": []})
    validation = validation_table(errors)
    headline = method if method != "auto" else best_method(validation) if names else RULE_2018
    width = widths(errors) if names else {RULE_2018: {}}
    tables = (evidence, rule, read_parquet(inputs["averages"]))
    facts = as_evidence(cells, declared)
    estimated = extrapolate_all(cells, facts, tables, width, headline) if len(cells) else cells
    write_parquet(estimated.reindex(columns=list(EXTRAPOLATION_COLUMNS)), out["extrapolation"])
    write_parquet(scaling_curve(cells, facts, tables, width, headline), out["curve"])
    write_parquet(validation, out["validation"])
    write_parquet(explain(evidence) if len(evidence) else pd.DataFrame(columns=list(EXPLAIN_COLUMNS)), out["explain"])


if "snakemake" in globals():
    with exit_on_user_error():
        main(
            inputs={**dict(snakemake.input.items()), "instances": list(snakemake.input.instances)},
            targets=[Target(**target) for target in snakemake.params.targets],
            question=Question(**snakemake.params.question),
            method=snakemake.params.method,
            out=dict(snakemake.output.items()),
        )
