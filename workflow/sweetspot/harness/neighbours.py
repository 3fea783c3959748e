"""What others did on this machine while steps were timed, and which steps are left out for it.

The rule looks at evidence from outside only (CPU time stolen by the host, CPU time of other processes), never at how
long a step took: so it cannot prefer quick steps, and what a machine does by itself stays in the figure.
"""

import os
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from sweetspot.harness.step_times import mean_and_deviation

SPAN_S = 0.5  # the least time between two looks: the kernel counts in hundredths of a second
TAKEN = 0.05  # of the CPUs' time, taken by others or by the host, from which a span is disturbed
LEAST_S = 0.03  # and so much CPU time at least: counters of processes and of CPUs are a few ticks apart
IDLE = 0.20  # of the CPUs' time; above it others ran where this run left room, and took nothing from it
SHORTENED = 0.01  # by which leaving steps out may shorten the mean by itself (`shortened_by`)
DIFFERING = 0.30  # deviation of steps over their mean that is reckoned with at least: few steps show less than there is


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
        told = [
            f"{name} took {sum(shares) / len(bad):.0%} of the CPUs' time"
            for name, shares in (
                ("other processes", [span.others for span in bad]),
                ("other virtual machines", [span.stolen for span in bad]),
            )
            if sum(shares) / len(bad) >= TAKEN / 2
        ]
        return f"{' and '.join(told)} in {len(bad)} of {len(self.spans)} looks"

    def shortened_by(self, quiet: Sequence[float]) -> float:
        """By which share leaving out can shorten the mean of steps that differ by themselves.

        A long step meets the beginning of a burst more often than a short one: of steps with mean m and variance v, at
        a rate r of bursts, those without one have the mean m - r v. With b bursts among n quiet steps that is
        (b / n) v / m² of the mean; the deviation is taken as DIFFERING of the mean at least.
        """
        mean, deviation = mean_and_deviation(quiet)
        return self.bursts / len(quiet) * max(DIFFERING, deviation / mean) ** 2

    @property
    def bursts(self) -> int:
        """How often a disturbance began."""
        states = [False, *(span.disturbed for span in self.spans)]
        return sum(now and not before for before, now in pairwise(states))


def machine_look(root: int, proc: Path = Path("/proc"), cpus: set[int] | None = None) -> Callable[[], Look | None]:
    """A function that looks: `root` is the process that all of this run came from, `cpus` those that it may use.

    It tells None where the kernel does not say (no Linux, a sandbox).
    """
    mine = os.sched_getaffinity(0) if cpus is None and hasattr(os, "sched_getaffinity") else cpus or set()
    tick = 1.0 / os.sysconf("SC_CLK_TCK")

    def look() -> Look | None:
        try:
            rows = [line.split() for line in (proc / "stat").read_text().splitlines()]
        except OSError:
            return None
        used = [[int(word) for word in row[1:9]] for row in rows if row[0][:3] == "cpu" and _number(row[0]) in mine]
        if not used or any(len(counts) < 8 for counts in used):
            return None
        user, nice, system, idle, waiting, _, _, stolen = (sum(counts) * tick for counts in zip(*used, strict=True))
        own = sum(_ticks(proc, pid) for pid in family(root, proc)) * tick
        return Look(time.monotonic(), stolen, user + nice + system, idle + waiting, own)

    return look


def _number(name: str) -> int | None:
    return int(name[3:]) if name[3:].isdigit() else None


def _ticks(proc: Path, pid: int) -> int:
    """CPU time of a process and of its children that have ended (proc(5): utime, stime, cutime, cstime)."""
    try:
        fields = (proc / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return 0
    return sum(int(word) for word in fields[11:15])


def family(root: int, proc: Path = Path("/proc")) -> list[int]:
    """`root` and all processes that came from it, by /proc; orphans that it adopts are its own again (subreaper)."""
    found, waiting = [root], [root]
    while waiting:
        parent = waiting.pop()
        try:
            told = [(task / "children").read_text() for task in (proc / str(parent) / "task").iterdir()]
        except OSError:
            continue
        own = [int(text) for line in told for text in line.split()]
        found += own
        waiting += own
    return found
