"""The plan of this invocation and the names that the rules share; no rules."""

import gc
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from sweetspot.cells import RUN_PATTERN, SLUG, WILDCARD_CONSTRAINTS
from sweetspot.errors import UserError
from sweetspot.files import require_writable
from sweetspot.matrix.budget import report_lines
from sweetspot.matrix.invocation import load_invocation
from sweetspot.matrix.jobs import Jobs
from sweetspot.matrix.schedule import (
    budget_words,
    choose_runs,
    left_out_rows,
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
JOBS = Jobs(INVOCATION)
if CHOICE.left_out:
    for line in report_lines(CHOICE, at_most=10):
        logger.warning(f"{BUDGET}: {line}")


wildcard_constraints:
    **WILDCARD_CONSTRAINTS,
    price_list=SLUG,


def formula(*rooms: str) -> list[str]:
    """Every module of those rooms and of the ground: a rule whose table they decide reruns when one changes."""
    ground = [
        f"{LIBRARY}/{name}.py" for name in ("cells", "errors", "files", "warnings")
    ]
    own = (Path(LIBRARY, room).rglob("*.py") for room in rooms)
    return [*ground, *sorted(str(file) for files in own for file in files)]
