"""What Slurm is asked: partitions and accounts before anything is submitted, then which of its jobs wait for ever.

What it would refuse or never start is said at once, the rest while Snakemake waits with it.
"""

import getpass
import math
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from sweetspot.errors import UserError
from sweetspot.study.instances import Executor

SINFO = ("sinfo", "--all", "--noheader", "--format=%R|%l")
# A QOS with this flag lets jobs of it run longer than their partition allows (slurm.schedmd.com/qos.html).
QOS = ("sacctmgr", "--noheader", "--parsable2", "show", "qos", "format=Name,Flags,MaxWall")
OVERRIDES = "PartitionTimeLimit"
ACCOUNTS = ("sacctmgr", "--noheader", "--parsable2", "show", "associations", "format=Account,User")
PATIENCE_S = 30
# sinfo(1): minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, ...; `infinite`, `n/a`.
TIME = re.compile(r"(?:(?P<days>\d+)-)?(?P<parts>\d+(?::\d+){0,2})")
UNITS = {False: {1: (1,), 2: (1, 1 / 60), 3: (60, 1, 1 / 60)}, True: {1: (60,), 2: (60, 1), 3: (60, 1, 1 / 60)}}
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


def require_partitions(executors: Mapping[str, Executor], runs_a_job: int = 1) -> None:
    """Raises UserError where an instance's partition is unknown or allows less time than a job of it asks for.

    `executors`: of the instances whose runs are to be submitted. `runs_a_job`: how many runs a job may have, whose
    times add up. Where Slurm does not answer, nothing is said: submitting will. A QOS that overrides the partition's
    limit allows what it allows; whether a job has it, only Slurm knows (`pending` says what waits for ever).
    """
    submitted = {name: executor for name, executor in executors.items() if executor.where == "slurm"}
    limits = time_limits() if submitted else {}
    if not limits:
        return
    for name, executor in submitted.items():
        if executor.partition not in limits:
            raise UserError(
                f"instance {name}: partition is {executor.partition!r}; expected one of Slurm's: "
                f"{', '.join(sorted(limits))}"
            )
        limit = limits[executor.partition]
        if executor.runtime_min * runs_a_job > limit and executor.runtime_min * runs_a_job > overriding_limit():
            several = f" and {runs_a_job} runs share a job (group-components)" if runs_a_job > 1 else ""
            raise UserError(
                f"instance {name}: runtime_min is {executor.runtime_min}{several}; partition {executor.partition!r} "
                f"allows at most {limit:g} minutes a job; one that asks for more waits for ever (PartitionTimeLimit)"
            )


def require_accounts(asked: Iterable[str]) -> None:
    """Raises UserError where Slurm knows the accounts of this user, and one that jobs name is none of them.

    `asked`: `slurm_account` of the jobs that are to be submitted; one may name several. Without accounting Slurm takes
    every account, and nothing is said.
    """
    user = getpass.getuser()
    known = sorted({account for account, _, of in (line.partition("|") for line in _answer(ACCOUNTS)) if of == user})
    for account in sorted({name for names in asked for name in re.split(r"[,\s]+", names) if name}):
        if known and account.lower() not in known:
            raise UserError(
                f"slurm_account is {account!r}; expected one of Slurm's for {user}: {', '.join(known)}; correct it in "
                "default-resources of the profile"
            )


def time_limits() -> dict[str, float]:
    """Minutes that a job may take, by partition; infinite without a limit. Empty where Slurm does not answer."""
    rows = (line.rpartition("|") for line in _answer(SINFO))
    return {partition.strip(): minutes(limit.strip()) for partition, _, limit in rows}


def overriding_limit() -> float:
    """The most minutes that a QOS allows beyond its partition's limit; 0 where none does or nobody answers."""
    rows = (line.split("|") for line in _answer(QOS))
    return max((minutes(row[2]) for row in rows if len(row) > 2 and OVERRIDES in row[1].split(",")), default=0.0)


def _answer(command: Sequence[str]) -> list[str]:
    """The lines with columns that a program of Slurm prints; none where it does not answer."""
    return [line for line in _said(command) or () if "|" in line]


def _said(command: Sequence[str]) -> list[str] | None:
    """The lines that a program of Slurm prints; None where it is not there or does not answer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    except (subprocess.SubprocessError, OSError):
        return None
    return done.stdout.splitlines()


def minutes(text: str) -> float:
    """A time as sinfo prints it, in minutes; infinite where it is no time."""
    found = TIME.fullmatch(text)
    if found is None:
        return math.inf
    parts = [int(part) for part in found["parts"].split(":")]
    units = UNITS[found["days"] is not None][len(parts)]
    return int(found["days"] or 0) * 24 * 60 + sum(part * unit for part, unit in zip(parts, units, strict=True))


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
