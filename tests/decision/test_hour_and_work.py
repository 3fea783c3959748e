"""The cheapest hour beside the cheapest work."""

import pandas as pd
import pytest
from answer_options import box, option, spot
from sweetspot.decision.contenders import contenders
from sweetspot.decision.counted import words_of
from sweetspot.decision.hour_and_work import hour_and_work

FAST = option("fast one", 7.0, hours=0.1)  # 70 USD an hour
SLOW = option("Slow", 10.0, hours=0.5)  # 20 USD an hour


def told(*rows, counts="train"):
    who = contenders(pd.DataFrame(list(rows)), None)
    return hour_and_work(who, words_of(counts))


def test_the_dearest_hour_that_makes_the_cheapest_work_is_said():
    assert told(FAST, SLOW) == [
        "The cheapest hour is not the cheapest work.",
        "Slow asks 20.0 USD an hour and 10.0 USD for all of it.",
        "the fast one asks 70.0 USD an hour and 7.00 USD for all of it.",
    ]


@pytest.mark.parametrize(
    "others",
    [
        [],  # nobody to compare with
        [option("Slow", 7.6, hours=0.5)],  # 15.2 USD an hour, and its work costs 1.09 times as much
        [option("Near", 9.0, hours=9.0 / 60)],  # 60 USD an hour: 70 is 1.17 times that
        [spot("Spot", 10.0, hours=0.5)],  # can be taken away
        [box("Own", 10.0, hours=0.5)],  # has no price of an hour that anybody asks
    ],
)
def test_it_is_not_said_where_the_hour_tells_the_same_or_is_no_rent(others):
    assert told(FAST, *others) == []


def test_just_beyond_both_bounds_it_is_said():
    assert told(FAST, option("Slow", 7.8, hours=7.8 / 58))  # 58 x 1.2 = 69.6; 7.0 x 1.1 = 7.7


def test_what_is_paid_by_the_month_has_no_hours_to_compare():
    assert told(FAST, SLOW, counts="month") == []
