"""Run files written by hand, without a harness."""

from pathlib import Path

import pandas as pd
from sweetspot.cells import MEASURED_NUMBERS, MEASURED_TEXTS, Cell, run_path
from sweetspot.throughput.collect import measured_cells
from sweetspot.throughput.run_files import summarise_runs
from sweetspot.warnings import pairs

CELL = Cell("workstation", "tensorflow", "resnet50", 16, 1, "fp32", "default")


def write_run(folder, cell=CELL, run=1, seconds=(2.0, 2.0, 2.0), name=None, **columns):
    """A run file below `folder` where its cell belongs, or under `name`; `columns` replace what it says."""
    path = Path(folder) / f"{name or run_path(cell, run)}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = pd.DataFrame({"step": range(len(seconds)), "seconds": [float(value) for value in seconds]})
    rows = rows.assign(**cell._asdict(), run=run, protocol=2, status="ok", message=None, gpu="Test CPU", logical=False)
    rows = rows.assign(measured_on="2026-11-21", warnings=None, xla=False, host="here", machine="Test CPU, 2 CPUs")
    rows = rows.assign(steps=1, samples_per_step=None, unit=None, **dict.fromkeys((*MEASURED_NUMBERS, *MEASURED_TEXTS)))
    for column, value in columns.items():
        rows[column] = value
    texts = ("message", "measured_on", "warnings", "host", "machine", "unit", *MEASURED_TEXTS)
    rows = rows.astype(dict.fromkeys(texts, "string") | dict.fromkeys(MEASURED_NUMBERS, "float64"))
    rows = rows.astype(dict.fromkeys(("steps", "samples_per_step"), "Int64"))
    rows.to_parquet(path, index=False)
    return str(path)


def cells_of(files, instances=None):
    return measured_cells(summarise_runs(files), instances or {})


def rules_of(row):
    return [pair.rule for pair in pairs(row["warnings"])]
