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
    """Return the folder of this host's lock files, one for all jobs and users; make it where it is missing."""
    folder = Path(os.environ.get("SWEETSPOT_LEASES", Path(tempfile.gettempdir()) / "sweetspot-gpus"))
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)  # other users' jobs make their locks there; `mkdir` would take their right away (umask)
    return folder


@contextmanager
def _lock_file(name: str) -> Iterator[int]:
    """Yield the open descriptor of a lock file of this host, not locked yet; the kernel frees a killed job's lock."""
    descriptor = os.open(lease_folder() / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with suppress(PermissionError):  # another user's, who has done so
            os.fchmod(descriptor, 0o666)
        yield descriptor
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int, kind: int) -> bool:
    """Lock the open file unless another process holds its lock; return True if it is locked now."""
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        return True
    return False


@contextmanager
def leased_processor(exclusive: bool) -> Iterator[None]:
    """Hold the lock of this host's processor in the `with` block: alone, or shared with other runs on cards.

    A run on the processor is measured alone; runs on cards go beside each other. Wait, with a message on stderr, while
    another job holds the lock. Jobs queue for it, so that many runs on cards do not keep one on the processor waiting.
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
    """Yield the UUIDs of `count` of `cards`, locked for this process in the `with` block; wait until so many are free.

    One job at a time takes cards, so that no two jobs hold half of what each needs. UserError for too few `cards`.
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
    """Lock the run's processor or GPUs in the `with` block, and show it only those; Slurm's own choice needs no lock.

    Raises UserError for an instance of a partition outside a Slurm job: the figure would be of another machine.
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
