"""torch's own launcher (torchrun) as a process that dies with its supervisor: one training process a device.

    python -m sweetspot.harness.torch_launch REQUEST_JSON MODULE ARGUMENT...

Each process runs `python -m MODULE ARGUMENT...`. On several nodes srun starts one launcher a node; they meet at the
first, as Slurm tells it.
"""

import os
import sys
from collections.abc import Mapping

from sweetspot.harness import nodes
from sweetspot.harness.request import Request
from sweetspot.harness.train import die_with_supervisor


def arguments(request: Request, environment: Mapping[str, str]) -> list[str]:
    """Flags of torchrun on this node: how many processes it starts, and where those of all nodes meet."""
    place = ["--standalone"]
    if request.nodes > 1:
        meeting = nodes.first_host(environment), str(nodes.first_port(environment))
        place = ["--nnodes", str(request.nodes), "--node-rank", environment["SLURM_NODEID"]]
        place += ["--master-addr", meeting[0], "--master-port", meeting[1]]
    return [*place, "--nproc-per-node", str(request.local_gpus)]


def share_of_cores(request: Request) -> int:
    """Threads of each process: on a processor its share of the cores, beside a GPU one, as torchrun has it."""
    return max(1, len(os.sched_getaffinity(0)) // request.local_gpus) if request.device == "cpu" else 1


if __name__ == "__main__":
    die_with_supervisor()
    from torch.distributed.run import main

    asked = Request.from_json(sys.argv[1])
    os.environ.setdefault("OMP_NUM_THREADS", str(share_of_cores(asked)))
    main([*arguments(asked, os.environ), "-m", *sys.argv[2:]])
