"""Waiting for another process: the cap is what a busy machine may take, and no part of what is tested."""

import time
from collections.abc import Callable

PATIENCE_S = 1200


def until(holds: Callable[[], object], what: str) -> None:
    """Wait for a condition; AssertionError once patience ends.

    What took long is asked for less often, a fortieth of that time apart: a question may start a process.
    """
    began = time.monotonic()
    while not holds():
        waited = time.monotonic() - began
        assert waited < PATIENCE_S, f"waited in vain for {what}"
        time.sleep(min(0.02 + waited / 40, 0.5))
