"""An independent stopwatch: the seconds from the beginning of a training step to that of the next, where
nothing else was done between them, a line each in the file that STOPWATCH names."""

import os
import time

WORK_S = 0.012  # that a step of these scripts takes at least, so that a busy machine moves it little
_told = open(os.environ.get("STOPWATCH", os.devnull), "w", buffering=1)  # noqa: PTH123, SIM115
_since, _apart = None, False


def begin():
    """A training step begins, and the one before it ends, unless something else was done since."""
    global _since, _apart
    now = time.perf_counter()
    if _since is not None and not _apart:
        _told.write(f"{now - _since}\n")
    _since, _apart = now, False


def end():
    """The work of a step is done."""
    time.sleep(max(0.0, WORK_S + _since - time.perf_counter()))


def elsewhere(seconds=0.2):
    """Something else that takes its time: a validation, a checkpoint."""
    global _apart
    _apart = True
    time.sleep(seconds)
