"""From run files to one row for each cell: mean step time over independent runs, with its interval."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sweetspot.cells import CELL_COLUMNS, MEASURED_NUMBERS, MEASURED_TEXTS, PROTOCOL, USABLE
from sweetspot.errors import UserError
from sweetspot.harness.runfile import is_damaged
from sweetspot.study.instances import nodes_of
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
from sweetspot.transformers import unit_of
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance

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
INTERVAL_FACTOR = 2.0  # an interval of more than this factor either side is explained by a warning


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
        deviation = math.sqrt(count / (count - 1)) * np.linalg.norm((timed - mean) * steps) if count > 1 else None
        error = None if deviation is None else float(deviation / steps.sum() / mean)
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
    groups = groupby(runs.to_dict("records"), key=itemgetter(*CELL_COLUMNS))
    cells = pd.DataFrame([_cell(list(group)) for _, group in groups])
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


def _cell(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Combine the runs of one cell; only usable runs count for figures, devices and machines."""
    first = runs[0]
    usable = [run for run in runs if run["status"] in USABLE]
    failed = [run for run in runs if run["status"] not in USABLE]
    seconds = [run["seconds"] for run in usable]
    errors = _values(usable, "step_error")
    gpu = (usable or runs)[0]["gpu"]
    machines = sorted(set(_values(usable, "machine")))
    samples = _values(usable, "samples_per_step") or [first["batch_size"] * first["gpus"]]
    is_unstable = any(run["status"] == "unstable" for run in runs)
    cell = {name: first[name] for name in CELL_COLUMNS} | {
        "gpu": gpu,
        "images_per_s": samples[0] / fmean(seconds) if usable else math.nan,
        "runs": len(usable),
        "variance": variance(map(math.log, seconds)) if len(usable) > 1 else math.nan,
        "step_error": math.sqrt(fmean(error**2 for error in errors)) if errors else math.nan,
        "machine_key": (first["instance"], gpu, *machines, first["protocol"]),
        "machines": machines,
        "hosts": sorted(set(_values(usable, "host"))),
        "protocol": first["protocol"],
        "status": ("unstable" if is_unstable else "ok") if usable else failed[0]["status"],
        "is_unstable": is_unstable,
        "failure": (failed[0]["status"], failed[0]["message"] or "no reason is given") if failed else None,
        "logical": any(run["logical"] for run in runs),
        "xla": any(run["xla"] for run in runs),
        "as_of": max(_values(runs, "measured_on"), default=None),
        "unit": next(iter(_values(usable, "unit")), unit_of(first["model"])),
        "source": re.sub(r"/run~\d+\.parquet$", "", first["path"]),
        "run_warnings": list(dict.fromkeys(_values(runs, "warnings"))),
        "peak_memory_gib": max(_values(usable, "peak_memory_gib"), default=math.nan),
    }
    for name in ("joules_per_sample", "others_cpu_share"):
        values = _values(usable, name)
        cell[name] = fmean(values) if values else math.nan
    for name in MEASURED_TEXTS:
        cell[name] = " ; ".join(sorted(set(_values(usable, name)))) or None
    return cell


def _values(runs: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """List the values of a column in the order of the runs, without those that are missing."""
    return [run[name] for run in runs if not pd.isna(run[name])]


def _devices_by_instance(cells: pd.DataFrame) -> dict[str, list[str]]:
    """List the devices that the usable runs of each instance name; where they agree, the machines."""
    devices = {}
    for name, rows in cells.groupby("instance"):
        named = rows[(rows["runs"] > 0) & (rows["gpu"] != UNKNOWN)]
        names = sorted(set(named["gpu"]))
        devices[str(name)] = names if len(names) > 1 else sorted(set(named["machines"].explode().dropna()))
    return devices


def _warnings(row: Any, devices: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the warnings of a cell: failures, a missing or wide interval, mixed machines, and those of its runs."""
    if row.failure:
        yield row.failure
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
    for text in row.run_warnings:
        yield from parse_warnings(text) or []
    if row.logical:
        yield "logical_devices", "parts of one processor, not separate devices"
