"""The process of an invocation: one at a time makes a study's tables, runs the rules' scripts, and ends early. It ends
early when told to (SIGTERM), or because nobody reads its words.
"""

import errno
import fcntl
import logging
import os
import runpy
import signal
import socket
import threading
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from sweetspot.errors import UserError
from sweetspot.files import in_a_sentence, write_whole
from sweetspot.matrix.progress import terminal_handlers

# What a repository elsewhere is asked for; the same as the files of workflow/scripts/.
NAMES = (
    "check_claims", "collect_throughput", "compare", "compare_scenarios", "compare_then", "draw_figures",
    "draw_pictures", "extrapolate", "fit_scaling", "list_left_out", "price_workloads", "print_report", "render_report",
    "run_benchmark", "share_report", "write_index", "write_tables",
)  # fmt: skip
FOLDER = Path(".snakemake/sweetspot/scripts")
NAME = ".in-use"  # of the lock, in the results of a study
NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}  # of a disk that knows none


def scripts_of(fetched: Callable[[str], str]) -> Path:
    """Copy the rules' scripts of a workflow that is used as a module (its paths are given by `fetched(name)`) beside
    Snakemake's records, so that they run from this machine; return their folder.
    """
    for name in NAMES:
        text, file = Path(fetched(name)).read_bytes(), FOLDER / f"{name}.py"
        if not file.is_file() or file.read_bytes() != text:
            with write_whole(file) as temporary:
                temporary.write_bytes(text)
    return FOLDER.absolute()


def run_script(script: Path, job: object, log: Path) -> str | None:
    """Run a rule's script in this process, without a new Python start; return why it failed, a sentence for the user,
    or None if it succeeded.

    Parameters
    ----------
    script, job, log
        The script's file; the object `snakemake` that it reads; the log: outcome or traceback (raised).
    """
    sentence = None
    try:
        runpy.run_path(str(script), init_globals={"snakemake": job})
    except UserError as error:
        sentence = str(error)
    except SystemExit:
        sentence = f"{script.stem} stopped; the sentence above says why"
    except Exception:
        log.write_text(traceback.format_exc(), encoding="utf-8")
        raise
    log.write_text(f"error: {sentence}\n" if sentence else "finished\n", encoding="utf-8")
    return sentence


def hold(results: str | Path) -> int | None:
    """Lock a study's `results` folder until this process ends, so that two runs of the workflow never write the same
    tables; return the lock's descriptor, None on a file system without locks. Raises UserError that names the holding
    process. Snakemake's own lock (off in the profiles) is of files by name: two clones with one `results` pass it, and
    a killed process leaves it behind. This one is the kernel's (flock).
    """
    file = Path(results, NAME)
    with in_a_sentence(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    with suppress(PermissionError):  # another user's, who has done so
        os.fchmod(descriptor, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 500, 0).decode(errors="replace").strip() or "another invocation"
        os.close(descriptor)
        raise UserError(f"{results}: {holder} is making it; start again when that has ended") from None
    except OSError as error:
        os.close(descriptor)
        if error.errno in NO_LOCKS:
            return None
        raise
    with suppress(OSError):  # a full disk: the lock holds without a name
        os.ftruncate(descriptor, 0)
        name = f"process {os.getpid()} on {socket.gethostname()} (since {datetime.now(UTC):%Y-%m-%d %H:%M} UTC)"
        os.pwrite(descriptor, name.encode(), 0)
    return descriptor


def stop_when_unread(handlers: Iterable[logging.Handler]) -> None:
    """Make the terminal's log handlers end the workflow as SIGTERM does once nobody reads its output (`| head`): else
    Snakemake's logging thread dies of BrokenPipeError and the scheduler may wait for a job for ever.
    """
    for handler in terminal_handlers(handlers):
        handler.emit = partial(_emit, handler, handler.emit)  # type: ignore[method-assign]


def _emit(handler: logging.StreamHandler[Any], write: Callable[..., None], record: logging.LogRecord) -> None:
    """Write a log record to the terminal by `write`; if that is gone, end the workflow by SIGTERM."""
    try:
        write(record)
    except BrokenPipeError:
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), handler.stream.fileno())
        os.kill(os.getpid(), signal.SIGTERM)


def stop_on_sigterm(submitted: bool) -> None:
    """Install what SIGTERM does to a running workflow; called when Snakemake has installed its own answer. Jobs on
    this machine are finished and no other starts: Snakemake's own answer, but in a thread, since it waits for locks
    that the interrupted thread may hold. Jobs that are `submitted` to a queue are cancelled, as on Ctrl-C.
    """
    answer = signal.getsignal(signal.SIGTERM)

    def finish(number: int, frame: FrameType | None) -> None:
        if callable(answer):
            threading.Thread(target=answer, args=(number, frame), daemon=True).start()

    signal.signal(signal.SIGTERM, signal.default_int_handler if submitted else finish)
