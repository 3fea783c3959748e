"""A study's tables made in one process by the library functions that the rules call."""

from functools import cache
from pathlib import Path

import pandas as pd
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.study import Study, load_study
from sweetspot.throughput.gather import gather_throughput
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
