"""The figures that come with the project: found beside the package, wherever the command is started."""

from pathlib import Path

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.scaling.evidence import EVIDENCE_COLUMNS, study_efficiency, study_evidence
from sweetspot.scaling.machine import family
from sweetspot.scaling.partners import published_evidence
from sweetspot.study.instances import load_instances
from sweetspot.study.study import load_study
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.published import read_efficiency, read_published

STUDIES = Path(__file__).resolve().parents[3] / "config" / "studies"
STUDY, POOL = "parkopedia-2018", "scaling-2020"


def shipped_evidence(studies: Path = STUDIES) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Evidence (EVIDENCE_COLUMNS) of the shipped studies, and the 2018 study's table with `family` for its rule.

    Raises UserError where the studies are not beside the package (it must be installed with `pip install -e`).
    """
    folder, pool = studies / STUDY, studies / POOL / "throughput.csv"
    if not pool.is_file():
        raise UserError(f"{pool}: the shipped figures are missing; expected the package in its repository")
    study, instances = load_study(folder), load_instances(folder / "instances.yaml")
    throughput = gather_throughput([], study.cells, study.as_of.isoformat(), instances, folder)
    table = study_efficiency(throughput, read_efficiency(folder / "efficiency.csv"), instances)
    rule = with_family(table, {name: instance.gpu for name, instance in instances.items()})
    parts = [published_evidence(POOL, read_published(pool)), study_evidence(STUDY, table, throughput, instances)]
    return joined(parts), rule


def joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Tables of evidence one below the other; empty ones add nothing."""
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(EVIDENCE_COLUMNS))


def with_family(efficiency: pd.DataFrame, cards: dict[str, str]) -> pd.DataFrame:
    """efficiency.parquet with `family`, the card family of each base_instance (cards: instance -> card)."""
    return efficiency.assign(family=[family(cards.get(name, name)) for name in efficiency["base_instance"]])
