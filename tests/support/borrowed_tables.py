"""A study's tables with its borrowed pools and its own method, by the library functions that the rules call."""

from dataclasses import dataclass
from functools import cache

import pandas as pd
from study_tables import STUDIES, inputs_of, price_folder, throughput_of
from sweetspot.decision.compare import compare
from sweetspot.facts.shipped_tables import figures_file
from sweetspot.scaling.evidence import average_efficiency, concat_evidence, study_efficiency, study_evidence
from sweetspot.scaling.published_pairs import published_evidence
from sweetspot.scaling.targets import extrapolate_study
from sweetspot.study.instances import load_instances
from sweetspot.study.settings import Settings
from sweetspot.study.study import load_study
from sweetspot.study.workloads import load_monthly, load_needs
from sweetspot.throughput.published import read_efficiency, read_published
from sweetspot.throughput.time_to_target import read_times


@dataclass(frozen=True)
class Tables:
    throughput: pd.DataFrame
    scaling: dict[str, pd.DataFrame]
    priced: dict[str, pd.DataFrame]
    comparison: dict[str, pd.DataFrame]
    draws: int

    def cost(self, price_list: str, instance: str, workload: str, purchase: str = "on_demand") -> pd.Series:
        """The one cost of an offer and workload."""
        rows = self.priced["costs"]
        key = {"price_list": price_list, "instance": instance, "workload": workload, "purchase": purchase}
        for name, value in key.items():
            rows = rows[rows[name] == value]
        assert len(rows) == 1, key
        return rows.iloc[0]


@cache
def borrowed_tables(name: str) -> Tables:
    folder = STUDIES / name
    study, instances = load_study(folder), load_instances(folder / "instances.yaml")
    throughput = throughput_of(study, instances, folder)
    efficiency = study_efficiency(
        throughput, read_efficiency(folder / "efficiency.csv"), instances, study.cells.framework
    )
    pools = [published_evidence(pool, read_published(figures_file(pool, STUDIES))) for pool in study.borrow]
    evidence = concat_evidence([*pools, study_evidence(name, efficiency, throughput, instances)])
    known = {"throughput": throughput, "efficiency": efficiency, "evidence": evidence}
    known["averages"] = average_efficiency(efficiency)
    times = [read_times(figures_file(pool, STUDIES, "time_to_target.csv")) for pool in (name, "scaling-2026")]
    scaling = extrapolate_study(known, instances, study.targets, study.cells, study.method, times)
    figures = {"throughput": throughput, "extrapolation": scaling["extrapolation"]}
    priced = price_folder(*figures.values(), folder, study, energy=study.energy, price_paths=study.price_paths)
    inputs = inputs_of(priced, **figures, efficiency=efficiency)
    work = folder / "workloads.yaml"
    more = {"needs": load_needs(work), "monthly": load_monthly(work)}
    # Work of months has the draws that it has in the workflow: its costs are means of them.
    draws = 1000 if more["monthly"] else 200
    compared = compare(inputs, Settings.of(study, instances), draws, **more)
    return Tables(throughput, scaling, priced, compared, draws)
