"""Project plans: phases of jobs scheduled on what each option offers, with the time to the end and the cost."""

import numpy as np
from pandas import DataFrame

from sweetspot.bills import costs
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.price_paths import at_mean_rent
from sweetspot.bills.renting import bill_lines, contract_months, next_machine_count
from sweetspot.bills.schemas import TABLES, FloatArray, concat, table_of
from sweetspot.study.workloads import Phase, ProjectPlan

PLAN_COLUMNS = TABLES["plans"]
FIXED_PURCHASES = ("own", "reserved", "committed")
POSSESSION, TOTAL = "possession", "total"
TOO_SLOW = "too slow"  # The longest jobs take more than the planned hours on any number of machines.


def plan_table(
    cells: DataFrame, offers: DataFrame, fees: DataFrame, workloads: costs.Workloads, instances: costs.Machines
) -> DataFrame:
    """Return the table plans: hours and USD of each project plan on each machine at each price, to decide who does it.
    A row per plan, cell (a machine's speed), offer (its price) and phase; rows `possession` (monthly costs) and
    `total`. `at_once` jobs run side by side on `machines`; `hours` is the time from the phase's start to the end of its
    last job, `usd` its bill. Jobs queue for owned machines; rented ones are as many as the plan allows and the jobs
    need. A phase starts when the one before has ended. Owned machines work in their planned hours, committed ones in
    all hours of their terms; where `boxes` need more hours, more machines are taken (`machines` of the row
    `possession`), and where no number is enough, the status is TOO_SLOW. Further columns allow repricing: `job_hours`
    of one job at the speed of `speed_of`, `work_hours` of all jobs as stated, `room_hours` of one machine (NaN:
    unlimited), `renewed_term_months` of a term that is signed again.

    Parameters
    ----------
    cells, offers, fees, workloads, instances
        Tables of cells (`cells_to_price`), offers and fees; workloads, of which plans are priced; machines by name.
    """
    rows = costs.join_offers(cells[cells["status"] == "ok"], offers)
    # Possession and terms are paid by the month: a phase pays what an hour of use adds.
    rows["usd_per_hour"] = rows["variable_usd_per_hour"]
    tables = [table_of([], PLAN_COLUMNS)]
    for name, plan in workloads.items():
        if isinstance(plan, ProjectPlan):
            options = at_mean_rent(rows[rows["model"] == plan.model].reset_index(drop=True), plan.months)
            options["reference_images_per_s"] = costs.throughput_behind_hours(options, cells, plan.instance)
            options = _with_device_throughput(options.assign(plan=name), cells, instances)
            tables.append(_plan(options, fees, plan))
    return concat(tables)


def _with_device_throughput(rows: DataFrame, cells: DataFrame, instances: costs.Machines) -> DataFrame:
    """Return rows (machine speed x price) with the speed of jobs that take one device: `device_images_per_s`, from the
    machine's base instance, else an equal share of its own images/s; `measured` names the machine behind it.
    """
    rows = rows.assign(device_images_per_s=rows["images_per_s"] / rows["gpus"], measured=rows["instance"])
    for name in rows["instance"].unique():
        machine = instances[name]
        base = machine.base_instance or instances.get(machine.equivalent_to or "", machine).base_instance
        if base:
            rate = costs.reference_throughput(rows, cells, base)
            is_replaced = rows["instance"].eq(name) & ~np.isnan(rate)
            rows["device_images_per_s"] = np.where(is_replaced, rate, rows["device_images_per_s"])
            rows["measured"] = rows["measured"].mask(is_replaced, base)
    return rows


def _plan(rows: DataFrame, fees: DataFrame, plan: ProjectPlan) -> DataFrame:
    """Return the plans table of one project plan: a row per option and phase, a row `possession` (monthly), one
    `total`. `rows`: options (a machine's speed x a price) for the plan's model. A contract is signed for one term, or
    for as many as cover a plan that says `renewed`. n machines take at least 1/n of the hours of one, so the number of
    machines is raised to the smallest that finishes in time. `status`: `ok` or why hours and USD are missing.
    """
    is_owned = rows["purchase"] == "own"
    owned_months = rows["months"] if plan.months is None else plan.months
    term_months = contract_months(plan.months or 0.0 if plan.renewed else 0.0, rows["term_months"])
    days = rows["days_per_month"] * (1.0 - rows["downtime_share"])
    planned_hours = HOURS_A_DAY * np.where(is_owned, days * owned_months, rows["month_days"] * term_months)
    available_hours = np.where(np.isnan(planned_hours), np.inf, planned_hours)
    machines, largest_phase = rows["boxes"].fillna(1.0).to_numpy(), float(max(phase.jobs for phase in plan.phases))
    while True:
        phases = [_schedule(rows, fees, plan, phase, machines) for phase in plan.phases]
        hours, usd = (np.sum([table[name] for table in phases], axis=0) for name in ("hours", "usd"))
        larger, is_short = next_machine_count(machines, hours, available_hours, largest_phase)
        if (larger == machines).all():
            break
        machines = larger
    fixed_usd = np.where(is_owned, owned_months, term_months) * machines * rows["fixed_usd_per_month"]
    possession = rows.assign(phase=POSSESSION, jobs=0, machines=machines, at_once=0.0, hours=0.0, usd=fixed_usd)
    total = rows.assign(
        phase=TOTAL,
        jobs=sum(phase.jobs for phase in plan.phases),
        machines=np.max([table["machines"] for table in phases], axis=0),
        hours=hours,
        usd=usd + fixed_usd.fillna(0.0),
        work_hours=float(sum(phase.jobs * phase.hours for phase in plan.phases)),
    )
    tables = [
        table.assign(
            room_hours=planned_hours,
            plan_months=np.nan if plan.months is None else plan.months,
            renewed_term_months=rows["term_months"] if plan.renewed else np.nan,
            boxes=rows["boxes"].fillna(1.0),
            is_short=is_short,
        )
        for table in (*phases, possession, total)
    ]
    tables[-2] = tables[-2][fixed_usd.notna()]
    table = concat(tables)
    is_priced = np.isfinite(table["hours"]) & np.isfinite(table["usd"]) & ~table["is_short"]
    reason = np.where(table["is_short"], TOO_SLOW, np.where(table["hours"].isna(), costs.NO_FIGURE, costs.NEVER))
    table[["hours", "usd"]] = table[["hours", "usd"]].where(is_priced)
    return table.assign(status=np.where(is_priced, "ok", reason)).reindex(columns=PLAN_COLUMNS)


def _schedule(
    rows: DataFrame, fees: DataFrame, plan: ProjectPlan, phase: Phase, fixed_machines: FloatArray
) -> DataFrame:
    """Return options (machine speed x price) with one phase's jobs dealt to machines: `machines`, `hours`, `usd` ...
    `hours` run from its start to its end, `usd` is of all machines, `slots` are the jobs at once on one. `phase`:
    number and hours of jobs; `fixed_machines`: machines per option that are owned or signed for.
    """
    slots, rate, speed_of = np.ones(len(rows)), rows["images_per_s"], rows["instance"]
    if phase.gpus_per_job == "one":
        slots, rate, speed_of = rows["gpus"].to_numpy(float), rows["device_images_per_s"], rows["measured"]
    job_hours = (phase.hours * rows["reference_images_per_s"] / rate).to_numpy(float)
    is_fixed = rows["purchase"].isin(FIXED_PURCHASES)
    machines = np.minimum(np.where(is_fixed, fixed_machines, plan.parallel), np.ceil(phase.jobs / slots))
    share, remainder = np.divmod(phase.jobs, machines)
    hours, usd = np.zeros(len(rows)), np.zeros(len(rows))
    for jobs, count in ((share + 1, remainder), (share, machines - remainder)):
        in_a_row = np.maximum(1.0, np.ceil(jobs / slots))
        work = {"work_hours": in_a_row * job_hours, "in_a_row": in_a_row}
        with np.errstate(invalid="ignore", over="ignore"):
            bill = bill_lines(rows.assign(**work, starts=1.0, share=1.0, spread_months=np.nan), fees)
            total_usd = usd + bill.usd * count
        is_used = (count > 0) & (jobs > 0)
        hours = np.where(is_used, np.maximum(hours, bill.hours), hours)
        usd = np.where(is_used, total_usd, usd)
    return rows.assign(
        phase=phase.name,
        jobs=phase.jobs,
        machines=machines,
        at_once=np.minimum(phase.jobs, machines * slots),
        hours=hours,
        usd=usd,
        slots=slots,
        job_hours=job_hours,
        speed_of=speed_of,
        work_hours=phase.jobs * phase.hours,
    )
