"""What does not fit together in a price list, the workloads and the instances of a study."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from sweetspot.bills.costs import Machines, Workloads
from sweetspot.bills.lint.rules import Finding
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.errors import refuse
from sweetspot.spelling import hint
from sweetspot.study.monthly import Monthly
from sweetspot.study.price_list import PriceList
from sweetspot.study.workloads import ProjectPlan, Runs

MonthlyWorks = Mapping[str, Monthly]


def check_instances(prices: PriceList, instances: Collection[str], path: Path) -> None:
    """Raise a UserError for offers (a machine with its price) of undeclared machines, before anything is priced.

    Parameters
    ----------
    prices, instances, path
        The price list; names of the machines declared in instances.yaml; the list's file, named in the error.
    """
    names = ((f"offers[{number}].instance", offer.instance) for number, offer in enumerate(prices.offers))
    refuse(_undeclared(names, instances, path))


def _undeclared(
    instance_by_key: Iterable[tuple[str, str | None]], instances: Collection[str], path: Path
) -> Iterator[str]:
    """Yield an error sentence for each machine of a file that instances.yaml does not declare, from (key, machine)
    pairs. `instances`: the declared names; `path`: the file.
    """
    for key, name in instance_by_key:
        if name is not None and name not in instances:
            yield f"{path}: {key} is '{name}'; expected an instance of instances.yaml{hint(name, instances)}"


def check_possible(findings: pd.DataFrame, path: Path) -> None:
    """Raise a UserError if the lint of a price list (`findings`: severity, message) found impossible prices."""
    refuse(f"{path}: {message}" for message in findings.loc[findings["severity"] == "error", "message"])


def check_workloads(workloads: Workloads, monthly: MonthlyWorks, instances: Machines, path: Path) -> None:
    """Raise a UserError for workloads that name undeclared machines or need more devices than any machine has.

    Parameters
    ----------
    workloads, monthly, instances, path
        Single jobs, monthly workloads (`have`: the team's machines), machines, each by name; the workloads.yaml.
    """
    largest = max((machine.gpus for machine in instances.values()), default=0)
    instance_keys, sentences = list[tuple[str, str | None]](), []
    for key, work in workloads.items():
        if isinstance(work, Runs | ProjectPlan):
            instance_keys.append((f"{key}.instance", work.instance))
        if not isinstance(work, ProjectPlan) and work.devices_per_job != "all" and work.devices_per_job > largest:
            expected = f"expected at most {largest}, what the largest machine of instances.yaml has"
            sentences.append(f"{path}: {key}.devices_per_job is {work.devices_per_job}; {expected}")
    for key, month in monthly.items():
        instance_keys += [(f"{key}.have[{number}]", name) for number, name in enumerate(month.have)]
    refuse([*_undeclared(instance_keys, instances, path), *sentences])


def check_owned(monthly: MonthlyWorks, priced: Collection[str], path: Path) -> None:
    """Raise a UserError for machines that a team already has but whose running costs no price list states.

    Parameters
    ----------
    monthly, priced, path
        Monthly workloads by name (`have`: their machines); machines that a price list offers as `own`; workloads.yaml.
    """
    refuse(
        f"{path}: {key}.have names {name!r}; expected a machine with an offer `own` in a price list{hint(name, priced)}"
        for key, work in monthly.items()
        for name in dict.fromkeys(work.have)
        if name not in priced
    )


def check_offers(
    workloads: Workloads, monthly: MonthlyWorks, offers: pd.DataFrame, workload_file: Path, price_file: Path
) -> None:
    """Raise a UserError for contracts and deliveries longer than a project, and for free machines that nobody owns yet.

    Parameters
    ----------
    workloads, monthly, offers, workload_file, price_file
        Single jobs and monthly workloads by name; the offers table of the price list (`term_months`, `delivery_months`,
        `capex_usd`: purchase price, ...); the files that error sentences name.
    """
    sentences, works = [], workload_file.name
    for key, months in _project_months(workloads, monthly).items():
        project = f"the {months:g} months of {key} in {works}"
        terms = offers["term_months"] if key in workloads else offers["term_months"].head(0)
        for number, term in terms[terms > months].items():
            sentences.append(f"[{number}].commitment.term_months is {term:g}; expected at most {project}")
        for number, late in offers.loc[offers["delivery_months"] >= months, "delivery_months"].items():
            text = f"is available after {late:.4g} months (available_from_weeks or available_from)"
            sentences.append(f"[{number}] {text}; expected less than {project}")
    owned = {machine for work in monthly.values() for machine in work.have}
    for number, name in offers.loc[offers["capex_usd"].eq(0) & ~offers["instance"].isin(owned), "instance"].items():
        expected = f"its price, or '{name}' in 'have' of a monthly workload of {works}"
        reason = "only a machine that is owned costs nothing more"
        sentences.append(f"[{number}].own.capex is 0 for '{name}'; expected {expected}: {reason}")
    refuse(f"{price_file}: offers{sentence}" for sentence in sentences)


def _project_months(workloads: Workloads, monthly: MonthlyWorks) -> dict[str, float]:
    """Return {workload: months of its project} where a length is stated, to check that contracts do not outlast it."""
    return {
        key: work.months
        for key, work in (*workloads.items(), *monthly.items())
        if isinstance(work, ProjectPlan | Monthly) and work.months is not None
    }


def project_findings(workloads: Workloads, monthly: MonthlyWorks, offers: pd.DataFrame) -> Iterator[Finding]:
    """Yield a warning per project too short for its work, and per machine bought for longer than its project.

    Parameters
    ----------
    workloads, monthly, offers
        Single jobs and monthly workloads by name, and the offers table (a row per machine and price). The warnings go
        into price_lint.parquet, which the page lists.
    """
    bought = offers[offers["capex_usd"].ne(0)]
    for key, months in _project_months(workloads, monthly).items():
        work, month_hours = workloads.get(key), months * offers["month_days"].max() * HOURS_A_DAY
        if isinstance(work, ProjectPlan) and (hours := sum(phase.hours for phase in work.phases)) > month_hours:
            message = (
                f"{key}: one job of each phase, one after another, takes {hours:,.4g} hours on {work.instance}; its "
                f"{months:g} months have {month_hours:,.4g}"
            )
            yield Finding("warning", "work_past_its_months", work.instance, message, work.source)
        for row in bought[bought["months"] > months].itertuples():
            message = (
                f"{row.instance}: is bought for {row.months:g} months, {key} lasts {months:g}: it pays "
                f"{months / row.months:.2g} of the purchase, as if others used the machine after it"
            )
            yield Finding("warning", "bought_past_the_project", row.instance, message, row.source)
