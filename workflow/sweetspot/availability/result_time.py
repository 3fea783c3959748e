"""Hours from today to the result: search, start, run, failures; in each draw, as median and 90th percentile."""

import math
from dataclasses import dataclass

import numpy as np

from sweetspot.availability.events import Array, drawn_within, run_hours, search
from sweetspot.draws import stream

Ends = tuple[float, float, float]  # value (nan: not known), low, high
DRAWS = 4000
SEED = 2018  # the same luck for every machine, in every table
NEVER: Ends = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Having:
    """What it takes to have a machine, each figure as (value, low, high), in shares, hours and failures an hour.

    `share` of time with one machine of a seller in stock, `wait` mean hours if not; `start`: hours until a date on
    which it is there for certain (a block, a delivery), in place of both; `boot`; `failures` an hour of all devices
    together; `restart` after one; `checkpoint`: hours to write one; `repaired`: share of the failures that need another
    machine or a repair of mean `repair` hours, where it is not sought among sellers; `nodes` held at once; `longest`:
    hours after which a run ends and another start is needed, as at first.
    """

    share: Ends = (1.0, 1.0, 1.0)
    wait: Ends = NEVER
    start: Ends | None = None
    boot: Ends = NEVER
    failures: Ends = NEVER
    restart: Ends = NEVER
    checkpoint: float = 0.0
    repaired: Ends | None = None
    repair: Ends = NEVER
    nodes: float = 1.0
    longest: float = math.inf

    def hours(self, run: Array, seed: int = SEED) -> Array:
        """Hours to the result in each draw; `run`: hours of the run alone in each, failures apart.

        The same seed gives every machine the same luck, so that machines differ by what is known of them.
        """
        noise = stream(seed, "availability")
        levels = noise.random((6, len(run)))
        at_once, share, wait, boot = self._had(levels[[0, 1, 2, 5]])
        failures, restart = drawn_within(self.failures, levels[3]), drawn_within(self.restart, levels[4])
        found = self._found(at_once, wait, noise)
        again, spare = wait, share
        if self.repaired is not None:
            again = drawn_within(self.repair, noise.random(len(run)))
            spare = 1.0 - drawn_within(self.repaired, noise.random(len(run)))
        ran = run_hours(run, failures, self.checkpoint, restart + boot, spare, again, noise)
        if self.longest < math.inf:  # in one draw all starts after the first are alike
            found += np.maximum(np.ceil(ran / self.longest) - 1, 0) * (self._found(at_once, wait, noise) + boot)
        return np.asarray(found + boot + ran)

    def _found(self, share: Array, wait: Array, noise: np.random.Generator) -> Array:
        """Hours until it is there: a search, or the day on which it begins."""
        searched = search(share, wait, noise)
        return searched if self.start is None else drawn_within(self.start, noise.random(len(share)))

    def there_within(self, limit: float, draws: int, seed: int = SEED) -> Array:
        """The chance that all nodes are there and started within `limit` hours, in each draw of what is not known; of
        one draw at central figures, an unknown share halfway: 1 - (1 - p) e^(-t/w), of what begins on a date 0 or 1.
        """
        levels = np.full((4, 1), 0.5) if draws == 1 else stream(seed, "within").random((4, draws))
        at_once, _, wait, boot = self._had(levels)
        left = limit - boot
        if self.start is not None:
            return (drawn_within(self.start, levels[0]) <= left).astype(float)
        late = np.exp(-np.divide(np.maximum(left, 0.0), wait, out=np.full(draws, np.inf), where=wait > 0))
        return np.where(left < 0, 0.0, 1.0 - (1.0 - at_once) * late)

    def _had(self, levels: Array) -> tuple[Array, Array, Array, Array]:
        """Share of time with all nodes at once, from p (all one event) to p^m (each its own), and with one; mean wait;
        boot.
        """
        ends = (self.share, self.wait, self.boot)
        share, wait, boot = (drawn_within(three, level) for three, level in zip(ends, levels[:3], strict=True))
        return share ** (self.nodes ** levels[3]), share, wait, boot

    def quantiles(self, run_hours: float, seed: int = SEED, draws: int = DRAWS) -> tuple[float, float]:
        """Median and 90th percentile of the hours to the result of a run of so many hours; both are those hours where
        a machine is always there and never fails.
        """
        low, high = np.quantile(self.hours(np.full(draws, run_hours), seed), (0.5, 0.9))
        return float(low), float(high)
