"""Keras logs with one row an epoch and its `elapsed` seconds (the 2017 Keras benchmark writes them so)."""

import csv
import math
from pathlib import Path

from sweetspot.logs.reading import LogFile, Reading, positive
from sweetspot.study.log_sources import LogSource


def elapsed_seconds(log: LogFile) -> list[tuple[int, float]]:
    """(line, seconds) of every epoch. Reports lines without a positive `elapsed` or out of the epochs' order."""
    columns = [name.strip() for name in _values(log.lines[0])] if log.lines else []
    for needed in ("epoch", "elapsed"):
        if needed not in columns:
            log.refuse(1, f"column '{needed}' is missing; expected epoch, elapsed, ... (seconds of each epoch)")
    epoch_at, elapsed_at = columns.index("epoch"), columns.index("elapsed")
    seconds: list[tuple[int, float]] = []
    before = -1
    for number, text in enumerate(log.lines[1:], start=2):
        if not text.strip():
            continue
        row = _values(text)
        if len(row) != len(columns):
            log.fault(number, f"{len(row)} values; expected {len(columns)}")
            continue
        value = positive(row[elapsed_at])
        epoch = int(row[epoch_at]) if row[epoch_at].strip().isdecimal() and len(row[epoch_at]) < 10 else -1
        if value is None:
            log.fault(number, f"elapsed is {row[elapsed_at]!r}; expected seconds above 0")
        elif epoch <= before:
            log.fault(number, f"epoch is {row[epoch_at]!r} after {before}; expected rising whole numbers")
        else:
            seconds.append((number, value))
            before = epoch
    return seconds


def _values(line: str) -> list[str]:
    """One line's values, alone: a stray quote must not swallow the lines after it, nor shift their numbers."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def read_keras_csv(path: Path, source: LogSource) -> tuple[LogFile, list[Reading]]:
    """Samples a second = epochs x samples_per_epoch / sum of `elapsed`: the whole run, its first epoch included."""
    log = LogFile(path, source)
    seconds = elapsed_seconds(log)
    if not seconds:
        log.fault(len(log.lines), "no epoch; expected at least one row")
        return log, []
    total = math.fsum(value for _, value in seconds)
    rate = len(seconds) * source.stated("samples_per_epoch") / total
    reading = Reading(
        model=source.stated("model"),
        framework=source.stated("framework"),
        framework_version="",
        batch_size=source.stated("batch_size"),
        gpus=source.gpus or 1,
        precision=source.stated("precision"),
        samples_per_s=rate,
        dataset="real",
        lines=f"lines {seconds[0][0]}-{seconds[-1][0]}",
        facts=f"{len(seconds)} epochs in {total:.6g} s",
    )
    return log, [reading]
