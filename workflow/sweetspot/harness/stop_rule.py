"""When a run ends: the protocol's stop rule on its timed steps, by the time that has passed."""

from collections.abc import Callable
from typing import Any

from sweetspot.harness.disturbance import CpuSample, neighbour_share, sample_cpu
from sweetspot.harness.request import Request
from sweetspot.harness.step_times import Interval, may_stop

CHECKS_PER_RUN = 200  # of many steps not every one is followed by a look at all of them


class MeasuredSteps:
    """Collects the steps of a run, tells each to the supervisor, and says when they are enough.

    Parameters
    ----------
    request
        The run and its protocol. The first `warmup_steps` intervals are told but not timed.
    tell
        Writes facts to the supervisor (`train.say`).
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
        """Whether the next interval is of the warm-up."""
        return self.warmup < self._request.warmup_steps

    def add(self, interval: Interval, loss: float | None, now: float) -> None:
        """Add an interval.

        Parameters
        ----------
        interval
            So many steps that took so many seconds each.
        loss
            After them; None: not known.
        now
            When the interval ended, s. Limits count this clock: a script may tell of milliseconds, a line an hour.
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
        """Whether the run may end by its protocol."""
        count = len(self.timed)
        is_due = count % max(1, count // CHECKS_PER_RUN) == 0
        return is_due and may_stop(self.timed, self._request, self._passed_s)

    def facts(self) -> dict[str, Any]:
        """Return facts of the timed steps for the run file."""
        share = neighbour_share(self._cpu_before, sample_cpu())
        facts = {"timed_seconds": self._passed_s}
        return facts if share is None else facts | {"others_cpu_share": share}
