"""Checks of run files: each one must be possible, and agree with the others of its cell."""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.cells import CELL_COLUMNS, USABLE
from sweetspot.errors import UserError
from sweetspot.warnings import Warned

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance

STATUSES = (*USABLE, "oom", "failed")
# A step of less than a tenth of a microsecond (some hundred clock cycles) or more than four months was not timed.
STEP_SECONDS = (1e-7, 1e7)
REMEDY = "remove it and it is measured again"
RUN_COLUMNS = (*CELL_COLUMNS, "run")
UNKNOWN = "unknown"  # device name of a run that ended before it saw its device


def check_run(run: Mapping[str, Any]) -> None:
    """Refuse a run whose values are impossible or whose path names another cell.

    Parameters
    ----------
    run
        One row of `collect.summarise_runs`, and `shortest_s`: seconds of its shortest step, None without one.

    Raises
    ------
    UserError
        With the file, the value and what is expected.

    """
    path, status, seconds, shortest_s = run["path"], run["status"], run["seconds"], run["shortest_s"]
    low, high = STEP_SECONDS
    fault = None
    if status not in STATUSES:
        fault = f"status is {status!r}; expected one of {', '.join(STATUSES)}"
    elif count := next((name for name in ("batch_size", "gpus", "run") if (run[name] or 0) < 1), None):
        fault = f"{count} is {run[count]}; expected 1 or more"
    elif status in USABLE and seconds is None:
        fault = f"a run of status {status} without a timed step"
    elif status in USABLE and not (shortest_s >= low and seconds <= high):
        value = shortest_s if shortest_s < low else seconds
        fault = f"seconds of a step are {value:g}; expected {low:g} to {high:g}"
    elif run["measured_on"] is not None and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", run["measured_on"]):
        fault = f"measured_on is {run['measured_on']!r}; expected a date such as 2026-11-22"
    elif run["warnings"] is not None and parse_warnings(run["warnings"]) is None:
        fault = f"warnings are {run['warnings'][:60]!r}; expected pairs of rule and message"
    else:
        folders = path.removesuffix(".parquet").split("/")
        by_path = dict(folder.split("~", 1) for folder in folders if "~" in folder)
        for name in RUN_COLUMNS:
            if by_path.get(name, str(run[name])) != str(run[name]):
                fault = f"the path says {name} {by_path[name]!r}, the file {str(run[name])!r}; move it, or"
    if fault:
        raise UserError(f"{path}: {fault}{' ' if fault.endswith('or') else '; '}{REMEDY}")


def check_cells(runs: pd.DataFrame) -> None:
    """Refuse runs of `collect.summarise_runs` that stand in two files, or differ in protocol or device within a cell.

    Raises UserError.
    """
    repeated = runs.loc[runs.duplicated(list(RUN_COLUMNS), keep=False), "path"]
    if len(repeated):
        raise UserError(f"{repeated.iloc[0]} and {repeated.iloc[1]} hold the same run; remove one of them")
    newest = runs.groupby(list(CELL_COLUMNS))["protocol"].transform("max")
    for row in runs[runs["protocol"] != newest].itertuples():
        message = f"measured under protocol {row.protocol}, others of its cell under {newest[row.Index]}"
        raise UserError(f"{row.path}: {message}; measure it again or remove it")
    _require_equal(runs[runs["gpu"] != UNKNOWN], "gpu", "device")


def check_machines(runs: pd.DataFrame, instances: Mapping[str, "Instance"]) -> None:
    """Refuse a cell whose usable runs were made on machines of two kinds, by processor and CPUs. Raises UserError.

    The host's name does not matter: a container has another at each start, and an instance is a kind of machine, of
    which one may rent another tomorrow. Nodes of a cluster are alike by declaration; `several_hosts` warns of theirs.
    """
    clusters = [name for name, machine in instances.items() if machine.measure and machine.measure.where != "local"]
    _require_equal(runs[runs["machine"].notna() & ~runs["instance"].isin(clusters)], "machine", "machine")


def _require_equal(runs: pd.DataFrame, column: str, kind: str) -> None:
    """Refuse the first cell whose usable runs have two values in a column."""
    usable = runs[runs["status"].isin(USABLE)]
    for _, cell in usable[usable.groupby(list(CELL_COLUMNS))[column].transform("nunique") > 1].groupby(
        list(CELL_COLUMNS)
    ):
        first = cell.iloc[0]
        second = cell[cell[column] != first[column]].iloc[0]
        raise UserError(
            f"{first['path']} was measured on {first[column]!r}, {second['path']} on {second[column]!r}: runs of one "
            f"cell on two {kind}s; declare an instance for each {kind}, and remove the runs that are not of "
            f"{first['instance']}"
        )


def parse_warnings(text: str) -> list[Warned] | None:
    """Parse a run file's column `warnings`, e.g. '[["drift", "step time rose by 20 %"]]'; None for anything else."""
    try:
        pairs = [Warned(*pair) for pair in json.loads(text)]
    except (ValueError, TypeError):
        return None
    return pairs if all(isinstance(part, str) for pair in pairs for part in pair) else None
