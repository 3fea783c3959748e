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
from sweetspot.study.config import Measure

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


def order_runs(plan: Invocation) -> list[Run]:
    """List all runs of the plan, those that decide the ranking first.

    The first runs of decisive cells come first, one device before several; then their second runs, which give them an
    interval; then the other cells. Equal cells keep the order of the matrix.
    """
    decisive = decisive_cells(plan)
    matrix = [Run(cell, number) for number in range(1, plan.config.runs + 1) for cell in plan.cells]
    return sorted(matrix, key=lambda run: (run.cell not in decisive, run.run, run.cell.gpus))


def decisive_cells(plan: Invocation) -> set[Cell]:
    """Find the cells of the question's models at the batch that is nearest to its headline: they decide the ranking."""
    question = plan.study.cells
    decisive = set()
    for model in question.model:
        cells = [cell for cell in plan.cells if cell.model == model]
        distances = [abs(math.log(cell.batch_size / (question.headline(model) or cell.batch_size))) for cell in cells]
        decisive |= {cell for cell, distance in zip(cells, distances, strict=True) if distance == min(distances)}
    return decisive


def select_within_budget(
    order: Sequence[Run],
    seconds: Mapping[Run, float],
    measured: Collection[Run],
    budget_minutes: float,
) -> RunSelection:
    """Select runs in their order as long as the budget holds; shorter ones may follow one that is too long.

    Parameters
    ----------
    order
        All runs.
    seconds
        How long each takes, or took.
    measured
        Runs that are made already; they stay and are spent first.
    budget_minutes
        The budget.
    """
    selection = RunSelection([], [], 0.0)
    for run in [*measured, *(run for run in order if run not in measured)]:
        minutes = selection.minutes + seconds[run] / 60
        if run in measured or minutes <= budget_minutes * ROUNDING:
            selection.selected.append(run)
            selection = selection._replace(minutes=minutes)
        else:
            selection.skipped.append(run)
    return selection


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
    if not use_budget or measure.budget_minutes is None:
        return RunSelection(runs, [], 0.0)
    measured = [run for run in runs if run_file(folder, run).is_file()]
    if len(measured) == len(runs):
        return RunSelection(runs, [], 0.0)
    timings = {run: timing for run in measured if (timing := read_timing(run_file(folder, run)))}
    estimates_s = estimate_cells(plan.cells, timings, measure)
    seconds = {run: estimates_s[run.cell] for run in runs}
    seconds |= {run: timing.seconds for run, timing in timings.items()}
    selection = select_within_budget(order_runs(plan), seconds, dict.fromkeys(measured), measure.budget_minutes)
    return selection._replace(selected=sorted(selection.selected, key=runs.index))


def selection_text(selection: RunSelection) -> str:
    """Summarise a selection: what is measured, how long it takes, and how many runs are left out."""
    cells = len({run.cell for run in selection.skipped})
    return (
        f"{len(selection.selected)} runs, estimated {selection.minutes:.1f} minutes; {len(selection.skipped)} runs of "
        f"{cells} cells are left out (left_out.parquet)"
    )


def run_file(folder: Path, run: Run) -> Path:
    """Return the path of a run's file below `folder` (results/benchmarks)."""
    return folder / f"{run_path(run.cell, run.run)}.parquet"


def missing_runs(runs: Sequence[str], collected: Path) -> list[str]:
    """List run files that are missing although their table is there, so that Snakemake would not ask for them."""
    return [file for file in runs if not os.path.exists(file)] if collected.is_file() else []  # noqa: PTH110 (faster)


def read_timing(file: Path) -> RunTiming | None:
    """Read how long the run in `file` took; None for a file that does not say."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = dict(part.split("~", 1) for part in file.parts if "~" in part)
    try:
        facts = json.loads((pq.read_schema(file).metadata or {})[b"sweetspot"])
        step_s = facts["mean_step_s"]
        return RunTiming(float(facts["duration_s"]), step_s and step_s / int(columns["batch_size"]))
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError):
        return None


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
    estimates = dict.fromkeys(cells, UNKNOWN_RUN_S)
    for cell in cells:
        relatives = related.get(cell[:3], [])
        seconds = [timing.seconds for relative, timing in relatives if relative == cell]
        by_distance = [
            (relative.precision != cell.precision, abs(math.log(cell.batch_size / relative.batch_size)), sample_s)
            for relative, (_, sample_s) in relatives
            if sample_s is not None
        ]
        if seconds:
            estimates[cell] = fmean(seconds)
        elif by_distance:
            estimates[cell] = estimated_seconds(cell, min(by_distance)[2], measure)
    return estimates


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


def skipped_rows(selection: RunSelection) -> list[dict[str, Any]]:
    """Return the skipped runs as plain values, which do not change when estimates do."""
    return [{**cell._asdict(), "run": number} for cell, number in selection.skipped]


def skipped_table(rows: Sequence[dict[str, Any]], budget: str) -> "pd.DataFrame":
    """Tabulate the cells that the budget cuts: their columns, `runs` (numbers of the skipped ones), `budget`."""
    import pandas as pd

    table = pd.DataFrame(rows, columns=[*CELL_COLUMNS, "run"]).astype({**Cell.__annotations__, "run": "str"})
    numbers = table.groupby(list(CELL_COLUMNS), sort=False)["run"].agg(", ".join).rename("runs").astype("str")
    return numbers.reset_index().assign(budget=budget)
