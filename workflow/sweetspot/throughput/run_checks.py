"""Run files are checked when they are read: what one of them says must be possible, and agree with the others."""

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import polars as pl

from sweetspot.cells import CELL_COLUMNS, USABLE
from sweetspot.errors import UserError
from sweetspot.warnings import Warned

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance

STATUSES = (*USABLE, "oom", "failed")
# A step of less than a tenth of a microsecond (some hundred clock cycles) or more than four months was not timed.
STEP_SECONDS = (1e-7, 1e7)
DAY = r"^\d{4}-\d{2}-\d{2}$"
REMEDY = "remove the file and it is measured again"
COUNTS = ("batch_size", "gpus", "run")
UNKNOWN = "unknown"  # device name of a run that ended before it saw its device


def check_runs(runs: pl.DataFrame) -> None:
    """Raises UserError for the first run that is impossible or at odds with its path or with another run.

    runs: `collect.summarise_runs`, with `shortest` (seconds of the shortest timed step). Checked are the status, that
    counts are above 0, the step times of usable runs, the date, the list of warnings, that the path says what the file
    says, that no run stands in two files, and that a cell's runs have one protocol, its usable ones one device.
    """
    known_devices = runs.filter(pl.col("gpu") != UNKNOWN)  # a mean over two would be of no machine
    checks = (_impossible(runs), _misplaced(runs), _repeated(runs), _of_two_protocols(runs))
    for sentence in chain(*checks, _apart(known_devices, "gpu", "device")):
        raise UserError(sentence)


def _rows(runs: pl.DataFrame, wrong: pl.Expr) -> Iterator[dict[str, Any]]:
    return runs.filter(wrong).iter_rows(named=True)


def _impossible(runs: pl.DataFrame) -> Iterator[str]:
    low, high = STEP_SECONDS
    timed = pl.col("shortest").ge(low) & pl.col("seconds").le(high) & pl.col("seconds").is_finite()
    for row in _rows(runs, ~pl.col("status").is_in(STATUSES).fill_null(False)):
        yield f"{row['path']}: status is {row['status']!r}; expected one of {', '.join(STATUSES)}; {REMEDY}"
    for name in COUNTS:
        for row in _rows(runs, ~pl.col(name).ge(1).fill_null(False)):
            yield f"{row['path']}: {name} is {row[name]}; expected 1 or more; {REMEDY}"
    for row in _rows(runs, pl.col("status").is_in(USABLE) & ~timed.fill_null(False)):
        if row["seconds"] is None:
            yield f"{row['path']}: a run of status {row['status']} without a timed step; {REMEDY}"
        else:
            value = row["shortest"] if row["shortest"] < low else row["seconds"]
            yield f"{row['path']}: seconds of a step are {value:g}; expected {low:g} to {high:g}; {REMEDY}"
    for row in _rows(runs, ~pl.col("measured_on").str.contains(DAY).fill_null(True)):
        yield f"{row['path']}: measured_on is {row['measured_on']!r}; expected a date such as 2026-11-22; {REMEDY}"
    for row in _rows(runs, pl.col("warnings").is_not_null()):
        if told_in(row["warnings"]) is None:
            yield f"{row['path']}: warnings are {row['warnings'][:60]!r}; expected pairs of rule and message; {REMEDY}"


def _misplaced(runs: pl.DataFrame) -> Iterator[str]:
    """Runs whose path names another cell than their content; a path that names none is not compared."""
    parts = [pl.lit(f"{name}~") + pl.col(name).cast(pl.String) for name in (*CELL_COLUMNS, "run")]
    here = pl.concat_str(parts, separator="/") + pl.lit(".parquet")
    for row in _rows(runs, ~pl.col("path").str.ends_with(here)):
        said = dict(part.split("~", 1) for part in row["path"].removesuffix(".parquet").split("/") if "~" in part)
        for name in (*CELL_COLUMNS, "run"):
            if name in said and said[name] != str(row[name]):
                words = f"the path says {name} {said[name]!r}, the file {str(row[name])!r}"
                yield f"{row['path']}: {words}; move it where it belongs, or remove it and it is measured again"


def _repeated(runs: pl.DataFrame) -> Iterator[str]:
    twice = runs.filter(runs.select(*CELL_COLUMNS, "run").is_duplicated())
    if len(twice):
        yield f"{twice['path'][0]} and {twice['path'][1]} hold the same run; remove one of them"


def _of_two_protocols(runs: pl.DataFrame) -> Iterator[str]:
    """Runs of one cell that mean different things; of two cells the older one's row says so (`older_protocol`)."""
    newest = pl.col("protocol").max().over(CELL_COLUMNS)
    for row in _rows(runs.with_columns(newest=newest), pl.col("protocol") != pl.col("newest")):
        words = f"measured under protocol {row['protocol']}, others of its cell under {row['newest']}"
        yield f"{row['path']}: {words}; measure it again or remove it"


def check_machines(runs: pl.DataFrame, instances: Mapping[str, "Instance"]) -> None:
    """Raises UserError for a cell whose usable runs were made on machines of two kinds, by processor and CPUs.

    The name of the machine is not asked: a container has another at each start, and an instance is a kind of machine,
    of which one may rent another tomorrow. Nodes of a cluster are alike by declaration: `several_hosts` tells theirs.
    """
    clusters = [name for name, machine in instances.items() if machine.measure and machine.measure.where != "local"]
    here = runs.filter(pl.col("machine").is_not_null() & ~pl.col("instance").is_in(clusters))
    for sentence in _apart(here, "machine", "machine"):
        raise UserError(sentence)


def _apart(runs: pl.DataFrame, column: str, what: str) -> Iterator[str]:
    """One sentence on the first cell whose usable runs differ in a column that should be of one machine."""
    mixed = runs.filter(pl.col("status").is_in(USABLE)).filter(pl.col(column).n_unique().over(CELL_COLUMNS) > 1)
    if len(mixed):
        one = mixed.row(0, named=True)
        same = mixed.filter(pl.all_horizontal(pl.col(name) == one[name] for name in CELL_COLUMNS))
        other = same.filter(pl.col(column) != one[column]).row(0, named=True)
        yield (
            f"{one['path']} was measured on {one[column]!r}, {other['path']} on {other[column]!r}: runs of one cell on "
            f"two {what}s; declare an instance for each {what}, and remove the runs that are not of {one['instance']}"
        )


def told_in(text: str) -> list[Warned] | None:
    """The pairs of a run file's column `warnings` (JSON text); None where it holds anything else."""
    try:
        pairs = [Warned(*pair) for pair in json.loads(text)]
    except (ValueError, TypeError):
        return None
    return pairs if all(isinstance(part, str) for pair in pairs for part in pair) else None
