"""The driver's own log (`nvidia-smi --query-gpu=... --format=csv -l 60`): device-minutes held, and used."""

import csv
import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from sweetspot.errors import UserError
from sweetspot.use.job_table import Line, zone_of

SMI = "nvidia-smi"
NEEDED = ("timestamp", "index", "name", "utilization.gpu", "memory.used")
WHEN = re.compile(r"(\d{4})[/-](\d\d)[/-](\d\d)[ T](\d\d):(\d\d):(\d\d)(\.\d+)?")
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?:%|MiB|W)?")
UNKNOWN = ("[N/A]", "[Not Supported]", "[Unknown Error]", "N/A", "[GPU requires reset]")
# A driver and a display server alone hold some hundred MiB; a program with a context of CUDA holds as much at least.
HELD_MIB, BUSY_PERCENT = 500.0, 5.0
IDLE_MINUTES = 30.0  # a stretch in which a device is held and does nothing, that is told
LONGEST_GAPS = 3.0  # intervals: after a longer gap the log was off, and nobody knows


class Minutes(NamedTuple):
    """devices: one row a device: index, name, minutes (seen), held, used (at more than BUSY_PERCENT while held),
    idle (held without use, in stretches of IDLE_MINUTES or more), kwh (NaN: not recorded); since, until: of the log.
    """

    devices: pd.DataFrame
    since: datetime.datetime
    until: datetime.datetime


def read_nvidia_smi(lines: Iterable[str], zone: str) -> Minutes:
    """Minutes of each device. Each line stands for the time until the next of the same device.

    Held: at least HELD_MIB of its memory, or any use. Raises UserError with line and column.
    """
    clock = zone_of(zone)
    rows = csv.reader(lines, skipinitialspace=True)
    header = [name.strip().partition(" [")[0] for name in next(rows, [])]
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise UserError(
            f"line 1: no column {missing[0]}; expected timestamp, index, name, utilization.gpu, memory.used"
        )
    try:
        told = [_row(line, clock) for line in _lines(rows, header)]
    except csv.Error as error:
        raise UserError(f"line {rows.line_num}: {error}; expected what nvidia-smi --format=csv writes") from None
    if len(told) < 2:
        raise UserError("line 2: no two lines of a device; expected a log of some time (-l 60)")
    table = pd.DataFrame(told)
    found = [_device(part) for _, part in table.groupby("index", sort=True)]
    return Minutes(pd.DataFrame(found), table["time"].min(), table["time"].max())


def _lines(rows: Any, header: Sequence[str]) -> Iterable[Line]:
    for parts in rows:
        if not parts or [part.strip().partition(" [")[0] for part in parts] == list(header):
            continue  # the header again, where the log was begun anew
        if len(parts) != len(header):
            raise UserError(f"line {rows.line_num}: {len(parts)} fields; expected {len(header)}, as in line 1")
        yield Line(rows.line_num, dict(zip(header, (part.strip() for part in parts), strict=True)))


def _row(line: Line, zone: ZoneInfo) -> Mapping[str, Any]:
    fields = line.fields
    if not re.fullmatch(r"\d{1,4}", fields["index"]):
        line.refuse("index", "the number of a device")
    found = WHEN.fullmatch(fields["timestamp"])
    if found is None:
        line.refuse("timestamp", "a time such as 2026/03/01 12:00:00.000")
    moment = Line(line.number, {"timestamp": "{}-{}-{}T{}:{}:{}{}".format(*found.groups(""))})
    times = moment.moments("timestamp", zone, "a time such as 2026/03/01 12:00:00.000")
    return {
        "time": times[0], "again": times[-1], "index": int(fields["index"]), "name": fields["name"],
        "used": _number(line, "utilization.gpu", 0, 100), "memory": _number(line, "memory.used", 0, 1e7),
        "watts": _number(line, "power.draw", 0, 1e5) if "power.draw" in fields else np.nan,
    }  # fmt: skip


def _number(line: Line, column: str, least: float, most: float) -> float:
    text = line.fields[column]
    found = NUMBER.fullmatch(text)
    if text in UNKNOWN:
        return float("nan")
    if found is None or not least <= float(found[1]) <= most:
        line.refuse(column, f"a number from {least:g} to {most:g}, or [N/A]")
    return float(found[1])


def _device(rows: pd.DataFrame) -> dict[str, Any]:
    """One device. An hour that the clock shows twice is read in the order of the lines."""
    times: list[datetime.datetime] = []
    for early, late in zip(rows["time"], rows["again"], strict=True):
        times.append(late if times and early < times[-1] <= late else early)
    moments = pd.Series(times).astype("datetime64[us, UTC]")
    gaps = moments.diff().shift(-1).dt.total_seconds().to_numpy() / 60
    if (gaps[:-1] < 0).any():
        raise UserError(f"the lines of device {rows['index'].iloc[0]} go back in time; expected one log, in its order")
    usual = float(np.median(gaps[:-1])) if len(gaps) > 1 else 0.0
    minutes = np.where(gaps <= LONGEST_GAPS * usual, gaps, usual)
    minutes[-1] = 0.0
    used = rows["used"].to_numpy() >= BUSY_PERCENT
    held = used | (rows["memory"].to_numpy() >= HELD_MIB)
    idle = held & ~used
    stretch = np.cumsum(np.diff(idle, prepend=False) != 0)
    long = pd.Series(minutes).groupby(stretch).transform("sum").to_numpy() >= IDLE_MINUTES
    watts = rows["watts"].to_numpy()
    return {
        "index": rows["index"].iloc[0], "name": rows["name"].iloc[0], "minutes": minutes.sum(),
        "held": minutes[held].sum(), "used": minutes[used].sum(), "idle": minutes[idle & long].sum(),
        "kwh": np.nan if np.isnan(watts).all() else float(np.nansum(watts * minutes)) / 60_000,
    }  # fmt: skip


def smi_json(found: Minutes) -> dict[str, Any]:
    """The minutes for programs."""
    rows = [{key: None if value != value else value for key, value in row.items()}
            for row in found.devices.astype(object).to_dict("records")]  # fmt: skip
    return {"since": found.since.isoformat(), "until": found.until.isoformat(), "devices": rows}


def smi_report(found: Minutes) -> str:
    """The minutes as text for a person."""
    table = found.devices
    lines = [f"nvidia-smi, {found.since:%Y-%m-%d %H:%M} to {found.until:%Y-%m-%d %H:%M} UTC, {len(table)} devices", ""]
    lines.append(f"{'device':<34}{'hours seen':>11}{'held':>9}{'used':>9}{'idle':>9}{'kWh':>9}")
    for row in table.itertuples():
        name = f"{row.index} {row.name}"[:33]
        kwh = "-" if np.isnan(row.kwh) else f"{row.kwh:.1f}"
        hours = "".join(f"{value / 60:>{width}.1f}" for value, width in
                        ((row.minutes, 11), (row.held, 9), (row.used, 9), (row.idle, 9)))  # fmt: skip
        lines.append(f"{name:<34}{hours}{kwh:>9}")
    seen, held, used, idle = (float(table[name].sum()) / 60 for name in ("minutes", "held", "used", "idle"))
    share = f"{100 * held / seen:.0f} % of the time seen" if seen else "no time"
    lines.append(f"\nheld {held:.1f} of {seen:.1f} device-hours ({share}), used {used:.1f}; "
                 f"{idle:.1f} held and idle for {IDLE_MINUTES:g} minutes or more at a time")  # fmt: skip
    return "\n".join([*lines, f"held: {HELD_MIB:g} MiB or more in use; used: at {BUSY_PERCENT:g} % or more"])
