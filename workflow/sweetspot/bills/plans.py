"""Project plans: phases of jobs scheduled on what each option offers at once, with time to the end and cost."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sweetspot.bills.lines import bill_lines, numbers, reference_rate
from sweetspot.bills.money import to_usd
from sweetspot.bills.owning import HOURS_A_DAY, fixed_per_month, own_numbers
from sweetspot.bills.renting import Array
from sweetspot.cells import CELL_COLUMNS
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList
from sweetspot.study.workloads import Phase, Plan

PLAN_COLUMNS = (
    "price_list", "plan", *CELL_COLUMNS, "purchase", "phase", "jobs", "machines", "at_once", "hours", "usd", "status",
)  # fmt: skip
HELD = ("own", "reserved", "committed")
POSSESSION, TOTAL = "possession", "total"
TEXTS = ("price_list", "plan", "instance", "framework", "model", "precision", "variant", "purchase", "phase", "status")


def plan_table(
    cells: pd.DataFrame,
    offers: pd.DataFrame,
    plans: Mapping[str, Plan],
    prices: PriceList,
    instances: Mapping[str, Instance],
) -> pd.DataFrame:
    """One row per plan, cell, offer and phase, in PLAN_COLUMNS, with rows `possession` (owned or committed: what the
    project's months cost whatever the use) and `total`.

    `at_once` jobs run side by side on `machines`; `hours` is the time from the phase's start to its last job's end
    (identical jobs, so ceil(jobs / at_once) rounds), `usd` its bill. Machines owned queue their jobs; rented ones
    are as many as the plan allows and the jobs need. A phase starts when the one before has ended.
    """
    joined = cells[cells["status"] == "ok"].merge(offers.drop(columns="gpus"), on="instance", suffixes=("_cell", ""))
    parts = [part for name, plan in plans.items() for part in _plan(joined, cells, name, plan, prices, instances)]
    if not parts:
        return pd.DataFrame(columns=list(PLAN_COLUMNS)).astype(dict.fromkeys(TEXTS, "string"))
    table = pd.concat(parts, ignore_index=True)
    return table[list(PLAN_COLUMNS)].astype(dict.fromkeys(TEXTS, "string"))


def _plan(
    joined: pd.DataFrame,
    cells: pd.DataFrame,
    name: str,
    plan: Plan,
    prices: PriceList,
    instances: Mapping[str, Instance],
) -> list[pd.DataFrame]:
    rows = joined[joined["model"] == plan.model].reset_index(drop=True)
    if rows.empty:
        return []
    rows = _marginal(rows, prices)
    reference = reference_rate(rows, cells, plan.instance)
    parts = []
    for phase in plan.phases:
        hours, usd, machines, at_once = _phase(rows, cells, plan, phase, reference, prices, instances)
        parts.append(_shown(rows, name, phase.name, phase.jobs, machines, at_once, hours, usd))
    fixed = _possession(rows, plan, prices)
    held = ~np.isnan(fixed)
    if held.any():
        part = _shown(rows, name, POSSESSION, 0, _boxes(rows), np.zeros(len(rows)), np.zeros(len(rows)), fixed)
        parts.append(part[held])
    total = _total(
        rows, name, parts[: len(plan.phases)], np.nan_to_num(fixed), sum(phase.jobs for phase in plan.phases)
    )
    return [*parts, total]


def _total(rows: pd.DataFrame, name: str, phases: list[pd.DataFrame], fixed: Array, jobs: int) -> pd.DataFrame:
    """The sums over the phases; a phase that has no figure or never finishes says so for the whole."""
    spent = sum((part["usd"].to_numpy() for part in phases), fixed)
    took = sum(part["hours"].to_numpy() for part in phases)
    most = np.max([part["machines"].to_numpy() for part in phases], axis=0)
    total = _shown(rows, name, TOTAL, jobs, most, np.full(len(rows), np.nan), took, spent)
    for part in phases:
        total["status"] = total["status"].where(part["status"] == "ok", part["status"])
    return total


def _boxes(rows: pd.DataFrame) -> Array:
    return np.maximum(1.0, numbers(rows, "boxes")[0])


def _marginal(rows: pd.DataFrame, prices: PriceList) -> pd.DataFrame:
    """Rows whose hourly price is only what an hour of use adds; possession and terms are paid by the month."""
    kw, pue, kwh, price = numbers(rows, "kw", "pue", "usd_per_kwh", "usd_per_hour")
    price = np.where(rows["purchase"] == "own", kw * pue * kwh, price)
    for offer in prices.offers:
        if offer.commitment is not None:
            here = ((rows["instance"] == offer.instance) & (rows["purchase"] == offer.purchase)).to_numpy()
            used = offer.commitment.charged == "used"
            price[here] = offer.commitment.per_hour.value * to_usd(offer, prices)[0] if used else 0.0
    return rows.assign(usd_per_hour=price)


def _single_card(rows: pd.DataFrame, cells: pd.DataFrame, instances: Mapping[str, Instance]) -> Array:
    """Throughput of one card of each row's machine: its base instance's figure, else an equal share of its own."""
    rate = rows["images_per_s"].to_numpy(float) / rows["gpus"].to_numpy(float)
    for name in rows["instance"].unique():
        machine = instances.get(name)
        twin = instances.get(machine.equivalent_to) if machine is not None and machine.equivalent_to else None
        base = next((m.base_instance for m in (machine, twin) if m is not None and m.base_instance), None)
        if base is not None:
            here = (rows["instance"] == name).to_numpy()
            found = reference_rate(rows[here], cells, base)
            rate[here] = np.where(np.isnan(found), rate[here], found)
    return rate


def _phase(
    rows: pd.DataFrame,
    cells: pd.DataFrame,
    plan: Plan,
    phase: Phase,
    reference: Array,
    prices: PriceList,
    instances: Mapping[str, Instance],
) -> tuple[Array, Array, Array, Array]:
    """Hours to the end, USD, machines and jobs at once of one phase.

    Jobs are dealt to the machines like cards; `q, r = divmod(jobs, machines)`: r machines take one job more.
    """
    one = phase.gpus_per_job == "one"
    slots = np.where(one, rows["gpus"].to_numpy(float), 1.0)
    rate = _single_card(rows, cells, instances) if one else rows["images_per_s"].to_numpy(float)
    duration = phase.hours * reference / rate
    rented = np.minimum(plan.parallel, np.ceil(phase.jobs / slots))
    machines = np.where(rows["purchase"].isin(HELD), np.minimum(_boxes(rows), np.ceil(phase.jobs / slots)), rented)
    share, more = np.divmod(phase.jobs, machines)
    hours, usd = np.zeros(len(rows)), np.zeros(len(rows))
    for load, count in ((share + 1, more), (share, machines - more)):
        rounds = np.ceil(load / slots)
        work = rows.assign(work_hours=rounds * duration, starts=1.0, spread_months=np.nan)
        with np.errstate(invalid="ignore", over="ignore"):
            lines, elapsed, _ = bill_lines(work, "", prices)
            bill = sum(lines.values()) * count
        used = (count > 0) & (load > 0)
        hours = np.where(used, np.maximum(hours, elapsed), hours)
        usd = np.where(used, usd + bill, usd)
    return hours, usd, machines, np.minimum(phase.jobs, machines * slots)


def _possession(rows: pd.DataFrame, plan: Plan, prices: PriceList) -> Array:
    """USD for having the machines during the project: nan where nothing is due.

    Owned: the fixed sum of a month (DESIGN.md, office hour) x months x boxes. Committed: upfront
    and monthly sums of the whole term, used or not.
    """
    fixed = np.full(len(rows), np.nan)
    for offer in prices.offers:
        here = ((rows["instance"] == offer.instance) & (rows["purchase"] == offer.purchase)).to_numpy()
        if offer.own is not None and here.any():
            months = plan.months or offer.own.months.value
            own = own_numbers(offer.own, factor=to_usd(offer, prices)[0])
            fixed[here] = months * offer.own.boxes * fixed_per_month(own, offer.own.discount_rate)
        elif offer.commitment is not None:
            deal = offer.commitment
            hours = HOURS_A_DAY * rows["month_days"].to_numpy(float)[here] if deal.charged == "always" else 0.0
            month = deal.per_month.value + deal.per_hour.value * hours
            fixed[here] = (deal.upfront.value + deal.term_months.value * month) * to_usd(offer, prices)[0]
    return fixed


def _shown(
    rows: pd.DataFrame, name: str, phase: str, jobs: int, machines: Array, at_once: Array, hours: Array, usd: Array
) -> pd.DataFrame:
    alive = np.isfinite(hours) & np.isfinite(usd)
    status = np.where(np.isnan(hours), "no figure", np.where(alive, "ok", "never finishes"))
    named = rows[[*CELL_COLUMNS, "purchase", "price_list"]]
    keep = alive | (phase == POSSESSION)
    return named.assign(
        plan=name,
        phase=phase,
        jobs=jobs,
        machines=machines,
        at_once=at_once,
        hours=np.where(keep, hours, np.nan),
        usd=np.where(keep, usd, np.nan),
        status=np.where(keep, "ok", status),
    )
