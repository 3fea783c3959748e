"""The process of this invocation: where its library is, what it shows, what it does at its start and end; no rules."""

import gc
import os
import sys
import threading
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

# This checkout; None where Snakemake reads the rules of a module from a repository elsewhere, file by file.
RULES = workflow.current_basedir
HOME = Path(RULES).parent if isinstance(RULES, os.PathLike) else None
if HOME is not None:
    sys.path.insert(0, str(HOME / "workflow"))  # its own library, installed or not

try:
    from sweetspot.packages import PARSED, share_library, require_packages
except ModuleNotFoundError:
    raise WorkflowError(
        f"the library of Sweetspot is not in {sys.executable}, and {RULES} gives the rules only; "
        "install it from the same repository and tag: pip install git+https://github.com/OWNER/NAME@v1.0.0"
    ) from None
from sweetspot.errors import UserError

share_library()
try:
    require_packages(HOME, PARSED)
except UserError as error:
    raise WorkflowError(str(error)) from None

from sweetspot.matrix.process import hold, stop_on_sigterm, stop_when_unread
from sweetspot.matrix.progress import show_step_lines
from sweetspot.matrix.reruns import must_replace, note_reruns
from sweetspot.matrix.slurm import install_commands

# Snakemake makes hundreds of objects a job and keeps them: looking for garbage among them every 700 new ones took a
# seventh of a dry run of 10,000 cells.
gc.set_threshold(100_000, 50, 100)

stop_when_unread(logger.handlers)
# V=1 (also `make report V=1`), --verbose and --printshellcmds show all that Snakemake says.
SAID = workflow.output_settings
if workflow.is_main_process and not (
    SAID.dryrun or SAID.verbose or SAID.printshellcmds or os.environ.get("V") == "1"
):
    show_step_lines(logger.handlers, is_quiet=bool(SAID.quiet))
# Here, not at the start: Snakemake has no start of a module.
if workflow.is_main_process and not SAID.dryrun:
    install_commands()

# What Snakemake says of every first run that fails: there was no run file to keep (see `kept`).
logger.addFilter(lambda record: not str(record.msg).endswith("no backup found."))


def jobs_to_make() -> list:
    """Benchmark jobs of this invocation."""
    jobs = workflow.dag.needrun_jobs()
    return [job for job in jobs if job.rule.name.endswith("run_benchmark")]


def is_forced(job) -> bool:
    """Whether -R, -f or -F asks for a job; Snakemake itself forces those that a killed invocation left unrecorded."""
    forced = workflow.dag_settings
    files = {os.path.relpath(file) for file in forced.forcerun}
    return (
        forced.forcetargets
        or job.rule in workflow.dag.forcerules
        or str(job.output[0]) in files
    )


def is_filed(job) -> bool:
    """Whether a run of an invocation that was killed filed itself all the same: its job then finds it measured.

    It is not the file that was to be replaced then, and it was made with the flags that define a run now.
    """
    from sweetspot.harness.runfile import (
        has_flags,
    )  # needs numpy, which a plan can be made without

    file = str(job.output[0])
    if not Path(file).is_file():
        return False
    flags = f"{job.params.protocol} {job.params.device}"
    return has_flags(file, flags) and not must_replace(file)  # which reads all notes


def runs_to_make() -> list[str]:
    """Run files that this invocation makes, or makes again."""
    jobs = [job for job in jobs_to_make() if is_forced(job) or not is_filed(job)]
    return [str(job.output[0]) for job in jobs]


def accounts_of_jobs() -> str:
    """Accounts that the profile names for the jobs, with commas."""
    named = {str(job.resources.get("slurm_account", "")) for job in jobs_to_make()}
    return ",".join(sorted(named - {""}))


def runs_a_job() -> int:
    """Runs that share a job of a cluster where the profile groups them."""
    groups = workflow.group_settings
    name = groups.overwrite_groups.get("run_benchmark")
    return 1 if name is None else groups.group_components.get(name, 1)


onstart:
    if workflow.is_main_process:
        stop_on_sigterm(submitted=not workflow.local_exec)
        try:
            require_packages(HOME)
            if not STORED:  # a bucket has no locks
                hold(made(f"results/{STUDY}"))
            if not workflow.local_exec:
                JOBS.require_accepted(
                    {job.wildcards.instance for job in jobs_to_make()},
                    runs_a_job(),
                    accounts_of_jobs(),
                )
        except UserError as error:
            raise WorkflowError(str(error)) from None
        if not workflow.touch:
            note_reruns(runs_to_make(), ATTEMPTS)


onsuccess:
    # Snakemake's limit of jobs a second starts a timer of one second at each choice of jobs, and its process waits for
    # the last one after everything is finished. Nobody else does.
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
