"""Throughput from a log whose lines are in the table of patterns."""

import math
import re
from pathlib import Path

from sweetspot.logs.patterns import BY_NAME
from sweetspot.logs.reading import LogFile, Reading, uncoloured
from sweetspot.study.study import LogSource

WARMUP_LINES = 2  # lines of steps that are left out: the first steps compile and fill caches
FEWEST_LINES = 5  # below which none is left out
TOLERANCE = 0.05  # by which two figures of one log may differ


def read_pattern_log(path: Path, source: LogSource) -> tuple[LogFile, list[Reading]]:
    """Read a training program's log as a published speed; return the file and one Reading: samples (or tokens) per
    second on all devices. Lines of steps after the warm-up are averaged by time; of a progress bar or summary the last
    line is used. Where several processes print each step the first line is used. `source`: the log's entry in
    study.yaml. Raises UserError for a log without such lines, with a loss that is no number, with a number that falls
    (a second or a resumed run), or whose rate and time of a step are not those of the batch that the study states.
    """
    log = LogFile(path, source, undecodable="replace")
    log_format = BY_NAME[source.format]
    pattern = re.compile(log_format.pattern)
    steps: list[dict[str, float]] = []
    for number, raw in enumerate(log.lines, start=1):
        match = pattern.search(uncoloured(raw))
        if match is None:
            continue
        values = {name: _number(text) for name, text in match.groupdict().items() if text is not None}
        if not math.isfinite(values.get("loss", 0.0)):
            log.refuse(number, f"the loss is {match['loss']}; such steps train nothing and are no throughput")
        if values.get("rate") == 0:
            log.refuse(number, "the rate is 0, as of a run that crashed; expected a number above 0")
        step = values.get("step", number)
        if steps and step < steps[-1].get("step", 0):
            log.refuse(number, f"step {step:g} follows {steps[-1]['step']:g}; expected one run a file, not resumed")
        if not steps or step > steps[-1].get("step", 0):
            steps.append(values | {"line": number})
    if not steps:
        log.refuse(len(log.lines), f"no line of {source.format}; expected such as {log_format.sample[:60]!r}")

    last = steps[-1]
    counts_by_last_line = "elapsed" in last or "mean_milliseconds" in last
    timed = [last] if counts_by_last_line else steps[WARMUP_LINES:] if len(steps) >= FEWEST_LINES else steps
    model, framework, precision, batch_size, gpus = map(
        source.stated, ("model", "framework", "precision", "batch_size", "gpus")
    )
    devices, batch = gpus if log_format.per_device else 1, batch_size * gpus
    if "rate" in last:
        units_per_s = devices * _mean_rate(timed)
        if log_format.counts != "tokens":
            _check_batch(log, timed, devices, batch)
    elif "milliseconds" in last:
        units_per_s = batch * 1000 * len(timed) / sum(values["milliseconds"] for values in timed)
    elif "mean_milliseconds" in last:
        units_per_s = batch * 1000 / last["mean_milliseconds"]
    else:
        units_per_s = batch * last.get("step", last.get("rich_step", 0.0)) / last["elapsed"]
    lines, facts = f"lines {timed[0]['line']:.0f}-{last['line']:.0f}", f"{len(timed)} lines"
    notes = ("synthetic", lines, facts)
    return log, [Reading(model, framework, "", batch_size, gpus, precision, units_per_s, *notes)]


def _mean_rate(timed: list[dict[str, float]]) -> float:
    """Return the harmonic mean of the lines' `rate` (units per second): the rate at the mean time per unit."""
    return len(timed) / sum(1 / values["rate"] for values in timed)


def _check_batch(log: LogFile, timed: list[dict[str, float]], devices: int, batch: int) -> None:
    """Raise UserError if a log contradicts the study: samples/s x seconds of a step is not the stated `batch` (samples
    of all devices). `timed`: per log line {`rate`, `step`, ...: number}; `devices`: factor on the rate.
    """
    first, last = timed[0], timed[-1]
    units_per_s = devices * _mean_rate(timed[1:] or timed)  # the steps between the first and the last line
    if "steps_per_s" in last:
        step_s = 1 / last["steps_per_s"]
    elif "clock" in last and len(timed) > 1:
        step_s = (last["clock"] - first["clock"]) / (last["step"] - first["step"])
    else:
        return
    implied_batch = units_per_s * step_s
    if step_s > 0 and abs(implied_batch / batch - 1) > TOLERANCE:
        figures = f"{units_per_s:.4g} a second x {step_s:.4g} s a step is {implied_batch:.4g}"
        log.refuse(int(last["line"]), f"{figures}; the study states {batch}")


def _number(text: str) -> float:
    """Return the number in a log's text, `1,234.5`, or the seconds of a time, `7:32:52`; NaN for any other text."""
    try:
        parts = [float(part) for part in text.replace(",", "").split(":")]
    except ValueError:
        return math.nan
    return sum(part * 60**exponent for exponent, part in enumerate(reversed(parts)))
