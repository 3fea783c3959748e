"""Project plans: phases of jobs scheduled on what each option offers, with the time to the end and the cost."""

from collections.abc import Mapping
from dataclasses import dataclass

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
from sweetspot.study.workloads import Phase, Plan

PLAN_COLUMNS = tuple(TABLES["plans"])
FIXED_PURCHASES = ("own", "reserved", "committed")
POSSESSION, TOTAL = "possession", "total"
TOO_SLOW = "too slow"  # The longest jobs take more than the planned hours on any number of machines.


@dataclass(frozen=True)
class PhaseSchedule:
    """One phase on each row's option; `slots`: jobs at once on one machine, `hours`: from start to end."""

    machines: FloatArray
    at_once: FloatArray | float
    hours: FloatArray
    usd: FloatArray
    slots: FloatArray | float = np.nan
    job_hours: FloatArray | float = np.nan


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
        if isinstance(plan, Plan):
            options = at_mean_rent(rows[rows["model"] == plan.model].reset_index(drop=True), plan.months)
            tables += _plan(options, cells, fees, name, plan, instances)
    return concat(tables)


def _plan(
    rows: pd.DataFrame,
    cells: pd.DataFrame,
    fees: pd.DataFrame,
    name: str,
    plan: Plan,
    instances: Mapping[str, Instance],
) -> list[pd.DataFrame]:
    """Return the rows of one plan: its phases, possession and total."""
    reference = throughput_behind_hours(rows, cells, plan.instance)
    device_throughput, measured_machine = _throughput_per_device(rows, cells, instances)
    rows = rows.assign(
        plan=name,
        room_hours=_hours_per_machine(rows, plan),
        plan_months=np.nan if plan.months is None else plan.months,
        renewed_term_months=rows["term_months"] if plan.renewed else np.nan,
    )
    sized, phases, is_too_slow = _with_enough_machines(rows, fees, plan, reference, device_throughput)
    rows = rows.assign(boxes=_machine_count(rows), is_too_slow=is_too_slow)
    tables = []
    for phase, schedule in zip(plan.phases, phases, strict=True):
        speed_of = measured_machine if phase.gpus_per_job == "one" else rows["instance"]
        table = _phase_rows(rows, phase.name, phase.jobs, schedule)
        tables.append(table.assign(speed_of=speed_of, work_hours=phase.jobs * phase.hours))
    fixed_usd = _possession_usd(sized, plan)
    possession = PhaseSchedule(_machine_count(sized), 0.0, np.zeros(len(rows)), fixed_usd)
    tables.append(_phase_rows(rows, POSSESSION, 0, possession)[~np.isnan(fixed_usd)])
    total = PhaseSchedule(
        machines=np.max([phase.machines for phase in phases], axis=0),
        at_once=np.nan,
        hours=np.sum([phase.hours for phase in phases], axis=0),
        usd=np.sum([phase.usd for phase in phases], axis=0) + np.nan_to_num(fixed_usd),
    )
    work_hours = float(sum(phase.jobs * phase.hours for phase in plan.phases))
    jobs = sum(phase.jobs for phase in plan.phases)
    tables.append(_phase_rows(rows, TOTAL, jobs, total).assign(work_hours=work_hours))
    return tables


def _hours_per_machine(rows: pd.DataFrame, plan: Plan) -> FloatArray:
    """Return the hours of an owned machine's planned use, or of a contract's terms; NaN if rented by the hour."""
    months = rows["months"] if plan.months is None else plan.months
    uptime = 1.0 - numbers(rows, "downtime_share")[0]
    owned = HOURS_A_DAY * rows["days_per_month"] * uptime * months
    committed = HOURS_A_DAY * rows["month_days"] * _term_months(rows, plan)
    return np.where(rows["purchase"] == "own", owned, committed)


def _term_months(rows: pd.DataFrame, plan: Plan) -> FloatArray:
    """Return the months signed for: one term, or as many as cover a plan that says `renewed`."""
    months = plan.months if plan.renewed and plan.months is not None else 0.0
    return contract_months(months, rows["term_months"])


def _with_enough_machines(
    rows: pd.DataFrame, fees: pd.DataFrame, plan: Plan, reference: FloatArray, device_throughput: FloatArray
) -> tuple[pd.DataFrame, list[PhaseSchedule], npt.NDArray[np.bool_]]:
    """Return rows with `boxes` enough for the work, the phases, and where no number of machines is enough.

    n machines take at least 1/n of the hours of one, so the number rises from below to the smallest that does.
    """
    maximum = float(max(phase.jobs for phase in plan.phases))
    room = rows["room_hours"].fillna(np.inf).to_numpy()
    while True:
        phases = [_schedule(rows, fees, plan, phase, reference, device_throughput) for phase in plan.phases]
        hours = np.sum([phase.hours for phase in phases], axis=0)
        machines = _machine_count(rows)
        next_machines, is_short = next_machine_count(machines, hours, room, maximum)
        if (next_machines == machines).all():
            return rows, phases, is_short
        rows = rows.assign(boxes=next_machines)


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


def _schedule(
    rows: pd.DataFrame,
    fees: pd.DataFrame,
    plan: Plan,
    phase: Phase,
    reference: FloatArray,
    device_throughput: FloatArray,
) -> PhaseSchedule:
    """Deal the jobs out evenly: with q, r = divmod(jobs, machines), r machines take one job more."""
    if phase.gpus_per_job == "one":
        slots, throughput = rows["gpus"].to_numpy(float), device_throughput
    else:
        slots, throughput = np.ones(len(rows)), rows["images_per_s"].to_numpy(float)
    job_hours = phase.hours * reference / throughput
    is_fixed = rows["purchase"].isin(FIXED_PURCHASES)
    available = np.where(is_fixed, _machine_count(rows), plan.parallel)
    machines = np.minimum(available, np.ceil(phase.jobs / slots))
    share, remainder = np.divmod(phase.jobs, machines)
    hours, usd = np.zeros(len(rows)), np.zeros(len(rows))
    for jobs, count in ((share + 1, remainder), (share, machines - remainder)):
        in_a_row = np.maximum(1.0, np.ceil(jobs / slots))
        work = rows.assign(work_hours=in_a_row * job_hours, in_a_row=in_a_row, starts=1.0, spread_months=np.nan)
        with np.errstate(invalid="ignore", over="ignore"):
            bill = bill_lines(work, fees)
            total_usd = usd + bill.usd * count
        is_used = (count > 0) & (jobs > 0)
        hours = np.where(is_used, np.maximum(hours, bill.hours), hours)
        usd = np.where(is_used, total_usd, usd)
    return PhaseSchedule(machines, np.minimum(phase.jobs, machines * slots), hours, usd, slots, job_hours)


def _possession_usd(rows: pd.DataFrame, plan: Plan) -> FloatArray:
    """Return the fixed sum of a month x months x machines, for whole terms if committed; NaN if rented."""
    owned_months = rows["months"] if plan.months is None else rows["months"].where(rows["months"].isna(), plan.months)
    months = np.where(rows["purchase"] == "own", owned_months, _term_months(rows, plan))
    return np.asarray(months * _machine_count(rows) * rows["fixed_usd_per_month"])


def _phase_rows(rows: pd.DataFrame, phase: str, jobs: int, schedule: PhaseSchedule) -> pd.DataFrame:
    is_priced = np.isfinite(schedule.hours) & np.isfinite(schedule.usd) & ~rows["is_too_slow"].to_numpy()
    reason = np.where(np.isnan(schedule.hours), NO_FIGURE, NEVER)
    reason = np.where(rows["is_too_slow"], TOO_SLOW, reason)
    table = rows.assign(
        phase=phase,
        jobs=jobs,
        machines=schedule.machines,
        at_once=schedule.at_once,
        hours=np.where(is_priced, schedule.hours, np.nan),
        usd=np.where(is_priced, schedule.usd, np.nan),
        status=np.where(is_priced, "ok", reason),
        slots=schedule.slots,
        job_hours=schedule.job_hours,
        speed_of=None,
        work_hours=np.nan,
    )
    return table[list(PLAN_COLUMNS)]
