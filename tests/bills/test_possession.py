"""Machines owned and terms committed to: their month, their hour, their cash flow and resale, by hand calculation."""

import numpy as np
import pytest
from price_lists import list_tables, machines, offers, price_list
from sweetspot.bills.offers import _residual
from sweetspot.bills.owning import (
    annuity,
    fixed_per_month,
    monthly_rate,
    resale_factor,
    share_of_price,
    usd_per_hour_of_use,
)
from sweetspot.study.terms import Ownership

FIXED = [f"fixed_usd_per_month{end}" for end in ("_low", "", "_high")]
VARIABLE = [f"variable_usd_per_hour{end}" for end in ("_low", "", "_high")]
HOUR = [f"usd_per_hour{end}" for end in ("_low", "", "_high")]


def around(value):
    return {"value": value, "low": value / 2, "high": value * 1.5}


def committed(days=None, **deal):
    listed = {"instance": "x", "purchase": "reserved", "commitment": {"term_months": 12} | deal}
    return price_list(listed | ({} if days is None else {"days_per_month": days}), {"instance": "x", "per_hour": 0.9})


def owned(currency="USD", rates=(), **own):
    return price_list({"instance": "x", "purchase": "own", "own": own}, currency=currency, rates=list(rates))


@pytest.mark.parametrize(
    ("deal", "fixed", "variable", "hour"),
    [
        # 1200 upfront for 12 months and 0.1 an hour always: (100 + 0.1 x 732)/240 at ten days of use
        ({"upfront": 1200, "per_hour": 0.1}, 173.2, 0.0, 173.2 / 240),
        # 600 upfront for 12 months and 5 a month: 55; 0.1 for each hour of the ten days: 24 more, 79 / 240 an hour
        ({"upfront": 600, "per_month": 5, "per_hour": 0.1, "charged": "used"}, 55, 0.1, 79 / 240),
    ],
)  # fmt: skip
def test_a_commitment_is_paid_whether_used_or_not_but_for_its_hours_of_use(deal, fixed, variable, hour):
    row = offers(committed(10, **deal)).iloc[0]
    names = ["fixed_usd_per_month", "variable_usd_per_hour", "usd_per_hour"]
    assert row[names].tolist() == pytest.approx([fixed, variable, hour])


def test_no_more_hours_are_due_than_the_month_has_and_a_rented_machine_costs_nothing_by_the_month():
    # 31 planned days of a month that has 30.5: 732 h
    assert offers(committed(31, per_month=732)).iloc[0]["usd_per_hour"] == pytest.approx(1.0)
    row = offers(price_list({"instance": "x", "per_hour": {"value": 2, "low": 1, "high": 3}})).loc["x"]
    assert row[FIXED].tolist() == [row[f"energy_usd_per_hour{end}"] for end in ("", "_low", "_high")] == [0, 0, 0]
    assert row[VARIABLE].tolist() == [1, 2, 3]


def test_a_commitment_of_ranges_has_its_values_in_the_middle_and_its_cheap_and_dear_ends():
    # half or one and a half of everything; the term and the days turned: 10 or 30 USD a month, 0.05 or 0.15 an hour
    row = offers(committed(around(10.0), term_months=around(12.0), upfront=around(120.0), per_month=around(24.0),
                           per_hour=around(0.1), charged="used")).iloc[0]  # fmt: skip
    names = ("upfront_usd", "term_months", "commitment_usd_per_month", "commitment_usd_per_hour", "days_per_month")
    assert [row[name] for name in names] == pytest.approx([120, 12, 24, 0.1, 10])
    low, middle, high = 60 / 18 + 12, 10 + 24, 180 / 6 + 36
    assert row[FIXED].tolist() == pytest.approx([low, middle, high])
    assert row[VARIABLE].tolist() == pytest.approx([0.05, 0.1, 0.15])
    assert row[HOUR].tolist() == pytest.approx([low / 360 + 0.05, middle / 240 + 0.1, high / 120 + 0.15])


BOUGHT = {
    "capex": 6600.0, "months": 30.0, "residual": 600.0, "maintenance_per_month": 10.0, "kw": 2.0, "load_share": 0.5,
    "pue": 1.5, "per_kwh": 0.2, "days_per_month": 10.0, "boxes": 2, "staff_hours_per_month": 3.0,
    "staff_per_hour": 20.0,
}  # fmt: skip


def test_an_owned_machine_draws_its_share_of_the_power_and_two_are_bought_kept_and_sold():
    row = offers(owned(**BOUGHT)).loc["x"]
    names = ["kw", "energy_usd_per_hour", "fixed_usd_per_month", "usd_per_hour", "boxes", "capex_usd"]
    assert row[names].tolist() == pytest.approx([1, 2 * 0.5 * 1.5 * 0.2, 270, 270 / 240 + 0.3, 2, 6600])


def test_without_any_hour_of_use_an_hour_costs_without_limit():
    assert usd_per_hour_of_use(240.0, 0.2, np.array([0.0, 10.0])).tolist() == [np.inf, 240 / 240 + 0.2]
    assert usd_per_hour_of_use(240.0, 0.2, 0.0) == np.inf


def test_downtime_shortens_the_days_and_draws_no_power():
    # 6000/30 = 200 a month; 10 days less a fifth are 192 hours; 0.5 kW x 1.2 x 0.2 = 0.12 an hour
    prices = owned(capex=6000, months=30, kw=0.5, pue=1.2, per_kwh=0.2, days_per_month=10, downtime_share=0.2)
    row = offers(prices).loc["x"]
    parts = ["fixed_usd_per_month", "variable_usd_per_hour", "energy_usd_per_hour", "usd_per_hour"]
    assert row[parts].tolist() == pytest.approx([200, 0.12, 0.12, 200 / 192 + 0.12])
    assert usd_per_hour_of_use(200, 0.12, 10, 0.2) == pytest.approx(200 / 192 + 0.12)


def test_owning_of_ranges_has_the_middle_of_each_and_its_cheap_and_dear_ends():
    rates = [{"currency": "XTS", "usd": around(2.0), "as_of": "2018-06-01", "source": "bank"}]
    row = offers(owned("XTS", rates, **{name: around(value) for name, value in {
        "capex": 6500.0, "months": 30.0, "residual": 400.0, "kw": 1.0, "maintenance_per_month": 10.0, "per_kwh": 0.2,
        "staff_hours_per_month": 2.0, "staff_per_hour": 30.0, "days_per_month": 10.0}.items()},
        pue={"value": 1.5, "low": 1.1, "high": 2})).loc["x"]  # fmt: skip
    names = ("capex_usd", "months", "residual_usd", "maintenance_usd_per_month", "staff_usd_per_month", "kw", "pue",
             "usd_per_kwh", "days_per_month", "energy_usd_per_hour")  # fmt: skip
    assert [row[name] for name in names] == pytest.approx([13_000, 30, 800, 20, 120, 1, 1.5, 0.4, 10, 0.6])
    # dear: 50 % more of everything at 50 % more USD, fewer months and days, less back; cheap: half at half the USD
    cheap, dear = (3250 - 600) / 45 + 5 + 15, (6500 * 1.5 - 200) * 3 / 15 + 15 * 3 + 3 * 45 * 3
    assert row[FIXED].tolist() == pytest.approx([cheap, 12_200 / 30 + 20 + 120, dear])
    assert row[VARIABLE].tolist() == pytest.approx([0.5 * 1.1 * 0.1, 0.6, 1.5 * 2 * 0.3 * 3])
    assert row[HOUR[0]] == pytest.approx(cheap / 360 + 0.055)
    assert row[HOUR[2]] == pytest.approx(dear / 120 + 2.7)


def test_possession_without_and_with_a_discount():
    own = {"capex": 1300.0, "residual": 100.0, "months": 12.0, "maintenance": 5.0, "staff": 7.0}
    assert fixed_per_month(**own) == pytest.approx(100 + 12)
    # at 21 % a year a month has 1.21^(1/12) - 1; the level payment of 1300 less 100 / 1.21 over a year
    rate = 1.21 ** (1 / 12) - 1
    payment = (1300 - 100 / 1.21) * rate / (1 - 1 / 1.21)
    assert fixed_per_month(**own, discount_rate=0.21) == pytest.approx(payment + 12)
    assert (monthly_rate(0.21), annuity(12.0, 0.0)) == (pytest.approx(rate), 12.0)
    assert annuity(12.0, 0.21) == pytest.approx(sum((1 + rate) ** -month for month in range(1, 13)))


def sold(**more):
    plain = {"capex": 515000.0, "months": 36.0, "kw": 14.3, "per_kwh": 0.12, "days_per_month": 20.0}
    return _residual(Ownership.model_validate(plain | more))


def test_a_server_of_devices_that_are_almost_two_years_old():
    # 1.8 + 3 years: between 4.0 (0.59; 0.22 to 0.88) and 6.0 (0.29; 0.10 to 0.43): 0.4 of the way; 80 % of the purchase
    value, points = sold(residual={"curve": "data-centre", "share": 0.8, "age_years": 1.8})
    hand = [515000 * 0.8 * share for share in (0.59 - 0.4 * 0.30, 0.22 - 0.4 * 0.12, 0.88 - 0.4 * 0.45)]
    assert value == pytest.approx(hand)
    assert points[0] == {"years": 0.0, "kept": pytest.approx(0.8 * (1 - 0.17 * 0.9))}  # 1.8 of 2.0 years: 0.847


def test_a_curve_of_one_s_own_counts_from_the_purchase_and_nobody_sells_above_the_cheapest():
    value, points = sold(residual={"points": [[3.0, 0.5, 0.2, 0.9]], "share": 1.0})
    assert value == pytest.approx((257500, 103000, 463500))
    assert points == [{"years": 0.0, "kept": 1.0}, {"years": 3.0, "kept": 0.5}]
    ranged = {"value": 515000, "low": 400000, "high": 600000}
    value, _ = sold(capex=ranged, residual={"points": [[3.0, 0.9, 0.7, 1.0]], "share": 1.0})
    assert value == pytest.approx((400000, 360500, 400000))
    value, points = sold(residual={"value": 1000, "low": 0, "high": 2000})  # an amount stays
    assert (value.tolist(), points) == ([1000, 0, 2000], None)


@pytest.mark.parametrize(
    ("keys", "months", "until"),
    [
        ({}, (0, 0, 0), "None"),
        ({"available_from_weeks": {"value": 6, "low": 4, "high": 8}}, (42 / 30.5, 28 / 30.5, 56 / 30.5), "None"),
        # 61 days of two months from the day of the price
        ({"available_from": "2018-08-31", "until": "2018-07-31"}, (2, 2, 2), "2018-07-31"),
    ],
)
def test_when_what_is_bought_is_there_and_how_long_the_offer_stands(keys, months, until):
    listed = {"instance": "x", "purchase": "reserved", "commitment": {"term_months": 12, "per_hour": 1}}
    prices = price_list(listed | keys)
    row = list_tables(prices, machines(prices))[0]
    assert [row[f"delivery_months{end}"][0] for end in ("", "_low", "_high")] == pytest.approx(months)
    assert str(row["offer_until"][0]) == until


def test_the_months_decide_and_beyond_the_last_point_it_stays():
    points = [(0.0, 1.0), (2.0, 0.5)]
    assert share_of_price(points, [0, 6, 24, 48]).tolist() == [1.0, 0.875, 0.5, 0.5]
    curve = [{"years": year, "kept": kept} for year, kept in points]
    assert resale_factor(curve, np.array([12.0, 24.0]), 24.0).tolist() == [1.5, 1.0]
    assert resale_factor(None, 12.0, 24.0) == resale_factor(float("nan"), 12.0, 24.0) == 1.0
