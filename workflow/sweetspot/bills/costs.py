"""Costs of every cell, offer and workload, and the lines of each bill."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from pandas import DataFrame

from sweetspot.bills.renting import HOUR_S, ROUNDING, Bill, bill_lines, overhead
from sweetspot.bills.schemas import SUFFIXES, TABLES, FloatArray, concat, numbers, table_of, with_bounds
from sweetspot.cells import BASES, USABLE, weakest
from sweetspot.declared_tables import schema_of
from sweetspot.study.instances import Instance
from sweetspot.study.workloads import ProjectPlan, Runs, Training

Workload = Training | Runs | ProjectPlan
Workloads = Mapping[str, Workload]
Machines = Mapping[str, Instance]
RATES = with_bounds("images_per_s")
FIGURES = tuple(schema_of("cells").names)
PRICED_COLUMNS = [*FIGURES, "gpu"]
THROUGHPUT_COLUMNS = (*PRICED_COLUMNS, "logical")
EXTRAPOLATION_COLUMNS = (*(name for name in FIGURES if name != "status"), "headline")
COST_COLUMNS, BILL_COLUMNS = TABLES["costs"], TABLES["bills"]
COMPARABLE = ["framework", "model", "batch_size", "precision"]  # Equal in cells whose throughput is comparable.
# The low opposite of a bill takes the high opposite of the throughput.
OPPOSITE = {"": "", "_low": "_high", "_high": "_low"}
NO_FIGURE, NEVER = "no figure", "never finishes"


def cells_to_price(throughput: DataFrame, extrapolation: DataFrame) -> DataFrame:
    """Return all known speeds of machines, to price them: measured and published ones, then extrapolated ones. A row is
    a cell: images/s of a machine (`instance`, `gpu`) with a number of devices, a model, a batch size, a precision. A
    `headline` row of `extrapolation` counts where `throughput` has no usable figure of that cell. Logical devices
    (parts of one processor) are left out: they only show how the workflow measures. Unstable figures count as usable.
    """
    timed = throughput.loc[~throughput["logical"].eq(True), PRICED_COLUMNS]
    timed = timed.assign(status=timed["status"].where(~timed["status"].isin(USABLE), "ok"))
    key = ["instance", "gpus", *COMPARABLE]
    available = pd.MultiIndex.from_frame(timed.loc[timed["status"] == "ok", key])
    added = extrapolation[extrapolation["headline"].eq(True)].assign(status="ok", gpu=None, basis="extrapolated")
    is_missing = ~pd.MultiIndex.from_frame(added[key]).isin(available)
    return concat([timed, added.loc[is_missing, PRICED_COLUMNS]])


def join_offers(cells: DataFrame, offers: DataFrame) -> DataFrame:
    """Return each row of `cells` (a machine's speed) with each offer of its `instance`, so that it can be priced there.
    Columns of both; a name in both is the offer's, `<name>_cell` the cell's, but `gpus` is the cell's. In their orders.
    """
    return cells.merge(offers.drop(columns="gpus"), on="instance", suffixes=("_cell", ""))


def reference_throughput(
    rows: DataFrame, cells: DataFrame, instance: str, equal: Sequence[str] = COMPARABLE
) -> FloatArray:
    """Return, per row, the images/s of the machine `instance` on the same task, to state a row's speed relative to it.

    Parameters
    ----------
    rows, equal, cells, instance
        Any table with the columns `equal`, in which a row of `cells` must agree with it (none: NaN); speeds of
        `cells_to_price`; name of the machine; of several cells the best basis counts, then the fastest.
    """
    columns = list(equal)
    usable = cells[cells["instance"].eq(instance) & cells["status"].eq("ok") & cells["images_per_s"].notna()]
    ranked = usable.assign(rank=usable["basis"].map(BASES.index)).sort_values(
        ["rank", "images_per_s"], ascending=[True, False]
    )
    best = ranked.drop_duplicates(columns)[[*columns, "images_per_s"]]
    return rows[columns].merge(best, how="left", on=columns)["images_per_s"].to_numpy(float)


def throughput_behind_hours(rows: DataFrame, cells: DataFrame, instance: str) -> FloatArray:
    """Return, per row, the images/s of the machine on which a workload's hours were stated, to convert these hours.

    Parameters
    ----------
    rows, cells, instance
        Rows with COMPARABLE columns; `cells_to_price` at the row's batch size, else the machine's best; machine.
    """
    at_batch = reference_throughput(rows, cells, instance)
    any_batch = reference_throughput(rows, cells, instance, [name for name in COMPARABLE if name != "batch_size"])
    return np.where(np.isnan(at_batch), any_batch, at_batch)


def _cells_of_shared_machines(cells: DataFrame, work: Training | Runs, devices: int, instances: Machines) -> DataFrame:
    """Return the speeds of jobs of `devices` devices each that run side by side on larger machines, so that they share
    a bill. A machine of n devices runs floor(n / d) jobs of d devices; its rate is that of all of them together: jobs x
    rate of d devices x (1 - contention) if several run. The rate of d devices is that of a machine of d such devices
    (the machine itself, its base, the one it is equivalent to, another with the same device), otherwise an equal share
    of the machine's own (basis at best `scaled`). Machines with fewer devices have no row. `cells`: as `cells_to_price`
    makes them; only those of the model of `work`. Columns are added: `slots` (jobs at once), `figure_images_per_s`,
    `figure_gpus` (the figure behind the rate).
    """
    if work.model is not None:
        cells = cells[cells["model"] == work.model]
    exact = [name for name, machine in instances.items() if machine.gpus == devices]
    tables = [_exclusive_jobs(cells[cells["gpus"].eq(devices) & cells["instance"].isin(exact)])]
    usable = dict(list(cells[cells["status"] == "ok"].groupby(["instance", "gpus"])))
    for name, machine in instances.items():
        equivalent = instances.get(machine.equivalent_to or "", machine)
        related = (name, machine.base_instance, machine.equivalent_to, equivalent.base_instance)
        same_device = (relative for relative, facts in instances.items() if facts.gpu == machine.gpu)
        keys = ((relative, devices) for relative in (*related, *same_device))
        key = next((key for key in keys if key in usable), (name, machine.gpus))
        if machine.gpus <= devices or key not in usable:
            continue
        slots, figures = machine.gpus // devices, usable[key]
        is_shared, is_scaled = slots > 1, key[1] != devices
        factor = devices / key[1] * slots * (1.0 - work.contention * is_shared)
        note = f" ; {slots} jobs side by side on {machine.gpus} devices"
        note += f", {work.contention:.0%} less each" * is_shared
        shared = _exclusive_jobs(figures).assign(
            instance=name,
            gpus=machine.gpus,
            gpu=machine.gpu,
            source=figures["source"] + note,
            slots=float(slots),
            **{rate: figures[rate] * factor for rate in RATES},
        )
        if is_scaled:
            shared["basis"] = [weakest(basis, "scaled") for basis in figures["basis"]]
        tables.append(shared)
    return concat(tables)


def _exclusive_jobs(cells: DataFrame) -> DataFrame:
    """Return speeds (`cells_to_price`) of jobs that take whole machines: `slots` 1, `figure_*` its rate and devices."""
    return cells.assign(
        figure_images_per_s=cells["images_per_s"].astype(float), figure_gpus=cells["gpus"].astype(float), slots=1.0
    )


def price_cells(
    cells: DataFrame, offers: DataFrame, fees: DataFrame, workloads: Workloads, instances: Machines
) -> tuple[DataFrame, DataFrame]:
    """Return (costs, bills): what every workload costs at every known speed under every price, which all decisions
    read. `costs` has a row per workload, cell (a speed) and offer (a price): `hours` from start to end on one machine
    (waiting for a spot machine included), `machine_hours` what it runs, `usd` the bill. Bounds take price and time at
    their bounds. A cell without throughput, or a job that never finishes, keeps its row with missing hours and USD and
    the reason in `status`; if only the expensive bound never finishes, only that bound is missing. Where jobs run side
    by side on larger machines, `hours` is the time of the work, a job bears its share of the bill, and `side_*`
    describe their common rate. `bills` has a row per line of each bill whose USD is not zero.

    Parameters
    ----------
    cells, offers, fees, workloads, instances
        Tables of `cells_to_price` (images/s by instance, model and batch size) and `offers_in_usd` (prices, fees);
        workloads (plans are left to `plan_table`) and machines, by name.
    """
    machines, tables = join_offers(_exclusive_jobs(cells), offers), []
    for name, work in workloads.items():
        if isinstance(work, ProjectPlan):
            continue
        rows = machines
        if work.devices_per_job != "all":
            rows = join_offers(_cells_of_shared_machines(cells, work, work.devices_per_job, instances), offers)
        tables.append(_jobs(rows, cells, name, work))
    if not tables:
        return table_of([], COST_COLUMNS), table_of([], BILL_COLUMNS)
    jobs = concat(tables)
    with np.errstate(invalid="ignore", over="ignore"):  # The bill of a job that never finishes is infinite here.
        bills = {suffix: bill_lines(jobs, fees, suffix) for suffix in SUFFIXES}
        costs = _costs(jobs, bills)
    lines = DataFrame(bills[""].lines, index=jobs.index)
    lines = lines.where(np.isfinite(lines) & (lines.abs() > 1e-12)).unstack().dropna()
    identity = jobs[[name for name in BILL_COLUMNS if name not in ("line", "usd")]]
    rows = lines.rename("usd").rename_axis(["line", "row"]).reset_index().join(identity, on="row")
    return costs, rows[list(BILL_COLUMNS)]


def _jobs(rows: DataFrame, cells: DataFrame, name: str, work: Training | Runs) -> DataFrame:
    """Return a workload's rows (speed x price) with what its bill needs, read by `bill_lines`: `work_hours` of one
    start (with bounds), `starts` one after another, `share` of a machine's bill that the job bears, `spread_months`.
    `rows`: of `join_offers`; `cells`: all speeds, to convert hours stated for another machine.
    """
    if work.model is not None:
        rows = rows[rows["model"] == work.model]
    slots = rows["slots"]
    jobs = rows.assign(workload=name, starts=1.0, in_a_row=1.0, share=1.0 / slots, spread_months=np.nan)
    if isinstance(work, Runs):
        jobs["starts"] = np.ceil(work.runs / slots - ROUNDING)
        jobs["share"] = np.minimum(1.0, work.runs / slots)
        jobs["spread_months"] = np.nan if work.months is None else work.months
    for suffix in SUFFIXES:
        rate = _rate(rows, OPPOSITE[suffix]) / slots
        with np.errstate(divide="ignore"):  # A throughput whose interval begins at 0 may take forever.
            if isinstance(work, Training):
                hours = work.samples / rate / HOUR_S
            elif work.instance is None:
                hours = pd.Series(work.hours, rows.index)
            else:
                hours = work.hours * throughput_behind_hours(rows, cells, work.instance) / rate
        jobs[f"work_hours{suffix}"] = hours
    return jobs


def _rate(rows: DataFrame, suffix: str) -> pd.Series:
    """Return images/s of each row of cells at a bound (`_low`, `_high`; '': central); central if it has no interval."""
    return rows[f"images_per_s{suffix}"].astype(float).fillna(rows["images_per_s"].astype(float))


def _costs(jobs: DataFrame, bills: Mapping[str, Bill]) -> DataFrame:
    """Return the table costs, from which options are made, one row per row of `_jobs`: hours, USD, kWh, images per USD,
    each with bounds (`_low`, `_high`), or in `status` why not. `bills`: the priced jobs by bound ('', `_low`, `_high`).
    """
    has_hours = (jobs["status"].eq("ok") & jobs["work_hours"].notna()).to_numpy()
    finishes = np.isfinite(bills[""].hours) | ~has_hours
    costs = jobs.copy()
    for suffix, bill in bills.items():
        is_priced = has_hours & finishes & np.isfinite(bill.usd) & np.isfinite(bill.hours)
        values = {"hours": bill.hours, "usd": bill.usd, "machine_hours": bill.machine_hours}
        values |= {name: jobs[f"{name}_per_hour{suffix}"] * bill.machine_hours for name in ("kwh", "kg_co2e")}
        for name, value in values.items():
            costs[f"{name}{suffix}"] = np.where(is_priced, value, np.nan)
        costs[f"images_per_usd{suffix}"] = _images_per_usd(jobs, suffix, has_hours)
    reason = jobs["status"].where(jobs["status"] != "ok", NO_FIGURE)
    costs["status"] = np.where(has_hours, np.where(finishes, "ok", NEVER), reason)
    costs["basis"] = [weakest(*bases) for bases in zip(jobs["basis_cell"], jobs["basis"], strict=True)]
    costs["source"] = jobs["source_cell"] + " ; " + jobs["source"]
    costs["gpu"] = jobs["gpu_cell"].where(jobs["gpu_cell"].notna(), jobs["gpu"])
    is_side_by_side = jobs["slots"] > 1
    costs["jobs_at_once"] = jobs["slots"].where(is_side_by_side)
    for name in (*RATES, "figure_images_per_s", "figure_gpus", "basis", "source"):
        costs[f"side_{name}"] = jobs.get(f"{name}_cell", jobs[name]).where(is_side_by_side)
    return costs[list(COST_COLUMNS)]


def _images_per_usd(jobs: DataFrame, suffix: str, has_hours: np.ndarray) -> FloatArray:
    """Return images per USD, by which machines are ranked, per job: 3600 images/s / (USD/hour x interruption overhead).
    `suffix`: '' or a bound (`_low`, `_high`); `has_hours`: whether a job has hours; NaN if not priced.
    """
    opposite, interval = OPPOSITE[suffix], jobs["every_s"].to_numpy(float) / HOUR_S
    price, rate, checkpoint, restore = numbers(
        jobs, f"usd_per_hour{opposite}", f"interruptions_per_hour{opposite}", "checkpoint_s", "restore_s"
    )
    dump = np.where(rate > 0, checkpoint / HOUR_S, 1.0)
    paid = price * overhead(rate, dump, restore / HOUR_S, interval)
    is_priced = has_hours & np.isfinite(paid) & (price > 0)
    return np.where(is_priced, HOUR_S * _rate(jobs, suffix) / np.where(is_priced, paid, 1.0), np.nan)
