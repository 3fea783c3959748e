"""All that a study learns about scaling: validation, target machines, curve and explanation, from one fit."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from threadpoolctl import threadpool_limits

from sweetspot.errors import UserError
from sweetspot.scaling.across_nodes import fit_across
from sweetspot.scaling.evidence import from_one_device, from_several_devices, sound, with_family
from sweetspot.scaling.machine import declared_facts
from sweetspot.scaling.methods import METHODS, RULE_2018, fit_method
from sweetspot.scaling.model_facts import with_networks
from sweetspot.scaling.pooled import EXPLAIN_COLUMNS, explain, fit_eras
from sweetspot.scaling.strong import fit_strong, strong_cells
from sweetspot.scaling.targets import (
    EXTRAPOLATION_COLUMNS,
    Fitted,
    extrapolate_all,
    held_against_published,
    scaling_curve,
    target_cells,
    with_equivalents,
)
from sweetspot.scaling.validation import across_table, best_method, held_out, validation_table, widths

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import DeclaredNetwork, Question, Target


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
    fitted = Fitted(
        {name: fit_method(name, evidence, rule, pooled) for name in names} if len(cells) else {},
        widths(errors) if names else {RULE_2018: None},
        tables["averages"],
        float(evidence["gpus"].max()),
        fit_across(several),
        float(several["gpus"].max()),
    )
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
