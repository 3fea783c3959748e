"""What the output of a training script tells: lines, the steps in them, and the times between. No process here.

Output is hostile: it may be a gigabyte, one endless line, or escape sequences; only bounded parts of it are kept.
"""

import json
import math
import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sweetspot.study.scripts import JsonLines, Lines, Script

LONGEST = 16_384  # bytes of a line that are looked at; what is longer is cut
LAST = 20  # lines kept for the last words
SHORTEST_S = 0.01  # between two lines that the harness itself times: less would time the pipe
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Progress bars, the program's own first one: tqdm's form "{percent}%|{bar}| {step}/{total} [" (tqdm 4, format_meter).
BAR = r"\d+%\|[^|]*\|\s*(?P<step>\d+)/(?P<total>\d+) \["
PROGRESS = {
    "huggingface": rf"^\s*{BAR}",  # Trainer's bar has no name; bars of data sets and shards have one
    "lightning": rf"^Epoch \d+\S*\s+(?:{BAR}|[━╸╺ ]+(?P<rich_step>\d+)/(?P<rich_total>\d+) )",  # by tqdm or rich
    "keras": r"^\s*(?P<step>\d+)/(?P<total>\d+)\s+[━=>.]",
}


class Told(NamedTuple):
    """What one line says of the steps: any of the number of the last, seconds of one, a time, and the loss."""

    step: int | None = None
    seconds: float | None = None
    time: float | None = None
    loss: float | None = None
    total: int | None = None


class Interval(NamedTuple):
    """Seconds of a step, over so many steps."""

    seconds: float
    steps: int


class Splitter:
    """Bytes into lines, at line feeds and carriage returns (progress bars); keeps the last lines."""

    def __init__(self) -> None:
        self._open = b""
        self.last: deque[str] = deque(maxlen=LAST)

    def lines(self, chunk: bytes) -> Iterator[str]:
        """The lines that this chunk ends."""
        *whole, self._open = (self._open + chunk).replace(b"\r", b"\n").split(b"\n")
        self._open = self._open[:LONGEST]
        for raw in whole:
            line = _plain(raw)
            if line.strip():
                self.last.append(line[:300])
                yield line

    def words(self, longest: int = 180) -> str:
        """The last words, in one line; those in the end where they are too many."""
        rest = _plain(self._open).strip()
        lines = [line.strip() for line in (*self.last, rest) if line.strip()]
        text = lines[-1][-longest:] if lines else ""
        for line in reversed(lines[:-1]):
            if len(line) + len(text) + 3 > longest:
                break
            text = f"{line} | {text}"
        return text


def _plain(raw: bytes) -> str:
    return ESCAPES.sub("", raw[:LONGEST].decode("utf-8", "replace"))


def reader(script: Script, samples: int) -> Callable[[str], Told | None]:
    """What a line of the script's output (or of its JSON-lines file) tells; None for one that tells nothing."""
    told = script.steps
    if isinstance(told, Lines):
        return _by_pattern(re.compile(told.pattern), samples)
    if isinstance(told, JsonLines):
        return lambda line: _by_json(line, told)
    if told == "iterator":
        return lambda line: _by_json(line, JsonLines(step="step", seconds="seconds"))
    return _first_bar(_by_pattern(re.compile(PROGRESS[told]), samples))


def _by_pattern(pattern: re.Pattern[str], samples: int) -> Callable[[str], Told | None]:
    def read(line: str) -> Told | None:
        found = pattern.search(line)
        if found is None:
            return None
        value = {name: _number(text) for name, text in found.groupdict().items() if text is not None}
        seconds = value.get("seconds")
        if (thousandths := value.get("milliseconds")) is not None:
            seconds = thousandths / 1000
        if rate := value.get("rate"):
            seconds = samples / rate
        step, total = (value.get(name, value.get(f"rich_{name}")) for name in ("step", "total"))
        return _told(step, seconds, value.get("time"), value.get("loss"), total)

    return read


def _by_json(line: str, keys: JsonLines) -> Told | None:
    """The object of a line; one that lacks a key that was named tells nothing (an evaluation, a summary)."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    named = {name: getattr(keys, name) for name in ("step", "seconds", "time", "loss")}
    if any(key is not None and key not in said for name, key in named.items() if name != "loss"):
        return None
    value = {name: _number(said.get(key)) for name, key in named.items() if key is not None}
    return _told(value.get("step"), value.get("seconds"), value.get("time"), value.get("loss"))


def _told(
    step: float | None, seconds: float | None, time: float | None, loss: float | None, total: float | None = None
) -> Told:
    whole = int(step) if step is not None and math.isfinite(step) and abs(step) < 1e15 else None
    positive = seconds if seconds is not None and 0 < seconds < math.inf else None
    moment = time if time is not None and math.isfinite(time) else None
    return Told(whole, positive, moment, loss, None if total is None else int(total))


def _number(value: Any) -> float | None:
    """The number that a text or a JSON value is; `1,234` and `nan` too."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value.replace(",", "") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None


def _first_bar(read: Callable[[str], Told | None]) -> Callable[[str], Told | None]:
    """Only the bar with the first total: an evaluation between the epochs has its own."""
    totals: list[int] = []

    def first(line: str) -> Told | None:
        told = read(line)
        if told is None or told.total is None:
            return None
        totals.append(told.total) if not totals else None
        return told if told.total == totals[0] else None

    return first


class StepClock:
    """Steps told, with the time at which the harness read of them, into intervals.

    Where a line tells the seconds of a step they are taken. Else an interval lasts from one telling to the next, over
    the steps that lie between, by the script's own time where it tells one; the first telling only starts the clock.
    Lines that come together (a buffer was emptied, a bar was drawn twice) make one longer interval, so that the mean
    stays right. A number that falls is a new epoch: what lies before it is no step.
    """

    def __init__(self, every: int = 1) -> None:
        self._every = every
        self._since: float | None = None
        self._step: int | None = None
        self._steps = 0

    def told(self, told: Told, now: float) -> Interval | None:
        """The interval that this telling ends, or None."""
        if told.seconds is not None:
            return Interval(told.seconds, self._every)
        moment = now if told.time is None else told.time
        if self._since is None or self._fell(told):
            self._since, self._step, self._steps = moment, told.step, 0
            return None
        if told.step is None or self._step is None:
            self._steps += self._every
        else:
            self._steps = told.step - self._step
        passed = moment - self._since
        if self._steps < 1 or passed <= 0 or (told.time is None and passed < SHORTEST_S):
            return None
        interval = Interval(passed / self._steps, self._steps)
        self._since, self._step, self._steps = moment, told.step, 0
        return interval

    def _fell(self, told: Told) -> bool:
        return told.step is not None and self._step is not None and told.step < self._step
