"""Two programs that train the same, on one machine, turn by turn: what a step of each costs, and their ratio.

While one works the other is stopped (SIGSTOP). A turn ends with a step, so none is shared by two turns. Turns come as
A B B A: where the machine slows down steadily both lose alike. Start-up and warm-up do not count. What is compared is
time of the processor, of all threads of the process; seconds of the clock are those of its own turns.

After some blocks of turns both are started anew, in the other order: where the memory of a process lies makes it some
per cent quicker or slower for as long as it lives, which no number of steps averages out. The interval is that of the
mean over these rounds.
"""

import math
import os
import signal
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sweetspot.harness.step_times import T_975

DEADLINE_S = 900.0  # for one step, compiling included
WARMUP = 3  # steps of each: Flax's example compiles in its second one too


class Moment(NamedTuple):
    """When a step ended: CPU-seconds of the process, and seconds of its turns."""

    cpu_s: float
    wall_s: float


class Cost(NamedTuple):
    """What a step of both cost, and how many steps of each that was at least."""

    ours: Moment
    peer: Moment
    steps: int


class Ratio(NamedTuple):
    """Ours / peer, and its 95 % interval."""

    middle: float
    low: float
    high: float


def ratio(ours: Sequence[float], peer: Sequence[float]) -> Ratio:
    """Geometric mean of the ratios of rounds; Student's interval of the mean logarithm."""
    logarithms = [math.log(one / other) for one, other in zip(ours, peer, strict=True)]
    count, middle = len(logarithms), statistics.fmean(logarithms)
    quantile = T_975[min(count - 1, len(T_975)) - 1]
    half = quantile * statistics.stdev(logarithms) / math.sqrt(count)
    return Ratio(math.exp(middle), math.exp(middle - half), math.exp(middle + half))


def cpu_seconds(process: int) -> float:
    """CPU time of all threads of a process, to the nanosecond: /proc rounds it to a hundredth of a second.

    Linux' clock of a process is named by its number (clock_getcpuclockid(3): ~pid, three bits, CPUCLOCK_SCHED 2).
    """
    return time.clock_gettime((~process << 3) | 2)


class Contender:
    """A process that trains in its turns only, and of whose lines `is_step` knows those that end a step."""

    def __init__(
        self,
        command: Sequence[str],
        folder: str | os.PathLike[str],
        environment: Mapping[str, str],
        is_step: Callable[[str], bool],
        cpus: Sequence[int],
    ) -> None:
        self.moments: list[Moment] = []
        self._last: list[str] = []
        self._stepped = threading.Condition()
        self._worked, self._since, self._is_step, self._ended = 0.0, time.monotonic(), is_step, False
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cpus)  # which the child inherits before its frameworks count processors
        try:
            self._process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
        finally:
            os.sched_setaffinity(0, before)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._last = [*self._last[-20:], line]
            if self._is_step(line):
                wall = self._worked + time.monotonic() - self._since
                with self._stepped:
                    self.moments.append(Moment(cpu_seconds(self._process.pid), wall))
                    self._stepped.notify()
        with self._stepped:
            self._ended = True
            self._stepped.notify()

    def stop(self) -> None:
        """End its turn."""
        self._process.send_signal(signal.SIGSTOP)
        self._worked += time.monotonic() - self._since

    def work(self, turn_s: float) -> None:
        """One turn: until the first step that ends after `turn_s`; what follows it is the next turn's.

        Raises RuntimeError if it dies, or makes no step in DEADLINE_S.
        """
        before, end = len(self.moments), self._worked + turn_s
        self._since = time.monotonic()
        self._process.send_signal(signal.SIGCONT)
        with self._stepped:
            while len(self.moments) == before or self.moments[-1].wall_s < end:
                made = len(self.moments)
                heard = self._stepped.wait_for(lambda made=made: self._ended or len(self.moments) > made, DEADLINE_S)
                if self._ended or not heard:
                    raise RuntimeError(f"ended, or made no step in {DEADLINE_S:.0f} s:\n{''.join(self._last)}")
        self.stop()

    def mean(self, first: int) -> Moment:
        """What a step after number `first` cost on the mean."""
        start, end = self.moments[first], self.moments[-1]
        count = len(self.moments) - 1 - first
        return Moment((end.cpu_s - start.cpu_s) / count, (end.wall_s - start.wall_s) / count)

    def kill(self) -> None:
        """End it now."""
        self._process.kill()
        self._process.wait()


def compete(mine: Contender, other: Contender, blocks: int, turn_s: float) -> Cost:
    """Warm both up, then have them take `blocks` blocks of turns A B B A."""
    mine.stop()
    other.stop()
    for contender in (mine, other):
        while len(contender.moments) < WARMUP:
            contender.work(0.0)
    first = [len(contender.moments) - 1 for contender in (mine, other)]
    for contender in (mine, other, other, mine) * blocks:
        contender.work(turn_s)
    made = [len(contender.moments) - 1 - start for contender, start in zip((mine, other), first, strict=True)]
    return Cost(mine.mean(first[0]), other.mean(first[1]), min(made))


def round_of(starts: Sequence[Callable[[], Contender]], blocks: int, turn_s: float, turned: bool) -> Cost:
    """Start ours and the peer (`turned`: the peer first), have them compete, and end them."""
    running: dict[int, Contender] = {}
    try:
        for side in (1, 0) if turned else (0, 1):
            running[side] = starts[side]()
        return compete(running[0], running[1], blocks, turn_s)
    finally:
        for contender in running.values():
            contender.kill()
