"""What the times of steps tell: the stop rule, and the named warnings, on series with a known fault."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sweetspot.harness.request import parse_request
from sweetspot.harness.steps import T_975, half_width, may_stop, step_warnings
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


def test_a_run_that_speeds_up_evenly_drifts_too():
    assert "-" in step_warnings([1.18 - 0.01 * step for step in range(10)])[0].message


def test_a_clock_that_falls_by_a_fifth_is_throttling_not_drift():
    found = step_warnings([1.0, 1.01, 0.99, 1.0, 1.2, 1.21, 1.2, 1.19])
    assert found[0] == ("throttling", "steps took 20% longer from step 4 on")
    assert not any(warning.rule == "drift" for warning in found)


def test_noise_without_order_is_imprecise_only():
    assert names([1.0, 1.3, 0.9, 1.2, 0.95, 1.25, 1.0, 1.3]) == ["imprecise"]


def judge(seconds):
    flags = "--instance w --framework tensorflow --model mnist_mlp --batch-size 128 --gpus 1 --precision fp32"
    request = parse_request([*flags.split(), "--variant", "default", "--run", "1", "--output", "unused"])
    return judged(request, seconds, {})


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
