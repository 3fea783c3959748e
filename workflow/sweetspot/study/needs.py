"""What single steps read of workloads.yaml: the memory that its jobs need."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sweetspot.study.memory import Needs
from sweetspot.study.workloads import Plan, Runs, Training, load_workloads


@dataclass(frozen=True)
class Need:
    """The memory that a workload states, and the devices of a machine that each of its jobs uses (None: all)."""

    stated: Needs
    devices: int | None = None

    def gib(self, gpus: int) -> float | None:
        """Return the GiB that each device must hold on a machine of `gpus`; None where the workload does not say."""
        return self.stated.need_gib(gpus if self.devices is None else min(gpus, self.devices))


def load_needs(path: str | Path) -> Mapping[str, Need]:
    """Return the memory needs of each single job of workloads.yaml; {} if the file is missing. Raises UserError."""
    if not Path(path).is_file():
        return {}
    return {name: Need(work, _devices(work)) for name, work in load_workloads(path).items()}


def _devices(work: Training | Runs | Plan) -> int | None:
    if isinstance(work, Plan):
        return 1 if any(phase.gpus_per_job == "one" for phase in work.phases) else None
    return None if work.devices_per_job == "all" else work.devices_per_job
