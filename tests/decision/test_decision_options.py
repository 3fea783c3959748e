"""Front, surface, tornado, verdict and warnings; expected values worked on paper."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from decision_tables import BOX, inputs, plan_rows, settings
from sweetspot.decision.compare import compare
from sweetspot.decision.ranks import dominates
from sweetspot.scaling.evidence import super_linear
from sweetspot.warnings import warning

# From test_decision.py: the rented work of one box hour is 3.06 x 498 / 225 = 6.7728 USD on demand, and with the spot
# price 1.11 x 498 / 225 = 2.4568 USD; a box hour costs 216.667 / (24 d) + 0.20.
HOUR, FIXED = 6.7728, 6500 / 30


@pytest.fixture(scope="module")
def found():
    return compare(inputs(), settings())


def test_dominance_needs_no_worse_and_once_better():
    # a (1, 4), b (2, 2), c (2, 3), d (2, 2): b and d dominate c; equals do not dominate each other
    matrix = dominates(np.array([[1, 4], [2, 2], [2, 3], [2, 2]], float))
    assert matrix.tolist() == [
        [False, False, False, False],
        [False, False, True, False],
        [False, False, False, False],
        [False, False, True, False],
    ]


def test_the_front_names_what_dominates(found):
    # the box is faster (498 against 225) and cheaper than both offers of p3.2xlarge
    front = found["frontier"].set_index("option")
    assert front["on_front"].to_dict() == {BOX: True, "p3.2xlarge (spot)": False, "p3.2xlarge": False}
    assert front.loc["p3.2xlarge", "dominated_by"] == BOX
    # The box's speed is extrapolated, on-demand's is not: with risks nothing dominates it; spot adds a risk of its own
    assert front.loc["p3.2xlarge", "on_front_with_risk"] and front.loc["p3.2xlarge (spot)", "on_front_with_risk"]
    assert front.loc[BOX, "risk"] == "extrapolated" and front.loc["p3.2xlarge (spot)", "risk"] == "interruption"


def test_chance_of_being_on_the_front_follows_the_draws(found):
    # spot and on demand have one speed and on demand always costs more: it is on the front in no draw
    front = found["frontier"].set_index("option")
    assert front.loc["p3.2xlarge", "p_on_front"] == 0.0
    assert front.loc[BOX, "p_on_front"] == 1.0


def test_the_surface_has_the_planned_point_and_the_corner_where_renting_wins(found):
    surface = found["surface"].set_index(["days", "months", "usd_per_kwh"])
    assert surface.loc[(10, 30, 0.2), "ratio"] == pytest.approx(HOUR / (FIXED / 240 + 0.20), rel=1e-4)
    # 1 day, 6 months, 0.60 USD/kWh: 6500/6/24 + 0.60 = 45.739 USD an hour
    corner = surface.loc[(1, 6)].iloc[-1]
    assert corner["ratio"] == pytest.approx(HOUR / (6500 / 6 / 24 + 0.60), rel=1e-4)
    assert corner["winner"] == "p3.2xlarge"
    # break-even for 60 months without electricity: 6500/60/24/6.7728 = 0.66647 days
    assert surface.loc[(1, 60, 0.0), "break_even_days"] == pytest.approx(0.66647, abs=1e-4)


def test_the_condition_under_which_the_box_never_pays(found):
    # used 30.5 days: 216.667/732 = 0.29599 + 0.20 = 0.49599 USD an hour; x 3.06 / 6.7728 = 0.22409 USD asked;
    # or electricity above 6.7728 - 0.29599 = 6.4768 USD/kWh
    text = found["surface"]["condition"].iloc[0]
    assert "if p3.2xlarge costs 0.224 USD an hour or less (now 3.06)" in text
    assert "if electricity costs more than 6.48 USD/kWh (now 0.2)" in text
    row = found["break_even"].set_index("option").loc["p3.2xlarge"]
    assert row["never_below_usd_per_hour"] == pytest.approx(0.22409, abs=1e-5)
    assert row["never_above_usd_per_kwh"] == pytest.approx(6.4768, abs=1e-4)


def test_surface_and_tornado_say_titles_as_a_sentence_does():
    titles = {BOX: "office box with 4 GPUs", "p3.2xlarge": "AWS p3.2xlarge"}
    said = compare(inputs(), replace(settings(), titles=titles))
    condition = said["surface"]["condition"].iloc[0]
    assert condition.startswith("Even used every day, the office box with 4 GPUs never pays for ")
    assert "if AWS p3.2xlarge costs 0.224 USD an hour or less" in condition
    assumptions = set(said["tornado"]["assumption"])
    assert {"price of the office box with 4 GPUs", "price of AWS p3.2xlarge"} <= assumptions
    assert not any(BOX in name for name in assumptions)


def test_the_tornado_s_turning_points_are_those_of_the_formula(found):
    rows = compare(inputs(price_p3=0.75), settings())["tornado"].set_index("assumption")
    hour, box = 0.75 * 498 / 225, FIXED / 240 + 0.20  # 1.66 and 1.102778 USD for the same work
    expected = {
        "price of p3.2xlarge": 0.75 * box / hour,
        f"speed of {BOX} on VGG-16": box / hour,
        "speed of card on VGG-16": hour / box,
        "days of use a month": FIXED / 24 / (hour - 0.20),  # 6.183
        "length of the project": 6500 / (240 * (hour - 0.20)),  # 18.55 months
        "electricity price": hour - FIXED / 240,  # 0.757 USD/kWh
        f"price of {BOX}": 30 * 240 * (hour - 0.20),  # 10,512 USD
    }
    for name, value in expected.items():
        assert rows.loc[name, "flip_value"] == pytest.approx(value, rel=1e-7), name
    assert rows.loc["days of use a month", "range_basis"] == "assumed"
    assert rows.loc[f"speed of {BOX} on VGG-16", "range_basis"] == "interval"
    assert np.allclose(rows["margin"], hour / box)
    # at 3.06 USD the margin is 6.14: nothing within a factor of five turns it
    assert np.allclose(found["tornado"]["margin"], 6.14158, rtol=1e-4) and found["tornado"]["flip_value"].isna().all()


def test_two_parameters_of_one_swing_keep_their_order(found):
    # months and days enter as their product only: 20 % of either swings alike, to the last digit or not
    order = list(found["tornado"]["assumption"])
    assert order.index("length of the project") + 1 == order.index("days of use a month")


def test_an_assumption_that_flips_the_winner_says_so():
    # at 0.60 USD an hour: 0.60 x 498/225 = 1.328 USD against 1.1028: margin 1.2042; days 5 to 15 declared:
    # 5 days: 216.667/120 + 0.2 = 2.0056, margin 0.662: p3.2xlarge wins there
    market = inputs(price_p3=0.60, box_more={"days_per_month_low": 5.0, "days_per_month_high": 15.0})
    days = compare(market, settings())["tornado"].set_index("assumption").loc["days of use a month"]
    assert days["flips"] and days["winner_low"] == "p3.2xlarge" and days["winner_high"] == BOX
    assert days["margin_low"] == pytest.approx(1.328 / 2.00556, rel=1e-4)
    # 216.667 / (24 x (1.328 - 0.20)) = 8.0033 days
    assert days["flip_value"] == pytest.approx(8.0033, abs=2e-4)
    assert days["text"] == "the cheapest option changes at 8 days a month (-20 %), inside its range"
    # and upwards: 30 x 240 x 1.128 = 8,121.6 USD, 25 % above 6,500; 1.328 - 0.902778 = 0.42522 USD/kWh
    rows = compare(market, settings())["tornado"].set_index("assumption")
    assert rows.loc[f"price of {BOX}", "text"] == "the cheapest option changes at 8,122 USD (+25 %), outside its range"
    assert rows.loc["electricity price", "flip_value"] == pytest.approx(0.42522, rel=1e-4)


def test_the_verdict_gives_ratio_and_probability(found):
    row = found["verdict"].iloc[0]
    assert row["best"] == BOX and row["rival"] == "p3.2xlarge" and row["confidence"] == "clear"
    assert row["ratio"] == pytest.approx(6.14158, rel=1e-4)
    assert row["p_cheaper"] == 1.0
    days = found["break_even"].set_index("option").loc["p3.2xlarge"]
    assert days["days"] == pytest.approx(1.3735, abs=2e-4) and "from 1.4 days of use a month" in row["do_this"]
    # spot at 1.11 / 225 against 1.1028 / 498 USD is no cheaper
    assert found["ranks"].set_index("rank")["option"][1] == BOX
    # the box is extrapolated in these tables and its rival published: the table says on which it hangs
    assert found["choices"].set_index("choice")["basis"][[BOX, "p3.2xlarge"]].tolist() == ["extrapolated", "published"]


def test_a_box_that_never_pays_says_from_which_price_of_its_rival_it_would():
    text = compare(inputs(price_p3=0.10), settings())["surface"]["condition"].iloc[0]
    assert text == (
        f"Even used every day, {BOX} never pays for VGG-16: p3.2xlarge costs 0.1 USD an hour, it would pay above 0.224"
    )


def test_a_price_that_stands_in_is_not_called_a_speed_that_does():
    # both speeds are published; the price of the rented machine is derived, so its composed cost is a stand-in
    market = inputs()
    offers = market.offers.assign(basis=["published", "stand_in", "published"])
    costs = market.costs.assign(basis=["published", "stand_in", "published"])
    box = market.extrapolation.drop(columns="method").assign(basis="published", headline=None)
    throughput = pd.concat([market.throughput, box.drop(columns="headline")], ignore_index=True)
    nobody = market.extrapolation.assign(instance="none")
    given = replace(market, offers=offers, costs=costs, throughput=throughput, extrapolation=nobody)
    found = compare(given, settings())
    rented = found["options"].set_index("option").loc["p3.2xlarge"]
    assert (rented["throughput_basis"], rented["price_basis"]) == ("published", "stand_in")
    assert not found["warnings"]["message"].str.contains("stand_in").any()


def test_two_near_equals_are_too_close_to_call():
    # 0.50 x 498/225 = 1.1067 USD against 1.1028 with speeds known to 12 %: nobody can tell
    found = compare(inputs(price_p3=0.50), settings())
    row = found["verdict"].iloc[0]
    assert (row["confidence"], {row["best"], row["rival"]}) == ("too close to call", {BOX, "p3.2xlarge"})
    assert 0.4 < row["p_cheaper"] < 0.6


def test_a_plan_s_phases_bear_their_share_of_the_possession():
    # possession 6500 USD; search uses 100 of 400 hours, training 300: 1625 and 4875 USD beside 20 and 60 of electricity
    market = inputs()
    cell = market.costs.iloc[0][["price_list", "instance", "purchase", "framework", "model", "batch_size", "gpus",
                                 "precision", "variant"]].to_dict()  # fmt: skip
    rented = market.costs.iloc[1][list(cell)].to_dict()
    rows = [
        {**cell, "phase": "search", "hours": 100.0, "usd": 20.0},
        {**cell, "phase": "training", "hours": 300.0, "usd": 60.0},
        {**cell, "phase": "possession", "hours": 0.0, "usd": 6500.0},
        {**cell, "phase": "total", "hours": 400.0, "usd": 6580.0},
        {**rented, "phase": "search", "hours": 50.0, "usd": 2000.0},
        {**rented, "phase": "training", "hours": 500.0, "usd": 9000.0},
        {**rented, "phase": "total", "hours": 550.0, "usd": 11000.0},
    ]
    found = compare(replace(market, plans=plan_rows(rows)), settings())["verdict"].set_index("workload").loc["project"]
    assert (found["best"], found["usd"]) == (BOX, pytest.approx(6580.0))
    assert found["ratio"] == pytest.approx(11000 / 6580)


def test_warnings_stand_beside_the_numbers():
    market = inputs()
    market.efficiency.loc[0] = ["vgg16", 64, 1.08, "measured"]
    efficiency = market.efficiency.assign(instance="two", base_instance="one", gpus=2, warnings=[super_linear(1.08)])
    stale = pd.DataFrame(
        [{"severity": "warning", "rule": "stale", "instance": "p3.2xlarge", "message": "old", "source": "x"}]
    )
    measured = market.throughput.assign(basis="measured", runs=1)
    measured["warnings"] = [[warning("n_is_1", "one run, no interval")]] * len(measured)
    changed = replace(market, efficiency=efficiency, price_lint=stale, throughput=measured)
    found = compare(changed, settings())["warnings"]
    assert set(found["rule"]) >= {"super_linear", "stale_price", "n_is_1", "no_interval", "mixed_protocol"}
    row = found[found["rule"] == "super_linear"].iloc[0]
    assert row["message"] == "efficiency 1.08 is above 1.05; the single-device figure is too slow"


def test_a_cost_takes_the_figure_of_its_own_framework():
    # the same machine, model and batch: 225 images/s by the framework that is priced, a hundred times that by another
    market = inputs()
    faster = market.throughput.assign(framework="jax", images_per_s=22_500.0, source="another framework")
    both = replace(market, throughput=pd.concat([faster, market.throughput], ignore_index=True))
    one, other = (compare(given, settings())["options"] for given in (market, both))
    assert other["images_per_s"].tolist() == one["images_per_s"].tolist()
    assert "another framework" not in set(other["throughput_source"])
