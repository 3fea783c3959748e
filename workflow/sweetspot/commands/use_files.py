"""The files of a study with what a record says of its work: classes of a month, days of use of what is owned."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sweetspot.catalogues.price_file import with_entries, with_item, with_value
from sweetspot.commands.scratch import machines_of_study, read_text, shown, studies_of, tried, write_texts
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import price_list_names
from sweetspot.study.monthly import GROWTH, Monthly
from sweetspot.study.spelling import hint
from sweetspot.study.study import load_study
from sweetspot.study.workloads import load_monthly
from sweetspot.study.yamlfile import load_yaml
from sweetspot.use.class_use import ClassUse, Use
from sweetspot.use.month_counts import Range
from sweetspot.use.month_sums import USUAL_DAYS

PRIVATE = "classes and counts, no names of users or jobs"
REST = "; of the rest: "  # before the source of what a record does not tell, such as samples
WORK, FILE = "used", Path("workloads.yaml")  # the workload of a study that has none of months
LEAST_JOBS, WIDEST = 0.05, 900.0  # a month: a range of jobs has a low end above 0, and is not a thousand times as wide


def require_study(config: Path, name: str) -> None:
    """Raises UserError where there is no such study."""
    if not (config / "studies" / name / "study.yaml").is_file():
        raise UserError(f"study {name!r} does not exist{hint(name, studies_of(config))}")


class Into:
    """The study that the figures go into: its work of months, what a class trains, the machine its hours hold on.

    Raises UserError for what the study does not have or nobody says.
    """

    def __init__(self, arguments: argparse.Namespace, use: Use, busy: Range | None, told: Mapping[str, str]) -> None:
        self.root, self.name, self.busy = arguments.config, arguments.study, busy
        self.use = use._replace(classes=[one for one in use.classes if one.hours.value > 0])  # else none has ended
        self.format, self.folder = arguments.format, arguments.config / "studies" / arguments.study
        require_study(self.root, self.name)
        said = load_study(self.folder)
        works = load_monthly(self.folder / FILE)
        self.work = said.work if said.work in works else next(iter(works), None)
        self.there: Monthly | None = works[self.work] if self.work else None
        self.months = arguments.months
        if self.there is None and self.months is None and (busy is None or arguments.instance is None):
            raise UserError(
                f"{self.folder / FILE}: has no work of months; say how long it goes on, --months 36, "
                "or for days of use alone which machine it is: --devices N --instance NAME"
            )
        days_alone = self.there is None and self.months is None
        told_by_hours = not days_alone and any(self.samples(one.name) is None for one in self.use.classes)
        self.model = self._model(arguments.model, said.cells.model) if told_by_hours else ""
        self.precision = arguments.precision or said.cells.precision
        self.instance, gpu, self.gpus = "", "", 1
        if days_alone or told_by_hours:
            self.instance, gpu, self.gpus = self._machine(arguments.instance)
        self.reference = told.get(gpu, gpu) if told_by_hours else None

    def samples(self, name: str) -> float | None:
        """Samples of a job of that class, which need no hours; None where the study has none of it."""
        known = {job.name: job.samples for job in self.there.jobs} if self.there else {}
        return known.get(name)

    def _model(self, asked: str | None, models: list[str]) -> str:
        used = list(dict.fromkeys(job.model for job in self.there.jobs)) if self.there else []
        known = used if len(used) == 1 else models
        if asked is None and len(known) > 1:
            raise UserError(f"the study has several models; say which the jobs train: --model {' or '.join(known)}")
        if asked is not None and asked not in models:
            raise UserError(
                f"--model is {asked!r}; expected one of the study's: {', '.join(models)}{hint(asked, models)}"
            )
        return asked or known[0]

    def _machine(self, asked: str | None) -> tuple[str, str, int]:
        machines = machines_of_study(self.root, self.name)
        name = asked or (self.there.have[0] if self.there and self.there.have else None)
        if name is None:
            raise UserError("the study names no machine that is there; say on which the hours hold: --instance NAME")
        if name not in machines:
            raise UserError(f"--instance is {name!r}; expected a machine of the study{hint(name, machines)}")
        return name, machines[name].gpu, machines[name].gpus

    @property
    def source(self) -> str:
        """What stands as source: nothing of users, jobs or the file's place."""
        return f"{self.format} record of {self.use.period}, sweetspot import-use: {PRIVATE}"


def write_use(into: Into, hours: Mapping[str, Range], dry_run: bool) -> str:
    """Write the classes, or days; a line of what was written, or the change. Raises UserError, with nothing written."""
    texts = _files_of_use(into, hours)
    tried(into.root, into.name, texts)
    if dry_run:
        return shown(into.folder, texts)
    write_texts(into.folder, texts)
    return f"study {into.name}: wrote {', '.join(map(str, texts))}; {PRIVATE}"


def _files_of_use(into: Into, hours: Mapping[str, Range]) -> dict[Path, str]:
    """Texts by path below the study's folder. hours: device-hours of a job by class on the machine's device."""
    if into.there is None and into.months is None:
        return _price_lists(into)
    text, use, source = read_text(into.folder / FILE), into.use, into.source
    alike = _round(use.months_alike)
    summed = {"period": use.period, "months": _round(sum(use.exposure)), "jobs_per_month": _jobs(use.jobs)}
    summed |= ({"busy_share": _round(into.busy.value)} if into.busy else {}) | {"source": source}
    if into.there is None or into.work is None:
        jobs = [_job(into, one, hours.get(one.name)) for one in into.use.classes]
        work = {"kind": "monthly", "months": float(into.months), "months_alike": alike, "jobs": jobs}
        return {FILE: with_entries(text, {WORK: work | {"measured": summed, "source": source}})}
    for one in into.use.classes:
        text = _with_class(into, text, one, hours.get(one.name))
    text = with_value(text, (into.work, "months_alike"), alike)
    return {FILE: with_value(text, (into.work, "measured"), summed)}


def _with_class(into: Into, text: str, one: ClassUse, hours: Range | None) -> str:
    """The text with a class of that name, whose samples and model stay where it is there already."""
    assert into.there is not None and into.work is not None
    place = next((number for number, job in enumerate(into.there.jobs) if job.name == one.name), None)
    made = _job(into, one, hours)
    if place is None:
        return with_item(text, "jobs", made, within=into.work)
    there = into.there.jobs[place]
    kept = {"name", "model", "devices_per_job"} | ({"hours", "instance"} if there.samples is not None else set())
    if "growth_per_month" not in made and there.growth_per_month.value != 0:
        made["growth_per_month"] = 0.0  # not clear in the record: the level is that of all its months
    rest = there.source.rpartition(REST)[2]
    if there.samples is not None and not rest.endswith(PRIVATE):
        made["source"] += REST + rest
    for key, value in made.items():
        if key not in kept:
            text = with_value(text, (into.work, "jobs", place, key), value)
    return text


def _job(into: Into, one: ClassUse, hours: Range | None) -> dict[str, Any]:
    made: dict[str, Any] = {"name": one.name, "model": into.model}
    if hours is not None:
        made |= {"hours": _round(hours.value / into.gpus), "instance": into.instance}
    made["per_month"] = _jobs(one.jobs)
    low, high = GROWTH
    if one.growth_clear and low < one.growth.low and one.growth.high < high:
        made["growth_per_month"] = _range(one.growth)
    made |= {"devices_per_job": max(1, round(one.devices.value)), "hours_cv": min(20.0, _round(one.hours_cv))}
    return made | {"basis": "measured", "period": into.use.period, "source": into.source}


def _jobs(jobs: Range) -> dict[str, float]:
    value = max(jobs.value, LEAST_JOBS)
    low = max(jobs.low, LEAST_JOBS, jobs.high / WIDEST)
    return _range(Range(value, min(low, value), max(jobs.high, value)))


def _range(one: Range) -> dict[str, float]:
    value, low, high = (_round(part) for part in one)
    return {"value": value, "low": min(low, value), "high": max(high, value)}


def _round(value: float) -> float:
    return float(f"{value:.4g}")


def _price_lists(into: Into) -> dict[Path, str]:
    """The price lists with the days of use of the machine, where it is owned.

    Only of a study that has no work of months: with one the days of a machine are those on which it can work.
    """
    assert into.busy is not None
    found: dict[Path, str] = {}
    days = _range(Range(*(min(share, 1.0) * USUAL_DAYS for share in into.busy)))
    for name in price_list_names(into.folder / "prices"):
        path = Path("prices") / f"{name}.yaml"
        text = before = read_text(into.folder / path)
        for number, offer in enumerate(load_yaml(into.folder / path)["offers"]):
            if offer["instance"] == into.instance and isinstance(offer.get("own"), dict):
                text = with_value(text, ("offers", number, "own", "days_per_month"), days)
        if text != before:
            found[path] = text
    if not found:
        raise UserError(f"--instance is {into.instance!r}: no price list has it with purchase own; expected one owned")
    return found
