"""All tables that one price list makes: what the rule `price_workloads` writes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pandas import DataFrame

from sweetspot.bills import checks
from sweetspot.bills.costs import Machines, Workloads, cells_to_price, price_cells
from sweetspot.bills.lint.rules import Finding, lint, warnings_by_offer
from sweetspot.bills.offers import offers_in_usd
from sweetspot.bills.plans import plan_table
from sweetspot.bills.schemas import TABLES, table_of, to_arrow_table
from sweetspot.errors import Faults
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import load_instances
from sweetspot.study.price_list import PriceList, load_price_list
from sweetspot.study.scenarios import Scenario, scenario_file, write_scenario
from sweetspot.study.workloads import load_monthly, load_workloads


def _read_inputs(
    price_file: Path, workload_file: Path, instances: Machines, name: str, *terms: Any
) -> tuple[Workloads, checks.MonthlyWorks, DataFrame, DataFrame, DataFrame]:
    """Return (jobs, monthly workloads, offers, fees, price_lint), read from two files and checked; UserError if wrong.
    `name` and `terms` are passed to `price_tables`, which makes the three tables of the price list.
    """
    workloads, monthly = load_workloads(workload_file), load_monthly(workload_file)
    prices = load_price_list(price_file)
    checks.check_instances(prices, instances, price_file)
    offers, fees, findings = price_tables(prices, name, instances, *terms)
    checks.check_possible(findings, price_file)
    checks.check_workloads(workloads, monthly, instances, workload_file)
    checks.check_offers(workloads, monthly, offers, workload_file, price_file)
    return workloads, monthly, offers, fees, findings


def price_study(
    throughput: pa.Table,
    extrapolation: pa.Table,
    price_file: Path,
    workload_file: Path,
    instance_files: Sequence[Path],
    name: str,
    month_days: float,
    study_date: date,
    energy: Energy | None = None,
    price_paths: bool | None = None,
) -> dict[str, pa.Table]:
    """Price all workloads of a study with one price list; {table: Arrow table}, which `price_workloads` writes.

    Parameters
    ----------
    throughput, extrapolation, price_file, workload_file, instance_files
        Tables (images/s by machine and model) of these names; files, named by a UserError if they do not fit.
    name, month_days, study_date, energy, price_paths
        Name of the list, days of a month, day at which a price's age is judged; power and grids; whether rents change.
    """
    instances, figures = load_instances(*instance_files), throughput.to_pandas()
    terms = (name, month_days, study_date, energy, price_paths)
    workloads, monthly, offers, fees, findings = _read_inputs(price_file, workload_file, instances, *terms)
    cells = cells_to_price(figures, extrapolation.to_pandas())
    costs, bills = price_cells(cells, offers, fees, workloads, instances)
    plans = plan_table(cells, offers, fees, workloads, instances)
    findings = pd.concat([findings, _finding_table(checks.project_findings(workloads, monthly, offers))])
    tables = {"costs": costs, "offers": offers, "fees": fees, "bills": bills, "plans": plans, "price_lint": findings}
    return {kind: to_arrow_table(table, TABLES[kind]) for kind, table in tables.items()}


def price_tables(
    prices: PriceList,
    name: str,
    instances: Machines,
    month_days: float,
    study_date: date,
    energy: Energy | None = None,
    price_paths: bool | None = None,
) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Return (offers, fees, price_lint) of a price list: a row per machine and price, per fee, and per doubtful price.

    Parameters
    ----------
    prices, name, instances, month_days, study_date, energy, price_paths
        The price list, its name, machines by name, days of a month, day at which a price's age is judged; power and
        grids; whether rents change over the months of a project.
    """
    offers, fees = offers_in_usd(name, prices, instances, month_days, energy, price_paths)
    findings = lint(prices, offers, instances, study_date)
    offers["warnings"] = pd.Series(warnings_by_offer(findings, len(offers)), dtype=object)
    offers["offer_ended"] = offers["offer_until"].fillna("9") < study_date.isoformat()
    return offers, fees, _finding_table(findings)


def _finding_table(findings: Iterable[Finding]) -> DataFrame:
    """Return findings as rows of price_lint.parquet, each once."""
    return table_of([finding._asdict() for finding in findings], TABLES["price_lint"]).drop_duplicates()


@dataclass(frozen=True)
class StudyFiles:
    """Files of a study that a scenario changes (lists by name), and machines, dates and facts to price them by."""

    folder: Path
    workloads: Path
    price_lists: Mapping[str, Path]
    instances: Machines
    month_days: float
    as_of: date
    energy: Energy | None = None
    price_paths: bool | None = None


def check_scenarios(scenarios: Mapping[str, Scenario], study: StudyFiles, scratch: Path) -> None:
    """Raise a UserError for scenarios (what-if changes of a study) that cannot be priced, before any is compared.

    Parameters
    ----------
    scenarios, study, scratch
        Scenarios by name; the study's own files; a folder, below which each scenario's files are written.
    """
    faults, terms = Faults(), (study.month_days, study.as_of, study.energy, study.price_paths)
    for name, scenario in scenarios.items():
        file, folder, mistakes = scenario_file(study.folder, name), scratch / name, Faults()
        with faults.gather():
            workloads, price_lists, _ = write_scenario(scenario, file, study.workloads, study.price_lists, folder)
            owned = set[str]()
            for key, prices in price_lists.items():
                with mistakes.gather():
                    _, monthly, offers, *_ = _read_inputs(prices, workloads, study.instances, key, *terms)
                    owned |= set(offers.loc[offers["purchase"] == "own", "instance"])
            if not mistakes.sentences:
                with mistakes.gather():
                    checks.check_owned(monthly, owned, workloads)
        for sentence in dict.fromkeys(mistakes.sentences):
            faults.add(f"{file}: with it {sentence.replace(f'{folder}/', '')}")
    faults.end()
