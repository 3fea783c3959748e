"""Slurm's accounting (`sacct -a -X -P -D`) as jobs. Users and accounts are not read."""

import datetime
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.use.job_table import Line, check_order, job_table, settled, zone_of

COMMAND = "sacct -a -X -P -D -o JobID,Partition,JobName,Submit,Start,End,State,AllocTRES,ElapsedRaw"
NEEDED = ("JobID", "Submit", "Start", "End", "State", "AllocTRES")
NEVER, TIME = ("Unknown", "None", ""), "a time such as 2026-03-01T12:00:00, Unknown or None"
# The states of sacct(1) in the five that count here; what ends at its time limit has no result.
STATE_OF = {
    "COMPLETED": "completed", "RESIZING": "completed",
    "FAILED": "failed", "TIMEOUT": "failed", "OUT_OF_MEMORY": "failed", "NODE_FAIL": "failed", "BOOT_FAIL": "failed",
    "DEADLINE": "failed", "LAUNCH_FAILED": "failed", "RECONFIG_FAIL": "failed",
    "CANCELLED": "cancelled", "PREEMPTED": "cancelled", "REVOKED": "cancelled", "REQUEUED": "cancelled",
    "RUNNING": "running", "COMPLETING": "running", "SUSPENDED": "running", "STOPPED": "running",
    "STAGE_OUT": "running", "SIGNALING": "running",
    "PENDING": "waiting", "CONFIGURING": "waiting", "REQUEUE_HOLD": "waiting", "REQUEUE_FED": "waiting",
    "SPECIAL_EXIT": "waiting", "RESV_DEL_HOLD": "waiting",
}  # fmt: skip
GPU = re.compile(r"gres/gpu(?::(?P<type>[^=,]+))?")
SLICE = re.compile(r"(?P<type>.+)_(?P<sevenths>[1-7])g\.\d+gb")  # a MIG profile: its share of the seven slices
TASKS = r"\d{1,9}(?:-\d{1,9}(?::[1-9]\d{0,8})?)?"
WAITING_ARRAY = re.compile(rf"\d+_\[(?P<tasks>{TASKS}(?:,{TASKS})*)(?:%\d+)?\]")


def read_sacct(lines: Iterable[str], zone: str, shards: float | None = None) -> pd.DataFrame:
    """One row a job and time that it ran, in JOB_COLUMNS; steps (`7.batch`) are left out.

    zone: whose clock the times show, unless they are seconds since 1970. An array that waits is one row. Devices are
    `gres/gpu` of AllocTRES, else the sum of its typed ones, which name the device; MPS counts in hundredths, a MIG
    slice in sevenths, `shards`: shards of a device. Raises UserError with the line.
    """
    clock, told = zone_of(zone), iter(lines)
    header = next(told, "").rstrip("\r\n").split("|")
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise UserError(f"line 1: no column {missing[0]}; expected what this prints: {COMMAND}")
    if len(set(header)) < len(header):
        raise UserError("line 1: a column stands twice; expected each once")
    return job_table(_job(line, clock, shards) for line in _lines(told, header) if "." not in line.fields["JobID"])


def _lines(told: Iterator[str], header: Sequence[str]) -> Iterator[Line]:
    """Each line by its columns. A name may have the separator in it, which sacct writes as it is."""
    name = header.index("JobName") if "JobName" in header else None
    for number, text in enumerate(told, 2):
        parts = text.rstrip("\r\n").split("|")
        if parts == [""]:
            continue
        more = len(parts) - len(header)
        if more < 0 or (more > 0 and name is None):
            raise UserError(f"line {number}: {len(parts)} fields; expected {len(header)}, as in line 1 (is it whole?)")
        if more and name is not None:
            parts[name : name + more + 1] = ["|".join(parts[name : name + more + 1])]
        yield Line(number, dict(zip(header, parts, strict=True)))


def _job(line: Line, zone: Any, shards: float | None) -> Mapping[str, Any]:
    fields = line.fields
    state = STATE_OF.get(fields["State"].split(" ")[0].rstrip("+"))
    if not fields["JobID"]:
        line.refuse("JobID", "a number")
    if state is None:
        line.refuse("State", "a state of sacct, such as COMPLETED")
    elapsed = _elapsed(line)
    times = [_times(line, name, zone) for name in ("Submit", "Start", "End")]
    submit, start, end = settled(times, elapsed)
    if state in ("completed", "failed") and start is not None and end is None:
        line.refuse("End", "a time: the job is over")
    check_order(line, start, end)
    devices, device = _devices(line, shards)
    seen = start + datetime.timedelta(seconds=elapsed) if start and elapsed is not None else None
    if state == "waiting":
        start = end = seen = None
    return {
        "job": fields["JobID"], "name": fields.get("JobName", ""), "partition": fields.get("Partition", ""),
        "submit": submit, "start": start, "end": end, "held_until": end or seen, "state": state,
        "devices": devices, "device": device,
    }  # fmt: skip


def _elapsed(line: Line) -> float | None:
    text = line.fields.get("ElapsedRaw", "")
    if text and not re.fullmatch(r"\d{1,10}", text):
        line.refuse("ElapsedRaw", "whole seconds")
    return float(text) if text else None


def _times(line: Line, column: str, zone: Any) -> list[datetime.datetime]:
    return [] if line.fields[column] in NEVER else line.moments(column, zone, TIME)


def _devices(line: Line, shards: float | None) -> tuple[float, str]:
    """How many devices a row holds and what they are; NaN where nothing was given to it."""
    text = line.fields["AllocTRES"]
    if not text:
        return math.nan, ""
    counts: dict[str, float] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or (key.startswith("gres/") and not re.fullmatch(r"\d{1,7}", value)):
            line.refuse("AllocTRES", "parts such as gres/gpu=4 between commas")
        if key.startswith("gres/"):
            counts[key] = float(value)
    typed = {key.partition(":")[2]: count for key, count in counts.items() if key.startswith("gres/gpu:") and count}
    slices = {name: SLICE.fullmatch(name) for name in typed}
    whole = sum(count * (int(cut["sevenths"]) / 7 if (cut := slices[name]) else 1.0) for name, count in typed.items())
    names = sorted({cut["type"] if (cut := slices[name]) else name for name in typed})
    cut_up = any(slices.values())
    devices = whole if cut_up or "gres/gpu" not in counts else counts["gres/gpu"]
    devices += sum(count for key, count in counts.items() if key.split(":")[0] == "gres/mps") / 100
    parts = sum(count for key, count in counts.items() if key.split(":")[0] == "gres/shard")
    if parts and not shards:
        line.refuse("AllocTRES", "how many shards a device has, which is not in the record: --shards 4")
    return devices + (parts / shards if shards else 0.0), "+".join(names)


def waiting_tasks(job: str) -> int:
    """How many jobs a row stands for: the tasks of an array that has not begun (`7_[0-4,6%2]`), else one."""
    found = WAITING_ARRAY.fullmatch(job)
    if found is None:
        return 1
    total = 0
    for part in found["tasks"].split(","):
        ends, _, step = part.partition(":")
        first, _, last = ends.partition("-")
        total += max(0, int(last or first) - int(first)) // int(step or 1) + 1
    return total
