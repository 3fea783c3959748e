"""Workloads: what is to be priced; config/studies/<study>/workloads.yaml as a closed, described model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, RootModel

from sweetspot.files import require_file
from sweetspot.study.base import (
    AboveZero,
    Closed,
    Count,
    Part,
    Slug,
    Source,
    Text,
    Title,
    check_case,
    not_once,
    validated,
)
from sweetspot.study.instances import Needs
from sweetspot.study.monthly import Monthly, RecurringJob, SideBySide
from sweetspot.study.open_models import cell_name, memory_need, open_model
from sweetspot.study.yamlfile import load_yaml


class Training(SideBySide):
    """One training job, by the samples that it sees."""

    kind: Literal["training"]
    """A training job by samples"""
    title: Title = None
    model: Slug
    """Network trained; cells of other models are not priced for it"""
    samples: AboveZero
    """Samples seen in all: iterations x global batch"""
    source: Source


class Runs(SideBySide):
    """Independent runs of known length, such as a hyper-parameter search or a job started every day."""

    kind: Literal["runs"]
    """N independent runs of H hours"""
    title: Title = None
    runs: Count
    """How many runs; each is a start of its own on the bill"""
    hours: AboveZero
    """Hours of one run"""
    instance: Slug | None = None
    """Machine on which a run takes these hours; other machines scale by throughput; absent: all do"""
    model: Slug | None = None
    """Network whose throughput converts the hours; absent: every model"""
    months: AboveZero | None = None
    """Months over which the runs spread; monthly fees are due for them"""
    source: Source


class PhaseJob(Runs):
    """One job of a plan's phase, which has its hours with all jobs of the phase beside it."""

    contention: ClassVar[float] = 0.0


class Phase(Closed):
    """One phase of a project: jobs that may run side by side; the next phase waits for all of them."""

    name: Part
    """Name of the phase"""
    jobs: Count
    """Independent jobs"""
    hours: AboveZero
    """Hours of one job on the plan's reference instance"""
    gpus_per_job: Literal["one", "all"] = "all"
    """one: a job uses one device, so a box of four works on four jobs; all: it uses the machine"""
    source: Text | None = None
    """Where the numbers come from"""


class ProjectPlan(Needs):
    """A project of phases, scheduled on what each option offers at once."""

    kind: Literal["plan"]
    """A project of phases"""
    title: Title = None
    model: Slug
    """Network whose throughput converts hours between machines"""
    instance: Slug
    """Machine on which the phases' hours hold"""
    parallel: Count
    """Rented machines that the team uses at once, at most"""
    months: AboveZero | None = None
    """Length of the project; no commitment may be longer"""
    renewed: bool = False
    """Whether jobs arrive over all its months, so that commitments are renewed to its end"""
    phases: list[Phase] = Field(min_length=1)
    """In order"""
    source: Source

    def _expected(self) -> Iterator[str]:
        """Yield a clause for each phase whose name is given twice."""
        yield from not_once([phase.name for phase in self.phases], "phases")

    def job_of(self, phase: Phase) -> PhaseJob:
        """Return one job of a phase as a workload of one run, so that it is priced like any other job (hours, USD)."""
        keys = {"gpu_memory_gib", "sharded_memory_gib", "instance", "model", "source"}
        return PhaseJob(
            **self.model_dump(include=keys),
            kind="runs",
            title=f"One job of {phase.name}",
            runs=1,
            hours=phase.hours,
            devices_per_job=1 if phase.gpus_per_job == "one" else "all",
        )


SingleJob = Training | Runs | ProjectPlan
Workload = Annotated[SingleJob | Monthly, Field(discriminator="kind")]


class Workloads(RootModel[dict[Part, Workload]]):
    """workloads.yaml: workloads by name."""


def load_workloads(path: str | Path) -> dict[str, SingleJob]:
    """Read the jobs to price from workloads.yaml, {name: job} in the order of the file. UserError without the file. Of
    a `monthly` workload there is one job per class, `<workload>.<class>` (`load_monthly` has the rest), and of a plan
    whose model nothing else trains one per phase, `<plan>.<phase>`: else it had no price.
    """
    require_file(path)
    return _jobs_if_any(path)


def _jobs_if_any(path: str | Path) -> dict[str, SingleJob]:
    """Read the jobs to price as `load_workloads` does, but return {} if the file is missing."""
    jobs: dict[str, SingleJob] = {}
    for name, work in read_workloads(path).items():
        if isinstance(work, Monthly):
            for job in work.jobs:
                kind: type[SingleJob] = Training if job.hours is None else Runs
                keys = job.model_dump(include={*kind.model_fields} - {"title"})
                keys |= {"kind": "training"} if kind is Training else {"kind": "runs", "runs": 1}
                keys |= {"title": job.title or job.name}
                jobs[f"{name}.{job.name}"] = validated(kind, keys, f"{path}: {name}.{job.name}")
        else:
            jobs[name] = work
    plans = {name: work for name, work in jobs.items() if isinstance(work, ProjectPlan)}
    trained = {job.model for name, job in jobs.items() if name not in plans}
    for name, plan in plans.items():
        if plan.model not in trained:
            # Jobs that take the whole machine have its own figure; others only where there is none of these.
            phases = [phase for phase in plan.phases if phase.gpus_per_job == "all"] or plan.phases
            jobs |= {f"{name}.{phase.name}": plan.job_of(phase) for phase in phases}
    return jobs


def load_monthly(path: str | Path) -> dict[str, Monthly]:
    """Return the workloads of kind `monthly`; {} if the file is missing. Raises UserError naming file and key."""
    return {name: work for name, work in read_workloads(path).items() if isinstance(work, Monthly)}


def load_titles(path: str | Path) -> dict[str, str]:
    """Return titles for people by workload and by `<workload>.<class>`; {} if the file is missing."""
    works = {**load_monthly(path), **_jobs_if_any(path)}
    return {name: work.title for name, work in works.items() if work.title}


def read_workloads(path: str | Path) -> dict[str, SingleJob | Monthly]:
    """Read all works to price from workloads.yaml, by name, jobs by tokens made jobs by samples; {}: no file."""
    works = validated(Workloads, load_yaml(path), path).root if Path(path).is_file() else {}
    check_case([work.title for work in works.values() if work.title], "titles", path)
    return {
        name: work.model_copy(update={"jobs": list(map(_by_samples, work.jobs))}) if isinstance(work, Monthly) else work
        for name, work in works.items()
    }


def _by_samples(job: RecurringJob) -> RecurringJob:
    """Return a job given by tokens as one by samples, so that it is priced like any other: a token is a sample, the
    model is named by `cell_name()`, and the memory that it needs is added.
    """
    if job.tokens is None or job.method is None:
        return job
    model = open_model(job.model)
    need = {} if job.gib(1) else memory_need(model, job.method, job.sequence).model_dump()
    cell = cell_name(model.name, job.method, job.sequence)
    return job.model_copy(update=need | {"model": cell, "samples": job.tokens, "tokens": None, "method": None})


@dataclass(frozen=True)
class Need:
    """The memory that a workload needs, and the devices of a machine that each of its jobs uses (None: all)."""

    memory: Needs
    devices: int | None = None

    def gib(self, gpus: int) -> float | None:
        """Return the GiB needed on each device of a machine with `gpus` devices; None where that is not known."""
        return self.memory.gib(gpus if self.devices is None else min(gpus, self.devices)) or None


def load_needs(path: str | Path) -> Mapping[str, Need]:
    """Return the memory that each job of workloads.yaml needs, by name, to see where it fits; {} without the file."""
    needs = {}
    for name, work in _jobs_if_any(path).items():
        if isinstance(work, ProjectPlan):
            devices = 1 if any(phase.gpus_per_job == "one" for phase in work.phases) else None
        else:
            devices = None if work.devices_per_job == "all" else work.devices_per_job
        needs[name] = Need(work, devices)
    return needs
