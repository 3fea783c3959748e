"""Two boxes in one list, the second slower and cheaper, and a rented machine: what turns them, by hand and by a list
made anew.
"""

import math
from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, cost, figure, inputs, settings, tornado_of
from price_lists import machines, offers, price_list
from sweetspot.decision.breakeven import break_even
from sweetspot.decision.compare import Inputs
from sweetspot.decision.options import build_options
from sweetspot.decision.simulate import simulate

SPEED = {BOX: 500.0, "second": 300.0, RENTED: 225.0}
OWN = {"months": 30, "maintenance_per_month": 20, "per_kwh": 0.30}
DAYS = {"value": 10, "low": 5, "high": 20}


def listed(rented=3.06, second=None, curve=True, **box):
    """The list with some of the box's terms changed, and some of the second one's; `curve`: resale by age, else 900."""
    resale = {"residual": {"curve": "data-centre", "share": 0.8}} if curve else {"residual": 900}
    first = {**OWN, **resale, "capex": 6500, "kw": 1.0, "days_per_month": DAYS, **box}
    other = {**OWN, **resale, "capex": 3300, "kw": 0.9, "days_per_month": DAYS, **(second or {})}
    return price_list(
        {"instance": BOX, "purchase": "own", "own": first},
        {"instance": "second", "purchase": "own", "own": other},
        {"instance": RENTED, "per_hour": rented},
    )


def options_of(prices, speed=SPEED):
    table = offers(
        prices, machines(prices, **{BOX.replace("-", "_"): {"provider": "own"}, "second": {"provider": "own"}})
    )
    entries = [row | {"instance": name} for name, row in table.to_dict("index").items()]
    market: Inputs = inputs()
    costs = pd.DataFrame([cost(entry, speed[entry["instance"]], 1) for entry in entries])
    rates = pd.DataFrame([figure(name, rate, 1) for name, rate in speed.items()])
    tables = {"throughput": rates, "extrapolation": market.extrapolation.iloc[:0]}
    market = replace(market, costs=costs, offers=pd.DataFrame(entries), **tables)
    return build_options(market.costs, market.offers, market.throughput, market.extrapolation, settings())


def winner(prices, speed=SPEED):
    """Who does an image for the least, by the bill alone."""
    rows = options_of(prices, speed).set_index("instance")["images_per_usd"]
    return rows.idxmax()


def test_a_price_at_which_the_box_costs_nothing_is_a_box_that_wins():
    """Sold for 900 USD whatever it cost: at a thousandth of its price it earns, and there is a price between."""
    prices = listed(curve=False, kw=0.01, capex=30000, maintenance_per_month=0)
    assert winner(prices) == "second"
    row = tornado_of(options_of(prices)).loc[f"price of {BOX}"]
    # second: (3300 - 900) / 30 + 20 = 100 USD a month, / 240 + 0.27 = 0.68667 an hour for 300 images/s; box, for 500:
    # 1.14444 = (capex - 900) / 7200 + 0.003
    assert row["flip_value"] == pytest.approx(900 + 7200 * (0.686667 * 500 / 300 - 0.003), rel=1e-5)


def test_two_boxes_have_one_project_and_one_use():
    """Else their cost would differ by days of use that only one of them is given."""
    options = options_of(listed(months={"value": 30, "low": 20, "high": 40}, second={"months": 24}))
    draws = simulate(options, 1, 400)
    days = dict(zip(options["instance"], draws.days, strict=True))
    assert days[BOX] == pytest.approx(days["second"]) and days[BOX].std() > 1
    # Days are one figure of both; months differ, so they are two figures of one error.
    ends = [figure for figure in draws.figures if figure.name in ("days_per_month", "months")]
    assert {figure.name: figure.rows for figure in ends} == {"days_per_month": [0, 1], "months": [0]}
    other = listed(second={"days_per_month": {"value": 12, "low": 6, "high": 24}})
    apart = options_of(other)
    drawn = dict(zip(apart["instance"], simulate(apart, 1, 400).days, strict=True))
    assert drawn["second"] == pytest.approx(1.2 * drawn[BOX])


def test_two_boxes_have_their_break_even_at_the_same_days():
    """From which days the first pays against the second is where the lists give them the same cost."""
    dear = {"capex": 9800, "kw": 1.0}
    options = options_of(listed(second={"capex": 3300, "kw": 1.5}, **dear))
    found = break_even(options, simulate(options, 1, 400), 30.5).set_index("option")
    # By hand, sold at 30 months for 0.616: (9800 x 0.384 / 30 + 20) / (24 d) + 0.30 =
    # 500 / 300 x ((3300 x 0.384 / 30 + 20) / (24 d) + 0.45): (145.44 - 103.73) / 24 = 0.45 d
    kept = options.set_index("instance")["residual_usd"] / [9800, 3300, 1]
    assert kept[[BOX, "second"]].tolist() == pytest.approx([0.616, 0.616])
    assert found.loc["second", "days"] == pytest.approx((145.44 - 500 / 300 * 62.24) / 24 / (500 / 300 * 0.45 - 0.30))
    cross = {"value": found.loc["second", "days"]}
    made = options_of(listed(second={"capex": 3300, "kw": 1.5, "days_per_month": cross}, days_per_month=cross, **dear))
    per_usd = made.set_index("instance")["images_per_usd"]
    assert per_usd[BOX] == pytest.approx(per_usd["second"])
    # the rented machine asks the same on all days: 3.06 / 225 of an image against the box
    rented = 145.44 / (24 * (3.06 * 500 / 225 - 0.30))
    assert found.loc[RENTED, "days"] == pytest.approx(rented)


def test_the_length_from_which_a_box_pays_is_that_of_both_boxes():
    """A longer project spreads the price of the other box too; the lists made anew say the same."""
    for curve in (True, False):
        dear = {"capex": 9800, "maintenance_per_month": 0}
        cheap = {"capex": 3300, "kw": 1.5, "maintenance_per_month": 0}
        options = options_of(listed(second=cheap, curve=curve, **dear))
        row = break_even(options, simulate(options, 1, 400), 30.5).set_index("option").loc["second"]
        from_then = {
            months: options_of(listed(second=cheap | {"months": months}, curve=curve, **dear, months=months))
            for months in (row["months_needed"] - 1, row["months_needed"])
        }
        pays = [made.set_index("instance")["images_per_usd"] for made in from_then.values()]
        assert [one[BOX] >= one["second"] for one in pays] == [False, True], curve
    # Sold for 900 USD each, 240 h a month: 8900 / m + 72 = 500 / 300 x (2400 / m + 108), 4900 / m = 108
    assert row["months_needed"] == 46  # 45.4
    assert row[["never_below_usd_per_hour", "never_above_usd_per_kwh"]].isna().all()


def test_a_box_that_costs_less_and_takes_less_pays_on_all_days_and_the_other_way_on_none():
    """What gains on the box with more use: it pays on the days planned and on fewer, or it does not."""
    both = [options_of(listed(second=terms)) for terms in ({"kw": 0.1}, {"kw": 0.1, "capex": 1000})]
    tables = [break_even(one, simulate(one, 1, 400), 30.5).set_index("option").loc["second"] for one in both]
    # the second draws little: a 0.1 kW of 300 images/s, 0.05 USD against 0.30 of an hour; at 10 days it costs
    # 500 / 300 x (62.24 / 240 + 0.03) = 0.482 for the work of 0.73, and 0.232 with a price of 1000
    assert [math.isnan(row["days"]) for row in tables] == [True, True]
    first = options_of(listed(second={"kw": 0.8, "capex": 9000}))
    row = break_even(first, simulate(first, 1, 400), 30.5).set_index("option").loc["second"]
    # 500 / 300 x (9000 x 0.384 / 30 + 20) = 225 > 103.2 a month, but 0.4 > 0.3 an hour: cheaper on all days
    assert row["days"] == 0.0 and row["verdict"] == "cheaper on the days planned, and on fewer"


def test_what_the_answer_does_not_weigh_is_no_rival():
    """A machine that is there already, or of another price list than those asked for."""
    options = options_of(listed())
    options.loc[options["instance"] == "second", "in_answer"] = False
    rows = tornado_of(options)
    assert set(rows["rival"]) == {RENTED} and not rows["assumption"].str.contains("second").any()
