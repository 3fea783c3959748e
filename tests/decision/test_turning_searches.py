"""Where a search for turning points might stop too soon: a third way that turns first, a bound close by."""

import pytest
from three_kinds import SHARE, Market, hourly, named, own, price


def turns(question, quantity, side):
    """The turning points of the assumptions of a quantity, on one side of what is planned."""
    return [
        (turn, one)
        for one, found in question.turns.items()
        for turn in found
        if one.quantity == quantity and (turn.factor > 1) == (side > 0)
    ]


def test_more_jobs_turn_to_the_way_that_gains_most_by_each_though_another_is_nearer():
    """200 h a month. Rented at 6: 1,200. `near`: 180 + 5.4 an hour = 1,260, which pays from 300 h. `far`: 1,176 + 0.6
    an hour = 1,296, which pays from 1,176 / 5.4 = 217.8 h on.
    """
    near, far = own("near", capex=130 * 36.0, kw=27.0), own("far", capex=1126 * 36.0, kw=3.0)
    question = price(Market((near, far, hourly("rented", 6.0)))).dispatch()
    assert question.choices[0].option == "rented"
    ((turn, _),) = turns(question, "per_month", +1)
    assert turn.factor == pytest.approx(1176 / 5.4 / 200, rel=1e-6)
    assert named(question, turn) == "far"


def test_days_of_use_are_looked_at_up_to_those_of_a_month():
    """Of a month's 30.5 days 23.33 (560 h) are planned: factors up to 1.31. The box costs 1,050 a month and 0.2 an
    hour; beside 2.0 an hour it pays from 1,050 / 1.8 = 583.3 h.
    """
    question = price(Market((own(days_per_month=560 / 24), hourly("rented", 2.0)))).question(SHARE)
    assert question.choices[question.best].option == "rented"
    ((turn, one),) = turns(question, "days_per_month", +1)
    assert one.most == 30.5
    assert turn.factor == pytest.approx(1050 / 1.8 / 560, rel=1e-9)
