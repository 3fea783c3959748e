"""Count jobs per month by class from a record of a team's own jobs, and print them for a study."""

import dataclasses
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from sweetspot.commands.render import render, to_json
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import instance_files
from sweetspot.spelling import hint
from sweetspot.study.instances import load_instances
from sweetspot.study.monthly import GROWTH
from sweetspot.study.study import load_study
from sweetspot.use.job_records import EARLIEST, read_runs
from sweetspot.use.monthly_use import count_use


@dataclass(frozen=True)
class UseRequest:
    """The options of `sweetspot import-use`: a record of jobs, and the study for which classes are printed."""

    record_format: str
    file: str
    zone: str
    since: date | None
    until: date | None
    devices: float | None
    study: str | None
    instance: str | None
    model: str | None
    as_json: bool
    config: Path


def run(request: UseRequest) -> None:
    """Run `sweetspot import-use`: print the jobs a month of the record in `request`, and lines for workloads.yaml."""
    try:
        zone, now = ZoneInfo(request.zone), datetime.now(UTC)
    except (KeyError, ValueError, OSError):
        raise UserError(f"--zone is {request.zone!r}; expected a time zone, such as Europe/Berlin or UTC") from None
    since, until = (_midnight(day, zone, now) for day in (request.since, request.until))
    runs = read_runs(request.file, request.record_format, zone, now)
    use = count_use(runs, zone, since, until)
    has_started = runs["start"].notna()
    mean_devices = use.device_hours / use.hours
    if request.devices is not None and mean_devices > request.devices * (1 + 1e-9):
        raise UserError(f"--devices is {request.devices:g}; the jobs held {mean_devices:.3g} devices on average")
    values = {
        "busy_share": request.devices and mean_devices / request.devices,
        "excluded": {
            "never_started": int((~has_started).sum()),
            "without_device": int((has_started & ~(runs["devices"] > 0)).sum()),
        },
    }
    if request.as_json:
        print(to_json(dataclasses.asdict(use) | values))
        return
    model, gpus = (None, None) if request.study is None else _model_and_gpus(request, request.study)
    period = " to ".join(dict.fromkeys((use.months[0], use.months[-1])))
    correlations = [row.forecast.correlation_of_months for row in use.classes]
    text = render(
        "use.txt",
        use=use,
        period=period,
        count=sum(sum(row.jobs_by_month) for row in use.classes),
        months_alike=np.average(correlations, weights=[row.device_hours for row in use.classes]),
        source=f"{request.record_format} record of {period}, sweetspot import-use",
        instance=request.instance,
        model=model,
        gpus=gpus,
        growth_limits=GROWTH,
        **values,
    )
    print(text, end="")


def _midnight(day: date | None, zone: ZoneInfo, now: datetime) -> pd.Timestamp | None:
    """Return a day's beginning as UTC (--since, --until); None for None. UserError before 1990 or in future."""
    if day is None:
        return None
    moment = datetime.combine(day, time(), zone)
    if not EARLIEST <= moment <= now:
        raise UserError(f"--since or --until is {day}; expected a day from 1990 to today")
    return pd.Timestamp(moment).tz_convert("UTC")


def _model_and_gpus(request: UseRequest, name: str) -> tuple[str, int]:
    """Return what lines for workloads.yaml need of the study `name`: (model that the jobs train, devices of the
    machine --instance). UserError if the study has no such machine or model.
    """
    models = load_study(request.config / "studies" / name).cells.model
    machines = load_instances(*instance_files(request.config, name))
    if request.instance not in machines:
        expected = f"the machine of the study on which the jobs ran{hint(request.instance or '', machines)}"
        raise UserError(f"--instance is {request.instance!r}; expected {expected}")
    if request.model not in models and (request.model or len(models) > 1):
        expected = f"{' or '.join(models)}{hint(request.model or '', models)}"
        raise UserError(f"--model is {request.model!r}; expected {expected}")
    return request.model or models[0], machines[request.instance].gpus
