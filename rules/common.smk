"""The plan of this invocation and the names that the rules share; no rules."""

import gc
import os
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from sweetspot.cells import RUN_PATTERN, SLUG, WILDCARD_CONSTRAINTS
from sweetspot.errors import UserError
from sweetspot.files import require_writable
from sweetspot.matrix.budget import report_lines
from sweetspot.matrix.invocation import load_invocation
from sweetspot.matrix.jobs import Jobs, shell_text
from sweetspot.matrix.reruns import attempts, note_reruns, settle
from sweetspot.matrix.schedule import (
    BENCHMARKS,
    budget_words,
    choose_runs,
    left_out_rows,
    missing_runs,
    run_file,
)

# Snakemake makes hundreds of objects a job and keeps them: looking for garbage among them every 700 new ones took a
# seventh of a dry run of 10,000 cells.
gc.set_threshold(100_000, 50, 100)

try:
    INVOCATION = load_invocation(Path("config/config.yaml"), config)
    # Said here because Snakemake would show its own traceback when it first removes or makes a file there.
    if not workflow.output_settings.dryrun:
        require_writable("results", "results/benchmarks")
except UserError as error:
    raise WorkflowError(str(error)) from None

STUDY = INVOCATION.config.study
CONFIG = f"config/studies/{STUDY}"
RESULTS = f"results/{STUDY}"
PRICE_LISTS = list(INVOCATION.price_lists)
# Relative where the project runs in its own folder: moving the folder then changes no job.
LIBRARY = os.path.relpath(Path(workflow.basedir) / "workflow" / "sweetspot")
# Machines of one's own come first; a study without any still has its published ones.
INSTANCE_FILES = [
    file
    for file in ("config/instances.yaml", f"{CONFIG}/instances.yaml")
    if Path(file).is_file()
]

# What is measured stays; of the rest, what fits into the budget. A job on a node does not choose again.
BUDGET = budget_words(INVOCATION.config) if workflow.is_main_process else ""
CHOICE = choose_runs(INVOCATION, BENCHMARKS, budget=bool(BUDGET))
RUNS = [str(run_file(BENCHMARKS, run)) for run in CHOICE.kept]
MISSING_RUNS = missing_runs(RUNS, Path(RESULTS, "throughput.parquet"))
ATTEMPTS = attempts() if workflow.is_main_process else {}
JOBS = Jobs(INVOCATION, ATTEMPTS)
if CHOICE.left_out:
    for line in report_lines(CHOICE, at_most=10):
        logger.warning(f"{BUDGET}: {line}")

# What Snakemake says of every first run that fails: there was no run file to keep (see `kept`).
logger.addFilter(lambda record: not str(record.msg).endswith("no backup found."))


wildcard_constraints:
    **WILDCARD_CONSTRAINTS,
    price_list=SLUG,


def formula(*rooms: str) -> list[str]:
    """Every module and table of those rooms and of the ground: a rule that they decide reruns when one changes."""
    ground = [
        f"{LIBRARY}/{name}.py" for name in ("cells", "errors", "files", "warnings")
    ]
    own = (
        Path(LIBRARY, room).rglob(kind) for room in rooms for kind in ("*.py", "*.csv")
    )
    return [*ground, *sorted(str(file) for files in own for file in files)]


def kept(file: str):
    """An output that is not removed before it is made again: it stays until its successor is whole.

    Snakemake fails to do so for files of a storage provider (Kubernetes): there they are removed first.
    """
    stored = workflow.storage_settings.default_storage_provider is not None
    return file if stored else update(file)


# By absolute paths: no environment needs to be active on a node, and `git pull` or a move repeats no run.
RUN_BENCHMARK = shell_text(
    shlex.join(
        [sys.executable, f"{workflow.basedir}/workflow/scripts/run_benchmark.py"]
    )
)
PLACE, PLACE_PARAMS = JOBS.place()


def runs_to_make() -> list[str]:
    """Run files that this invocation makes, or makes again."""
    jobs = workflow.dag.needrun_jobs()
    return [str(job.output[0]) for job in jobs if job.rule.name == "run_benchmark"]


onstart:
    if workflow.is_main_process and not workflow.touch:
        note_reruns(runs_to_make(), ATTEMPTS)


onsuccess:
    if workflow.is_main_process:
        settle()


onerror:
    if workflow.is_main_process:
        settle()
