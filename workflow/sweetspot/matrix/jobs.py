"""What Snakemake is told of a run: flags, resources, threads and priority, from the plan.

A function in a rule is called for every job; where all measured instances agree the value is a constant, which makes
a dry run of 10,000 cells a tenth faster.
"""

import shlex
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from sweetspot.cells import Cell
from sweetspot.matrix.invocation import Invocation
from sweetspot.matrix.schedule import BENCHMARKS, Run, priorities, run_file
from sweetspot.matrix.slurm import require_accepted
from sweetspot.study.instances import Executor
from sweetspot.study.scripts import FRAMEWORK as COMMAND


class Wildcards(Protocol):
    """Snakemake's wildcards of a run: the columns of a cell and `run`, as text."""

    instance: str
    model: str
    gpus: str

    def __getitem__(self, name: str) -> str: ...


PerRun = Any  # a value for all runs, or a function of the wildcards (and more, as Snakemake passes them)


class Jobs:
    """The runs of a plan, as the rule of the benchmarks describes them to Snakemake."""

    def __init__(self, plan: Invocation, attempts: Mapping[str, int] = MappingProxyType({})) -> None:
        """`attempts`: of run files that earlier invocations were to replace (`reruns.attempts`)."""
        self._plan = plan
        self._attempts = {file: number for file, number in attempts.items() if number}
        measured = {name: plan.instances[name].measure for name in plan.config.measure_on}
        self._executors: dict[str, Executor] = {name: value for name, value in measured.items() if value is not None}

    def require_accepted(self, files: Iterable[str], runs_per_job: int = 1, accounts: str = "") -> None:
        """Raise UserError where Slurm takes no job that makes one of these run files."""
        names = {part.partition("~")[2] for file in files for part in Path(file).parts if part.startswith("instance~")}
        executors = {name: executor for name, executor in self._executors.items() if name in names}
        require_accepted(executors, runs_per_job, accounts)

    def per_instance(self, value: Callable[[Executor], Any]) -> PerRun:
        """`value` of the executor of a run's instance."""
        values = {name: value(executor) for name, executor in self._executors.items()}
        first = next(iter(values.values()), None)
        if values and all(value == first for value in values.values()):
            return first
        return lambda wildcards: values[wildcards.instance]

    def protocol(self) -> PerRun:
        """What a measurement means, as flags.

        A script of one's own has one more, what its description means, and so has a run that was refused before, the
        number of its attempt; the others stay as they are, so that none is repeated for it.
        """
        flags = self._plan.config.measure.flags()
        definitions = {name: f" --definition {script.digest()}" for name, script in self._plan.scripts.items()}
        if not self._attempts and not definitions:
            return flags

        def of_run(wildcards: Wildcards) -> str:
            attempt = self._attempts.get(str(run_file(BENCHMARKS, _run(wildcards))))
            is_script = bool(definitions) and wildcards["framework"] == COMMAND
            definition = definitions.get(wildcards.model, "") if is_script else ""
            return f"{flags}{definition}{f' --attempt {attempt}' if attempt else ''}"

        return of_run

    def device(self) -> PerRun:
        """The kind of device that is measured, as flags."""
        return self.per_instance(device_flags)

    def location(self) -> tuple[str, dict[str, PerRun]]:
        """Where a run is made, what it must find there and how long it may take: flags that follow the others.

        None of it changes what a measurement means, so by none of it a run is made again: it is text of the shell
        command where all instances agree, else a parameter that is a function of `resources`, which Snakemake does
        not compare. Returns that text and the parameters that it names.
        """
        limit = self._plan.config.measure.limit_flag()
        flags = self.per_instance(lambda executor: " ".join(filter(None, (limit, location_flags(executor)))))
        if isinstance(flags, str):
            return shell_text(flags), {}
        return "{params.place}", {"place": lambda wildcards, resources: flags(wildcards)}

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
        gpus = self._gpus if any(executor.device == "gpu" for executor in executors) else 0
        return requested | {"gpu": gpus}

    def threads(self) -> PerRun:
        """A job's cores where its platform takes them from Snakemake's threads; others have words of their own."""
        return self.per_instance(lambda executor: executor.cpus if executor.platform.cores_are_threads else 1)

    def priority(self) -> Callable[[Wildcards], int]:
        """Under a budget, what decides the ranking is measured first."""
        order = priorities(self._plan)
        return lambda wildcards: order.get(_run(wildcards), 0)

    def environment(self) -> str:
        """Which of envs/*.yaml measures: the one with CUDA where any instance is measured on GPUs."""
        return "gpu" if any(executor.device == "gpu" for executor in self._executors.values()) else "measure"

    def _gpus(self, wildcards: Wildcards) -> int:
        """Return the GPUs that a run keeps from others; logical devices of a processor are none."""
        return int(wildcards.gpus) if self._executors[wildcards.instance].device == "gpu" else 0


def _run(wildcards: Wildcards) -> Run:
    cell = Cell(*(kind(wildcards[name]) for name, kind in Cell.__annotations__.items()))
    return Run(cell, int(wildcards["run"]))


def shell_text(text: str) -> str:
    """A text as it stands in a shell command that Snakemake formats."""
    return text.replace("{", "{{").replace("}", "}}")


def device_flags(executor: Executor) -> str:
    """The kind of device. `--where local` stands in the records of older runs; `location_flags` gives what holds."""
    return f"--device {executor.device} --where local"


def location_flags(executor: Executor) -> str:
    """Where a run is made, where that is not this machine, and the device that it must find."""
    where = "" if executor.where == "local" else f"--where {executor.where}"
    expected = f"--expect-gpu {shlex.quote(executor.expect_gpu)}" if executor.expect_gpu else ""
    return " ".join(filter(None, (where, expected)))
