"""A mount namespace of this process: what is written to the machine's own folders there is seen nowhere else."""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OWN = ("/etc", "/run", "/var/lib", "/var/log")  # what daemons of Debian write beside the folder they are given
CLONE_FS, CLONE_NEWNS = 0x00000200, 0x00020000  # linux/sched.h


def missing() -> str | None:
    """Why there is no such namespace here, or None; tried in a process of its own."""
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        return "a mount namespace of one's own needs root on Linux"
    tried = subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True
    )
    return f"no mount namespace of one's own: {tried.stderr.strip()}" if tried.returncode else None


@contextmanager
def private_folders(folder: Path) -> Iterator[None]:
    """This thread and all that it starts write `OWN` to `folder`; the machine's own stay as they are."""
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    kept = {name: Path(name).read_bytes() for name in ("/etc/hosts", "/etc/resolv.conf") if Path(name).is_file()}
    _ask(libc.unshare(CLONE_NEWNS))
    try:
        _run("mount", "--make-rprivate", "/")
        _run("mount", "-t", "tmpfs", "sweetspot", str(folder))  # an overlay cannot lie on another, as in a container
        for name in OWN:
            upper, work = (folder / f"{kind}{name.replace('/', '-')}" for kind in ("upper", "work"))
            upper.mkdir()
            work.mkdir()
            _run("mount", "-t", "overlay", "sweetspot", "-o", f"lowerdir={name},upperdir={upper},workdir={work}", name)
        for name, text in kept.items():  # a container's are mounts of their own, which an overlay does not show
            Path(name).unlink(missing_ok=True)
            Path(name).write_bytes(text)
        yield
    finally:
        _ask(libc.unshare(CLONE_FS))  # threads that began in between share this one's folders, which setns refuses
        _ask(libc.setns(before, CLONE_NEWNS))
        os.close(before)
        shutil.rmtree(folder, ignore_errors=True)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


def _ask(answer: int) -> None:
    if answer != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
