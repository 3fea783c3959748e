"""The chance to find a machine, and how long it takes: a share of time with stock, and an exponential wait if not.

Gaps in stock look exponential, and providers are nearly independent: 1 - prod(1 - p) lay within 0.03 of the share
seen in 17 of 20 kinds of machine of 2026 (ccir.io, quoted in facts/availability.csv).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def any_of(shares: npt.ArrayLike) -> float:
    """The chance that at least one of several independent sellers has one: 1 - prod(1 - p); 0 of none."""
    return float(1.0 - np.prod(1.0 - np.asarray(shares, float)))


def several(share: npt.ArrayLike, machines: npt.ArrayLike) -> tuple[Array, Array]:
    """Least and greatest chance of `machines` at once of one seller: p^m where each is an event of its own, p where
    all are one (as spot machines of one type and zone are).
    """
    p, m = np.asarray(share, float), np.asarray(machines, float)
    return p**m, p * np.ones_like(m)


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
