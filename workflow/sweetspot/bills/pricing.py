"""All tables that one price list makes: what the rule `price_workloads` writes."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from sweetspot.bills.checks import check_instances, check_offers, check_possible, check_workloads, project_findings
from sweetspot.bills.costs import Workload, cells_to_price, price_cells
from sweetspot.bills.energy import MeteredPower, metered_machines
from sweetspot.bills.lint.rules import Finding, lint, warnings_by_offer
from sweetspot.bills.offers import offers_in_usd
from sweetspot.bills.plans import plan_table
from sweetspot.bills.schemas import TABLES, table_of, to_arrow_table
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.monthly import Monthly
from sweetspot.study.price_list import PriceList, load_price_list
from sweetspot.study.workloads import load_monthly, load_workloads

PRICE_TABLES = {kind: tuple(columns) for kind, columns in TABLES.items() if kind not in ("cells", "lint")}


class PricingInputs(NamedTuple):
    """One price list and the workloads it is for, checked; with the tables of `price_tables`."""

    workloads: Mapping[str, Workload]
    monthly: Mapping[str, Monthly]
    offers: pd.DataFrame
    fees: pd.DataFrame
    findings: pd.DataFrame


def read_pricing_inputs(
    price_file: Path, workload_file: Path, instances: Mapping[str, Instance], name: str, *terms: Any
) -> PricingInputs:
    """Read a price list and the workloads, and check that they fit together.

    Parameters
    ----------
    price_file, workload_file
        The price list, and workloads.yaml.
    instances
        Declared machines by name.
    name, terms
        Name of the list, and what `price_tables` takes after the machines.

    Raises
    ------
    UserError
        One sentence per mistake, naming file and key.
    """
    workloads, monthly = load_workloads(workload_file), load_monthly(workload_file)
    prices = load_price_list(price_file)
    check_instances([offer.instance for offer in prices.offers], instances, price_file)
    offers, fees, findings = price_tables(prices, name, instances, *terms)
    check_possible(findings, price_file)
    check_workloads(workloads, monthly, instances, workload_file)
    check_offers(workloads, monthly, offers, workload_file, price_file)
    return PricingInputs(workloads, monthly, offers, fees, findings)


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
    """Return all tables of one price list by name, with the columns of PRICE_TABLES.

    Parameters
    ----------
    throughput, extrapolation
        Tables throughput.parquet and extrapolation.parquet.
    price_file, workload_file, instance_files
        Files of the study.
    name, month_days, study_date, energy, price_paths
        As `price_tables` takes them.

    Raises
    ------
    UserError
        Naming file and key for a list, workload or instance that does not fit.
    """
    instances, figures = load_instances(*instance_files), throughput.to_pandas()
    metered = metered_machines(figures, instances, energy)
    terms = (name, month_days, study_date, energy, price_paths, metered)
    inputs = read_pricing_inputs(price_file, workload_file, instances, *terms)
    workloads, offers, fees = inputs.workloads, inputs.offers, inputs.fees
    cells = cells_to_price(figures, extrapolation.to_pandas())
    costs, bills = price_cells(cells, offers, fees, workloads, instances)
    plans = plan_table(cells, offers, fees, workloads, instances)
    project = _finding_table(project_findings(workloads, inputs.monthly, offers))
    findings = pd.concat([inputs.findings, project])
    tables = {"costs": costs, "offers": offers, "fees": fees, "bills": bills, "plans": plans, "price_lint": findings}
    return {kind: to_arrow_table(table, PRICE_TABLES[kind]) for kind, table in tables.items()}


def price_tables(
    prices: PriceList,
    name: str,
    instances: Mapping[str, Instance],
    month_days: float,
    study_date: date,
    energy: Energy | None = None,
    price_paths: bool | None = None,
    metered: Mapping[str, MeteredPower] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the tables offers, fees and price_lint of a price list.

    Parameters
    ----------
    prices, name, instances, month_days, energy, price_paths, metered
        As `offers_in_usd` takes them.
    study_date
        Date at which the age of a price is judged.
    """
    offers, fees = offers_in_usd(name, prices, instances, month_days, energy, price_paths, metered)
    findings = lint(prices, offers, instances, study_date)
    offers["warnings"] = pd.Series(warnings_by_offer(findings, len(offers)), dtype=object)
    offers["offer_ended"] = offers["offer_until"].fillna("9") < study_date.isoformat()
    return offers, fees, _finding_table(findings)


def _finding_table(findings: Iterable[Finding]) -> pd.DataFrame:
    return table_of([finding._asdict() for finding in findings], PRICE_TABLES["price_lint"]).drop_duplicates()
