"""Slurm jobs that wait for ever: said from the queue's own reason, while Snakemake waits with them."""

import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable

SQUEUE = ("squeue", "--me", "--noheader", "--states=PENDING", "--format=%i|%P|%r|%k")
RULE = "run_benchmark"  # the executor plugin puts the rule's name into the comment
PAUSE_S, PATIENCE_S = 20.0, 30.0
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


def told(lines: Iterable[str]) -> dict[str, str]:
    """What to say of pending jobs, by job: of those whose reason may never end. `lines`: those of SQUEUE."""
    found = {}
    for line in lines:
        job, _, rest = line.strip().partition("|")
        partition, _, rest = rest.partition("|")
        reason, _, comment = rest.partition("|")
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


def pending() -> list[str] | None:
    """The lines of SQUEUE; None where Slurm does not answer."""
    try:
        done = subprocess.run(SQUEUE, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    except (subprocess.SubprocessError, OSError):
        return None
    return done.stdout.splitlines()


def watch(say: Callable[[str], object], pause_s: float = PAUSE_S) -> threading.Event:
    """Say of each job once that it may wait for ever, within `pause_s` of the queue's saying so; set the event to end.

    Says too when Slurm's controller goes and comes back. The thread is a daemon: it keeps no process alive.
    """
    ended, known = threading.Event(), set[str]()

    def look() -> None:
        away = False
        while not ended.wait(pause_s):
            lines = pending()
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
