"""All tables that one price list makes: what the rule `price_workloads` writes."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import pandas as pd

from sweetspot.bills.costs import all_cells, price_cells
from sweetspot.bills.lint import findings_table, lint, offer_findings
from sweetspot.bills.money import to_usd
from sweetspot.bills.offers import check_instances, offers_table
from sweetspot.bills.owning import cash_flow, own_numbers
from sweetspot.bills.plans import plan_table
from sweetspot.config import Instance, load_instances
from sweetspot.errors import UserError
from sweetspot.prices import PriceList, load_price_list
from sweetspot.workloads import Plan, Runs, Training, load_workloads

CASH_COLUMNS = ("price_list", "instance", "purchase", "month", "usd", "cumulative_usd", "present_usd", "npv_usd")


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
        "cash_flow": owned_cash(name, prices),
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


def owned_cash(name: str, prices: PriceList) -> pd.DataFrame:
    """Cash flow by month of every machine owned, at its planned use, in CASH_COLUMNS."""
    parts = []
    for offer in prices.offers:
        if offer.own is not None:
            numbers = own_numbers(offer.own, factor=to_usd(offer, prices)[0])
            flow = cash_flow(numbers, offer.own.discount_rate, offer.own.boxes, offer.own.downtime_share)
            parts.append(flow.assign(price_list=name, instance=offer.instance, purchase=offer.purchase))
    kinds = {column: "string" for column in CASH_COLUMNS[:3]} | {"month": "int64"}
    kinds |= {column: "float64" for column in CASH_COLUMNS[4:]}
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(CASH_COLUMNS))
    return table[list(CASH_COLUMNS)].astype(kinds)
