"""What Snakemake is told of a run: flags, resources, threads and priority, from the plan."""

import shlex
from collections.abc import Callable, Collection, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from sweetspot.cells import Cell
from sweetspot.matrix.invocation import Invocation
from sweetspot.matrix.schedule import BENCHMARKS, Run, order_runs, run_file
from sweetspot.matrix.slurm import require_accepted
from sweetspot.study.instances import Executor
from sweetspot.study.scripts import FRAMEWORK as COMMAND

Wildcards = Any  # Snakemake's wildcards of a run: the columns of a cell and `run`, as text
PerRun = Any  # a value for all runs, or a function of the wildcards (and more, as Snakemake passes them)


class Jobs:
    """The runs of a plan, as the rule of the benchmarks describes them to Snakemake."""

    def __init__(self, plan: Invocation, attempts: Mapping[str, int] = MappingProxyType({})) -> None:
        """`attempts`: of run files that earlier invocations were to replace (`reruns.attempts`)."""
        self._plan = plan
        self._attempts = attempts
        self._executors = {
            name: executor for name in plan.config.measure_on if (executor := plan.instances[name].measure)
        }

    def require_accepted(self, instances: Collection[str], runs_per_job: int, accounts: str) -> None:
        """Raise UserError where Slurm takes no job of one of these instances."""
        require_accepted({name: self._executors[name] for name in instances}, runs_per_job, accounts)

    def per_instance(self, value: Callable[[Executor], Any]) -> PerRun:
        """`value` of the executor of a run's instance."""
        return lambda wildcards: value(self._executors[wildcards.instance])

    def protocol(self, wildcards: Wildcards) -> str:
        """What a measurement means, as flags.

        A script of one's own has one more, what its description means, and so has a run that was refused before, the
        number of its attempt; the others stay as they are, so that none is repeated for it.
        """
        flags = [self._plan.config.measure.flags()]
        if wildcards["framework"] == COMMAND:
            flags.append(f"--definition {self._plan.scripts[wildcards.model].digest()}")
        if attempt := self._attempts.get(str(run_file(BENCHMARKS, _run(wildcards)))):
            flags.append(f"--attempt {attempt}")
        return " ".join(flags)

    def device(self) -> PerRun:
        """The kind of device as flags. `--where local` stands in records of older runs: see `location`."""
        return self.per_instance(lambda executor: f"--device {executor.device} --where local")

    def location(self, wildcards: Wildcards, resources: Any) -> str:
        """Where a run is made, what it must find there and how long it may take: flags that follow the others.

        None of it changes what a measurement means, so by none of it a run is made again: it is a function of
        `resources`, which Snakemake does not compare.
        """
        executor = self._executors[wildcards.instance]
        flags = [self._plan.config.measure.limit_flag()]
        if executor.where != "local":
            flags.append(f"--where {executor.where}")
        if executor.expect_gpu:
            flags.append(f"--expect-gpu {shlex.quote(executor.expect_gpu)}")
        return " ".join(filter(None, flags))

    def resources(self) -> dict[str, PerRun]:
        """What a run asks of Slurm, Kubernetes and so on, and the GPUs that it keeps from other runs.

        For machines measured where Snakemake runs, no word of any platform: a rule that names none runs anywhere.
        """
        executors = self._executors.values()
        keys = {word: key for executor in executors for word, key in executor.platform.resources.items()}
        requested: dict[str, PerRun] = {"nodes": 1} | {
            word: self.per_instance(attrgetter(key))
            for word, key in keys.items()
            if any(getattr(executor, key) is not None for executor in executors)
        }
        return requested | {"gpu": self._gpus}

    def threads(self) -> PerRun:
        """A job's cores where its platform takes them from Snakemake's threads; others have words of their own."""
        return self.per_instance(lambda executor: executor.cpus if executor.platform.cores_are_threads else 1)

    def priority(self) -> Callable[[Wildcards], int]:
        """Under a budget, what decides the ranking is measured first; a run outside the plan has priority 0."""
        priorities = {run: number for number, run in enumerate(reversed(order_runs(self._plan)), 1)}
        return lambda wildcards: priorities.get(_run(wildcards), 0)

    def environment(self) -> str:
        """Which of envs/*.yaml measures: the one with CUDA where any instance is measured on GPUs."""
        return "gpu" if any(executor.device == "gpu" for executor in self._executors.values()) else "measure"

    def _gpus(self, wildcards: Wildcards) -> int:
        """Return the GPUs that a run keeps from others; logical devices of a processor are none."""
        return int(wildcards.gpus) if self._executors[wildcards.instance].device == "gpu" else 0


def _run(wildcards: Wildcards) -> Run:
    cell = Cell(*(kind(wildcards[name]) for name, kind in Cell.__annotations__.items()))
    return Run(cell, int(wildcards["run"]))
