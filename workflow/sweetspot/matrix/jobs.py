"""What Snakemake is told of a run: flags, resources, threads and priority, from the plan.

A function in a rule is called for every job; where all measured instances agree the value is a constant, which makes
a dry run of 10,000 cells a tenth faster.
"""

import shlex
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Protocol

from sweetspot.cells import Cell
from sweetspot.matrix.invocation import Invocation
from sweetspot.matrix.schedule import priorities
from sweetspot.study.executors import Executor


class Wildcards(Protocol):
    """Snakemake's wildcards of a run: the columns of a cell and `run`, as text."""

    instance: str
    model: str
    gpus: str

    def __getitem__(self, name: str) -> str: ...


PerRun = Any  # a value for all runs, or a function of the wildcards (and more, as Snakemake passes them)


class Jobs:
    """The runs of a plan, as the rule of the benchmarks describes them to Snakemake."""

    def __init__(self, plan: Invocation) -> None:
        self._plan = plan
        measured = {name: plan.instances[name].measure for name in plan.config.measure_on}
        self._executors: dict[str, Executor] = {name: value for name, value in measured.items() if value is not None}

    def per_instance(self, value: Callable[[Executor], Any]) -> PerRun:
        """`value` of the executor of a run's instance."""
        values = {name: value(executor) for name, executor in self._executors.items()}
        first = next(iter(values.values()), None)
        if values and all(other == first for other in values.values()):
            return first
        return lambda wildcards: values[wildcards.instance]

    def protocol(self) -> PerRun:
        """The protocol as flags; a model that starts from a checkpoint has one more, the others stay as they are."""
        flags, files = self._plan.config.measure.flags(), self._plan.config.measure.checkpoints
        if not files:
            return flags

        def of_model(wildcards: Wildcards) -> str:
            file = files.get(wildcards.model)
            return flags if file is None else f"{flags} --checkpoint {shlex.quote(file)}"

        return of_model

    def device(self) -> PerRun:
        """What a run must find on its node, as flags."""
        return self.per_instance(device_flags)

    def resources(self) -> dict[str, PerRun]:
        """What a run asks of Slurm or Kubernetes, and the GPUs that it keeps from other runs.

        For machines measured where Snakemake runs, no word of any platform: a rule that names none runs anywhere.
        """
        return {"nodes": 1, **self._platform(), "gpu": self._gpus_held()}

    def threads(self) -> PerRun:
        """A job's cores where its platform takes them from Snakemake's threads; others have words of their own."""
        return self.per_instance(lambda executor: executor.cpus if executor.platform.cores_are_threads else 1)

    def priority(self) -> Callable[[Wildcards], int]:
        """Under a budget, what decides the ranking is measured first."""
        order = priorities(self._plan)

        def of_run(wildcards: Wildcards) -> int:
            cell = Cell(*(kind(wildcards[name]) for name, kind in Cell.__annotations__.items()))
            return order.get((cell, int(wildcards["run"])), 0)

        return of_run

    def _platform(self) -> dict[str, PerRun]:
        asked = {
            resource: self.per_instance(attrgetter(key))
            for resource, key in _resource_keys(self._executors.values()).items()
            if any(getattr(executor, key) is not None for executor in self._executors.values())
        }
        if any(executor.gpus_per_node for executor in self._executors.values()):
            asked |= {"nodes": self._nodes, "tasks": self._nodes, "tasks_per_gpu": 0, "gres": self._gres}
        return asked

    def _gpus_held(self) -> PerRun:
        if all(executor.device == "cpu" for executor in self._executors.values()):
            return 0
        return self._gpus

    def _nodes(self, wildcards: Wildcards) -> int:
        return self._executors[wildcards.instance].nodes(int(wildcards.gpus))

    def _gres(self, wildcards: Wildcards) -> str:
        """GPUs of each node of a run over several; a total (--gpus) could be spread unevenly."""
        executor = self._executors[wildcards.instance]
        if self._nodes(wildcards) == 1 or executor.device == "cpu":
            return ""
        kind = f":{executor.gpu_model}" if executor.gpu_model else ""
        return f"gpu{kind}:{executor.gpus_per_node}"

    def _gpus(self, wildcards: Wildcards) -> int:
        """GPUs that a run keeps from others; logical CPU devices are none, and those of several nodes are in `gres`."""
        on_gpu = self._executors[wildcards.instance].device == "gpu"
        return int(wildcards.gpus) if on_gpu and self._nodes(wildcards) == 1 else 0


def _resource_keys(executors: Iterable[Executor]) -> dict[str, str]:
    return {word: key for executor in executors for word, key in executor.platform.resources.items()}


def device_flags(executor: Executor) -> str:
    """What a run must find on its node, as flags."""
    expected = f" --expect-gpu {shlex.quote(executor.expect_gpu)}" if executor.expect_gpu else ""
    several = f" --gpus-per-node {executor.gpus_per_node}" if executor.gpus_per_node else ""
    return f"--device {executor.device} --where {executor.where}{expected}{several}"
