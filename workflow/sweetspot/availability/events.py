"""What happens by chance: a machine is found or waited for, a run fails, loses work and searches for another.

Gaps in stock look exponential, and providers are nearly independent: 1 - prod(1 - p) lay within 0.03 of the share
seen in 17 of 20 kinds of machine of 2026 (ccir.io, quoted in facts/availability.csv).
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sweetspot.bills.spot import checkpoint_interval

Array = npt.NDArray[np.float64]
SELDOM = 1e-12  # failures an hour below which there are none: a checkpoint interval needs a mean time between them


def any_of(shares: npt.ArrayLike) -> float:
    """The chance that at least one of several independent sellers has one: 1 - prod(1 - p); 0 of none."""
    return float(1.0 - np.prod(1.0 - np.asarray(shares, float)))


def several(share: npt.ArrayLike, machines: npt.ArrayLike) -> tuple[Array, Array]:
    """Least and greatest chance of `machines` at once of one seller: p^m where each is an event of its own, p where
    all are one (as spot machines of one type and zone are).
    """
    p, m = np.asarray(share, float), np.asarray(machines, float)
    return p**m, p * np.ones_like(m)


def no_spare(spares: float, away: float) -> float:
    """The chance that a broken device finds no spare, of `spares` in all, where `away` are on average being repaired.

    1 where there is none. Those away are Poisson whatever the repairs' distribution (Palm's theorem), each of them for
    a spare in use: P(N >= spares), as of base stock in inventory theory.
    """
    from scipy.stats import poisson

    return float(poisson.sf(math.floor(spares) - 1, away))


def search(share: Array, wait: Array, noise: np.random.Generator) -> Array:
    """Hours of a search in each draw: 0 where there is one today, else exponential; P(<= t) = 1 - (1 - p) e^(-t/w)."""
    there, drawn = noise.random(share.shape), noise.standard_exponential(share.shape)
    return np.where(there < share, 0.0, drawn * wait)


def drawn_within(ends: Sequence[float], level: Array) -> Array:
    """A figure (value, low, high) at a level from 0 to 1: its median is the value, its ends low and high, linear
    between; anything from low to high alike where no value is known (nan).
    """
    value, low, high = ends
    if np.isnan(value):
        return low + (high - low) * level
    below, above = low + (value - low) * 2.0 * level, value + (high - value) * (2.0 * level - 1.0)
    return np.where(level < 0.5, below, above)


def _stretches(work: Array, per_hour: Array, dump: float) -> tuple[Array, Array, Array]:
    """How many stretches end in a checkpoint, the hours of each with it, and those of the last, which has none."""
    interval = np.minimum(checkpoint_interval(dump, 1.0 / per_hour), work)
    interval = np.where(interval > 0, interval, work)
    return (work - interval) / interval, interval + dump, interval


def run_hours(
    work: Array, per_hour: Array, dump: float, restart: Array, share: Array, wait: Array, noise: np.random.Generator
) -> Array:
    """Hours of a run in each draw with its failures: `work` hours of training, failures `per_hour` of all devices.

    A failure costs what was done since the last checkpoint, `restart` hours, and, but with the chance `share`, an
    exponential search of mean `wait` hours. Without failures, `work`. The number of failures of a stretch is geometric;
    the time lost by each is its mean (M - s/(e^(s/M) - 1), at most an interval), so means are Daly's.
    """
    rate = np.maximum(per_hour, SELDOM)
    stretches, length, last = _stretches(work, rate, dump)
    total, failures = work.copy(), np.zeros(work.shape)
    for count, hours in ((stretches, length), (np.ones_like(work), last)):
        failed = _failures(count, rate * hours, noise)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            lost = 1.0 / rate - hours / np.expm1(rate * hours)
        total += failed * np.where(rate * hours < 1e-6, hours / 2.0, lost)  # half of it where it seldom fails
        failures += failed
    total += stretches * dump + failures * np.expm1(rate * restart) / rate
    searches = noise.binomial(failures.astype(int), 1.0 - share).astype(float)
    total += noise.standard_gamma(np.where(searches > 0, searches, 1.0)) * np.where(searches > 0, wait, 0.0)
    return np.where(per_hour > SELDOM, total, work)


def _failures(count: Array, exposure: Array, noise: np.random.Generator) -> Array:
    """Failures before `count` stretches are done, each of which survives with e^-exposure: negative binomial."""
    kept = np.where(count > 0, count, 1.0)
    drawn = noise.negative_binomial(kept, np.exp(-np.minimum(exposure, 30.0)))
    return np.where(count > 0, drawn, 0.0)
