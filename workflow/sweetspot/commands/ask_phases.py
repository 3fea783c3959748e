"""The plan of phases that `sweetspot ask` speaks of, priced anew from the results of a study."""

from pathlib import Path

import pandas as pd

from sweetspot.bills.columns import from_arrow
from sweetspot.bills.offers import FEE_COLUMNS, OFFER_COLUMNS
from sweetspot.bills.priced_cells import EXTRAPOLATION_COLUMNS, THROUGHPUT_COLUMNS, all_cells
from sweetspot.decision.asked_phases import Given, ask_phases
from sweetspot.decision.buying_later import load_plans
from sweetspot.decision.settings import Settings
from sweetspot.files import read_arrow
from sweetspot.study.instances import load_instances
from sweetspot.study.memory import load_needs
from sweetspot.study.study import Study
from sweetspot.study.workloads import Plan, load_workloads


def phases_of(workloads: Path) -> dict[str, Plan]:
    """The plans of phases of workloads.yaml; none without the file. Raises UserError naming file and key."""
    if not workloads.is_file():
        return {}
    return {name: work for name, work in load_workloads(workloads).items() if isinstance(work, Plan)}


def phases_anew(
    results: Path,
    written: Path,
    options: pd.DataFrame,
    offers: pd.DataFrame,
    study: Study,
    days: float | None,
    jobs: float | None,
) -> dict[str, pd.DataFrame]:
    """`plan_options` and `verdict` of a study at `days` of use a month and `jobs` times its jobs.

    results: results/STUDY; written: config/studies/STUDY; options, offers: tables of the results. Raises UserError.
    """
    workloads = written / "workloads.yaml"
    shared = written.parent.parent / "instances.yaml"
    instances = load_instances(*(file for file in (shared, written / "instances.yaml") if file.is_file()))
    tables = [read_arrow(results / f"{name}.parquet") for name in ("throughput", "extrapolation")]
    cells = [from_arrow(table, names) for table, names in zip(tables, COLUMNS, strict=True)]
    lists = [
        (from_arrow(read_arrow(file), OFFER_COLUMNS), from_arrow(read_arrow(results / "fees" / file.name), FEE_COLUMNS))
        for file in sorted((results / "offers").glob("*.parquet"))
    ]
    given = Given(
        all_cells(*cells), lists, phases_of(workloads), instances, load_needs(workloads), load_plans(workloads)
    )
    return ask_phases(given, options, offers, Settings.of(study, instances), days, 1.0 if jobs is None else jobs)


COLUMNS = (THROUGHPUT_COLUMNS, EXTRAPOLATION_COLUMNS)
