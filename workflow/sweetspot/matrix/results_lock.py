"""One invocation at a time makes the tables of a study, though several clones may share its results."""

import errno
import fcntl
import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from sweetspot.errors import UserError
from sweetspot.files import in_a_sentence

NAME = ".in-use"
NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}  # of a disk that knows none


def hold(results: str | Path) -> int | None:
    """Hold a study's `results` for this process until it ends, however it does; its descriptor, None without locks.

    Snakemake's own lock (the profiles switch it off) is of files by name: it stops two studies that write one index,
    two clones with one `results` pass it, and who is killed leaves it behind. This one is the kernel's (flock).
    Raises UserError that names who holds it.
    """
    file = Path(results, NAME)
    with in_a_sentence(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    with suppress(PermissionError):  # another user's, who has done so
        os.fchmod(descriptor, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.pread(descriptor, 500, 0).decode(errors="replace").strip()
        os.close(descriptor)
        if error.errno in NO_LOCKS:
            return None
        if not isinstance(error, BlockingIOError):
            raise
        raise UserError(
            f"{results}: {holder or 'another invocation'} is making it; start again when that has ended"
        ) from None
    with suppress(OSError):  # a full disk: the lock holds without a name
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _this_process().encode(), 0)
    return descriptor


def _this_process() -> str:
    """How others name this process."""
    return f"process {os.getpid()} on {socket.gethostname()} (since {datetime.now(UTC):%Y-%m-%d %H:%M} UTC)"
