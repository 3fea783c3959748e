"""How many jobs there are in each month: months that are alike in part."""

import numpy as np

from sweetspot.mixes.problem import Array


def month_noise(source: np.random.Generator, draws: int, months: int, alike: float) -> Array:
    """Standard normal noise, draws x months, whose months have the correlation `alike` with each other.

    1: one number for all months of a project, which nobody knows yet; 0: each month has its own.
    """
    project = source.standard_normal((draws, 1))
    month = source.standard_normal((draws, months))
    noise: Array = np.sqrt(alike) * project + np.sqrt(1.0 - alike) * month
    return noise


def load_duration(load: Array, shares: Array) -> Array:
    """The load by source in the months, the busiest first: sources x shares.

    `load`: device-hours by source and month (all draws' months in one row); `shares` of the months, 0 to 1. Each is the
    mean over a window of the months around that share, so that the sources add up to the load.
    """
    order = np.argsort(-load.sum(axis=0), kind="stable")
    months = len(order)
    width = max(1, months // (2 * max(1, len(shares) - 1)))
    windows = [order[max(0, place - width) : place + width + 1] for place in np.rint(shares * (months - 1)).astype(int)]
    return np.stack([load[:, window].mean(axis=1) for window in windows], axis=1)
