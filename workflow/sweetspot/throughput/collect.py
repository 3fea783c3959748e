"""From run files to one row for each cell: mean step time over independent runs, with its interval."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sweetspot.cells import CELL_COLUMNS, MEASURED_TEXTS, PROTOCOL, USABLE
from sweetspot.study.instances import nodes_of
from sweetspot.throughput.best import TABLE_COLUMNS
from sweetspot.throughput.run_files import UNKNOWN, check_machines
from sweetspot.throughput.spread import spread_of_cells
from sweetspot.transformers import unit_of
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance

CELL = list(CELL_COLUMNS)
OLDER = "a run might then end after five steps however short, and an interval of several steps counted as one"
INTERVAL_FACTOR = 2.0  # an interval of more than this factor either side is explained by a warning


def measured_cells(runs: pd.DataFrame, instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """Average the runs of each cell.

    Parameters
    ----------
    runs
        Rows of `summarise_runs`.
    instances
        Machines by name, for the number of nodes of a cell.

    Returns
    -------
    DataFrame
        TABLE_COLUMNS, one row for each cell. Throughput is samples per step (batch x devices unless the runs say) /
        mean over runs of the mean step time: times are averaged, not rates. The interval is the 95 % t interval of the
        logarithm of the runs' mean times, by the spread of `spread_of_cells`, with `interval_df` degrees of freedom.
        `as_of` is the day of the last run. A cell whose runs all failed has a status and no figure.

    Raises
    ------
    UserError
        If a cell was measured on machines of two kinds.
    """
    check_machines(runs, instances)
    cells = _average(runs)
    cells = cells.join(spread_of_cells(cells))
    devices = _devices_by_instance(cells)
    rows = list(cells.itertuples())
    table = cells.assign(
        images_per_s_low=cells["images_per_s"] / np.exp(cells["half_width"]),
        images_per_s_high=cells["images_per_s"] * np.exp(cells["half_width"]),
        basis="measured",
        nodes=[nodes_of(instances, row.instance, row.gpus) for row in rows],
        warnings=[joined([warning(*pair) for pair in _warnings(row, devices[row.instance])]) for row in rows],
    )
    return table.reindex(columns=list(TABLE_COLUMNS))


def _average(runs: pd.DataFrame) -> pd.DataFrame:
    """Combine the runs of each cell; only usable runs count for figures, devices and machines."""
    is_usable = runs["status"].isin(USABLE)
    usable = runs[is_usable].assign(
        log_seconds=lambda run: np.log(run["seconds"]), squared_error=lambda run: run["step_error"] ** 2
    )
    cells = runs.groupby(CELL).agg(
        any_gpu=("gpu", "first"),
        protocol=("protocol", "first"),
        statuses=("status", set),
        logical=("logical", "any"),
        xla=("xla", "any"),
        as_of=("measured_on", _latest),
        path=("path", "first"),
        run_warnings=("warnings", lambda lists: list(dict.fromkeys(chain.from_iterable(lists.dropna())))),
    )
    figures: dict[str, Any] = dict.fromkeys(("gpu", "samples_per_step", "unit"), "first") | {
        "run": "count",
        "peak_memory_gib": "max",
    }
    figures |= dict.fromkeys(("seconds", "joules_per_sample", "others_cpu_share", "squared_error"), "mean")
    figures |= {"log_seconds": "var", **dict.fromkeys(("machine", "host", *MEASURED_TEXTS), _distinct)}
    means = usable.groupby(CELL).agg(figures).rename(columns={"run": "runs", "log_seconds": "variance"})
    failed = runs[~is_usable].drop_duplicates(CELL).set_index(CELL)[["status", "message"]].add_prefix("failed_")
    cells = cells.join(means).join(failed).reset_index()
    samples = cells["samples_per_step"].fillna(cells["batch_size"] * cells["gpus"])
    is_unstable = pd.Series(["unstable" in statuses for statuses in cells["statuses"]])
    gpu = cells["gpu"].fillna(cells["any_gpu"])
    machines, hosts = ([_list(values) for values in cells[name]] for name in ("machine", "host"))
    return cells.assign(
        gpu=gpu,
        runs=cells["runs"].fillna(0).astype(int),
        images_per_s=samples / cells["seconds"],
        step_error=np.sqrt(cells["squared_error"].astype(float)),
        status=cells["failed_status"].where(cells["runs"].isna(), is_unstable.map({True: "unstable", False: "ok"})),
        is_unstable=is_unstable,
        machines=machines,
        hosts=hosts,
        machine_key=list(zip(cells["instance"], gpu, map(tuple, machines), cells["protocol"], strict=True)),
        unit=cells["unit"].fillna(cells["model"].map(unit_of)),
        source=cells["path"].str.replace(r"/run~\d+\.parquet$", "", regex=True),
        **{name: [" ; ".join(_list(values)) or None for values in cells[name]] for name in MEASURED_TEXTS},
    )


def _distinct(values: pd.Series) -> list[str]:
    return sorted(set(values.dropna()))


def _latest(days: pd.Series) -> str | None:
    return max(days.dropna(), default=None)


def _list(values: Any) -> list[str]:
    """Return a cell that holds a list; [] for a null, of cells without a usable run."""
    return values if isinstance(values, list) else []


def _devices_by_instance(cells: pd.DataFrame) -> dict[str, list[str]]:
    """List the devices that the usable runs of each instance name; where they agree, the machines."""
    devices = {}
    for name, rows in cells.groupby("instance"):
        usable = rows[(rows["runs"] > 0) & (rows["gpu"] != UNKNOWN)]
        names = _distinct(usable["gpu"])
        devices[str(name)] = names if len(names) > 1 else _distinct(usable["machines"].explode())
    return devices


def _warnings(row: Any, devices: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the warnings of a cell: failures, a missing or wide interval, mixed machines, and those of its runs."""
    if not pd.isna(row.failed_status):
        yield row.failed_status, "no reason is given" if pd.isna(row.failed_message) else row.failed_message
    if row.is_unstable:
        yield "unstable", "the step time of a run was not steady"
    if row.runs == 1:
        yield "n_is_1", "one run, no interval"
    if row.own_spread:
        text = f"its {row.runs} runs differ by more than those of this machine's other cells: the interval is its own"
        yield "own_spread", text
    if row.half_width > math.log(INTERVAL_FACTOR):
        text = f"the figure is known within a factor {math.exp(row.half_width):.3g} only: runs spread by "
        text += f"{math.expm1(row.spread):.0%} (one standard deviation, {row.interval_df:.0f} degrees of freedom)"
        yield "wide_interval", f"{text}; more runs narrow it"
    if row.protocol < PROTOCOL:
        yield "older_protocol", f"measured under protocol {row.protocol}, now {PROTOCOL}: {OLDER}"
    if len(row.hosts) > 1:
        text = f"its runs were made on {' and '.join(row.hosts)}, which name the same device"
        text += f" but are of several kinds: {' and '.join(row.machines)}" if len(row.machines) > 1 else ""
        yield "several_hosts", text
    if len(devices) > 1:
        yield "mixed_devices", f"cells of this instance were measured on {' and '.join(devices)}"
    yield from row.run_warnings
    if row.logical:
        yield "logical_devices", "parts of one processor, not separate devices"
