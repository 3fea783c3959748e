"""A turning point, put into the price list, does turn the answer: also where the rival is a box of one's own.

Two boxes in one list, the second slower and cheaper, and a rented machine. Tables are made anew from the list for each
value, by the code that prices it; the tornado only varies a formula.
"""

from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, cost, figure, inputs, settings
from price_lists import machines, offers, price_list
from sweetspot.decision.compare import Inputs
from sweetspot.decision.options import build_options
from sweetspot.decision.simulate import simulate
from sweetspot.decision.tornado import tornado

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


def put(assumption, value, rented=3.06):
    """The list, and the speeds, with one assumption of the tornado at a value: shared ones for both boxes."""
    own = {"price of": "capex", "power of": "kw", "maintenance of": "maintenance_per_month"}
    both = {"electricity price": "per_kwh", "length of the project": "months", "days of use a month": "days_per_month"}
    what, _, whose = assumption.partition(" of ")
    if assumption in both:
        terms = {both[assumption]: value}
        return listed(rented, second=terms, **terms), SPEED
    if what == "throughput":
        return listed(rented), SPEED | {whose: value}
    if whose == RENTED:
        return listed(value), SPEED
    if what == "resale value":
        return listed(rented, residual=value), SPEED
    return listed(rented, **{own[f"{what} of"]: value}), SPEED


@pytest.mark.parametrize("rented", [3.06, 0.40], ids=["a box wins", "the rented machine is near"])
def test_each_turning_point_put_into_the_list_turns_the_answer_and_a_little_less_does_not(rented):
    rows = tornado(options_of(listed(rented)), 30.5).set_index("assumption")
    now = winner(listed(rented))
    turning = rows["flip_value"].dropna().drop("price of second", errors="ignore")
    assert len(turning) >= 9
    for assumption, value in turning.items():
        towards = 1 if value > rows.loc[assumption, "value"] else -1
        beyond, short = (winner(*put(assumption, value * (1 + towards * part), rented)) for part in (0.001, -0.001))
        assert (short == BOX) is (now == BOX), assumption
        assert (beyond == BOX) is not (now == BOX), assumption


def test_the_ends_of_a_range_are_what_the_list_gives_there():
    rows = tornado(options_of(listed()), 30.5).set_index("assumption")
    for assumption, row in rows.drop(index="price of second").iterrows():
        for end in ("low", "high"):
            made = options_of(*put(assumption, row[end])).set_index("instance")["images_per_usd"]
            assert row[f"margin_{end}"] == pytest.approx(made[BOX] / made.drop(BOX).max()), (assumption, end)


def test_a_price_at_which_the_box_costs_nothing_is_a_box_that_wins():
    """Sold for 900 USD whatever it cost: at a thousandth of its price it earns, and there is a price between."""
    prices = listed(curve=False, kw=0.01, capex=30000, maintenance_per_month=0)
    assert winner(prices) == "second"
    row = tornado(options_of(prices), 30.5).set_index("assumption").loc[f"price of {BOX}"]
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
