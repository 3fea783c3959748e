"""The one table that every reader of jobs gives, and times of the clock on the wall as moments."""

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

import pandas as pd

from sweetspot.errors import UserError

STATES = ("completed", "failed", "cancelled", "over", "running", "waiting")
TIMES = ("submit", "start", "end", "held_until")
JOB_COLUMNS = ("job", "name", "partition", *TIMES, "state", "devices", "device", "class")
"""job, name, partition: text; submit, start, end: UTC, NaT where unknown; held_until: `end`, of a running job the
moment at which it was seen to run (NaT: not told); state: one of STATES (over: how it ended is not told); devices:
shared ones as fractions, NaN unknown; device: as recorded, '' unknown; class: where the record itself has one, else ''.
A row is one time that a job ran: one that was put back has several of the same `job`."""
EARLIEST, LATEST = (
    datetime.datetime(1990, 1, 1, tzinfo=datetime.UTC),
    datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC),
)
EPOCH = re.compile(r"\d{1,11}(\.\d+)?")
STRETCH = pd.Timedelta(days=3650)  # no job runs longer


class Line:
    """Where a reader stands: sentences about it name the file's line."""

    def __init__(self, number: int, fields: Mapping[str, str]) -> None:
        self.number, self.fields = number, fields

    def refuse(self, column: str, expected: str) -> NoReturn:
        """Raises UserError about the value of a column."""
        value = self.fields.get(column, "")
        shown = repr(value if len(value) <= 60 else value[:57] + "...")
        raise UserError(f"line {self.number}: {column} is {shown}; expected {expected}")

    def moments(self, column: str, zone: ZoneInfo, expected: str) -> list[datetime.datetime]:
        """The moments that a text can mean: one, or two in the hour that a clock shows twice. Raises UserError.

        A number is seconds since 1970 (`SLURM_TIME_FORMAT=%s`), a time with an offset is what it says.
        """
        text = self.fields[column]
        try:
            if EPOCH.fullmatch(text):
                found = [datetime.datetime.fromtimestamp(float(text), datetime.UTC)]
            else:
                found = _on_the_wall(datetime.datetime.fromisoformat(text), zone)
        except (ValueError, OverflowError):
            self.refuse(column, expected)
        if not found:
            self.refuse(column, f"a time that the clock of {zone.key} showed (is the zone right?)")
        # Seconds may count from the begin of a trace, which then plays in 1970.
        if found[0] > LATEST or (found[0] < EARLIEST and not EPOCH.fullmatch(text)):
            self.refuse(column, "a time between 1990 and 2100")
        return found


def _on_the_wall(told: datetime.datetime, zone: ZoneInfo) -> list[datetime.datetime]:
    if told.tzinfo is not None:
        return [told.astimezone(datetime.UTC)]
    both = [told.replace(tzinfo=zone, fold=fold).astimezone(datetime.UTC) for fold in (0, 1)]
    return sorted({moment for moment in both if moment.astimezone(zone).replace(tzinfo=None) == told})


def zone_of(name: str) -> ZoneInfo:
    """The zone of that name. Raises UserError."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise UserError(f"--zone is {name!r}; expected the name of a time zone, such as Europe/Berlin or UTC") from None


Moments = Sequence[datetime.datetime]
Moment = datetime.datetime | None


def settled(times: Sequence[Moments], elapsed_s: float | None) -> tuple[Moment, Moment, Moment]:
    """Submission, start, end: which moments are meant where the clock showed an hour twice.

    The end is not before the start and as far from it as `elapsed_s` says; the submission is the last before the start.
    """
    submit, starts, ends = times
    pairs: list[tuple[Moment, Moment]] = [(first, last) for first in starts or (None,) for last in ends or (None,)]
    began, ended = min(pairs, key=lambda pair: _misfit(pair[0], pair[1], elapsed_s))
    given = [moment for moment in submit if began is None or moment <= began] or submit
    return (given[-1] if began else given[0]) if given else None, began, ended


def _misfit(start: Moment, end: Moment, elapsed_s: float | None) -> float:
    if start is None or end is None:
        return 0.0
    length = (end - start).total_seconds()
    return abs(length - elapsed_s) if elapsed_s is not None else 0.0 if length >= 0 else 1.0


def job_table(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows as a frame of JOB_COLUMNS with its types, in the order that they were given."""
    made = pd.DataFrame([{"class": ""} | dict(row) for row in rows], columns=list(JOB_COLUMNS))
    for name in TIMES:
        made[name] = pd.to_datetime(made[name], utc=True).astype("datetime64[us, UTC]")
    return made.astype(
        {"devices": "float64"} | dict.fromkeys(("job", "name", "partition", "state", "device", "class"), "str")
    )


def check_order(line: Line, start: Moment, end: Moment) -> None:
    """Raises UserError where a job ends before it starts, or after years."""
    if start is not None and end is not None:
        if end < start:
            raise UserError(f"line {line.number}: the job ends ({end:%Y-%m-%dT%H:%M:%SZ}) before it starts "
                            f"({start:%Y-%m-%dT%H:%M:%SZ}); expected an end after the start")  # fmt: skip
        if end - start > STRETCH:
            raise UserError(f"line {line.number}: the job lasts {(end - start).days} days; expected at most ten years")
