"""Costs along the controls of the page, worked out by hand for a plan of phases and for jobs of months."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sweetspot.decision.analyses import controls, factors_of, sweep_rows
from sweetspot.decision.decision_problem import all_of
from three_kinds import DISPATCH, ROUNDS, Market, hourly, own, price

# 100 jobs of 2 hours for 36 months: 7,200 hours at 1 USD, or a box of 3,600 USD with 480 hours a month, 50 USD of care
# a month (1,800) and 0.20 USD of electricity an hour (1,440).
BOX = own(capex=3600.0, days_per_month=20.0)
MARKET = Market((BOX, hourly("cloud", 1.0)))


@pytest.mark.parametrize(("kind", "thrice"), [
    (ROUNDS, 15_120),  # 600 hours a month take two boxes: 2 x (3,600 + 1,800) + 4,320
    (DISPATCH, 13_176),  # or one, and 120 hours rented: 3,600 + 1,800 + 3,456 + 4,320
])  # fmt: skip
def test_each_commitment_has_its_cheapest_choice_at_each_value(kind, thrice):
    table = pd.DataFrame(sweep_rows(price(MARKET, kind=kind).question(kind)))
    usd = {name: rows.pivot(index="value", columns="commitment", values="usd")
           for name, rows in table.groupby("quantity")}  # fmt: skip
    jobs = usd.get("jobs", usd.get("per_month"))
    planned = table.loc[table["is_planned"], ["commitment", "usd"]].drop_duplicates().round(6)
    assert sorted(map(tuple, planned.to_numpy())) == [("buy", 6840.0), ("nothing", 7200.0)]
    # A third of the work: 3,600 + 1,800 + 480, or 2,400.
    assert jobs.iloc[0].tolist() == pytest.approx([5880, 2400])
    assert jobs.iloc[-1].tolist() == pytest.approx([thrice, 21_600])
    assert usd["usd_per_hour"].iloc[0].tolist() == pytest.approx([6840, 2400])
    assert usd["capex_usd"].iloc[-1].tolist() == pytest.approx([14_040, 7200])
    assert usd["months"].iloc[-1]["nothing"] == pytest.approx(21_600)


def test_probabilities_and_intervals_are_of_the_same_samples():
    """A rent of 0.8 to 1.128125 USD, 90 %: 5,760 to 8,122.50 USD; half of the samples lie below 6,840."""
    market = Market((BOX, hourly("cloud", {"value": 0.95, "low": 0.8, "high": 1.128125})))
    table = pd.DataFrame(sweep_rows(price(market, 4000, ROUNDS).question(ROUNDS)))
    rent = table[table["is_planned"] & (table["commitment"] == "nothing")].iloc[0]
    assert (rent["usd_low"], rent["usd_high"]) == pytest.approx((5760, 8122.5), rel=0.02)
    assert rent["p_cheapest"] == pytest.approx(0.5, abs=0.03)
    both = table.groupby(["quantity", "value"])["p_cheapest"].sum()
    assert both.to_numpy() == pytest.approx(np.ones(len(both)))


def test_one_control_a_quantity_and_of_several_that_of_the_cheapest_choice():
    """Jobs first; of the boxes the one that is the cheaper choice, though its price comes after the other's."""
    parameters = [*(all_of(name, name) for name in ("kw", "usd_per_hour", "months")), all_of("work")]
    prices = [replace(all_of(f"price of {name}", "capex_usd"), subject=name) for name in ("dear", "cheap")]
    choices = [SimpleNamespace(option=name) for name in ("cheap", "cloud", "dear")]
    problem = SimpleNamespace(choices=choices, parameters=[*parameters, *prices, all_of("all", "capex_usd")])
    assert [one.name for one in controls(problem)] == ["work", "months", "price of cheap", "usd_per_hour"]


def test_a_control_goes_to_a_third_and_to_three_times_or_to_its_most():
    work = all_of("work")
    assert factors_of(work)[[0, 6, 12]] == pytest.approx([1 / 3, 1.0, 3.0]) and len(factors_of(work)) == 13
    assert factors_of(replace(work, maximum=2.0))[-1] == pytest.approx(2.0)
    assert factors_of(replace(work, maximum=1.0)).tolist() == factors_of(work)[:7].tolist()
