"""The two probabilities by hand: of all, and than one other; what costs the same shares nothing."""

import numpy as np
import pytest
from sweetspot.draws import interval, p_cheaper, shares, spread, stream

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("usd", "alternatives", "expected"),
    [  # a is the cheapest of two cases, b of one
        ([[1, 1, 3], [2, 2, 2]], "ab", {"a": 2 / 3, "b": 1 / 3}),
        # the third case is a tie: both are, and the shares add up to more than 1
        ([[1, 3, 2], [2, 2, 2]], "ab", {"a": 2 / 3, "b": 2 / 3}),
        # seven providers at one price leave nothing out: a certain answer is certain
        ([[5, 6]] * 7 + [[9, 9]], "abcdefgh", dict.fromkeys("abcdefg", 1.0) | {"h": 0.0}),
        # two rows of one alternative count once
        ([[1, 3, 1], [3, 1, 1], [2, 2, 2]], "aab", {"a": 1.0, "b": 0.0}),
        # a millionth dearer is the same, two are not; of negative costs too
        ([[1.0, 1.0], [1.0 + 0.9e-6, 1.0 + 2e-6]], "ab", {"a": 1.0, "b": 0.5}),
        ([[-1.0, -1.0], [-1.0 + 0.9e-6, -1.0 + 2e-6]], "ab", {"a": 1.0, "b": 0.5}),
        # what never does the work is never the cheapest, and where nothing does nobody is
        ([[INF, 1, INF, 0], [2, NAN, NAN, 0]], "ab", {"a": 0.5, "b": 0.5}),
        ([[INF, 0.0], [INF, 0.9e-6]], "ab", {"a": 0.5, "b": 0.0})]
)  # fmt: skip
def test_the_cheapest_of_all(usd, alternatives, expected):
    assert shares(np.array(usd, dtype=float), list(alternatives)) == pytest.approx(expected)


def test_the_tolerance_is_as_stated():
    usd = np.array([[100.0, 100.0], [100.9, 101.1]])
    assert shares(usd, ["a", "b"], 0.01) == {"a": 1.0, "b": 0.5}
    assert (p_cheaper(usd[0], usd[1], 0.01), p_cheaper(usd[1], usd[0], 0.01)) == (0.75, 0.25)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 3, 2, 2], [2, 2, 2, 3], 2.5 / 4),  # cheaper, dearer, a tie, cheaper
        ([1, 1], [1, 1 + 0.9e-6], 0.5),
        ([1, INF, INF, NAN], [INF, 1, INF, NAN], 0.5),  # cheaper, dearer, and twice neither does the work
        ([0, 0], [0, 1], 0.75),
        ([-1, 1], [1, -1], 0.5),
    ],
)
def test_cheaper_than_one_other_and_both_orders_add_to_one(one, other, expected):
    usd = np.array([one, [7] * len(one), other], dtype=float)
    assert p_cheaper(usd[0], usd[2]) == expected
    assert p_cheaper(usd[0], usd[2]) + p_cheaper(usd[2], usd[0]) == 1.0


def test_an_interval_is_of_two_draws_of_each_row_and_orders_what_never_ends():
    rows = np.array([np.arange(101)[::-1], 200 + np.arange(101)], dtype=float)
    low, high = interval(rows)
    assert (low.tolist(), high.tolist()) == ([5, 205], [95, 295])
    half = interval(rows[0], 0.5)
    assert half == (25, 75)
    assert interval(np.array([1.0, *[INF] * 20])) == (INF, INF)


def test_a_figure_at_the_ends_of_its_noise_is_at_the_ends_of_its_interval():
    # the 5th and 95th percentile of a standard normal, and twice that: the factor squared, each side by itself
    noise = np.array([-2 * 1.6448536, -1.6448536, 0.0, 1.6448536, 2 * 1.6448536])
    assert spread(10.0, 8.0, 15.0, 0.9, noise) == pytest.approx([6.4, 8.0, 10.0, 15.0, 22.5], rel=1e-6)
    far = spread(10.0, 8.0, 15.0, 0.9, np.array([-99.0, 99.0]))
    assert far == pytest.approx([1.0, 100.0])  # a factor of ten at most
    # t with 3 degrees of freedom: 2.353363 at 95 %
    assert spread(10.0, 8.0, 15.0, 0.9, np.array([2.353363]), 3) == pytest.approx([15.0], rel=1e-6)
    for ends in ((11.0, 15.0), (8.0, 9.0), (0.0, 15.0)):  # no interval around it, or not positive
        assert spread(10.0, *ends, 0.9, noise).tolist() == [10.0] * 5


def test_the_last_bits_of_a_figure_do_not_change_its_samples():
    by_one_sum, by_another = 0.1 + 0.2, 0.3  # 0.30000000000000004 and 0.3
    assert by_one_sum != by_another
    assert stream(7, "price", by_one_sum).random() == stream(7, "price", by_another).random()
    assert stream(7, "price", 0.3).random() != stream(7, "price", 0.30001).random()
