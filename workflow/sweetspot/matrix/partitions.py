"""Slurm's partitions and accounts, asked before anything is submitted: what it would refuse, or never start."""

import getpass
import math
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence

from sweetspot.errors import UserError
from sweetspot.study.executors import Executor

SINFO = ("sinfo", "--all", "--noheader", "--format=%R|%l")
# A QOS with this flag lets jobs of it run longer than their partition allows (slurm.schedmd.com/qos.html).
QOS = ("sacctmgr", "--noheader", "--parsable2", "show", "qos", "format=Name,Flags,MaxWall")
OVERRIDES = "PartitionTimeLimit"
ACCOUNTS = ("sacctmgr", "--noheader", "--parsable2", "show", "associations", "format=Account,User")
PATIENCE_S = 30
# sinfo(1): minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, ...; `infinite`, `n/a`.
TIME = re.compile(r"(?:(?P<days>\d+)-)?(?P<parts>\d+(?::\d+){0,2})")
UNITS = {False: {1: (1,), 2: (1, 1 / 60), 3: (60, 1, 1 / 60)}, True: {1: (60,), 2: (60, 1), 3: (60, 1, 1 / 60)}}


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
    if shutil.which(command[0]) is None:
        return []
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S).stdout
    except (subprocess.SubprocessError, OSError):
        return []
    return [line for line in told.splitlines() if "|" in line]


def minutes(text: str) -> float:
    """A time as sinfo prints it, in minutes; infinite where it is no time."""
    found = TIME.fullmatch(text)
    if found is None:
        return math.inf
    parts = [int(part) for part in found["parts"].split(":")]
    units = UNITS[found["days"] is not None][len(parts)]
    return int(found["days"] or 0) * 24 * 60 + sum(part * unit for part, unit in zip(parts, units, strict=True))
