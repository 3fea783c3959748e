"""`python -m research compare-results`: what is paired with what and what is a difference, in tables made by hand."""

import math

import pandas as pd
import pytest

from research.compare_results import difference


def costs(**changes):
    columns = {"instance": ["a", "a", "b"], "purchase": ["on_demand", "spot", "on_demand"], "usd": [1.0, 0.25, 3.0]}
    return pd.DataFrame(columns | {"hours": [10.0, 10.0, 7.5]} | changes)


def test_rows_are_paired_by_their_names_and_the_largest_relative_difference_is_named():
    assert difference(costs(), costs().iloc[[2, 0, 1], [3, 2, 1, 0]], 1e-9).same_figures
    # 3.0 -> 3.3 is 0.3 / 3.3 = 1/11; 10 -> 10.1 is 0.1 / 10.1, smaller; a figure that goes is infinitely different
    found = difference(costs(), costs(usd=[1.0, 0.25, 3.3], hours=[10.1, 10.0, 7.5]).iloc[::-1], 1e-9)
    assert (found.moved, found.figures, found.largest) == (2, 6, pytest.approx(1 / 11))
    assert found.worst.row == {"instance": "b", "purchase": "on_demand"}
    assert difference(costs(), costs(usd=[1.0, math.nan, 3.0]), 1e-9).largest == math.inf
    gone = difference(costs(), costs().iloc[1:], 1e-9)
    assert gone.only_before == ({"instance": "a", "purchase": "on_demand"},) and not gone.same_figures
