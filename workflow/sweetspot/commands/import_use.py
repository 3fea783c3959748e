"""Jobs per month by class from a record of a team's own jobs, with ranges; --study writes them into workloads.yaml.

FORMAT is sacct (as below) or jobs (CSV with start, end, devices and perhaps job, class, state); FILE is a file, or -
for a pipe. Ranges are 90 %: what a month to come lies in. Names of users and jobs are not read. Nothing is written
where `sweetspot check` would find a mistake.

    sacct -a -X -P -D -S 2025-01-01 -o JobID,Start,End,State,AllocTRES,ElapsedRaw |
      sweetspot import-use sacct - --zone Europe/Berlin --devices 4
    sweetspot import-use jobs jobs.csv --study mine --instance rtx4090-1 --model resnet50
"""

import argparse
import dataclasses
import json
import math
import re
import sys
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd

from sweetspot.catalogues.price_file import with_entries, with_item, with_value
from sweetspot.commands.scratch import check_edit, diff_texts, machines_of_study, read_text, studies_of, write_texts
from sweetspot.errors import UserError
from sweetspot.number_text import number_argument
from sweetspot.spelling import hint
from sweetspot.study.base import PART
from sweetspot.study.monthly import GROWTH, Monthly
from sweetspot.study.study import load_study
from sweetspot.study.workloads import load_monthly
from sweetspot.use.job_records import EARLIEST, REQUIRED_COLUMNS, read_runs
from sweetspot.use.monthly_use import ClassUse, JobForecast, MonthlyUse, count_use

WORKLOADS, NEW_WORKLOAD = Path("workloads.yaml"), "used"
MIN_JOBS, MAX_RATIO, MAX_HOURS_CV = 0.05, 900.0, 20.0  # bounds of study/monthly.py
DAYS_PER_MONTH = 365.25 / 12
PRIVATE = "classes and counts, no names of users or jobs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot import-use`."""
    add = parser.add_argument
    add("format", metavar="FORMAT", choices=list(REQUIRED_COLUMNS), help=" or ".join(REQUIRED_COLUMNS))
    add("file", metavar="FILE", help="the record, or - for standard input")
    add("--zone", default="UTC", help="time zone of months and of times without an offset (UTC)")
    add("--since", metavar="DAY", help="first day that the record covers (its first start)")
    add("--until", metavar="DAY", help="first day after it (its last moment)")
    add("--devices", type=number_argument, metavar="N", help="devices there are, for how busy they were")
    add("--study", metavar="STUDY", help="write the classes into workloads.yaml of this study")
    add("--instance", metavar="NAME", help="machine of the study on which the jobs ran (the first that it has)")
    add("--model", help="what the jobs train (the study's, where it has one)")
    add("--months", type=number_argument, metavar="N", help="length of the project, where the study says none")
    add("--dry-run", action="store_true", help="print what would be written, and write nothing")
    add("--json", action="store_true", help="print one JSON object instead of text")
    add("--config", type=Path, default=Path("config"), help="the project's config folder (config)")


def run(arguments: argparse.Namespace) -> None:
    """Print what was used, and write it into a study where one is named. Raises UserError."""
    zone, now = _time_zone(arguments.zone), datetime.now(UTC)
    since, until = (_midnight(name, getattr(arguments, name), zone, now) for name in ("since", "until"))
    runs = read_runs(arguments.file, arguments.format, zone, now)
    use = count_use(runs, zone, since, until)
    busy_share = _busy_share(use, arguments.devices)
    excluded_counts = {
        "never_started": int(runs["start"].isna().sum()),
        "without_device": int((runs["start"].notna() & ~(runs["devices"] > 0)).sum()),
    }
    if arguments.json:
        content = dataclasses.asdict(use) | {"busy_share": busy_share, "excluded": excluded_counts}
        print(json.dumps(content, indent=2).replace(": NaN", ": null"))
    else:
        print(_report(use, busy_share, excluded_counts))
    if arguments.study:
        folder = arguments.config / "studies" / arguments.study
        texts = {WORKLOADS: _workloads(arguments, folder, use, busy_share)}
        check_edit(arguments.config, arguments.study, texts)
        if not arguments.dry_run:
            write_texts(folder, texts)
        message = f"study {arguments.study}: wrote {WORKLOADS}; {PRIVATE}"
        print(diff_texts(folder, texts) if arguments.dry_run else message, file=sys.stderr if arguments.json else None)


def _time_zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise UserError(f"--zone is {name!r}; expected the name of a time zone, such as Europe/Berlin or UTC") from None


def _midnight(option: str, text: str | None, zone: ZoneInfo, now: datetime) -> pd.Timestamp | None:
    """Return the beginning of a day in UTC; None where no day is given."""
    if text is None:
        return None
    try:
        moment = datetime.combine(date.fromisoformat(text), time(), zone)
    except ValueError:
        raise UserError(f"--{option} is {text!r}; expected a day such as 2025-01-01") from None
    if not EARLIEST <= moment <= now:
        raise UserError(f"--{option} is {text}; expected a day from 1990 to today")
    return pd.Timestamp(moment).tz_convert("UTC")


def _busy_share(use: MonthlyUse, devices: float | None) -> float | None:
    """Return the device-hours as a share of the hours that so many devices have."""
    if devices is None:
        return None
    if not 0 < devices < 1e6:
        raise UserError(f"--devices is {devices:g}; expected a number above 0")
    share = use.device_hours / (devices * use.hours)
    if share > 1 + 1e-9:
        needed = use.device_hours / use.hours
        raise UserError(f"--devices is {devices:g}; the jobs held {needed:.3g} devices on average")
    return share


def _report(use: MonthlyUse, busy_share: float | None, excluded_counts: dict[str, int]) -> str:
    count = sum(sum(row.jobs_by_month) for row in use.classes)
    lines = [
        f"{_period(use)}: {count:,} jobs, {use.device_hours:,.0f} device-hours; {_jobs_text(use.forecast)} jobs a month"
    ]
    if busy_share is not None:
        lines.append(f"devices busy: {100 * busy_share:.0f} %, {busy_share * DAYS_PER_MONTH:.1f} days of use a month")
    lines += ["", f"{'class':<20} {'jobs a month':<24} {'hours of one':<14} devices"]
    for row in use.classes:
        growth = f"  grows by {100 * row.forecast.growth:.0f} % a month" if row.forecast.growth_is_clear else ""
        lines.append(f"{row.name:<20} {_jobs_text(row.forecast):<24} {row.hours:<14.3g} {row.devices:.3g}{growth}")
    never, without = excluded_counts["never_started"], excluded_counts["without_device"]
    return "\n".join([*lines, "", f"not counted: {never} that never started, {without} without a device"])


def _jobs_text(forecast: JobForecast) -> str:
    return f"{forecast.jobs:.3g} ({forecast.jobs_low:.3g} to {forecast.jobs_high:.3g})"


def _period(use: MonthlyUse) -> str:
    return " to ".join(dict.fromkeys((use.months[0], use.months[-1])))


def _workloads(arguments: argparse.Namespace, folder: Path, use: MonthlyUse, busy_share: float | None) -> str:
    """Return the text of the study's workloads.yaml with the classes in it, as measured."""
    if not (folder / "study.yaml").is_file():
        studies = studies_of(arguments.config)
        raise UserError(f"study {arguments.study!r} does not exist{hint(arguments.study, studies)}")
    study, workloads = load_study(folder), load_monthly(folder / WORKLOADS)
    name = study.work if study.work in workloads else next(iter(workloads), None)
    monthly = workloads[name] if name else None
    if monthly is None and arguments.months is None:
        raise UserError(f"{folder / WORKLOADS}: has no work of months; expected its length, such as --months 36")
    text = read_text(folder / WORKLOADS)
    source = f"{arguments.format} record of {_period(use)}, sweetspot import-use: {PRIVATE}"
    measured = {"period": _period(use), "months": float(len(use.months)), "jobs_per_month": _jobs(use.forecast)}
    measured |= {} if busy_share is None else {"busy_share": _rounded(busy_share)}
    device_hours = sum(row.device_hours for row in use.classes) or math.nan
    correlation = sum(row.forecast.correlation_of_months * row.device_hours for row in use.classes) / device_hours
    entries = []
    for row in (row for row in use.classes if row.hours > 0):  # of the others no job has ended
        if not re.fullmatch(PART, row.name):
            raise UserError(f"class is {row.name!r}; expected a name of letters, digits, '_' and '-' (1 to 64)")
        study_job = next((job for job in monthly.jobs if job.name == row.name), None) if monthly else None
        entry = {
            "name": row.name,
            "per_month": _jobs(row.forecast),
            "hours_cv": min(MAX_HOURS_CV, _rounded(row.hours_cv)),
        }
        entry |= {"devices_per_job": max(1, round(row.devices)), "basis": "measured", "period": _period(use)}
        if row.forecast.growth_is_clear and GROWTH[0] < row.forecast.growth_low < row.forecast.growth_high < GROWTH[1]:
            entry["growth_per_month"] = _range(row.forecast.growth, row.forecast.growth_low, row.forecast.growth_high)
        elif study_job and study_job.growth_per_month.value:
            entry["growth_per_month"] = 0.0  # the level is that of all months of the record
        if study_job is None:
            entry["model"] = _model(arguments.model, study.cells.model, monthly)
        entry["source"] = source
        if study_job is not None and study_job.samples is not None:
            entry["source"] = f"{source}; samples: {study_job.source.rpartition('; samples: ')[2]}"
        else:
            entry |= _hours(arguments, row, monthly)
        entries.append(entry)
    if name is None or monthly is None:
        work = {"kind": "monthly", "months": arguments.months, "months_alike": _rounded(correlation), "jobs": entries}
        return with_entries(text, {NEW_WORKLOAD: work | {"measured": measured | {"source": source}, "source": source}})
    job_names = [job.name for job in monthly.jobs]
    for entry in entries:
        if entry["name"] not in job_names:
            text = with_item(text, "jobs", entry, within=name)
            continue
        for key in list(entry)[1:]:
            text = with_value(text, (name, "jobs", job_names.index(entry["name"]), key), entry[key])
    text = with_value(text, (name, "months_alike"), _rounded(correlation))
    return with_value(text, (name, "measured"), measured | {"source": source})


def _model(requested: str | None, models: list[str], monthly: Monthly | None) -> str:
    """Return the model that the jobs of a new class train."""
    trained = {job.model for job in monthly.jobs} if monthly else set()
    candidates = sorted(trained) if len(trained) == 1 else models
    if requested is None and len(candidates) > 1:
        raise UserError(f"the study has several models; say which the jobs train: --model {' or '.join(candidates)}")
    if requested is not None and requested not in models:
        raise UserError(f"--model is {requested!r}; expected one of {', '.join(models)}{hint(requested, models)}")
    return requested or candidates[0]


def _hours(arguments: argparse.Namespace, row: ClassUse, monthly: Monthly | None) -> dict[str, Any]:
    """Return the hours of a job on all devices of the machine on which the jobs ran."""
    machines = machines_of_study(arguments.config, arguments.study)
    instance = arguments.instance or (monthly.have[0] if monthly and monthly.have else None)
    if instance is None:
        raise UserError("the study names no machine that is there; say on which the jobs ran: --instance NAME")
    if instance not in machines:
        raise UserError(f"--instance is {instance!r}; expected a machine of the study{hint(instance, machines)}")
    return {"hours": _rounded(row.hours * row.devices / machines[instance].gpus), "instance": instance}


def _jobs(forecast: JobForecast) -> dict[str, float]:
    jobs = max(forecast.jobs, MIN_JOBS)
    return _range(jobs, max(forecast.jobs_low, MIN_JOBS, forecast.jobs_high / MAX_RATIO), forecast.jobs_high)


def _range(value: float, low: float, high: float) -> dict[str, float]:
    value, low, high = (_rounded(number) for number in (value, low, high))
    return {"value": value, "low": min(low, value), "high": max(high, value)}


def _rounded(number: float) -> float:
    return float(f"{number:.4g}")
