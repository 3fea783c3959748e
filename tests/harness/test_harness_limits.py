"""What the times of steps tell, on the edge of each rule, and against Mann and Kendall's test by pairs."""

import statistics
from itertools import combinations

import numpy as np
import pytest
from step_lists import half_width, may_stop, step_warnings
from sweetspot.harness.supervise import outcome


def rules(seconds):
    return [warning.rule for warning in step_warnings(seconds)]


def test_three_steps_are_enough_for_a_warning_and_two_are_not():
    assert step_warnings([1.3, 1.0, 1.0])[0] == ("warm_up", "the first timed step took 30% longer")
    assert step_warnings([2.0, 1.0]) == []


def test_a_tenth_is_no_warm_up_and_neither_is_a_step_as_slow_as_another():
    assert rules([1.1, 1, 1, 1, 1, 1, 1, 1, 1, 1]) == []
    assert rules([1.11, 1, 1, 1, 1, 1, 1, 1, 1, 1]) == ["warm_up"]
    assert "warm_up" not in rules([1.3, 1, 1, 1, 1.3, 1, 1])


def test_steps_count_from_the_start_also_behind_a_slow_first_one():
    found = step_warnings([2.0, 1, 1, 1, 1.3, 1.3, 1.3])
    assert found[:2] == [
        ("warm_up", "the first timed step took 74% longer"),  # the median of the others is 1.15
        ("throttling", "steps took 30% longer from step 4 on"),
    ]


@pytest.mark.parametrize(
    ("seconds", "throttled"),
    [
        ([1, 1, 1.3, 1.3], True),  # two steps a side
        ([1, 1, 1, 1.3], False),
        ([1, 1.3, 1.3, 1.3], False),
        ([1, 1, 1.1, 1.1], False),  # a tenth is not more than a tenth
        ([1, 1, 1.11, 1.11], True),
        ([1, 1.1, 1.3, 1.4], True),  # 0.2 apart, 0.1 within
        ([1, 1, 1.2, 1.7], False),  # 0.2 apart, 0.5 within: not more than half of it
        ([1, 1, 1, 1.4, 1.4, 1.3, 1.3], True),
        ([1.4, 1.4, 1, 1], False),  # it became faster
    ],
)
def test_throttling_parts_two_levels_each_of_two_steps(seconds, throttled):
    assert ("throttling" in rules(seconds)) == throttled


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        ([1, 1.2] * 4, True),
        ([1, 1.2, 1, 1.2, 1, 1.2, 1, 1], False),  # three are no group
        ([1, 1.1] * 4, False),  # a tenth is not more than a tenth
        ([1, 1.11] * 4, True),
        ([1, 1.3, 1.1, 1.5, 1, 1.5, 1, 1.5], False),  # 0.2 apart, 0.2 within
        ([1, 1.3, 1.05, 1.35, 1.1, 1.4, 1, 1.3], True),  # 0.2 apart, 0.1 within
        ([1, 1, 1, 1, 1.3, 1.3, 1.3, 1.3], False),  # throttling says it
        ([1.3, 1, 1.3, 1, 1.3, 1, 1, 1.3, 1, 1, 1, 1], True),  # 4 of 12: collecting garbage
    ],
)
def test_two_groups_of_steps_in_turn_are_told_and_none_is_left_out(seconds, told):
    assert ("two_levels" in rules(seconds)) == told


def test_two_groups_say_how_many_and_how_long():
    said = {found.rule: found.message for found in step_warnings([1, 1.2, 1, 1.2, 1, 1.2, 1, 1.2, 1])}
    assert said["two_levels"].startswith("5 steps took about 1 s and 4 about 1.2 s, in turn: ")


def test_five_steps_are_enough_for_a_drift():
    # ten rising pairs: (10 - 1) / sqrt(5 x 4 x 15 / 18) = 2.2; 0.02 a step, 4 steps, over the median 1.04: 7.7 %
    assert step_warnings([1, 1.02, 1.04, 1.06, 1.08])[0] == ("drift", "step time changed by +8% over the run")
    assert "drift" not in rules([1, 1.03, 1.06, 1.09])
    assert step_warnings([1.08, 1.06, 1.04, 1.02, 1])[0].message == "step time changed by -8% over the run"


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


def reversed_first(count, length, step, swaps=()):
    """Rising seconds whose first `length` fall instead: length (length - 1) / 2 inversions; each swap is one more."""
    values = [1 + step * place for place in range(count)]
    values[:length] = values[:length][::-1]
    for place in swaps:
        values[place], values[place + 1] = values[place + 1], values[place]
    return values


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        # 6 steps: sd sqrt(6 x 5 x 17 / 18) = 5.32. One inversion of 15 pairs: (13 - 1) / 5.32 = 2.25; two: 1.88
        (reversed_first(6, 2, 0.015), True),
        (reversed_first(6, 2, 0.015, [3]), False),
        # 10 steps: sd sqrt(125) = 11.18. 11 inversions of 45: (23 - 1) / 11.18 = 1.968; 12: 20 / 11.18 = 1.79
        (reversed_first(10, 5, 0.01, [7]), True),
        (reversed_first(10, 5, 0.01, [5, 7]), False),
    ],
)
def test_a_trend_is_significant_at_five_percent(seconds, told):
    assert ("drift" in rules(seconds)) == told == drifts(seconds)


def test_a_run_may_stop_on_the_edge_of_each_of_its_rules():
    rule = {"min_steps": 4, "min_seconds": 20, "min_steps_slow": 3}
    assert may_stop([1.0] * 4, **rule)
    assert not may_stop([1.0] * 3, **rule)
    assert may_stop([5.0, 5.0, 10.0], **rule)
    assert not may_stop([5.0, 5.0, 9.0], **rule)
    assert not may_stop([10.0, 11.0], **rule)
    noisy = [1.0, 1.2, 1.0, 1.2]
    # sd 0.11547, t(3) = 3.182: 3.182 x 0.11547 / 2 / 1.1
    assert half_width(noisy) == pytest.approx(0.16701, rel=1e-4)
    assert may_stop(noisy, **rule, target=half_width(noisy))
    assert not may_stop(noisy, **rule, target=0.16)
    assert half_width([1.0]) == float("inf")
    # beyond 30 degrees of freedom the last of the table, 2.042: sd of 20 ones and 20 threes is sqrt(40 / 39)
    assert half_width([1.0, 3.0] * 20) == pytest.approx(2.042 * (40 / 39) ** 0.5 / 40**0.5 / 2)


def test_a_loss_that_is_no_number_has_an_exit_code_of_its_own():
    assert outcome(3, "steps\nthe loss is nan", False, 10) == ("failed", "the loss is nan")
