"""Read the output of a training script: its lines, the steps that they report, and the times between. No process.
Output may be a gigabyte, one endless line, or escape sequences; only bounded parts of it are kept.
"""

import json
import math
import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from sweetspot.harness.step_times import Interval
from sweetspot.logs.patterns import BY_NAME
from sweetspot.study.scripts import GROUPS, JsonLines, Lines, Script

MAX_LINE_BYTES = 16_384  # longer lines are cut
LAST_LINES = 60
RATE_TOLERANCE = 0.05  # of the clock's time
LATE_READING_S = 0.05  # a line may be read so late on a busy machine
MIN_INTERVAL_S = 0.01  # less between two lines would time the pipe
MAX_COUNT = 1e15  # a larger number is that of no step
MIN_LINES, MAX_LINES = 12, 10_000  # of which the moments say whether several processes print each step
GAP_SHARE = 0.25  # of a long gap between such lines; those that are closer belong to one step
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# A JSON line with the result of an evaluation: {"eval_loss": 0.4} (Trainer), {"val_acc": 0.9} (Lightning).
EVALUATION = r'^\s*\{.*"(?:eval|val|valid|validation|test)[_/]\w+"\s*:'


@dataclass(frozen=True)
class StepReport:
    """What one line of a script reports; `after_pause`: other work than training was done since the last report."""

    step: int | None = None
    seconds: float | None = None  # of one step
    time: float | None = None  # of any clock, s
    loss: float | None = None
    steps: int | None = None  # since the last line, where that says no number
    after_pause: bool = False


class LineSplitter:
    """Splits bytes into lines, at line feeds and at carriage returns (progress bars); keeps the last lines. A bar
    begins with its carriage return, so its end may be seen only when the next line begins, after a validation perhaps:
    the moment of a line is that of its own last byte.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._rest_moment = 0.0
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES)

    def split(self, chunk: bytes, now: float = 0.0) -> Iterator[tuple[str, float]]:
        """Yield (line, moment) of each line that ends in `chunk`, bytes of a script's output read at `now` (s): its
        text, and when its last byte came, by which steps are timed.
        """
        rest_length, moment = len(self._rest), self._rest_moment
        *lines, self._rest = (self._rest + chunk).replace(b"\r", b"\n").split(b"\n")
        if lines or len(self._rest.rstrip(b"\b")) > rest_length:
            self._rest_moment = now
        self._rest = self._rest[:MAX_LINE_BYTES]
        for raw in lines:
            # The first line may have been complete before this chunk, which only ends it.
            moment = moment if 0 < len(raw.rstrip(b"\b")) <= rest_length else now
            rest_length = 0
            text = _decode(raw)
            if text.strip():
                self.last_lines.append(text[:300])
                yield text, moment

    def ending(self, max_length: int = 180) -> str:
        """Return the end of a script's output (up to `max_length` characters) as one line, for a failure's message."""
        lines = [line.strip() for line in (*self.last_lines, _decode(self._rest))]
        text = " | ".join(filter(None, lines))
        if len(text) <= max_length:
            return text
        return text[-max_length:].partition(" | ")[2] or text[-max_length:]


def _decode(raw: bytes) -> str:
    """Return a raw line as text, cut to MAX_LINE_BYTES and without escape sequences."""
    return ESCAPES.sub("", raw[:MAX_LINE_BYTES].decode("utf-8", "replace"))


class StepReader:
    """Reads step reports from the lines of a script's output, or of its JSON-lines file, as its description says.
    `samples`: units that a step trains on, all devices together; `devices`: how many (some print the rate of one).
    """

    def __init__(self, script: Script, samples: int, devices: int = 1) -> None:
        steps = script.steps
        pattern = pause = None
        self._keys: dict[str, str] = {}
        self._samples = samples
        self._last_is_late = False
        self._first_total: float | None = None
        self._is_paused = False
        if isinstance(steps, Lines):
            pattern, pause = steps.pattern, steps.apart
        elif isinstance(steps, JsonLines):
            self._keys = {name: key for name in GROUPS if (key := getattr(steps, name))}
            # Times of lines without a number are taken as they are, whatever was done between the lines.
            is_timed = "step" not in self._keys and self._keys.keys() - {"loss"}
            pause = None if is_timed else EVALUATION
        elif steps == "iterator":
            self._keys = {"seconds": "seconds"}
        else:
            program = BY_NAME[steps]
            pattern, pause, self._last_is_late = program.pattern, program.pause, program.last_is_late
            self._samples = samples // devices if program.per_device else samples
        self._pattern = pattern and re.compile(pattern)
        self._pause = re.compile(pause or r"(?!)")

    def read(self, line: str) -> StepReport | None:
        """Return the training step that a line of output reports (number, seconds, loss), to time it; else None."""
        if self._pattern:
            match = self._pattern.search(line)
            groups = match.groupdict().items() if match else ()
            values = match and _numbers({name.removeprefix("rich_"): text for name, text in groups if text})
        else:
            values = self._parse_json(line)
        if values is not None and "total" in values:
            # An evaluation between the epochs has a bar with another total.
            self._first_total = self._first_total or values["total"]
            values = values if values["total"] == self._first_total else None
        if values is None:
            self._is_paused = self._is_paused or self._pause.search(line) is not None
            return None
        after_pause, self._is_paused = self._is_paused, False
        return self._report(values, after_pause)

    def _parse_json(self, line: str) -> dict[str, float] | None:
        """Return the numbers that a JSON line of a script reports, {name: number} (step, seconds, loss, ...); None for
        another line, or if a key that the script's description names is missing.
        """
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return None
        keys = self._keys.items()
        if not isinstance(record, dict) or any(key not in record for name, key in keys if name != "loss"):
            return None
        return _numbers({name: record[key] for name, key in keys if key in record})

    def _report(self, values: dict[str, float], after_pause: bool) -> StepReport:
        """Make a StepReport of the numbers in a line of output, {name: number} (step, rate, ...); a rate or
        milliseconds become seconds of a step. `after_pause`: other work than training was done before.
        """
        seconds = values.get("seconds", math.nan)
        if rate := values.get("rate"):
            seconds = self._samples / rate
        if steps_per_s := values.get("steps_per_s"):
            seconds = 1 / steps_per_s
        if "milliseconds" in values:
            seconds = values["milliseconds"] / 1000
        time = values.get("time", math.nan)
        counts = (values.get(name, math.nan) for name in ("step", "steps"))
        step, steps = (int(count) if abs(count) < MAX_COUNT else None for count in counts)
        return StepReport(
            step=step,
            seconds=seconds if 0 < seconds < math.inf else None,
            time=time if math.isfinite(time) else None,
            loss=values.get("loss"),
            steps=steps,
            # Keras draws the last step of an epoch after its validation: its time is not that of steps.
            after_pause=after_pause or (self._last_is_late and values.get("step") == values.get("total")),
        )


def _numbers(values: dict[str, Any]) -> dict[str, float]:
    """Return those of {name: text or JSON value} in a line of output that are numbers, as floats: '1,234', 'nan'."""
    numbers = {}
    for name, value in values.items():
        with suppress(ValueError):
            if not isinstance(value, bool):
                numbers[name] = float(str(value).replace(",", ""))
    return numbers


class RateComparison:
    """Sums the seconds of the same steps by the script's own lines and by the harness's clock, to compare both. Lines
    that are read together (a buffer) are one comparison with those before them, whose moments mean nothing.
    """

    def __init__(self) -> None:
        self._read_at: float | None = None
        self.clear()

    def clear(self) -> None:
        """Set both sums to 0, so that the steps so far (the warm-up) do not count."""
        self.reported_s = self.clock_s = 0.0
        self.steps = 0
        self.begin(self._read_at)

    def begin(self, now: float | None) -> None:
        """Begin the next comparison at the moment `now` (s), so that a pause or an old epoch does not count."""
        self._read_at = now
        self._pending_s = 0.0
        self._pending_steps = 0

    def add(self, reported: Interval, now: float) -> None:
        """Add steps (mean seconds, number) that the script reported, read at `now` (s), to compare with the clock."""
        self._pending_s += reported.seconds * reported.steps
        self._pending_steps += reported.steps
        if self._read_at is not None and now - self._read_at >= MIN_INTERVAL_S:
            self.reported_s += self._pending_s
            self.steps += self._pending_steps
            self.clock_s += now - self._read_at
            self.begin(now)

    def disagrees(self) -> bool:
        """Return True if reported and clock seconds differ by over 5 % and by over 50 ms, a late reading."""
        difference_s = abs(self.reported_s - self.clock_s)
        return difference_s > max(RATE_TOLERANCE * self.clock_s, LATE_READING_S)


class StepClock:
    """Turns step reports and the moments at which they were read into intervals (timed steps). Numbered steps are
    timed: an interval lasts from one number to the next, by the script's own time where it reports one. Reported
    seconds are then only compared, since they may be a smoothed mean, or of one device. Seconds without a number are
    taken as they are. The first report only starts the clock. Lines that are read together make one longer interval,
    so that the mean stays right. A number that falls begins a new epoch; what lies before it is not timed, nor is a
    pause. After a pause the clock starts at the first number above the last one, as a bar may repeat its old count.
    """

    def __init__(self, steps_per_line: int = 1) -> None:
        self._steps_per_line = steps_per_line
        self._started: float | None = None
        self._step: int | None = None
        self._steps = 0
        self._is_paused = False
        self.pauses = 0
        self.has_numbers = False
        self.comparison = RateComparison()

    def add(self, report: StepReport, now: float) -> Interval | None:
        """Return the interval (mean seconds of a step, number of steps) that ends with a line's report, read at `now`
        (s), for the run's timing; None if it ends none, such as the first report, which starts the clock.
        """
        step = report.step
        moment = now if report.time is None else report.time
        self.has_numbers = self.has_numbers or step is not None
        is_resumed = report.after_pause or self._is_paused
        if is_resumed:
            self.pauses += not self._is_paused
            self._is_paused = step is not None and step == self._step
        is_new_epoch = step is not None and self._step is not None and step < self._step
        is_start = is_resumed or is_new_epoch or self._started is None
        if is_start:
            self._start(moment, step)
            self.comparison.begin(now)
        if report.seconds is not None and step is None:
            interval = Interval(report.seconds, self._steps_per_line)
            if not is_start:
                self.comparison.add(interval, now)
            return None if is_resumed else interval
        if is_start or self._started is None:
            return None
        if step is None or self._step is None:
            self._steps += report.steps or self._steps_per_line
        else:
            self._steps = step - self._step
        passed_s = moment - self._started
        is_too_short = report.time is None and passed_s < MIN_INTERVAL_S
        if self._steps < 1 or passed_s <= 0 or is_too_short:
            return None
        interval = Interval(passed_s / self._steps, self._steps)
        if report.seconds is not None or report.time is not None:
            self.comparison.add(interval._replace(seconds=report.seconds or interval.seconds), now)
        self._start(moment, step)
        return interval

    def _start(self, moment: float, step: int | None) -> None:
        """Begin the next interval at this moment (s) and step number."""
        self._started, self._step, self._steps = moment, step, 0


def lines_per_step(moments: Sequence[float]) -> int:
    """Return how many processes print each step, judged by lines that come together, to warn of a speed that is too
    high by this factor; 1 for fewer than twelve lines. `moments`: when lines without number or time were read (s).
    """
    if len(moments) < MIN_LINES:
        return 1
    gaps = np.diff(moments)
    # Of up to ten processes a tenth of the gaps are those between steps.
    groups = 1 + int((gaps >= GAP_SHARE * np.quantile(gaps, 0.9)).sum())
    return round(len(moments) / groups)
