"""When a run ends: the protocol's stop rule on its timed steps, by the time that has passed."""

from collections.abc import Callable
from typing import Any

from sweetspot.harness.disturbance import CpuSample, neighbour_share, sample_cpu
from sweetspot.harness.request import Request
from sweetspot.harness.step_times import Interval, may_stop

CHECKS_PER_RUN = 200  # of many steps not every one is followed by a look at all of them


class MeasuredSteps:
    """Collects the steps of a run, reports each to the supervisor, and says when the run may end.

    Parameters
    ----------
    request
        The run and its protocol. The first `warmup_steps` intervals are reported but not timed.
    tell
        Function that sends facts, given as keywords, to the supervisor (`train.say`).
    """

    def __init__(self, request: Request, tell: Callable[..., None]) -> None:
        self._request = request
        self._tell = tell
        self._cpu_before: CpuSample | None = None
        self._began = 0.0
        self._passed_s = 0.0
        self.warmup = 0
        self.timed: list[Interval] = []

    @property
    def warming_up(self) -> bool:
        """True while the next interval belongs to the warm-up, which is not timed."""
        return self.warmup < self._request.warmup_steps

    def add(self, interval: Interval, loss: float | None, now: float) -> None:
        """Add an interval, and report it to the supervisor.

        Parameters
        ----------
        interval
            Mean seconds of a step, and number of steps.
        loss
            Loss after these steps; None: not known.
        now
            When the interval ended, s; limits of time count by this clock, not by seconds that a script reports.
        """
        is_timed = not self.warming_up
        if is_timed:
            self.timed.append(interval)
            self._passed_s = now - self._began
        else:
            self.warmup += 1
            self._began = now
            if not self.warming_up:
                self._cpu_before = sample_cpu()
        self._tell(seconds=interval.seconds, timed=is_timed, loss=loss, steps=interval.steps)

    def enough(self) -> bool:
        """Return True if the run may end by its protocol; from 400 intervals on, only some calls examine them."""
        count = len(self.timed)
        is_due = count % max(1, count // CHECKS_PER_RUN) == 0
        return is_due and may_stop(self.timed, self._request, self._passed_s)

    def facts(self) -> dict[str, Any]:
        """Return `timed_seconds`, and `others_cpu_share` (0 to 1, taken by other processes) where known."""
        share = neighbour_share(self._cpu_before, sample_cpu())
        facts = {"timed_seconds": self._passed_s}
        return facts if share is None else facts | {"others_cpu_share": share}
