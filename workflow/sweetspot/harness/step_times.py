"""What the steps of one run tell: when to stop, and whether the machine was steady. Pure functions of the times. Steps
of one process are not independent; their spread decides when a run may end; intervals come from independent runs.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sweetspot.harness.request import Request
from sweetspot.warnings import Warned

WARM_UP = 1.10  # the first step against the median of the others
DRIFT = 0.05  # trend over the whole run, relative to its median step
THROTTLED = 1.10  # later level against the earlier one
DISTURBED = 1.10  # the mean step against the median: most steps were quicker than the figure would say
STALLED = 1.50  # a step against the median, from which it is counted as held up
MANY = 1000  # steps of which each pair is compared; of more, means of as many neighbours as make so few
IMPRECISE = 0.03  # 95 % half-width of the mean step
UNSTEADY = ("drift", "throttling", "disturbed")  # rules that make a run unstable: its mean depends on when it ran
# 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom (NIST/SEMATECH e-Handbook, section 1.3.6.7.2);
# a table because scipy takes longer to import than a small network takes to train.
T_975 = np.fromstring(
    """
    12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228
    2.201 2.179 2.160 2.145 2.131 2.120 2.110 2.101 2.093 2.086
    2.080 2.074 2.069 2.064 2.060 2.056 2.052 2.048 2.045 2.042
    """,
    sep=" ",
)


class Interval(NamedTuple):
    """Mean `seconds` of a step, over `steps` steps that were timed together."""

    seconds: float
    steps: int = 1


def duration(timed: Sequence[Interval]) -> float:
    """Return the seconds that all timed steps took together."""
    return sum(seconds * steps for seconds, steps in timed)


def mean_step(timed: Sequence[Interval]) -> float:
    """Return the mean seconds of a step: all seconds over all steps, however many an interval holds."""
    return duration(timed) / sum(steps for _, steps in timed)


def relative_error(timed: Sequence[Interval]) -> float:
    """Return the standard error of the mean step, a share of it, of at least two intervals (Cochran 1977, 6.4)."""
    seconds, steps = np.asarray(timed, dtype=float).T
    mean, count = (seconds * steps).sum() / steps.sum(), len(timed)
    return float(math.sqrt(count / (count - 1)) * np.linalg.norm((seconds - mean) * steps) / steps.sum() / mean)


def half_width(timed: Sequence[Interval]) -> float:
    """Return the 95 % half-width of the mean step as a share of the mean; infinite below two intervals."""
    count = len(timed)
    return float(T_975[min(count - 1, len(T_975)) - 1]) * relative_error(timed) if count > 1 else math.inf


def may_stop(timed: Sequence[Interval], rule: Request, passed_s: float) -> bool:
    """Return True if a run may end: `min_steps` intervals whose mean is known to the target (0: any), or time is up,
    which is after `min_seconds`, but never before `min_steps_slow` intervals; no run ends before `least_seconds`.

    Parameters
    ----------
    timed, rule, passed_s
        The timed intervals, the run with its protocol, and the seconds since timing began.
    """
    if passed_s < rule.least_seconds:
        return False
    target = rule.target_half_width
    if len(timed) >= rule.min_steps and (target <= 0 or half_width(timed) <= target):
        return True
    return passed_s >= rule.min_seconds and len(timed) >= rule.min_steps_slow


def step_warnings(timed: Sequence[Interval]) -> list[Warned]:
    """Return warnings for the run file where the step times say that the machine was not steady: a list of (rule,
    message) in the order below; [] if steady. warm_up: the first timed step is over a tenth slower than the median of
    the others and slower than each. drift: Theil-Sen's slope over the run exceeds 5 % of the median step, with
    Mann-Kendall's test at 5 %. throttling: the times fall into two levels, the later a tenth slower, every step of it
    above the earlier. disturbed: the mean step, on which the figure rests, is over a tenth above the median step, and
    no second level explains it: a few steps were held up (a stopped process, another job on the machine). imprecise:
    the 95 % half-width of the mean step exceeds 3 %. Of over MANY steps means of neighbours are compared.
    """
    values = np.asarray([seconds for seconds, _ in timed], dtype=float)
    if len(values) < 3:
        return []
    warnings = []
    if values[0] > WARM_UP * np.median(values[1:]) and values[0] > values[1:].max():
        longer = values[0] / np.median(values[1:]) - 1
        warnings.append(Warned("warm_up", f"the first timed step took {longer:.0%} longer"))
        values = values[1:]
    together = -(-len(values) // MANY)
    # Means of so many steps in a row; what is left at the end is left out.
    coarse = values[: len(values) // together * together].reshape(-1, together).mean(axis=1)
    if jump := _throttling(coarse):
        first = jump[0] * together + len(timed) - len(values)
        warnings.append(Warned("throttling", f"steps took {jump[1] - 1:.0%} longer from step {first} on"))
    else:
        if abs(trend := _trend(coarse)) > DRIFT:
            warnings.append(Warned("drift", f"step time changed by {trend:+.0%} over the run"))
        warnings += _disturbed(timed)
    if (width := half_width(timed)) > IMPRECISE:
        warnings.append(Warned("imprecise", f"the mean step is known to {width:.0%}"))
    return warnings


def _disturbed(timed: Sequence[Interval]) -> list[Warned]:
    """Return [the warning `disturbed`] if a few slow steps lift the mean step time far above the median, else []."""
    seconds, steps = zip(*timed, strict=True)
    values = np.repeat(seconds, steps)
    middle = np.median(values)
    above = values.mean() / middle
    if above <= DISTURBED:
        return []
    slow = (values > STALLED * middle).sum()
    text = f"{slow} of {len(values)} steps took over {STALLED:g} times the median, the longest {values.max():.3g} s"
    return [Warned("disturbed", f"the mean step is {above - 1:.0%} above the median of {middle:.3g} s: {text}")]


def _trend(values: np.ndarray) -> float:
    """Return by what share of the median the step time changed over a run: Theil-Sen's slope of seconds by step x
    steps / median; 0 where Mann-Kendall's test sees no trend at 5 %. Fewer than five steps never pass that test: four
    that rise have (6 - 1) / sqrt(4 x 3 x 13 / 18) = 1.70.
    """
    count = len(values)
    first, second = np.triu_indices(count, 1)
    rises = values[second] - values[first]
    score = np.sign(rises).sum()
    deviation = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    if (abs(score) - 1) / deviation < 1.96:
        return 0.0
    return float(np.median(rises / (second - first)) * (count - 1) / np.median(values))


def _throttling(values: np.ndarray) -> tuple[int, float] | None:
    """Look for a device that slowed down within a run: return (step at which a slower level begins, its median / that
    before), from `values` (seconds of each step), or None if there are no two levels.
    """
    for split in range(2, len(values) - 1):
        before = values[:split]
        after = values[split:]
        ratio = float(np.median(after) / np.median(before))
        is_separate = after.min() - before.max() > max(np.ptp(before), np.ptp(after)) / 2
        if ratio > THROTTLED and is_separate:
            return split, ratio
    return None
