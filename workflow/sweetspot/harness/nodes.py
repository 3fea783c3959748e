"""A run over several nodes, from the supervisor's side: what it starts, and what the workers told, joined."""

import re
import sys
from collections.abc import Mapping
from typing import Any

from sweetspot.harness.request import Request

WORDS = {"worker", "failure", "refused"}  # what any worker may say, worker 0 or not


def command(request: Request) -> list[str]:
    """The srun that starts a worker on every node of the job; it ends all when one fails.

    The supervisor is itself a step of the job, whose cores and cards the workers take: hence --overlap.
    """
    nodes = str(request.nodes)
    place = ["--nodes", nodes, "--ntasks", nodes, "--ntasks-per-node=1"]
    ends = ["--overlap", "--cpu-bind=none", "--kill-on-bad-exit=1", "--wait=30"]
    return ["srun", *place, *ends, sys.executable, "-m", "sweetspot.harness.multiworker", request.to_json()]


def outer(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what describes the supervisor's own step, which srun would take for its defaults."""
    kept = ("SLURM_JOB_ID", "SLURM_CONF")
    return {name: value for name, value in environment.items() if name in kept or not name.startswith("SLURM_")}


def joined(workers: list[dict[str, Any]], device: str) -> dict[str, Any]:
    """Facts of a run from those of its workers: rates and memory add up.

    Workers on processors of one host share them, as logical devices do, and the run is named logical.
    """
    hosts = {worker["host"] for worker in workers}
    shared = device == "cpu" and len(hosts) < len(workers)
    found: dict[str, Any] = {"workers": sorted(workers, key=lambda worker: worker["node"])}
    if workers:
        found["logical"] = shared
    for name in ("machine_matmul_flops", "machine_conv_flops", "memory_peak_bytes"):
        if workers and all(name in worker for worker in workers):
            found[name] = sum(worker[name] for worker in workers)
    return found


def message(failures: list[str], errors: str, otherwise: str | None) -> str | None:
    """Why a run over several nodes failed: srun's word on the first worker that ended, and the workers' own."""
    ended = re.findall(r"^srun: error: (.*task.*)$", errors, re.MULTILINE)
    return "; ".join([*ended[:1], *failures[:1]])[:300] or otherwise
