"""Costs: every cell x offer x workload, priced in one pass over columns; and the lines of each bill."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sweetspot.bills.columns import ENDS, Array, Columns, from_rows, numbers, objects, ranged, size, stacked, take
from sweetspot.bills.renting import HOUR_S, JOB_COLUMNS, ROUNDING, Bill, bill_lines, overhead
from sweetspot.cells import BASES, CELL_COLUMNS, USABLE, weakest
from sweetspot.study.instances import Instance
from sweetspot.study.workloads import Plan, Runs, Training

RATES = ranged("images_per_s")
FIGURES = (*CELL_COLUMNS, *RATES, "basis", "status", "source")
THROUGHPUT_COLUMNS = (*FIGURES, "gpu", "logical")
EXTRAPOLATION_COLUMNS = (*(name for name in FIGURES if name != "status"), "headline")
ALIKE = ("framework", "model", "batch_size", "precision")  # figures that may be held against each other
Workload = Training | Runs | Plan


def all_cells(throughput: Columns, extrapolation: Columns) -> Columns:
    """The cells to be priced: the throughput table, and headline extrapolations of cells that it lacks.

    Columns: FIGURES and `gpu`. `throughput` has THROUGHPUT_COLUMNS, `extrapolation` EXTRAPOLATION_COLUMNS.
    """
    # Parts of one processor show how the workflow measures; they are no machine to pay for.
    known = take(throughput, ~throughput["logical"].astype(bool))
    # An unstable figure is priced; its warning stays in throughput.parquet.
    known["status"] = objects("ok" if status in USABLE else status for status in known["status"])
    found = size(extrapolation)
    added = extrapolation | {"status": objects(["ok"] * found), "gpu": objects([None] * found)}
    added["basis"] = objects(["extrapolated"] * found)
    key = ("instance", "framework", "model", "batch_size", "gpus", "precision")
    there = set(keys(take(known, known["status"] == "ok"), key))
    lacking = np.array([cell not in there for cell in keys(added, key)], dtype=bool)
    added = take(added, lacking & added["headline"].astype(bool))
    return stacked([{name: table[name] for name in (*FIGURES, "gpu")} for table in (known, added)])


def cells_of_known_hours(cells: Columns, offers: Columns, workloads: Mapping[str, Workload]) -> Columns:
    """`cells` and one nameless cell for each offered machine without any, if a workload needs no throughput.

    So jobs of known hours are priced on machines that nobody has measured; their images per USD are null.
    """
    if not any(isinstance(work, Runs) and work.instance is None and work.model is None for work in workloads.values()):
        return cells
    measured, (_, first) = set(cells["instance"]), np.unique(offers["instance"], return_index=True)
    rows = [row for row in sorted(first) if offers["instance"][row] not in measured]
    bare = take(offers, np.array(rows, dtype=int))
    nameless = {
        "framework": "none", "model": "none", "batch_size": 1, "precision": "fp32", "variant": "default",
        **dict.fromkeys(RATES, np.nan), "basis": "published", "status": "ok", "source": "hours of the workload",
    }  # fmt: skip
    filled = {name: np.full(len(rows), value, dtype=cells[name].dtype) for name, value in nameless.items()}
    added = bare | filled
    return stacked([cells, {name: added[name] for name in cells}])


def offered(cells: Columns, offers: Columns, names: Sequence[str]) -> Columns:
    """One row per cell and offer of its instance, in the order of the cells, then of the offers.

    Columns of the cells and `names` of the offers; a column that both have is the cell's own as `<name>_cell`.
    """
    rows_of: dict[str, list[int]] = {}
    for row, instance in enumerate(offers["instance"]):
        rows_of.setdefault(instance, []).append(row)
    pairs = [(cell, offer) for cell, name in enumerate(cells["instance"]) for offer in rows_of.get(name, ())]
    left, right = np.array(pairs, dtype=int).reshape(-1, 2).T
    own = {f"{name}_cell" if name in names else name: values[left] for name, values in cells.items()}
    return own | {name: offers[name][right] for name in names}


def reference_rate(rows: Columns, cells: Columns, instance: str, alike: Sequence[str] = ALIKE) -> Array:
    """Throughput of `instance` for each row's framework, model, batch and precision (`alike`); nan where it has none.

    Of several cells of the instance the one with the best basis counts, then the fastest.
    """
    own = take(cells, (cells["instance"] == instance) & (cells["status"] == "ok") & ~np.isnan(cells["images_per_s"]))
    best: dict[tuple[object, ...], tuple[int, float]] = {}
    for cell, basis, rate in zip(keys(own, alike), own["basis"], own["images_per_s"], strict=True):
        figure = (BASES.index(basis), -float(rate))
        best[cell] = min(figure, best.get(cell, figure))
    rates = {cell: -slowness for cell, (_, slowness) in best.items()}
    return np.array([rates.get(cell, np.nan) for cell in keys(rows, alike)], dtype=float)


def rate_of_hours(rows: Columns, cells: Columns, instance: str) -> Array:
    """Throughput of the machine on which a workload's hours hold, for each row; nan where it has none.

    At the row's batch; where it has no figure there, at the batch of its own best figure: each machine has its own.
    """
    found, alike = reference_rate(rows, cells, instance), [name for name in ALIKE if name != "batch_size"]
    return np.where(np.isnan(found), reference_rate(rows, cells, instance, alike), found)


def keys(table: Columns, names: Sequence[str]) -> list[tuple[object, ...]]:
    """The values of some columns, row by row."""
    return list(zip(*(table[name].tolist() for name in names), strict=True))


def with_slots(cells: Columns, work: Training | Runs, wanted: int, instances: Mapping[str, Instance]) -> Columns:
    """The cells that `work` is priced on where a job takes `wanted` devices, with columns `slots`: jobs that their
    machine works on at once, and `figure_images_per_s`, `figure_gpus`: the figure that their rate is made of, and of
    how many devices.

    A machine of n devices works on floor(n / d) jobs of d devices each, and the rate of its cell is that of all of them
    together: slots x the rate of d devices alone x (1 - contention), where several run. The rate of d devices alone is
    that of a machine of d such devices: itself, its `base_instance`, that of the machine it is equivalent to, another
    of the same device; else an equal share of its own (basis at best `scaled`). A machine of fewer than d devices has
    no cell. Nothing here enters the scaling fit.
    """
    cells = cells if work.model is None else take(cells, cells["model"] == work.model)
    of_that_size = [name for name, machine in instances.items() if machine.gpus == wanted]  # not a part of a larger one
    parts = [one_at_a_time(take(cells, (cells["gpus"] == wanted) & np.isin(cells["instance"], of_that_size)))]
    here = {name: np.flatnonzero((cells["instance"] == name) & (cells["status"] == "ok")) for name in instances}
    for name, machine in instances.items():
        for other, gpus in [*((other, wanted) for other in _relatives(name, instances)), (name, machine.gpus)]:
            rows = here[other][cells["gpus"][here[other]] == gpus]
            if machine.gpus > wanted and len(rows):
                parts.append(_side_by_side(take(cells, rows), gpus, name, machine, wanted, work.contention))
                break
    return stacked(parts)


def one_at_a_time(cells: Columns) -> Columns:
    """The cells with the columns of `with_slots`, where one job takes all devices of its machine."""
    own = {"figure_images_per_s": cells["images_per_s"], "figure_gpus": cells["gpus"].astype(float)}
    return cells | own | {"slots": np.ones(size(cells))}


def _relatives(name: str, instances: Mapping[str, Instance]) -> Iterator[str]:
    """Machines with the same devices: itself, its base, its twin and the twin's base, others of that device."""
    yield name
    machine = instances[name]
    twin = instances[machine.equivalent_to] if machine.equivalent_to else None
    named = (machine.base_instance, machine.equivalent_to, twin.base_instance if twin else None)
    yield from (other for other in named if other)
    yield from (other for other, one in instances.items() if one.gpu == machine.gpu and other not in (name, *named))


def _side_by_side(cells: Columns, gpus: int, name: str, machine: Instance, wanted: int, contention: float) -> Columns:
    """Cells of `gpus` devices as those of machine `name` with all its slots at work, each of `wanted` devices."""
    slots, count = machine.gpus // wanted, size(cells)
    factor = wanted / gpus * slots * (1.0 - contention if slots > 1 else 1.0)
    less = f", {contention:.0%} less each" if slots > 1 else ""
    named = {
        "instance": objects([name] * count),
        "gpus": np.full(count, machine.gpus, dtype=cells["gpus"].dtype),
        "gpu": objects([machine.gpu] * count),
        "basis": objects(own if gpus == wanted else weakest(own, "scaled") for own in cells["basis"]),
        "source": objects(
            f"{source} ; {slots} jobs side by side on {machine.gpus} devices{less}" for source in cells["source"]
        ),
    }
    rates = {rate: cells[rate] * factor for rate in RATES}
    return one_at_a_time(cells) | rates | named | {"slots": np.full(count, float(slots))}


COST_COLUMNS = (
    *CELL_COLUMNS, "purchase", *ranged("usd_per_hour", "images_per_usd"), "workload", *ranged("hours", "usd"), "basis",
    "as_of", "price_list", "provider", "gpu", "status", "machine_hours", "source", *ranged("kwh", "kg_co2e"),
    "power_basis", "jobs_at_once", *ranged("side_images_per_s"), "side_basis", "side_source",
    "side_figure_images_per_s", "side_figure_gpus",
)  # fmt: skip
BILL_COLUMNS = ("price_list", "instance", "purchase", "workload", *CELL_COLUMNS[1:], "line", "usd")
# What a job takes is what an hour takes times the hours in which its machine runs.
HOURLY = {"kwh": "kwh_per_hour", "kg_co2e": "kg_co2e_per_hour"}
PASSED_ON = ("purchase", "as_of", "price_list", "provider", "power_basis")  # columns of an offer, as they are
OFFER_SHOWN = (
    *PASSED_ON, "basis", "source", "gpu",
    *ranged(*HOURLY.values()), *JOB_COLUMNS,
)  # fmt: skip
# The cheap end of a bill takes the fast end of the throughput.
OPPOSITE = {"": "", "_low": "_high", "_high": "_low"}
NO_FIGURE, NEVER = "no figure", "never finishes"


def price_cells(
    cells: Columns,
    offers: Columns,
    fees: Columns,
    workloads: Mapping[str, Workload],
    instances: Mapping[str, Instance],
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
    parts = []
    for name, work in workloads.items():
        if not isinstance(work, Plan):
            wanted = work.devices_per_job
            rows = (
                whole if wanted == "all" else offered(with_slots(cells, work, wanted, instances), offers, OFFER_SHOWN)
            )
            parts.append(_jobs(rows, cells, name, work))
    if not parts:
        return from_rows([], COST_COLUMNS), from_rows([], BILL_COLUMNS)
    jobs = stacked(parts)
    with np.errstate(invalid="ignore", over="ignore"):  # a job that never finishes has an infinite bill until _costs
        bills = {end: bill_lines(jobs, fees, end).borne(jobs["share"]) for end in ENDS}
        return _costs(jobs, bills), _lines(jobs, bills[""])


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
        with np.errstate(divide="ignore"):  # an interval that begins at 0: it may take for ever
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
    for name in (*RATES, "figure_images_per_s", "figure_gpus"):
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
