"""All tables that one price list makes: what the rule `price_workloads` writes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path

import pyarrow as pa

from sweetspot.bills.cash_flow import CASH_COLUMNS, cash_table
from sweetspot.bills.columns import Columns, from_arrow, from_rows, stacked, to_arrow
from sweetspot.bills.costs import BILL_COLUMNS, COST_COLUMNS, price_cells
from sweetspot.bills.lint.impossible import check_possible
from sweetspot.bills.lint.rules import LINT_COLUMNS, lint, offer_findings, warnings_of
from sweetspot.bills.metered import Metered, metered_machines
from sweetspot.bills.money import has_ended
from sweetspot.bills.offers import FEE_COLUMNS, OFFER_COLUMNS, check_instances, offer_rows, offers_table
from sweetspot.bills.plans import PLAN_COLUMNS, plan_table
from sweetspot.bills.priced_cells import EXTRAPOLATION_COLUMNS, THROUGHPUT_COLUMNS, all_cells
from sweetspot.bills.together import (
    check_devices,
    check_free,
    check_terms,
    check_there,
    check_workloads,
    of_projects,
)
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.price_list import PriceList, load_price_list
from sweetspot.study.workloads import load_monthly, load_workloads

CONTRACT = {
    "costs": COST_COLUMNS, "offers": OFFER_COLUMNS, "fees": FEE_COLUMNS, "bills": BILL_COLUMNS, "plans": PLAN_COLUMNS,
    "cash_flow": CASH_COLUMNS, "price_lint": LINT_COLUMNS,
}  # fmt: skip


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
    """Tables by name, with the columns of CONTRACT. `month_days`: the study's month, where the list has none; `energy`:
    what the study declares of power and grids; `price_paths`: whether its rental prices move.

    Raises UserError naming file and key for a list, workload or instance that does not fit.
    """
    instances, workloads = load_instances(*instance_files), load_workloads(workload_file)
    metered = metered_machines(throughput, instances, energy)
    prices = load_price_list(price_file)
    check_instances([offer.instance for offer in prices.offers], instances, str(price_file))
    check_possible(prices, instances, str(price_file), range(len(prices.offers)))
    offers, fees, findings = price_tables(prices, name, instances, month_days, study_date, energy, price_paths, metered)
    check_workloads(workloads, instances, workload_file)
    check_devices(workloads, instances, workload_file)
    monthly = load_monthly(workload_file)
    check_there(monthly, instances, workload_file)
    check_terms(workloads, offers, workload_file, price_file)
    check_free(monthly, offers, workload_file, price_file)
    together = [asdict(finding) for finding in of_projects(workloads, monthly, offers)]
    findings = stacked([findings, from_rows(together, LINT_COLUMNS)])
    cells = all_cells(from_arrow(throughput, THROUGHPUT_COLUMNS), from_arrow(extrapolation, EXTRAPOLATION_COLUMNS))
    costs, bills = price_cells(cells, offers, fees, workloads, instances)
    tables = {
        "costs": costs,
        "offers": offers,
        "fees": fees,
        "bills": bills,
        "plans": plan_table(cells, offers, fees, workloads, instances),
        "cash_flow": cash_table(offers),
        "price_lint": findings,
    }
    return {kind: to_arrow(table, CONTRACT[kind]) for kind, table in tables.items()}


def price_tables(
    prices: PriceList,
    name: str,
    instances: Mapping[str, Instance],
    month_days: float,
    study_date: date,
    energy: Energy | None = None,
    price_paths: bool | None = None,
    metered: Mapping[str, Metered] | None = None,
) -> tuple[Columns, Columns, Columns]:
    """The tables offers, fees and price_lint of a price list whose machines are all among `instances`."""
    month = prices.month_days or month_days
    rows, fees = offer_rows(name, prices, instances, month, energy, price_paths, metered)
    listed = lint(prices, rows, instances, study_date, month)
    findings = [*listed, *(finding for row in rows for finding in offer_findings(row))]
    for row, offer in zip(rows, prices.offers, strict=True):
        row |= {"warnings": warnings_of(row, listed), "offer_ended": has_ended(offer, prices, study_date, date.today())}
    offers = offers_table(rows)
    return offers, from_rows(fees, FEE_COLUMNS), from_rows([asdict(finding) for finding in findings], LINT_COLUMNS)
