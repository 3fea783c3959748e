"""Hours from today to a result: finding or receiving a machine, the run itself, and its failures."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sweetspot.bills.renting import wall_time
from sweetspot.bills.schemas import FloatArray
from sweetspot.draws import DRAWS, stream

SEED = 2018  # All machines share their random numbers, so that they differ only in what is known of them.
# To notice a failure and start again: the mean of 4 to 39 minutes, OLMo on Lambda (2026-01) and retries of 2026-05.
RESTART_HOURS = 0.4
# To write a checkpoint of 7 billion parameters: 6 to 149 s (PyTorch and IBM, 2024).
CHECKPOINT_HOURS = 1.0 / 60.0
MAXIMUM_SEARCHES = 1e6  # An expected number beyond this is a run that never ends.

Range = tuple[float, ...]
"""Value, low and high; a value of nan means anything between low and high."""
CERTAIN: Range = (1.0, 1.0, 1.0)
ZERO: Range = (0.0, 0.0, 0.0)


def at_level(bounds: Range, level: FloatArray) -> FloatArray:
    """Return quantiles of a range (value, low, high), linear from low (level 0) over value (0.5) to high (1)."""
    value, low, high = bounds
    middle = (low + high) / 2.0 if np.isnan(value) else value
    return np.asarray(np.interp(level, (0.0, 0.5, 1.0), (low, middle, high)))


@dataclass(frozen=True)
class StartTimes:
    """How long one waits for a machine and how often its runs stop. free_share: attempts that find one machine.
    wait_hours: mean wait after one that finds none (exponential). failures_per_hour: of all devices together.
    start_hours: until a delivery or the first day of a block; None: the machine has to be found. machines: how many are
    needed at once.
    """

    free_share: Range
    wait_hours: Range
    failures_per_hour: Range
    start_hours: Range | None
    machines: float

    def result_hours(self, run_hours: FloatArray) -> FloatArray:
        """Return hours from today to the result, one per sample, for runs of `run_hours` (one per sample) without
        failures. A run takes Daly's wall time; a failure that finds no other machine adds another wait. Several
        machines are free together with a chance from p (they come and go as one) to p^m (each on its own).
        """
        random, size = stream(SEED, "availability"), len(run_hours)
        levels = random.random((5, size))
        share, wait = at_level(self.free_share, levels[0]), at_level(self.wait_hours, levels[1])
        failures = at_level(self.failures_per_hour, levels[2])
        is_busy = random.random(size) >= share ** (self.machines ** levels[3])
        start = is_busy * random.standard_exponential(size) * wait
        if self.start_hours is not None:
            start = at_level(self.start_hours, levels[4])

        hours = wall_time(run_hours, failures, CHECKPOINT_HOURS, RESTART_HOURS, np.nan)
        searches = random.poisson(np.minimum(failures * hours * (1.0 - share), MAXIMUM_SEARCHES))
        waits = random.standard_gamma(np.maximum(searches, 1)) * wait * (searches > 0)
        return np.asarray(start + hours + waits)


@lru_cache(maxsize=1024)
def result_quantiles(start: StartTimes | None, run_hours: float) -> tuple[float, float]:
    """Return (median, 90th percentile) of hours from today to the result of a run of `run_hours` hours, for the
    options. NaN where the start is unknown (None) or the run never ends.
    """
    if start is None or not np.isfinite(run_hours):
        return np.nan, np.nan
    middle, late = np.quantile(start.result_hours(np.full(DRAWS, run_hours)), (0.5, 0.9))
    return float(middle), float(late)
