"""What does not fit together in a price list, the workloads and the instances of a study."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from sweetspot.bills.costs import Workload
from sweetspot.bills.lint.rules import Finding
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.errors import refuse
from sweetspot.spelling import hint
from sweetspot.study.instances import Instance
from sweetspot.study.monthly import Monthly
from sweetspot.study.workloads import Plan, Runs


def check_instances(names: Iterable[str | None], instances: Collection[str], path: str | Path) -> None:
    """Raise a UserError for offers of undeclared instances; None stands for an offer that cannot be read.

    Parameters
    ----------
    names
        Instance of each offer.
    instances
        Declared instances.
    path
        The price list.
    """
    keys = ((f"offers[{number}].instance", name) for number, name in enumerate(names))
    refuse(_undeclared(keys, instances, path))


def _undeclared(
    instance_by_key: Iterable[tuple[str, str | None]], instances: Collection[str], path: str | Path
) -> Iterator[str]:
    for key, name in instance_by_key:
        if name is not None and name not in instances:
            yield f"{path}: {key} is '{name}'; expected an instance of instances.yaml{hint(name, instances)}"


def check_workloads(
    workloads: Mapping[str, Workload], monthly: Mapping[str, Monthly], instances: Collection[str], path: Path
) -> None:
    """Raise a UserError for workloads of undeclared instances.

    Parameters
    ----------
    workloads, monthly
        All workloads, and the monthly ones with the machines that they already own, by name.
    instances
        Declared instances.
    path
        The file of the workloads.
    """
    keys = [(f"{key}.instance", work.instance) for key, work in workloads.items() if isinstance(work, Runs | Plan)]
    for key, month in monthly.items():
        keys += [(f"{key}.have[{number}]", name) for number, name in enumerate(month.have)]
    refuse(_undeclared(keys, instances, path))


def check_devices(workloads: Mapping[str, Workload], instances: Mapping[str, Instance], path: Path) -> None:
    """Raise a UserError for jobs that take more devices than any machine has.

    Parameters
    ----------
    workloads
        Workloads by name.
    instances
        Machines by name.
    path
        The file of the workloads.
    """
    largest = max((machine.gpus for machine in instances.values()), default=0)
    refuse(
        f"{path}: {key}.devices_per_job is {work.devices_per_job}; expected at most {largest}, what the largest "
        "machine of instances.yaml has"
        for key, work in workloads.items()
        if not isinstance(work, Plan) and work.devices_per_job != "all" and work.devices_per_job > largest
    )


def check_owned(monthly: Mapping[str, Monthly], priced: Collection[str], path: Path) -> None:
    """Raise a UserError for machines already owned whose running costs no price list states.

    Parameters
    ----------
    monthly
        Monthly workloads by name.
    priced
        Machines that a price list of the study has an offer `own` of.
    path
        The file of the workloads.
    """
    refuse(
        f"{path}: {key}.have names {name!r}; expected a machine with an offer `own` in a price list{hint(name, priced)}"
        for key, work in monthly.items()
        for name in dict.fromkeys(work.have)
        if name not in priced
    )


def check_offers(
    workloads: Mapping[str, Workload],
    monthly: Mapping[str, Monthly],
    offers: pd.DataFrame,
    workload_file: Path,
    price_file: Path,
    numbers: Sequence[int] | None = None,
) -> None:
    """Raise a UserError for contracts and deliveries that take longer than a project.

    Parameters
    ----------
    workloads, monthly
        All workloads, and the monthly ones, by name; those without months have no length.
    offers
        As `offers_in_usd` returns them.
    workload_file, price_file
        The files that the sentences name.
    numbers
        Position of each offer in its file; None: in order.
    """
    plans = {key: work for key, work in workloads.items() if isinstance(work, Plan)}
    projects: dict[str, Plan | Monthly] = {**plans, **monthly}
    sentences: list[str] = []
    for number, offer in zip(numbers or range(len(offers)), offers.to_dict("records"), strict=True):
        entry = f"{price_file}: offers[{number}]"
        name = offer["instance"]
        for key, work in projects.items():
            if work.months is None:
                continue
            project = f"the {work.months:g} months of {key} in {workload_file.name}"
            if key in plans and offer["term_months"] > work.months:
                term = offer["term_months"]
                sentences.append(f"{entry}.commitment.term_months is {term:g}; expected at most {project}")
            if offer["delivery_months"] >= work.months:
                sentences.append(
                    f"{entry} ('{name}') is there after {offer['delivery_months']:.4g} months (available_from_weeks "
                    f"or available_from); expected less than {project}"
                )
    refuse(sentences)


def check_purchase_prices(
    monthly: Mapping[str, Monthly],
    offers: pd.DataFrame,
    workload_file: Path,
    price_file: Path,
    numbers: Sequence[int] | None = None,
) -> None:
    """Raise a UserError for machines without a price that are not owned: any number of them would be bought.

    Parameters
    ----------
    monthly, offers, workload_file, price_file, numbers
        As `check_offers` takes them.
    """
    owned = {machine for work in monthly.values() for machine in work.have}
    rows = zip(numbers or range(len(offers)), offers["instance"], offers["capex_usd"], strict=True)
    refuse(
        f"{price_file}: offers[{number}].own.capex is 0 for '{name}'; expected its price, or '{name}' in 'have' of a "
        f"monthly workload of {workload_file.name}: only a machine that is there costs nothing more"
        for number, name, capex in rows
        if capex == 0 and name not in owned
    )


def project_findings(
    workloads: Mapping[str, Workload], monthly: Mapping[str, Monthly], offers: pd.DataFrame
) -> Iterator[Finding]:
    """Yield projects whose months do not fit their work, or the machines bought for them.

    Parameters
    ----------
    workloads, monthly
        All workloads, and the monthly ones, by name.
    offers
        As `offers_in_usd` returns them.
    """
    plans = {key: work for key, work in workloads.items() if isinstance(work, Plan)}
    projects: dict[str, Plan | Monthly] = {**plans, **monthly}
    month_days = float(offers["month_days"].max()) if len(offers) else 0.0
    for key, plan in plans.items():
        hours = sum(phase.hours for phase in plan.phases)
        available_hours = (plan.months or 0.0) * month_days * HOURS_A_DAY
        if plan.months is not None and hours > available_hours:
            message = (
                f"{key}: one job of each phase, one after another, takes {hours:,.4g} hours on {plan.instance}; its "
                f"{plan.months:g} months have {available_hours:,.4g}"
            )
            yield Finding("warning", "work_past_its_months", plan.instance, message, plan.source)
    bought = offers[offers["capex_usd"].ne(0)]
    for key, work in projects.items():
        if work.months is None:
            continue
        for offer in bought[bought["months"] > work.months].to_dict("records"):
            message = (
                f"{offer['instance']}: is bought for {offer['months']:g} months, {key} lasts {work.months:g}: it pays "
                f"{work.months / offer['months']:.2g} of the purchase, as if others used the machine after it"
            )
            yield Finding("warning", "bought_past_the_project", offer["instance"], message, offer["source"])
