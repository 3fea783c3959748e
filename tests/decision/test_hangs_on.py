"""Whose figure an answer hangs on most: of the machine that is taken, or of the one that it is held against."""

from types import SimpleNamespace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, settings
from sweetspot.decision.hangs_on import OF_A_MACHINE, OF_ALL, hangs_on
from sweetspot.decision.options import build_options
from sweetspot.decision.tornado import OWNED_PARAMETERS, tornado


def who(cheapest, rival=RENTED):
    return SimpleNamespace(
        reference={"model": "vgg16", "option": BOX}, alternative={"option": rival}, cheapest={"option": cheapest}
    )


def row(quantity, subject):
    return pd.DataFrame(
        [{"model": "vgg16", "reference": BOX, "rival": RENTED, "quantity": quantity, "subject": subject}]
    )


@pytest.mark.parametrize(
    ("quantity", "subject", "cheapest", "said"),
    [
        ("capex_usd", BOX, BOX, "its price"),
        ("capex_usd", BOX, RENTED, "the other's price"),
        ("usd_per_hour", RENTED, BOX, "the other's price"),
        ("images_per_s", RENTED, RENTED, "its speed"),
        ("days_per_month", None, BOX, "the days of use"),
        ("usd_per_hour", None, BOX, "rental prices"),
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
    table = tornado(options, 30.5)
    subjects = dict(zip(table["assumption"], table["subject"], strict=True))
    assert subjects[f"price of {BOX}"] == BOX and subjects[f"price of {RENTED}"] == RENTED
    assert pd.isna(subjects["days of use a month"])
    for one in table.to_dict("records"):
        assert one["quantity"] in (OF_ALL if pd.isna(one["subject"]) else OF_A_MACHINE)
    known = {name for name, (said, _) in OWNED_PARAMETERS.items() if "{box}" in said}
    assert known <= set(OF_A_MACHINE) and set(OWNED_PARAMETERS) - known <= set(OF_ALL)
