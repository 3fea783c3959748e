"""Read the output of a training script: its lines, the steps that they report, and the times between. No process.

Output may be a gigabyte, one endless line, or escape sequences; only bounded parts of it are kept.
"""

import json
import math
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sweetspot.errors import UserError
from sweetspot.harness.step_times import Interval
from sweetspot.logs.patterns import BY_NAME
from sweetspot.study.scripts import GROUPS, JsonLines, Lines, Script

MAX_LINE_BYTES = 16_384  # longer lines are cut
LAST_LINES = 60
TIME_GROUPS = {"seconds", "milliseconds", "rate", "steps_per_s"}
RATE_TOLERANCE = 0.05  # of the clock's time
LATE_READING_S = 0.05  # a line may be read so late on a busy machine
MIN_INTERVAL_S = 0.01  # less between two lines would time the pipe
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# A JSON line with the result of an evaluation: {"eval_loss": 0.4} (Trainer), {"val_acc": 0.9} (Lightning).
EVALUATION = r'^\s*\{.*"(?:eval|val|valid|validation|test)[_/]\w+"\s*:'
STEPS_PER_SECOND = re.compile(
    r"\s*(?:it|its|iter|iters|iterations?|steps?|batch|batches)(?:/s|/sec| per second| a second)"
)


@dataclass(frozen=True)
class StepReport:
    """What one line reports; `after_pause`: since the last report something else than training was done."""

    step: int | None = None
    seconds: float | None = None  # of one step
    time: float | None = None  # of any clock, s
    loss: float | None = None
    total: int | None = None
    steps: int | None = None  # since the last line, where that says no number
    after_pause: bool = False


class LineSplitter:
    """Splits bytes into lines, at line feeds and at carriage returns (progress bars); keeps the last lines.

    A bar begins with its carriage return, so its end may be seen only when the next line begins, after a validation
    perhaps: the moment of a line is that of its own last byte.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._rest_moment = 0.0
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES)

    def split(self, chunk: bytes, now: float = 0.0) -> Iterator[tuple[str, float]]:
        """Yield the lines that end in this chunk, read at `now`, and when the last byte of each was read."""
        rest_length, rest_moment = len(self._rest), self._rest_moment
        *lines, self._rest = (self._rest + chunk).replace(b"\r", b"\n").split(b"\n")
        if lines or len(self._rest.rstrip(b"\b")) > rest_length:
            self._rest_moment = now
        self._rest = self._rest[:MAX_LINE_BYTES]
        for index, raw in enumerate(lines):
            text = _decode(raw)
            if text.strip():
                self.last_lines.append(text[:300])
                was_complete = index == 0 and 0 < len(raw.rstrip(b"\b")) <= rest_length
                yield text, rest_moment if was_complete else now

    def ending(self, max_length: int = 180) -> str:
        """Return the last lines in one, as many as fit."""
        lines = [line.strip() for line in (*self.last_lines, _decode(self._rest))]
        text = " | ".join(filter(None, lines))
        if len(text) <= max_length:
            return text
        return text[-max_length:].partition(" | ")[2] or text[-max_length:]


def _decode(raw: bytes) -> str:
    return ESCAPES.sub("", raw[:MAX_LINE_BYTES].decode("utf-8", "replace"))


class StepReader:
    """Reads step reports from the lines of a script's output, or of its JSON-lines file.

    Parameters
    ----------
    script
        The script, which says how it reports its steps.
    samples
        Units that a step trains on, all devices together.
    devices
        How many train; some programs print the rate of one.
    """

    def __init__(self, script: Script, samples: int, devices: int = 1) -> None:
        steps = script.steps
        pattern = pause = ""
        self._keys: dict[str, str] = {}
        self._samples = samples
        self._last_is_late = False
        self._first_total: int | None = None
        self._is_paused = False
        if isinstance(steps, Lines):
            pattern = steps.pattern
            pause = steps.apart or ""
        elif isinstance(steps, JsonLines):
            self._keys = {name: key for name in GROUPS if (key := getattr(steps, name))}
            # Times of lines without a number are taken as they are, whatever was done between the lines.
            is_timed = "step" not in self._keys and TIME_GROUPS & self._keys.keys()
            pause = "" if is_timed else EVALUATION
        elif steps == "iterator":
            self._keys = {"seconds": "seconds"}
        else:
            program = BY_NAME[steps]
            pattern, pause, self._last_is_late = program.pattern, program.pause, program.last_is_late
            self._samples = samples // devices if program.per_device else samples
        self._pattern = re.compile(pattern) if pattern else None
        self._pause = re.compile(pause or r"(?!)")

    def read(self, line: str) -> StepReport | None:
        """Return what a line reports, or None.

        Raises
        ------
        UserError
            Where a rate is one of steps, not of samples.
        """
        values = self._match(line) if self._pattern else self._parse_json(line)
        if values is not None and "total" in values:
            # An evaluation between the epochs has a bar with another total.
            total = _integer(values["total"])
            self._first_total = self._first_total or total
            values = values if total == self._first_total else None
        if values is None:
            self._is_paused = self._is_paused or self._pause.search(line) is not None
            return None
        after_pause, self._is_paused = self._is_paused, False
        return self._report(values, after_pause)

    def _match(self, line: str) -> dict[str, float | None] | None:
        assert self._pattern is not None
        match = self._pattern.search(line)
        if match is None:
            return None
        groups = {name: text for name, text in match.groupdict().items() if text is not None}
        if _number(groups.get("rate")) and STEPS_PER_SECOND.match(line, match.end("rate")):
            text = line.strip()[:80]
            raise UserError(f"the group 'rate' is samples a second, and steps a second follow it: {text!r}")
        return {name.removeprefix("rich_"): _number(text) for name, text in groups.items()}

    def _parse_json(self, line: str) -> dict[str, float | None] | None:
        """Return the values of an object; None if it lacks a named key, as an evaluation or a summary does."""
        if not line.lstrip().startswith("{"):
            return None
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if any(key not in record for name, key in self._keys.items() if name != "loss"):
            return None
        return {name: _number(record.get(key)) for name, key in self._keys.items()}

    def _report(self, values: Mapping[str, float | None], after_pause: bool) -> StepReport:
        milliseconds, rate, steps_per_s = (values.get(name) for name in ("milliseconds", "rate", "steps_per_s"))
        seconds, time = values.get("seconds"), values.get("time")
        if milliseconds is not None:
            seconds = milliseconds / 1000
        elif rate or steps_per_s:
            seconds = self._samples / rate if rate else 1 / (steps_per_s or math.nan)
        step, total, steps = (_integer(values.get(name)) for name in ("step", "total", "steps"))
        return StepReport(
            step=step,
            seconds=seconds if seconds is not None and 0 < seconds < math.inf else None,
            time=time if time is not None and math.isfinite(time) else None,
            loss=values.get("loss"),
            total=total,
            steps=steps,
            # Keras draws the last step of an epoch after its validation: its time is not that of steps.
            after_pause=after_pause or (self._last_is_late and step == total),
        )


def _integer(value: float | None) -> int | None:
    return int(value) if value is not None and math.isfinite(value) and abs(value) < 1e15 else None


def _number(value: Any) -> float | None:
    """Convert a text or a JSON value, also '1,234' and 'nan'; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value.replace(",", "") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None


class RateComparison:
    """Seconds of the same steps by the script's own lines and by the harness's clock.

    Lines that are read together (a buffer was emptied) are one comparison with those before them, since their own
    moments mean nothing.
    """

    def __init__(self) -> None:
        self.begin(None)
        self.clear()

    def clear(self) -> None:
        """Leave out all steps so far (the warm-up)."""
        self.reported_s = self.clock_s = 0.0
        self.steps = 0
        self.begin(self._read_at)

    def begin(self, now: float | None) -> None:
        """Leave out what lies before this moment (a pause, a new epoch)."""
        self._read_at = now
        self._pending_s = 0.0
        self._pending_steps = 0

    def add(self, reported_s: float, steps: int, now: float) -> None:
        """Add a line of the script.

        Parameters
        ----------
        reported_s
            Seconds of its steps together, as it says.
        steps
            How many steps it stands for.
        now
            When it was read, s.
        """
        if self._read_at is None:
            return
        self._pending_s += reported_s
        self._pending_steps += steps
        if now - self._read_at >= MIN_INTERVAL_S:
            self.reported_s += self._pending_s
            self.steps += self._pending_steps
            self.clock_s += now - self._read_at
            self.begin(now)

    def disagrees(self) -> bool:
        """True if the two differ by more than 5 %, and by more than a late reading explains."""
        difference_s = abs(self.reported_s - self.clock_s)
        return difference_s > max(RATE_TOLERANCE * self.clock_s, LATE_READING_S)


class StepClock:
    """Turns step reports and the moments at which they were read into intervals.

    Numbered steps are timed: an interval lasts from one number to the next, by the script's own time where it reports
    one. Reported seconds are then only compared, since they may be a smoothed mean, or of one device. Seconds without
    a number are taken as they are. The first report only starts the clock. Lines that are read together make one longer
    interval, so that the mean stays right. A number that falls begins a new epoch; what lies before it is not timed,
    nor is a pause. After a pause the clock starts at the first number above the last one, since a bar may draw its old
    count again.
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
        """Return the interval that this report ends, or None."""
        step = report.step
        seconds = report.seconds
        moment = now if report.time is None else report.time
        self.has_numbers = self.has_numbers or step is not None
        is_resumed = report.after_pause or self._is_paused
        if is_resumed:
            self.pauses += not self._is_paused
            self._is_paused = step is not None and step == self._step
        is_new_epoch = step is not None and self._step is not None and step < self._step
        if is_resumed or is_new_epoch or self._started is None:
            self._started, self._step, self._steps = moment, step, 0
            self.comparison.begin(now)
            has_only_seconds = seconds is not None and step is None and not is_resumed
            return Interval(seconds, self._steps_per_line) if has_only_seconds and seconds is not None else None
        if seconds is not None and step is None:
            self.comparison.add(seconds * self._steps_per_line, self._steps_per_line, now)
            return Interval(seconds, self._steps_per_line)
        if step is None or self._step is None:
            self._steps += report.steps or self._steps_per_line
        else:
            self._steps = step - self._step
        passed_s = moment - self._started
        is_too_short = report.time is None and passed_s < MIN_INTERVAL_S
        if self._steps < 1 or passed_s <= 0 or is_too_short:
            return None
        interval = Interval(passed_s / self._steps, self._steps)
        if seconds is not None or report.time is not None:
            self.comparison.add((interval.seconds if seconds is None else seconds) * self._steps, self._steps, now)
        self._started, self._step, self._steps = moment, step, 0
        return interval


class RepeatDetector:
    """Detects that several processes print each step, from the moments of lines without a number or time."""

    MIN_LINES, MAX_LINES = 12, 10_000
    GAP_SHARE = 0.25  # of a long gap; lines that are closer belong to one step

    def __init__(self) -> None:
        self._moments: list[float] = []

    def add(self, report: StepReport, now: float) -> None:
        """Note a line; one with a number or time cannot be mistaken for another step."""
        is_bare = report.step is None and report.time is None and report.seconds is None
        if is_bare and len(self._moments) < self.MAX_LINES:
            self._moments.append(now)

    def lines_per_step(self) -> int:
        """Return how many lines come together on average; 1 for fewer than twelve lines."""
        if len(self._moments) < self.MIN_LINES:
            return 1
        gaps = np.diff(self._moments)
        # Of up to ten processes a tenth of the gaps are those between steps.
        groups = 1 + int((gaps >= self.GAP_SHARE * np.quantile(gaps, 0.9)).sum())
        return round(len(self._moments) / groups)
