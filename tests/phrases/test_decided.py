"""How far a figure is from the plan, and with which unit, in words."""

import pytest
from sweetspot.phrases.decided import in_unit, off_plan


@pytest.mark.parametrize(
    ("factor", "words"),
    [(1.12, "12 % higher than planned"), (0.2, "80 % lower than planned"), (2.24, "2.2 times what is planned")],
)
def test_how_far_a_factor_is_from_the_plan(factor, words):
    assert off_plan(factor) == words


@pytest.mark.parametrize(
    ("name", "value", "unit", "words"),
    [("price of B", 0.63, "USD/hour", "0.63 USD an hour"), ("care of B", 60.0, "USD/month", "60 USD a month"),
     ("runs a month", 51.0, "jobs/month", "51 jobs")],
)  # fmt: skip
def test_a_figure_has_its_unit_once(name, value, unit, words):
    assert in_unit(value, unit, name) == words
