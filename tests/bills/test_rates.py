"""What possession and an hour of use cost an option, and which option is the reference."""

from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, box_offer, cost, inputs, offer, settings
from sweetspot.bills.owning import usd_per_hour_of_use
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


def test_owning_is_what_the_offer_says():
    row = options_of(box_offer()).loc[BOX]
    assert row["fixed_usd_per_month"] == pytest.approx(6500 / 30)
    assert row["variable_usd_per_hour"] == pytest.approx(0.20)
    assert usd_per_hour_of_use(6500 / 30, 0.20, 10.0) == pytest.approx(1.102778, abs=1e-6)


def test_a_machine_that_is_down_a_fifth_of_the_time_bears_its_possession_in_the_rest():
    # 216.667 / 0.8 = 270.833 USD a month of use
    row = options_of(box_offer(downtime_share=0.2)).loc[BOX]
    assert row["fixed_usd_per_month"] == pytest.approx(270.8333, abs=1e-4)


def test_an_hour_of_spot_costs_its_price_times_the_overhead_of_interruptions():
    # 1.25 machine hours an hour of training: 1.11 x 1.25 = 1.3875 USD
    spot, steady = offer(RENTED, "spot", 1.11, spot_overhead=1.25), offer(RENTED, "on_demand", 3.06)
    options = options_of(spot, steady, reference=None)
    assert options["variable_usd_per_hour"].to_dict() == {
        "p3.2xlarge (spot)": pytest.approx(1.3875),
        "p3.2xlarge": pytest.approx(3.06),
    }
    assert (options["fixed_usd_per_month"] == 0.0).all()


def test_a_commitment_is_paid_by_the_hour_of_its_planned_use():
    # 300 USD a month whatever the use, planned 10 days: 300 / 240 + 0.50 = 1.75 USD an hour
    deal = {"fixed_usd_per_month": 300.0, "variable_usd_per_hour": 0.50, "days_per_month": 10.0}
    row = options_of(offer(RENTED, "committed", 1.75, **deal), reference=None).iloc[0]
    assert (row["fixed_usd_per_month"], row["variable_usd_per_hour"]) == (0.0, pytest.approx(1.75))


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


def test_without_a_reference_no_option_is_it():
    assert not options_of(box_offer(), reference=None)["is_reference"].any()
