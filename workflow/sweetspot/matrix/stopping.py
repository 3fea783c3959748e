"""How the process that schedules the jobs ends early: told to (SIGTERM), or because nobody reads its words."""

import logging
import os
import signal
import threading
from collections.abc import Iterable
from types import FrameType
from typing import TextIO


def stop_when_unread(handlers: Iterable[logging.Handler]) -> None:
    """Make the handlers of the terminal end the workflow as SIGTERM does once their reader is gone (`| head`).

    Snakemake raises BrokenPipeError in whatever thread says something. In the thread that reports the end of a job
    nobody hears of that end, and the scheduler waits for it for ever.
    """
    for handler in handlers:
        if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
            _stop_when_unread(handler)


def _stop_when_unread(handler: "logging.StreamHandler[TextIO]") -> None:
    write, stream = handler.emit, handler.stream

    def emit(record: logging.LogRecord) -> None:
        try:
            write(record)
        except BrokenPipeError:
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                raise  # no job was started yet: Snakemake ends with this error
            silence(stream.fileno())
            os.kill(os.getpid(), signal.SIGTERM)

    handler.emit = emit  # type: ignore[method-assign]


def silence(descriptor: int) -> None:
    """Let what is written to `descriptor` from now on go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def stop_on_sigterm(submitted: bool) -> None:
    """Answer SIGTERM from now on; to be called when Snakemake has its own answer in place.

    Here, the jobs that run are finished and no other starts: Snakemake's own answer, but in a thread, since it waits
    for locks that the interrupted thread may hold. Jobs that are `submitted` may wait in a queue for days: they are
    cancelled, as on Ctrl-C.
    """
    answer = signal.getsignal(signal.SIGTERM)

    def finish(number: int, frame: FrameType | None) -> None:
        if callable(answer):
            threading.Thread(target=answer, args=(number, frame), daemon=True).start()

    signal.signal(signal.SIGTERM, signal.default_int_handler if submitted else finish)
