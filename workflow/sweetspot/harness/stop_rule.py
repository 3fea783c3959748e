"""When a run ends: the protocol's stop rule on its timed steps, by the time that has passed."""

import math
from collections.abc import Callable
from typing import Any

from sweetspot.harness.disturbance import CpuWatch
from sweetspot.harness.request import Request
from sweetspot.harness.step_times import Interval, may_stop

CHECK_SHARE = 0.005  # of the steps so far: of many steps not every one is followed by a look at all of them


class MeasuredSteps:
    """Collects the steps of a run, tells each to the supervisor, and says when they are enough.

    Parameters
    ----------
    request
        The run and its protocol. The first `warmup_steps` intervals are told but not timed.
    tell
        Writes facts to the supervisor (`train.say`).
    watch
        Watches what others do on this machine; None: nobody does.
    """

    def __init__(self, request: Request, tell: Callable[..., None], watch: CpuWatch | None = None) -> None:
        self._request = request
        self._tell = tell
        self._watch = watch
        self._began: float | None = None
        self._checked_at = 0
        self._passed_s = 0.0
        self.warmup = 0
        self.timed: list[Interval] = []

    @property
    def warming_up(self) -> bool:
        """Whether the next interval is of the warm-up."""
        return self.warmup < self._request.warmup_steps

    def add(self, seconds: float, steps: int, loss: float | None, now: float) -> None:
        """Add an interval of `steps` that took so many seconds each and ended at `now`.

        The time that counts for the limits is that of the clock: a script may tell of milliseconds and print a line an
        hour.
        """
        timed = not self.warming_up
        if timed:
            if self._began is None:
                self._begin(now - seconds * steps)
            self.timed.append(Interval(seconds, steps))
            assert self._began is not None
            self._passed_s = now - self._began
        else:
            self.warmup += 1
            if not self.warming_up:
                self._begin(now)
        self._tell(seconds=seconds, timed=timed, loss=loss, steps=steps)

    def _begin(self, now: float) -> None:
        self._began = now
        if self._watch is not None:
            self._watch.begin()

    def enough(self) -> bool:
        """Whether the run may end by its protocol."""
        if len(self.timed) < self._checked_at:
            return False
        self._checked_at = len(self.timed) + math.floor(CHECK_SHARE * len(self.timed))
        return may_stop(self.timed, self._request, self._passed_s)

    def facts(self) -> dict[str, Any]:
        """Return facts of the timed steps for the run file."""
        facts = {"timed_seconds": self._passed_s}
        return facts if self._watch is None else facts | self._watch.facts()
