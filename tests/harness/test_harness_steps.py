"""What the times of steps tell: the stop rule, and the named warnings, on series with a known fault."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from step_lists import even, half_width, may_stop, step_warnings
from sweetspot.harness.request import parse_request
from sweetspot.harness.step_times import T_975
from sweetspot.harness.supervise import judged

RULE = {"min_steps": 5, "min_seconds": 20, "min_steps_slow": 3}
STEADY = [1.0, 1.01, 0.99, 1.0, 1.005, 0.995, 1.0, 1.01, 0.99, 1.0]


def names(seconds):
    return [warning.rule for warning in step_warnings(seconds)]


def test_the_table_of_students_t_is_scipys():
    np.testing.assert_allclose(T_975, stats.t.ppf(0.975, np.arange(1, 31)), atol=6e-4)


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=31))
def test_half_width_is_that_of_the_t_interval_of_the_mean(seconds):
    with np.errstate(invalid="ignore"):  # equal steps: 0 / 0 in scipy
        low, high = stats.t.interval(0.95, len(seconds) - 1, np.mean(seconds), stats.sem(seconds))
    expected = 0.0 if math.isnan(low) else (high - low) / 2 / np.mean(seconds)
    assert half_width(seconds) == pytest.approx(expected, rel=2e-3, abs=1e-9)


def test_steps_known_well_enough_end_a_run_and_others_go_on_until_time_is_up():
    noisy = [1.0, 2.0, 1.0, 2.0, 1.0]
    assert may_stop(STEADY[:5], **RULE, target=0.03)
    assert not may_stop(noisy, **RULE, target=0.03)
    assert may_stop(noisy, **RULE)
    assert may_stop(noisy * 3, **RULE, target=0.03)  # 21 s
    assert not may_stop([30.0, 30.0], **RULE, target=0.03)
    assert may_stop([30.0, 30.0, 30.0], **RULE, target=0.03)


def test_a_steady_run_has_no_warning():
    assert step_warnings(STEADY) == []


def test_a_slow_first_step_is_warm_up_and_nothing_else_but_imprecise():
    assert names([1.3, *STEADY]) == ["warm_up", "imprecise"]


def test_a_run_that_slows_down_evenly_drifts():
    assert names([1.0 + 0.02 * step for step in range(10)]) == ["drift", "imprecise"]


@pytest.mark.parametrize(
    ("order", "drifts"),
    [
        # 45 pairs of ten steps, 11 of them falling: S = 23, (23 - 1) / sqrt(10 x 9 x 25 / 18) = 1.968, above 1.96
        ([5, 4, 3, 2, 1, 6, 7, 8, 10, 9], True),
        # 12 falling: S = 21, 1.79
        ([5, 4, 3, 2, 1, 7, 6, 8, 10, 9], False),
        # 190 pairs of twenty steps, 55 + 10 falling: S = 60, 59 / sqrt(20 x 19 x 45 / 18) = 1.914
        ([*range(11, 0, -1), 16, 15, 14, 13, 12, 17, 18, 19, 20], False),
        # four steps are too few to tell: 5 / sqrt(4 x 3 x 13 / 18) = 1.70
        ([1, 2, 3, 4], False),
        ([1, 2, 3, 4, 5], True),  # 9 / sqrt(5 x 4 x 15 / 18) = 2.20
    ],
)
def test_a_trend_is_one_where_mann_and_kendall_see_it(order, drifts):
    assert ("drift" in names([1 + 0.03 * place for place in order])) is drifts


def test_the_size_of_a_drift_is_that_of_the_steps_after_the_warm_up():
    # rising by 0.02 a step from 1.00 to 1.08: 0.08 / 1.04 = 7.7 %, at any length of a step
    for unit in (1.0, 0.01, 100.0):
        found = dict(step_warnings([unit * value for value in (2.0, 1.00, 1.02, 1.04, 1.06, 1.08)]))
        assert found["drift"] == "step time changed by +8% over the run"
        assert found["warm_up"] == "the first timed step took 92% longer"  # 2 / 1.04
    assert "drift" not in names([1.00, 1.01, 1.02, 1.03, 1.04])  # 0.04 / 1.02 = 3.9 %


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        ([1.1, 1, 1, 1, 1, 1], False),  # a tenth, and no more
        ([1.12, 1, 1, 1, 1, 1], True),
        ([1.3, 1, 1.3, 1, 1, 1], False),  # another is as slow
        ([1.15, 1.2, 1, 1, 1, 1], False),  # the next is slower
        ([1.15, 1.0, 1.0, 1.1], True),  # the median of the other three is 1
    ],
)
def test_a_first_step_is_warm_up_where_it_is_slower_than_each_other_by_a_tenth_of_their_median(seconds, told):
    assert ("warm_up" in names(seconds)) is told


@pytest.mark.parametrize("unit", [1.0, 0.01, 100.0])
@pytest.mark.parametrize(
    ("seconds", "step"),
    [
        ([2.0, 1.0, 1.01, 0.99, 1.0, 1.2, 1.21, 1.2, 1.19], 5),  # counted from the first step, warm-up included
        ([1.0, 1.01, 1.3, 1.31, 1.3, 1.32], 2),  # two steps are a level
        ([1.0, 1.3, 1.42, 1.43, 1.44], None),  # 0.12 apart where one level spreads by 0.3: its half is 0.15
        ([1.0, 1.3, 1.46, 1.47, 1.48], 2),  # 0.16 apart
        ([1.0, 1.01, 1.0, 1.08, 1.09, 1.08], None),  # 8 %
    ],
)
def test_two_levels_part_where_each_is_narrow_and_the_later_a_tenth_slower(seconds, step, unit):
    said = dict(step_warnings([unit * value for value in seconds])).get("throttling")
    assert said is None if step is None else said.endswith(f"from step {step} on")


def test_levels_as_far_apart_as_half_of_their_spread_are_one():
    assert "throttling" not in names([1.0, 1.5, 1.75, 1.75, 1.75])  # 0.25 apart, spread 0.5; floats hold all of them


@pytest.mark.parametrize(
    ("high", "told"),
    # 2.262 x 0.5270 (high - 1) / sqrt(10) / middle: 0.0220 and 0.0427 of the mean
    [(1.06, False), (1.12, True)],
)
def test_a_mean_known_to_three_per_cent_is_precise(high, told):
    assert ("imprecise" in names([1.0, high] * 5)) == told


def test_what_held_up_a_run_is_counted_beyond_half_the_median_more():
    # mean 6.7 / 5 = 1.34; of 1.5 and 2.2 one is above 1.5 times the median
    assert dict(step_warnings([1, 1, 1.5, 1, 2.2]))["disturbed"] == (
        "the mean step is 34% above the median of 1 s: 1 of 5 steps took over 1.5 times the median, the longest 2.2 s"
    )
    assert "disturbed" not in names([1, 1, 1, 1, 1.5])  # mean 1.1: a tenth, and no more


def test_a_run_ends_at_its_bounds():
    wild = [0.1, 0.1, 0.1, 0.1, 2.0]  # its mean is known to more than itself, but nobody asked
    assert half_width(wild) > 1 and may_stop(wild, **RULE)
    assert may_stop([10.0, 5.0, 5.0], **RULE, target=0.03)  # 20 s in three steps
    assert not may_stop([10.0, 5.0, 4.9], **RULE, target=0.03)
    noisy = [1.0, 2.0, 1.0, 2.0, 1.0]
    # standard deviation sqrt(0.3), t of 4: 2.776: 2.776 x 0.5477 / sqrt(5) / 1.4 = 0.4857
    assert [may_stop(noisy, **RULE, target=target) for target in (0.48, 0.49)] == [False, True]


def test_a_run_that_speeds_up_evenly_drifts_too():
    assert "-" in step_warnings([1.18 - 0.01 * step for step in range(10)])[0].message


def test_a_clock_that_falls_by_a_fifth_is_throttling_not_drift():
    found = step_warnings([1.0, 1.01, 0.99, 1.0, 1.2, 1.21, 1.2, 1.19])
    assert found[0] == ("throttling", "steps took 20% longer from step 4 on")
    assert not any(warning.rule == "drift" for warning in found)


def test_noise_without_order_is_imprecise_only():
    assert names([1.0, 1.3, 0.9, 1.2, 1.1, 1.25, 1.0, 1.15]) == ["imprecise"]


def judge(seconds):
    flags = "--instance w --framework tensorflow --model mnist_mlp --batch-size 128 --gpus 1 --precision fp32"
    request = parse_request([*flags.split(), "--variant", "default", "--run", "1", "--output", "unused"])
    return judged(request, even(seconds), {})


def test_a_trainer_that_was_stopped_for_four_seconds_is_disturbed_and_unstable():
    # 3,000 steps of 1.8 ms (128 / 0.0018 = 71,111 samples/s) and one of 4 s: (3000 x 0.0018 + 4) / 3001 = 3.132 ms,
    # 74 % above the median, 40,863 samples/s
    steps = [0.0018] * 1500 + [4.0] + [0.0018] * 1500
    status, found = judge(steps)
    assert status == "unstable"
    assert found[0] == (
        "disturbed",
        "the mean step is 74% above the median of 0.0018 s: "
        "1 of 3001 steps took over 1.5 times the median, the longest 4 s",
    )


@pytest.mark.parametrize(
    ("steps", "disturbed"),
    [
        ([1, 1, 1, 1, 1.4], False),  # mean 1.08: within a tenth of the median
        ([1, 1, 1, 1, 1.6], True),  # mean 1.12
        ([1, 1, 1, 1, 0.2], False),  # one that is too quick does not make a figure too slow
        ([3, 1, 1, 1, 1], True),  # mean 1.4: a slow first step spoils the mean like any other
        ([1, 1, 5], True),  # mean 2.33, median 1
    ],
)
def test_a_run_is_disturbed_where_its_mean_is_a_tenth_above_its_median(steps, disturbed):
    status, found = judge([float(step) for step in steps])
    assert ("disturbed" in [warning.rule for warning in found]) is disturbed
    assert status == ("unstable" if disturbed else "ok")


def test_two_levels_are_throttling_and_not_called_disturbed_too():
    # mean 1.2, median 1.0: the second level is the reason, and is named
    assert names([1.0, 1.01, 0.99, 1.0, 1.0, 1.01, 0.99, 1.8, 1.81]) == ["throttling", "imprecise"]


@given(st.floats(0.001, 100), st.integers(3, 40))
def test_equal_steps_never_warn(value, count):
    assert step_warnings([value] * count) == []


def test_of_many_steps_drift_and_throttling_are_found_without_a_look_at_each_pair():
    random = np.random.default_rng(11)
    steady = 1e-4 * (1 + 0.3 * random.standard_normal(40_000))
    assert names(steady) == []
    assert names(steady * np.linspace(1.0, 1.2, 40_000)) == ["drift"]
    throttled = steady * np.where(np.arange(40_000) < 30_000, 1.0, 1.5)
    (found,) = (warning for warning in step_warnings(throttled) if warning.rule == "throttling")
    # forty steps together: their mean is known to 0.3 / sqrt(40) = 5 %, so the two levels part where they meet
    assert found.message.endswith("from step 30000 on")
