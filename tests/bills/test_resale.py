"""Resale by age: the curves at the months of a project, by hand."""

import numpy as np
import pytest
from sweetspot.bills.offer_prices import residual
from sweetspot.bills.owning import kept_at, relative
from sweetspot.study.terms import Own

PLAIN = {"capex": 515000.0, "months": 36.0, "kw": 14.3, "per_kwh": 0.12, "days_per_month": 20.0}


def sold(**more):
    return residual(Own.model_validate(PLAIN | more))


def test_a_server_of_devices_that_are_almost_two_years_old():
    # 1.8 + 3 years: between 4.0 (0.59; 0.22 to 0.88) and 6.0 (0.29; 0.10 to 0.43): 0.4 of the way; 80 % of the purchase
    value, points = sold(residual={"curve": "data-centre", "share": 0.8, "age_years": 1.8})
    hand = [515000 * 0.8 * share for share in (0.59 - 0.4 * 0.30, 0.22 - 0.4 * 0.12, 0.88 - 0.4 * 0.45)]
    assert value == pytest.approx(hand)
    assert points[0] == {"years": 0.0, "kept": pytest.approx(0.8 * (1 - 0.17 * 0.9))}  # 1.8 of 2.0 years: 0.847


def test_a_curve_of_one_s_own_counts_from_the_purchase():
    value, points = sold(residual={"points": [[3.0, 0.5, 0.2, 0.9]], "share": 1.0})
    assert value == pytest.approx((257500, 103000, 463500))
    assert points == [{"years": 0.0, "kept": 1.0}, {"years": 3.0, "kept": 0.5}]


def test_nobody_sells_for_more_than_the_cheapest_purchase():
    value, _ = sold(
        capex={"value": 515000, "low": 400000, "high": 600000},
        residual={"points": [[3.0, 0.9, 0.7, 1.0]], "share": 1.0},
    )
    assert value == pytest.approx((400000, 360500, 400000))


def test_a_typed_value_is_what_it_was():
    assert sold(residual={"value": 1000, "low": 0, "high": 2000}) == ((1000, 0, 2000), None)


def test_the_months_decide_and_beyond_the_last_point_it_stays():
    points = [(0.0, 1.0), (2.0, 0.5)]
    assert kept_at(points, [0, 6, 24, 48]).tolist() == [1.0, 0.875, 0.5, 0.5]
    curve = [{"years": year, "kept": kept} for year, kept in points]
    assert relative(curve, np.array([12.0, 24.0]), 24.0).tolist() == [1.5, 1.0]
    assert relative(None, 12.0, 24.0) == 1.0
    assert relative(float("nan"), 12.0, 24.0) == 1.0
