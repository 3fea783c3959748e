"""Rents over the months of a project: the central mean by hand, and what the draws of a path have in common."""

import numpy as np
import pandas as pd
import pytest
from price_lists import machines, price_list
from study_entries import OWN
from sweetspot.bills.offers import offers_in_usd
from sweetspot.bills.price_paths import (
    TREND_COLUMNS,
    at_mean_rent,
    central_change,
    mean_factor,
    mean_of_months,
    mean_of_parts,
    sampled_path,
)
from sweetspot.bills.rates import with_rent_factor

DRAWS, MONTHS = 20_000, 24
DRIFT = {"trend_kind": "drift", "trend_change": -0.03, "trend_change_low": -0.40, "trend_change_high": 0.27}
LIST = {"trend_kind": "jumps", "trend_change": -0.33, "trend_change_low": -0.46, "trend_change_high": -0.25}


def noise(seed, months=MONTHS):
    draws = np.random.default_rng(seed)
    return [draws.standard_normal((DRAWS, months)) for _ in range(2)] + [
        draws.random((DRAWS, months)), draws.standard_normal((DRAWS, months))
    ]  # fmt: skip


def test_the_mean_of_a_price_that_halves_every_year_counts_a_part_of_a_month():
    # q = 0.5^(1/12) = 0.9438743; (1 + q + ... + q^23) / 24 = (1 - 0.25) / (24 x 0.0561257) = 0.556786
    assert float(mean_factor(-0.5, 24)) == pytest.approx(0.556786, abs=1e-6)
    assert mean_factor([0.0, np.nan], [36, 36]).tolist() == [1.0, 1.0]  # It stays, or has no path.
    # 1, then 0.5 of a month at 4^(1/12) = 1.122462: (1 + 0.561231) / 1.5
    assert float(mean_factor(3.0, 1.5)) == pytest.approx(1.561231 / 1.5, abs=1e-6)
    rented = at_mean_rent(pd.DataFrame([{"usd_per_hour": 8.0, "trend_kind": "drift", "trend_change": -0.5}]), 24.0)
    assert rented["usd_per_hour"].item() == pytest.approx(8 * 0.556786, abs=1e-5)
    assert [central_change(terms) for terms in (DRIFT, LIST | {"trend_per_year": 12.0}, {})] == [-0.03, 0.0, 0.0]


def test_a_drift_s_year_has_the_ends_that_it_states():
    path = sampled_path(DRIFT | {"trend_market_share": 0.2}, *noise(1))
    low, middle, upper, high = np.quantile(path[:, 12], [0.05, 0.5, 0.75, 0.95])
    assert (low, middle, high) == pytest.approx((0.60, 0.97, 1.27), rel=0.02)
    # by the upper end: 0.97 (1.27 / 0.97)^(0.6745 / 1.645); by the lower it would be 1.18
    assert upper == pytest.approx(1.0834, rel=0.02) and (path[:, 0] == 1.0).all()


def test_two_drifts_share_the_markets_part_and_years_are_drawn_apart():
    market, one, jump, size = noise(2)
    other = noise(3)[1]
    terms = DRIFT | {"trend_change_low": -0.4, "trend_change_high": 1 / 0.6 - 1, "trend_change": 0.0}  # symmetric
    terms["trend_market_share"] = 0.2
    logs = [np.log(sampled_path(terms, market, own, jump, size)[:, 12]) for own in (one, other)]
    assert np.corrcoef(logs)[0, 1] == pytest.approx(0.2, abs=0.02)
    logs = np.log(sampled_path(terms, *noise(4, 36)))
    assert np.corrcoef(logs[:, 12], logs[:, 24] - logs[:, 12])[0, 1] == pytest.approx(0.0, abs=0.02)
    assert logs[:, 6] == pytest.approx(logs[:, 12] / 2)


def test_a_random_walk_spreads_with_the_root_of_the_months():
    walk = {"trend_kind": "random_walk", "trend_sd_log": 0.51, "trend_market_share": 0.0}
    logs = np.log(sampled_path(walk, *noise(5)))
    # The market 1 and its own 0.5: sqrt(0.36) x 1 + sqrt(0.64) x 0.5 = 1 of a month's sd, 0.51 / sqrt(12).
    ones = np.ones((1, 2))
    path = sampled_path(walk | {"trend_market_share": 0.36}, ones, ones / 2, ones, ones)
    assert path[0, 1] == pytest.approx(np.exp(0.51 / np.sqrt(12)))
    # price_paths: 0.14, 0.26, 0.37, 0.51 over 1, 3, 6, 12 months
    assert [logs[:, month].std() for month in (1, 3, 6, 12)] == pytest.approx([0.147, 0.255, 0.361, 0.51], rel=0.03)


def test_a_list_price_stays_until_it_is_cut():
    path = sampled_path(LIST | {"trend_per_year": 0.13}, *noise(6))
    # none in 11 months that can show it after a year's first: (1 - 0.13/12)^12 = 0.8775
    assert (path[:, 12] == 1.0).mean() == pytest.approx((1 - 0.13 / 12) ** 12, abs=0.01)
    cut = path[:, 12][path[:, 12] < 1]
    assert (np.median(cut), path.max()) == (pytest.approx(0.67, abs=0.02), 1.0)


def test_a_mean_takes_the_months_of_its_draw_and_parts_of_a_path():
    path = np.array([[1.0, 0.5, 0.0], [1.0, 0.5, 0.0]])
    assert mean_of_months(path, np.array([2.0, 1.5])).tolist() == pytest.approx([0.75, 1.25 / 1.5])
    # Prices of 1, 2 and 4 in three months, in halves of the three; from month two on for two months: it stays at 4.
    path = np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 3.0]])
    halves = mean_of_parts(path, np.array([0.0, 1.5]), 1.5)
    assert halves.tolist() == [pytest.approx([(1 + 0.5 * 2) / 1.5, (0.5 * 2 + 4) / 1.5]), pytest.approx([3.0, 3.0])]
    assert mean_of_parts(path, np.array([2.0]), 2.0).tolist() == [[4.0], [3.0]]


CUTS = {"trend_kind": "jumps", "trend_change": -0.33, "trend_change_low": -0.46, "trend_change_high": -0.25,
        "trend_per_year": 0.13}  # fmt: skip
OWN_DRIFT = {"kind": "drift", "change_per_year": -0.1, "market_share": 0.5}
DRIFTS = {"trend": "own drift", "trend_kind": "drift", "trend_market_share": 0.5} | dict.fromkeys(
    ("trend_change", "trend_change_low", "trend_change_high"), -0.1)  # fmt: skip


@pytest.mark.parametrize(
    ("offer", "paths", "terms"),
    [
        ({"per_hour": 1.0}, None, {}),
        ({"per_hour": 1.0}, True, CUTS | {"trend": "hyperscaler"}),
        ({"per_hour": 1.0, "trend": "hyperscaler"}, None, CUTS | {"trend": "hyperscaler"}),
        ({"per_hour": 1.0, "trend": "hyperscaler"}, False, {}),
        ({"per_hour": 1.0, "trend": OWN_DRIFT}, None, DRIFTS),
        ({"per_hour": 1.0, "trend": OWN_DRIFT | {"low": -0.2, "high": 0.1}}, None,
         DRIFTS | {"trend_change_low": -0.2, "trend_change_high": 0.1}),
        ({"per_hour": 1.0, "purchase": "spot"}, True,
         {"trend": "spot", "trend_kind": "random_walk", "trend_sd_log": 0.51, "trend_market_share": 0.0}),
        ({"purchase": "reserved", "commitment": {"term_months": 12, "per_hour": 1.0}}, True,
         {"trend": "fixed", "trend_kind": "fixed"}),
        ({"purchase": "own", "own": OWN}, True, {}),
    ],
)  # fmt: skip
def test_how_the_price_of_an_offer_may_move(offer, paths, terms):
    prices = price_list({"instance": "x"} | offer)
    known = machines(prices, x={"provider": "aws", "gpu": "H100 SXM"})
    offers, _ = offers_in_usd("list", prices, known, 30.5, None, paths)
    row = offers.iloc[0]
    assert {name: row[name] for name in TREND_COLUMNS if pd.notna(row[name])} == terms


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
        ("net", "on_demand", np.nan, False, "jumps"), ("other", "own", 48.0, False, None),
        ("other", "on_demand", np.nan, True, "drift"),
    ))  # fmt: skip
    mean = sum(0.7 ** (month / 12) for month in range(24)) / 24
    assert found["rent_factor"].tolist() == pytest.approx([1.0, 1.0, mean, 1.0, 1.0, 1.0])
    assert found["rent_months"].fillna(0.0).tolist() == [0.0, 0.0, 24.0, 24.0, 0.0, 0.0]
    drifts = found.iloc[2]
    paid = drifts[["usd", "usd_low", "variable_usd_per_hour"]].tolist()
    assert paid == pytest.approx([60 * mean, 54 * mean, 6 * mean])
    assert drifts["images_per_usd"] == pytest.approx(10 / mean)
