"""Ask Slurm whether it takes the jobs, and keep Snakemake's executor steady while Slurm does not answer.

The executor (snakemake-executor-plugin-slurm 2.8) forgets its jobs once a question about their states has failed as
often as it tries, and then waits for them for ever. A controller that is away fails every question to it; without
accounting, every question to `sacct` fails. Therefore commands of this module come before Slurm's on the PATH of the
process that submits: - `sacct` takes the states of jobs from the accounting and from the queue, whichever answers, and
never fails; - `sbatch` waits until the controller is back, as long as the process that submits lives; - `sacctmgr` and
`sshare` accept an account that nobody can check now; `sbatch` refuses a wrong one.
"""

import os
import re
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
PROGRAMS = ("sacct", "squeue", "sbatch", "sacctmgr", "sshare")

# `install_commands` puts the paths of Slurm's programs into variables. The executor allows 60 s for two questions.
# `sacct` adds to a state who cancelled the job, which the executor does not understand.
STATES = r"""
queue() { timeout 25 "$REAL_squeue" --states=all --noheader "$@" 2>/dev/null; }
case "$*" in
  *--name\ *)
    for name; do :; done
    timeout 25 "$REAL_sacct" "$@" 2>/dev/null | sed 's/ by .*//'
    queue --format='%i|%T' --name "$name" ;;
  *nodelist*) queue --format=%N --jobs "$2" ;;
  *.0\ *Reason*) queue --format=%r --jobs "${2%.*}" ;;
  *.[0-9]*Reason*) ;;
  *) exec "$REAL_sacct" "$@" ;;
esac
exit 0
"""
SUBMIT = rf"""
errors=$(mktemp) && trap 'rm -f "$errors"' EXIT
until "$REAL_sbatch" "$@" 2>"$errors"; do
  grep -q '{UNREACHABLE}' "$errors" && kill -0 "${PROCESS_VARIABLE}" 2>/dev/null || {{ cat "$errors" >&2; exit 1; }}
  sleep 2
done
cat "$errors" >&2
"""
LET_PASS = r"""
timeout 25 "$(printenv "REAL_${0##*/}")" "$@" 2>/dev/null
exit 0
"""
SCRIPTS = {"sacct": STATES, "sbatch": SUBMIT, "sacctmgr": LET_PASS, "sshare": LET_PASS}


def require_accepted(executors: Mapping[str, Executor], runs_per_job: int = 1, accounts: str = "") -> None:
    """Raise UserError in Slurm's words if it would refuse the benchmark jobs (`sbatch --test-only`), before any is
    submitted; not if it does not answer.

    Parameters
    ----------
    executors, runs_per_job, accounts
        Executors by instance to be measured; how many runs share a job; `slurm_account` of the jobs.
    """
    for name, executor in executors.items():
        if executor.where != "slurm":
            continue
        minutes = executor.runtime_min * runs_per_job
        command = ["sbatch", "--test-only", f"--partition={executor.partition}", f"--time={minutes}", "--wrap=true"]
        refusal = _refusal([*command, f"--account={accounts}"] if accounts else command)
        if refusal:
            sharing = f" ({runs_per_job} runs share it, group-components)" if runs_per_job > 1 else ""
            raise UserError(
                f"instance {name}: Slurm takes no job of {minutes} minutes{sharing} in partition "
                f"{executor.partition!r}: {refusal}; correct the instance, or slurm_account of the profile"
            )


def _refusal(command: Sequence[str]) -> str:
    """Ask Slurm by an `sbatch --test-only` command whether it takes a job; return its reason for refusing (at most 200
    characters), '' if it accepts or does not answer.
    """
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    except (subprocess.SubprocessError, OSError):
        return ""
    text = re.sub("sbatch: error: |allocation failure: ", "", " ".join(process.stderr.split()))
    is_refused = process.returncode != 0 and not any(words in text for words in MAY_PASS)
    return (text[:200] or "it says no reason") if is_refused else ""


def install_commands(folder: Path = FOLDER) -> None:
    """Put wrappers of Slurm's commands (module docstring) into `folder`, first on this process's PATH, so that
    Snakemake survives a controller that is away; do nothing without Slurm.
    """
    command_folder = str(folder.absolute())
    path = os.pathsep.join(entry for entry in os.environ["PATH"].split(os.pathsep) if entry != command_folder)
    programs = {f"REAL_{name}": shutil.which(name, path=path) or "false" for name in PROGRAMS}
    if "false" in (programs["REAL_sbatch"], programs["REAL_squeue"]):
        return
    for name, script in SCRIPTS.items():
        with write_whole(folder / name) as temporary:
            temporary.write_text(f"#!/bin/sh\n# Written by {__name__}, which says why.{script}")
            temporary.chmod(0o755)
    os.environ |= {**programs, "PATH": os.pathsep.join([command_folder, path]), PROCESS_VARIABLE: str(os.getpid())}
