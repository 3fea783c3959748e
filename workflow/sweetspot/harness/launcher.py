"""Start one training process a device, by torch's own launcher (torchrun): `python -m sweetspot.harness.launcher
REQUEST_JSON MODULE ARGUMENT...`. Each process runs `python -m MODULE ARGUMENT...`.
"""

import ctypes
import os
import signal
import sys

from sweetspot.harness.request import Request

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h


def threads_per_process(request: Request) -> int:
    """Return the CPU threads (OMP_NUM_THREADS) of each training process: its share of the cores, or 1 beside a GPU."""
    if request.device == "gpu":
        return 1
    return max(1, len(os.sched_getaffinity(0)) // request.cell.gpus)


def prctl(option: int, value: int) -> None:
    """Set an option of this process by Linux' prctl; elsewhere do nothing (a broken pipe ends the process then)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value)


def die_with_supervisor() -> None:
    """Make the kernel kill this process when its parent, the supervisor, dies: its cards are then free."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    die_with_supervisor()
    from torch.distributed.run import main

    request = Request.from_json(sys.argv[1])
    os.environ.setdefault("OMP_NUM_THREADS", str(threads_per_process(request)))
    main(["--standalone", "--nproc-per-node", str(request.cell.gpus), "-m", *sys.argv[2:]])
