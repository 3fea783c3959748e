"""Records of a team's own jobs: Slurm's accounting (`sacct -P`) and plain CSV tables."""

import csv
import io
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.files import read_limited

SACCT_COMMAND = "sacct -a -X -P -D -o JobID,Start,End,State,AllocTRES,ElapsedRaw"
REQUIRED_COLUMNS = {"sacct": ["jobid", "start", "end", "state", "alloctres"], "jobs": ["start", "end", "devices"]}
RUN_COLUMNS = ["job", "start", "end", "state", "devices", "class"]
# The states of sacct(1). A resized job goes on under the same id in the next row, so it is not completed.
SLURM_STATES = {
    "completed": "COMPLETED",
    "ended": "FAILED TIMEOUT OUT_OF_MEMORY NODE_FAIL BOOT_FAIL DEADLINE LAUNCH_FAILED RECONFIG_FAIL CANCELLED "
    "PREEMPTED REVOKED REQUEUED RESIZING",
    "running": "RUNNING COMPLETING SUSPENDED STOPPED STAGE_OUT SIGNALING",
    "waiting": "PENDING CONFIGURING REQUEUE_HOLD REQUEUE_FED SPECIAL_EXIT RESV_DEL_HOLD",
}
STATE_BY_SLURM_NAME = {name: state for state, names in SLURM_STATES.items() for name in names.split()}
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
CLOCK_TOLERANCE = timedelta(days=1)  # clocks of machines differ
# A MIG slice has so many sevenths of a device.
GPU = re.compile(r"gres/gpu(?P<type>:[^=]+?(_(?P<sevenths>[1-7])g\.\d+gb)?)?=(?P<count>\d{1,6})")
DEVICES = re.compile(r"\d{1,6}(\.\d+)?")


@dataclass(frozen=True)
class RecordLine:
    """One line of a job record: its number in the file, and its texts by column name."""

    number: int
    fields: dict[str, str]

    def error(self, column: str, expected: str) -> UserError:
        """Return (not raise) the UserError of a wrong value in this line, which names line and column.

        Parameters
        ----------
        column, expected
            Name of the column, whose value is quoted; what should stand there instead.
        """
        return UserError(f"line {self.number}: {column} is {self.fields[column][:60]!r}; expected {expected}")

    def moment(self, column: str, zone: ZoneInfo, now: datetime) -> datetime | None:
        """Return the time in a column of this line in UTC; None where the text says that it is unknown.

        Parameters
        ----------
        column, zone, now
            Name of the column: an ISO time with or without an offset (the first if ambiguous); time zone of times
            without an offset; the current time: later ones are refused, as those before 1990.
        """
        text = self.fields[column]
        if text in ("", "Unknown", "None"):
            return None
        try:
            wall = datetime.fromisoformat(text)
            moment = (wall if wall.tzinfo else wall.replace(tzinfo=zone)).astimezone(UTC)
        except (ValueError, OverflowError):
            raise self.error(column, "a time such as 2026-03-01T12:00:00") from None
        if not EARLIEST <= moment <= now + CLOCK_TOLERANCE:
            raise self.error(column, "a time from 1990 to today")
        return moment


def read_runs(path: str, record_format: str, zone: ZoneInfo, now: datetime) -> pd.DataFrame:
    """Return a record of a team's jobs as a table with one row per run, from which `count_use` counts jobs per month.

    Columns: RUN_COLUMNS. start, end: UTC, NaT where unknown (not started, or still running). state: completed, ended,
    running or waiting. devices: their number, shared ones as fractions. A job that was put back into the queue has
    several runs. If overlapping exports repeat a run (same job and start), the one that ends last is kept. Raises
    UserError with the file and the line.

    Parameters
    ----------
    path, record_format
        The file, or `-` for standard input. `sacct`: the output of SACCT_COMMAND, possibly with other columns; `jobs`:
        CSV with the columns start, end, devices and perhaps job, class, state (`completed` or anything else); others
        are ignored.
    zone, now
        Time zone of times without an offset; the current time, after which times are refused.
    """
    name = "standard input" if path == "-" else path
    try:
        content = sys.stdin.buffer.read() if path == "-" else read_limited(path, 2_000_000_000)
        lines = _read_lines(content.decode("utf-8-sig"), record_format)
        runs = pd.DataFrame((_parse_run(line, zone, now) for line in lines), columns=RUN_COLUMNS)
    except (UserError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{name}: {str(error).removeprefix(f'{path}: ')}") from None
    runs = runs.astype(dict.fromkeys(("start", "end"), "datetime64[us, UTC]"))
    runs = runs.sort_values("end", kind="stable", na_position="first")
    is_repeated = runs.duplicated(["job", "start"], keep="last")
    return runs[~is_repeated].sort_index(ignore_index=True)


def _read_lines(text: str, record_format: str) -> Iterator[RecordLine]:
    """Yield the lines of a record's text (`sacct`: Slurm's accounting; or `jobs`: CSV) below its header, to be parsed
    one by one; without steps of Slurm jobs (`7.batch`). UserError for wrong columns.
    """
    rows = csv.reader(io.StringIO(text), strict=True)
    if record_format == "sacct":
        rows = csv.reader(io.StringIO(text), delimiter="|", quoting=csv.QUOTE_NONE)
    names = next(rows, [])
    header = [name.strip().lower() for name in names]
    for column in (*REQUIRED_COLUMNS[record_format], *filter(None, header)):
        if header.count(column) != 1:
            raise UserError(f"line 1: {header.count(column)} columns are called {column}; expected one")
    for cells in rows:
        if not cells or cells == names:
            continue
        excess = len(cells) - len(header)
        if excess > 0 and "jobname" in header:  # Slurm writes the separator in a name as it is.
            index = header.index("jobname")
            del cells[index : index + excess]
        elif excess:
            raise UserError(f"line {rows.line_num}: {len(cells)} fields; expected {len(header)}, as in line 1")
        fields = dict(zip(header, map(str.strip, cells), strict=True))
        if "." not in fields.get("jobid", ""):
            yield RecordLine(rows.line_num, fields)


def _parse_run(line: RecordLine, zone: ZoneInfo, now: datetime) -> tuple[Any, ...]:
    """Return (job, start, end, state, devices, class) of a record's line, a row of `read_runs`: times in UTC or None.

    Raises UserError for a wrong value. `zone`: of times without an offset; `now`: later times are refused.
    """
    fields, elapsed = line.fields, line.fields.get("elapsedraw", "")
    state = "ended" if fields["end"] else "running" if fields["start"] else "waiting"
    if fields.get("state"):
        state = STATE_BY_SLURM_NAME.get(fields["state"].upper().split(" ")[0].rstrip("+"), "")
    if not state:
        raise line.error("state", "a state of sacct, such as COMPLETED")
    if elapsed and not elapsed.isdecimal():
        raise line.error("elapsedraw", "whole seconds")
    start = None if state == "waiting" else line.moment("start", zone, now)
    end = start and line.moment("end", zone, now)
    if start and elapsed:
        last, end = end, start + timedelta(seconds=int(elapsed))
        if last and end > last + timedelta(hours=1):  # clocks may show an hour twice
            raise line.error("elapsedraw", "at most the seconds from start to end")
    if start and not (end or state == "running"):
        raise line.error("end", "a time: the job is over")
    if start and end and end < start:
        raise line.error("end", "a time after the start")
    if "devices" in fields and not DEVICES.fullmatch(fields["devices"]):
        raise line.error("devices", "a number such as 4 or 0.5")
    devices = float(fields["devices"]) if "devices" in fields else _allocated_devices(line)
    job = fields.get("jobid") or fields.get("job") or line.number
    return job, start, end, state, devices, fields.get("class", "")


def _allocated_devices(line: RecordLine) -> float:
    """Return how many devices a job had, by which its hours are counted, from sacct's AllocTRES. E.g. 2 in
    `gres/gpu=2,gres/gpu:a100=2`; MIG slices as fractions. UserError for shards and other shares.
    """
    total = sum_of_types = 0.0
    for item in line.fields["alloctres"].split(","):
        match = GPU.fullmatch(item)
        if match and match["type"]:
            sum_of_types += int(match["count"]) * int(match["sevenths"] or 7) / 7
        elif match:
            total = float(match["count"])
        elif item.startswith(("gres/gpu", "gres/shard", "gres/mps")):
            raise line.error("alloctres", "whole devices (gres/gpu=4) or MIG slices")
    return sum_of_types or total
