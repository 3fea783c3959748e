"""The replay of the history: nothing known before its day, costs by hand, and coverage of bands of a known process."""

from dataclasses import replace

import pandas as pd
import pytest
from study_tables import STUDIES
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import POOLS
from sweetspot.study.terms import Ownership

from research.__main__ import main
from research.back_test import boxes_of, summary
from research.known_then import rents_at
from research.rent_history import CLOUD, read_history, read_resale, read_servers
from research.replay import BUY, Box, Replay

pytestmark = pytest.mark.slow  # replays the history of prices
FOLDER = POOLS / "prices-2026"
OWN = {
    "capex": 1.0,
    "months": 36.0,
    "kw": 10.0,
    "per_kwh": 0.1,
    "days_per_month": 20.0,
    "maintenance_per_month": 1000.0,
}
OWN["residual"] = {"curve": "data-centre", "share": 0.8, "age_years": 0.0}
MARCH_2024 = 12.0 * 2024 + 2
CURVE = ((1.0, 0.75), (3.0, 0.5))


@pytest.fixture(scope="module")
def history():
    return read_history(FOLDER)


def test_what_came_later_changes_no_advice(history):
    box = boxes_of(STUDIES / "eight-gpus-2026", history, read_servers(FOLDER))[0][0]
    whole = Replay(box, history, read_servers(FOLDER), read_resale(FOLDER), 30.5, 20.0)
    day = pd.Timestamp("2024-03-01")
    seen = [table[pd.to_datetime(table["date"]) <= day] for table in (history, whole.servers, whole.resale)]
    cut = replace(whole, history=seen[0], servers=seen[1], resale=seen[2], _markets={}, _advice={})
    assert len(cut.history) < len(whole.history)
    assert cut.market(MARCH_2024) == whole.market(MARCH_2024)
    for months in (6, 12, 24):
        assert cut.advice(MARCH_2024, months) == whole.advice(MARCH_2024, months)
    left, right = (one.options(MARCH_2024, 12) for one in (cut, whole))
    pd.testing.assert_frame_equal(left, right)


def rows(prices):
    """Observations of clouds: {provider: [(month, USD)]}."""
    made = [
        {"kind": CLOUD, "provider": name, "gpu": "X", "machine": "", "time": time, "usd_per_gpu_hour": usd,
         "hand_kept": "no", "date": "2024-01-01"}
        for name, path in prices.items() for time, usd in path
    ]  # fmt: skip
    return pd.DataFrame(made)


def small(prices, server, days=10.0):
    box = Box("own-8x", "X SXM", "X", 8, Ownership.model_validate(OWN), 0.0)
    servers = pd.DataFrame([{"gpu": "X SXM", "date": "", "usd_per_gpu": server, "time": 0.0}])
    resale = pd.DataFrame(columns=["class", "gpu", "date", "age_years", "ratio_to_new", "time"])
    return Replay(replace(box, came_out=24000.0), rows(prices), servers, resale, 30.5, days)


def test_the_ways_of_a_year_by_hand():
    # 8 devices, 240 hours a month: 1 USD until month 5, then 0.5: 1,920 USD a month, then 960
    prices = {"a": [(24000, 1.0), (24005, 0.5)], "b": [(24000, 2.0), (24006, 2.0)]}
    found = small(prices, server=2000.0).outcome(24000.0, 12, CURVE)
    assert found["rented"] == pytest.approx(5 * 1920 + 7 * 960)
    # 16,000 USD, sold after a year at 80 % of 0.75; 12 x (1,000 + 10 kW x 240 h x 0.1)
    assert found["owned"] == pytest.approx(16000 * (1 - 0.6) + 12 * 1240)
    assert found["hindsight"] == pytest.approx(found["rented"])
    # no preset known and no device ever sold: the rule rents
    assert (found["advice"], found["bought"], found["followed"]) == ("a", None, found["rented"])


def test_prices_are_the_last_seen_and_a_rule_that_buys_keeps_the_machine():
    prices = {"a": [(24000, 40.0), (24006, 0.01), (24011, 0.01)]}
    found = small(prices, server=1000.0).outcome(24000.0, 12, CURVE)
    assert (found["advice"], found["bought"]) == (BUY, "2000-01")
    assert found["followed"] == found["owned"] == pytest.approx(8000 * (1 - 0.6) + 12 * 1240)
    # six months at 40 USD already cost 460,800
    assert found["hindsight"] == found["owned"] < found["rented"]
    table = rows({"a": [(0, 1.0), (10, 3.0)], "b": [(0, 2.0)]})
    assert rents_at(table, "X", 9.0) == {("cloud", "a"): 1.0, ("cloud", "b"): 2.0}
    assert rents_at(table, "X", 12.5) == {("cloud", "a"): 3.0}
    assert rents_at(table, "Y", 9.0) == {}


def test_the_summary_holds_each_way_against_hindsight():
    starts = pd.DataFrame({
        "start": ["a", "b"], "advice": [BUY, "x"], "followed": [100.0, 100.0], "rented": [120.0, 80.0],
        "owned": [100.0, 300.0], "hindsight": [100.0, 80.0],
    })  # fmt: skip
    told = summary(starts)
    assert told["followed_over"] == pytest.approx(200 / 180)
    assert (told["advised_to_buy"], told["right_at_once"], told["starts"]) == (1, 2, 2)
    assert told["followed_low"] <= told["followed_over"] <= told["followed_high"]


def test_a_study_without_such_a_machine_and_a_month_that_is_none():
    with pytest.raises(UserError, match="no owned machine has a device"):
        main(["back-test", "parkopedia-2018"])
    with pytest.raises(UserError, match="expected a month as YYYY-MM"):
        main(["back-test", "eight-gpus-2026", "--from", "2023"])
    with pytest.raises(UserError, match="no project of 600 months"):
        main(["back-test", "eight-gpus-2026", "--months", "600"])
