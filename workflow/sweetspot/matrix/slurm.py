"""What Slurm is asked: whether it takes the jobs before anything is submitted, then which of them wait for ever.

What it would refuse or never start is said at once, the rest while Snakemake waits with it. Commands of ours keep its
executor steady while the controller or the accounting is away.
"""

import os
import re
import shlex
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from sweetspot.errors import UserError
from sweetspot.files import write_whole
from sweetspot.study.instances import Executor

PATIENCE_S = 30
SQUEUE = ("squeue", "--me", "--noheader", "--states=PENDING", "--format=%i|%P|%r|%k")
RULE = "run_benchmark"  # the executor plugin puts the rule's name into the comment
PAUSE_S = 20.0
# Reasons of slurm.schedmd.com/job_reason_codes.html that no waiting ends: somebody must change the job or Slurm.
NEVER = re.compile(
    r"Partition(Time|Node)Limit|Partition(Down|Inactive|Config)|BadConstraints|Invalid\w+|AccountNotAllowed|QOSNotAllowed"
    r"|(Assoc|QOS)\w*(PerJob|PerNode)\w*|(Association|QOS)TimeLimit|QOSMin\w+|AccountingPolicy|DependencyNeverSatisfied"
    r"|JobHeld\w+|NodeDown|ReqNodeNotAvail|ReservationDeleted|JobLaunchFailure"
)
# Slurm's one reason in words instead of a code: a node is down or drained, or waits for jobs of a higher partition.
NODES = "Nodes required for job are DOWN"
# Reasons that end when other jobs of the account, user or QOS do, and never if the job alone is above the limit.
MAYBE = re.compile(r"Assoc(Grp|Max)\w+|QOS(Grp|Max)\w+|Max\w+PerAccount")

AWAY = "Slurm's controller does not answer: its jobs go on, and Snakemake waits for it"
BACK = "Slurm's controller answers again"


def require_accepted(executors: Mapping[str, Executor], runs_a_job: int = 1, accounts: str = "") -> None:
    """Ask Slurm whether it would take the jobs (`sbatch --test-only`), before anything is submitted.

    Parameters
    ----------
    executors
        Of the instances whose runs are to be submitted, by name.
    runs_a_job
        How many runs share a job; their times add up.
    accounts
        The `slurm_account` of the jobs; one text may name several.

    Raises
    ------
    UserError
        In Slurm's own words, where it takes no such job. Where it does not answer nothing is said: submitting will.
    """
    for name, executor in executors.items():
        if executor.where != "slurm":
            continue
        asked_minutes = executor.runtime_min * runs_a_job
        command = ["sbatch", "--test-only", f"--partition={executor.partition}", f"--time={asked_minutes}"]
        command += [f"--account={accounts}"] if accounts else []
        refusal = _refusal([*command, "--wrap=true"])
        if refusal:
            several = f" ({runs_a_job} runs share it, group-components)" if runs_a_job > 1 else ""
            raise UserError(
                f"instance {name}: Slurm takes no job of {asked_minutes} minutes{several} in partition "
                f"{executor.partition!r}: {refusal}; correct the instance, or slurm_account of the profile"
            )


def _refusal(command: Sequence[str]) -> str:
    """The words with which a program of Slurm refuses; empty where it does not, or does not answer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    except (subprocess.SubprocessError, OSError):
        return ""
    words = " ".join(done.stderr.split()).replace("sbatch: error: ", "").replace("allocation failure: ", "")
    return "" if done.returncode == 0 or UNREACHABLE in words else words[:200] or "it says no reason"


def _said(command: Sequence[str]) -> list[str] | None:
    """The lines that a program of Slurm prints; None where it is not there or does not answer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    except (subprocess.SubprocessError, OSError):
        return None
    return done.stdout.splitlines()


def told(lines: Iterable[str]) -> dict[str, str]:
    """What to say of pending jobs, by job: of those whose reason may never end. `lines`: those of SQUEUE."""
    found = {}
    for line in lines:
        job, partition, reason, comment = (line.strip().split("|", 3) + [""] * 3)[:4]
        code = re.split(r"[,\s(]", reason.strip("()"), maxsplit=1)[0]
        if RULE not in comment:
            continue
        where = f"Slurm job {job} (partition {partition}) waits for '{reason}'"
        if reason.startswith(NODES):
            found[job] = f"{where}, until somebody brings nodes of it back (`sinfo -R` says why they are away)"
        elif NEVER.fullmatch(code):
            found[job] = f"{where}, which no waiting ends; Ctrl-C cancels it: correct the instance or the profile"
        elif MAYBE.fullmatch(code):
            found[job] = f"{where}: until other jobs end, or for ever if it alone asks for more than that limit"
    return found


def watch(say: Callable[[str], object], pause_s: float = PAUSE_S) -> threading.Event:
    """Say of each job once that it may wait for ever, within `pause_s` of the queue's saying so; set the event to end.

    Says too when Slurm's controller goes and comes back. The thread is a daemon: it keeps no process alive.
    """
    ended, known = threading.Event(), set[str]()

    def look() -> None:
        away = False
        while not ended.wait(pause_s):
            lines = _said(SQUEUE)
            if away != (lines is None):
                away = lines is None
                say(AWAY if away else BACK)
            for job, sentence in told(lines or []).items():
                if job not in known:
                    known.add(job)
                    say(sentence)

    if shutil.which(SQUEUE[0]) is None:
        return ended
    threading.Thread(target=look, name="slurm-pending", daemon=True).start()
    return ended


# Commands of ours that stand before Slurm's on the path of the process that submits. The executor
# (snakemake-executor-plugin-slurm 2.8) forgets its jobs once a question of their states has failed as often as it
# tries, and then waits for them for ever. A controller that is away fails every question to it; without accounting,
# every question to `sacct`. So:
# - `sacct` tells the states of an invocation's jobs from the accounting and from the queue, whichever answers, and
#   never fails: a job that nobody tells of is one that is still on its way.
# - `sbatch` waits until the controller is there, as long as the process that submits is.
# - `sacctmgr` and `sshare` let an account pass that nobody can check now; `sbatch` is told by Slurm if it is wrong.
FOLDER = Path(".snakemake/sweetspot/slurm")
CONTROL = "SWEETSPOT_CONTROL"  # the process that submits
UNREACHABLE = "Unable to contact slurm controller"
QUESTION_S = 25  # of the executor, which gives two of them 60 s

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
LET_PASS = r"""
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
    texts = {"sacct": STATES, "sbatch": SUBMIT, "sacctmgr": LET_PASS, "sshare": LET_PASS}
    for name, text in texts.items():
        quoted = {command: shlex.quote(where or "false") for command, where in real.items()}
        words = {"PATIENCE": str(QUESTION_S), "$CONTROL": f"${CONTROL}", "AWAY": UNREACHABLE, "REAL": quoted[name]}
        words |= {command.upper(): quoted[command] for command in ("squeue", "sacct", "sbatch")}
        for word, meant in words.items():
            text = text.replace(word, meant)
        with write_whole(folder / name) as temporary:
            temporary.write_text(f"#!/bin/sh\n# Written by {__name__}, which says why.{text}")
            temporary.chmod(0o755)
    os.environ |= {"PATH": os.pathsep.join([own, path]), CONTROL: str(os.getpid())}
