"""What possession and an hour of use cost an option, and which option is the reference."""

from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, box_offer, cost, inputs, offer, settings
from sweetspot.decision.options import build_options
from sweetspot.errors import UserError


def options_of(*entries, **changes):
    """Options of some offers of the small market; 498 images/s owned, 225 rented."""
    market = inputs()
    rate = {"own": (498.0, 4)}
    costs = pd.DataFrame([cost(entry, *rate.get(entry["purchase"], (225.0, 1))) for entry in entries])
    market = replace(market, costs=costs, offers=pd.DataFrame(list(entries)))
    options = build_options(market.costs, market.offers, market.throughput, market.extrapolation, settings(**changes))
    return options.set_index("option")


# 1.25 machine hours an hour of training: 1.11 x 1.25 = 1.3875 USD; 300 USD a month whatever the use, planned 10 days:
# 300 / 240 + 0.50 = 1.75 USD an hour; a box that is down a fifth of the time bears its possession in the rest
COMMITTED = {"fixed_usd_per_month": 300.0, "variable_usd_per_hour": 0.50, "days_per_month": 10.0}


@pytest.mark.parametrize(
    ("entry", "fixed", "variable"),
    [
        (box_offer(), 6500 / 30, 0.20),
        (box_offer(downtime_share=0.2), 6500 / 30 / 0.8, 0.20),
        (offer(RENTED, "spot", 1.11, spot_overhead=1.25), 0.0, 1.3875),
        (offer(RENTED, "on_demand", 3.06), 0.0, 3.06),
        (offer(RENTED, "committed", 1.75, **COMMITTED), 0.0, 1.75),
    ],
)
def test_what_possession_and_an_hour_of_use_cost(entry, fixed, variable):
    row = options_of(entry, reference=None).iloc[0]
    assert (row["fixed_usd_per_month"], row["variable_usd_per_hour"]) == pytest.approx((fixed, variable))
    assert not row["is_reference"]


def test_owning_without_days_of_use_is_refused():
    entry = box_offer() | {"days_per_month": None}
    with pytest.raises(UserError, match="study paper: offer 'own' of office-4x1080ti has no days_per_month"):
        options_of(entry)


@pytest.mark.parametrize(
    ("purchases", "reference"),
    [
        (["spot", "on_demand", "reserved"], "p3.2xlarge"),  # persistent, and the cheaper of two
        (["spot", "preemptible"], "p3.2xlarge (spot)"),  # the cheaper of two that can be taken away
    ],
)
def test_the_reference_is_persistent_where_it_can_be_and_then_the_cheapest(purchases, reference):
    prices = {"spot": 1.11, "preemptible": 1.50, "on_demand": 3.06, "reserved": 3.50}
    options = options_of(*(offer(RENTED, name, prices[name]) for name in purchases), reference=RENTED)
    assert list(options.index[options["is_reference"]]) == [reference]


def test_an_owned_reference_comes_before_a_cheaper_rented_one():
    rented = offer(BOX, "on_demand", 0.5)
    options = options_of(box_offer(), rented | {"price_list": "elsewhere"})
    assert options["is_reference"].sum() == 1
    assert options[options["is_reference"]]["purchase"].tolist() == ["own"]
