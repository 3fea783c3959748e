"""The plan of this invocation and the names that the rules share; no rules."""

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from sweetspot.cells import RUN_PATTERN, WILDCARD_CONSTRAINTS, SLUG, run_path
from sweetspot.config import load_plan
from sweetspot.errors import UserError

try:
    PLAN = load_plan(Path("config/config.yaml"), config)
except UserError as error:
    raise WorkflowError(str(error)) from None

STUDY = PLAN.config.study
CONFIG = f"config/studies/{STUDY}"
RESULTS = f"results/{STUDY}"
PRICE_LISTS = list(PLAN.price_lists)
SCRIPTS = Path(workflow.basedir) / "workflow" / "scripts"
LIBRARY = f"{workflow.basedir}/workflow/sweetspot"
PYTHON = sys.executable

# Machines of one's own come first; a study without any still has its published ones.
INSTANCE_FILES = [
    file
    for file in ("config/instances.yaml", f"{CONFIG}/instances.yaml")
    if Path(file).is_file()
]

RUNS = [
    f"results/benchmarks/{run_path(cell, run)}.parquet"
    for cell in PLAN.cells
    for run in range(1, PLAN.config.runs + 1)
]


wildcard_constraints:
    **WILDCARD_CONSTRAINTS,
    price_list=SLUG,


def formula(*modules: str) -> list[str]:
    """Library modules whose text decides a table; a rule that lists them reruns when they change."""
    return [f"{LIBRARY}/{module}.py" for module in modules]


def place(wildcards):
    """Where the instance of a run is measured."""
    return PLAN.instances[wildcards.instance].measure
