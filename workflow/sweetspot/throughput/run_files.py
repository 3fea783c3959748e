"""Run files, read and checked: each one must be possible, and agree with the others of its cell."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field, Json, PositiveInt

from sweetspot.cells import CELL_COLUMNS, MEASURED_NUMBERS, USABLE
from sweetspot.errors import UserError
from sweetspot.files import read_limited
from sweetspot.harness.runfile import is_damaged
from sweetspot.harness.step_times import Interval, mean_step, relative_error
from sweetspot.study.base import Closed, validated
from sweetspot.study.instances import Instance

# A step of less than a tenth of a microsecond (some hundred clock cycles) or more than four months was not timed.
STEP_SECONDS = (1e-7, 1e7)
REMEDY = "remove it and it is measured again"
DECLARE = "declare an instance for each, and remove the runs that are not of this one"
MAX_BYTES = 100_000_000
RUN_COLUMNS = [*CELL_COLUMNS, "run"]


class RunRecord(Closed):
    """One run of a cell: the columns of its run file, with mean, shortest and error of its steps in their place."""

    instance: str
    framework: str
    model: str
    batch_size: PositiveInt
    gpus: PositiveInt
    precision: str
    variant: str
    run: PositiveInt
    protocol: int
    status: Literal["ok", "unstable", "oom", "failed"]
    message: str | None
    gpu: str
    logical: bool
    xla: bool
    warnings: Json[list[tuple[str, str]]] | None
    measured_on: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None
    host: str | None
    machine: str | None
    unit: str | None
    samples_per_step: PositiveInt | None
    peak_memory_gib: float | None
    peak_memory_source: str | None
    joules_per_sample: float | None
    energy_source: str | None
    products: str | None = None
    others_cpu_share: float | None = None
    seconds: float | None
    """Mean of the timed steps, each counted once"""
    shortest_s: float | None
    step_error: float | None
    """Relative standard error of that mean; None below two intervals"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message: a usable run without timed steps, or of impossible ones."""
        low, high = STEP_SECONDS
        if self.status not in USABLE:
            return
        if self.seconds is None or self.shortest_s is None:
            yield f"a timed step in a run of status {self.status}"
        elif self.shortest_s < low or self.seconds > high:
            yield f"steps of {low:g} to {high:g} s, not {self.shortest_s:g} s (the shortest), {self.seconds:g} s (mean)"


def summarise_runs(files: Sequence[str]) -> pd.DataFrame:
    """Read benchmark result files to a table with a row per run, from which runs are averaged to speeds: the fields of
    RunRecord (`seconds`: mean step; null: no value) and `path`, the file. Raises UserError if a file is no run file,
    was damaged since, is impossible, or disagrees with others of its cell (setup).
    """
    runs = pd.DataFrame([{**_read_run(file).model_dump(), "path": file} for file in files])
    runs = runs.astype(dict.fromkeys(("seconds", "step_error", "samples_per_step", *MEASURED_NUMBERS), "float64"))
    runs = runs.sort_values([*RUN_COLUMNS, "path"], kind="stable")
    _require_agreement(runs)
    return runs


def _read_run(file: str) -> RunRecord:
    """Read the Parquet file of one benchmark run (a row per timed interval of steps) to its summary: cell, status,
    mean step time. UserError if it is damaged, impossible, or lies under a path that names another cell.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    raw = read_limited(file, MAX_BYTES)
    # Checked first: a bit that flipped may read as another figure, or end the reader.
    if is_damaged(raw):
        raise UserError(f"{file}: differs from what was written (its checksum does not fit); {REMEDY}")
    try:
        table = pq.ParquetFile(pa.BufferReader(raw)).read(use_threads=False)
        first = table.slice(0, 1).to_pylist()[0]
        steps = table.column("steps").fill_null(1) if "steps" in first else [1] * len(table)
        timed = pa.table([table.column("seconds").cast(pa.float64()), steps], names=Interval._fields).drop_null()
        intervals = list(map(Interval, *timed.to_pydict().values()))
        for text in (table.schema.metadata or {}).values():
            text.decode()
    except (pa.ArrowException, OSError, UnicodeDecodeError, LookupError) as error:
        raise UserError(f"{file}: not a whole run file ({' '.join(str(error).split())[:120]}); {REMEDY}") from None
    record = {name: first[name] for name in RunRecord.model_fields if name in first}
    try:
        run = validated(RunRecord, record | _step_figures(intervals), file)
    except UserError as error:
        raise UserError(f"{error}; {REMEDY}") from None
    for name, text in re.findall(r"(\w+)~([^/]+?)(?:\.parquet)?(?=/|$)", file):
        content = str(getattr(run, name, text))
        if content != text:
            raise UserError(f"{file}: the path says {name} {text!r}, the file {content!r}; move it, or {REMEDY}")
    return run


def _step_figures(timed: list[Interval]) -> dict[str, float | None]:
    """Return the summary of a run's timed intervals for its RunRecord: {`seconds`: mean time of a step, `shortest_s`:
    shortest interval's, `step_error`: relative standard error of the mean}; None where there are too few intervals.
    """
    if not timed:
        return dict.fromkeys(("seconds", "shortest_s", "step_error"))
    with np.errstate(all="ignore"):  # a value that is not finite is refused
        error = relative_error(timed) if len(timed) > 1 else None
    return {"seconds": mean_step(timed), "shortest_s": min(timed).seconds, "step_error": error}


def _require_agreement(runs: pd.DataFrame) -> None:
    """Raise UserError if `runs` must not be averaged: one run twice, or a cell in two protocols or devices."""
    repeated = runs.loc[runs.duplicated(RUN_COLUMNS, keep=False), "path"]
    if len(repeated):
        raise UserError(f"{repeated.iloc[0]} and {repeated.iloc[1]} hold the same run; remove one of them")
    _require_equal(runs, "protocol", "measure the older one again or remove it")
    _require_equal(runs, "gpu", DECLARE)


def check_machines(runs: pd.DataFrame, instances: Mapping[str, Instance]) -> None:
    """Raise UserError if usable runs of a cell (rows of `summarise_runs`) were made on machines with different
    processors or CPUs: such speeds must not be averaged. Machines measured on a cluster are not checked.
    """
    clusters = [name for name, machine in instances.items() if machine.measure and machine.measure.where != "local"]
    _require_equal(runs[runs["machine"].notna() & ~runs["instance"].isin(clusters)], "machine", DECLARE)


def _require_equal(runs: pd.DataFrame, column: str, remedy: str) -> None:
    """Raise UserError if usable runs of one cell have two different values in `column` (e.g. `gpu`): they cannot be
    averaged. `remedy`: end of the message, what to do. `runs`: sorted rows of `summarise_runs`.
    """
    cell = list(CELL_COLUMNS)
    distinct = runs[runs["status"].isin(USABLE)].drop_duplicates([*cell, column])
    differing = distinct[distinct.duplicated(cell, keep=False)]  # of each cell in a row, as the runs are sorted
    texts = [f"{path} was measured on {column} {value!r}" for path, value in differing[["path", column]].to_numpy()]
    if texts:
        raise UserError(f"{texts[0]}, {texts[1]}: {remedy}")
