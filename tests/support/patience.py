"""Waiting for another process: the cap is what a busy machine may take, and no part of what is tested."""

import time
from collections.abc import Callable

PATIENCE_S = 1200


def until(holds: Callable[[], object], what: str) -> None:
    """Wait for a condition; AssertionError once patience ends."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)
