"""The devices of a run: leased from other jobs, counted, named, and refused if they are not those asked for."""

import fcntl
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path

from sweetspot.errors import UserError
from sweetspot.harness.cards import visible_cards
from sweetspot.harness.request import Request
from sweetspot.platforms import PLATFORMS


def lease_folder() -> Path:
    """Where the locks of this host's devices lie: the same for every job and user. It is made where it is missing."""
    folder = Path(os.environ.get("SWEETSPOT_LEASES", Path(tempfile.gettempdir()) / "sweetspot-gpus"))
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)  # other users' jobs make their locks there; `mkdir` would take their right away (umask)
    return folder


@contextmanager
def _lock_file(name: str) -> Iterator[int]:
    """Open a lock of this host. It is the kernel's (flock): a job that is killed frees it."""
    descriptor = os.open(lease_folder() / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with suppress(PermissionError):  # another user's, who has done so
            os.fchmod(descriptor, 0o666)
        yield descriptor
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int, kind: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        return True
    return False


@contextmanager
def leased_processor(exclusive: bool) -> Iterator[None]:
    """Hold this host's processor for this process: alone, or beside others that only feed their cards.

    A run on the processor is measured alone; runs on cards go beside each other, not beside one on the processor.
    Waits, and says so, while another holds it; who comes later waits behind, so that many runs on cards do not keep one
    on the processor waiting for ever.
    """
    kinds = (fcntl.LOCK_EX, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
    with _lock_file("processor-queue") as queue, _lock_file("processor") as processor:
        for lock, kind in zip((queue, processor), kinds, strict=True):
            if not _try_lock(lock, kind):
                print("waiting: another measurement holds this host's processor", file=sys.stderr, flush=True)
                fcntl.flock(lock, kind)
        fcntl.flock(queue, fcntl.LOCK_UN)
        yield


@contextmanager
def leased_cards(count: int, cards: list[str]) -> Iterator[list[str]]:
    """Hold `count` of `cards` for this process, all or none; waits until enough are free.

    Jobs take them one after the other, under a lock of its own, so that two never hold half of what each needs.
    Raises UserError if there are too few.
    """
    if count > len(cards):
        raise UserError(f"--gpus is {count}; this machine shows {len(cards)} device(s); nothing was measured")
    print(f"waiting for {count} of {len(cards)} device(s), if other jobs hold them", file=sys.stderr, flush=True)
    leased: list[str] = []
    with ExitStack() as leases:
        locks = {card: leases.enter_context(_lock_file(card)) for card in cards}
        with _lock_file("queue") as queue:
            fcntl.flock(queue, fcntl.LOCK_EX)
            while len(leased) < count:
                free = (card for card in cards if card not in leased and _try_lock(locks[card], fcntl.LOCK_EX))
                leased = [*leased, *islice(free, count - len(leased))]
                if len(leased) < count:
                    time.sleep(0.5)
        yield sorted(leased, key=cards.index)


@contextmanager
def leased_devices(request: Request) -> Iterator[None]:
    """Lease the processor, or the cards that a GPU run needs, and show it only those; Slurm's own choice is trusted.

    Raises UserError where an instance of a partition would be measured outside a Slurm job: the figure would be
    filed under the wrong machine.
    """
    platform = PLATFORMS[request.where]
    if platform.inside is not None and platform.inside not in os.environ:
        raise UserError(
            f"--instance is {request.cell.instance!r}, which is measured through {platform.title}, and this is no "
            f"{platform.job}; run snakemake with --workflow-profile {platform.profile}"
        )
    if request.device == "gpu":  # by itself CUDA counts the fastest card first, and NVML along the bus
        os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    with ExitStack() as leases:
        if not any(platform.inside in os.environ for platform in PLATFORMS.values() if platform.hands_out_devices):
            if request.device == "gpu":
                cards = leases.enter_context(leased_cards(request.cell.gpus, visible_cards()))
                os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(cards)
            leases.enter_context(leased_processor(exclusive=request.device == "cpu"))
        yield
