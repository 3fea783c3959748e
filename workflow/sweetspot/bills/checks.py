"""What does not fit together in a price list, the workloads and the instances of a study."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from sweetspot.bills.costs import Workload
from sweetspot.bills.lint.rules import Finding
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.errors import refuse
from sweetspot.spelling import hint
from sweetspot.study.instances import Instance
from sweetspot.study.monthly import Monthly
from sweetspot.study.workloads import ProjectPlan, Runs


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
    refuse(_undeclared(((f"offers[{number}].instance", name) for number, name in enumerate(names)), instances, path))


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
    keys = [
        (f"{key}.instance", work.instance) for key, work in workloads.items() if isinstance(work, Runs | ProjectPlan)
    ]
    for key, month in monthly.items():
        keys += [(f"{key}.have[{number}]", name) for number, name in enumerate(month.have)]
    refuse(_undeclared(keys, instances, path))


def check_devices(workloads: Mapping[str, Workload], instances: Mapping[str, Instance], path: Path) -> None:
    """Raise a UserError for jobs that take more devices than any machine has.

    Parameters
    ----------
    workloads, instances
        Workloads and machines by name.
    path
        The file of the workloads.
    """
    largest = max((machine.gpus for machine in instances.values()), default=0)
    refuse(
        f"{path}: {key}.devices_per_job is {work.devices_per_job}; expected at most {largest}, what the largest "
        "machine of instances.yaml has"
        for key, work in workloads.items()
        if not isinstance(work, ProjectPlan) and work.devices_per_job != "all" and work.devices_per_job > largest
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
    """
    sentences = []
    for key, months in _project_months(workloads, monthly).items():
        project = f"the {months:g} months of {key} in {workload_file.name}"
        for number, term in offers.loc[offers["term_months"] > months, "term_months"].items():
            if key in workloads:
                text = f"commitment.term_months is {term:g}; expected at most {project}"
                sentences.append(f"{price_file}: offers[{number}].{text}")
        for number, late in offers.loc[offers["delivery_months"] >= months, "delivery_months"].items():
            text = f"is available after {late:.4g} months (available_from_weeks or available_from)"
            sentences.append(f"{price_file}: offers[{number}] {text}; expected less than {project}")
    refuse(sentences)


def _project_months(workloads: Mapping[str, Workload], monthly: Mapping[str, Monthly]) -> dict[str, float]:
    months = {key: work.months for key, work in workloads.items() if isinstance(work, ProjectPlan)}
    months |= {key: work.months for key, work in monthly.items()}
    return {key: length for key, length in months.items() if length is not None}


def check_purchase_prices(
    monthly: Mapping[str, Monthly], offers: pd.DataFrame, workload_file: Path, price_file: Path
) -> None:
    """Raise a UserError for machines without a price that are not owned: any number of them would be bought.

    Parameters
    ----------
    monthly, offers, workload_file, price_file
        As `check_offers` takes them.
    """
    owned = {machine for work in monthly.values() for machine in work.have}
    free = offers[offers["capex_usd"].eq(0) & ~offers["instance"].isin(owned)]
    refuse(
        f"{price_file}: offers[{number}].own.capex is 0 for '{name}'; expected its price, or '{name}' in 'have' of a "
        f"monthly workload of {workload_file.name}: only a machine that is owned costs nothing more"
        for number, name in free["instance"].items()
    )


def project_findings(
    workloads: Mapping[str, Workload], monthly: Mapping[str, Monthly], offers: pd.DataFrame
) -> Iterator[Finding]:
    """Yield projects whose months do not fit their work, or the machines bought for them.

    Parameters
    ----------
    workloads, monthly, offers
        As `check_offers` takes them.
    """
    bought = offers[offers["capex_usd"].ne(0)]
    for key, months in _project_months(workloads, monthly).items():
        work, available_hours = workloads.get(key), months * offers["month_days"].max() * HOURS_A_DAY
        hours = sum(phase.hours for phase in work.phases) if isinstance(work, ProjectPlan) else 0.0
        if isinstance(work, ProjectPlan) and hours > available_hours:
            message = (
                f"{key}: one job of each phase, one after another, takes {hours:,.4g} hours on {work.instance}; its "
                f"{months:g} months have {available_hours:,.4g}"
            )
            yield Finding("warning", "work_past_its_months", work.instance, message, work.source)
        for name, life, source in bought.loc[bought["months"] > months, ["instance", "months", "source"]].to_numpy():
            message = (
                f"{name}: is bought for {life:g} months, {key} lasts {months:g}: it pays {months / life:.2g} of the "
                "purchase, as if others used the machine after it"
            )
            yield Finding("warning", "bought_past_the_project", name, message, source)
