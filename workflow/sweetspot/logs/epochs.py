"""Logs with a row an epoch: Keras' CSV of `elapsed` seconds (the 2017 benchmark writes them so), and DAWNBench's
entries, a JSON about the machine and beside it a TSV with the hours after each epoch.
"""

import csv
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sweetspot.logs.reading import LogFile, Reading, framework_of, model_slug, not_negative, positive
from sweetspot.study.study import LogSource

# Top-1 accuracy (percent) of guessing, by the training samples of the two tasks that count epochs: CIFAR10, ImageNet.
CHANCE = {50_000: 10.0, 1_281_167: 0.1}
ABOVE_CHANCE = 1.2


def read_keras_csv(path: Path, source: LogSource) -> tuple[LogFile, list[Reading]]:
    """Samples a second = epochs x samples_per_epoch / sum of `elapsed`: the whole run, its first epoch included."""
    log = LogFile(path, source)
    seconds = _elapsed_seconds(log)
    if not seconds:
        log.fault(len(log.lines), "no epoch; expected at least one row")
        return log, []
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
            log.fault(number, f"{len(values)} values; expected {len(columns)}")
            continue
        row = dict(zip(reversed(columns), reversed(values), strict=True))  # of two columns of a name the first
        value, epoch = positive(row["elapsed"]), not_negative(row["epoch"])
        if value is None:
            log.fault(number, f"elapsed is {row['elapsed']!r}; expected seconds above 0")
        elif epoch is None or epoch % 1 or epoch <= before:
            log.fault(number, f"epoch is {row['epoch']!r} after {before:g}; expected rising whole numbers")
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


def read_dawnbench(path: Path, source: LogSource) -> tuple[LogFile, list[Reading]]:
    """Samples a second = epochs x samples_per_epoch / hours up to the last row: start, evaluation and input included.

    The file hashed and cited is the TSV. Raises UserError for a JSON without model, framework or hardware.
    """
    entry = _entry(LogFile(path, source))
    log = LogFile(path.with_suffix(".tsv"), source)
    span = _span(log)
    if span is None:
        return log, []
    line, epochs, hours = span
    framework, version = framework_of(str(entry["framework"]))
    model = source.model or model_slug(str(entry["model"]))
    cost = entry.get("costPerHour")
    facts = str(entry["hardware"]) + (f", costPerHour {cost}" if cost is not None else "")
    rate = epochs * source.stated("samples_per_epoch") / (hours * 3600)
    batch_size, gpus, precision = map(source.stated, ("batch_size", "gpus", "precision"))
    reading = Reading(
        model, source.framework or framework, version, batch_size, gpus, precision, rate, "real", f"line {line}", facts,
    )  # fmt: skip
    return log, [reading]


def _entry(file: LogFile) -> dict[str, Any]:
    try:
        entry = json.loads("\n".join(file.lines))
    except json.JSONDecodeError as error:
        file.refuse(error.lineno, f"not JSON ({error.msg}); expected a DAWNBench entry")
    except RecursionError:
        file.refuse(1, "nested too deeply; expected a DAWNBench entry")
    for key in ("model", "framework", "hardware"):
        if not isinstance(entry, dict) or key not in entry:
            file.refuse(1, f"key '{key}' is missing; expected a DAWNBench entry")
    return entry


def _span(log: LogFile) -> tuple[int, float, float] | None:
    """(last line, epochs trained, hours) of the training; epochs and hours must rise from row to row.

    A row is the end of its epoch by DAWNBench's rules. Of an entry whose first row is epoch 0 the accuracy tells which
    of two things it is: an evaluation before training (no better than guessing), or the first of epochs counted from 0,
    of which there is then one more than the last number says. The hours are all hours in both cases.
    """
    columns = log.lines[0].rstrip().split("\t") if log.lines else []
    _require(log, columns, ("epoch", "hours"), "epoch, hours, top1Accuracy separated by tabs")
    last: tuple[int, float, float] | None = None
    counted_from_0 = 0
    for number, text in _rows(log):
        values = text.split("\t")
        row = dict(zip(columns, values, strict=False))
        epoch, hours = not_negative(row.get("epoch")), not_negative(row.get("hours"))
        if len(values) < len(columns) or epoch is None or hours is None or (hours == 0 and epoch > 0):
            log.fault(number, f"{text[:60]!r}; expected epoch and hours above 0 in {len(columns)} columns")
        elif last and (epoch <= last[1] or hours <= last[2]):
            log.fault(number, f"epoch {epoch:g} at {hours:g} hours after epoch {last[1]:g}; expected both to rise")
        else:
            counted_from_0 += int(epoch == 0 and _trained(log, number, row))
            last = number, epoch, hours
    if last is None or last[1] + counted_from_0 == 0:
        log.fault(len(log.lines), "no epoch; expected at least one row")
        return None
    return last[0], last[1] + counted_from_0, last[2]


def _trained(log: LogFile, line: int, row: dict[str, str]) -> bool:
    """Whether a row of epoch 0 stands after training: its accuracy is above that of guessing."""
    samples, said = log.source.samples_per_epoch, row.get("top1Accuracy")
    chance, accuracy = CHANCE.get(samples or 0), not_negative(said)
    if chance is None or accuracy is None:
        known = " or ".join(map(str, CHANCE))
        log.refuse(line, f"epoch 0 with top1Accuracy {said!r} of {samples} samples; expected an accuracy, and "
                   f"samples_per_epoch {known}, to tell whether it was trained")  # fmt: skip
    return accuracy > ABOVE_CHANCE * chance
