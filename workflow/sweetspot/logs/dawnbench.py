"""DAWNBench training entries: a JSON about the machine, and beside it a TSV with the hours after each epoch."""

import json
from pathlib import Path
from typing import Any

from sweetspot.logs.reading import LogFile, Reading, framework_of, model_slug, not_negative
from sweetspot.study.log_sources import LogSource

# Top-1 accuracy (percent) of guessing, by the training samples of the two tasks that count epochs: CIFAR10, ImageNet.
CHANCE = {50_000: 10.0, 1_281_167: 0.1}
ABOVE_CHANCE = 1.2


def read_dawnbench(path: Path, source: LogSource) -> tuple[LogFile, list[Reading]]:
    """Samples a second = epochs x samples_per_epoch / hours up to the last row: start, evaluation and input included.

    The file hashed and cited is the TSV. Raises UserError for a JSON without model, framework or hardware.
    """
    entry = _entry(path, source)
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
    batch_size, gpus, precision = (source.stated(name) for name in ("batch_size", "gpus", "precision"))
    reading = Reading(
        model, source.framework or framework, version, batch_size, gpus, precision, rate, "real", f"line {line}", facts,
    )  # fmt: skip
    return log, [reading]


def _entry(path: Path, source: LogSource) -> dict[str, Any]:
    file = LogFile(path, source)
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
    for needed in ("epoch", "hours"):
        if needed not in columns:
            log.refuse(1, f"column '{needed}' is missing; expected epoch, hours, top1Accuracy separated by tabs")
    rows: list[tuple[int, float, float]] = []
    counted_from_0 = 0
    for number, text in enumerate(log.lines[1:], start=2):
        if not text.strip():
            continue
        values = text.split("\t")
        row = dict(zip(columns, values, strict=False))
        epoch, hours = not_negative(row.get("epoch")), not_negative(row.get("hours"))
        if len(values) < len(columns) or epoch is None or hours is None or (hours == 0 and epoch > 0):
            log.fault(number, f"{text[:60]!r}; expected epoch and hours above 0 in {len(columns)} columns")
        elif rows and (epoch <= rows[-1][1] or hours <= rows[-1][2]):
            log.fault(number, f"epoch {epoch:g} at {hours:g} hours after epoch {rows[-1][1]:g}; expected both to rise")
        else:
            counted_from_0 += int(epoch == 0 and _trained(log, number, row))
            rows.append((number, epoch, hours))
    if not rows or rows[-1][1] + counted_from_0 == 0:
        log.fault(len(log.lines), "no epoch; expected at least one row")
        return None
    return rows[-1][0], rows[-1][1] + counted_from_0, rows[-1][2]


def _trained(log: LogFile, line: int, row: dict[str, str]) -> bool:
    """Whether a row of epoch 0 stands after training: its accuracy is above that of guessing."""
    chance = CHANCE.get(log.source.samples_per_epoch or 0)
    accuracy = not_negative(row.get("top1Accuracy"))
    if chance is None or accuracy is None:
        found = f"epoch 0 with top1Accuracy {row.get('top1Accuracy')!r} of {log.source.samples_per_epoch} samples"
        known = " or ".join(map(str, CHANCE))
        log.refuse(
            line, f"{found}; expected an accuracy, and samples_per_epoch {known}, to tell whether it was trained"
        )
    return accuracy > ABOVE_CHANCE * chance
