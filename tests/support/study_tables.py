"""A study's tables made in one process by the library functions that the rules call."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd
from claim_tables import checked
from price_lists import price_study
from sweetspot.decision.compare import Inputs, compare
from sweetspot.scaling.evidence import average_efficiency, study_efficiency
from sweetspot.scaling.methods import MeanEfficiency
from sweetspot.scaling.targets import extrapolation_rows, target_cells
from sweetspot.study.claims import load_claims
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.settings import Settings
from sweetspot.study.study import Study, load_study
from sweetspot.study.workloads import load_monthly, load_needs, load_titles
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.published import read_efficiency
from sweetspot.transfer.transferring import learn_devices
from sweetspot.transfer.unmeasured import with_arithmetic, with_transferred

STUDIES = Path(__file__).parent.parent.parent / "config" / "studies"


def made_tables(folder: Path) -> dict[str, pd.DataFrame]:
    """What the workflow made in results/<study>/: the tables of comparison/, all offers, the throughput."""
    made = {file.stem: pd.read_parquet(file) for file in (folder / "comparison").glob("*.parquet")}
    offers = pd.concat([pd.read_parquet(file) for file in sorted((folder / "offers").glob("*.parquet"))])
    made["offers"] = offers.reset_index(drop=True)
    return made | {"throughput": pd.read_parquet(folder / "throughput.parquet")}


def throughput_of(study: Study, instances: dict[str, Instance], folder: Path) -> pd.DataFrame:
    """What `collect_throughput` writes where nothing was measured."""
    as_of = study.as_of.isoformat()
    table = gather_throughput([], study.cells, as_of, instances, folder, study.logs)
    if study.transfer:
        table = with_transferred(table, study.cells, instances, as_of, learn_devices(STUDIES))
    return with_arithmetic(table, study.cells, instances, as_of)


@cache
def shipped_throughput(name: str) -> tuple[Study, dict[str, Instance], pd.DataFrame]:
    """A shipped study, its machines, and the throughput that follows from its files; nobody changes them."""
    folder = STUDIES / name
    study, instances = load_study(folder), load_instances(folder / "instances.yaml")
    return study, instances, throughput_of(study, instances, folder)


def price_folder(
    throughput: pd.DataFrame, extrapolation: pd.DataFrame | None, folder: Path, study: Study, *machines: Path, **keys
) -> dict[str, pd.DataFrame]:
    """The tables of all price lists of a study's folder, each list's rows after the other's."""
    files = folder / "workloads.yaml", machines or [folder / "instances.yaml"]
    made = [
        price_study(throughput, extrapolation, file, *files, file.stem, study.month_days, study.as_of, **keys)
        for file in sorted((folder / "prices").glob("*.yaml"))
    ]
    return {kind: pd.concat([tables[kind] for tables in made], ignore_index=True) for kind in made[0]}


def inputs_of(tables: dict[str, pd.DataFrame], **figures: pd.DataFrame) -> Inputs:
    """What the comparison reads of those tables, and the figures that they were made from."""
    return Inputs(**{kind: tables[kind] for kind in ("costs", "offers", "price_lint", "plans")}, **figures)


@dataclass(frozen=True)
class Tables:
    throughput: pd.DataFrame
    costs: pd.DataFrame
    bills: pd.DataFrame
    offers: pd.DataFrame
    price_lint: pd.DataFrame
    comparison: dict[str, pd.DataFrame]

    @property
    def claims(self) -> pd.DataFrame:
        return self.comparison["claims"].set_index("id")


@cache
def study_tables(name: str, draws: int = 200, whole: bool = False) -> Tables:
    """`whole`: with the plans of workloads.yaml and the machines of all studies; else its options alone."""
    folder = STUDIES / name
    files = [
        file
        for file in (STUDIES.parent / "instances.yaml", folder / "instances.yaml")
        if whole or file.parent == folder
    ]
    study, instances = load_study(folder), load_instances(*files)
    throughput = throughput_of(study, instances, folder)
    efficiency = study_efficiency(throughput, read_efficiency(folder / "efficiency.csv"), instances)
    cells = target_cells(throughput, study.targets, study.cells, instances)
    rule = MeanEfficiency(average_efficiency(efficiency))
    extrapolated = extrapolation_rows(cells, rule.predict(cells), "mean_efficiency").assign(headline=True)
    table = price_folder(throughput, extrapolated, folder, study, *files, price_paths=study.price_paths)
    inputs = inputs_of(table, throughput=throughput, extrapolation=extrapolated, efficiency=efficiency)
    work = folder / "workloads.yaml"
    plans = {"monthly": load_monthly(work), "needs": load_needs(work),
             "titles": load_titles(work)} if whole else {}  # fmt: skip
    found = compare(inputs, Settings.of(study, instances), draws=draws, **plans)
    found["claims"] = checked(
        load_claims(folder / "claims.yaml"), options=found["options"], offers=table["offers"], costs=table["costs"],
        bills=table["bills"], throughput=throughput, extrapolation=extrapolated, efficiency=efficiency
    )  # fmt: skip
    kinds = ("costs", "bills", "offers", "price_lint")
    return Tables(throughput, *(table[kind] for kind in kinds), found)
