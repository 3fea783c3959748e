"""The months to come on the page: the line that says what was assumed, the chart of money paid, the sliders' data."""

import pandas as pd
import pytest
from sweetspot.report.case import _ahead
from sweetspot.report.charts.owning import cash_lines
from sweetspot.report.phrases import ahead as in_words

DRIFT = {"trend_kind": "drift", "trend_change": -0.03, "trend_change_low": -0.4, "trend_change_high": 0.27}
NONE = {"trend": None, "trend_kind": None, "trend_change": None, "trend_change_low": None, "trend_change_high": None}
SOLD = [{"years": 0.0, "kept": 0.8}, {"years": 3.0, "kept": 0.4}]


def told(*offers):
    blank = {"residual_points": None, "residual_usd": 0.0, "capex_usd": None}
    return in_words(
        {"offers": pd.DataFrame([NONE | blank | one for one in offers]), "verdict": pd.DataFrame([{"a": 1}])}
    )


def test_nothing_is_said_where_every_price_stays():
    assert told({}) == ""
    assert in_words({"offers": pd.DataFrame(), "verdict": pd.DataFrame()}) == ""


def test_each_path_is_named_once_with_its_numbers():
    line = told(
        DRIFT | {"trend": "small_cloud"},
        DRIFT | {"trend": "small_cloud"},
        {"trend": "spot", "trend_kind": "random_walk"},
    )
    assert line.count("smaller clouds change by −3 % a year (each year anew, −40 % to +27 %)") == 1
    assert "spot prices walk at random" in line
    own = told(DRIFT | {"trend": "own drift", "trend_change": -0.1})
    assert "own drift (−10 % a year)" in own


def test_what_machines_are_sold_for_is_said_as_a_share():
    line = told({"residual_points": SOLD, "residual_usd": 40.0, "capex_usd": 100.0})
    assert (
        line
        == "Bought machines are sold at the end of the project for 40 % of their price, by their devices' age then."
    )


def test_money_paid_for_a_falling_rent_bends_and_ends_where_the_mean_says():
    months = list(range(25))
    flow = {"instance": "box", "price_list": "own", "month": months, "cumulative_usd": 0.0, "days_per_month": 10.0}
    row = {"model": "m", "persistent": True, "in_answer": True, "purchase": "own", "images_per_s": 1.0}
    row |= {"price_list": "own"}
    ranks = [
        row | {"instance": "box", "option": "box", "images_per_usd": 1.0, "trend_kind": None, "trend_change": None},
        row
        | {
            "instance": "far",
            "option": "far",
            "purchase": "on_demand",
            "images_per_usd": 864.0,
            "trend_kind": "drift",
            "trend_change": -0.5,
        },
    ]
    lines = cash_lines(pd.DataFrame(flow), pd.DataFrame(ranks), "box", "m")
    paid = lines[lines["option"] == "far"].set_index("month")["cumulative_usd"]
    # 24 x 10 x 3600 images a month at 864 a USD: 1,000 USD a month on average; the first year pays 1 of 1 + 0.5 parts
    assert (paid[0], paid[24]) == pytest.approx((0.0, 24000.0))
    assert paid[12] == pytest.approx(24000 / 1.5)


def test_the_sliders_know_the_curve_of_the_box_and_which_rents_may_move():
    assert _ahead({"purchase": "own", "residual_points": SOLD}) == {"resale": [[0.0, 0.8], [3.0, 0.4]]}
    assert _ahead({"purchase": "own", "residual_points": None}) == {"resale": []}
    assert _ahead({"purchase": "on_demand", **DRIFT}) == {"rent_change": -0.03}
    assert _ahead({"purchase": "spot", "trend_kind": "random_walk", "trend_change": float("nan")}) == {
        "rent_change": 0.0
    }
    assert _ahead({"purchase": "reserved", "trend_kind": "fixed"}) == {"rent_change": None}
