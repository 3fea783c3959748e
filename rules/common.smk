"""The plan of this invocation and the names that the rules share; no rules."""

import gc
import operator
import os
import runpy
import shlex
import sys
import threading
import traceback
from pathlib import Path
from types import SimpleNamespace

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from sweetspot.matrix.budget import report_lines
from sweetspot.cells import RUN_PATTERN, WILDCARD_CONSTRAINTS, SLUG, Cell
from sweetspot.matrix.invocation import load_invocation
from sweetspot.errors import UserError
from sweetspot.matrix.schedule import (
    budget_words,
    choose_runs,
    left_out_rows,
    priorities,
    run_file,
)

# Snakemake makes hundreds of objects a job and keeps them: looking for garbage among them every 700 new ones took a
# seventh of a dry run of 10,000 cells.
gc.set_threshold(100_000, 50, 100)

try:
    INVOCATION = load_invocation(Path("config/config.yaml"), config)
except UserError as error:
    raise WorkflowError(str(error)) from None

# Said here because Snakemake would show its own traceback when it first removes or makes a file there.
for folder in map(Path, ("results", "results/benchmarks")):
    locked = folder.is_dir() and not os.access(folder, os.W_OK)
    if locked and not workflow.output_settings.dryrun:
        raise WorkflowError(
            f"{folder}: cannot be written (a read-only disk, or another's folder); make it writable and start "
            "again: what is finished stays as it is"
        )

STUDY = INVOCATION.config.study
CONFIG = f"config/studies/{STUDY}"
RESULTS = f"results/{STUDY}"
REPORT = f"{RESULTS}/report"
PRICE_LISTS = list(INVOCATION.price_lists)
SCRIPTS = Path(workflow.basedir) / "workflow" / "scripts"
# Relative where the project runs in its own folder: moving the folder then changes no job.
LIBRARY = os.path.relpath(Path(workflow.basedir) / "workflow" / "sweetspot")
PYTHON = sys.executable

# Machines of one's own come first; a study without any still has its published ones.
INSTANCE_FILES = [
    file
    for file in ("config/instances.yaml", f"{CONFIG}/instances.yaml")
    if Path(file).is_file()
]

# What is measured stays; of the rest, what fits into the budget. A job on a node does not choose again.
BENCHMARKS = Path("results/benchmarks")
BUDGET = budget_words(INVOCATION.config) if workflow.is_main_process else ""
CHOICE = choose_runs(INVOCATION, BENCHMARKS, budget=bool(BUDGET))
RUNS = [str(run_file(BENCHMARKS, run)) for run in CHOICE.kept]
PRIORITIES = priorities(INVOCATION) if BUDGET else {}
if CHOICE.left_out:
    for line in report_lines(CHOICE, at_most=10):
        logger.warning(f"{BUDGET}: {line}")


wildcard_constraints:
    **WILDCARD_CONSTRAINTS,
    price_list=SLUG,


def formula(*rooms: str) -> list[str]:
    """Every module of those rooms and of the ground: a rule whose table they decide reruns when one changes."""
    ground = [f"{LIBRARY}/{name}.py" for name in ("cells", "files", "errors")]
    own = (Path(LIBRARY, room).rglob("*.py") for room in rooms)
    return [*ground, *sorted(str(file) for files in own for file in files)]


def here(script: str, input, output, log, params=None, wildcards=None) -> None:
    """Run `script`.py in this process, its `snakemake` holding what the rule holds; a `run:` of one line.

    A price edit runs six such jobs of a fifth of a second each. As processes of their own each would import pandas
    and Snakemake's script support first: twice the CPU time of everything they compute. Where the profile does not say
    `force-use-threads` (or the executor is a cluster's), Snakemake starts itself again for each: slower, not different.
    """
    held = SimpleNamespace(
        input=input, output=output, params=params, wildcards=wildcards
    )
    said = "finished\n"
    try:
        runpy.run_path(str(SCRIPTS / f"{script}.py"), init_globals={"snakemake": held})
    except UserError as error:
        said = f"error: {error}\n"
        raise WorkflowError(str(error)) from None
    except SystemExit:
        said = "error: the sentence is on the terminal\n"
        raise WorkflowError(f"{script} stopped; the sentence above says why") from None
    except Exception:
        said = traceback.format_exc()
        raise
    finally:
        Path(log[0]).write_text(said, encoding="utf-8")


def figure(chart):
    """Its file, as Snakemake's own report shows it."""
    caption = f"{REPORT}/captions/{chart.name}.rst"
    marked = report(
        f"{REPORT}/figures/{chart.name}.svg",
        # Made with the figure, from the chart's own words.
        caption=os.path.abspath(caption),
        category=chart.category,
        labels={"figure": chart.name.replace("_", " ")},
    )
    return marked


def captions(charts) -> list[str]:
    """Where the words for Snakemake's own report are written, a file a chart."""
    return [f"{REPORT}/captions/{chart.name}.rst" for chart in charts]


onsuccess:
    # Snakemake's limit of jobs a second starts a timer of one second at each choice of jobs, and its process waits for
    # the last one after everything is finished. Nobody else does.
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()


def per_instance(value):
    """`value(place)` of the instance of a run: a constant where all measured instances agree.

    A function in a rule is called for every job; a constant makes a dry run of 10,000 cells a tenth faster.
    """
    values = [
        value(INVOCATION.instances[name].measure)
        for name in INVOCATION.config.measure_on
    ]
    if values and all(other == values[0] for other in values):
        return values[0]
    return lambda wildcards: value(INVOCATION.instances[wildcards.instance].measure)


def protocol_flags():
    """The protocol as flags; a model that starts from a checkpoint has one more, the others stay as they are."""
    flags, files = (
        INVOCATION.config.measure.flags(),
        INVOCATION.config.measure.checkpoints,
    )
    if not files:
        return flags

    def of_model(wildcards):
        file = files.get(wildcards.model)
        return flags if file is None else f"{flags} --checkpoint {shlex.quote(file)}"

    return of_model


def device_flags(place) -> str:
    """What a run must find on its node, as flags."""
    expected = (
        f" --expect-gpu {shlex.quote(place.expect_gpu)}" if place.expect_gpu else ""
    )
    several = f" --gpus-per-node {place.gpus_per_node}" if place.gpus_per_node else ""
    return f"--device {place.device} --where {place.where}{expected}{several}"


def platform_resources() -> dict:
    """What a run asks of Slurm or Kubernetes, from its instance; nothing for machines measured where Snakemake runs.

    Platform words stand here and in the instances only: a rule that names none runs anywhere.
    """
    places = [
        INVOCATION.instances[name].measure for name in INVOCATION.config.measure_on
    ]
    if all(place.where == "local" for place in places):
        return {}
    names = {
        "machine_type": "machine_type",
        "slurm_partition": "partition",
        "constraint": "constraint",
        "gpu_model": "gpu_model",
        "cpus_per_task": "cpus",
        "mem_mb": "mem_mb",
        "runtime": "runtime_min",
    }
    asked = {
        resource: per_instance(operator.attrgetter(key))
        for resource, key in names.items()
        if any(getattr(place, key) is not None for place in places)
    }
    if any(place.gpus_per_node for place in places):
        asked |= {"nodes": nodes, "tasks": nodes, "tasks_per_gpu": 0, "gres": gres}
    return asked


def nodes(wildcards) -> int:
    """Nodes of a run."""
    return INVOCATION.instances[wildcards.instance].measure.nodes(int(wildcards.gpus))


def gres(wildcards) -> str:
    """Cards of each node of a run over several; a total (--gpus) could be spread unevenly."""
    place = INVOCATION.instances[wildcards.instance].measure
    if nodes(wildcards) == 1 or place.device == "cpu":
        return ""
    kind = f":{place.gpu_model}" if place.gpu_model else ""
    return f"gpu{kind}:{place.gpus_per_node}"


def gpus_held(wildcards) -> int:
    """Cards that a run keeps from others; logical CPU devices are none, and cards of several nodes are in `gres`."""
    on_gpu = INVOCATION.instances[wildcards.instance].measure.device == "gpu"
    return int(wildcards.gpus) if on_gpu and nodes(wildcards) == 1 else 0


GPUS_HELD = 0 if per_instance(lambda place: place.device) == "cpu" else gpus_held


def priority_of(wildcards) -> int:
    """Under a budget, what decides the ranking is measured first."""
    return PRIORITIES.get(
        (
            Cell(
                *(
                    type_(wildcards[name])
                    for name, type_ in Cell.__annotations__.items()
                )
            ),
            int(wildcards.run),
        ),
        0,
    )


# Kubernetes takes a pod's cores from the threads of its job; Slurm and this machine have theirs by other words.
THREADS = per_instance(lambda place: place.cpus if place.where == "kubernetes" else 1)
