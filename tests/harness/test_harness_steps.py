"""What the times of steps tell: the stop rule, and the named warnings, on series with a known fault."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sweetspot.harness.steps import T_975, half_width, may_stop, step_warnings

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


@given(st.floats(0.001, 100), st.integers(3, 40))
def test_equal_steps_never_warn(value, count):
    assert step_warnings([value] * count) == []
