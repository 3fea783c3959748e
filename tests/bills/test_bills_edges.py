"""Edges of bills by hand: whose months a project has and what is said of them, nine in ten, missing numbers."""

import math

import numpy as np
import pandas as pd
import pytest
from phase_plans import WORK, hourly, own, priced_plan
from price_lists import list_tables, machines, price_list, works_of
from sweetspot.bills.lint.rules import BOUNDS
from sweetspot.bills.pricing import of_projects
from sweetspot.bills.queue import Stream, tail_of, wait_for
from sweetspot.bills.rates import or_zero, rates, with_rent_factor
from sweetspot.bills.renting import overhead


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


def test_an_hour_on_spot_costs_what_was_planned_and_more_with_more_interruptions():
    """Daly, a checkpoint each hour of 36 s, 72 s to restore: M e^(0.02 / M) (e^(1.01 / M) - 1), M of 10 and of 5 hours.

    1.0649 and 1.1237 machine hours an hour; 0.1 hours of waiting at each: x 1.01 and x 1.02 until the end.
    """
    row = {"purchase": "spot", "variable_usd_per_hour": 2.0, "interruptions_per_hour": 0.1, "checkpoint_s": 36.0,
           "restore_s": 72.0, "wait_s": 360.0, "every_s": 3600.0}  # fmt: skip
    planned = rates(row, lambda _: 1.0)
    assert (planned.variable, planned.longer) == (2.0, 1.0)
    often = rates(row, lambda name: 2.0 if name == "interruptions_per_hour" else 1.0)
    seldom, twice = (mean * math.exp(0.02 / mean) * math.expm1(1.01 / mean) for mean in (10, 5))
    assert often.variable == pytest.approx(2.0 * twice / seldom)
    assert often.longer == pytest.approx(twice * 1.02 / (seldom * 1.01))


def test_without_interruptions_nothing_is_divided_by_none():
    with np.errstate(divide="raise", invalid="raise"):
        assert overhead(0.0, 0.01, 0.02, np.nan) == 1.0


@pytest.mark.parametrize(
    ("key", "figure", "words"),
    [
        ("kw", 450.0, "did you mean 0.45? (1000 times less)"),
        ("months", 5000.0, "expected 1 to 120"),  # a twelfth of it is too much as well
        ("price", 30_000_000.0, "did you mean 30,000? (1000 times less)"),  # nearer the usual 3,000 than 300,000
    ],
)
def test_what_cannot_be_names_the_slip_that_makes_it_likely(key, figure, words):
    assert BOUNDS[key].meant(figure, 1.0) == words


def test_no_device_costs_more_than_400_000_usd():
    assert BOUNDS["price"].holds(400_000.0) and not BOUNDS["price"].holds(400_001.0)
