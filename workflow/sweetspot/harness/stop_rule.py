"""When a run ends: the protocol's stop rule on the steps that nobody disturbed, and patience where there are few."""

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sweetspot.harness.neighbours import SHORTENED, Look, Neighbours, machine_look
from sweetspot.harness.request import Request
from sweetspot.harness.step_times import Interval, duration, may_stop

ROOT_VARIABLE = "SWEETSPOT_RUN_PROCESS"  # the supervisor's process: what came from it is no neighbour
PATIENCE = 4.0  # a disturbed run lasts at most so many times as long as the rule alone would have it
LEAST_PATIENCE_S = 5.0  # of timed steps, though the rule alone asked for less; at most the protocol's min_seconds
RARELY = 0.005  # of the steps so far: from 200 on not every step is followed by the question whether it is enough
LIMIT_SHARE = 0.5  # and no longer than this share of its time limit


def root_process() -> int:
    """The supervisor, where this process came from it; else this process (by hand, or a worker on another node)."""
    told, parent = os.environ.get(ROOT_VARIABLE, ""), os.getppid()
    while parent > 0:  # in a container the supervisor may be process 1
        if str(parent) == told:
            return parent
        try:
            parent = int(Path(f"/proc/{parent}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            break
    return os.getpid()


def watcher(request: Request) -> Callable[[], Look | None]:
    """How a run's process looks at its neighbours; not over several nodes, whose workers may share a host.

    Nor where every step is to count (`--all-steps`).
    """
    return _unseen if request.nodes > 1 or request.all_steps else machine_look(root_process())


def _unseen() -> None:
    return None


class Stopping:
    """Collects timed steps, and says when it is enough and which of them count."""

    def __init__(
        self,
        request: Request,
        look: Callable[[], Look | None] = _unseen,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """look: what others did (`machine_look`); without it every step counts."""
        rule = ("min_steps", "min_seconds", "min_steps_slow", "least_seconds")
        self._rule: dict[str, Any] = {name: getattr(request, name) for name in rule}
        self._rule["target"] = request.target_half_width
        self._clock, self._until = clock, clock() + LIMIT_SHARE * request.time_limit_s
        self._neighbours = Neighbours(look)
        self.timed: list[Interval] = []
        self._alone_s: float | None = None
        self._asked_again = 0
        self._told = False

    def begin(self) -> None:
        """Warm-up is over: what others do counts from now on."""
        self._neighbours.begin()

    def add(self, seconds: float, steps: int = 1) -> None:
        """One timed step, or an interval of several that took so long each."""
        self.timed.append(Interval(seconds, steps))
        self._neighbours.stepped(self._clock())

    def enough(self) -> bool:
        """Whether the run may end: by the rule on undisturbed steps, or because patience is at its end.

        The answer takes a look at all steps: of many steps it is sought only after RARELY more of them.
        """
        if len(self.timed) < self._asked_again:
            return False
        self._asked_again = len(self.timed) + int(RARELY * len(self.timed))
        if self._long_enough():
            self._neighbours.close()  # decides on the last steps too
            if self._long_enough():
                return True
        return self._impatient()

    def _long_enough(self) -> bool:
        kept = self._kept()
        return self._may_stop(kept) and (kept is self.timed or self._shortened(kept) <= SHORTENED)

    def _shortened(self, kept: list[Interval]) -> float:
        return self._neighbours.shortened_by([seconds for seconds, _ in kept]) if len(kept) > 1 else math.inf

    def news(self) -> str | None:
        """Once, when the rule would have ended the run and it goes on: why."""
        if self._alone_s is None or self._told:
            return None
        self._told = True
        return f"{self._neighbours.reason()}; measuring on until the undisturbed part is long enough"

    def _may_stop(self, timed: list[Interval]) -> bool:
        return may_stop(timed, **self._rule)

    def _impatient(self) -> bool:
        if self._alone_s is None and self._may_stop(self.timed):
            self._alone_s = duration(self.timed)
        if self._alone_s is None:
            return False
        longest = max(PATIENCE * self._alone_s, min(LEAST_PATIENCE_S, self._rule["min_seconds"]))
        return duration(self.timed) >= longest or self._clock() >= self._until

    def _kept(self) -> list[Interval]:
        out = self._neighbours.disturbed()
        if not out:
            return self.timed
        return [interval for step, interval in enumerate(self.timed) if step not in out]

    def facts(self) -> dict[str, Any]:
        """What is left out and why: `left_out` (pairs of step and seconds), `left_out_share` of the timed seconds,
        `disturbed_reason`; and `disturbed_throughout`, why nothing is left out though others disturbed the run.
        """
        self._neighbours.close()
        if not self._neighbours.spans:
            return {}
        out = sorted(self._neighbours.disturbed())
        if not out:
            return {"left_out_share": 0.0}
        quiet = self._kept()
        found = {"left_out_share": 0.0, "disturbed_reason": self._neighbours.reason()}
        if not self._may_stop(quiet):
            return found | {"disturbed_throughout": f"{len(quiet)} of {len(self.timed)} steps were not, too few"}
        if (shortened := self._shortened(quiet)) > SHORTENED:
            why = f"leaving out so many short spells could shorten the mean by {shortened:.1%} by itself"
            return found | {"disturbed_throughout": why}
        share = 1 - duration(quiet) / duration(self.timed)
        return found | {"left_out_share": share, "left_out": [[step, self.timed[step].seconds] for step in out]}


class Measured:
    """Tells the supervisor each interval (`train.say`), the first ones as warm-up; the others count."""

    def __init__(
        self, request: Request, tell: Callable[..., None], look: Callable[[], Look | None] | None = None
    ) -> None:
        """look: as of `Stopping`."""
        self._warmup_steps, self._tell = request.warmup_steps, tell
        self.warm, self.stopping = 0, Stopping(request, look or _unseen)
        if not self.warming:
            self.stopping.begin()

    @property
    def warming(self) -> bool:
        """Whether the next interval is of the warm-up."""
        return self.warm < self._warmup_steps

    def add(self, seconds: float, steps: int, loss: float | None) -> None:
        """One step that took so long, or an interval of several that took so long each."""
        timed = not self.warming
        if timed:
            self.stopping.add(seconds, steps)
        else:
            self.warm += 1
            if not self.warming:
                self.stopping.begin()
        self._tell(seconds=seconds, timed=timed, loss=loss, steps=steps)
        if news := self.stopping.news():
            self._tell(news=news)
