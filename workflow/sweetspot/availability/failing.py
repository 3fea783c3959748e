"""What failures cost a run: work lost since the last checkpoint, the start anew, the search for another machine."""

import numpy as np

from sweetspot.availability.finding import Array
from sweetspot.bills.spot import checkpoint_interval

SELDOM = 1e-12  # failures an hour below which there are none: a checkpoint interval needs a mean time between them


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
