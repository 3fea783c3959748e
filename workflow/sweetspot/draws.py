"""Draws of uncertain figures: their seeds, spreads and intervals, and the two probabilities made of them."""

import zlib
from collections.abc import Hashable, Sequence
from statistics import NormalDist

import numpy as np

DRAWS = 4000  # standard error of a probability of 0.8: 0.6 percentage points
LEVEL = 0.90  # coverage of every interval of the decision
LEVEL_RANGE = 0.90  # a price list's low and high are read as its 5th and 95th percentile
# A t with one degree of freedom has no mean; a factor of ten is far beyond any honest pair of runs.
WIDEST = float(np.log(10.0))
TIE_TOLERANCE = 1e-6  # costs nearer than this share of the lower one are the same: nobody chooses by a millionth
# Digits of a number in the name of a random stream: two computations of one figure agree to far more of them.
STREAM_DIGITS = 6


def stream(seed: int, *key: object) -> np.random.Generator:
    """Return the random generator of one uncertain number (a price, a speed), from the study's seed and a key that
    names it: a new offer never changes the samples of others. Numbers in the key count to STREAM_DIGITS digits.
    """
    parts = (repr(float(f"{part:.{STREAM_DIGITS}g}")) if isinstance(part, float) else str(part) for part in key)
    return np.random.default_rng([seed, zlib.crc32("|".join(parts).encode())])


def spread(
    value: float, low: float, high: float, level: float, noise: np.ndarray, freedom: float = float("nan")
) -> np.ndarray:
    """Return samples of an uncertain positive number, such as a price, for the simulation of costs: in the unit of
    `value`, in the shape of `noise`. The distribution is log-normal in two pieces, so that an asymmetric interval
    keeps both bounds. Without an interval, or where `value` is not positive, each sample is `value`.

    Parameters
    ----------
    value, low, high, level
        The median; the interval that holds the share `level` (0 to 1) of the samples.
    noise, freedom
        Standard normal noise, or t with `freedom` degrees of freedom where that is given.
    """
    if not 0 < low <= value <= high:
        return np.full(noise.shape, value)
    edge = NormalDist().inv_cdf((1 + level) / 2)  # of the central interval of probability `level`
    if freedom >= 1:
        from scipy.special import stdtrit  # lazily: only measured figures need it

        edge = float(stdtrit(freedom, (1 + level) / 2))
    scale = np.asarray(np.where(noise < 0, np.log(value / low), np.log(high / value))) / edge
    return value * np.exp(np.clip(scale * noise, -WIDEST, WIDEST))


def interval(draws: np.ndarray, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds (low, high) of an interval of simulated values: the two samples that enclose the central share
    `level` along the last axis, which holds the samples; other axes stay.
    """
    last = draws.shape[-1] - 1
    low, high = round(last * (1 - level) / 2), round(last * (1 + level) / 2)
    # Two order statistics; a quantile by interpolation would make NaN of two infinite draws, and sort everything.
    bounds = np.partition(draws, (low, high), axis=-1)
    return bounds[..., low], bounds[..., high]


def shares(
    usd: np.ndarray, alternatives: Sequence[Hashable], tolerance: float = TIE_TOLERANCE
) -> dict[Hashable, float]:
    """Return the probability that each alternative is the cheapest: the share (0 to 1) of samples in which no other is
    cheaper, beyond `tolerance`. Every alternative of a tie counts as cheapest, so that shares may add up to more than
    1. A sample in which no choice can finish the work counts for none. The verdict's confidence rests on it.

    Parameters
    ----------
    usd, alternatives, tolerance
        Costs, choice x sample; infinite or NaN where a choice cannot finish the work; the alternative to which each
        row of `usd` belongs; costs that differ by less than this share of the lowest cost tie.
    """
    costs = np.where(np.isnan(usd), np.inf, usd)
    lowest = costs.min(axis=0)
    first = np.isfinite(costs) & (costs <= lowest + tolerance * np.abs(np.where(np.isfinite(lowest), lowest, 0.0)))
    rows: dict[Hashable, list[int]] = {}
    for index, name in enumerate(alternatives):
        rows.setdefault(name, []).append(index)
    return {name: float(first[indices].any(axis=0).mean()) for name, indices in rows.items()}


def p_cheaper(usd: np.ndarray, rival_usd: np.ndarray, tolerance: float = TIE_TOLERANCE) -> float:
    """Return the probability that one option costs less than another: the share (0 to 1) of samples; a tie counts as
    half. So the shares of both orders add up to 1, and two options that always cost the same have 0.5 each.

    Parameters
    ----------
    usd, rival_usd
        Costs of the option and of the other, one for each sample. Infinite or NaN (the work cannot be finished) is
        above every finite cost.
    tolerance
        Costs that differ by less than this share tie.
    """
    first, second = (np.where(np.isnan(costs), np.inf, costs) for costs in (usd, rival_usd))
    lower = np.minimum(np.abs(first), np.abs(second))
    with np.errstate(invalid="ignore"):
        is_tie = (first == second) | (np.abs(first - second) <= tolerance * lower)
    return float(np.mean(np.where(is_tie, 0.5, first < second)))
