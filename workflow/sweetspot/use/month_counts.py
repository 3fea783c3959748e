"""What some months of counted jobs say of the months to come: level, growth, how much months differ."""

import math
from typing import NamedTuple

import numpy as np

from sweetspot.draws import LEVEL, interval, stream

DRAWS = 4000
# Before anything is counted. Growth: 4 % a month or less in two of three teams. Months differ beyond chance by
# sqrt(0.1) = 32 %, in two of three teams by 12 to 86 %. Simulated months of several kinds are then covered as they
# should be (tests/use/test_ranges.py).
GROWTH_SD = 0.04
DIFFER, DIFFER_LOG_SD = 0.1, 2.0
DIFFER_GRID = np.exp(np.linspace(math.log(0.001), math.log(4.0), 24))
LEVEL_SD = 3.0  # of the logarithm: the counts alone tell the level
STEPS = 40
MOST = 30.0  # of the logarithm of a month's jobs: of far more no count can be drawn
FAR = 12  # months ahead that a range speaks of, at most
# Growth is clear where it has one sign with 98 %: a level that drifts looks like growth for a while.
CLEAR = 0.98
USUAL_SD, USUAL_MONTHS = 0.3, 3  # of the logarithm of a figure of one month, as if seen in so many


class Range(NamedTuple):
    """A figure with the ends of its range, which holds with 90 %."""

    value: float
    low: float
    high: float


class Counted(NamedTuple):
    """jobs: of a month to come; growth: share a month; clear: growth surely has that sign; alike: correlation
    of two months to come.
    """

    jobs: Range
    growth: Range
    clear: bool
    alike: float


def counted(jobs: np.ndarray, exposure: np.ndarray, seed: int, name: str) -> Counted:
    """The months to come, from jobs of each month and the share of it that the record covers.

    Jobs of a month are negative binomial about a level that grows by a constant share; level, growth and dispersion
    have the priors above and a posterior by Laplace's method at each dispersion of a grid. The range of jobs is
    predictive, over as many months ahead as there were, at most FAR. Its value is the mean of the months; where growth
    is clear, the level of the first month to come, and the range is that month's.
    """
    source, months = stream(seed, "use", name), len(jobs)
    time = np.arange(months) - (months - 1) / 2
    level, growth, differ = _posterior(jobs.astype(float), exposure, time, source)
    low, high = interval(np.expm1(growth))
    told = Range(float(np.expm1(np.median(growth))), float(low), float(high))
    surely = interval(growth, CLEAR)
    clear = bool(surely[0] > 0 or surely[1] < 0)
    ahead = np.ones(DRAWS) if clear else source.integers(1, min(max(months, 3), FAR) + 1, DRAWS)
    expected = np.exp(np.minimum(level + growth * (time[-1] + ahead), MOST))
    least, most = interval(source.poisson(expected * source.gamma(1 / differ, differ)).astype(float))
    value = float(np.median(expected)) if clear else float(jobs.sum() / exposure.sum())
    shared = float(np.var(np.log(expected)))
    alone = float(np.mean(differ)) + 1 / max(value, 1.0)
    return Counted(
        Range(value, min(float(least), value), max(float(most), value)), told, clear, shared / (shared + alone)
    )


def _posterior(
    jobs: np.ndarray, exposure: np.ndarray, time: np.ndarray, source: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draws of the log of the level in the middle of the months, of log growth, and of the dispersion."""
    design = np.column_stack([np.ones(len(jobs)), time])
    start = np.array([math.log(max(jobs.sum(), 0.5) / exposure.sum()), 0.0])
    precision = np.array([LEVEL_SD, GROWTH_SD]) ** -2.0
    fits = [_fit(jobs, exposure, design, start, precision, differ) for differ in DIFFER_GRID]
    prior = -0.5 * (np.log(DIFFER_GRID / DIFFER) / DIFFER_LOG_SD) ** 2
    weight = np.array([fit[2] for fit in fits]) + prior
    share = np.exp(weight - weight.max())
    chosen = source.choice(len(fits), DRAWS, p=share / share.sum())
    noise = source.standard_normal((DRAWS, 2))
    roots = np.stack([np.linalg.cholesky(fit[1]) for fit in fits])
    drawn = np.stack([fit[0] for fit in fits])[chosen] + np.einsum("dij,dj->di", roots[chosen], noise)
    return drawn[:, 0], drawn[:, 1], DIFFER_GRID[chosen]


def _fit(
    jobs: np.ndarray, exposure: np.ndarray, design: np.ndarray, start: np.ndarray, precision: np.ndarray, differ: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Mode and covariance of level and growth at one dispersion, and the log of what the counts say of that one."""
    from scipy.special import gammaln

    at = start.copy()
    for _ in range(STEPS):
        mean = exposure * np.exp(np.clip(design @ at, -20, 20))
        weight = mean * (1 + differ * jobs) / (1 + differ * mean) ** 2
        slope = design.T @ ((jobs - mean) / (1 + differ * mean)) - precision * (at - start)
        curvature = (design.T * weight) @ design + np.diag(precision)
        step = np.linalg.solve(curvature, slope)
        at = at + np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-9:
            break
    mean, size = exposure * np.exp(np.clip(design @ at, -20, 20)), 1 / differ
    likely = (
        gammaln(jobs + size) - gammaln(size) + jobs * np.log(differ * mean) - (jobs + size) * np.log1p(differ * mean)
    )
    log_prior = -0.5 * float(precision @ (at - start) ** 2)
    covariance = np.linalg.inv(curvature)
    return at, covariance, float(likely.sum()) + log_prior + 0.5 * float(np.linalg.slogdet(covariance)[1])


def ratio_range(over: np.ndarray, under: np.ndarray, seed: int, name: str, share: bool = False) -> Range:
    """The sum of `over` by that of `under` (an entry a month each), such as hours a job, with its range.

    Months are drawn anew, with replacement; the spread of the logarithm (of a share: of its odds) is held against a
    usual one as if that had been seen in USUAL_MONTHS more, so that few months, of which a bootstrap says too little,
    have a wide range; Student's t after it. NaN where nothing is under, or a month of `over` is not known.
    """
    from scipy.special import stdtrit

    months = len(over)
    if not under.sum() > 0 or np.isnan(over).any():
        return Range(math.nan, math.nan, math.nan)
    value = float(over.sum() / under.sum())
    if value == 0 and not share:
        return Range(0.0, 0.0, 0.0)
    weights = stream(seed, "months", name).multinomial(months, np.full(months, 1 / months), DRAWS)
    above, below = weights @ over, weights @ under
    scaled = np.log((above + 0.5) / (below - above + 0.5)) if share else np.log(above[(above > 0) & (below > 0)])
    if not share:
        scaled = scaled - np.log(below[(above > 0) & (below > 0)])
    freedom = USUAL_MONTHS + months - 1
    variance = (USUAL_MONTHS * USUAL_SD**2 + (months - 1) * months * float(np.var(scaled))) / freedom
    half = float(stdtrit(freedom, (1 + LEVEL) / 2)) * math.sqrt(variance / months)
    if not share:
        return Range(value, value * math.exp(-half), value * math.exp(half))
    odds = math.log((over.sum() + 0.5) / (under.sum() - over.sum() + 0.5))
    low, high = (1 / (1 + math.exp(-(odds + end))) for end in (-half, half))
    return Range(value, min(low, value), max(high, value))
