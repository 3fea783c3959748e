"""Which runs an invocation makes: all, or those within the budget, read from the run files that are there.

What is measured stays and is spent first; the rest of the budget goes to the missing runs in the order of
`order_runs`.
"""

import json
import math
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from sweetspot.cells import CELL_COLUMNS, Cell, run_path
from sweetspot.matrix.invocation import Invocation
from sweetspot.study.config import Config, Measure

if TYPE_CHECKING:
    import pandas as pd

BENCHMARKS = Path("results/benchmarks")
START_S = 30.0  # of a process: imports, building the network, the machine's own rate
UNKNOWN_RUN_S = 180.0  # of a run where nothing like it was measured
ROUNDING = 1 + 1e-9  # sums of estimates are not exact


class Run(NamedTuple):
    """One independent process that measures a cell."""

    cell: Cell
    run: int


class RunSelection(NamedTuple):
    """What is measured, in order, and what does not fit into the budget, with the estimated sums of the former."""

    selected: list[Run]
    skipped: list[Run]
    minutes: float


class RunTiming(NamedTuple):
    """How long a run took: the whole process, and one sample on one device (None if nothing was timed)."""

    seconds: float
    seconds_per_sample: float | None


def order_runs(cells: Sequence[Cell], runs: int, decisive: Collection[Cell]) -> list[Run]:
    """List all runs, those that decide the ranking first.

    Parameters
    ----------
    cells
        The matrix.
    runs
        Independent runs of each cell.
    decisive
        Cells that the headline compares. Their first runs come first, one device before several; then their second
        runs, which give them an interval; then the other cells. Equal cells keep the order of the matrix.
    """
    matrix = [Run(cell, number) for number in range(1, runs + 1) for cell in cells]
    return sorted(matrix, key=lambda run: (run.cell not in decisive, run.run, run.cell.gpus))


def select_within_budget(
    order: Sequence[Run],
    estimates_s: Mapping[Cell, float],
    measure: Measure,
    measured_s: Mapping[Run, float],
) -> RunSelection:
    """Select runs in their order as long as the budget holds; shorter ones may follow one that is too long.

    Parameters
    ----------
    order
        All runs.
    estimates_s
        Seconds of one run of each cell.
    measure
        The budget.
    measured_s
        Seconds of runs that are made already; they stay and are spent first.
    """
    maximum_minutes = math.inf if measure.budget_minutes is None else measure.budget_minutes * ROUNDING
    minutes = 0.0
    selected: list[Run] = []
    skipped: list[Run] = []
    for run in [*measured_s, *(run for run in order if run not in measured_s)]:
        run_minutes = measured_s.get(run, estimates_s[run.cell]) / 60
        if run in measured_s or minutes + run_minutes <= maximum_minutes:
            selected.append(run)
            minutes += run_minutes
        else:
            skipped.append(run)
    return RunSelection(selected, skipped, minutes)


def selection_lines(selection: RunSelection, max_runs: int | None = None) -> list[str]:
    """Summarise a selection, with a line for each of the first `max_runs` skipped runs."""
    lines = [f"{len(selection.selected)} runs, estimated {selection.minutes:.1f} minutes"]
    for cell, number in selection.skipped[:max_runs]:
        columns = " ".join(f"{name}={value}" for name, value in cell._asdict().items())
        lines.append(f"left out: {columns} run={number}")
    hidden = len(selection.skipped) - len(lines) + 1
    return [*lines, f"and {hidden} runs more are left out"] if hidden else lines


def estimated_seconds(cell: Cell, seconds_per_sample: float, measure: Measure) -> float:
    """Estimate one run under the protocol: start, warm-up, timed steps until the stop rule holds.

    Parameters
    ----------
    cell
        The cell.
    seconds_per_sample
        Of one device.
    measure
        The protocol.
    """
    step_s = cell.batch_size * seconds_per_sample
    slow_s = max(measure.min_seconds, measure.min_steps_slow * step_s)
    timed_s = max(measure.least_seconds, min(measure.min_steps * step_s, slow_s + step_s))
    return START_S + measure.warmup_steps * step_s + timed_s


def run_file(folder: Path, run: Run) -> Path:
    """Return the path of a run's file below `folder` (results/benchmarks)."""
    return folder / f"{run_path(run.cell, run.run)}.parquet"


def select_runs(plan: Invocation, folder: Path, use_budget: bool = True) -> RunSelection:
    """Select the runs of the plan that are there or fit into the budget.

    Parameters
    ----------
    plan
        The invocation.
    folder
        Of the run files. Without a budget, and where nothing is missing, none is opened (0.3 ms each).
    use_budget
        False: all runs.
    """
    measure = plan.config.measure
    runs = [Run(cell, number) for cell in plan.cells for number in range(1, plan.config.runs + 1)]
    has_budget = use_budget and measure.budget_minutes is not None
    missing = {run for run in runs if not run_file(folder, run).is_file()} if has_budget else set()
    if not missing:
        return RunSelection(runs, [], 0.0)
    present = sorted(set(runs) - missing)
    timings = {run: timing for run in present if (timing := read_timing(run_file(folder, run)))}
    estimates_s = estimate_cells(plan.cells, timings, measure)
    measured_s = {run: timings[run].seconds if run in timings else estimates_s[run.cell] for run in present}
    order = order_runs(plan.cells, plan.config.runs, decisive_cells(plan))
    selection = select_within_budget(order, estimates_s, measure, measured_s)
    selected = set(selection.selected)
    return selection._replace(selected=[run for run in runs if run in selected])


def missing_runs(runs: Sequence[str], collected: Path) -> list[str]:
    """List run files that are missing although their table is there, so that Snakemake would not ask for them."""
    return [file for file in runs if not os.path.exists(file)] if collected.is_file() else []  # noqa: PTH110 (faster)


def priorities(plan: Invocation) -> dict[Run, int]:
    """Return Snakemake's priority of each run, the highest first in `order_runs`."""
    order = order_runs(plan.cells, plan.config.runs, decisive_cells(plan))
    return {run: len(order) - position for position, run in enumerate(order)}


def decisive_cells(plan: Invocation) -> set[Cell]:
    """Find the cells nearest to the question, of each instance, device count and model: they decide the ranking."""
    question = plan.study.cells

    def distance(cell: Cell) -> tuple[float, bool, bool]:
        batch_distance = abs(math.log(cell.batch_size / (question.headline(cell.model) or cell.batch_size)))
        return batch_distance, cell.precision != question.precision, cell.framework != question.framework

    groups: dict[tuple[str, int, str], list[Cell]] = {}
    for cell in plan.cells:
        if cell.model in question.model:
            groups.setdefault((cell.instance, cell.gpus, cell.model), []).append(cell)
    nearest = {key: min(map(distance, group)) for key, group in groups.items()}
    return {cell for key, group in groups.items() for cell in group if distance(cell) == nearest[key]}


def read_timing(file: Path) -> RunTiming | None:
    """Read how long the run in `file` took; None for a file that does not say."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        facts = json.loads((pq.read_schema(file).metadata or {}).get(b"sweetspot", b"{}"))
        seconds, step_s = facts["duration_s"], facts["mean_step_s"]
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError):
        return None
    if not _is_duration(seconds) or not (step_s is None or _is_duration(step_s)):
        return None
    columns = dict(part.split("~", 1) for part in file.parts if "~" in part)
    return RunTiming(float(seconds), None if step_s is None else step_s / int(columns["batch_size"]))


def _is_duration(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def estimate_cells(cells: Sequence[Cell], timings: Mapping[Run, RunTiming], measure: Measure) -> dict[Cell, float]:
    """Estimate the seconds of one run of each cell.

    The estimate is the mean of its own runs; else that of the nearest cell of the same instance, framework and model
    (same precision before nearest batch), through the stop rule; else UNKNOWN_RUN_S.

    Parameters
    ----------
    cells
        The matrix.
    timings
        How long the runs took that are there.
    measure
        The protocol.
    """
    related: dict[tuple[str, ...], list[tuple[Cell, RunTiming]]] = {}
    for run, timing in timings.items():
        related.setdefault(run.cell[:3], []).append((run.cell, timing))
    estimates = {}
    for cell in cells:
        seconds: list[float] = []
        relatives: list[tuple[bool, float, float]] = []
        for relative, timing in related.get(cell[:3], []):
            if relative == cell:
                seconds.append(timing.seconds)
            if timing.seconds_per_sample is not None:
                batch_distance = abs(math.log(cell.batch_size / relative.batch_size))
                relatives.append((relative.precision != cell.precision, batch_distance, timing.seconds_per_sample))
        if seconds:
            estimates[cell] = fmean(seconds)
        elif relatives:
            estimates[cell] = estimated_seconds(cell, min(relatives)[2], measure)
        else:
            estimates[cell] = UNKNOWN_RUN_S
    return estimates


def skipped_rows(selection: RunSelection) -> list[dict[str, Any]]:
    """Return the skipped runs as plain values, which do not change when estimates do."""
    return [{**cell._asdict(), "run": number} for cell, number in selection.skipped]


def skipped_table(rows: Sequence[dict[str, Any]], budget: str) -> "pd.DataFrame":
    """Tabulate the cells that the budget cuts: their columns, `runs` (numbers of the skipped ones), `budget`."""
    import pandas as pd

    runs: dict[Cell, list[str]] = {}
    for row in rows:
        runs.setdefault(Cell(*(row[name] for name in CELL_COLUMNS)), []).append(str(row["run"]))
    table = pd.DataFrame(list(runs), columns=CELL_COLUMNS).astype(dict(Cell.__annotations__))
    return table.assign(runs=pd.Series([", ".join(numbers) for numbers in runs.values()], dtype="str"), budget=budget)


def budget_text(config: Config) -> str:
    """Return the budget as it was written; '' without one."""
    budget = config.measure.budget_minutes
    return "" if budget is None else f"budget_minutes {budget:g}"
