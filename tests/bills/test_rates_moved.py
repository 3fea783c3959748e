"""Speed, month and hour of an option with the figures that it rests on at other values; rents as they were drawn."""

import zlib

import numpy as np
import pytest
from sweetspot.bills.rates import Rents, by_contract, central_rent_by_month, possession, rates, rent_over

# (3600 - 720) / 36 + 10 + 20 = 110 USD a month; down half of the days it is paid in the other half: 220.
OWNED = {
    "purchase": "own", "capex_usd": 3600.0, "months": 36.0, "residual_usd": 720.0, "residual_points": None,
    "maintenance_usd_per_month": 10.0, "staff_usd_per_month": 20.0, "discount_rate": 0.0, "fixed_usd_per_month": 220.0,
    "kw": 2.0, "pue": 1.5, "usd_per_kwh": 0.2, "days_per_month": 10.0,
}  # fmt: skip
CURVE = OWNED | {"residual_points": [{"years": 0.0, "kept": 1.0}, {"years": 3.0, "kept": 0.2}]}
FREE = dict.fromkeys(("capex_usd", "residual_usd", "maintenance_usd_per_month", "staff_usd_per_month",
                      "fixed_usd_per_month"), 0.0)  # fmt: skip
RENTED = {"purchase": "on_demand", "variable_usd_per_hour": 2.0, "days_per_month": np.nan, "trend_kind": None,
          "rent_months": np.nan, "rent_factor": 1.0, "provider": "p", "gpu": "g", "model": "net",
          "trend_change": np.nan, "trend_per_year": np.nan, "trend_sd_log": np.nan}  # fmt: skip
# Half as dear every year, month by month: the mean of two years is (1 - 1/4) / (24 (1 - q)), of one (1 - 1/2) / (12 (1
# - q)), 4/3 times as much.
HALF = 0.75 / (24 * (1 - 0.5 ** (1 / 12)))
ENDS = dict.fromkeys(("trend_change", "trend_change_low", "trend_change_high"), -0.5)
FALLING = RENTED | ENDS | {"trend_kind": "drift", "trend_market_share": 0.0, "rent_months": 24.0, "rent_factor": HALF}
WALK = RENTED | {"trend_kind": "random_walk", "trend_sd_log": 0.5, "trend_market_share": 0.0, "rent_months": 24.0}


def at(**factors):
    return lambda name: factors.get(name, 1.0)


@pytest.mark.parametrize(
    ("row", "factors", "fixed", "variable", "days"),
    [
        (OWNED, {}, 220, 0.6, 10),
        (OWNED, {"capex_usd": 2.0}, 2 * 210, 0.6, 10),  # 6480 / 36 + 30
        (CURVE, {"capex_usd": 2.0}, 2 * 190, 0.6, 10),  # a fifth of the price comes back: 5760 / 36 + 30
        (OWNED, {"residual_usd": 0.5}, 2 * 120, 0.6, 10),  # 3240 / 36 + 30
        (OWNED, {"maintenance_usd_per_month": 3.0}, 2 * 130, 0.6, 10),
        (OWNED, {"months": 0.5}, 2 * 190, 0.6, 10),  # 2880 / 18 + 30
        (CURVE, {"months": 0.5}, 2 * 110, 0.6, 10),  # of 18 months three fifths come back: 1440 / 18 + 30
        (OWNED, {"kw": 0.5, "usd_per_kwh": 3.0, "days_per_month": 0.5}, 220, 0.9, 5),
        (OWNED | FREE, {"capex_usd": 2.0}, 0, 0.6, 10),  # there already, and no care
    ],
)
def test_a_machine_owned_at_other_figures(row, factors, fixed, variable, days):
    assert rates(row, at(**factors)) == pytest.approx((fixed, variable, days, 1))


def test_a_machine_that_comes_later_is_sold_at_the_same_end():
    # 24 of 36 months are left: (2880 / 24 + 30) x 24 / 36; at the end a thousandth of the project is
    assert possession(OWNED, at(), 12.0) == pytest.approx(100)
    assert possession(OWNED, at(), 36.0) == pytest.approx((2880 / 0.036 + 30) / 1000)
    assert possession(OWNED, at()) == pytest.approx(110)
    assert [by_contract(row) for row in (OWNED, RENTED, RENTED | {"days_per_month": 9.0})] == [False, False, True]


@pytest.mark.parametrize(
    ("row", "factors", "rent", "variable"),
    [
        (RENTED, {}, None, 2),
        (RENTED, {"usd_per_hour": 1.5, "rent_factor": 2.0, "months": 0.5}, None, 6),
        (FALLING, {"months": 1.0}, None, 2),
        (FALLING, {"months": 0.5}, None, 8 / 3),  # a year is dearer than two: 4/3
        (FALLING, {"months": np.array([0.5, 1.0])}, None, np.array([8 / 3, 2])),
        (FALLING, {"months": 0.5}, 0.8, 1.6),  # as drawn
    ],
)
def test_a_machine_rented_at_other_figures(row, factors, rent, variable):
    found = rates(row, at(**factors), rent)
    assert found.variable == pytest.approx(variable) and (found.fixed, found.longer) == (0, 1) and np.isnan(found.days)


def test_a_rent_of_another_project_follows_its_path():
    assert rent_over(FALLING, np.array([12.0, 24.0])) == pytest.approx([4 / 3, 1])
    assert rent_over(FALLING | {"rent_months": 0.5, "rent_factor": 1.0}, 24.0) == pytest.approx(HALF)
    bare = {name: value for name, value in FALLING.items() if name != "rent_months"}
    for row in (RENTED, FALLING | {"trend_kind": "fixed"}, FALLING | {"rent_months": 0.0}, bare):
        assert rent_over(row, np.array([12.0, 24.0])).tolist() == [1, 1]


def drawn(draws=4, **lengths):
    """Rents by a generator for each key, and the keys that were asked for."""
    keys = []

    def stream(*key):
        keys.append(key)
        return np.random.default_rng(zlib.crc32(repr(key).encode()))

    return Rents(stream, draws, {name: np.array(months) for name, months in lengths.items()}), keys


def test_a_rent_that_is_certain_is_its_central_mean_over_each_draws_months():
    rents, _ = drawn(2, net=[24.0, 12.0], other=[12.0, 12.0])
    assert rents.factor(FALLING) == pytest.approx([1, 4 / 3])
    assert rents.factor(FALLING | {"model": "other"}) == pytest.approx([4 / 3, 4 / 3])
    assert rents.factor(RENTED).tolist() == [1, 1]
    twelve = (1 - 0.5) / (1 - 0.5 ** (1 / 12))
    for months, mean in ((12.5, (twelve + 0.5 * 0.5) / 12.5), (1000.0, 2 * twelve / 600)):  # 50 years at the most
        assert drawn(1, net=[months])[0].factor(FALLING) * HALF == pytest.approx(mean)


def test_the_rent_of_each_year_is_a_multiple_of_the_mean_of_both():
    """Half as dear every year: 4/3 and 2/3 of their mean; a walk has years of its own in each draw, and this mean."""
    starts, (rents, _) = np.array([0.0, 12.0]), drawn(net=[24.0] * 4)
    for found in (central_rent_by_month(FALLING, starts, 12.0), rents.by_month(FALLING, starts, 12.0)):
        assert found.tolist() == [pytest.approx([4 / 3, 2 / 3])] * len(found)
    later = np.array([0.0, 24.0])  # two years more: a quarter
    for found in (central_rent_by_month(FALLING, later, 24.0), rents.by_month(FALLING, later, 24.0)):
        assert found.tolist() == [pytest.approx([1.0, 1 / 4])] * len(found)
    part = central_rent_by_month(FALLING, np.array([0.0]), 1.5)[0, 0] * HALF  # one month, and half of the second
    assert part == pytest.approx((1 + 0.5 * 0.5 ** (1 / 12)) / 1.5)
    walk = rents.by_month(WALK, starts, 12.0)
    assert walk.mean(axis=1) == pytest.approx(np.ones(4)) and len(set(walk[:, 0])) == 4


def test_prices_of_one_provider_and_device_move_together():
    rents, keys = drawn(net=[24.0] * 4)
    one = rents.factor(WALK)
    assert drawn(net=[24.0 + 1e-10] * 4)[0].factor(WALK) == pytest.approx(one)  # the last digit draws nothing anew
    for alike in ({"instance": "another"}, {"trend_change": 0.1}):
        assert rents.factor(WALK | alike).tolist() == one.tolist() and len(set(one)) == 4
    for other in ({"gpu": "h"}, {"provider": "q"}, {"trend_sd_log": 0.4}):
        assert rents.factor(WALK | other) != pytest.approx(one)
    market = WALK | {"trend_market_share": 1.0, "gpu": "m"}  # the whole market is one
    assert rents.factor(market).tolist() == rents.factor(market | {"provider": "q"}).tolist()
    cut = WALK | {"trend_kind": "jumps", "trend_per_year": 6.0, "trend_change": -0.3, "trend_change_low": -0.5,
                  "trend_change_high": -0.1}  # fmt: skip
    assert rents.factor(cut).tolist() == rents.factor(cut | {"gpu": "h"}).tolist() != rents.factor(
        cut | {"provider": "q"}).tolist()  # fmt: skip
    assert len(keys) == len(set(keys))  # nothing is drawn twice
