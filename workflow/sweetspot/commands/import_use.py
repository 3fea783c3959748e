"""What does a team really use: jobs a month, their hours and devices by class, from its own records, with ranges.

FORMAT is sacct (as below) or jobs (a CSV of class, start, end, devices, device); FILE is a file, or - for a
pipe. Classes follow from --class, else from the record's own, else from devices and hours. Ranges are 90 %: of jobs,
what a month to come lies in; of the rest, the mean. Names of users are not read; names of jobs are not told, unless
--names asks for them. With --study the classes go into its workloads.yaml as measured; nothing is written where
`sweetspot check` would find a mistake.

    sacct -a -X -P -D -S 2025-01-01 -o JobID,Partition,JobName,Submit,Start,End,State,AllocTRES,ElapsedRaw |
      sweetspot import-use sacct - --zone Europe/Berlin --class "search: name=sweep-*" --class "big: devices=4-8"
    sweetspot import-use jobs jobs.csv --devices 4 --study mine --instance rtx4090-1 --model resnet50
"""

import argparse
import datetime
import json
import math
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from sweetspot.commands.use_files import Into, write_use
from sweetspot.errors import UserError
from sweetspot.transfer.figures import shipped_devices
from sweetspot.use.class_use import RULE, ClassUse, Use, as_json, busy_share, classed, read_rules, used
from sweetspot.use.job_table import zone_of
from sweetspot.use.month_counts import Range
from sweetspot.use.month_sums import USUAL_DAYS, Months, held_jobs, last_moment, midnight, months_of_record
from sweetspot.use.read_use import JOBS, of_file, read_use, shown
from sweetspot.use.reference import hours_per_hour, known_devices, on_reference, read_devices_told
from sweetspot.use.sacct import waiting_tasks

NAMES = 5  # of a class
PRECISION = "fp16"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot import-use`."""
    add, formats = parser.add_argument, [*JOBS]
    add("format", metavar="FORMAT", choices=formats, help=", ".join(formats))
    add("file", metavar="FILE", help="the record, or - for standard input")
    add("--class", dest="rules", metavar="RULE", action="append", default=[], help=f"{RULE}; repeated")
    add("--zone", default="UTC", help="whose clock times without an offset show, and months (UTC)")
    add("--since", type=_day, metavar="DAY", help="first day that the record covers (its first start)")
    add("--until", type=_day, metavar="DAY", help="first day after it (the last moment it tells of)")
    add("--shards", type=float, metavar="N", help="shards of a device, where Slurm shares by them")
    add("--devices", type=float, metavar="N", help="devices there are, for how busy they were")
    add("--device", action="append", default=[], metavar="RECORDED=GPU", help="what a recorded name is")
    add("--reference", metavar="GPU", help="tell hours of a job on this device, by the transfer")
    add("--model", help="what the jobs train, for transfer and study (the study's, where it has one)")
    add("--precision", help="in which they train, for the transfer (the study's, else fp16)")
    add("--study", metavar="STUDY", help="write the classes into workloads.yaml of this study")
    add("--instance", metavar="NAME", help="machine of the study on which hours hold (the first it has)")
    add("--months", type=float, metavar="N", help="length of the project, where the study says none")
    add("--dry-run", action="store_true", help="print what would be written, and write nothing")
    add("--names", action="store_true", help="tell names of jobs too")
    add("--json", action="store_true", help="print one JSON object instead of text")
    add("--config", type=Path, default=Path("config"), help="the project's config folder (config)")


def _day(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise UserError(f"{text!r} is no day; expected such as 2025-01-01") from None


class _Told(NamedTuple):
    """What is said of a record: its use, how busy devices were, hours of a job of a class on the reference device,
    names of jobs of a class, jobs that were left out by reason.
    """

    use: Use
    busy: Range | None
    hours: dict[str, Range]
    names: dict[str, list[str]]
    left: dict[str, int]


def run(arguments: argparse.Namespace) -> None:
    """Print what was used, and write it into a study where one is named. Raises UserError."""
    _check(arguments)
    rules, devices = read_rules(arguments.rules), read_devices_told(arguments.device)
    jobs, held, months = _read(arguments)
    held["kind"] = classed(held, rules)
    use = used(held, held["kind"], months)
    if not use.classes:
        raise UserError(
            f"{shown(arguments.file)}: no job began in {', '.join(months.names)}; expected some (--since, --until)"
        )
    busy = busy_share(use, arguments.devices)
    into = Into(arguments, use, busy, devices) if arguments.study else None
    by = into or arguments
    hours = _reference_hours(use, by.reference, devices, by.model, by.precision or PRECISION)
    told = _Told(use, busy, hours, _names(held) if arguments.names else {}, _left_out(jobs))
    print(json.dumps(_json(told, arguments), indent=2) if arguments.json else _report(told, arguments))
    if into is not None:
        told_of = write_use(into, hours, arguments.dry_run)
        print(told_of, end="" if arguments.dry_run else "\n", file=sys.stderr if arguments.json else None)


def _check(arguments: argparse.Namespace) -> None:
    if arguments.shards and arguments.format != "sacct":
        raise UserError(f"--shards is of sacct; expected none with {arguments.format}")
    for name in ("devices", "shards", "months"):
        value = getattr(arguments, name)
        if value is not None and not 0 < value < 1e6:
            raise UserError(f"--{name} is {value:g}; expected a number above 0")


def _read(arguments: argparse.Namespace) -> tuple[pd.DataFrame, pd.DataFrame, Months]:
    """The jobs of the record, the rows that held devices in its months, and these. Raises UserError."""
    zone = zone_of(arguments.zone)
    more: dict[str, Any] = {"shards": arguments.shards} if arguments.shards else {}
    jobs = read_use(arguments.format, arguments.file, arguments.zone, **more)
    last = last_moment(jobs)
    if arguments.until:
        last = max(last, midnight(arguments.until, zone))  # what runs without an end ran until then
    held = held_jobs(jobs, last)
    if held.empty:
        raise UserError(
            f"{shown(arguments.file)}: no job in it held a device; expected some (sacct: gres/gpu in AllocTRES)"
        )
    cover = partial(months_of_record, held, last, zone, arguments.since, arguments.until)
    months = of_file(arguments.file, cover)
    inside = (held["start"] < months.edges[-1]) & (held["held_until"] > months.edges[0])
    return jobs, held[inside].copy(), months


def _reference_hours(
    use: Use, reference: str | None, told: dict[str, str], model: str | None, precision: str
) -> dict[str, Range]:
    """Device-hours of one job of each class on the reference device; none where none is named. Raises UserError."""
    if reference is None:
        return {}
    known = known_devices(use.by_device, told)
    worth = hours_per_hour(known, shipped_devices().get(reference), model or "any", precision)
    return {one.name: on_reference(one.device_hours_a_job, one.by_device, worth) for one in use.classes}


def _names(held: pd.DataFrame) -> dict[str, list[str]]:
    return {str(kind): list(map(str, part["name"].value_counts().index[:NAMES])) for kind, part in held.groupby("kind")}


def _left_out(jobs: pd.DataFrame) -> dict[str, int]:
    never = jobs[jobs["start"].isna()]
    counted = [waiting_tasks(job) for job in never["job"]]
    none = jobs.loc[jobs["start"].notna() & ~(jobs["devices"] > 0), "job"].nunique()
    cancelled = int(sum(number for number, state in zip(counted, never["state"], strict=True) if state == "cancelled"))
    return {"cancelled_before_start": cancelled, "waiting": int(sum(counted)) - cancelled, "without_device": int(none)}


def _json(told: _Told, arguments: argparse.Namespace) -> dict[str, Any]:
    found = as_json(told.use) | {"format": arguments.format, "zone": arguments.zone, "left_out": told.left}
    found |= {"level": 0.9, "busy_share": told.busy._asdict() if told.busy else None}
    for one in found["classes"]:
        on = told.hours.get(one["name"])
        one["reference_device_hours"] = on._asdict() if on else None
        if told.names:
            one["job_names"] = told.names.get(one["name"], [])
    return found


def _report(told: _Told, arguments: argparse.Namespace) -> str:
    use, months = told.use, sum(told.use.exposure)
    jobs = sum(sum(one.jobs_by_month) for one in use.classes)
    lines = [
        f"{arguments.format}, {use.period}, {months:.3g} months by the clock of {arguments.zone}: {jobs:,} jobs, "
        f"{use.device_hours.value * months:,.0f} device-hours",
        f"a month: {_shown(use.jobs)} jobs; {_shown(use.device_hours)} device-hours on average",
    ]
    if told.busy is not None:
        days = f"{told.busy.value * USUAL_DAYS:.1f} days of use a month each"
        lines.append(f"devices: {arguments.devices:g}, which held jobs {_percent(told.busy)} of the time: {days}")
    if len(use.months) > 1:
        lines.append(f"busiest month {use.busiest}, quietest {use.quietest}; months_alike {use.months_alike:.2f}")
    heads = f"{'class':<20} {'jobs a month':<22} {'hours of one':<24} {'devices':<8} {'failed':<18} {'cancelled':<18}"
    lines += ["", f"{heads} waits, h"]
    lines += [
        f"{one.name:<20} {_shown(one.jobs):<22} {_shown(one.hours):<24} {one.devices.value:<8.3g} "
        f"{_percent(one.failed):<18} {_percent(one.cancelled):<18} {_shown(one.wait_hours)}"
        for one in use.classes
    ]
    lines += [line for one in use.classes for line in _more(one, told, arguments.reference)]
    left = f"{told.left['cancelled_before_start']} cancelled before they started, {told.left['waiting']} waiting"
    lines.append(f"\nleft out: {left}, {told.left['without_device']} without a device")
    return "\n".join([*lines, "in brackets: 90 %; of jobs a month to come, else the mean"])


def _more(one: ClassUse, told: _Told, reference: str | None) -> Iterator[str]:
    if one.growth_clear:
        yield f"{one.name}: jobs grow by {_percent(one.growth)} a month"
    if one.name in told.hours:
        on = reference or "the study's machine"
        yield f"{one.name}: a job takes {_shown(told.hours[one.name])} device-hours on {on}"
    if names := told.names.get(one.name):
        yield f"{one.name}: jobs called {', '.join(map(repr, names))}"


def _shown(figure: Range) -> str:
    if math.isnan(figure.value):
        return "-"
    return f"{_digits(figure.value)} ({_digits(figure.low)} to {_digits(figure.high)})"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 or value == 0 else "<0.001"


def _percent(share: Range) -> str:
    if math.isnan(share.value):
        return "-"
    return f"{100 * share.value:.0f} % ({100 * share.low:.0f} to {100 * share.high:.0f})"
