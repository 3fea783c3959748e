"""Project plans: phases of jobs scheduled on what each option offers at once, with time to the end and cost."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sweetspot.bills.columns import Array, Columns, from_rows, numbers, objects, size, stacked, take
from sweetspot.bills.costs import NEVER, NO_FIGURE, Workload, offered, rate_of_hours, reference_rate
from sweetspot.bills.job_rounds import next_machine_count
from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.price_paths import at_mean_rent
from sweetspot.bills.renting import JOB_COLUMNS, bill_lines, whole_terms
from sweetspot.cells import CELL_COLUMNS
from sweetspot.study.instances import Instance
from sweetspot.study.workloads import Phase, Plan

PLAN_COLUMNS = (
    "price_list", "plan", *CELL_COLUMNS, "purchase", "phase", "jobs", "machines", "at_once", "hours", "usd", "status",
    "slots", "job_hours", "speed_of", "work_hours", "room_hours", "boxes", "plan_months", "renewed_term_months",
)  # fmt: skip
OFFER_SHOWN = (
    "price_list", "purchase", "fixed_usd_per_month", "variable_usd_per_hour", "months", "term_months", "boxes",
    "days_per_month", "downtime_share", "trend_kind", "trend_change", *JOB_COLUMNS,
)  # fmt: skip
HELD = ("own", "reserved", "committed")
POSSESSION, TOTAL = "possession", "total"
TOO_SLOW = "too slow"  # however many are bought: the longest jobs alone take more than the hours of planned use


class Schedule(NamedTuple):
    """One phase on each row's option: machines in use, jobs at once, hours to the end, USD; jobs that one machine works
    on at once, hours of a job.
    """

    machines: Array
    at_once: Array | float
    hours: Array
    usd: Array
    slots: Array | float = np.nan
    job_hours: Array | float = np.nan


def plan_table(
    cells: Columns, offers: Columns, fees: Columns, workloads: Mapping[str, Workload], instances: Mapping[str, Instance]
) -> Columns:
    """One row per plan, cell, offer and phase, in PLAN_COLUMNS, with rows `possession` (owned or committed: what the
    project's months cost whatever the use) and `total`.

    `at_once` jobs run side by side on `machines`; `hours` is the time from the phase's start to its last job's end
    (identical jobs, so ceil(jobs / at_once) rounds), `usd` its bill. Machines owned queue their jobs; rented ones
    are as many as the plan allows and the jobs need. A phase starts when the one before has ended. `plan_months`:
    of the whole plan, null where it states none.

    A machine owned works in its planned hours, one committed to in all of its terms. Where the offer's `boxes` would
    need more of them than there are, as many are taken as do the work (`machines` of the row `possession`); where no
    number does, the status is TOO_SLOW.

    What the plan can be priced anew from, with a figure moved (`rounds`): `slots` jobs work on one machine at once,
    `job_hours` each, by the speed of the instance `speed_of`; `work_hours`: of all jobs, as the plan states them;
    `boxes` are at least held, one of which works `room_hours` (null: as many as are needed); `renewed_term_months`: of
    a term that is signed for again until the plan ends (null: none is).
    """
    rows = offered(take(cells, cells["status"] == "ok"), offers, OFFER_SHOWN)
    # Possession and terms are paid by the month: a phase pays what an hour of use adds.
    rows["usd_per_hour"] = rows["variable_usd_per_hour"]
    parts: list[Columns] = []
    for name, plan in workloads.items():
        if isinstance(plan, Plan):
            own = at_mean_rent(take(rows, rows["model"] == plan.model), plan.months)
            parts += _plan(own, cells, fees, name, plan, instances)
    return stacked(parts) if parts else from_rows([], PLAN_COLUMNS)


def _plan(
    rows: Columns, cells: Columns, fees: Columns, name: str, plan: Plan, instances: Mapping[str, Instance]
) -> list[Columns]:
    """The rows of one plan: its phases, possession, total."""
    reference = rate_of_hours(rows, cells, plan.instance)
    single, of = _single_device(rows, cells, instances)
    least, months = _boxes(rows), np.full(size(rows), np.nan if plan.months is None else plan.months)
    term = rows["term_months"] if plan.renewed else np.full(size(rows), np.nan)
    facts = {"room_hours": _room(rows, plan), "boxes": least, "plan_months": months, "renewed_term_months": term}
    rows, phases, slow = _enough(rows, fees, plan, reference, single)
    whole_speed = {"one": of, "all": rows["instance"]}
    parts = [
        _shown(rows | facts, name, phase.name, phase.jobs, done, slow)
        | {"speed_of": whole_speed[phase.gpus_per_job], "work_hours": np.full(size(rows), phase.jobs * phase.hours)}
        for phase, done in zip(plan.phases, phases, strict=True)
    ]
    nothing, fixed = np.zeros(size(rows)), _possession(rows, plan)
    held = _shown(rows | facts, name, POSSESSION, 0, Schedule(_boxes(rows), 0.0, nothing, fixed), slow)
    hours = sum((phase.hours for phase in phases), nothing)
    usd = sum((phase.usd for phase in phases), np.nan_to_num(fixed))
    total = Schedule(np.max([phase.machines for phase in phases], axis=0), np.nan, hours, usd)
    whole = _shown(rows | facts, name, TOTAL, sum(phase.jobs for phase in plan.phases), total, slow)
    whole["work_hours"] = nothing + sum(phase.jobs * phase.hours for phase in plan.phases)
    return [*parts, take(held, ~np.isnan(fixed)), whole]


def _room(rows: Columns, plan: Plan) -> Array:
    """Hours in which one machine works: of one owned its planned use in the months of the plan, of one committed to all
    hours of its terms; of one rented by the hour null.
    """
    months = rows["months"] if plan.months is None else plan.months
    works = 1.0 - numbers(rows, "downtime_share")[0]
    planned = HOURS_A_DAY * rows["days_per_month"] * works * months
    whole = HOURS_A_DAY * rows["month_days"] * _committed_months(rows, plan)
    return np.where(rows["purchase"] == "own", planned, whole)


def _committed_months(rows: Columns, plan: Plan) -> Array:
    """Months of the terms that are signed for: one, or as many as last to the end of a plan that says `renewed`."""
    span = plan.months if plan.renewed and plan.months is not None else 0.0
    return whole_terms(span, rows["term_months"])


def _enough(
    rows: Columns, fees: Columns, plan: Plan, reference: Array, single: Array
) -> tuple[Columns, list[Schedule], np.ndarray]:
    """`rows` with `boxes` enough for the work in the planned hours, its phases, and where no number is enough.

    n machines take at least 1/n of one's hours, so boxes x hours / room of them are needed at least: the number rises
    from below, and the smallest that does the work is found.
    """
    most = float(max(phase.jobs for phase in plan.phases))
    room = _room(rows, plan)
    room = np.where(np.isnan(room), np.inf, room)
    while True:
        phases = [_phase(rows, fees, plan, phase, reference, single) for phase in plan.phases]
        hours, boxes = sum((phase.hours for phase in phases), np.zeros(size(rows))), _boxes(rows)
        more, short = next_machine_count(boxes, hours, room, most)
        if (more == boxes).all():
            return rows, phases, short
        rows = rows | {"boxes": more}


def _boxes(rows: Columns) -> Array:
    return np.maximum(1.0, numbers(rows, "boxes")[0])


def _single_device(
    rows: Columns, cells: Columns, instances: Mapping[str, Instance]
) -> tuple[Array, npt.NDArray[np.object_]]:
    """Throughput of one device of each row's machine, its base instance's figure, else an equal share of its own; and
    whose figure that is.
    """
    rate, of = rows["images_per_s"] / rows["gpus"], rows["instance"].copy()
    for name in set(rows["instance"]):
        machine = instances.get(name)
        twin = instances.get(machine.equivalent_to) if machine is not None and machine.equivalent_to else None
        base = next((m.base_instance for m in (machine, twin) if m is not None and m.base_instance), None)
        if base is not None:
            here = rows["instance"] == name
            found = reference_rate(take(rows, here), cells, base)
            rate[here] = np.where(np.isnan(found), rate[here], found)
            of[here] = np.where(np.isnan(found), of[here], base)
    return rate, of


def _phase(rows: Columns, fees: Columns, plan: Plan, phase: Phase, reference: Array, single: Array) -> Schedule:
    """One phase; its jobs are dealt out evenly: with `q, r = divmod(jobs, machines)` r machines take one job more."""
    one = phase.gpus_per_job == "one"
    slots = np.where(one, rows["gpus"].astype(float), 1.0)
    duration = phase.hours * reference / (single if one else rows["images_per_s"])
    held = np.isin(rows["purchase"], HELD)
    machines = np.minimum(np.where(held, _boxes(rows), plan.parallel), np.ceil(phase.jobs / slots))
    share, more = np.divmod(phase.jobs, machines)  # as in `job_rounds`
    hours, usd = np.zeros(size(rows)), np.zeros(size(rows))
    for load, count in ((share + 1, more), (share, machines - more)):
        row = np.maximum(1.0, np.ceil(load / slots))
        work = {"work_hours": row * duration, "in_a_row": row, "starts": np.ones(size(rows))}
        with np.errstate(invalid="ignore", over="ignore"):
            bill = bill_lines(rows | work | {"spread_months": np.full(size(rows), np.nan)}, fees)
            paid = bill.usd * count
        used = (count > 0) & (load > 0)
        hours = np.where(used, np.maximum(hours, bill.hours), hours)
        usd = np.where(used, usd + paid, usd)
    return Schedule(machines, np.minimum(phase.jobs, machines * slots), hours, usd, slots, duration)


def _possession(rows: Columns, plan: Plan) -> Array:
    """USD for having the machines during the project: nan where nothing is due.

    The fixed sum of a month x months x machines. Committed: the whole terms, used or not.
    """
    months = np.where(np.isnan(rows["months"]), np.nan, rows["months"] if plan.months is None else plan.months)
    held = np.where(rows["purchase"] == "own", months, _committed_months(rows, plan))
    return held * _boxes(rows) * rows["fixed_usd_per_month"]


def _shown(rows: Columns, plan: str, phase: str, jobs: int, done: Schedule, slow: np.ndarray) -> Columns:
    alive = np.isfinite(done.hours) & np.isfinite(done.usd) & ~slow
    status = np.where(alive, "ok", np.where(slow, TOO_SLOW, np.where(np.isnan(done.hours), NO_FIGURE, NEVER)))
    count, nothing = size(rows), np.zeros(size(rows))
    return {
        **{
            name: rows[name]
            for name in (
                *CELL_COLUMNS,
                "purchase",
                "price_list",
                "room_hours",
                "boxes",
                "plan_months",
                "renewed_term_months",
            )
        },
        **{name: nothing + value for name, value in done._asdict().items()},
        "plan": objects([plan] * count),
        "phase": objects([phase] * count),
        "jobs": np.full(count, jobs),
        "speed_of": objects([None] * count),
        "work_hours": np.full(count, np.nan),
        "hours": np.where(alive, done.hours, np.nan),
        "usd": np.where(alive, done.usd, np.nan),
        "status": status.astype(object),
    }
