"""DAWNBench training entries: a JSON about the machine, and beside it a TSV with the hours after each epoch."""

import json
from pathlib import Path
from typing import Any

from sweetspot.logs.reading import LogFile, Reading, framework_of, model_slug, not_negative
from sweetspot.study.log_sources import LogSource


def read_dawnbench(path: Path, source: LogSource) -> tuple[LogFile, list[Reading]]:
    """Samples a second = epochs x samples_per_epoch / hours up to the last row: evaluation and input included.

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
    rate = epochs * source.samples_per_epoch / (hours * 3600)
    reading = Reading(
        model, source.framework or framework, version, source.batch_size, source.gpus, source.precision, rate, "real",
        f"line {line}", facts,
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
    """(last line, epochs, hours) of the training; epochs and hours must rise from row to row.

    Some entries call their first row epoch 0. Whether an epoch was trained by then is not said, so the span from that
    row to the last is taken; other entries count from nothing.
    """
    columns = log.lines[0].rstrip().split("\t") if log.lines else []
    for needed in ("epoch", "hours"):
        if needed not in columns:
            log.refuse(1, f"column '{needed}' is missing; expected epoch, hours, top1Accuracy separated by tabs")
    rows: list[tuple[int, float, float]] = []
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
            rows.append((number, epoch, hours))
    first = rows[0] if rows and rows[0][1] == 0 else (0, 0.0, 0.0)
    if not rows or rows[-1][1] == 0:
        log.fault(len(log.lines), "no epoch; expected at least one row")
        return None
    return rows[-1][0], rows[-1][1] - first[1], rows[-1][2] - first[2]
