"""A plain table of jobs, as any program can write one."""

import csv
import datetime
import math
from collections.abc import Iterable
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.study.spelling import hint
from sweetspot.use.job_table import STATES, Line, check_order, job_table, settled, zone_of

KNOWN = ("class", "job", "name", "partition", "submit", "start", "end", "state", "devices", "milli_devices", "device")
TIME = "a time such as 2026-03-01T12:00:00, or seconds since 1970"
MOST = 1e6


def read_jobs(lines: Iterable[str], zone: str) -> pd.DataFrame:
    """One row a line of the CSV, in JOB_COLUMNS.

    Needed columns: start, end, and devices or milli_devices (thousandths of one). Others: KNOWN. No start: the job
    waits, or was cancelled before; no end: it runs. Raises UserError with line and column.
    """
    clock = zone_of(zone)
    rows = csv.reader(lines, strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        _check(header)
        return job_table(_job(line, clock) for line in _lines(rows, header))
    except csv.Error as error:
        raise UserError(f"line {rows.line_num}: {error}; expected a table with commas, as of a spreadsheet") from None


def _check(header: list[str]) -> None:
    for name in ("start", "end"):  # first: a table without a header has a job there, whose name is not told
        if name not in header:
            raise UserError(f"line 1: no column {name!r}; expected start, end, devices and perhaps class, device")
    for name in header:
        if name not in KNOWN:
            raise UserError(f"line 1: column {name!r} is unknown{hint(name, KNOWN)}; expected of {', '.join(KNOWN)}")
    if len(set(header)) < len(header):
        raise UserError("line 1: a column stands twice; expected each once")
    if ("devices" in header) == ("milli_devices" in header):
        raise UserError("line 1: expected one of the columns devices and milli_devices")


def _lines(rows: Any, header: list[str]) -> Iterable[Line]:
    for parts in rows:
        if not parts:
            continue
        if len(parts) != len(header):
            raise UserError(f"line {rows.line_num}: {len(parts)} fields; expected {len(header)}, as in line 1")
        yield Line(rows.line_num, dict(zip(header, (part.strip() for part in parts), strict=True)))


def _job(line: Line, zone: ZoneInfo) -> dict[str, Any]:
    fields = line.fields
    times: list[list[datetime.datetime]] = [
        line.moments(name, zone, TIME) if fields.get(name) else [] for name in ("submit", "start", "end")
    ]
    submit, start, end = settled(times, None)
    check_order(line, start, end)
    state = fields.get("state") or ("waiting" if start is None else "running" if end is None else "completed")
    if state not in STATES:
        line.refuse("state", f"one of {', '.join(STATES)}")
    if start is None and state in ("completed", "failed", "over", "running"):
        line.refuse("start", f"a time: the job is {state}")
    if end is None and state in ("completed", "failed", "over"):
        line.refuse("end", f"a time: the job is {state}")
    return {
        "job": fields.get("job") or f"line {line.number}", "name": fields.get("name", ""),
        "partition": fields.get("partition", ""), "submit": submit, "start": start, "end": end, "held_until": end,
        "state": state, "devices": _devices(line), "device": fields.get("device", ""), "class": fields.get("class", ""),
    }  # fmt: skip


def _devices(line: Line) -> float:
    column = "devices" if "devices" in line.fields else "milli_devices"
    try:
        number = float(line.fields[column])
    except ValueError:
        number = math.nan
    if not 0 <= number <= MOST:
        line.refuse(column, "a number of at least 0")
    return number / (1000 if column == "milli_devices" else 1)
