"""What share of a device's peak training reaches (MFU), learnt from published tokens a second, with its spread."""

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from statistics import mean, median, stdev
from typing import NamedTuple

from scipy.stats import t

from sweetspot.facts.shipped_tables import POOLS
from sweetspot.tokens.models import flop_per_token, open_models
from sweetspot.transfer.figures import shipped_devices

LEVEL = 0.9
STACKS = ("tuned", "plain")
CREDIBLE = 0.75  # no training is known above it: torchtune prints an RTX A6000 faster than its peak
LEAST_SPREAD = 0.15  # of the logarithm: two printed tables of one stack differ by as much
ONE_STACK_SPREAD = 0.35  # where a group has too few figures of one stack to learn it


class Figure(NamedTuple):
    """A published figure: tokens a second of all devices, and the share of their dense peak (of the precision)."""

    model: str
    method: str
    gpu: str
    gpus: int
    precision: str
    sequence: int
    batch_size: int
    tokens_per_s: float
    peak_memory_gib: float
    stack: str
    software: str
    mfu: float


class Range(NamedTuple):
    """A middle and the ends of the interval of 90 %."""

    middle: float
    low: float
    high: float


@cache
def published_figures() -> tuple[Figure, ...]:
    """The rows of the pool tokens-2026 whose device has a peak of their precision, and that are credible."""
    models, devices, found = open_models(), shipped_devices(), []
    with (POOLS / "tokens-2026" / "throughput.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        device, sequence, gpus = devices.get(row["gpu"]), int(row["sequence"]), int(row["gpus"])
        flop = flop_per_token(models[row["model"]], row["method"], sequence)  # type: ignore[arg-type]
        rate, peak = float(row["tokens_per_s"]), device.peak(row["precision"])
        mfu = rate * flop / (gpus * peak * 1e12)
        if mfu <= CREDIBLE:  # not where there is no peak
            found.append(
                Figure(
                    row["model"], row["method"], device.gpu, gpus, row["precision"], sequence,
                    int(float(row["batch_size"] or 1)), rate, float(row["peak_memory_gib"] or math.nan), row["stack"],
                    row["software"], mfu,
                )
            )  # fmt: skip
    return tuple(found)


def expected_mfu(figures: Iterable[Figure], method: str, precision: str, stack: str | None) -> Range:
    """MFU of a stack (None: either) in a new model and device, from the nearest figures that there are.

    Figures of one model and device count once. The nearest: of the same method, precision and stack; then of the same
    precision and stack; then of the stack. The interval is that of one more value of a normal logarithm.
    """
    known = [one for one in figures if stack in (None, one.stack)]
    same = [one for one in known if one.precision == precision]
    like = [one for one in same if one.method == method]
    chosen = next((_apart(group) for group in (like, same) if len(_apart(group)) >= 3), _apart(known))
    if stack is None:  # a stack's error is common to its rows: each half counts as much
        chosen = [value for name in STACKS for value in _few(known, name, method)]
    return _interval(chosen, stack)


def _few(known: Sequence[Figure], stack: str, method: str) -> list[float]:
    """The ends and the middle of a stack's own values: as many of each stack."""
    rows = [one for one in known if one.stack == stack]
    values = sorted(_apart([one for one in rows if one.method == method]) or _apart(rows))
    return [values[0], median(values), values[-1]] if values else []


def _apart(figures: Sequence[Figure]) -> list[float]:
    """The logarithm of MFU, one value of each model, device and software."""
    groups = defaultdict(list)
    for one in figures:
        groups[one.model, one.gpu, one.software].append(math.log(one.mfu))
    return [median(values) for values in groups.values()]


def _interval(logs: Sequence[float], stack: str | None) -> Range:
    spread = max(stdev(logs), LEAST_SPREAD) if len(logs) > 2 else 2 * ONE_STACK_SPREAD
    wide = float(t.ppf((1 + LEVEL) / 2, max(len(logs) - 1, 2))) * spread * math.sqrt(1 + 1 / len(logs))
    middle = mean(logs)
    return Range(math.exp(middle), math.exp(middle - wide), min(1.0, math.exp(middle + wide)))


def from_one_timing(mfu: float, spread: float = ONE_STACK_SPREAD) -> Range:
    """MFU on other devices and models of a stack that reached `mfu` on one: it is common, what is left is `spread`."""
    wide = 1.645 * spread
    return Range(mfu, mfu * math.exp(-wide), min(1.0, mfu * math.exp(wide)))
