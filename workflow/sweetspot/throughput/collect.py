"""From run files to one row for each cell: mean step time over independent runs, with its interval."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sweetspot.cells import CELL_COLUMNS, MEASURED_NUMBERS, MEASURED_TEXTS, PROTOCOL, USABLE
from sweetspot.errors import UserError
from sweetspot.harness.runfile import is_damaged
from sweetspot.study.instances import nodes_of
from sweetspot.study.transformers import unit_of
from sweetspot.throughput.best import TABLE_COLUMNS
from sweetspot.throughput.run_checks import (
    REMEDY,
    RUN_COLUMNS,
    UNKNOWN,
    check_cells,
    check_machines,
    check_run,
    parse_warnings,
)
from sweetspot.throughput.spread import spread_of_cells
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance

KEY = list(CELL_COLUMNS)
# The columns of a run file, and how Arrow's names of their types begin; those of NEWER may be missing.
TEXTS = ("status", "message", "gpu", "warnings", "measured_on", "host", "machine", "unit", *MEASURED_TEXTS)
COUNTS = ("batch_size", "gpus", "run", "protocol", "step", "steps", "samples_per_step")
FLAGS = ("logical", "xla")
TYPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*CELL_COLUMNS, *TEXTS), ("string", "large_string")),
    **dict.fromkeys(COUNTS, ("int", "uint")),
    **dict.fromkeys(FLAGS, ("bool",)),
    **dict.fromkeys(("seconds", *MEASURED_NUMBERS), ("float", "double", "halffloat")),
}
NEWER = ("steps", "products", "others_cpu_share")
STEP_COLUMNS = ("step", "steps", "seconds")
OLDER = "a run might then end after five steps however short, and an interval of several steps counted as one"
WIDE = 2.0  # an interval of more than this factor either side is explained by a warning


def summarise_runs(files: Sequence[str]) -> pd.DataFrame:
    """Read run files, one row for each.

    Parameters
    ----------
    files
        Paths of Parquet files.

    Returns
    -------
    DataFrame
        The columns of a run file but for `step` and `steps`, null where the file does not say. `seconds`: mean of the
        timed steps, each counted once. `step_error`: relative standard error of that mean, null below two intervals.
        `path`: the file. `warnings`: JSON text, a list of [rule, message].

    Raises
    ------
    UserError
        If a file is no run file or was damaged since, or `run_checks` refuses it.

    """
    runs = pd.DataFrame([_summarise_run(file) for file in files])
    numbers = dict.fromkeys(("seconds", "step_error", "samples_per_step", *MEASURED_NUMBERS), "float64")
    runs = runs.astype(dict.fromkeys(TEXTS, object) | numbers)
    runs = runs.sort_values([*RUN_COLUMNS, "path"], kind="stable", ignore_index=True)
    check_cells(runs)
    return runs


def _summarise_run(file: str) -> dict[str, Any]:
    table = _read_run(file)
    first = table.slice(0, 1).to_pylist()[0]
    run = {name: first.get(name) for name in TYPES if name not in STEP_COLUMNS}
    timed = table.column("seconds").drop_null().to_numpy()
    steps = np.ones(len(timed))
    if "steps" in table.column_names:
        valid = table.column("seconds").is_valid()
        steps = table.column("steps").fill_null(1).filter(valid).to_numpy().astype(float)
    count = len(timed)
    with np.errstate(all="ignore"):  # a value that is not finite is refused below
        mean = float((timed * steps).sum() / steps.sum()) if count else None
        spread = math.sqrt(count / (count - 1)) * np.linalg.norm((timed - mean) * steps) if count > 1 else None
        error = None if spread is None else float(spread / steps.sum() / mean)
    check_run({**run, "seconds": mean, "shortest_s": timed.min() if count else None, "path": file})
    return {**run, **{name: bool(run[name]) for name in FLAGS}, "seconds": mean, "step_error": error, "path": file}


def _read_run(file: str) -> Any:
    """Read one run file as an Arrow table whose columns have the types of a run file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        raw = Path(file).read_bytes()
    except OSError as error:
        raise UserError(f"{file}: cannot be read ({error.strerror})") from None
    # Checked first: a bit that flipped may read as another figure, or end the reader.
    if is_damaged(raw):
        raise UserError(f"{file}: differs from what was written (its checksum does not fit); {REMEDY}")
    try:
        table = pq.ParquetFile(pa.BufferReader(raw)).read(use_threads=False)
        for text in chain.from_iterable((table.schema.metadata or {}).items()):
            text.decode()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: not a whole run file ({' '.join(str(error).split())[:120]}); {REMEDY}") from None
    fault = _schema_fault(table.schema.remove_metadata()) if table.num_rows else "has no rows"
    if fault:
        raise UserError(f"{file}: {fault}; {REMEDY}")
    return table


@cache
def _schema_fault(schema: Any) -> str:
    """Name the first column that is missing or has another type; '' if there is none."""
    for name, beginnings in TYPES.items():
        if name not in schema.names:
            if name not in NEWER:
                return f"column '{name}' is missing from the run file"
        elif not str(schema.field(name).type).startswith((*beginnings, "null")):
            return f"column '{name}' has type {schema.field(name).type}"
    return ""


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
    cells = _group_runs(runs)
    rate = cells["samples_per_step"].fillna(cells["batch_size"] * cells["gpus"]) / cells["seconds"]
    machines = cells["machines"].map(" and ".join)
    machine_key = list(zip(cells["instance"], cells["gpu"], machines, cells["protocol"], strict=True))
    cells = cells.join(spread_of_cells(cells.assign(machine_key=machine_key)))
    all_failed = cells["runs"] == 0
    devices = _devices_by_instance(cells[~all_failed])
    rows = list(cells.itertuples())
    table = cells.assign(
        images_per_s=rate,
        images_per_s_low=rate / np.exp(cells["half_width"]),
        images_per_s_high=rate * np.exp(cells["half_width"]),
        basis="measured",
        status=cells["failure"].where(all_failed, cells["unstable"].map({True: "unstable", False: "ok"})),
        nodes=[nodes_of(instances, row.instance, row.gpus) for row in rows],
        warnings=[_warnings(row, devices.get(row.instance, [])) for row in rows],
        unit=cells["unit"].fillna(cells["model"].map(unit_of)),
    )
    return table.reindex(columns=list(TABLE_COLUMNS))


def _group_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Combine the runs of each cell; only usable runs count for figures, devices and machines."""
    is_usable = runs["status"].isin(USABLE)
    runs = runs.assign(
        log_seconds=np.log(runs["seconds"].where(is_usable)),
        squared_error=runs["step_error"] ** 2,
        unstable=runs["status"] == "unstable",
        usable=is_usable,
    )
    cells = runs.groupby(KEY).agg(
        first_gpu=("gpu", "first"),
        logical=("logical", "any"),
        xla=("xla", "any"),
        protocol=("protocol", "first"),
        unstable=("unstable", "any"),
        runs=("usable", "sum"),
        source=("path", "first"),
    )
    failed = runs[~is_usable].groupby(KEY).agg(failure=("status", "first"), reason=("message", "first"))
    usable_runs = runs[is_usable]
    usable = usable_runs.groupby(KEY).agg(
        gpu=("gpu", "first"),
        seconds=("seconds", "mean"),
        variance=("log_seconds", "var"),
        squared_error=("squared_error", "mean"),
        unit=("unit", "first"),
        samples_per_step=("samples_per_step", "first"),
        peak_memory_gib=("peak_memory_gib", "max"),
        joules_per_sample=("joules_per_sample", "mean"),
        others_cpu_share=("others_cpu_share", "mean"),
    )
    cells = cells.join([failed, usable])
    days = runs.dropna(subset="measured_on").sort_values("measured_on").groupby(KEY)["measured_on"].last()
    texts = {name: _distinct(usable_runs.sort_values(name), name, cells.index) for name in MEASURED_TEXTS}
    cells = cells.assign(
        gpu=cells["gpu"].fillna(cells["first_gpu"]),
        step_error=np.sqrt(cells["squared_error"]),
        as_of=days,
        source=cells["source"].str.replace(r"/run~\d+\.parquet$", "", regex=True),
        hosts=_distinct(usable_runs.sort_values("host"), "host", cells.index),
        machines=_distinct(usable_runs.sort_values("machine"), "machine", cells.index),
        run_warnings=_distinct(runs, "warnings", cells.index),
        **{name: [" ; ".join(values) or None for values in lists] for name, lists in texts.items()},
    )
    return cells.reset_index()


def _distinct(runs: pd.DataFrame, column: str, cells: pd.Index) -> pd.Series:
    """List the distinct values of a column for each cell, in the order of `runs`."""
    values = runs[[*KEY, column]].dropna().drop_duplicates().groupby(KEY)[column].agg(list)
    return values.reindex(cells).map(lambda value: value if isinstance(value, list) else [])


def _devices_by_instance(cells: pd.DataFrame) -> dict[str, list[str]]:
    """List the devices that the runs of each instance name; where they agree, the machines."""
    devices = {}
    for name, rows in cells[cells["gpu"] != UNKNOWN].groupby("instance"):
        names = sorted(set(rows["gpu"]))
        devices[str(name)] = names if len(names) > 1 else sorted(set(rows["machines"].explode().dropna()))
    return devices


def _warnings(row: Any, devices: Sequence[str]) -> list[dict[str, str]]:
    """List the warnings of a cell: failures, a missing or wide interval, mixed machines, and those of its runs."""
    messages: list[tuple[str, str]] = []
    if isinstance(row.failure, str):
        messages.append((row.failure, row.reason if isinstance(row.reason, str) else "no reason is given"))
    if row.unstable:
        messages.append(("unstable", "the step time of a run was not steady"))
    if row.runs == 1:
        messages.append(("n_is_1", "one run, no interval"))
    if row.own_spread:
        text = f"its {row.runs} runs differ by more than those of this machine's other cells: the interval is its own"
        messages.append(("own_spread", text))
    if row.half_width > math.log(WIDE):
        text = f"the figure is known within a factor {math.exp(row.half_width):.3g} only: runs spread by "
        text += f"{math.expm1(row.spread):.0%} (one standard deviation, {row.interval_df:.0f} degrees of freedom)"
        messages.append(("wide_interval", f"{text}; more runs narrow it"))
    if row.protocol < PROTOCOL:
        messages.append(("older_protocol", f"measured under protocol {row.protocol}, now {PROTOCOL}: {OLDER}"))
    if len(row.hosts) > 1:
        text = f"its runs were made on {' and '.join(row.hosts)}, which name the same device"
        text += f" but are of several kinds: {' and '.join(row.machines)}" if len(row.machines) > 1 else ""
        messages.append(("several_hosts", text))
    if len(devices) > 1:
        messages.append(("mixed_devices", f"cells of this instance were measured on {' and '.join(devices)}"))
    messages += [pair for text in row.run_warnings for pair in parse_warnings(text) or []]
    if row.logical:
        messages.append(("logical_devices", "parts of one processor, not separate devices"))
    return joined([warning(*pair) for pair in messages])
