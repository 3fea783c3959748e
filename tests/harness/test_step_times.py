"""What the times of steps tell: the stop rule, and the named warnings, on series with a known fault and on the edges.

Drifts are held against Mann and Kendall's test by pairs.
"""

import math
import statistics
from itertools import combinations

import numpy as np
import pytest
from harness_runs import request
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from step_lists import even, half_width, may_stop, step_warnings
from sweetspot.harness import step_times
from sweetspot.harness.supervise import assess

RULE = {"min_steps": 5, "min_seconds": 20, "min_steps_slow": 3}
STEADY = [1.0, 1.01, 0.99, 1.0, 1.005, 0.995, 1.0, 1.01, 0.99, 1.0]


def rules(seconds):
    return [warning.rule for warning in step_warnings(seconds)]


def test_the_table_of_students_t_is_scipys():
    np.testing.assert_allclose(step_times.T_975, stats.t.ppf(0.975, np.arange(1, 31)), atol=6e-4)


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=31))
def test_half_width_is_that_of_the_t_interval_of_the_mean(seconds):
    with np.errstate(invalid="ignore"):  # equal steps: 0 / 0 in scipy
        low, high = stats.t.interval(0.95, len(seconds) - 1, np.mean(seconds), stats.sem(seconds))
    expected = 0.0 if math.isnan(low) else (high - low) / 2 / np.mean(seconds)
    assert half_width(seconds) == pytest.approx(expected, rel=2e-3, abs=1e-9)


def test_the_half_width_of_one_step_is_infinite_and_of_many_by_the_last_of_the_table(monkeypatch):
    assert half_width([1.0]) == float("inf")
    monkeypatch.setattr(step_times, "IMPRECISE", half_width(NOISY))
    assert rules(NOISY) == ["disturbed"]  # its mean of 1.4 beside 1; it is known to just the limit
    # beyond 30 degrees of freedom 2.042: sd of 20 ones and 20 threes is sqrt(40 / 39)
    assert half_width([1.0, 3.0] * 20) == pytest.approx(2.042 * (40 / 39) ** 0.5 / 40**0.5 / 2)


NOISY = [1.0, 2.0, 1.0, 2.0, 1.0]  # sd sqrt(0.3), t of 4 2.776: 2.776 x 0.5477 / sqrt(5) / 1.4 = 0.4857
WILD = [0.1, 0.1, 0.1, 0.1, 2.0]  # its mean is known to more than itself, but nobody asked


@pytest.mark.parametrize(
    ("seconds", "target", "ends"),
    [
        (STEADY[:5], 0.03, True),
        (STEADY[:4], 0.0, False),
        (NOISY, 0.0, True),
        (NOISY, 0.48, False),
        (NOISY, 0.49, True),
        (NOISY, half_width(NOISY), True),  # as well as it is to be known
        (WILD, 0.0, True),
        (NOISY * 3, 0.03, True),  # 21 s
        ([30.0, 30.0], 0.03, False),
        ([30.0, 30.0, 30.0], 0.03, True),
        ([10.0, 5.0, 5.0], 0.03, True),  # 20 s in three steps
        ([10.0, 5.0, 4.9], 0.03, False),
    ],
)
def test_a_run_ends_where_its_mean_is_known_or_its_time_is_up(seconds, target, ends):
    assert may_stop(seconds, **RULE, target_half_width=target) is ends


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (STEADY, []),
        ([2.0, 1.0], []),  # two steps are too few for a warning, and three are enough
        ([1.3, 1.0, 1.0], ["warm_up", "imprecise"]),
        ([1.11, *[1] * 9], ["warm_up"]),
        ([1.5, 1.0, 1.0, 1.3, 1.3], ["warm_up", "throttling", "imprecise"]),
        ([1.1, *[1] * 9], []),  # a tenth, and no more
        ([1.0 + 0.02 * step for step in range(10)], ["drift", "imprecise"]),
        ([1.0, 1.3, 0.9, 1.2, 1.1, 1.25, 1.0, 1.15], ["imprecise"]),  # noise without order
        # mean 1.2, median 1.0: the second level is the reason, and is named
        ([1.0, 1.01, 0.99, 1.0, 1.0, 1.01, 0.99, 1.8, 1.81], ["throttling", "imprecise"]),
        ([1.0, 1.01, 0.99, 1.0, 1.2, 1.21, 1.2, 1.19], ["throttling", "imprecise"]),  # no drift
    ],
)
def test_all_that_a_series_is_told_of(seconds, told):
    assert rules(seconds) == told


@pytest.mark.parametrize(
    ("rule", "seconds", "told"),
    [
        ("warm_up", [2.1, 2, 2, 2], False),
        ("warm_up", [1.3, 1, 1.3, 1, 1, 1], False),  # another is as slow
        ("warm_up", [1.15, 1.2, 1, 1, 1, 1], False),  # the next is slower
        ("warm_up", [1.15, 1.0, 1.0, 1.1], True),  # the median of the other three is 1
        ("throttling", [1, 1, 1.3, 1.3], True),  # two steps a side
        ("throttling", [1, 1, 1, 1.3], False),
        ("throttling", [1, 1, 1.1, 1.1], False),  # a tenth is not more than a tenth
        ("throttling", [1, 1, 1.11, 1.11], True),
        ("throttling", [1, 1.1, 1.3, 1.4], True),  # 0.2 apart, 0.1 within
        ("throttling", [1, 1, 1.2, 1.7], False),  # 0.2 apart, 0.5 within: not more than half of it
        ("throttling", [1.0, 1.5, 1.75, 1.75, 1.75], False),  # 0.25 apart, spread 0.5; floats hold all of them
        ("throttling", [1.4, 1.4, 1, 1], False),  # it became faster
        # 2.262 x 0.5270 (high - 1) / sqrt(10) / middle: 0.0220 and 0.0427 of the mean
        ("imprecise", [1.0, 1.06] * 5, False),
        ("imprecise", [1.0, 1.12] * 5, True),
        ("drift", [19.5, 19.75, 20, 20.25, 20.5], False),  # 1 of 20, exactly: a twentieth, and no more
        ("drift", [1, 1.03, 1.06, 1.09], False),  # four steps are too few to tell: 5 / sqrt(4 x 3 x 13 / 18) = 1.70
    ],
)
def test_each_rule_on_its_edges(rule, seconds, told):
    assert (rule in rules(seconds)) is told


def drifts(seconds):
    """Mann 1945 and Kendall 1975 by pairs; slope by Theil and Sen: the median of the pairs' slopes."""
    count, pairs = len(seconds), list(combinations(enumerate(seconds), 2))
    score = sum(int(b > a) - int(b < a) for (_, a), (_, b) in pairs)
    deviation = (count * (count - 1) * (2 * count + 5) / 18) ** 0.5
    slope = statistics.median((b - a) / (j - i) for (i, a), (j, b) in pairs)
    far = abs(slope) * (count - 1) / statistics.median(seconds) > 0.05
    return far and (abs(score) - 1) / deviation >= 1.96


def test_a_drift_is_told_where_the_trend_is_significant_and_over_a_twentieth():
    generator, told = np.random.default_rng(1), 0
    for _ in range(600):
        count = int(generator.integers(5, 17))
        level = np.linspace(0, 0.095, count)  # less than a tenth in all, so that nothing is throttling
        order = np.argsort(np.arange(count) + generator.normal(0, count / 3, count))
        seconds = [1.0, *(1 + level[order])][-count:]
        assert ("drift" in rules(seconds)) == drifts(seconds), seconds
        told += drifts(seconds)
    assert 100 < told < 500


def test_a_trainer_that_was_stopped_for_four_seconds_is_disturbed_and_unstable():
    # 3,000 steps of 1.8 ms (128 / 0.0018 = 71,111 samples/s) and one of 4 s: (3000 x 0.0018 + 4) / 3001 = 3.132 ms,
    # 74 % above the median, 40,863 samples/s
    steps = [0.0018] * 1500 + [4.0] + [0.0018] * 1500
    status, found = assess(request(), even(steps), {})
    assert status == "unstable"
    slow = "1 of 3001 steps took over 1.5 times the median, the longest 4 s"
    assert "1 of 5 steps" in step_warnings([1, 1.5, 1, 2.5, 1])[0].message  # 1.5 is no more than 1.5 times 1
    assert "took 50% longer" in step_warnings([3, 2, 2, 1])[0].message  # 3 beside a median of 2
    assert found[0] == ("disturbed", f"the mean step is 74% above the median of 0.0018 s: {slow}")


@pytest.mark.parametrize(
    ("steps", "disturbed"),
    [
        ([1, 1, 1, 1, 1.4], False),  # mean 1.08: within a tenth of the median
        ([1, 1, 1, 1, 1.5], False),  # mean 1.1: a tenth, and no more
        ([1, 1, 1, 1, 1.6], True),  # mean 1.12
        ([1, 1, 1, 1, 0.2], False),  # one that is too quick does not make a figure too slow
        ([3, 1, 1, 1, 1], True),  # mean 1.4: a slow first step spoils the mean like any other
        ([1, 1, 5], True),  # mean 2.33, median 1
    ],
)
def test_a_run_is_disturbed_where_its_mean_is_a_tenth_above_its_median(steps, disturbed):
    status, found = assess(request(), even(steps), {})
    assert ("disturbed" in [warning.rule for warning in found]) is disturbed
    assert status == ("unstable" if disturbed else "ok")


def test_of_many_steps_drift_and_throttling_are_found_without_a_look_at_each_pair():
    random = np.random.default_rng(11)
    steady = 1e-4 * (1 + 0.3 * random.standard_normal(40_000))
    assert rules(steady) == []
    assert rules(steady * np.linspace(1.0, 1.2, 40_000)) == ["drift"]
    throttled = steady * np.where(np.arange(40_000) < 30_000, 1.0, 1.5)
    (found,) = (warning for warning in step_warnings(throttled) if warning.rule == "throttling")
    # forty steps together: their mean is known to 0.3 / sqrt(40) = 5 %, so the two levels part where they meet
    assert found.message.endswith("from step 30000 on")
