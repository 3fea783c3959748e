"""Costs: every cell x offer x workload, priced in one pass over columns; and the lines of each bill."""

from collections.abc import Mapping

import numpy as np

from sweetspot.bills.columns import ENDS, Array, Columns, from_rows, numbers, objects, size, stacked, take
from sweetspot.bills.lines import JOB_COLUMNS, Bill, bill_lines
from sweetspot.bills.priced_cells import (
    Workload,
    cells_of_known_hours,
    offered,
    one_at_a_time,
    rate_of_hours,
    with_slots,
)
from sweetspot.bills.renting import HOUR_S, ROUNDING
from sweetspot.bills.spot import overhead
from sweetspot.cells import CELL_COLUMNS, weakest
from sweetspot.study.instances import Instance
from sweetspot.study.workloads import Plan, Runs, Training

COST_COLUMNS = (
    *CELL_COLUMNS, "purchase", "usd_per_hour", "usd_per_hour_low", "usd_per_hour_high",
    "images_per_usd", "images_per_usd_low", "images_per_usd_high", "workload", "hours", "hours_low", "hours_high",
    "usd", "usd_low", "usd_high", "basis", "as_of", "price_list", "provider", "gpu", "status",
    "machine_hours", "source", "kwh", "kwh_low", "kwh_high", "kg_co2e", "kg_co2e_low", "kg_co2e_high", "power_basis",
    "jobs_at_once", "side_images_per_s", "side_images_per_s_low", "side_images_per_s_high", "side_basis", "side_source",
    "side_figure_images_per_s", "side_figure_gpus",
)  # fmt: skip
BILL_COLUMNS = ("price_list", "instance", "purchase", "workload", *CELL_COLUMNS[1:], "line", "usd")
# What a job takes is what an hour takes times the hours in which its machine runs.
HOURLY = {"kwh": "kwh_per_hour", "kg_co2e": "kg_co2e_per_hour"}
PASSED_ON = ("purchase", "as_of", "price_list", "provider", "power_basis")  # columns of an offer, as they are
OFFER_SHOWN = (
    *PASSED_ON, "basis", "source", "gpu",
    *(f"{name}{end}" for name in HOURLY.values() for end in ENDS), *JOB_COLUMNS,
)  # fmt: skip
# The cheap end of a bill takes the fast end of the throughput.
OPPOSITE = {"": "", "_low": "_high", "_high": "_low"}
NO_FIGURE, NEVER = "no figure", "never finishes"


def price_cells(
    cells: Columns,
    offers: Columns,
    fees: Columns,
    workloads: Mapping[str, Workload],
    instances: Mapping[str, Instance] | None = None,
) -> tuple[Columns, Columns]:
    """Costs (COST_COLUMNS) and bills (BILL_COLUMNS) of every cell under every offer of its instance.

    `hours` is the time from start to end on one machine (waiting for a spot machine included), `machine_hours`
    what it runs, `usd` the bill. Low and high ends take the price and the time at their ends. A cell without a
    figure, or a job that never finishes, keeps its row with null hours and USD and says so in `status`; where
    only the dear end never finishes, only that end is null. `kwh` and `kg_co2e`: the energy of those machine hours
    and what it emits (bills/energy.py), null where the power or the grid is not known; `power_basis`: what the power
    is, `measured`, `declared` or `estimated`.

    Where a job takes fewer devices than its machine has (`devices_per_job`), `jobs_at_once` of them run side by side
    (`with_slots`, by the declared `instances`): `hours` is the time of the work, a job bears its share of the bill,
    and `side_images_per_s`, `_low`, `_high` are the rate of all of them together, `side_basis`, `side_source` what it
    rests on, `side_figure_images_per_s` the figure of `side_figure_gpus` devices that it is made of. Elsewhere these
    are null.
    """
    cells = cells_of_known_hours(cells, offers, workloads)
    whole = offered(one_at_a_time(cells), offers, OFFER_SHOWN)
    parts = [
        _jobs(
            whole if work.devices_per_job == "all" else _shared(cells, offers, work, instances or {}), cells, name, work
        )
        for name, work in workloads.items()
        if not isinstance(work, Plan)
    ]
    if not parts:
        return from_rows([], COST_COLUMNS), from_rows([], BILL_COLUMNS)
    jobs = stacked(parts)
    with np.errstate(invalid="ignore", over="ignore"):  # a job that never finishes has an infinite bill until _costs
        bills = {end: _borne(bill_lines(jobs, fees, end), jobs["share"]) for end in ENDS}
        return _costs(jobs, bills), _lines(jobs, bills[""])


def _shared(cells: Columns, offers: Columns, work: Training | Runs, instances: Mapping[str, Instance]) -> Columns:
    """The rows of a workload whose jobs do not take all devices of every machine."""
    own = cells if work.model is None else take(cells, cells["model"] == work.model)
    return offered(with_slots(own, work, instances), offers, OFFER_SHOWN)


def _borne(bill: Bill, share: Array) -> Bill:
    """The part of the bill of a machine that its job bears; its time is its own."""
    lines = {line: usd * share for line, usd in bill.lines.items()}
    return Bill(lines, bill.hours, bill.machine_hours * share)


def _jobs(rows: Columns, cells: Columns, name: str, work: Training | Runs) -> Columns:
    """Rows of one workload with `work_hours` per start at both ends of the throughput, `starts`, `spread_months`.

    `share`: what the work bears of its machine, which fewer jobs than it has slots leave to others in part.
    """
    if work.model is not None:
        rows = take(rows, rows["model"] == work.model)
    count, slots = size(rows), rows["slots"]
    rate = {end: _rate(rows, end) / slots for end in ENDS}
    starts, share, months = np.ones(count), 1.0 / slots, np.nan
    if isinstance(work, Training):
        hours = {end: work.samples / rate[OPPOSITE[end]] / HOUR_S for end in ENDS}
    else:
        starts, share = np.ceil(work.runs / slots - ROUNDING), np.minimum(1.0, work.runs / slots)
        months = np.nan if work.months is None else work.months
        hours = {end: np.full(count, work.hours) for end in ENDS}
        if work.instance is not None:
            reference = rate_of_hours(rows, cells, work.instance)
            hours = {end: work.hours * reference / rate[OPPOSITE[end]] for end in ENDS}
    return rows | {
        "workload": objects([name] * count),
        "starts": starts,
        "share": share,
        "spread_months": np.full(count, months),
        **{f"work_hours{end}": hours[end] for end in ENDS},
    }


def _rate(rows: Columns, end: str) -> Array:
    """Images/s at one end; the figure itself where it has no interval."""
    rate = rows[f"images_per_s{end}"]
    return np.where(np.isnan(rate), rows["images_per_s"], rate)


def _costs(jobs: Columns, bills: Mapping[str, Bill]) -> Columns:
    table = {name: jobs[name] for name in (*CELL_COLUMNS, "workload", *PASSED_ON)}
    ok = (jobs["status"] == "ok") & ~np.isnan(jobs["work_hours"])
    finishes = np.isfinite(bills[""].hours) | ~ok
    for end, bill in bills.items():
        usd = bill.usd
        alive = ok & finishes & np.isfinite(usd) & np.isfinite(bill.hours)
        table[f"usd_per_hour{end}"] = jobs[f"usd_per_hour{end}"]
        table[f"hours{end}"] = np.where(alive, bill.hours, np.nan)
        table[f"usd{end}"] = np.where(alive, usd, np.nan)
        table[f"images_per_usd{end}"] = _images_per_usd(jobs, end, ok)
        for name, hourly in HOURLY.items():
            table[f"{name}{end}"] = np.where(alive, jobs[f"{hourly}{end}"] * bill.machine_hours, np.nan)
        if end == "":
            table["machine_hours"] = np.where(alive, bill.machine_hours, np.nan)
    none = np.where(jobs["status"] == "ok", NO_FIGURE, jobs["status"])
    table["status"] = np.where(ok, np.where(finishes, "ok", NEVER), none)
    table["basis"] = objects(map(weakest, jobs["basis_cell"], jobs["basis"]))
    table["source"] = jobs["source_cell"] + " ; " + jobs["source"]
    side = jobs["slots"] > 1
    table["jobs_at_once"] = np.where(side, jobs["slots"], np.nan)
    for end in ENDS:
        table[f"side_images_per_s{end}"] = np.where(side, jobs[f"images_per_s{end}"], np.nan)
    for name in ("figure_images_per_s", "figure_gpus"):
        table[f"side_{name}"] = np.where(side, jobs[name], np.nan)
    for name in ("basis", "source"):
        own = zip(side, jobs[f"{name}_cell"], strict=True)
        table[f"side_{name}"] = objects(value if several else None for several, value in own)
    table["gpu"] = objects(own or listed for own, listed in zip(jobs["gpu_cell"], jobs["gpu"], strict=True))
    return table


def _images_per_usd(jobs: Columns, end: str, ok: np.ndarray) -> Array:
    """3600 R / (hourly price x overhead of interruptions of a long job); fees and rounding belong to a workload.

    Null where nothing is paid by the hour.
    """
    dear = OPPOSITE[end]
    often, dump, restore = numbers(jobs, f"interruptions_per_hour{dear}", "checkpoint_s", "restore_s")
    factor = overhead(often, np.where(often > 0, dump / HOUR_S, 1.0), restore / HOUR_S, jobs["every_s"] / HOUR_S)
    price = jobs[f"usd_per_hour{dear}"] * factor
    known = ok & np.isfinite(factor) & (price > 0)
    return np.where(known, HOUR_S * _rate(jobs, end) / np.where(known, price, 1.0), np.nan)


def _lines(jobs: Columns, bill: Bill) -> Columns:
    """Long form of the lines that are not zero."""
    parts = []
    for line, usd in bill.lines.items():
        shown = np.isfinite(usd) & (np.abs(usd) > 1e-12)
        named = {name: jobs[name][shown] for name in BILL_COLUMNS if name not in ("line", "usd")}
        parts.append(named | {"line": objects([line] * int(shown.sum())), "usd": usd[shown]})
    return stacked(parts)
