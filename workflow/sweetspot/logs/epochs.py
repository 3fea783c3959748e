"""Logs with a row an epoch: Keras' CSV of `elapsed` seconds, as the 2017 benchmark writes it."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path

from sweetspot.logs.reading import LogFile, Reading, not_negative, positive
from sweetspot.study.study import LogSource


def read_keras_csv(path: Path, source: LogSource) -> tuple[LogFile, list[Reading]]:
    """Samples a second = epochs x samples_per_epoch / sum of `elapsed`: the whole run, its first epoch included."""
    log = LogFile(path, source)
    seconds = _elapsed_seconds(log)
    if not seconds:
        log.refuse(len(log.lines), "no epoch; expected at least one row")
    total = math.fsum(value for _, value in seconds)
    rate = len(seconds) * source.stated("samples_per_epoch") / total
    model, framework, batch_size, precision = map(source.stated, ("model", "framework", "batch_size", "precision"))
    lines, facts = f"lines {seconds[0][0]}-{seconds[-1][0]}", f"{len(seconds)} epochs in {total:.6g} s"
    gpus = source.gpus or 1
    return log, [Reading(model, framework, "", batch_size, gpus, precision, rate, "real", lines, facts)]


def _rows(log: LogFile) -> Iterator[tuple[int, str]]:
    """(line, text) of each row below the names of the columns."""
    return ((number, text) for number, text in enumerate(log.lines[1:], start=2) if text.strip())


def _require(log: LogFile, columns: list[str], needed: tuple[str, ...], expected: str) -> None:
    for name in needed:
        if name not in columns:
            log.refuse(1, f"column '{name}' is missing; expected {expected}")


def _elapsed_seconds(log: LogFile) -> list[tuple[int, float]]:
    """(line, seconds) of every epoch. Reports lines without a positive `elapsed` or out of the epochs' order."""
    columns = [name.strip() for name in _values(log.lines[0])] if log.lines else []
    _require(log, columns, ("epoch", "elapsed"), "epoch, elapsed, ... (seconds of each epoch)")
    seconds: list[tuple[int, float]] = []
    before = -1.0
    for number, text in _rows(log):
        values = _values(text)
        if len(values) != len(columns):
            log.refuse(number, f"{len(values)} values; expected {len(columns)}")
        row = dict(zip(reversed(columns), reversed(values), strict=True))  # of two columns of a name the first
        value, epoch = positive(row["elapsed"]), not_negative(row["epoch"])
        if value is None:
            log.refuse(number, f"elapsed is {row['elapsed']!r}; expected seconds above 0")
        if epoch is None or epoch % 1 or epoch <= before:
            log.refuse(number, f"epoch is {row['epoch']!r} after {before:g}; expected rising whole numbers")
        seconds.append((number, value))
        before = epoch
    return seconds


def _values(line: str) -> list[str]:
    """One line's values, alone: a stray quote must not swallow the lines after it, nor shift their numbers."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []
