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
        """`attempts`: number of the attempt by run file that earlier invocations were to replace."""
        self._plan = plan
        self._attempts = attempts
        self._executors = {
            name: executor for name in plan.config.measure_on if (executor := plan.instances[name].measure)
        }

    def require_accepted(self, instances: Collection[str], runs_per_job: int, accounts: str) -> None:
        """Raise UserError where Slurm takes no job of one of these instances."""
        require_accepted({name: self._executors[name] for name in instances}, runs_per_job, accounts)

    def per_instance(self, value: Callable[[Executor], Any]) -> PerRun:
        """Return a function of a run's wildcards: `value` of the executor of the run's instance."""
        return lambda wildcards: value(self._executors[wildcards.instance])

    def protocol(self, wildcards: Wildcards) -> str:
        """Return the flags of run_benchmark.py that define what a run measures: Snakemake repeats the run where they
        change. A user's script has one more, a digest of its description, and so has a run that was refused before,
        the number of its attempt; the others stay as they are, so that none is repeated for it.
        """
        flags = [self._plan.config.measure.flags()]
        if wildcards["framework"] == COMMAND:
            flags.append(f"--definition {self._plan.scripts[wildcards.model].digest()}")
        if attempt := self._attempts.get(str(run_file(BENCHMARKS, _run(wildcards)))):
            flags.append(f"--attempt {attempt}")
        return " ".join(flags)

    def device(self) -> PerRun:
        """Return a function of the wildcards: the flag `--device`, with `--where local` as older records have it."""
        return self.per_instance(lambda executor: f"--device {executor.device} --where local")

    def location(self, wildcards: Wildcards, resources: Any) -> str:
        """Return the flags of run_benchmark.py for where a run is made, the GPU expected there and its time limit.
        Unlike those of `protocol` none changes what is measured: given as a function of `resources`, they never make
        Snakemake repeat a run. `wildcards`: cell and run, as text.
        """
        executor = self._executors[wildcards.instance]
        flags = [self._plan.config.measure.limit_flag()]
        if executor.where != "local":
            flags.append(f"--where {executor.where}")
        if executor.expect_gpu:
            flags.append(f"--expect-gpu {shlex.quote(executor.expect_gpu)}")
        return " ".join(filter(None, flags))

    def resources(self) -> dict[str, PerRun]:
        """Return what the benchmark rule requests from Snakemake per run, {resource: value or function of the
        wildcards}, such as memory, time and Slurm partition (nothing of these for local runs). `gpu` counts GPUs kept
        from other runs.
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
        """Return a function of the wildcards: a job's cores where its platform takes them from threads, else 1."""
        return self.per_instance(lambda executor: executor.cpus if executor.platform.cores_are_threads else 1)

    def priority(self) -> Callable[[Wildcards], int]:
        """Return a function of the wildcards: a run's priority, high if it decides the ranking, 0 outside the plan."""
        priorities = {run: number for number, run in enumerate(reversed(order_runs(self._plan)), 1)}
        return lambda wildcards: priorities.get(_run(wildcards), 0)

    def environment(self) -> str:
        """Return which of envs/*.yaml measures: `gpu` (CUDA) where any instance is measured on GPUs, else `measure`."""
        return "gpu" if any(executor.device == "gpu" for executor in self._executors.values()) else "measure"

    def _gpus(self, wildcards: Wildcards) -> int:
        """Return the number of GPUs that a run keeps from others; 0 on a processor, whose devices are logical."""
        return int(wildcards.gpus) if self._executors[wildcards.instance].device == "gpu" else 0


def _run(wildcards: Wildcards) -> Run:
    """Return the run that the wildcards of Snakemake name, with its cell."""
    cell = Cell(*(kind(wildcards[name]) for name, kind in Cell.__annotations__.items()))
    return Run(cell, int(wildcards["run"]))
