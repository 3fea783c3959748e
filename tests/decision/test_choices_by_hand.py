"""Choices of a work: what a price is worth in it, at which price of the box both cost the same, and its hours."""

import pandas as pd
import pytest
from decision_tables import BOX, inputs, settings
from phase_plans import compared, hourly, own, priced_plan
from sweetspot.decision.compare import compare
from sweetspot.decision.cost_rounds import priced_plans
from sweetspot.decision.options import build_options
from sweetspot.decision.simulate import simulate


def usd_of(**more):
    """USD of the job on the box and on what is rented, at central figures."""
    choices = compare(inputs(box_more=more), settings(), draws=50)["choices"].set_index("choice")
    return choices.loc[BOX, "usd"], choices.loc["p3.2xlarge", "usd"]


@pytest.mark.parametrize("terms", [{}, {"downtime_share": 0.1}])
def test_at_the_price_that_is_told_the_box_costs_what_renting_does(terms):
    verdict = compare(inputs(box_more=terms), settings(), draws=50)["verdict"].iloc[0]
    below = verdict["buy_below_usd"]
    assert verdict["box_usd"] == 6500.0 and below > 0
    box, rented = usd_of(**(terms | {"capex_usd": float(below)}))
    assert box == pytest.approx(rented, rel=1e-9)


def test_a_plan_takes_as_much_less_time_as_its_machine_is_faster():
    """100 images/s, 80 to 150 of 95 %: of 90 % the ends are 1.645 / 1.960 as far; hours go as one over the speed."""
    table = compared(own(), hourly(), speeds={"box": (100.0, 80.0, 150.0)}, draws=4000)["choices"]
    box, nearer = table[table["choice"] == "box"].iloc[0], 1.6449 / 1.9600
    assert box["hours_low"] / box["hours"] == pytest.approx((100 / 150) ** nearer, rel=0.02)
    assert box["hours_high"] / box["hours"] == pytest.approx((100 / 80) ** nearer, rel=0.02)


def test_plans_stay_in_the_order_of_the_file():
    tables, asked = priced_plan(own(), hourly())
    options = build_options(tables.costs, tables.offers, tables.throughput, tables.extrapolation, asked)
    both = pd.concat([tables.plans.assign(plan=name) for name in ("work", "a")])
    assert [one.name for one in priced_plans(options, simulate(options, 1, 2), both)] == ["work", "a"]
