"""All tables that one price list makes: what the rule `price_workloads` writes."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import pandas as pd

from sweetspot.bills.cash_flow import cash_table
from sweetspot.bills.costs import all_cells, price_cells
from sweetspot.bills.offers import check_instances, offers_table
from sweetspot.bills.plans import plan_table
from sweetspot.bills.price_lint import findings_table, lint, offer_findings
from sweetspot.errors import UserError
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.price_list import PriceList, load_price_list
from sweetspot.study.workloads import Plan, Runs, Training, load_workloads


def price_study(
    throughput: pd.DataFrame,
    extrapolation: pd.DataFrame | None,
    price_file: Path,
    workload_file: Path,
    instance_files: Sequence[Path],
    name: str,
    month_days: float,
    study_date: date,
) -> dict[str, pd.DataFrame]:
    """Tables by name: costs, offers, bills, plans, cash_flow, price_lint (columns: CONTRACT of each module).

    Raises UserError naming file and key for a list, workload or instance that does not fit.
    """
    prices = load_price_list(price_file)
    instances = load_instances(*instance_files)
    workloads = load_workloads(workload_file)
    check_instances(prices, instances, str(price_file))
    check_workloads(workloads, instances, prices, workload_file, price_file)
    month = prices.month_days or month_days
    findings = lint(prices, instances, study_date, month)
    offers = offers_table(name, prices, instances, month, study_date, findings)
    findings += [finding for row in offers.to_dict("records") for finding in offer_findings(row)]
    cells = all_cells(throughput, extrapolation)
    costs, bills = price_cells(cells, offers, workloads, prices)
    plans = {key: work for key, work in workloads.items() if isinstance(work, Plan)}
    return {
        "costs": costs,
        "offers": offers,
        "bills": bills,
        "plans": plan_table(cells, offers, plans, prices, instances),
        "cash_flow": cash_table(name, prices, month),
        "price_lint": findings_table(findings),
    }


def check_workloads(
    workloads: Mapping[str, Training | Runs | Plan],
    instances: Mapping[str, Instance],
    prices: PriceList,
    workload_file: Path,
    price_file: Path,
) -> None:
    """Refuse workloads of unknown machines, and terms longer than the project. Raises UserError."""
    for key, work in workloads.items():
        machine = getattr(work, "instance", None)
        if machine is not None and machine not in instances:
            raise UserError(f"{workload_file}: {key}.instance is '{machine}'; expected an instance of instances.yaml")
        if not isinstance(work, Plan) or work.months is None:
            continue
        for number, offer in enumerate(prices.offers):
            if offer.commitment is not None and offer.commitment.term_months.value > work.months:
                raise UserError(
                    f"{price_file}: offers[{number}].commitment.term_months is {offer.commitment.term_months.value:g};"
                    f" expected at most the {work.months:g} months of {key} in {workload_file.name}"
                )
