"""Slurm's commands as Snakemake's executor calls them, steady while the controller or the accounting is away.

The executor (snakemake-executor-plugin-slurm 2.8) forgets its jobs once a question of their states has failed as often
as it tries, and then waits for them for ever. A controller that is away fails every question to it; without accounting,
every question to `sacct`. So commands of ours stand before Slurm's on the path of the process that submits:

- `sacct` tells the states of an invocation's jobs from the accounting and from the queue, whichever answers, and never
  fails: a job that nobody tells of is one that is still on its way.
- `sbatch` waits until the controller is there, as long as the process that submits is.
- `sacctmgr` and `sshare` let an account pass that nobody can check now; `sbatch` is told by Slurm if it is wrong.
"""

import os
import shlex
import shutil
from pathlib import Path

from sweetspot.files import write_whole

FOLDER = Path(".snakemake/sweetspot/slurm")
CONTROL = "SWEETSPOT_CONTROL"  # the process that submits
AWAY = "Unable to contact slurm controller"
PATIENCE_S = 25  # of a question: the executor gives two of them 60 s

# States alone, as squeue says them: sacct adds who cancelled a job, which the executor does not know.
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
said=$(mktemp) && trap 'rm -f "$said"' EXIT
until SBATCH "$@" 2>"$said"; do
  grep -q 'AWAY' "$said" && kill -0 "$CONTROL" 2>/dev/null || { cat "$said" >&2; exit 1; }
  sleep 2
done
cat "$said" >&2
"""
ACCOUNTS = r"""
timeout PATIENCE REAL "$@" 2>/dev/null
exit 0
"""


def stand_before_slurm(folder: Path = FOLDER) -> None:
    """Put the commands into `folder` and that first on the path of this process; nothing where there is no Slurm."""
    own = str(folder.absolute())
    path = os.pathsep.join(place for place in os.environ["PATH"].split(os.pathsep) if place != own)
    real = {name: shutil.which(name, path=path) for name in ("sacct", "squeue", "sbatch", "sacctmgr", "sshare")}
    if real["sbatch"] is None or real["squeue"] is None:
        return
    texts = {"sacct": STATES, "sbatch": SUBMIT, "sacctmgr": ACCOUNTS, "sshare": ACCOUNTS}
    for name, text in texts.items():
        words = {"PATIENCE": str(PATIENCE_S), "$CONTROL": f"${CONTROL}", "AWAY": AWAY, "REAL": _quoted(real[name])}
        words |= {command.upper(): _quoted(real[command]) for command in ("squeue", "sacct", "sbatch")}
        for word, meant in words.items():
            text = text.replace(word, meant)
        with write_whole(folder / name) as temporary:
            temporary.write_text(f"#!/bin/sh\n# Written by {__name__}, which says why.{text}")
            temporary.chmod(0o755)
    os.environ |= {"PATH": os.pathsep.join([own, path]), CONTROL: str(os.getpid())}


def _quoted(command: str | None) -> str:
    return shlex.quote(command or "false")
