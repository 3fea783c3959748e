"""Logs with a row an epoch: Keras' CSV of `elapsed` seconds, as the 2017 benchmark writes it."""

import math
from pathlib import Path

from sweetspot.logs.reading import LogFile, Reading, not_negative, positive
from sweetspot.study.study import LogSource


def read_keras_csv(path: Path, source: LogSource) -> tuple[LogFile, list[Reading]]:
    """Read the CSV that Keras logs with a row an epoch as a published speed: return the file and one Reading of
    samples per second, epochs x samples_per_epoch / sum of `elapsed` (all epochs). `source`: its entry in study.yaml.
    """
    log = LogFile(path, source)
    seconds = _elapsed_seconds(log)
    if not seconds:
        log.refuse(len(log.lines), "no epoch; expected at least one row")
    total = math.fsum(seconds.values())
    rate = len(seconds) * source.stated("samples_per_epoch") / total
    model, framework, batch_size, precision = map(source.stated, ("model", "framework", "batch_size", "precision"))
    lines, facts = f"lines {min(seconds)}-{max(seconds)}", f"{len(seconds)} epochs in {total:.6g} s"
    gpus = source.gpus or 1
    return log, [Reading(model, framework, "", batch_size, gpus, precision, rate, "real", lines, facts)]


def _elapsed_seconds(log: LogFile) -> dict[int, float]:
    """Return {line number: seconds of its epoch} of a Keras CSV log, checked; of two columns with one name the first
    is read. UserError (by `log`) names a line with a wrong value.
    """
    columns, *rows = [[text.strip() for text in line.split(",")] for line in log.lines] or [[]]
    for name in ("epoch", "elapsed"):
        if name not in columns:
            log.refuse(1, f"column '{name}' is missing; expected epoch, elapsed, ... (seconds of each epoch)")
    seconds: dict[int, float] = {}
    previous = -1.0
    for number, values in enumerate(rows, start=2):
        if values == [""]:
            continue
        if len(values) != len(columns):
            log.refuse(number, f"{len(values)} values; expected {len(columns)}")
        elapsed_text, epoch_text = (values[columns.index(name)] for name in ("elapsed", "epoch"))
        elapsed, epoch = positive(elapsed_text), not_negative(epoch_text)
        if elapsed is None:
            log.refuse(number, f"elapsed is {elapsed_text!r}; expected seconds above 0")
        if epoch is None or epoch % 1 or epoch <= previous:
            log.refuse(number, f"epoch is {epoch_text!r} after {previous:g}; expected rising whole numbers")
        seconds[number] = elapsed
        previous = epoch
    return seconds
