"""EVPPI from draws against cases with a closed form, and cases worked by hand."""

import numpy as np
import pytest
from scipy.stats import norm
from sweetspot.decision.known_value import partial_value, without_selection

MANY, ERRORS = 40_000, 4.0  # draws; standard errors that an estimate may be off


def normals(*moments, seed=11):
    source = np.random.default_rng(seed)
    return [source.normal(mean, spread, MANY) for mean, spread in moments]


def loss(spread, apart):
    """E[max(0, Z)] of Z ~ N(-apart, spread): the value of knowing the difference of two options."""
    z = apart / spread
    return spread * (norm.pdf(z) - z * norm.sf(z))


def close(found, expected):
    assert found.worth == pytest.approx(expected, abs=ERRORS * found.error)
    assert 0 < found.error < 0.1 * expected + 0.02


def test_of_two_normal_costs_each_is_worth_what_its_own_spread_is():
    # A ~ N(100, 15), B ~ N(105, 20): knowing A alone is the loss of spread 15 at 5 apart, not of the 25 of both
    a, b = normals((100, 15), (105, 20))
    costs = np.stack([a, b])
    close(partial_value(costs, a), loss(15, 5))
    close(partial_value(costs, b), loss(20, 5))
    # the difference itself: hypot(15, 20) = 25, perfect information about both
    close(partial_value(costs, a - b), loss(25, 5))


def test_a_speed_that_cost_goes_as_the_inverse_of():
    # x log-normal, median 10, s = 0.3; A = 1000 / x, B = 120: a call at 120 on exp(N(ln 100, 0.3)), Black's formula:
    # mean 104.60, d1 = -0.3077, d2 = -0.6077: 104.60 x 0.37914 - 120 x 0.27168 = 7.057
    x = 10 * np.exp(0.3 * normals((0, 1))[0])
    close(partial_value(np.stack([1000 / x, np.full(MANY, 120.0)]), x), 7.057)


def test_a_figure_of_two_values_by_hand():
    # A costs 10 or 30 (half each, mean 20), B 22: known, 10 or 22, mean 16: worth 4, whatever else is off
    x = np.tile([1.0, 1.0, 3.0, 3.0], MANY // 4)
    assert partial_value(np.stack([10 * x, np.full(MANY, 22.0)]), x).worth == pytest.approx(4.0, rel=1e-9)


def test_three_options_each_the_best_somewhere():
    # x ~ U(0, 1): A = 100 x, B = 40, C = 100 (1 - x): min is 100 x below 0.4, 40 to 0.6, then 100 (1 - x):
    # 8 + 8 + 8 = 24 against 40 (B): worth 16
    x = np.random.default_rng(5).uniform(0, 1, MANY)
    close(partial_value(np.stack([100 * x, np.full(MANY, 40.0), 100 - 100 * x]), x), 16.0)


def test_a_figure_that_cannot_change_the_choice_is_worth_nothing():
    x = np.random.default_rng(6).uniform(50, 150, MANY)
    found = partial_value(np.stack([x, np.full(MANY, 200.0)]), x)
    assert (found.worth, found.error, found.halves) == (0.0, 0.0, (0.0, 0.0))


def test_the_standard_error_is_that_of_repeated_estimates():
    estimates, errors = [], []
    for seed in range(60):
        (a,) = normals((100, 20), seed=seed)
        found = partial_value(np.stack([a[:2000], np.full(2000, 110.0)]), a[:2000])
        estimates.append(found.worth)
        errors.append(found.error)
    assert np.std(estimates) == pytest.approx(np.mean(errors), rel=0.35)
    assert np.mean(estimates) == pytest.approx(3.956, abs=4 * np.mean(errors) / np.sqrt(60))


def many_small(seed, figures=40, draws=4000):
    """A = 100 + forty normals of sd 2, B = 101: knowing one of them is worth the loss of sd 2 at 1 apart, 0.396."""
    x = np.random.default_rng(seed).normal(0, 2, (figures, draws))
    costs = np.stack([100 + x.sum(axis=0), np.full(draws, 101.0)])
    return [partial_value(costs, one) for one in x]


def test_the_first_of_many_small_worths_is_not_the_largest_error():
    # All forty are worth 0.396. The largest of forty estimates with a standard error of 0.11 is some 50 % too high;
    # what one half of the draws names first is worth by the other half what it is worth.
    expected = loss(2, 1)
    naive, corrected, error = [], [], []
    for seed in range(12):
        found = many_small(seed)
        naive.append(max(value.worth for value in found))
        corrected.append(without_selection(np.array([value.halves for value in found])).max())
        error.append(np.mean([value.error for value in found]))
    assert expected == pytest.approx(0.396, abs=0.001)
    assert np.mean(naive) > 1.35 * expected
    assert np.mean(corrected) == pytest.approx(expected, abs=ERRORS * np.mean(error) / np.sqrt(12))
    assert max(corrected) < expected + ERRORS * np.mean(error)


def test_ranks_are_crossed_by_hand():
    # By the first half: b, a, c; by the second: a, b, c. Rank 1: b's second and a's first half (3 + 4) / 2; rank 2: a's
    # second and b's first (6 + 5) / 2, above rank 1, so both (3.5 + 5.5) / 2 = 4.5; rank 3: (-1 - 3) / 2, so 0.
    halves = np.array([[4.0, 6.0], [5.0, 3.0], [-3.0, -1.0]])
    assert without_selection(halves).tolist() == [4.5, 4.5, 0.0]
    assert without_selection(np.empty((0, 2))).tolist() == []
