"""Two programs compared (research/performance/turns.py): the ratio and its interval by hand."""

import math

import pytest
from harness_runs import ROOT


def test_the_ratio_and_its_interval_by_hand(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "research" / "performance"))
    import turns

    # Ratios 2 and 4: logarithms ln 2 and 2 ln 2, mean 1.5 ln 2, deviation ln 2 / sqrt(2), error ln 2 / 2;
    # Student's t of one degree of freedom 12.706.
    found = turns.ratio([2.0, 8.0], [1.0, 2.0])
    half = 12.706 * math.log(2) / 2
    assert found == pytest.approx((2**1.5, 2**1.5 * math.exp(-half), 2**1.5 * math.exp(half)))
