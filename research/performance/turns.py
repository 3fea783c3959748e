"""Two programs that train the same, on one machine, turn by turn: what a step of each costs, and their ratio.

While one works the other is stopped (SIGSTOP). A turn ends with a step, and its first step does not count: it fetches
back what the other drove out of the caches. Turns come as A B B A: where the machine slows down steadily both lose
alike. Start-up and warm-up do not count. What is compared is time of the processor, of all threads of the process.

After some blocks of turns both are started anew, and the other is A: where the memory of a process lies makes it some
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
WARMUP = 3  # steps: Flax's example compiles in its second one too


class Moment(NamedTuple):
    """CPU-seconds of the process, and seconds of the clock: when a step ended, or what one cost."""

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
        self.turns: list[list[Moment]] = []  # when its steps ended, turn by turn
        self._moments: list[Moment] = []
        self._last: list[str] = []
        self._stepped = threading.Condition()
        self._is_step, self._ended = is_step, False
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cpus)  # which the child inherits before its frameworks count processors
        try:
            self._process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
        finally:
            os.sched_setaffinity(0, before)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._last = [*self._last[-20:], line]
            if self._is_step(line):
                with self._stepped:
                    self._moments.append(Moment(cpu_seconds(self._process.pid), time.monotonic()))
                    self._stepped.notify()
        with self._stepped:
            self._ended = True
            self._stepped.notify()

    def stop(self) -> None:
        """Have it wait for its turn."""
        self._process.send_signal(signal.SIGSTOP)

    def work(self, turn_s: float, least: int = 2) -> None:
        """One turn: of `least` steps, and until one ends `turn_s` after the first.

        Raises RuntimeError if it dies, or makes no step in DEADLINE_S.
        """
        self._moments = []
        self._process.send_signal(signal.SIGCONT)
        with self._stepped:
            while len(self._moments) < least or self._moments[-1].wall_s < self._moments[0].wall_s + turn_s:
                made = len(self._moments)
                heard = self._stepped.wait_for(lambda made=made: self._ended or len(self._moments) > made, DEADLINE_S)
                if self._ended or not heard:
                    raise RuntimeError(f"ended, or made no step in {DEADLINE_S:.0f} s:\n{''.join(self._last)}")
        self.stop()
        self.turns.append(self._moments)

    def steps(self) -> int:
        """Steps that count: all of its turns but the first of each."""
        return sum(len(turn) - 1 for turn in self.turns)

    def mean(self) -> Moment:
        """What a step that counts cost on the mean."""
        whole = [[end - start for start, end in zip(turn[0], turn[-1], strict=True)] for turn in self.turns]
        cpu_s, wall_s = (sum(parts) / self.steps() for parts in zip(*whole, strict=True))
        return Moment(cpu_s, wall_s)

    def kill(self) -> None:
        """End it now."""
        self._process.kill()
        self._process.wait()


def compete(first: Contender, second: Contender, blocks: int, turn_s: float) -> None:
    """Warm both up, then have them take `blocks` blocks of turns A B B A."""
    first.stop()
    second.stop()
    for contender in (first, second):
        contender.work(0.0, WARMUP)
        contender.turns.clear()
    for contender in (first, second, second, first) * blocks:
        contender.work(turn_s)


def round_of(starts: Sequence[Callable[[], Contender]], blocks: int, turn_s: float, turned: bool) -> Cost:
    """Start ours and the peer, have them compete (`turned`: the peer is first), and end them."""
    running: dict[int, Contender] = {}
    order = (1, 0) if turned else (0, 1)
    try:
        for side in order:
            running[side] = starts[side]()
        compete(running[order[0]], running[order[1]], blocks, turn_s)
        return Cost(running[0].mean(), running[1].mean(), min(running[0].steps(), running[1].steps()))
    finally:
        for contender in running.values():
            contender.kill()
