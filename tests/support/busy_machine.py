"""A machine of two CPUs in simulated time: a run uses both, neighbours come and take one of them."""

import math

import numpy as np
from sweetspot.harness.stop_rule import Look

CPUS = 2
TICK_S = 0.01


class BusyMachine:
    """Simulated time. A step needs `work()` seconds alone and twice as long while a neighbour has one CPU.

    rate: bursts a second of quiet time; length: their mean seconds (both exponential). seen: whether the kernel's
    counters tell of them.
    """

    def __init__(self, seed, rate, length, seen=True):
        self._dice = np.random.default_rng(seed)
        self._rate, self._length, self._seen = rate, length, seen
        self.now, self._others, self._own = 0.0, 0.0, 0.0
        self._busy_until, self._next = 0.0, self._draw(1 / rate) if rate else math.inf

    def _draw(self, mean):
        return float(self._dice.exponential(mean))

    def step(self, work):
        """Make a step of `work` seconds; the seconds that it took."""
        begun, left = self.now, work
        while left > 1e-12:
            if self.now < self._busy_until:
                passed = min(self._busy_until - self.now, 2 * left)
                left -= passed / 2
                self._others += passed
                self._own += passed
            else:
                if self.now >= self._next:
                    self._busy_until = self.now + self._draw(self._length)
                    self._next = self._busy_until + self._draw(1 / self._rate)
                    continue
                passed = min(self._next - self.now, left)
                left -= passed
                self._own += CPUS * passed
            self.now += passed
        return self.now - begun

    def look(self):
        """The counters, in whole ticks as the kernel has them."""
        own, others = (math.floor(value / TICK_S) * TICK_S for value in (self._own, self._others))
        return Look(self.now, 0.0, own + (others if self._seen else 0.0), 0.0, own)
