"""The figures that come with the project: found beside the package, wherever the command is started."""

from pathlib import Path

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.scaling.evidence import all_evidence, study_efficiency, study_evidence, with_family
from sweetspot.scaling.partners import published_evidence
from sweetspot.study.instances import load_instances
from sweetspot.study.study import load_study
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.published import STUDIES, read_efficiency, read_published

STUDY, POOLS = "parkopedia-2018", ("scaling-2020", "scaling-2026")


def shipped_evidence(studies: Path = STUDIES) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Evidence (EVIDENCE_COLUMNS) of the shipped studies, and the 2018 study's table with `family` for its rule.

    Raises UserError where the studies are not beside the package (it must be installed with `pip install -e`).
    """
    folder, pools = studies / STUDY, {name: studies / name / "throughput.csv" for name in POOLS}
    for pool in pools.values():
        if not pool.is_file():
            raise UserError(f"{pool}: the shipped figures are missing; expected the package in its repository")
    study, instances = load_study(folder), load_instances(folder / "instances.yaml")
    throughput = gather_throughput([], study.cells, study.as_of.isoformat(), instances, folder)
    printed = read_efficiency(folder / "efficiency.csv")
    table = study_efficiency(throughput, printed, instances, study.cells.framework)
    rule = with_family(table, {name: instance.gpu for name, instance in instances.items()})
    borrowed = [published_evidence(name, read_published(pool)) for name, pool in pools.items()]
    return all_evidence([*borrowed, study_evidence(STUDY, table, throughput, instances)]), rule
