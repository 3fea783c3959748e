"""Lint of owned machines: each bound with an amount just inside and one just outside it."""

import pytest
from price_lists import findings, price_list
from sweetspot.bills.lint.known import purchase_of
from sweetspot.study.instances import Instance

BOX = {"capex": 6500, "months": 30, "kw": 1.0, "per_kwh": 0.2, "days_per_month": 10}


def said(gpu="GTX 1080 Ti", gpus=4, **keys):
    """Messages by rule about one owned machine."""
    known = {"box": Instance(title="box", provider="own", gpu=gpu, gpus=gpus)}
    prices = price_list({"instance": "box", "purchase": "own", "own": BOX | keys})
    return {one.rule: one.message for one in findings(prices, known)}


@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        # four of 250 W: 4 x 0.2 x 250 = 200 W at least, 4 x 2 x 250 + 600 = 2,600 W at most
        ({"kw": 0.2}, None), ({"kw": 0.199}, "own_power"), ({"kw": 2.6}, None), ({"kw": 2.61}, "own_power"),
        ({"kw": 0}, None),
        ({"per_kwh": 0.02}, None), ({"per_kwh": 0.019}, "own_electricity"),
        ({"per_kwh": 1.0}, None), ({"per_kwh": 1.01}, "own_electricity"), ({"per_kwh": 0}, None),
        ({"months": 6}, None), ({"months": 5.9}, "own_months"),
        ({"months": 120}, None), ({"months": 121}, "own_months"),
        ({"days_per_month": 1}, None), ({"days_per_month": 0.99}, "own_days"),
    ],
)  # fmt: skip
def test_an_amount_at_its_bound_and_beyond(keys, rule):
    assert set(said(**keys)) == ({rule} if rule else set())


def test_the_end_of_a_range_that_is_beyond_is_named():
    assert "over 5 months" in said(months={"value": 30, "low": 5, "high": 40})["own_months"]
    assert "over 130 months" in said(months={"value": 30, "low": 20, "high": 130})["own_months"]
    assert "over 130 months" in said(months={"value": 30, "low": 6, "high": 130})["own_months"]
    assert "0.5 days" in said(days_per_month={"value": 10, "low": 0.5, "high": 12})["own_days"]


def test_a_purchase_at_its_bounds():
    """0.4 of the cheapest known to 4 times the dearest and 5,000 USD for the host, a device."""
    known = purchase_of("gtx1080ti")
    assert known is not None
    least, most = 4 * 0.4 * known.low, 4 * 4 * known.high + 5000
    assert said(capex=least + 1) == said(capex=most - 1) == {}
    assert set(said(capex=least - 1)) == set(said(capex=most + 1)) == {"own_purchase"}


def test_of_an_unknown_device_anything_that_there_is():
    assert said("new", 2, kw=10, capex=100) == said("new", 2, kw=0.001, capex=600_000) == {}
    assert set(said("new", 2, kw=10.1, capex=99)) == set(said("new", 2, kw=10.1, capex=600_100)) == {
        "own_power", "own_purchase"
    }  # fmt: skip


def test_reserved_as_dear_as_on_demand_is_no_fault():
    known = {"a": Instance(title="a", provider="b", gpu="new", gpus=1)}
    for usd, told in ((1.0, set()), (1.001, {"reserved_above_on_demand"})):
        offers = [{"instance": "a", "per_hour": 1.0}, {"instance": "a", "purchase": "reserved", "per_hour": usd}]
        assert {one.rule for one in findings(price_list(*offers), known)} == told
