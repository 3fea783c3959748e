"""Axes of the first page: where values stand, which bars lie beyond, and labels."""

import pandas as pd
import pytest
from sweetspot.report.marks import log_axis
from sweetspot.report.outcome import ValueRange
from sweetspot.report.scales import Axis, cost_axis, short_amount
from sweetspot.wording import Money


def test_a_value_stands_in_proportion_and_a_bar_is_never_invisible():
    axis = Axis(0.8, 1.3)
    assert (axis.at(0.8), axis.at(0.9), axis.at(1.3)) == ("0", "20", "100")  # 0.1 of 0.5
    assert (axis.width(0.9, 1.2), axis.width(1.0, 1.0)) == ("60", "0.8")
    assert Axis(0, 2, start=216, end=24).at(1) == "120"  # pixels from the top: (216 + 24) / 2
    assert Axis(1, 1).at(1) == "0"


@pytest.mark.parametrize(("maximum", "expected"), [
    (100, [0, 25, 50, 75, 100]), (1.0, [0, 0.25, 0.5, 0.75, 1.0]), (3000, [0, 1000, 2000, 3000]), (7, [0, 2, 4, 6])
])  # fmt: skip
def test_ticks_are_round(maximum, expected):
    assert Axis(0, maximum).ticks() == expected


@pytest.mark.parametrize(("bars", "reference", "maximum"), [
    ([(10, 12), (30, 33)], 30, 33), ([(10, 12), (50, 60)], 10, 12), ([(10, 12), (50, 60)], 50, 60),
    ([(10, None), (40, 45), (41, 50)], 10, 45), ([], 0, 1)
])  # fmt: skip
def test_what_costs_over_four_times_what_is_compared_lies_beyond_the_axis(bars, reference, maximum):
    usd = [ValueRange(value=value, low=None, high=high) for value, high in bars]
    axis = cost_axis(usd, reference, Money("EUR", 2.0))
    assert axis.maximum == maximum / (2 if bars else 1)  # a EUR is 2 USD


@pytest.mark.parametrize(("value", "said"), [
    (0, "0"), (800, "800"), (0.25, "0.25"), (2500, "2,500"), (12_000, "12 k"), (999_499, "999 k"), (1_200_000, "1.2 M")
])  # fmt: skip
def test_amounts_on_an_axis_are_short(value, said):
    assert short_amount(value) == said


@pytest.mark.parametrize(("ends", "ticks"), [
    ((3.0, 3.4), [3, 3.1, 3.2, 3.3, 3.4]),  # evenly spaced where the highest is less than five times the lowest
    ((3.0, 3.5), [3, 3.2, 3.4, 3.6]), ((2.0, 8.0), [2, 4, 6, 8]),
    ((2.0, 40.0), [1, 3, 10, 30, 100, 300]), ((5.0, 5.0), [5])
])  # fmt: skip
def test_a_logarithmic_axis_has_round_ticks(ends, ticks):
    assert log_axis(pd.Series(ends)).to_dict()["values"] == pytest.approx(ticks)
