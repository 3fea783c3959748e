"""The plan of this invocation and the names that the rules share; no rules."""

import gc
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

# This checkout; None where Snakemake reads the rules of a module from a repository elsewhere, file by file.
RULES = workflow.current_basedir
HOME = Path(RULES).parent if isinstance(RULES, os.PathLike) else None
if HOME is not None:
    sys.path.insert(0, str(HOME / "workflow"))  # its own library, installed or not

try:
    from sweetspot.packages import hand_on, require_packages
except ModuleNotFoundError:
    raise WorkflowError(
        f"the library of Sweetspot is not in {sys.executable}, and {RULES} gives the rules only; "
        "install it from the same repository and tag: pip install git+https://HOST/OWNER/NAME@TAG"
    ) from None
from sweetspot.errors import UserError

hand_on()
try:
    require_packages(HOME)
except UserError as error:
    raise WorkflowError(str(error)) from None

import sweetspot
from sweetspot.cells import RUN_PATTERN, SLUG, WILDCARD_CONSTRAINTS
from sweetspot.files import require_writable, write_whole
from sweetspot.matrix import pending
from sweetspot.matrix.budget import report_lines
from sweetspot.matrix.invocation import load_invocation
from sweetspot.matrix.jobs import Jobs, shell_text
from sweetspot.matrix.progress import one_line_a_step
from sweetspot.matrix.reruns import NOTES, attempts, note_reruns, settle
from sweetspot.matrix.schedule import (
    BENCHMARKS,
    budget_words,
    choose_runs,
    left_out_rows,
    missing_runs,
    run_file,
)
from sweetspot.matrix.stopping import stop_on_sigterm, stop_when_unread
from sweetspot.study.price_history import days_kept, lists_at

# Snakemake makes hundreds of objects a job and keeps them: looking for garbage among them every 700 new ones took a
# seventh of a dry run of 10,000 cells.
gc.set_threshold(100_000, 50, 100)

stop_when_unread(logger.handlers)
# V=1 (also `make report V=1`), --verbose and --printshellcmds show all that Snakemake says.
SAID = workflow.output_settings
if workflow.is_main_process and not (
    SAID.dryrun or SAID.verbose or SAID.printshellcmds or os.environ.get("V") == "1"
):
    one_line_a_step(logger.handlers)


def made(path: str) -> str:
    """Where a file that the rules make lies: for a module with a prefix, below that."""
    return workflow.modifier.path_modifier.replace_prefix(path)


PREFIXED = made("results/benchmarks") != "results/benchmarks"


def given(files):
    """A file (or several) that the rules find: a prefix, which is for what they make, does not move it."""
    return local(files) if PREFIXED else files


try:
    # A module that is handed a `config:` has its whole configuration from there.
    INVOCATION = load_invocation(
        None if workflow.modifier.skip_configfile else Path("config/config.yaml"),
        config,
    )
    # Said here because Snakemake would show its own traceback when it first removes or makes a file there.
    if not workflow.output_settings.dryrun:
        require_writable(made("results"), made("results/benchmarks"))
except UserError as error:
    raise WorkflowError(str(error)) from None

STUDY = INVOCATION.config.study
CONFIG = f"config/studies/{STUDY}"
RESULTS = f"results/{STUDY}"
REPORT = f"{RESULTS}/report"
PRICE_LISTS = list(INVOCATION.price_lists)
# Relative where the project runs in its own folder: moving the folder then changes no job.
LIBRARY = os.path.relpath(Path(sweetspot.__file__).parent)
# Machines of one's own come first; a study without any still has its published ones.
INSTANCE_FILES = [
    file
    for file in ("config/instances.yaml", f"{CONFIG}/instances.yaml")
    if Path(file).is_file()
]


def scripts() -> Path:
    """The folder of the rules' scripts: the checkout's, or what a module's repository holds, kept beside its records."""
    if HOME is not None:
        return HOME / "workflow" / "scripts"
    folder = Path(".snakemake", "sweetspot", "scripts").absolute()
    for name in SCRIPT_NAMES:
        text = Path(workflow.source_path(f"../workflow/scripts/{name}.py")).read_bytes()
        file = folder / f"{name}.py"
        if not file.is_file() or file.read_bytes() != text:
            with write_whole(file) as temporary:
                temporary.write_bytes(text)
    return folder


# What a repository elsewhere is asked for; the same as the files of workflow/scripts/.
SCRIPT_NAMES = (
    "check_claims",
    "collect_throughput",
    "compare",
    "compare_then",
    "draw_figures",
    "draw_png",
    "extrapolate",
    "fit_scaling",
    "list_left_out",
    "price_workloads",
    "print_report",
    "render_report",
    "run_benchmark",
    "write_index",
    "write_tables",
)
SCRIPTS = scripts()

# What is measured stays; of the rest, what fits into the budget. A job on a node does not choose again.
BUDGET = budget_words(INVOCATION.config) if workflow.is_main_process else ""
CHOICE = choose_runs(INVOCATION, Path(made(str(BENCHMARKS))), budget=bool(BUDGET))
RUNS = [str(run_file(BENCHMARKS, run)) for run in CHOICE.kept]
PLACES = {made(file): file for file in RUNS} if PREFIXED else dict(zip(RUNS, RUNS))
MISSING_RUNS = [
    PLACES[place]
    for place in missing_runs(list(PLACES), Path(made(f"{RESULTS}/throughput.parquet")))
]
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
    return given([*ground, *sorted(str(file) for files in own for file in files)])


def here(script: str, input, output, log, params=None, wildcards=None) -> None:
    """Run `script`.py in this process, with a `snakemake` as `script:` would give it.

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
        caption=os.path.abspath(made(caption)),
        category=chart.category,
        labels={"figure": chart.name.replace("_", " ")},
    )
    return marked


def png(chart) -> str:
    """The same figure for slides."""
    return f"{REPORT}/figures/{chart.name}.png"


def specs(charts) -> list[str]:
    """The same figures as Vega specifications, which the page draws anew with tooltips."""
    return [f"{REPORT}/figures/{chart.name}.vg.json" for chart in charts]


def captions(charts) -> list[str]:
    """Where the words for Snakemake's own report are written, a file a chart."""
    return [f"{REPORT}/captions/{chart.name}.rst" for chart in charts]


def kept(file: str):
    """An output that is not removed before it is made again: it stays until its successor is whole.

    Snakemake fails to do so for files of a storage provider (Kubernetes): there they are removed first.
    """
    stored = workflow.storage_settings.default_storage_provider is not None
    return file if stored else update(file)


# By absolute paths: no environment needs to be active on a node, and `git pull` or a move repeats no run.
RUN_BENCHMARK = shell_text(
    shlex.join([sys.executable, str(SCRIPTS / "run_benchmark.py")])
)
PLACE, PLACE_PARAMS = JOBS.place()


def runs_to_make() -> list[str]:
    """Run files that this invocation makes, or makes again."""
    jobs = workflow.dag.needrun_jobs()
    return [str(job.output[0]) for job in jobs if job.rule.name == "run_benchmark"]


def runs_a_job() -> int:
    """Runs that share a job of a cluster where the profile groups them."""
    groups = workflow.group_settings
    name = groups.overwrite_groups.get("run_benchmark")
    return 1 if name is None else groups.group_components.get(name, 1)


onstart:
    if workflow.is_main_process:
        stop_on_sigterm(submitted=not workflow.local_exec)
        if not workflow.local_exec:
            try:
                JOBS.require_partitions(runs_to_make(), runs_a_job())
            except UserError as error:
                raise WorkflowError(str(error)) from None
            pending.watch(logger.warning)
    if workflow.is_main_process and not workflow.touch:
        note_reruns(runs_to_make(), ATTEMPTS)


onsuccess:
    if workflow.is_main_process:
        settle()
    # Snakemake's limit of jobs a second starts a timer of one second at each choice of jobs, and its process waits for
    # the last one after everything is finished. Nobody else does.
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()


onerror:
    if workflow.is_main_process:
        settle()
