"""When a run ends: the protocol's stop rule on the steps that nobody disturbed, and patience where there are few.

What others did on this machine while steps were timed decides which are left out. That rule looks at evidence from
outside only (CPU time stolen by the host, CPU time of other processes), never at how long a step took: so it cannot
prefer quick steps, and what a machine does by itself stays in the figure.
"""

import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sweetspot.harness.request import Request
from sweetspot.harness.run_memory import text_of
from sweetspot.harness.step_times import Interval, duration, may_stop

SPAN_S = 0.5  # the least time between two looks: the kernel counts in hundredths of a second
TAKEN = 0.05  # of the CPUs' time, taken by others or by the host, from which a span is disturbed
LEAST_S = 0.03  # and so much CPU time at least: counters of processes and of CPUs are a few ticks apart
IDLE = 0.20  # of the CPUs' time; above it others ran where this run left room, and took nothing from it
SHORTENED = 0.01  # by which leaving steps out may shorten the mean by itself (`shortened_by`)
DIFFERING = 0.30  # deviation of steps over their mean that is reckoned with at least: few steps show less than there is
ROOT_VARIABLE = "SWEETSPOT_RUN_PROCESS"  # the supervisor's process: what came from it is no neighbour
PATIENCE = 4.0  # a disturbed run lasts at most so many times as long as the rule alone would have it
LEAST_PATIENCE_S = 5.0  # of timed steps, though the rule alone asked for less; at most the protocol's min_seconds
RARELY = 0.005  # of the steps so far: from 200 on not every step is followed by the question whether it is enough
LIMIT_SHARE = 0.5  # and no longer than this share of its time limit


class Look(NamedTuple):
    """CPU seconds so far, of the CPUs that a run may use."""

    moment: float
    stolen: float  # by the host, for other virtual machines
    busy: float  # with processes, this run's and others'
    idle: float
    own: float  # of this run's processes


class Span(NamedTuple):
    """Steps between two looks, `first` to before `end`, and shares of the CPUs' time that went elsewhere."""

    first: int
    end: int
    stolen: float
    others: float
    idle: float
    taken_s: float

    @property
    def disturbed(self) -> bool:
        """Whether the host or others took time that this run could have used."""
        others = self.others if self.idle <= IDLE else 0.0
        return self.stolen + others >= TAKEN and self.taken_s >= LEAST_S


def span_between(before: Look, after: Look, first: int, end: int) -> Span:
    """What happened between two looks."""
    stolen, busy, idle = after.stolen - before.stolen, after.busy - before.busy, after.idle - before.idle
    others = max(0.0, busy - max(0.0, after.own - before.own))
    whole = stolen + busy + idle
    if whole <= 0:  # a machine that does not count
        return Span(first, end, 0.0, 0.0, 1.0, 0.0)
    return Span(first, end, stolen / whole, others / whole, idle / whole, stolen + others)


class Neighbours:
    """Watches others from step to step."""

    def __init__(self, look: Callable[[], Look | None]) -> None:
        self._look = look
        self._last: Look | None = None
        self.spans: list[Span] = []
        self.steps = 0

    def begin(self) -> None:
        """Timed steps begin."""
        self._last = self._look()

    def stepped(self, now: float) -> None:
        """A timed step has ended; others are looked for unless they just were."""
        self.steps += 1
        if self._last is not None and now - self._last.moment >= SPAN_S:
            self.close()

    def close(self) -> None:
        """Decide on the steps since the last look."""
        first = self.spans[-1].end if self.spans else 0
        now = self._look() if self._last is not None and first < self.steps else None
        if self._last is not None and now is not None:
            self.spans.append(span_between(self._last, now, first, self.steps))
            self._last = now

    def disturbed(self) -> set[int]:
        """Numbers of the steps that others disturbed; those since the last look are not among them yet."""
        return {step for span in self.spans if span.disturbed for step in range(span.first, span.end)}

    def reason(self) -> str:
        """`others took 48 % of the CPUs' time in 3 of 12 spans`, over the disturbed spans."""
        bad = [span for span in self.spans if span.disturbed]
        shares = {
            "other processes": sum(span.others for span in bad) / len(bad),
            "other virtual machines": sum(span.stolen for span in bad) / len(bad),
        }
        told = [f"{name} took {share:.0%} of the CPUs' time" for name, share in shares.items() if share >= TAKEN / 2]
        return f"{' and '.join(told)} in {len(bad)} of {len(self.spans)} looks"

    def shortened_by(self, quiet: Sequence[float]) -> float:
        """By which share leaving out can shorten the mean of steps that differ by themselves.

        A long step meets the beginning of a burst more often than a short one: of steps with mean m and variance v, at
        a rate r of bursts, those without one have the mean m - r v. With b bursts among n quiet steps that is
        (b / n) v / m² of the mean; the deviation is taken as DIFFERING of the mean at least.
        """
        states = [False, *(span.disturbed for span in self.spans)]
        bursts = sum(now and not before for before, now in pairwise(states))
        return bursts / len(quiet) * max(DIFFERING, float(np.std(quiet, ddof=1) / np.mean(quiet))) ** 2


def machine_look(root: int, proc: Path = Path("/proc"), cpus: set[int] | None = None) -> Callable[[], Look | None]:
    """A function that looks: `root` is the process that all of this run came from, `cpus` those that it may use.

    It tells None where the kernel does not say (no Linux, a sandbox).
    """
    names = {f"cpu{number}" for number in (os.sched_getaffinity(0) if cpus is None else cpus)}
    tick = 1.0 / os.sysconf("SC_CLK_TCK")

    def look() -> Look | None:
        rows = [line.split() for line in text_of(proc / "stat").splitlines()]
        used = [[int(word) for word in row[1:9]] for row in rows if row and row[0] in names]
        if not used or any(len(counts) < 8 for counts in used):
            return None
        user, nice, system, idle, waiting, _, _, stolen = (sum(counts) * tick for counts in zip(*used, strict=True))
        # CPU time of a process and of its children that have ended (proc(5): utime, stime, cutime, cstime).
        own = sum(int(word) for pid in family(root, proc) for word in _stat(proc, pid)[11:15]) * tick
        return Look(time.monotonic(), stolen, user + nice + system, idle + waiting, own)

    return look


def _stat(proc: Path, pid: int) -> list[str]:
    """The fields of a process behind its name, which may hold anything; none where it has ended."""
    return text_of(proc / str(pid) / "stat").rpartition(")")[2].split()


def family(root: int, proc: Path = Path("/proc")) -> list[int]:
    """`root` and all processes that came from it, by /proc; orphans that it adopts are its own again (subreaper)."""
    found = [root]
    for parent in found:  # which grows meanwhile
        with suppress(OSError):  # it has ended
            tasks = [*(proc / str(parent) / "task").iterdir()]
            found += [int(text) for task in tasks for text in text_of(task / "children").split()]
    return found


def root_process() -> int:
    """The supervisor, where this process came from it; else this process (by hand, or a worker on another node)."""
    told, parent = os.environ.get(ROOT_VARIABLE, ""), os.getppid()
    while parent > 0:  # in a container the supervisor may be process 1
        if str(parent) == told:
            return parent
        fields = _stat(Path("/proc"), parent)
        parent = int(fields[1]) if fields else 0
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
        self._request = request
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
        if self._alone_s is None and may_stop(self.timed, self._request):
            self._alone_s = duration(self.timed)
        if self._alone_s is None:
            return False
        longest = max(PATIENCE * self._alone_s, min(LEAST_PATIENCE_S, self._request.min_seconds))
        return duration(self.timed) >= longest or self._clock() >= self._until

    def _long_enough(self) -> bool:
        kept = self._kept()
        return may_stop(kept, self._request) and (kept is self.timed or self._shortened(kept) <= SHORTENED)

    def _shortened(self, kept: list[Interval]) -> float:
        return self._neighbours.shortened_by([seconds for seconds, _ in kept]) if len(kept) > 1 else math.inf

    def news(self) -> str | None:
        """Once, when the rule would have ended the run and it goes on: why."""
        if self._alone_s is None or self._told:
            return None
        self._told = True
        return f"{self._neighbours.reason()}; measuring on until the undisturbed part is long enough"

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
        if not may_stop(quiet, self._request):
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
