"""Widths of intervals by hand."""

import math

import numpy as np
import pytest
from sweetspot.throughput.calibration import calibrate


@pytest.mark.parametrize(
    ("level", "reached"),
    [(0.13, 1.0), (0.14, 2.0), (0.27, 2.0), (0.28, 3.0), (0.41, 3.0), (0.42, 4.0), (0.55, 4.0), (0.56, 5.0),
     (0.9, 5.0)],
)  # fmt: skip
def test_a_family_of_four_weighs_as_two_and_the_next_figure_is_beyond_all(level, reached):
    """Weights of 1/2 each and 1, their mean of 0.6 for the next: shares 0.139, 0.278, 0.417, 0.556, 0.833."""
    assert calibrate(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([*"aaaab"]), level) == reached


@pytest.mark.parametrize(("level", "reached"), [(0.27, 0.5), (0.28, 1.0), (0.41, 1.0), (0.42, 2.0)])
def test_the_order_of_rows_plays_no_part(level, reached):
    # The family of one is now the least: 1 / 3.6 = 0.278, then 0.417.
    assert calibrate(np.array([4.0, 1.0, 0.5, 3.0, 2.0]), np.array([*"aabaa"]), level) == reached


def test_without_an_error_there_is_no_width():
    assert math.isnan(calibrate(np.array([]), np.array([]), 0.9))
