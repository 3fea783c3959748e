"""The events of an MLPerf result file: one key, time, value and metadata a line, and the run that they bound.

Lines are parsed by MLCommons' own `mlperf-logging`: `:::MLLOG {json}` since v0.7, `:::MLL seconds key: {json}` in v0.6.
Other output may stand between them, and a rank, a colour or a timestamp before them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from mlperf_logging.compliance_checker.mlp_parser import ruleset_060, ruleset_510
from mlperf_logging.mllog import constants as names

from sweetspot.logs.reading import LogFile, uncoloured

MARK = ":::MLL"
RULESETS = {ruleset_510.TOKEN: ruleset_510, f"{ruleset_060.TOKEN} ": ruleset_060}
SECONDS = {ruleset_510.TOKEN: 1e-3, f"{ruleset_060.TOKEN} ": 1.0}  # of one unit of the format's times
LONGEST_RUN_S = 30 * 86_400.0
STARTS_AND_STOPS = (
    names.EPOCH_START, names.EPOCH_STOP, names.BLOCK_START, names.BLOCK_STOP, names.EVAL_START, names.EVAL_STOP,
    names.RUN_START, names.RUN_STOP,
)  # fmt: skip


class Event(NamedTuple):
    """`line` counts from 1; `seconds` is the log's own clock, only differences of which mean anything."""

    line: int
    key: str
    seconds: float
    value: Any
    metadata: dict[str, Any]

    def number(self, name: str) -> float | None:
        """A number of the metadata, or None."""
        return as_number(self.metadata.get(name))


@dataclass(frozen=True)
class Run:
    """All events of a file and the pair that bounds the run."""

    events: list[Event]
    start: Event
    stop: Event

    @property
    def seconds(self) -> float:
        """From run_start to run_stop, evaluation included."""
        return self.stop.seconds - self.start.seconds

    def of(self, *keys: str) -> list[Event]:
        """The events with one of the keys, in the file's order."""
        return [event for event in self.events if event.key in keys]

    def during(self, *keys: str) -> list[Event]:
        """Those not later than run_stop by the clock (one second is allowed for its printing)."""
        return [event for event in self.of(*keys) if event.seconds <= self.stop.seconds + 1]

    def value(self, key: str) -> Any:
        """The first value of a key, or None."""
        return next((event.value for event in self.of(key)), None)


def as_number(value: object) -> float | None:
    """A finite number that is no truth value, or None."""
    return float(value) if type(value) in (int, float) and math.isfinite(value) else None  # type: ignore[arg-type]


def read_run(log: LogFile) -> Run | None:
    """The one finished run of a file; None where a fault ended it and the study skips faults.

    Raises UserError for several runs in one file, and for times that cannot be a run's.
    """
    events = list(_events(log))
    starts = [event for event in events if event.key == names.RUN_START]
    stops = [event for event in events if event.key == names.RUN_STOP]
    for key, found in ((names.RUN_START, starts), (names.RUN_STOP, stops)):
        if len(found) > 1:
            log.refuse(found[1].line, f"a second '{key}' after that of line {found[0].line}; expected one run a file")
        if not found:
            why = "the run did not finish" if starts else f"expected lines {MARK}OG of an MLPerf result"
            log.fault(len(log.lines), f"no '{key}'; {why}")
            return None
    run = Run(events, starts[0], stops[0])
    status = run.stop.metadata.get(names.STATUS)
    if status != names.SUCCESS:
        log.fault(run.stop.line, f"run_stop has status {status!r}; only {names.SUCCESS!r} is a result")
        return None
    if not 0 < run.seconds <= LONGEST_RUN_S:
        days = LONGEST_RUN_S / 86_400
        log.refuse(run.stop.line, f"run_stop is {run.seconds:g} s after run_start; expected above 0 and {days:g} days")
    _clock_runs_on(log, run)
    return run


def _clock_runs_on(log: LogFile, run: Run) -> None:
    """Refuse times that go backwards by more than a second between a start and its stop.

    Evaluation is left out: it may run after training from saved weights, and then stands after a backdated run_stop.
    """
    opened: dict[str, Event] = {}
    for event in run.of(*STARTS_AND_STOPS):
        kind, _, edge = event.key.rpartition("_")
        if edge == "start":
            opened[kind] = event
        elif kind in opened and event.seconds < opened[kind].seconds - 1:
            back = opened[kind].seconds - event.seconds
            log.refuse(event.line, f"{event.key} is {back:g} s before {kind}_start; expected times that do not go back")


def _events(log: LogFile) -> Iterator[Event]:
    """All marked lines as events; a line with several marks holds several, as ranks write over each other."""
    for number, text in enumerate(log.lines, start=1):
        for part in uncoloured(text).split(MARK)[1:] if MARK in text else []:
            event = _event(number, MARK + part.rstrip())
            if event is None:
                expected = f"{ruleset_510.TOKEN}and a JSON object with key, time_ms, value and metadata"
                log.fault(number, f"{(MARK + part)[:60]!r}; expected {expected}")
            else:
                yield event


def _event(line: int, text: str) -> Event | None:
    token = next((token for token in RULESETS if text.startswith(token)), None)
    if token is None:
        return None
    try:
        found = RULESETS[token].string_to_logline(line, text)
        value, metadata = found.value["value"], found.value["metadata"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(found.key, str) or not math.isfinite(found.timestamp):
        return None
    about = metadata if isinstance(metadata, dict) else {}
    return Event(line, found.key, found.timestamp * SECONDS[token], value, about)
