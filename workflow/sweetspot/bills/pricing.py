"""All tables that one price list makes: what the rule `price_workloads` writes; and what does not fit together."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyarrow as pa

from sweetspot.bills.columns import Columns, from_arrow, from_rows, size, stacked, to_arrow, to_rows
from sweetspot.bills.costs import (
    BILL_COLUMNS,
    COST_COLUMNS,
    EXTRAPOLATION_COLUMNS,
    THROUGHPUT_COLUMNS,
    Workload,
    all_cells,
    price_cells,
)
from sweetspot.bills.energy import Metered, metered_machines
from sweetspot.bills.lint.bounds import check_possible
from sweetspot.bills.lint.rules import LINT_COLUMNS, Finding, lint, offer_findings, warnings_of
from sweetspot.bills.offer_prices import has_ended
from sweetspot.bills.offers import FEE_COLUMNS, OFFER_COLUMNS, check_instances, check_named, offer_rows, offers_table
from sweetspot.bills.owning import CASH_COLUMNS, HOURS_A_DAY, cash_table
from sweetspot.bills.plans import PLAN_COLUMNS, plan_table
from sweetspot.errors import refuse
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.monthly import Monthly
from sweetspot.study.price_list import PriceList, load_price_list
from sweetspot.study.spelling import hint
from sweetspot.study.workloads import Plan, Runs, load_monthly, load_workloads


def check_workloads(workloads: Mapping[str, Workload], instances: Collection[str], workload_file: Path) -> None:
    """Refuse workloads of unknown machines. Raises UserError."""
    named = {f"{key}.instance": work.instance for key, work in workloads.items() if isinstance(work, Runs | Plan)}
    check_named(named.items(), instances, workload_file)


def check_devices(workloads: Mapping[str, Workload], instances: Mapping[str, Instance], workload_file: Path) -> None:
    """Refuse jobs that take more devices than any machine has. Raises UserError."""
    most = max((machine.gpus for machine in instances.values()), default=0)
    refuse(
        f"{workload_file}: {key}.devices_per_job is {work.devices_per_job}; expected at most {most}, what the largest "
        "machine of instances.yaml has"
        for key, work in workloads.items()
        if not isinstance(work, Plan) and work.devices_per_job != "all" and work.devices_per_job > most
    )


def check_there(works: Mapping[str, Monthly], instances: Collection[str], workload_file: Path) -> None:
    """Refuse unknown machines among those that are there. Raises UserError."""
    named = {f"{key}.have[{number}]": name for key, work in works.items() for number, name in enumerate(work.have)}
    check_named(named.items(), instances, workload_file)


def check_owned(works: Mapping[str, Monthly], owned: Collection[str], workload_file: Path) -> None:
    """Refuse machines among those that are there of which no price list says what they cost to run.

    Parameters
    ----------
    works
        Monthly workloads by name.
    owned
        Machines that any price list of the study has an offer `own` of.
    workload_file
        Where the workloads were read, for the message.

    Raises
    ------
    UserError
        One sentence a machine.

    """
    refuse(
        f"{workload_file}: {key}.have names {name!r}; expected a machine with an offer `own` in a price list"
        f"{hint(name, owned)}"
        for key, work in works.items()
        for name in dict.fromkeys(work.have)
        if name not in owned
    )


def check_deliveries(
    workloads: Mapping[str, Workload],
    works: Mapping[str, Monthly],
    offers: Columns,
    workload_file: Path,
    price_file: Path,
    places: Sequence[int] | None = None,
) -> None:
    """Refuse offers that are there only after the project has ended.

    Parameters
    ----------
    workloads, works
        All workloads, and the monthly ones, by name; those that state no months are passed over.
    offers
        `price_tables` of one list, with `delivery_months` (NaN: it is there at once).
    workload_file, price_file
        Where both were read, for the message.
    places
        Where each offer stands in its file; None: in their order.

    Raises
    ------
    UserError
        One sentence an offer and project.

    """
    plans = {key: work for key, work in workloads.items() if isinstance(work, Plan)}
    projects: dict[str, Plan | Monthly] = {**plans, **works}
    refuse(
        f"{price_file}: offers[{number}] ('{name}') is there after {months:.4g} months (available_from_weeks or "
        f"available_from); expected less than the {work.months:g} months of {key} in {workload_file.name}"
        for key, work in projects.items()
        if work.months is not None
        for number, name, months in zip(
            places or range(size(offers)), offers["instance"], offers["delivery_months"], strict=True
        )
        if months >= work.months
    )


def check_terms(
    workloads: Mapping[str, Workload],
    offers: Columns,
    workload_file: Path,
    price_file: Path,
    places: Sequence[int] | None = None,
) -> None:
    """Refuse terms longer than a project. `places`: where each offer stands in its file. Raises UserError."""
    refuse(
        f"{price_file}: offers[{number}].commitment.term_months is {term:g};"
        f" expected at most the {work.months:g} months of {key} in {workload_file.name}"
        for key, work in workloads.items()
        if isinstance(work, Plan) and work.months is not None
        for number, term in zip(places or range(size(offers)), offers["term_months"], strict=True)
        if term > work.months
    )


def check_free(
    works: Mapping[str, Monthly],
    offers: Columns,
    workload_file: Path,
    price_file: Path,
    places: Sequence[int] | None = None,
) -> None:
    """Refuse machines that cost nothing to buy and are not there: any number of them would be had.

    `places`: where each offer stands in its file. Raises UserError.
    """
    there = {machine for work in works.values() for machine in work.have}
    refuse(
        f"{price_file}: offers[{number}].own.capex is 0 for '{name}'; expected its price, or '{name}' in 'have' of a "
        f"monthly workload of {workload_file.name}: only a machine that is there costs nothing more"
        for number, name, capex in zip(
            places or range(size(offers)), offers["instance"], offers["capex_usd"], strict=True
        )
        if capex == 0 and name not in there
    )


def of_projects(workloads: Mapping[str, Workload], works: Mapping[str, Monthly], offers: Columns) -> Iterator[Finding]:
    """Projects whose months do not fit their work, or the machines bought for them."""
    plans = {key: work for key, work in workloads.items() if isinstance(work, Plan)}
    rows = to_rows(offers)
    for key, plan in plans.items():
        hours, days = sum(phase.hours for phase in plan.phases), max((row["month_days"] for row in rows), default=0.0)
        if plan.months is not None and hours > (room := plan.months * days * HOURS_A_DAY):
            words = (
                f"{key}: one job of each phase, one after another, takes {hours:,.4g} hours on {plan.instance}; its "
                f"{plan.months:g} months have {room:,.4g}"
            )
            yield Finding("warning", "work_past_its_months", plan.instance, words, plan.source)
    projects: dict[str, Plan | Monthly] = {**plans, **works}
    for key, work in projects.items():
        for row in rows:
            if work.months is None or row["capex_usd"] == 0 or not work.months < row["months"]:
                continue
            share = work.months / row["months"]
            words = (
                f"{row['instance']}: is bought for {row['months']:g} months, {key} lasts {work.months:g}: it pays "
                f"{share:.2g} of the purchase, as if others used the machine after it"
            )
            yield Finding("warning", "bought_past_the_project", row["instance"], words, row["source"])


CONTRACT = {
    "costs": COST_COLUMNS, "offers": OFFER_COLUMNS, "fees": FEE_COLUMNS, "bills": BILL_COLUMNS, "plans": PLAN_COLUMNS,
    "cash_flow": CASH_COLUMNS, "price_lint": LINT_COLUMNS,
}  # fmt: skip


@dataclass(frozen=True)
class PricingInputs:
    """One price list and the workloads it is for, read and held against each other: nothing of them is refused later.

    `offers`, `fees`, `findings`: the tables of `price_tables`.
    """

    workloads: Mapping[str, Workload]
    monthly: Mapping[str, Monthly]
    prices: PriceList
    offers: Columns
    fees: Columns
    findings: Columns


def read_pricing_inputs(
    price_file: Path,
    workload_file: Path,
    instances: Mapping[str, Instance],
    name: str,
    month_days: float,
    study_date: date,
    energy: Energy | None = None,
    price_paths: bool | None = None,
    metered: Mapping[str, Metered] | None = None,
) -> PricingInputs:
    """Read a price list and the workloads, and refuse what does not fit.

    Parameters
    ----------
    price_file, workload_file
        The list, and workloads.yaml.
    instances
        Declared machines by name.
    name
        The list's name.
    month_days
        Days of the study's month, where the list has none.
    study_date
        Date that the prices are judged by.
    energy, price_paths, metered
        As `price_tables` takes them.

    Raises
    ------
    UserError
        Naming file and key, one sentence a mistake.

    """
    workloads, prices = load_workloads(workload_file), load_price_list(price_file)
    check_instances([offer.instance for offer in prices.offers], instances, str(price_file))
    check_possible(prices, instances, str(price_file), range(len(prices.offers)))
    offers, fees, findings = price_tables(prices, name, instances, month_days, study_date, energy, price_paths, metered)
    check_workloads(workloads, instances, workload_file)
    check_devices(workloads, instances, workload_file)
    monthly = load_monthly(workload_file)
    check_there(monthly, instances, workload_file)
    check_terms(workloads, offers, workload_file, price_file)
    check_deliveries(workloads, monthly, offers, workload_file, price_file)
    check_free(monthly, offers, workload_file, price_file)
    return PricingInputs(workloads, monthly, prices, offers, fees, findings)


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
    """Tables by name, with the columns of CONTRACT. `month_days`: the study's month; `energy`:
    what the study declares of power and grids; `price_paths`: whether its rental prices move.

    Raises UserError naming file and key for a list, workload or instance that does not fit.
    """
    instances = load_instances(*instance_files)
    metered = metered_machines(throughput, instances, energy)
    read = read_pricing_inputs(
        price_file, workload_file, instances, name, month_days, study_date, energy, price_paths, metered
    )
    workloads, monthly, offers, fees, findings = read.workloads, read.monthly, read.offers, read.fees, read.findings
    together = [finding._asdict() for finding in of_projects(workloads, monthly, offers)]
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
    rows, fees = offer_rows(name, prices, instances, month_days, energy, price_paths, metered)
    listed = lint(prices, rows, instances, study_date, month_days)
    findings = [*listed, *(finding for row in rows for finding in offer_findings(row))]
    for row, offer in zip(rows, prices.offers, strict=True):
        row |= {"warnings": warnings_of(row, listed), "offer_ended": has_ended(offer, study_date)}
    offers = offers_table(rows)
    return offers, from_rows(fees, FEE_COLUMNS), from_rows([finding._asdict() for finding in findings], LINT_COLUMNS)
