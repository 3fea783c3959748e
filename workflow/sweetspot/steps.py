"""For a training script of one's own: an iterator that tells the harness each step. The standard library only.

    from sweetspot.steps import steps
    for batch in steps(loader):
        train(batch)

Outside of a measurement it only iterates. A step is the time from one batch to the next one asked for. Work that a
device does later is waited for where torch is loaded and uses CUDA; for others give `finish`, such as
`steps(loader, finish=lambda: jax.block_until_ready(state))`. Of several processes the first tells (RANK, SLURM_PROCID).
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
VARIABLE = "SWEETSPOT_STEPS"  # the file to which steps are told


def steps(batches: Iterable[T], finish: Callable[[], Any] | None = None) -> Iterator[T]:
    """Yield each batch; if the script is being measured, write the seconds of each step, for the harness to read, to
    the file $SWEETSPOT_STEPS. `finish` waits for a device's work.
    """
    file = os.environ.get(VARIABLE)
    if not file or int(os.environ.get("RANK") or os.environ.get("SLURM_PROCID") or 0) > 0:
        yield from batches
        return
    with open(file, "a", buffering=1, encoding="utf-8") as records:  # noqa: PTH123
        for number, batch in enumerate(batches):
            start = time.perf_counter()
            yield batch
            _wait(finish)
            records.write(json.dumps({"step": number, "seconds": time.perf_counter() - start}) + "\n")


def _wait(finish: Callable[[], Any] | None) -> None:
    """Wait until the device has done the step, so that its time is whole: by `finish`, else by torch with CUDA."""
    if finish is not None:
        finish()
        return
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()
