"""MLPerf Training result files: lines `:::MLLOG {json}` among whatever else the run printed."""

import json
from pathlib import Path
from typing import Any

from sweetspot.logs.reading import LogFile, Reading
from sweetspot.study.log_sources import LogSource

MARK = ":::MLLOG "


def read_mlperf(path: Path, source: LogSource) -> tuple[LogFile, list[Reading]]:
    """Samples a second = epochs stopped x samples an epoch / (run_stop - run_start), evaluation included.

    Samples an epoch: the study's `samples_per_epoch`, else the log's `train_samples`. Batch per device: the log's
    `global_batch_size` / devices. A run that was not successful gives no figure.
    """
    log = LogFile(path, source)
    events, stopped = _events(log)
    start, stop = events.get("run_start"), events.get("run_stop")
    if start is None or stop is None:
        log.fault(len(log.lines), f"no '{'run_start' if start is None else 'run_stop'}'; the run did not finish")
        return log, []
    line, event = stop
    status = _about(event, "status")
    if status != "success":
        log.fault(line, f"run_stop has status {status!r}; only 'success' is a result")
        return log, []
    epochs = len(stopped)
    samples = source.samples_per_epoch or events.get("train_samples", (0, {}))[1].get("value")
    if not epochs or not isinstance(samples, int) or samples < 1:
        log.refuse(line, "no epoch_stop or no train_samples before it; give samples_per_epoch in study.yaml")
    batch = _batch(log, events)
    seconds = (event["time_ms"] - start[1]["time_ms"]) / 1000
    if not 0 < seconds < 1e9:
        log.refuse(line, f"run_stop is {seconds:g} s after run_start; expected a time above 0")
    facts = f"{epochs} epochs of {samples} in {seconds:.6g} s"
    rate = epochs * samples / seconds
    span = f"lines {start[0]}-{line}"
    reading = Reading(
        source.model, source.framework, "", batch, source.gpus, source.precision, rate, "real", span, facts
    )
    return log, [reading]


def _about(event: dict[str, Any], name: str) -> Any:
    metadata = event.get("metadata")
    return metadata.get(name) if isinstance(metadata, dict) else None


def _events(log: LogFile) -> tuple[dict[str, tuple[int, dict[str, Any]]], set[str]]:
    """The last (line, event) of each key, and all epochs that stopped."""
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    epochs: set[str] = set()
    for number, text in enumerate(log.lines, start=1):
        _, mark, rest = text.partition(MARK)
        if not mark:
            continue
        try:
            event = json.loads(rest)
            key, time = event["key"], event["time_ms"]
        except (ValueError, KeyError, TypeError, RecursionError):
            event = None
        if event is None or not isinstance(key, str) or not isinstance(time, int | float):
            log.fault(number, f"{text[:60]!r}; expected {MARK.strip()} and a JSON object with key and time_ms")
            continue
        found[key] = number, event
        if key == "epoch_stop":
            number_of = _about(event, "epoch_num")
            epochs.add(str(number if number_of is None else number_of))
    return found, epochs


def _batch(log: LogFile, events: dict[str, tuple[int, dict[str, Any]]]) -> int:
    """Batch per device. Raises UserError where log and study leave it open or disagree."""
    line, event = events.get("global_batch_size", (len(log.lines), {}))
    total = event.get("value")
    if total is None and log.source.batch_size is not None:
        return log.source.batch_size
    if not isinstance(total, int) or total < 1 or total % log.source.gpus:
        log.refuse(line, f"global_batch_size is {total!r}; expected a multiple of {log.source.gpus} devices")
    log.agreed("batch_size", log.source.batch_size, line, total // log.source.gpus)
    return total // log.source.gpus
