"""Which runs an invocation makes: all, or those within the budget; read from the run files that are there.

What is measured stays in: its real time is spent first, and what is left of the budget goes to the runs that are
missing, in the order of `by_weight`. A price list is never read here; `usd_per_hour` of the configuration is.
"""

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sweetspot.cells import CELL_COLUMNS, Cell, run_path
from sweetspot.matrix.invocation import Invocation
from sweetspot.study.config import Config, Measure

if TYPE_CHECKING:
    import pandas as pd

BENCHMARKS = Path("results/benchmarks")
START_S = 30.0  # of a process: imports, building the network, the machine's own rate


class Run(NamedTuple):
    """One independent process measuring a cell."""

    cell: Cell
    run: int


class LeftOut(NamedTuple):
    """A run that is not made."""

    run: Run
    minutes: float  # what it was estimated to take
    reason: str


class Choice(NamedTuple):
    """What is measured, in order, and what is not."""

    kept: list[Run]
    left_out: list[LeftOut]
    minutes: float  # estimated, of the kept runs
    usd: float


class Timing(NamedTuple):
    """What a run file tells of the time it took."""

    seconds: float  # the whole process
    per_sample: float | None  # of one device; None where nothing was timed


def by_weight(cells: Sequence[Cell], runs: int, decisive: Callable[[Cell], bool]) -> list[Run]:
    """All runs of all cells, what decides the ranking first.

    The first run of each decisive cell (those the headline compares), one device before several; then their
    second runs, which give them an interval, and so on; then the other cells the same way. Cells of equal
    weight keep the order of the matrix.
    """
    everything = [Run(cell, number) for number in range(1, runs + 1) for cell in cells]
    return sorted(everything, key=lambda run: (not decisive(run.cell), run.run, run.cell.gpus))


def order_within_budget(
    cells: Sequence[Cell],
    estimates: Mapping[Cell, float],
    measure: Measure,
    runs: int,
    decisive: Callable[[Cell], bool],
    done: Mapping[Run, float],
) -> Choice:
    """Take runs in the order of `by_weight` as long as the caps hold; a run too dear is passed over, not the end.

    `estimates` are seconds of one run of a cell; an instance without a price in `measure.usd_per_hour` costs nothing
    (one's own machine). `done` are the seconds of runs that are made already: they stay whatever the budget, and are
    spent before any other. Raises KeyError for a cell without an estimate.
    """
    prices = measure.usd_per_hour
    kept: list[Run] = list(done)
    left_out: list[LeftOut] = []
    minutes = sum(done.values()) / 60
    usd = sum(prices.get(run.cell.instance, 0.0) * seconds / 3600 for run, seconds in done.items())
    for run in by_weight(cells, runs, decisive):
        if run in done:
            continue
        more = estimates[run.cell] / 60
        dear = prices.get(run.cell.instance, 0.0) * more / 60
        if reason := _over(measure, minutes + more, usd + dear):
            left_out.append(LeftOut(run, more, reason))
        else:
            kept.append(run)
            minutes, usd = minutes + more, usd + dear
    return Choice(kept, left_out, minutes, usd)


def _over(measure: Measure, minutes: float, usd: float) -> str:
    slack = 1 + 1e-9  # sums of estimates are not exact
    if measure.budget_minutes is not None and minutes > measure.budget_minutes * slack:
        return f"would bring the matrix to {minutes:.1f} of budget_minutes {measure.budget_minutes:g}"
    if measure.budget_usd is not None and usd > measure.budget_usd * slack:
        return f"would bring the matrix to {usd:.2f} of budget_usd {measure.budget_usd:g}"
    return ""


def report_lines(choice: Choice, at_most: int | None = None) -> list[str]:
    """What a person is told: a summary, then one line a run that is left out (the first `at_most`)."""
    lines = [f"{len(choice.kept)} runs, estimated {choice.minutes:.1f} minutes and {choice.usd:.2f} USD"]
    for left in choice.left_out[:at_most]:
        cell = " ".join(f"{name}={value}" for name, value in left.run.cell._asdict().items())
        lines.append(f"left out: {cell} run={left.run.run} ({left.minutes:.1f} minutes): {left.reason}")
    more = len(choice.left_out) - len(lines) + 1
    return [*lines, f"and {more} runs more are left out"] if more else lines


def estimated_seconds(cell: Cell, seconds_per_sample: float, measure: Measure) -> float:
    """Seconds one run takes under the protocol: start, warm-up, timed steps until the stop rule holds.

    `seconds_per_sample` is of one device, from an earlier run or a published figure.
    """
    step = cell.batch_size * seconds_per_sample
    slow = max(measure.min_seconds, measure.min_steps_slow * step)
    timed = max(measure.least_seconds, min(measure.min_steps * step, slow + step))
    return START_S + measure.warmup_steps * step + timed


def run_file(folder: Path, run: Run) -> Path:
    """Where a run lies below `folder` (results/benchmarks)."""
    return folder / f"{run_path(run.cell, run.run)}.parquet"


def choose_runs(plan: Invocation, folder: Path, budget: bool = True) -> Choice:
    """The runs of the plan that are there or fit into the budget, and what is left out.

    Without a budget (or where it is not to be looked at), and where nothing is missing, no file is opened. Otherwise
    the facts of each run file are read (about 0.3 ms a file).
    """
    measure, count = plan.config.measure, plan.config.runs
    runs = [Run(cell, number) for cell in plan.cells for number in range(1, count + 1)]
    capped = budget and (measure.budget_minutes, measure.budget_usd) != (None, None)
    missing = {run for run in runs if not run_file(folder, run).is_file()} if capped else set()
    if not missing:
        return Choice(runs, [], 0.0, 0.0)
    there = sorted(set(runs) - missing)
    timings = {run: timing for run in there if (timing := timing_of(run_file(folder, run)))}
    estimates = estimate_cells(plan.cells, timings, measure)
    done = {run: timings[run].seconds if run in timings else estimates[run.cell] for run in there}
    choice = order_within_budget(plan.cells, estimates, measure, count, _decides(plan), done)
    chosen = set(choice.kept)
    return choice._replace(kept=[run for run in runs if run in chosen])  # in the order of the matrix, as without


def missing_runs(runs: Sequence[str], collected: Path) -> list[str]:
    """Run files that are not there although their table is, so that Snakemake would not ask for them.

    Without the table every run is asked for by the rule that makes it; nothing is looked at then.
    """
    return [file for file in runs if not os.path.exists(file)] if collected.is_file() else []  # noqa: PTH110 (faster)


def priorities(plan: Invocation) -> dict[Run, int]:
    """Snakemake's priority of each run: what decides the ranking first, one device before several."""
    order = by_weight(plan.cells, plan.config.runs, _decides(plan))
    return {run: len(order) - place for place, run in enumerate(order)}


def _decides(plan: Invocation) -> Callable[[Cell], bool]:
    """Whether a cell decides the ranking: of its machine, devices and model the nearest to what the study asks."""
    question = plan.study.cells

    def apart(cell: Cell) -> tuple[float, bool, bool]:
        batch = abs(math.log(cell.batch_size / (question.headline(cell.model) or cell.batch_size)))
        return batch, cell.precision != question.precision, cell.framework != question.framework

    asked = [cell for cell in plan.cells if cell.model in question.model]
    nearest: dict[tuple[str, int, str], tuple[float, bool, bool]] = {}
    for cell in asked:
        key = (cell.instance, cell.gpus, cell.model)
        nearest[key] = min(apart(cell), nearest.get(key, apart(cell)))
    chosen = {cell for cell in asked if apart(cell) == nearest[(cell.instance, cell.gpus, cell.model)]}
    return chosen.__contains__


def timing_of(file: Path) -> Timing | None:
    """How long the run in `file` took; None for a file that does not tell: collecting names what is wrong with it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        facts = json.loads((pq.read_schema(file).metadata or {}).get(b"sweetspot", b"{}"))
        if isinstance(facts, dict) and {"duration_s", "mean_step_s"} <= set(facts):
            seconds, step = facts["duration_s"], facts["mean_step_s"]
        else:  # written before runs told their length
            found = pq.read_table(file, columns=["seconds"])["seconds"].to_pylist()
            times = [value for value in found if _is_time(value)]
            seconds, step = START_S + sum(times), sum(times) / len(times) if times else None
    except (pa.ArrowException, OSError, ValueError):
        return None
    if not _is_time(seconds) or not (step is None or _is_time(step)):
        return None
    parts = dict(part.split("~", 1) for part in file.parts if "~" in part)
    return Timing(float(seconds), None if step is None else step / int(parts["batch_size"]))


def _is_time(value: object) -> bool:
    """Whether a value of a run file is seconds that can have passed."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def estimate_cells(cells: Sequence[Cell], timings: dict[Run, Timing], measure: Measure) -> dict[Cell, float]:
    """Seconds of one run of each cell: of its own runs, of the nearest cell of its model, or as configured.

    Near means the same instance, framework and model; of those the same precision, then the nearest batch. Its
    seconds per sample go through the stop rule (`estimated_seconds`).
    """

    def apart(cell: Cell, other: Cell) -> tuple[bool, float]:
        return cell.precision != other.precision, abs(math.log(cell.batch_size / other.batch_size))

    own: dict[Cell, list[float]] = {}
    like: dict[tuple[str, ...], list[tuple[Cell, float]]] = {}
    for (cell, _), timing in timings.items():
        own.setdefault(cell, []).append(timing.seconds)
        if timing.per_sample is not None:
            like.setdefault(cell[:3], []).append((cell, timing.per_sample))
    found = {}
    for cell in cells:
        near = like.get(cell[:3])
        if cell in own:
            found[cell] = sum(own[cell]) / len(own[cell])
        elif near:
            _, per_sample = min(near, key=lambda other: apart(cell, other[0]))
            found[cell] = estimated_seconds(cell, per_sample, measure)
        else:
            found[cell] = measure.estimate_minutes * 60
    return found


def left_out_rows(choice: Choice) -> list[dict[str, Any]]:
    """Which runs are left out, as plain values that do not change when estimates do."""
    return [{**left.run.cell._asdict(), "run": left.run.run} for left in choice.left_out]


def left_out_table(rows: Sequence[dict[str, Any]], budget: str) -> "pd.DataFrame":
    """One row a cell that the budget cuts: its columns, `runs` left out (their numbers, as text), `budget`."""
    import pandas as pd

    table = pd.DataFrame(rows, columns=[*CELL_COLUMNS, "run"])
    whole = {"batch_size": "int64", "gpus": "int64"}
    named = {name: "str" for name in CELL_COLUMNS if name not in whole}
    numbers = table["run"].map(str).groupby([table[name] for name in CELL_COLUMNS], sort=False).agg(", ".join)
    return numbers.rename("runs").reset_index().astype(whole | named | {"runs": "str"}).assign(budget=budget)


def budget_words(config: Config) -> str:
    """The budget as a person wrote it, or nothing."""
    named = {name: getattr(config.measure, name) for name in ("budget_minutes", "budget_usd")}
    return ", ".join(f"{name} {value:g}" for name, value in named.items() if value is not None)
