"""What the output of a training script tells: lines, the steps in them, and the times between. No process here.

Output is hostile: it may be a gigabyte, one endless line, or escape sequences; only bounded parts of it are kept.
"""

import json
import math
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from sweetspot.errors import UserError
from sweetspot.harness.step_times import Interval
from sweetspot.logs.patterns import BY_NAME
from sweetspot.study.scripts import GROUPS, JsonLines, Lines, Script

LONGEST = 16_384  # bytes of a line that are looked at; what is longer is cut
LAST = 60  # lines kept for the last words
FEWEST_LINES, MOST_LINES = 12, 10_000  # by which groups of lines are known
TOGETHER = 0.25  # of a long gap between two lines, below which they are of one group
ALIKE = 0.8  # of the groups must be of one size
RATE_TOLERANCE = 0.05  # of the clock's time, by which a script's own times may differ from it
LATE_READING_S = 0.05  # by which a line may be read late on a busy machine
SHORTEST_S = 0.01  # between two lines that the harness itself times: less would time the pipe
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# An object of JSON lines with a result of an evaluation: {"eval_loss": 0.4} (Trainer), {"val_acc": 0.9} (Lightning).
EVALUATION = re.compile(r'^\s*\{.*"(?:eval|val|valid|validation|test)[_/]\w+"\s*:')
STEPS_A_SECOND = re.compile(
    r"\s*(?:it|its|iter|iters|iterations?|steps?|batch|batches)(?:/s|/sec| per second| a second)"
)


class Told(NamedTuple):
    """What one line says of the steps: any of the number of the last, seconds of one, a time, and the loss.

    apart: from the telling before this one on something else than training was done: the time says nothing of steps.
    """

    step: int | None = None
    seconds: float | None = None
    time: float | None = None
    loss: float | None = None
    total: int | None = None
    apart: bool = False


class Splitter:
    """Bytes into lines, at line feeds and carriage returns (progress bars); keeps the last lines.

    A bar begins with its carriage return, so a line may be known to have ended only when the next one begins, behind
    a validation, say: its moment is that of its own last byte.
    """

    def __init__(self) -> None:
        self._open, self._moment = b"", 0.0
        self.last: deque[str] = deque(maxlen=LAST)

    def lines(self, chunk: bytes, now: float = 0.0) -> Iterator[tuple[str, float]]:
        """The lines that this chunk, read at `now`, ends, and when the last byte of each was read."""
        before, since = len(self._open), self._moment
        *whole, self._open = (self._open + chunk).replace(b"\r", b"\n").split(b"\n")
        if whole or len(self._open.rstrip(b"\b")) > before:
            self._moment = now
        self._open = self._open[:LONGEST]
        for place, raw in enumerate(whole):
            line = _plain(raw)
            if line.strip():
                self.last.append(line[:300])
                yield line, since if place == 0 and 0 < len(raw.rstrip(b"\b")) <= before else now

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


def reader(script: Script, samples: int, devices: int = 1) -> Callable[[str], Told | None]:
    """Return a function that reads a line of the script's output, or of its JSON-lines file.

    Parameters
    ----------
    script
        The script, which says how it tells its steps.
    samples
        Units that a step trains on, all devices together.
    devices
        How many train; some programs print the rate of one.

    Returns
    -------
    Callable
        Gives None for a line that tells nothing. Raises UserError where a rate is one of steps, not of samples.
    """
    told = script.steps
    if isinstance(told, Lines):
        read = _by_pattern(re.compile(told.pattern), samples)
        return _parted(read, re.compile(told.apart)) if told.apart else read
    if isinstance(told, JsonLines):
        own_times = any((told.seconds, told.milliseconds, told.rate, told.steps_per_s))
        read_json = partial(_by_json, keys=told, samples=samples)
        # Times of lines without a number are taken as they stand, whatever was done between the lines.
        return read_json if own_times and told.step is None else _parted(read_json, EVALUATION)
    if told == "iterator":
        return lambda line: _by_json(line, JsonLines(seconds="seconds"), samples)
    program = BY_NAME[told]
    line_samples = samples // devices if program.per_device else samples  # what the rate of a line counts
    read = _first_bar(_by_pattern(re.compile(program.pattern), line_samples))
    read = _within_epochs(read) if program.last_is_late else read
    return _parted(read, re.compile(program.pause)) if program.pause else read


def _by_pattern(pattern: re.Pattern[str], samples: int) -> Callable[[str], Told | None]:
    def read(line: str) -> Told | None:
        found = pattern.search(line)
        if found is None:
            return None
        value = {name: _number(text) for name, text in found.groupdict().items() if text is not None}
        if value.get("rate") and STEPS_A_SECOND.match(line, found.end("rate")):
            raise UserError(
                f"the group 'rate' is samples a second, and steps a second follow it: {line.strip()[:80]!r}"
            )
        return _told(value, samples)

    return read


def _by_json(line: str, keys: JsonLines, samples: int) -> Told | None:
    """The object of a line; one that lacks a key that was named tells nothing (an evaluation, a summary)."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    named = {name: key for name in GROUPS if (key := getattr(keys, name)) is not None}
    if any(key not in said for name, key in named.items() if name != "loss"):
        return None
    return _told({name: _number(said.get(key)) for name, key in named.items()}, samples)


def _told(value: Mapping[str, float | None], samples: int) -> Told:
    """What named numbers say, seconds of a step however they are said; what cannot be is not told."""
    step, total = (value.get(name, value.get(f"rich_{name}")) for name in ("step", "total"))
    seconds, time = value.get("seconds"), value.get("time")
    for name, counted in (("steps_per_s", 1), ("rate", samples)):
        if rate := value.get(name):
            seconds = counted / rate
    if (thousandths := value.get("milliseconds")) is not None:
        seconds = thousandths / 1000
    whole = int(step) if step is not None and math.isfinite(step) and abs(step) < 1e15 else None
    positive = seconds if seconds is not None and 0 < seconds < math.inf else None
    moment = time if time is not None and math.isfinite(time) else None
    return Told(whole, positive, moment, value.get("loss"), None if total is None else int(total))


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
            return told
        totals.append(told.total) if not totals else None
        return told if told.total == totals[0] else None

    return first


def _parted(read: Callable[[str], Told | None], apart: re.Pattern[str]) -> Callable[[str], Told | None]:
    """Steps between which a line of something else stood (`apart`) are marked."""
    seen = False

    def told(line: str) -> Told | None:
        nonlocal seen
        found = read(line)
        if found is None:
            seen = seen or apart.search(line) is not None
            return None
        found, seen = found._replace(apart=seen), False
        return found

    return told


def _within_epochs(read: Callable[[str], Told | None]) -> Callable[[str], Told | None]:
    """Keras draws the last step of an epoch when its validation and its callbacks are done: no time of steps."""

    def told(line: str) -> Told | None:
        found = read(line)
        return found and found._replace(apart=found.step == found.total)

    return told


class RateComparison:
    """Seconds of the same steps by the script's own lines and by the harness's clock.

    Lines that are read together (a buffer was emptied) are one comparison with those before them: their own moments
    say nothing.
    """

    def __init__(self) -> None:
        self.reported_s = 0.0
        self.clock_s = 0.0
        self.steps = 0
        self._read_at: float | None = None
        self._pending_s, self._pending_steps = 0.0, 0

    def begin(self, now: float) -> None:
        """Leave out what lies before this moment (a pause, a new epoch)."""
        self._read_at = now
        self._pending_s, self._pending_steps = 0.0, 0

    def forget(self) -> None:
        """Leave out all steps so far (the warm-up)."""
        self.reported_s, self.clock_s, self.steps = 0.0, 0.0, 0

    def add(self, reported_s: float, steps: int, now: float) -> None:
        """Add a line read at `now`, by which its `steps` took `reported_s` seconds together."""
        if self._read_at is None:
            return
        self._pending_s += reported_s
        self._pending_steps += steps
        if now - self._read_at >= SHORTEST_S:
            self.reported_s += self._pending_s
            self.steps += self._pending_steps
            self.clock_s += now - self._read_at
            self.begin(now)

    def disagrees(self) -> bool:
        """Whether the two differ by more than 5 % and by more than the reading of a line may be late."""
        difference_s = abs(self.reported_s - self.clock_s)
        return difference_s > max(RATE_TOLERANCE * self.clock_s, LATE_READING_S)


class StepClock:
    """Turns steps told, with the time at which the harness read of them, into intervals.

    A step's number is timed: an interval lasts from one number to the next, over the steps that lie between, by the
    script's own time where it tells one. Seconds of a step that the same lines tell are only compared with that; they
    may be a smoothed mean, of one device, or in another unit. Lines without a number are taken at their word where
    they tell seconds. The first line only starts the clock. Lines that come together (a buffer was emptied, a bar was
    drawn twice) make one longer interval, so that the mean stays right. A number that falls is a new epoch: what lies
    before it is no step, nor is what is `apart`. After such a pause the clock starts at the first line whose number
    exceeds the last one, since a bar may draw its old count again first.
    """

    def __init__(self, every: int = 1) -> None:
        self._every = every
        self._since: float | None = None
        self._step: int | None = None
        self._steps = 0
        self._paused = False
        self.apart = 0
        self.numbered = False
        self.comparison = RateComparison()

    def told(self, told: Told, now: float) -> Interval | None:
        """Return the interval that this line ends, or None."""
        moment = now if told.time is None else told.time
        self.numbered = self.numbered or told.step is not None
        if told.apart or self._paused:
            self.apart += not self._paused
            self._paused = told.step is not None and told.step == self._step  # the old count, drawn again
            self._restart(told, moment, now)
            return None
        if told.seconds is not None and told.step is None:
            if self._since is None:
                self._restart(told, moment, now)
            else:
                self.comparison.add(told.seconds * self._every, self._every, now)
            return Interval(told.seconds, self._every)
        fell = told.step is not None and self._step is not None and told.step < self._step
        if self._since is None or fell:
            self._restart(told, moment, now)
            return None
        if told.step is None or self._step is None:
            self._steps += self._every
        else:
            self._steps = told.step - self._step
        passed = moment - self._since
        if self._steps < 1 or passed <= 0 or (told.time is None and passed < SHORTEST_S):
            return None
        interval = Interval(passed / self._steps, self._steps)
        if told.seconds is not None or told.time is not None:
            reported = interval.seconds if told.seconds is None else told.seconds
            self.comparison.add(reported * self._steps, self._steps, now)
        self._since, self._step, self._steps = moment, told.step, 0
        return interval

    def _restart(self, told: Told, moment: float, now: float) -> None:
        self._since, self._step, self._steps = moment, told.step, 0
        self.comparison.begin(now)


class Repeats:
    """Whether lines without a number come in groups, as where each of several processes prints one a step."""

    def __init__(self) -> None:
        self._moments: list[float] = []

    def told(self, told: Told, now: float) -> None:
        """A line of a step came at this moment; those with a number or a time of their own cannot be mistaken."""
        own_time = told.time is not None or told.seconds is not None
        if told.step is None and not own_time and len(self._moments) < MOST_LINES:
            self._moments.append(now)

    def together(self) -> int:
        """How many lines come together again and again; 1 where they do not."""
        if len(self._moments) < FEWEST_LINES:
            return 1
        gaps = [after - before for before, after in pairwise(self._moments)]
        near = TOGETHER * sorted(gaps)[int(0.9 * len(gaps))]  # of up to ten processes a tenth of the gaps are steps
        groups = [1]
        for gap in gaps:
            if gap < near:
                groups[-1] += 1
            else:
                groups.append(1)
        size, often = Counter(groups[1:-1]).most_common(1)[0] if len(groups) > 3 else (1, 0)
        return size if often >= ALIKE * len(groups[1:-1]) else 1
