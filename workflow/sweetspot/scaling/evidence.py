"""Scaling efficiencies of a study: its table, and what its throughput of 1 and of n devices implies."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sweetspot.cells import READ, USABLE, weakest
from sweetspot.declared_tables import columns_of
from sweetspot.scaling.step_facts import MODERN, eras_of, with_declared_facts, with_step_facts
from sweetspot.study.instances import Instance, nodes_of
from sweetspot.throughput.best import best_figures, mark_best
from sweetspot.warnings import warning

EFFICIENCY_COLUMNS = (
    "base_instance", "instance", "gpus", "nodes", "framework", "model", "batch_size", "precision", "variant",
    "xla", "efficiency", "basis", "source", "warnings",
)  # fmt: skip
EVIDENCE_COLUMNS = columns_of("evidence")
# An efficiency above this says that the single-device figure is too slow.
MAXIMUM_EFFICIENCY = 1.05
LOGICAL_DEVICES = warning("logical_devices", "parts of one processor, not separate devices: no evidence of scaling")
WORKLOAD = ["framework", "model", "batch_size", "precision"]


def study_efficiency(
    throughput: pd.DataFrame, table: pd.DataFrame, instances: Mapping[str, Instance], framework: str = "tensorflow"
) -> pd.DataFrame:
    """Compute how well a study's machines scale: efficiency = images_per_s of n devices / (n x images_per_s of one),
    from which the scaling of machines that nobody measured is learnt. Returned is the table efficiency (`best`: of the
    variants), a row for each pair of instances and workload measured or published on 1 and on n devices. The base is
    the same instance with one device, else its `base_instance`. A pair that is printed in `table` and measured too has
    two rows. `xla`: XLA compiled the steps of n devices.

    Parameters
    ----------
    throughput, table, instances, framework
        results/<study>/throughput.parquet (`images_per_s` of all devices); the study's efficiency.csv
        (`read_efficiency`); machines by name (`base_instance`: the machine with one device); framework where the
        instance declares none.
    """
    # A scaled throughput already contains an efficiency; using it would count that twice.
    observed = throughput[throughput["basis"].isin(READ) & throughput["status"].isin(USABLE)]
    computed = _computed_efficiency(observed, instances)
    printed = table.assign(
        basis="published",
        framework=[getattr(instances.get(name), "framework", None) or framework for name in table["instance"]],
        nodes=[nodes_of(instances, row.instance, row.gpus) for row in table.itertuples()],
        xla=False,
    )
    efficiency = concat_filled([printed, computed], EFFICIENCY_COLUMNS)
    is_logical = efficiency.get("logical", pd.Series(False, efficiency.index)).eq(True)
    efficiency["warnings"] = [
        super_linear_warnings(value) + ([LOGICAL_DEVICES] if logical else [])
        for value, logical in zip(efficiency["efficiency"], is_logical, strict=True)
    ]
    types = {name: "string" for name in EFFICIENCY_COLUMNS if name != "warnings"}
    types |= dict.fromkeys(("gpus", "nodes", "batch_size"), "int64")
    types |= {"efficiency": "float64", "xla": "bool"}
    variant_key = [name for name in EFFICIENCY_COLUMNS if name not in ("variant", "efficiency", "source", "warnings")]
    return mark_best(efficiency[list(EFFICIENCY_COLUMNS)].astype(types), "efficiency", variant_key)


def _computed_efficiency(observed: pd.DataFrame, instances: Mapping[str, Instance]) -> pd.DataFrame:
    """Compute efficiencies from measured or published speeds (rows of throughput.parquet): pair each row of n devices
    with one device of its instance or `base_instance`, and add `efficiency`. Only bases that multiply in the same
    format (TF32 or FP32) count, where both rows state it; that of the same variant is taken, else the first.
    """
    figures = observed[observed["gpus"] > 1].reset_index(drop=True)
    figures = figures.assign(row=figures.index, base_instance=figures["instance"], declared=False)
    base_instances = figures["instance"].map({name: entry.base_instance for name, entry in instances.items()})
    declared = figures.assign(base_instance=base_instances, declared=True).dropna(subset="base_instance")
    bases = observed[observed["gpus"] == 1].rename(columns={"instance": "base_instance"})
    pairs = pd.concat([figures, declared]).merge(bases, on=["base_instance", *WORKLOAD], suffixes=("", "_base"))
    if "products" in pairs:
        has_formats = pairs["products"].notna() & pairs["products_base"].notna()
        pairs = pairs[~has_formats | (pairs["products"] == pairs["products_base"])]
    pairs = pairs.assign(differs=pairs["variant"] != pairs["variant_base"])
    pairs = pairs.sort_values(["row", "declared", "differs"], kind="stable").drop_duplicates("row")
    bases_of = zip(pairs["basis"], pairs["basis_base"], strict=True)
    sources = zip(pairs["source"], pairs["source_base"], strict=True)
    return pairs.assign(
        efficiency=pairs["images_per_s"] / (pairs["gpus"] * pairs["images_per_s_base"]),
        basis=[weakest(*names) for names in bases_of],
        source=[" ; ".join(dict.fromkeys(names)) for names in sources],
    )


def super_linear_warnings(efficiency: float) -> list[dict[str, str]]:
    """Return one `super_linear` warning for a table's column `warnings` if n devices seem more than n times as fast as
    one (efficiency above MAXIMUM_EFFICIENCY), which means that the single-device figure is wrong; else [].
    """
    if not efficiency > MAXIMUM_EFFICIENCY:
        return []
    message = f"efficiency {efficiency:.2f} is above {MAXIMUM_EFFICIENCY}; the single-device figure is too slow"
    return [warning("super_linear", message)]


def learnable(evidence: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the table evidence (published and measured scaling efficiencies) to fit scaling methods to:
    those without warnings, with the facts that explain an efficiency (`with_step_facts`), `publisher` and
    `publisher_group` (with device). A table that already has the column `publisher` is returned unchanged.
    """
    if "publisher" in evidence:
        return evidence
    rows = with_step_facts(without_warnings(evidence))
    publisher = source_groups(rows)
    return rows.assign(publisher=publisher, publisher_group=rows["device_group"] + publisher)


def without_warnings(evidence: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the table evidence that are sound enough to learn from: those with empty `warnings`. A modern
    program's row may have the warning `batch_not_stated`: suites fill the memory, so steps take similar times.
    """
    tolerated = np.where(eras_of(evidence) == MODERN, "batch_not_stated", "")
    has_none = [
        not {pair["rule"] for pair in pairs} - {rule}
        for pairs, rule in zip(evidence["warnings"], tolerated, strict=True)
    ]
    return evidence[np.array(has_none, dtype=bool)]


def study_evidence(
    study: str, efficiency: pd.DataFrame, throughput: pd.DataFrame, instances: Mapping[str, Instance]
) -> pd.DataFrame:
    """Turn a study's scaling efficiencies into rows of the table evidence (published and measured pairs), from which
    scaling methods learn: add the speed of one device and facts of the machine. Pairs without a figure of one device,
    and logical devices, are left out.

    Parameters
    ----------
    study, efficiency, throughput, instances
        Name of the study; its table of `study_efficiency`; its throughput.parquet (single devices may be stand-ins);
        its machines by name.
    """
    key = ["base_instance", *WORKLOAD]
    bases = throughput[(throughput["gpus"] == 1) & throughput["status"].isin(USABLE)]
    bases = best_figures(bases.rename(columns={"instance": "base_instance"}), key)
    bases = bases.rename(columns={"images_per_s": "base_images_per_s"})
    bases = bases[[*key, "gpu", "as_of", "base_images_per_s"]]
    pairs = _separate_devices(efficiency).merge(bases, on=key, how="inner")
    evidence = with_declared_facts(pairs, instances)
    evidence = evidence.assign(study=study, benchmark="", base_gpus=1, base_nodes=1)
    return evidence[EVIDENCE_COLUMNS]


def _separate_devices(efficiency: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of whole devices, that is, without the warning LOGICAL_DEVICES."""
    is_separate = [LOGICAL_DEVICES not in list(pairs) for pairs in efficiency["warnings"]]
    return efficiency[np.array(is_separate, dtype=bool)]


def concat_filled(tables: Sequence[pd.DataFrame], columns: Sequence[str] = EVIDENCE_COLUMNS) -> pd.DataFrame:
    """Concatenate the tables that have rows; if none has any, return an empty table with `columns`."""
    filled = [table for table in tables if len(table)]
    return pd.concat(filled or [pd.DataFrame(columns=list(columns))], ignore_index=True)


def source_groups(evidence: pd.DataFrame) -> pd.Series:
    """Return per row of the table evidence a text that names who published it (benchmark and repository, else the
    study). Validation leaves out all figures of a publisher together, since they share machines and software.
    """
    repository = evidence["source"].astype(str).str.extract(r"([\w.-]+/[\w.-]+)")[0].fillna("")
    is_borrowed = evidence["benchmark"].astype(str) != ""
    return evidence["benchmark"].astype(str) + " " + repository.where(is_borrowed, evidence["study"])


def average_efficiency(efficiency: pd.DataFrame) -> pd.DataFrame:
    """Average scaling efficiencies (the table efficiency) over device families, the prediction rule of the 2018 study
    (its section 3, table 1). A family is a pair of instances; one with several rows counts once, by its mean;
    impossible efficiencies are left out. Returned is a row per workload: framework, model, batch_size, precision,
    efficiency (mean), spread (sample standard deviation over the families), families (their number).
    """
    pair_key = [*WORKLOAD, "base_instance", "instance", "gpus"]
    pairs = _separate_devices(efficiency).groupby(pair_key, as_index=False)["efficiency"].mean()
    is_possible = pairs["efficiency"] <= MAXIMUM_EFFICIENCY
    means = pairs[is_possible].groupby(WORKLOAD)["efficiency"]
    return means.agg(efficiency="mean", spread="std", families="size").reset_index()
