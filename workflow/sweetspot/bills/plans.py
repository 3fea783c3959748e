"""Project plans: phases of jobs scheduled on what each option offers, with the time to the end and the cost."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from sweetspot.bills.costs import NEVER, NO_FIGURE, Workload, join_offers, reference_throughput, throughput_behind_hours
from sweetspot.bills.job_rounds import next_machine_count
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.price_paths import at_mean_rent
from sweetspot.bills.renting import bill_lines, contract_months
from sweetspot.bills.schemas import TABLES, FloatArray, concat, numbers, table_of
from sweetspot.study.instances import Instance
from sweetspot.study.workloads import Phase, ProjectPlan

PLAN_COLUMNS = tuple(TABLES["plans"])
FIXED_PURCHASES = ("own", "reserved", "committed")
POSSESSION, TOTAL = "possession", "total"
TOO_SLOW = "too slow"  # The longest jobs take more than the planned hours on any number of machines.


def plan_table(
    cells: pd.DataFrame,
    offers: pd.DataFrame,
    fees: pd.DataFrame,
    workloads: Mapping[str, Workload],
    instances: Mapping[str, Instance],
) -> pd.DataFrame:
    """Return one row per plan, cell, offer and phase, and rows `possession` and `total`.

    `at_once` jobs run side by side on `machines`; `hours` is the time from the phase's start to the end of its
    last job, `usd` its bill. Jobs queue for owned machines; rented ones are as many as the plan allows and the jobs
    need. A phase starts when the one before has ended. Owned machines work in their planned hours, committed ones
    in all hours of their terms; where `boxes` need more hours, more machines are taken (`machines` of the row
    `possession`), and where no number is enough, the status is TOO_SLOW.

    Further columns allow repricing: `job_hours` of one job at the speed of `speed_of`, `work_hours` of all jobs as
    stated, `room_hours` of one machine (NaN: unlimited), `renewed_term_months` of a term that is signed again.

    Parameters
    ----------
    cells
        As `cells_to_price` returns them.
    offers, fees
        As `offers_in_usd` returns them.
    workloads
        Workloads by name, of which the plans are priced.
    instances
        Machines by name.
    """
    rows = join_offers(cells[cells["status"] == "ok"], offers)
    # Possession and terms are paid by the month: a phase pays what an hour of use adds.
    rows["usd_per_hour"] = rows["variable_usd_per_hour"]
    tables = [table_of([], PLAN_COLUMNS)]
    for name, plan in workloads.items():
        if isinstance(plan, ProjectPlan):
            options = at_mean_rent(rows[rows["model"] == plan.model].reset_index(drop=True), plan.months)
            tables.append(_plan(options, cells, fees, name, plan, instances))
    return concat(tables)


def _plan(
    rows: pd.DataFrame,
    cells: pd.DataFrame,
    fees: pd.DataFrame,
    name: str,
    plan: ProjectPlan,
    instances: Mapping[str, Instance],
) -> pd.DataFrame:
    """Return the rows of one plan: its phases, possession and total."""
    device_throughput, measured_machine = _throughput_per_device(rows, cells, instances)
    rows = rows.assign(
        plan=name,
        room_hours=_hours_per_machine(rows, plan),
        plan_months=np.nan if plan.months is None else plan.months,
        renewed_term_months=rows["term_months"] if plan.renewed else np.nan,
        reference_images_per_s=throughput_behind_hours(rows, cells, plan.instance),
        device_images_per_s=device_throughput,
        machine_count=_machine_count(rows),
        slots=np.nan,
        job_hours=np.nan,
        speed_of=None,
        work_hours=np.nan,
    )
    phases, sized = _with_enough_machines(rows, fees, plan)
    tables = []
    for phase, table in zip(plan.phases, phases, strict=True):
        speed_of = measured_machine if phase.gpus_per_job == "one" else rows["instance"]
        work = phase.jobs * phase.hours
        tables.append(table.assign(phase=phase.name, jobs=phase.jobs, speed_of=speed_of, work_hours=work))
    fixed_usd = _possession_usd(sized, plan)
    possession = sized.assign(
        phase=POSSESSION, jobs=0, machines=sized["machine_count"], at_once=0.0, hours=0.0, usd=fixed_usd
    )
    total = sized.assign(
        phase=TOTAL,
        jobs=sum(phase.jobs for phase in plan.phases),
        machines=np.max([table["machines"] for table in phases], axis=0),
        at_once=np.nan,
        hours=np.sum([table["hours"] for table in phases], axis=0),
        usd=np.sum([table["usd"] for table in phases], axis=0) + fixed_usd.fillna(0.0),
        work_hours=float(sum(phase.jobs * phase.hours for phase in plan.phases)),
    )
    return _with_status(concat([*tables, possession[fixed_usd.notna()], total]))


def _hours_per_machine(rows: pd.DataFrame, plan: ProjectPlan) -> FloatArray:
    """Return the hours of an owned machine's planned use, or of a contract's terms; NaN if rented by the hour."""
    months = rows["months"] if plan.months is None else plan.months
    uptime = 1.0 - numbers(rows, "downtime_share")[0]
    owned = HOURS_A_DAY * rows["days_per_month"] * uptime * months
    committed = HOURS_A_DAY * rows["month_days"] * _term_months(rows, plan)
    return np.where(rows["purchase"] == "own", owned, committed)


def _term_months(rows: pd.DataFrame, plan: ProjectPlan) -> FloatArray:
    """Return the months signed for: one term, or as many as cover a plan that says `renewed`."""
    months = plan.months if plan.renewed and plan.months is not None else 0.0
    return contract_months(months, rows["term_months"])


def _with_enough_machines(
    rows: pd.DataFrame, fees: pd.DataFrame, plan: ProjectPlan
) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    """Return the phases, and the rows with a `machine_count` enough for the work and where none is (`is_short`).

    n machines take at least 1/n of the hours of one, so the number rises from below to the smallest that does.
    """
    maximum = float(max(phase.jobs for phase in plan.phases))
    available_hours = rows["room_hours"].fillna(np.inf).to_numpy()
    while True:
        phases = [_schedule(rows, fees, plan, phase) for phase in plan.phases]
        hours = np.sum([table["hours"] for table in phases], axis=0)
        machines, is_short = next_machine_count(rows["machine_count"].to_numpy(), hours, available_hours, maximum)
        if (machines == rows["machine_count"]).all():
            return [table.assign(is_short=is_short) for table in phases], rows.assign(is_short=is_short)
        rows = rows.assign(machine_count=machines)


def _machine_count(rows: pd.DataFrame) -> FloatArray:
    return np.maximum(1.0, numbers(rows, "boxes")[0])


def _throughput_per_device(
    rows: pd.DataFrame, cells: pd.DataFrame, instances: Mapping[str, Instance]
) -> tuple[FloatArray, npt.NDArray[np.object_]]:
    """Return the throughput of one device of each row's machine, and the machine whose throughput that is.

    It is that of the machine's base instance, otherwise an equal share of its own.
    """
    rate = (rows["images_per_s"] / rows["gpus"]).to_numpy(float, copy=True)
    source = rows["instance"].to_numpy(object).copy()
    for name in rows["instance"].unique():
        machine = instances[name]
        equivalent = instances.get(machine.equivalent_to or "")
        base = machine.base_instance or (equivalent and equivalent.base_instance)
        if base:
            base_rate = reference_throughput(rows, cells, base)
            is_replaced = rows["instance"].eq(name).to_numpy() & ~np.isnan(base_rate)
            rate = np.where(is_replaced, base_rate, rate)
            source[is_replaced] = base
    return rate, source


def _schedule(rows: pd.DataFrame, fees: pd.DataFrame, plan: ProjectPlan, phase: Phase) -> pd.DataFrame:
    """Deal the jobs out evenly: with q, r = divmod(jobs, machines), r machines take one job more.

    `slots` are jobs at once on one machine, `hours` those from start to end of the phase.
    """
    slots, throughput = np.ones(len(rows)), rows["images_per_s"].to_numpy(float)
    if phase.gpus_per_job == "one":
        slots, throughput = rows["gpus"].to_numpy(float), rows["device_images_per_s"].to_numpy(float)
    job_hours = phase.hours * rows["reference_images_per_s"].to_numpy(float) / throughput
    is_fixed = rows["purchase"].isin(FIXED_PURCHASES)
    machines = np.minimum(np.where(is_fixed, rows["machine_count"], plan.parallel), np.ceil(phase.jobs / slots))
    share, remainder = np.divmod(phase.jobs, machines)
    hours, usd = np.zeros(len(rows)), np.zeros(len(rows))
    for jobs, count in ((share + 1, remainder), (share, machines - remainder)):
        in_a_row = np.maximum(1.0, np.ceil(jobs / slots))
        work = rows.assign(
            work_hours=in_a_row * job_hours, in_a_row=in_a_row, starts=1.0, share=1.0, spread_months=np.nan
        )
        with np.errstate(invalid="ignore", over="ignore"):
            bill = bill_lines(work, fees)
            total_usd = usd + bill.usd * count
        is_used = (count > 0) & (jobs > 0)
        hours = np.where(is_used, np.maximum(hours, bill.hours), hours)
        usd = np.where(is_used, total_usd, usd)
    at_once = np.minimum(phase.jobs, machines * slots)
    return rows.assign(machines=machines, at_once=at_once, hours=hours, usd=usd, slots=slots, job_hours=job_hours)


def _possession_usd(rows: pd.DataFrame, plan: ProjectPlan) -> pd.Series:
    """Return the fixed sum of a month x months x machines, for whole terms if committed; NaN if rented."""
    owned_months = rows["months"] if plan.months is None else rows["months"].where(rows["months"].isna(), plan.months)
    months = owned_months.where(rows["purchase"] == "own", _term_months(rows, plan))
    return months * rows["machine_count"] * rows["fixed_usd_per_month"]


def _with_status(rows: pd.DataFrame) -> pd.DataFrame:
    """Return PLAN_COLUMNS, without hours and USD where the status is not ok."""
    is_short = rows["is_short"].astype(bool)
    is_priced = np.isfinite(rows["hours"]) & np.isfinite(rows["usd"]) & ~is_short
    status = np.where(rows["hours"].isna(), NO_FIGURE, NEVER)
    status = np.where(is_short, TOO_SLOW, status)
    table = rows.assign(
        status=np.where(is_priced, "ok", status), hours=rows["hours"].where(is_priced), usd=rows["usd"].where(is_priced)
    )
    return table.assign(boxes=_machine_count(rows))[list(PLAN_COLUMNS)]
