"""Edges of bills by hand: whose months a project has and what is said of them, nine in ten, missing numbers."""

import numpy as np
import pandas as pd
import pytest
from phase_plans import WORK, hourly, own, priced_plan
from price_lists import list_tables, machines, price_list, works_of
from sweetspot.bills.pricing import of_projects
from sweetspot.bills.queue import Stream, tail_of, wait_for
from sweetspot.bills.rates import or_zero, with_rent_factor


@pytest.mark.parametrize(("value", "number"), [(None, 0.0), (np.nan, 0.0), (pd.NA, 0.0), (0.0, 0.0), (3, 3.0)])
def test_a_number_that_is_missing_is_none(value, number):
    assert or_zero(value) == number


def options(*rows):
    """Model, purchase, months, whether it is the reference, kind of its price path; 6 USD an hour today."""
    names = ("model", "purchase", "months", "is_reference", "trend_kind")
    paid = {"usd": 60.0, "usd_low": 54.0, "usd_high": 66.0, "variable_usd_per_hour": 6.0, "images_per_usd": 10.0,
            "images_per_usd_low": 9.0, "images_per_usd_high": 11.0, "trend_change": -0.3}  # fmt: skip
    return pd.DataFrame([dict(zip(names, row, strict=True)) | paid for row in rows])


def test_a_rent_is_the_mean_of_the_months_of_the_reference_of_its_model():
    """0.3 less a year, by the month: over two years the mean of 0.7 ^ (month / 12), not over another box's."""
    found = with_rent_factor(options(
        ("net", "own", 48.0, False, None), ("net", "own", 24.0, True, None),
        ("net", "on_demand", np.nan, False, "drift"),
        ("net", "on_demand", np.nan, False, None), ("other", "own", 48.0, False, None),
        ("other", "on_demand", np.nan, True, "drift"),
    ))  # fmt: skip
    mean = sum(0.7 ** (month / 12) for month in range(24)) / 24
    assert found["rent_factor"].tolist() == pytest.approx([1.0, 1.0, mean, 1.0, 1.0, 1.0])
    assert found["rent_months"].fillna(0.0).tolist() == [0.0, 0.0, 24.0, 0.0, 0.0, 0.0]
    drifts = found.iloc[2]
    assert (drifts["usd"], drifts["usd_low"], drifts["variable_usd_per_hour"]) == pytest.approx(
        (60 * mean, 54 * mean, 6 * mean)
    )
    assert drifts["images_per_usd"] == pytest.approx(10 / mean)


def test_nine_in_ten_of_a_queue_that_is_simulated_wait_at_most_so_long():
    """Jobs that need the whole machine among jobs that need a fourth of it."""
    streams = [Stream(0.2, 2.0, 1.0, 4), Stream(0.15, 2.0, 1.0, 1)]
    seen = np.array(tail_of(streams).seen)
    found = wait_for(streams)
    assert seen.size > 1000 and found.hours == pytest.approx(seen.mean())
    assert np.mean(seen <= found.ninety) >= 0.9 > np.mean(seen < found.ninety) - 1e-9
    assert found.ninety in seen


def findings(months, *boxes):
    prices = price_list(*boxes)
    offers, _ = list_tables(prices, machines(prices))
    work = {"work": WORK | {"months": months, "renewed": False}} if months else {}
    found = of_projects(works_of(work), {}, offers)
    return [(one.rule, one.instance, one.message) for one in found]


def test_a_machine_bought_for_longer_than_the_project_is_told_and_no_other():
    """36 months of 48 are three quarters; what is bought for as long, for less, or costs nothing is right."""
    boxes = [own("long", months=48.0), own("as-long", months=36.0), own("less", months=24.0),
             own("free", months=48.0, capex=0.0), hourly(6.0)]  # fmt: skip
    (rule, instance, message), *others = findings(36.0, *boxes)
    assert (rule, instance, others) == ("bought_past_the_project", "long", [])
    assert "is bought for 48 months, work lasts 36: it pays 0.75 of the purchase" in message


def test_a_plan_has_its_months_or_none():
    for months in (36.0, None):
        work = {} if months else {"months": None}
        tables, _ = priced_plan(own(), hourly(6.0), work=work)
        found = tables.plans.loc[tables.plans["phase"] == "total", "plan_months"].to_numpy(float)
        assert found.size == 2 and (np.isnan(found).all() if months is None else (found == months).all())
