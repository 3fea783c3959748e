"""What single steps read of workloads.yaml: memory, and arrivals at shared machines."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sweetspot.study.memory import Needs
from sweetspot.study.monthly import Monthly
from sweetspot.study.workloads import Phase, Plan, Runs, Training, load_workloads, read_workloads


@dataclass(frozen=True)
class Need:
    """The memory that a workload states, and the devices of a machine that each of its jobs uses (None: all)."""

    stated: Needs
    devices: int | None = None

    def gib(self, gpus: int) -> float | None:
        """Return the GiB that each device must hold on a machine of `gpus`; None where the workload does not say."""
        return self.stated.need_gib(gpus if self.devices is None else min(gpus, self.devices))


@dataclass(frozen=True)
class Demand:
    """How often the jobs of a workload come.

    Attributes
    ----------
    per_month
        Jobs a month: central value, low, high.
    hours_cv
        Coefficient of variation of the hours of a job.
    people
        People who send them; None where the workload does not say.
    runs
        Runs that one priced job stands for: 1 unless it is of kind `runs`.

    """

    per_month: tuple[float, float, float]
    hours_cv: float
    people: int | None
    runs: int


def load_needs(path: str | Path) -> Mapping[str, Need]:
    """Return the memory needs of each single job of workloads.yaml; {} if the file is missing. Raises UserError."""
    if not Path(path).is_file():
        return {}
    return {name: Need(work, _devices(work)) for name, work in load_workloads(path).items()}


def _devices(work: Training | Runs | Plan) -> int | None:
    if isinstance(work, Plan):
        return 1 if any(phase.gpus_per_job == "one" for phase in work.phases) else None
    return None if work.devices_per_job == "all" else work.devices_per_job


def load_demands(path: str | Path) -> dict[str, Demand]:
    """Return the workloads that say how often they come; phases of plans are named `<plan>.<phase>`.

    Return {} if the file is missing. Raises UserError naming file and key.
    """
    if not Path(path).is_file():
        return {}
    jobs: dict[str, Training | Runs | Phase] = {}
    for name, work in read_workloads(path).items():
        if isinstance(work, Plan):
            jobs |= {f"{name}.{phase.name}": phase for phase in work.phases}
        elif not isinstance(work, Monthly):
            jobs[name] = work
    return {
        name: Demand(
            per_month=job.shared.per_month.three,
            hours_cv=job.shared.hours_cv,
            people=job.shared.people,
            runs=job.runs if isinstance(job, Runs) else 1,
        )
        for name, job in jobs.items()
        if job.shared is not None
    }
