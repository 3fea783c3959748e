"""EVPPI from draws against cases with a closed form, and cases worked by hand."""

import numpy as np
import pytest
from scipy.stats import norm
from sweetspot.decision.analyses import _basis, partial_value

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


def uniform(low, high):
    return np.random.default_rng(3).uniform(low, high, MANY)


def against(usd, rivals, figure):
    return partial_value(np.stack([usd, *(np.broadcast_to(rival, MANY) for rival in rivals)]), figure)


A, B, Z, NOISE = normals((100, 15), (105, 20), (0, 1), (0, 30))
ONE, U = normals((100, 20))[0], uniform(0, 100)


@pytest.mark.parametrize(("usd", "rivals", "figure", "expected"), [
    # A ~ N(100, 15), B ~ N(105, 20): A alone is the loss of spread 15 at 5 apart; both, of hypot(15, 20) = 25
    (A, [B], A, loss(15, 5)),
    (A, [B], B, loss(20, 5)),
    (A, [B], A - B, loss(25, 5)),
    # N(100, 20) and 110: z = 0.5, 20 (phi(0.5) - 0.5 Phi(-0.5)) = 20 x (0.35207 - 0.15427)
    (ONE, [110.0], ONE, 3.956),
    # high on both sides: x^2 and 1, both 1 on average; E[min(x^2, 1)] = 1 - 2 phi(1). No line sees it
    (Z**2, [1.0], Z, 2 * norm.pdf(1)),
    # U(0, 100) under noise that cannot be known, and 60: E[min(a, 60)] = 18 + 24 = 42 of 50
    (U + NOISE, [60.0], U, 8.0),
    # x log-normal, median 10, s = 0.3; 1000 / x and 120: a call at 120 on exp(N(ln 100, 0.3)), Black's formula:
    # mean 104.60, d1 = -0.3077, d2 = -0.6077: 104.60 x 0.37914 - 120 x 0.27168
    (100 / np.exp(0.3 * Z), [120.0], np.exp(0.3 * Z), 7.057),
    # x ~ U(0, 100), 40 and 100 - x: the least is x below 40, 40 to 60, then 100 - x: 8 + 8 + 8 = 24 of 40
    (U, [40.0, 100 - U], U, 16.0),
])  # fmt: skip
def test_closed_forms(usd, rivals, figure, expected):
    close(against(usd, rivals, figure), expected)


@pytest.mark.parametrize(("usd", "rivals", "figure"), [
    (ONE, [100.0], np.full(MANY, 7.0)),  # a figure that does not vary
    (ONE, [ONE + 1, ONE + 5], ONE),  # what moves all alike
    (uniform(50, 150), [200.0], uniform(50, 150)),  # a choice that is always the cheapest
])  # fmt: skip
def test_what_cannot_change_the_choice_is_worth_nothing(usd, rivals, figure):
    found = against(usd, rivals, figure)
    assert (found.worth, found.error) == (0.0, 0.0)


def test_a_figure_of_two_values_by_hand():
    # A costs 10 or 30 (half each, mean 20), B 22: known, 10 or 22, mean 16: worth 4, whatever else is off
    x = np.tile([1.0, 1.0, 3.0, 3.0], MANY // 4)
    assert partial_value(np.stack([10 * x, np.full(MANY, 22.0)]), x).worth == pytest.approx(4.0, rel=1e-9)


def test_the_fit_bends_at_six_shares_of_the_draws():
    """0 to 100: mean 50, standard deviation sqrt((101^2 - 1) / 12), of which 5, 20 ... 95 % are themselves."""
    x = (np.arange(101.0) - 50) / np.sqrt(850)
    bends = [np.maximum(x - x[share], 0) for share in (5, 20, 40, 60, 80, 95)]
    assert _basis(np.arange(101.0)) == pytest.approx(np.column_stack([np.ones(101), x, *bends]))
