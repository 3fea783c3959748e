"""What machines, workloads and offers of a study say together: names, devices, months and money that do not fit."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from sweetspot.bills.columns import Columns, to_rows
from sweetspot.bills.lint.rented import Finding
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.priced_cells import Workload
from sweetspot.errors import refuse
from sweetspot.study.instances import Instance
from sweetspot.study.monthly import Monthly
from sweetspot.study.spelling import hint
from sweetspot.study.workloads import Plan, Runs


def check_workloads(workloads: Mapping[str, Workload], instances: Collection[str], workload_file: Path) -> None:
    """Refuse workloads of unknown machines. Raises UserError."""
    named = {key: work.instance for key, work in workloads.items() if isinstance(work, Runs | Plan)}
    refuse(
        f"{workload_file}: {key}.instance is '{machine}'; expected an instance of instances.yaml"
        f"{hint(machine, instances)}"
        for key, machine in named.items()
        if machine is not None and machine not in instances
    )


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
    refuse(
        f"{workload_file}: {key}.have[{number}] is '{machine}'; expected an instance of instances.yaml"
        f"{hint(machine, instances)}"
        for key, work in works.items()
        for number, machine in enumerate(work.have)
        if machine not in instances
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
        for number, term in zip(places or range(len(offers["term_months"])), offers["term_months"], strict=True)
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
            places or range(len(offers["instance"])), offers["instance"], offers["capex_usd"], strict=True
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
