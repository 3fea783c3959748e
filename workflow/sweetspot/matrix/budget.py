"""Which runs to make when there is not time or money for all of them, and what is left out."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sweetspot.cells import Cell


class Run(NamedTuple):
    """One independent process measuring a cell."""

    cell: Cell
    run: int


class Budget(NamedTuple):
    """Caps on the whole matrix; None is no cap."""

    minutes: float | None = None
    usd: float | None = None


class LeftOut(NamedTuple):
    """A run that is not made."""

    run: Run
    minutes: float  # what it was estimated to take
    usd: float | None  # None where the instance has no price
    reason: str


class Choice(NamedTuple):
    """What is measured, in order, and what is not."""

    kept: list[Run]
    left_out: list[LeftOut]
    minutes: float  # estimated, of the kept runs
    usd: float


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
    budget: Budget,
    runs: int = 1,
    decisive: Callable[[Cell], bool] = lambda cell: True,
    usd_per_hour: Mapping[str, float] | None = None,
    done: Mapping[Run, float] | None = None,
) -> Choice:
    """Take runs in the order of `by_weight` as long as the caps hold; a run too dear is passed over, not the end.

    `estimates` are seconds of one run of a cell; `usd_per_hour` is by instance, and an instance without a price
    costs nothing (one's own machine). `done` are the seconds of runs that are made already: they stay whatever the
    budget, and are spent before any other. Raises KeyError for a cell without an estimate.
    """
    prices, made = usd_per_hour or {}, done or {}
    kept: list[Run] = list(made)
    left_out: list[LeftOut] = []
    spent_minutes = sum(made.values()) / 60
    spent_usd = sum(prices.get(run.cell.instance, 0.0) * seconds / 3600 for run, seconds in made.items())
    for run in by_weight(cells, runs, decisive):
        if run in made:
            continue
        minutes = estimates[run.cell] / 60
        price = prices.get(run.cell.instance)
        usd = None if price is None else price * minutes / 60
        reason = _over(budget, spent_minutes + minutes, spent_usd + (usd or 0.0))
        if reason:
            left_out.append(LeftOut(run, minutes, usd, reason))
            continue
        kept.append(run)
        spent_minutes += minutes
        spent_usd += usd or 0.0
    return Choice(kept, left_out, spent_minutes, spent_usd)


def _over(budget: Budget, minutes: float, usd: float) -> str:
    slack = 1 + 1e-9  # sums of estimates are not exact
    if budget.minutes is not None and minutes > budget.minutes * slack:
        return f"would bring the matrix to {minutes:.1f} of budget_minutes {budget.minutes:g}"
    if budget.usd is not None and usd > budget.usd * slack:
        return f"would bring the matrix to {usd:.2f} of budget_usd {budget.usd:g}"
    return ""


def report_lines(choice: Choice, at_most: int | None = None) -> list[str]:
    """What a person is told: a summary, then one line a run that is left out (the first `at_most`)."""
    lines = [f"{len(choice.kept)} runs, estimated {choice.minutes:.1f} minutes and {choice.usd:.2f} USD"]
    for left in choice.left_out[:at_most]:
        cell = " ".join(f"{name}={value}" for name, value in left.run.cell._asdict().items())
        lines.append(f"left out: {cell} run={left.run.run} ({left.minutes:.1f} minutes): {left.reason}")
    more = len(choice.left_out) - len(lines) + 1
    return [*lines, f"and {more} runs more are left out"] if more else lines


def estimated_seconds(
    cell: Cell,
    seconds_per_sample: float,
    start_s: float = 30.0,
    min_steps: int = 5,
    min_seconds: float = 20.0,
    min_steps_slow: int = 3,
    warmup_steps: int = 2,
    least_seconds: float = 2.0,
) -> float:
    """Seconds one run takes under the protocol: start, warm-up, timed steps until the stop rule holds.

    `seconds_per_sample` is of one device, from an earlier run or a published figure.
    """
    step = cell.batch_size * seconds_per_sample
    enough = min_steps * step
    slow = max(min_seconds, min_steps_slow * step)
    return start_s + warmup_steps * step + max(least_seconds, min(enough, slow + step))
