"""Whose figure an answer hangs on most: of the machine that is taken, or of the one that it is held against."""

from types import SimpleNamespace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, settings, tornado_of
from sweetspot.decision import assumption
from sweetspot.decision.assumption import ALL_JOBS, ALL_RENT, OF_THE_TEAM, SPEED, TARIFF
from sweetspot.decision.hangs_on import OF_A_MACHINE, OF_ALL, hangs_on
from sweetspot.decision.options import build_options


def who(cheapest, rival=RENTED):
    return SimpleNamespace(
        reference={"model": "vgg16", "option": BOX}, alternative={"option": rival}, cheapest={"option": cheapest}
    )


def row(quantity, subject):
    about = {"model": "vgg16", "best": BOX, "rival": RENTED, "assumption": "speed of card on VGG-16"}
    return pd.DataFrame([about | {"quantity": quantity, "subject": subject}])


@pytest.mark.parametrize(
    ("quantity", "subject", "cheapest", "said"),
    [
        ("capex_usd", BOX, BOX, "its price"),
        ("capex_usd", BOX, RENTED, "the other's price"),
        ("usd_per_hour", RENTED, BOX, "the other's price"),
        ("speed", "card|card|tensorflow", RENTED, "the speed of card on VGG-16"),
        ("days_per_month", None, BOX, "the days of use"),
        ("rents", None, BOX, "rental prices"),
        ("usd_per_kwh", "own", BOX, "the price of electricity"),
        ("rent_factor", None, RENTED, "how rents move"),
    ],
)
def test_whose_figure_it_is(quantity, subject, cheapest, said):
    assert hangs_on(row(quantity, subject), who(cheapest)) == said


def test_nothing_is_said_by_a_tornado_of_others():
    assert hangs_on(row("capex_usd", BOX), who(BOX, rival="another")) == ""


def test_every_assumption_of_the_tornado_has_words():
    market = inputs()
    options = build_options(market.costs, market.offers, market.throughput, market.extrapolation, settings())
    table = tornado_of(options)
    subjects = dict(zip(table["assumption"], table["subject"], strict=True))
    assert subjects[f"price of {BOX}"] == BOX and subjects[f"price of {RENTED}"] == RENTED
    assert pd.isna(subjects["days of use a month"])
    for one in table.to_dict("records"):
        assert one["quantity"] in {*OF_ALL, *OF_A_MACHINE, SPEED}
    assert set(assumption.OF_A_MACHINE) <= set(OF_A_MACHINE)
    assert {*OF_THE_TEAM, ALL_JOBS, ALL_RENT, TARIFF, "rent_factor"} == set(OF_ALL)
