"""Ask Slurm whether it takes the jobs, and keep Snakemake's executor steady while Slurm does not answer.

The executor (snakemake-executor-plugin-slurm 2.8) forgets its jobs once a question about their states has failed as
often as it tries, and then waits for them for ever. A controller that is away fails every question to it; without
accounting, every question to `sacct` fails. Therefore commands of this module come before Slurm's on the PATH of the
process that submits:

- `sacct` takes the states of jobs from the accounting and from the queue, whichever answers, and never fails;
- `sbatch` waits until the controller is back, as long as the process that submits lives;
- `sacctmgr` and `sshare` accept an account that nobody can check now; `sbatch` refuses a wrong one.
"""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sweetspot.errors import UserError
from sweetspot.files import write_whole
from sweetspot.study.instances import Executor

TIMEOUT_S = 30
UNREACHABLE = "Unable to contact slurm controller"
# Slurm says the second of a node that is drained or comes back, too, where a job only has to wait.
MAY_PASS = (UNREACHABLE, "Requested node configuration is not available")
FOLDER = Path(".snakemake/sweetspot/slurm")
PROCESS_VARIABLE = "SWEETSPOT_CONTROL"  # the process that submits
QUESTION_S = 25  # the executor allows 60 s for two questions
PROGRAMS = ("sacct", "squeue", "sbatch", "sacctmgr", "sshare")

# `sacct` adds to a state who cancelled the job, which the executor does not understand.
STATES = r"""
queue() { timeout PATIENCE SQUEUE --states=all --noheader "$@" 2>/dev/null; }
case "$*" in
  *--name\ *)
    for name; do :; done
    timeout PATIENCE SACCT "$@" 2>/dev/null | sed 's/ by .*//'
    queue --format='%i|%T' --name "$name" ;;
  *nodelist*) queue --format=%N --jobs "$2" ;;
  *.0\ *Reason*) queue --format=%r --jobs "${2%.*}" ;;
  *.[0-9]*Reason*) ;;
  *) exec SACCT "$@" ;;
esac
exit 0
"""
SUBMIT = r"""
errors=$(mktemp) && trap 'rm -f "$errors"' EXIT
until SBATCH "$@" 2>"$errors"; do
  grep -q 'AWAY' "$errors" && kill -0 "$CONTROL" 2>/dev/null || { cat "$errors" >&2; exit 1; }
  sleep 2
done
cat "$errors" >&2
"""
LET_PASS = r"""
timeout PATIENCE REAL "$@" 2>/dev/null
exit 0
"""


def require_accepted(
    executors: Mapping[str, Executor],
    runs_per_job: int = 1,
    accounts: str = "",
) -> None:
    """Ask Slurm whether it would take the jobs (`sbatch --test-only`).

    Parameters
    ----------
    executors
        Of the instances whose runs are to be submitted, by name.
    runs_per_job
        How many runs share a job; their times add up.
    accounts
        The `slurm_account` of the jobs; one text may name several.

    Raises
    ------
    UserError
        In Slurm's own words, where it takes no such job. A Slurm that does not answer is no reason.
    """
    for name, executor in executors.items():
        if executor.where != "slurm":
            continue
        minutes = executor.runtime_min * runs_per_job
        command = ["sbatch", "--test-only", f"--partition={executor.partition}", f"--time={minutes}"]
        if accounts:
            command.append(f"--account={accounts}")
        refusal = _refusal([*command, "--wrap=true"])
        if refusal:
            sharing = f" ({runs_per_job} runs share it, group-components)" if runs_per_job > 1 else ""
            raise UserError(
                f"instance {name}: Slurm takes no job of {minutes} minutes{sharing} in partition "
                f"{executor.partition!r}: {refusal}; correct the instance, or slurm_account of the profile"
            )


def _refusal(command: Sequence[str]) -> str:
    """Return the words with which Slurm refuses; empty where it does not, or does not answer."""
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    except (subprocess.SubprocessError, OSError):
        return ""
    text = " ".join(process.stderr.split())
    text = text.replace("sbatch: error: ", "").replace("allocation failure: ", "")
    if process.returncode == 0 or any(words in text for words in MAY_PASS):
        return ""
    return text[:200] or "it says no reason"


def install_commands(folder: Path = FOLDER) -> None:
    """Write the commands into `folder` and put it first on the PATH of this process; nothing without Slurm."""
    command_folder = str(folder.absolute())
    folders = os.environ["PATH"].split(os.pathsep)
    path = os.pathsep.join(entry for entry in folders if entry != command_folder)
    programs = {name: shutil.which(name, path=path) for name in PROGRAMS}
    if programs["sbatch"] is None or programs["squeue"] is None:
        return
    quoted = {name: shlex.quote(program or "false") for name, program in programs.items()}
    scripts = {"sacct": STATES, "sbatch": SUBMIT, "sacctmgr": LET_PASS, "sshare": LET_PASS}
    for name, script in scripts.items():
        values = {
            "PATIENCE": str(QUESTION_S),
            "$CONTROL": f"${PROCESS_VARIABLE}",
            "AWAY": UNREACHABLE,
            "REAL": quoted[name],
            "SQUEUE": quoted["squeue"],
            "SACCT": quoted["sacct"],
            "SBATCH": quoted["sbatch"],
        }
        for word, value in values.items():
            script = script.replace(word, value)
        with write_whole(folder / name) as temporary:
            temporary.write_text(f"#!/bin/sh\n# Written by {__name__}, which says why.{script}")
            temporary.chmod(0o755)
    os.environ |= {"PATH": os.pathsep.join([command_folder, path]), PROCESS_VARIABLE: str(os.getpid())}
