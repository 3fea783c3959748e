"""Rows of the choices by hand: a job on the small market of one box, one machine on demand and the same as spot."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, options_of, settings
from small_lab import same
from sweetspot.decision.priced_works import works
from sweetspot.decision.simulate import simulate
from sweetspot.decision.verdict import choice_table, standing_of
from sweetspot.declared_tables import columns_of

SPOT = f"{RENTED} (spot)"
JOB, SLOW = 94_720_000 / 498 / 3600, 94_720_000 / 225 / 3600  # 52.834 and 116.94 h
USED = 24 * 10  # hours a month of the box
FIXED = 6500 / 30
FEW = np.arange(20.0)


def market_of(**box):
    return options_of(market=inputs(box_more=box))


def drawn(options, usd, **more):
    """Twenty draws of the USD of the options, by key; what is not named costs what it does at central figures."""
    made = simulate(options, 1, 20)
    rows = [usd.get(name, np.full(20, value)) for name, value in zip(options["option"], options["usd"], strict=True)]
    return replace(made, **{"usd": np.array(rows, float), "rents": None, **more})


def work_of(options, usd=None, asked=None, **more):
    """The work of these options."""
    (found,) = works(options, drawn(options, usd or {}, **more), [], [], asked or settings(), {})
    return found


def test_every_column_of_a_job_by_hand():
    """Of twenty draws the ends of 90 % are the second and the last but one."""
    usd = {BOX: 50 + FEW[::-1], RENTED: 300 + 10 * FEW[::-1], SPOT: np.full(20, 60.0)}
    table = choice_table([work_of(market_of(), usd)], ())
    assert table.columns.tolist() == columns_of("choices")
    box = {
        "workload": "imagenet", "workload_title": "VGG-16", "choice": BOX, "alternative": f"{BOX} (own)", "kind": "buy",
        "commitment": "buy", "title": BOX, "instance": BOX, "purchase": "own", "price_list": "own", "counts": 1.0,
        "months": None, "hours": JOB, "device_hours": 4 * JOB, "usd": JOB * (FIXED / USED + 0.2), "usd_low": 51.0,
        "usd_high": 68.0, "usd_per_month": None, "usd_per_month_low": None, "usd_per_month_high": None,
        "p_cheapest": 1.0, "p_cheaper": None, "is_best": True, "ratio": 1.0, "ratio_low": 1.0, "ratio_high": 1.0,
        "in_hand": True, "why_not": None, "cost": "share", "model": "vgg16", "persistent": True,
    }  # fmt: skip
    cloud = {
        "choice": RENTED, "alternative": f"{RENTED} (on_demand)", "kind": "rent",
        "commitment": "nothing", "title": RENTED,
        "instance": RENTED, "purchase": "on_demand", "price_list": "on_demand", "hours": SLOW, "device_hours": SLOW,
        "usd": SLOW * 3.06, "usd_low": 310.0, "usd_high": 480.0,
        "p_cheapest": 0.0, "p_cheaper": 0.0, "is_best": False,
        "ratio": SLOW * 3.06 / box["usd"], "ratio_low": 310 / 51, "ratio_high": 480 / 68,
    }  # fmt: skip
    # 60 USD are less than 61 to 69 of the box's, and as much as one: nine and a half of twenty.
    spot = {
        "choice": SPOT, "alternative": SPOT, "title": SPOT, "purchase": "spot", "price_list": "spot",
        "usd": SLOW * 1.11, "usd_low": 60.0, "usd_high": 60.0,
        "p_cheapest": None, "p_cheaper": 0.475,
        "ratio": SLOW * 1.11 / box["usd"], "ratio_low": 60 / 68, "ratio_high": 60 / 51, "persistent": False,
        "why_not": "interruptible",
    }  # fmt: skip
    of_plans = ["planned_hours", "usd_per_month_central", "main_rented", "reasons"]
    rows = table.to_dict("records")
    for row, expected in zip(rows, (box, box | cloud | spot, box | cloud), strict=True):
        assert set(expected) | set(of_plans) == set(columns_of("choices"))
        same(row, expected | dict.fromkeys(of_plans))


def test_rents_at_todays_prices_are_those_before_they_move():
    """A mean rent of 1.25 times today's, in the draws 1.0 to 2.9 times of that; what is owned has none."""
    options = market_of()
    options["rent_factor"] = np.where(options["option"] == RENTED, 1.25, 1.0)
    path = 1 + FEW / 10

    def factor(row):
        return path if row["option"] == RENTED else np.ones(20)

    found = work_of(options, {RENTED: 400 * path}, rents=SimpleNamespace(factor=factor))
    today = dict(zip(found.table["choice"], found.today, strict=True))
    assert today[RENTED] == pytest.approx(np.full(20, 320.0))
    assert today[BOX].tolist() == found.usd[found.table["choice"].tolist().index(BOX)].tolist()
    central = found.table.set_index("choice")["usd_at_todays_prices"]
    assert central[RENTED] == pytest.approx(SLOW * 3.06 / 1.25) and central[SPOT] == pytest.approx(SLOW * 1.11)
    still = work_of(options, {RENTED: 400 * path})  # no draws of rents: all as it is
    assert still.today.tolist() == still.usd.tolist()


def test_what_a_usd_of_the_price_is_of_the_job():
    """The job takes 52.83 of 7,200 hours; a USD of the price is so much of one."""
    found = work_of(market_of(capex_usd=1.0))
    row = found.table.set_index("choice").loc[BOX]
    assert row["usd_per_capex"] == pytest.approx(JOB / (USED * 30))
    assert found.table["usd_per_capex"].gt(0).sum() == 1  # rented ones have no price
    there = work_of(market_of(capex_usd=0.0))  # not bought
    assert (row["kind"], row["capex_usd"], found.busy, str(there.busy)) == ("buy", 1.0, 10.0, "nan")


def standing(options, **more):
    table = work_of(options, **more).table.set_index("choice")
    return table["stands"].to_dict(), table["why_not"].to_dict()


def test_what_can_be_interrupted_stands_only_as_the_study_s_own_or_where_all_can():
    options = market_of()
    own = options.assign(is_reference=options["option"] == SPOT)
    assert standing(own)[0] == {BOX: True, SPOT: True, RENTED: True}
    stands, why_not = standing(options.assign(persistent=False, is_reference=False))
    assert stands == {BOX: True, SPOT: True, RENTED: True} and set(why_not.values()) == {None}


def test_another_price_list_is_no_answer_and_says_so():
    options = market_of()
    stands, why_not = standing(options.assign(in_answer=options["option"] != BOX))
    assert stands == {BOX: False, SPOT: False, RENTED: True}
    both = choice_table([work_of(options)] * 2, [BOX])  # of two works
    assert both.index.is_unique and (both["in_hand"] == (both["choice"] == BOX)).all()
    assert (why_not[BOX], why_not[SPOT]) == ("not_asked", "interruptible") and pd.isna(why_not[RENTED])
    # Of one that both exclude the list is told.
    assert standing(options.assign(in_answer=False))[1][SPOT] == "not_asked"
    nobody = choice_table([work_of(options.assign(in_answer=False))], ())
    assert not nobody["is_best"].any()
    assert nobody[["ratio", "ratio_low", "ratio_high", "p_cheaper", "p_cheapest"]].isna().all(axis=None)
    assert nobody["usd"].notna().all()


@pytest.mark.parametrize(
    ("usd", "other", "rival"), [(1e6, 1e6 + 0.5, None), (1e6, 1e6 + 1.5, RENTED), (0.5, 0.9, RENTED)]
)
def test_a_millionth_apart_is_the_same(usd, other, rival):
    """Of two that differ by a smaller share in every draw neither is held against the other, however cheap they are."""
    options = market_of()
    two = options[options["option"] != SPOT].reset_index(drop=True)
    costs = {BOX: np.full(20, usd), RENTED: np.full(20, other)}
    work = work_of(two.assign(usd=[costs[name][0] for name in two["option"]]), costs)
    index = standing_of(work)[1]
    assert (None if index is None else work.table["choice"][index]) == rival
