"""Which runs an invocation makes: all, or those within the budget; what is measured is spent first."""

import json
import math
import os
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sweetspot.cells import CELL_COLUMNS, Cell, run_path
from sweetspot.matrix.invocation import Invocation

if TYPE_CHECKING:
    import pandas as pd

BENCHMARKS = Path("results/benchmarks")
UNKNOWN_RUN_S = 180.0  # of a run where nothing like it was measured
ROUNDING = 1 + 1e-9  # sums of estimates are not exact


class Run(NamedTuple):
    """One independent process that measures a cell."""

    cell: Cell
    run: int


class RunSelection(NamedTuple):
    """Runs to measure, in order; runs that do not fit into the budget; estimated minutes of the former."""

    selected: list[Run]
    skipped: list[Run]
    minutes: float


def order_runs(plan: Invocation) -> list[Run]:
    """Return all runs of the benchmark matrix in the order of their use for the decision, so that a limited budget is
    spent well. Cells of the study's models at the batch nearest to its headline come first: their first runs, one
    device before several; then their second runs, which give an interval; then the other cells.
    """
    question = plan.study.cells
    distances = {
        cell: abs(math.log(cell.batch_size / (question.headline(cell.model) or cell.batch_size)))
        for cell in plan.cells
        if cell.model in question.model
    }
    nearest = dict[str, float]()
    for cell, distance in distances.items():
        nearest[cell.model] = min(distance, nearest.get(cell.model, distance))
    decisive = {cell for cell, distance in distances.items() if distance == nearest[cell.model]}
    matrix = [Run(cell, number) for number in range(1, plan.config.runs + 1) for cell in plan.cells]
    return sorted(matrix, key=lambda run: (run.cell not in decisive, run.run, run.cell.gpus))


def select_runs(plan: Invocation, folder: Path, use_budget: bool = True) -> RunSelection:
    """Select the runs to measure within the time budget (`budget_minutes` in config.yaml): those that have a file,
    then by `order_runs` as many as fit; a shorter run may follow one that is too long. Without a budget, all.

    Parameters
    ----------
    plan, folder, use_budget
        The invocation; the folder of run files; False: all runs.
    """
    budget_minutes = plan.config.measure.budget_minutes
    runs = [Run(cell, number) for cell in plan.cells for number in range(1, plan.config.runs + 1)]
    if not use_budget or budget_minutes is None:
        return RunSelection(runs, [], 0.0)
    measured = dict.fromkeys(run for run in runs if run_file(folder, run).is_file())
    if len(measured) == len(runs):
        return RunSelection(runs, [], 0.0)
    durations_s = {run: took for run in measured if (took := read_duration(run_file(folder, run)))}
    # Estimated as the longest of its instance, framework and model: the stop rule bounds what a larger batch adds.
    longest_s = {run.cell[:3]: took for run, took in sorted(durations_s.items(), key=itemgetter(1))}
    selected, skipped, seconds = set[Run](), list[Run](), 0.0
    for run in [*measured, *(run for run in order_runs(plan) if run not in measured)]:
        total = seconds + durations_s.get(run, longest_s.get(run.cell[:3], UNKNOWN_RUN_S))
        if run in measured or total <= budget_minutes * 60 * ROUNDING:
            selected.add(run)
            seconds = total
        else:
            skipped.append(run)
    return RunSelection([run for run in runs if run in selected], skipped, seconds / 60)


def selection_text(selection: RunSelection) -> str:
    """Return the sentence that the terminal prints of the budget: runs measured, minutes, runs and cells left out."""
    cells = len({run.cell for run in selection.skipped})
    return (
        f"{len(selection.selected)} runs, estimated {selection.minutes:.1f} minutes; {len(selection.skipped)} runs of "
        f"{cells} cells are left out (left_out.parquet)"
    )


def run_file(folder: Path, run: Run) -> Path:
    """Return the path of a run's file below `folder` (results/benchmarks)."""
    return folder / f"{run_path(run.cell, run.run)}.parquet"


def missing_runs(runs: Sequence[str], collected: Path) -> list[str]:
    """Return those of `runs` (paths) that are missing while `collected` exists: Snakemake would not ask for them."""
    return [file for file in runs if not os.path.exists(file)] if collected.is_file() else []  # noqa: PTH110 (faster)


def read_duration(file: Path) -> float | None:
    """Return the seconds that a run took, from its file, to estimate the next ones; None if it does not say."""
    import pyarrow.parquet as pq

    try:
        seconds = json.loads((pq.read_schema(file).metadata or {})[b"sweetspot"])["duration_s"]
        return float(seconds) if seconds > 0 else None
    except (OSError, ValueError, KeyError, TypeError):  # Arrow's errors are among them.
        return None


def skipped_rows(selection: RunSelection) -> list[dict[str, Any]]:
    """Return each skipped run as a dict of the cell's columns and `run`, independent of estimated durations."""
    return [{**cell._asdict(), "run": number} for cell, number in selection.skipped]


def skipped_table(rows: Sequence[dict[str, Any]], budget: str) -> "pd.DataFrame":
    """Return the table not_measured, which lists what the budget left out: a row per cell with its columns, `runs`
    (numbers, as text) and `budget` (its key in config.yaml). `rows`: of `skipped_rows`.
    """
    import pandas as pd

    table = pd.DataFrame(rows, columns=[*CELL_COLUMNS, "run"]).astype({**Cell.__annotations__, "run": "str"})
    numbers = table.groupby(list(CELL_COLUMNS), sort=False)["run"].agg(", ".join).rename("runs").astype("str")
    return numbers.reset_index().assign(budget=budget)
