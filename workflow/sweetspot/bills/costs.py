"""Costs: every cell x offer x workload, priced in one pass over columns; and the lines of each bill."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sweetspot.bills.lines import bill_lines, numbers, reference_rate
from sweetspot.bills.renting import HOUR_S, Array
from sweetspot.bills.spot import overhead
from sweetspot.cells import BASES, CELL_COLUMNS, USABLE
from sweetspot.study.price_list import PriceList
from sweetspot.study.workloads import Plan, Runs, Training

COST_COLUMNS = (
    *CELL_COLUMNS, "purchase", "usd_per_hour", "usd_per_hour_low", "usd_per_hour_high",
    "images_per_usd", "images_per_usd_low", "images_per_usd_high", "workload", "hours", "hours_low", "hours_high",
    "usd", "usd_low", "usd_high", "basis", "as_of", "price_list", "provider", "gpu", "status",
    "machine_hours", "source",
)  # fmt: skip
BILL_COLUMNS = ("price_list", "instance", "purchase", "workload", *CELL_COLUMNS[1:], "line", "usd")
ENDS = ("", "_low", "_high")
NEVER = "never finishes"
Workload = Training | Runs | Plan


def all_cells(
    throughput: pd.DataFrame, extrapolation: pd.DataFrame | None, framework: str = "tensorflow"
) -> pd.DataFrame:
    """The cells to be priced: the throughput table, and headline extrapolations of cells that it lacks."""
    columns = [
        *CELL_COLUMNS,
        "images_per_s",
        "images_per_s_low",
        "images_per_s_high",
        "basis",
        "status",
        "source",
        "gpu",
    ]
    if "logical" in throughput:  # parts of one processor show how the workflow measures; they are no machine to pay for
        throughput = throughput[~throughput["logical"].astype(bool)]
    known = throughput.reindex(columns=columns)
    # An unstable figure is priced; its warning stays in throughput.parquet.
    known["status"] = known["status"].mask(known["status"].isin(USABLE), "ok")
    if extrapolation is None or extrapolation.empty:
        return known
    headline = extrapolation.get("headline", pd.Series(True, index=extrapolation.index)).astype(bool)
    added = extrapolation[headline].assign(status="ok", basis="extrapolated")
    for name, value in (("framework", framework), ("variant", "default"), ("source", "extrapolation"), ("gpu", None)):
        if name not in added:
            added[name] = value
    key = ["instance", "model", "batch_size", "gpus", "precision"]
    there = known[known["status"] == "ok"].set_index(key).index
    added = added[~added.set_index(key).index.isin(there)].reindex(columns=columns)
    return pd.concat([known, added], ignore_index=True) if len(added) else known


def cells_of_known_hours(cells: pd.DataFrame, offers: pd.DataFrame, workloads: Mapping[str, Workload]) -> pd.DataFrame:
    """`cells` and one nameless cell for each offered machine without any, if a workload needs no throughput.

    So jobs of known hours are priced on machines that nobody has measured; their images per USD are null.
    """
    if not any(isinstance(work, Runs) and work.instance is None and work.model is None for work in workloads.values()):
        return cells
    bare = offers[~offers["instance"].isin(cells["instance"])].drop_duplicates("instance")
    if bare.empty:
        return cells
    added = bare[["instance", "gpu"]].assign(
        framework="none", model="none", batch_size=1, gpus=bare["gpus"].astype("int64"), precision="fp32",
        variant="default", images_per_s=np.nan, images_per_s_low=np.nan, images_per_s_high=np.nan, basis="published",
        status="ok", source="hours of the workload",
    )  # fmt: skip
    return pd.concat([cells, added], ignore_index=True) if len(cells) else added.reset_index(drop=True)


def price_cells(
    cells: pd.DataFrame, offers: pd.DataFrame, workloads: Mapping[str, Workload], prices: PriceList
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Costs (COST_COLUMNS) and bills (BILL_COLUMNS) of every cell under every offer of its instance.

    `hours` is the time from start to end on one machine (waiting for a spot machine included), `machine_hours`
    what it runs, `usd` the bill. Low and high ends take the price and the time at their ends. A cell without a
    figure, or a job that never finishes, keeps its row with null hours and USD and says so in `status`; where
    only the dear end never finishes, only that end is null.
    """
    cells = cells_of_known_hours(cells, offers, workloads)
    joined = cells.merge(offers.drop(columns="gpus"), on="instance", suffixes=("_cell", ""))
    parts = [_jobs(joined, cells, name, work) for name, work in workloads.items() if not isinstance(work, Plan)]
    parts = [part for part in parts if len(part)]
    if not parts:
        return pd.DataFrame(columns=list(COST_COLUMNS)), pd.DataFrame(columns=list(BILL_COLUMNS))
    jobs = pd.concat(parts, ignore_index=True)
    with np.errstate(invalid="ignore", over="ignore"):  # a job that never finishes has an infinite bill until _costs
        bills = {end: bill_lines(jobs, end, prices) for end in ENDS}
    return _costs(jobs, bills), _lines(jobs, bills[""][0])


def _jobs(joined: pd.DataFrame, cells: pd.DataFrame, name: str, work: Training | Runs) -> pd.DataFrame:
    """Rows of one workload with `work_hours` per start at both ends of the throughput, `starts`, `spread_months`."""
    rows = joined if work.model is None else joined[joined["model"] == work.model]
    rows = rows.assign(workload=name, starts=1.0, spread_months=np.nan)
    rate = {end: rows[f"images_per_s{end}"].to_numpy(float) for end in ENDS}
    rate = {end: np.where(np.isnan(rate[end]), rate[""], rate[end]) for end in ENDS}
    opposite = {"": "", "_low": "_high", "_high": "_low"}
    if isinstance(work, Training):
        return rows.assign(**{f"work_hours{end}": work.samples / rate[opposite[end]] / HOUR_S for end in ENDS})
    rows = rows.assign(starts=float(work.runs), spread_months=np.nan if work.months is None else work.months)
    if work.instance is None:
        return rows.assign(**{f"work_hours{end}": work.hours for end in ENDS})
    reference = reference_rate(rows, cells, work.instance)
    return rows.assign(**{f"work_hours{end}": work.hours * reference / rate[opposite[end]] for end in ENDS})


def _costs(jobs: pd.DataFrame, bills: Mapping[str, tuple[dict[str, Array], Array, Array]]) -> pd.DataFrame:
    table = pd.DataFrame({name: jobs[name] for name in (*CELL_COLUMNS, "purchase", "workload", "as_of", "price_list")})
    ok = (jobs["status"] == "ok").to_numpy() & ~np.isnan(jobs["work_hours"].to_numpy(float))
    finishes = np.isfinite(bills[""][1]) | ~ok
    for end, opposite in (("", ""), ("_low", "_high"), ("_high", "_low")):
        lines, hours, running = bills[end]
        with np.errstate(invalid="ignore"):
            usd = sum(lines.values())
        alive = ok & finishes & np.isfinite(usd) & np.isfinite(hours)
        table[f"usd_per_hour{end}"] = jobs[f"usd_per_hour{end}"].to_numpy(float)
        table[f"hours{end}"] = np.where(alive, hours, np.nan)
        table[f"usd{end}"] = np.where(alive, usd, np.nan)
        table[f"images_per_usd{end}"] = _images_per_usd(jobs, end, opposite, ok)
        if end == "":
            table["machine_hours"] = np.where(alive, running, np.nan)
    none = np.where(jobs["status"] == "ok", "no figure", jobs["status"])
    table["status"] = np.where(ok, np.where(finishes, "ok", NEVER), none)
    rank = {basis: number for number, basis in enumerate(BASES)}
    weakest = np.maximum(jobs["basis_cell"].map(rank).fillna(0), jobs["basis"].map(rank).fillna(0)).astype(int)
    table["basis"] = np.array(BASES)[weakest]
    table["source"] = jobs["source_cell"] + " ; " + jobs["source"]
    table["provider"] = jobs["provider"]
    table["gpu"] = jobs["gpu_cell"].fillna(jobs["gpu"])
    return table[list(COST_COLUMNS)]


def _images_per_usd(jobs: pd.DataFrame, end: str, opposite: str, ok: np.ndarray) -> Array:
    """3600 R / (hourly price x overhead of interruptions of a long job); fees and rounding belong to a workload."""
    rate = jobs[f"images_per_s{end}"].to_numpy(float)
    rate = np.where(np.isnan(rate), jobs["images_per_s"].to_numpy(float), rate)
    often, dump, restore = numbers(jobs, f"interruptions_per_hour{opposite}", "checkpoint_s", "restore_s")
    every = jobs["every_s"].astype("float64").to_numpy() / HOUR_S
    factor = overhead(often, np.where(often > 0, dump / HOUR_S, 1.0), restore / HOUR_S, every)
    price = jobs[f"usd_per_hour{opposite}"].to_numpy(float)
    return np.where(ok & np.isfinite(factor), HOUR_S * rate / (price * factor), np.nan)


def _lines(jobs: pd.DataFrame, lines: Mapping[str, Array]) -> pd.DataFrame:
    """Long form of the lines that are not zero; an owned machine's use is split into possession and electricity."""
    named = jobs[[name for name in BILL_COLUMNS if name not in ("line", "usd")]]
    own = (jobs["purchase"] == "own").to_numpy()
    kw, pue, kwh, price = numbers(jobs, "kw", "pue", "usd_per_kwh", "usd_per_hour")
    share = np.where(own, np.divide(kw * pue * kwh, price, out=np.zeros_like(price), where=price > 0), 0.0)
    split = dict(lines)
    with np.errstate(invalid="ignore"):
        split["electricity"] = lines["use"] * share
        split["possession"] = np.where(own, lines["use"] - split["electricity"], 0.0)
    split["use"] = np.where(own, 0.0, lines["use"])
    parts = []
    for line, usd in split.items():
        shown = np.isfinite(usd) & (np.abs(usd) > 1e-12)
        parts.append(named[shown].assign(line=line, usd=usd[shown]))
    return pd.concat(parts, ignore_index=True)[list(BILL_COLUMNS)]
