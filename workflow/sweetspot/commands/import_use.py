"""Count jobs per month by class from a record of a team's own jobs, and write them into a study."""

import dataclasses
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd

from sweetspot.catalogues.price_file import with_item, with_value
from sweetspot.commands.json_values import without_nan
from sweetspot.commands.scratch import check_edit, diff_texts, machines_of_study, read_text, write_texts
from sweetspot.errors import UserError
from sweetspot.study.base import PART
from sweetspot.study.monthly import GROWTH, Monthly
from sweetspot.study.spelling import hint
from sweetspot.study.study import load_study
from sweetspot.study.workloads import load_monthly
from sweetspot.use.job_records import EARLIEST, read_runs
from sweetspot.use.monthly_use import ClassUse, JobForecast, MonthlyUse, count_use

WORKLOADS = Path("workloads.yaml")
MIN_JOBS, MAX_RATIO, MAX_HOURS_CV = 0.05, 900.0, 20.0  # bounds of study/monthly.py
DAYS_PER_MONTH = 365.25 / 12
PRIVACY = "classes and counts, no names of users or jobs"


@dataclass(frozen=True)
class UseRequest:
    """A record, and the study into which its classes are written, by the options of the command."""

    record_format: str
    file: str
    zone: str
    since: date | None
    until: date | None
    devices: float | None
    study: str | None
    instance: str | None
    model: str | None
    dry_run: bool
    as_json: bool
    config: Path


@dataclass(frozen=True)
class StudyTarget:
    """The work of months of the study that is edited, and what new classes of jobs get."""

    name: str
    work: Monthly
    models: list[str]
    instance: str
    gpus: int


def run(request: UseRequest) -> None:
    """Print what was used, and write it into a study where one is named. Raises UserError."""
    zone, now = _time_zone(request.zone), datetime.now(UTC)
    since, until = (_midnight(day, zone, now) for day in (request.since, request.until))
    runs = read_runs(request.file, request.record_format, zone, now)
    use = count_use(runs, zone, since, until)
    busy_share = None if request.devices is None else use.device_hours / (request.devices * use.hours)
    if busy_share is not None and busy_share > 1 + 1e-9:
        needed = use.device_hours / use.hours
        raise UserError(f"--devices is {request.devices:g}; the jobs held {needed:.3g} devices on average")
    has_started = runs["start"].notna()
    excluded = {
        "never_started": int((~has_started).sum()),
        "without_device": int((has_started & ~(runs["devices"] > 0)).sum()),
    }
    if request.as_json:
        content = dataclasses.asdict(use) | {"busy_share": busy_share, "excluded": excluded}
        print(json.dumps(without_nan(content), indent=2))
    else:
        print("\n".join(_report(use, busy_share, excluded)))
    if request.study:
        message = _write(request, request.study, use, busy_share)
        print(message, file=sys.stderr if request.as_json else None)


def _time_zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise UserError(f"--zone is {name!r}; expected the name of a time zone, such as Europe/Berlin or UTC") from None


def _midnight(day: date | None, zone: ZoneInfo, now: datetime) -> pd.Timestamp | None:
    """Return the beginning of a day in UTC; None where no day is given."""
    if day is None:
        return None
    moment = datetime.combine(day, time(), zone)
    if not EARLIEST <= moment <= now:
        raise UserError(f"--since or --until is {day}; expected a day from 1990 to today")
    return pd.Timestamp(moment).tz_convert("UTC")


def _report(use: MonthlyUse, busy_share: float | None, excluded: dict[str, int]) -> Iterator[str]:
    count = sum(sum(row.jobs_by_month) for row in use.classes)
    hours, jobs = f"{use.device_hours:,.0f} device-hours", _jobs_text(use.forecast)
    yield f"{_period(use)}: {count:,} jobs, {hours}; {jobs} jobs a month"
    if busy_share is not None:
        yield f"devices busy: {100 * busy_share:.0f} %, {busy_share * DAYS_PER_MONTH:.1f} days of use a month"
    yield f"\n{'class':<20} {'jobs a month':<24} {'hours of one':<14} devices"
    for row in use.classes:
        growth = f"  grows by {100 * row.forecast.growth:.0f} % a month" if row.forecast.growth_is_clear else ""
        yield f"{row.name:<20} {_jobs_text(row.forecast):<24} {row.hours:<14.3g} {row.devices:.3g}{growth}"
    never, without = excluded["never_started"], excluded["without_device"]
    yield f"\nnot counted: {never} that never started, {without} without a device"


def _jobs_text(forecast: JobForecast) -> str:
    return f"{forecast.jobs:.3g} ({forecast.jobs_low:.3g} to {forecast.jobs_high:.3g})"


def _period(use: MonthlyUse) -> str:
    return " to ".join(dict.fromkeys((use.months[0], use.months[-1])))


def _write(request: UseRequest, study: str, use: MonthlyUse, busy_share: float | None) -> str:
    """Write the classes into workloads.yaml of the study unless `dry_run`; return what to say. Raises UserError."""
    folder, target = request.config / "studies" / study, _study_target(request, study)
    source = f"{request.record_format} record of {_period(use)}, sweetspot import-use: {PRIVACY}"
    device_hours = sum(row.device_hours for row in use.classes)
    correlation = sum(row.forecast.correlation_of_months * row.device_hours for row in use.classes) / device_hours
    measured = {
        "period": _period(use),
        "months": float(len(use.months)),
        "jobs_per_month": _jobs(use.forecast),
        "busy_share": None if busy_share is None else _rounded(busy_share),
        "source": source,
    }
    names = [job.name for job in target.work.jobs]
    text = read_text(folder / WORKLOADS)
    for row in use.classes:
        if not row.hours > 0:  # No job of the class has ended.
            continue
        values = _class_values(row, target, _period(use), source)
        if row.name in names:
            for key, value in values.items():
                text = with_value(text, (target.name, "jobs", names.index(row.name), key), value)
        else:
            text = with_item(text, "jobs", {"name": row.name} | values, within=target.name)
    text = with_value(text, (target.name, "months_alike"), _rounded(correlation))
    measured = {key: value for key, value in measured.items() if value is not None}
    texts = {WORKLOADS: with_value(text, (target.name, "measured"), measured)}
    check_edit(request.config, study, texts)
    if request.dry_run:
        return diff_texts(folder, texts)
    write_texts(folder, texts)
    return f"study {study}: wrote {WORKLOADS}; {PRIVACY}"


def _study_target(request: UseRequest, name: str) -> StudyTarget:
    """Find the work that is edited. Raises UserError where something is missing."""
    folder = request.config / "studies" / name
    study, works = load_study(folder), load_monthly(folder / WORKLOADS)
    if not works:
        raise UserError(f"{folder / WORKLOADS}: has no work of months (kind: monthly); expected one, even an assumed")
    work_name = study.work if study.work in works else next(iter(works))
    work, machines = works[str(work_name)], machines_of_study(request.config, name)
    instance = request.instance or next(iter(work.have), None)
    if instance not in machines:
        expected = f"expected a machine of the study on which the jobs ran{hint(instance or '', machines)}"
        raise UserError(f"--instance is {instance!r}; {expected}")
    models = study.cells.model
    if request.model is not None and request.model not in models:
        raise UserError(
            f"--model is {request.model!r}; expected one of {', '.join(models)}{hint(request.model, models)}"
        )
    trained = {job.model for job in work.jobs if job.model}
    candidates = [request.model] if request.model else [*trained] if len(trained) == 1 else models
    return StudyTarget(str(work_name), work, candidates, str(instance), machines[str(instance)].gpus)


def _class_values(row: ClassUse, target: StudyTarget, period: str, source: str) -> dict[str, Any]:
    """Return the keys of a class of jobs in workloads.yaml. Raises UserError."""
    if not re.fullmatch(PART, row.name):
        raise UserError(f"class is {row.name!r}; expected a name of letters, digits, '_' and '-' (1 to 64)")
    old_job = next((job for job in target.work.jobs if job.name == row.name), None)
    forecast = row.forecast
    values: dict[str, Any] = {
        "per_month": _jobs(forecast),
        "hours_cv": min(MAX_HOURS_CV, _rounded(row.hours_cv)),
        "devices_per_job": max(1, round(row.devices)),
        "basis": "measured",
        "period": period,
    }
    if forecast.growth_is_clear and GROWTH[0] < forecast.growth_low < forecast.growth_high < GROWTH[1]:
        values["growth_per_month"] = _range(forecast.growth, forecast.growth_low, forecast.growth_high)
    elif old_job and old_job.growth_per_month.value:
        values["growth_per_month"] = 0.0  # The level is that of all months of the record.
    if old_job is None:
        if len(target.models) != 1:
            raise UserError(
                f"the study has several models; say which the jobs train: --model {' or '.join(target.models)}"
            )
        values["model"] = target.models[0]
    if old_job is not None and old_job.samples is not None:
        return values | {"source": f"{source}; samples: {old_job.source.rpartition('; samples: ')[2]}"}
    hours = _rounded(row.hours * row.devices / target.gpus)  # on all devices of the machine
    return values | {"source": source, "hours": hours, "instance": target.instance}


def _jobs(forecast: JobForecast) -> dict[str, float]:
    jobs = max(forecast.jobs, MIN_JOBS)
    return _range(jobs, max(forecast.jobs_low, MIN_JOBS, forecast.jobs_high / MAX_RATIO), forecast.jobs_high)


def _range(value: float, low: float, high: float) -> dict[str, float]:
    value, low, high = (_rounded(number) for number in (value, low, high))
    return {"value": value, "low": min(low, value), "high": max(high, value)}


def _rounded(number: float) -> float:
    return float(f"{number:.4g}")
