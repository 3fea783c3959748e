"""A run over several nodes: what the supervisor starts, how workers find each other, what they told, joined.

    python -m sweetspot.harness.nodes REQUEST_JSON MODULE ARGUMENT...

is torch's own launcher (torchrun): each process that it starts, one a device, runs `python -m MODULE ARGUMENT...`. On
several nodes srun starts one launcher a node; they meet at the first, as Slurm tells it.
"""

import ctypes
import os
import re
import resource
import signal
import socket
import sys
from collections.abc import Mapping
from typing import Any

from sweetspot.harness.request import Request

PORTS = 10_000, 20_000  # first and how many: below the range from which Linux gives outgoing connections theirs
GRACE_S = 30  # after its time limit a worker ends by itself, should srun have died without ending it
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
WORDS = {"worker", "failure", "refused"}  # what any worker may say, worker 0 or not


def command(request: Request, module: str, *more: str) -> list[str]:
    """The srun that starts `python -m module REQUEST_JSON more` on every node of the job; it ends all when one fails.

    The supervisor is itself a step of the job, whose cores and cards the workers take: hence --overlap.
    """
    nodes = str(request.nodes)
    place = ["--nodes", nodes, "--ntasks", nodes, "--ntasks-per-node=1"]
    ends = ["--overlap", "--cpu-bind=none", "--kill-on-bad-exit=1", "--wait=30"]
    return ["srun", *place, *ends, sys.executable, "-m", module, request.to_json(), *more]


def outer(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what describes the supervisor's own step, which srun would take for its defaults."""
    kept = ("SLURM_JOB_ID", "SLURM_CONF")
    return {name: value for name, value in environment.items() if name in kept or not name.startswith("SLURM_")}


def first_port(environment: Mapping[str, str]) -> int:
    """The port of worker 0, the same on all nodes; jobs and their steps that share a node get different ones."""
    step = int(environment["SLURM_JOB_ID"]) * 101 + int(environment.get("SLURM_STEP_ID", "0")) * 10
    return PORTS[0] + step % PORTS[1]


def first_host(environment: Mapping[str, str]) -> str:
    """The node of worker 0: the first of Slurm's list, such as `gpu[9-10,12],big1`, where Slurm ranks them."""
    first = re.match(r"([^,\[]+)(?:\[(\w+))?", environment["SLURM_STEP_NODELIST"])
    assert first is not None  # srun always names one
    return first[1] + (first[2] or "")


def worker_facts(request: Request, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the worker of one node has to tell of itself when it has measured."""
    return {
        "host": socket.gethostname(),
        "node": os.environ["SLURMD_NODENAME"],
        "device_name": facts["device_name"],
        "device_count": request.local_gpus,
        "versions": facts["versions"],
        "memory_peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


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


def launcher_flags(request: Request, environment: Mapping[str, str]) -> list[str]:
    """Flags of torchrun on this node: how many processes it starts, and where those of all nodes meet."""
    place = ["--standalone"]
    if request.nodes > 1:
        meeting = first_host(environment), str(first_port(environment))
        place = ["--nnodes", str(request.nodes), "--node-rank", environment["SLURM_NODEID"]]
        place += ["--master-addr", meeting[0], "--master-port", meeting[1]]
    return [*place, "--nproc-per-node", str(request.local_gpus)]


def share_of_cores(request: Request) -> int:
    """Threads of each process: on a processor its share of the cores, beside a GPU one, as torchrun has it."""
    return max(1, len(os.sched_getaffinity(0)) // request.local_gpus) if request.device == "cpu" else 1


def prctl(option: int, value: int) -> None:
    """Linux' own; elsewhere nothing, and the broken pipe ends a process at its next step."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value)


def die_with_supervisor() -> None:
    """Have the kernel kill this process with its supervisor: else it would train on cards no longer leased."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    die_with_supervisor()
    from torch.distributed.run import main

    asked = Request.from_json(sys.argv[1])
    os.environ.setdefault("OMP_NUM_THREADS", str(share_of_cores(asked)))
    main([*launcher_flags(asked, os.environ), "-m", *sys.argv[2:]])
