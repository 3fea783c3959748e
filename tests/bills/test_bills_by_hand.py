"""Bills and prices of rented machines whose parts differ from one, zero and their neighbours, worked out on paper."""

import math

import numpy as np
import pytest
from price_lists import cell, findings, machines, offers, price_list, priced
from sweetspot.bills.renting import (
    billed_months,
    billed_seconds,
    losing_rate,
    makespan,
    overhead,
    sustained_fraction,
    wall_time,
)

TAKEN = {"per_hour": 1 / 6, "checkpoint_s": 300.0, "restore_s": 360.0, "every_s": 3600.0, "wait_s": 900.0,
         "source": "this test"}  # fmt: skip

# Daly: M = 6 h, d = 1/12 h, R = 0.1 h, tau = 1 h
DALY = 6 * math.exp(0.1 / 6) * (math.exp((1 + 1 / 12) / 6) - 1)
LAST = 6 * math.exp(0.1 / 6) * (math.exp(1 / 6) - 1)  # the hour with which a job ends needs no checkpoint

HOURS = {"kind": "runs", "runs": 1, "hours": 10.0}


def only(table):
    assert len(table) == 1
    return table.iloc[0]


def training(samples):
    return {"kind": "training", "model": "vgg16", "samples": float(samples)}


def test_interruptions_divide_the_images_of_a_dollar_and_multiply_the_bill():
    prices = price_list({"instance": "x", "purchase": "spot", "per_hour": 2.0, "interruptions": TAKEN})
    costs, _ = priced(prices, [cell("x", 100.0)], work=training(3_600_000))
    row = only(costs)
    assert row["images_per_usd"] == pytest.approx(3600 * 100 / (2 * DALY))
    assert row["machine_hours"] == pytest.approx(9 * DALY + LAST)
    assert row["usd"] == pytest.approx(2 * (9 * DALY + LAST))
    assert row["hours"] == pytest.approx((9 * DALY + LAST) * (1 + 0.25 / 6))  # a quarter of an hour's wait at each
    offer = offers(prices).loc["x"]
    assert offer["spot_overhead"] == pytest.approx(DALY)
    assert (offer["checkpoint_s"], offer["restore_s"], offer["wait_s"], offer["every_s"]) == (300, 360, 900, 3600)


def test_the_cheap_end_of_a_dollars_images_takes_the_dear_end_of_what_they_cost():
    often = {**TAKEN, "per_hour": {"value": 1 / 6, "low": 0.0, "high": 0.5}}
    price = {"value": 2.0, "low": 1.5, "high": 3.0}
    prices = price_list({"instance": "x", "purchase": "spot", "per_hour": price, "interruptions": often})
    row = only(priced(prices, [cell("x", 100.0, images_per_s_low=80.0, images_per_s_high=125.0)], w=HOURS)[0])
    dear = 2 * math.exp(0.05) * (math.exp((1 + 1 / 12) / 2) - 1)  # M = 2 h
    assert row["images_per_usd_low"] == pytest.approx(3600 * 80 / (3 * dear))
    assert row["images_per_usd_high"] == pytest.approx(3600 * 125 / 1.5)  # never interrupted
    assert (row["usd_per_hour_low"], row["usd_per_hour_high"]) == (1.5, 3.0)
    last = 2 * math.exp(0.05) * (math.exp(1 / 2) - 1)
    assert row["usd_high"] == pytest.approx(3 * (9 * dear + last))
    assert row["usd_low"] == pytest.approx(1.5 * 10)


def test_checkpoints_that_cost_the_whole_discount_lose_at_any_rate():
    # five minutes of every hour are 1.083 hours an hour: more than 1 / 0.99, so the search for a rate must end at none
    assert losing_rate(0.99, 1.0, 1 / 12, 0.1, 1.0) == 0.0
    rate = losing_rate(0.5, 1.0, 1 / 12, 0.1, 1.0)
    assert float(overhead(rate, 1 / 12, 0.1, 1.0)) == pytest.approx(2.0, rel=1e-6)
    assert losing_rate(1.0, 1.0, 1 / 12, 0.1, 1.0) is None


def test_an_overhead_by_the_formula_and_none_without_interruptions():
    nan = math.nan
    assert float(overhead(1 / 6, 1 / 12, 0.1, 1.0)) == pytest.approx(DALY)
    assert float(overhead(0.0, 1 / 12, 0.1, 1.0)) == 1.0
    assert float(makespan(10.0, 0.5, 0.2)) == pytest.approx(11)
    # a job shorter than the interval is one stretch without a checkpoint; one and a half of them have half a saved one
    short = 6 * math.exp(0.1 / 6) * (math.exp(0.5 / 6) - 1)
    assert float(wall_time(0.5, 1 / 6, 1 / 12, 0.1, 1.0)) == pytest.approx(short)
    assert float(wall_time(1.5, 1 / 6, 1 / 12, 0.1, 1.0)) == pytest.approx(DALY / 2 + LAST)
    assert math.isnan(float(wall_time(nan, 1 / 6, 1 / 12, 0.1, nan)))
    assert float(wall_time(876_599.0, 0.0, 1.0, 0.0, nan)) == 876_599.0  # a hundred years, and no more
    assert float(wall_time(876_601.0, 0.0, 1.0, 0.0, nan)) == math.inf


@pytest.mark.parametrize(
    ("billing", "seconds"),
    [
        ({"granularity": "millisecond"}, 0.001),
        ({"granularity": "second"}, 1),
        ({"granularity": "minute"}, 60),
        ({"granularity": "hour"}, 3600),
        ({"granularity": "month"}, 30.5 * 24 * 3600),
        ({"granularity_s": 7.5}, 7.5),
        ({}, 0),
    ],
)
def test_a_granularity_by_name_is_in_seconds(billing, seconds):
    prices = price_list({"instance": "x", "per_hour": 1.0, "billing": billing})
    assert offers(prices).loc["x", "granularity_s"] == pytest.approx(seconds)


def test_seconds_are_rounded_up_but_not_for_rounding():
    found = billed_seconds([0.0, 0.1, 60.0, 60.001, 200.0], [60.0] * 5, [0.0, 0.0, 0.0, 0.0, 300.0])
    assert found.tolist() == [0, 60, 60, 120, 300]
    assert billed_seconds([0.1 + 0.2], [0.1], [0.0]).tolist() == pytest.approx([0.3])  # 3 units and a last digit
    assert billed_seconds([1.5], [0.0], [0.0]).tolist() == [1.5]
    assert billed_seconds([1.4, 1.4], [1.0, 0.5], [0.0, 0.0]).tolist() == [2.0, 1.5]


def test_months_are_whole_unless_prorated_and_none_for_no_time():
    month = 30.5 * 24
    hours = np.array([0.0, 1.0, month, 1.5 * month])
    assert billed_months(hours, 30.5, False).tolist() == [0, 1, 1, 2]
    assert billed_months(hours, 30.5, True).tolist() == pytest.approx([0, 1 / month, 1, 1.5])


def test_tiers_of_sustained_use_hold_for_their_hours_only():
    tiers = [(0.25, 1.0), (0.5, 0.8), (1.0, 0.4)]
    # half of a month: a quarter at 1, a quarter at 0.8; all of it: another half at 0.4
    found = sustained_fraction([0.0, 0.1, 0.5, 0.75, 1.0, 2.0], tiers)
    assert found.tolist() == pytest.approx([1, 1, 0.9, (0.25 + 0.2 + 0.1) / 0.75, 0.65, 0.65])


def test_a_discount_on_the_machine_leaves_the_devices_at_their_price():
    # 1 for the machine and 2 x 1.5 for devices; the machine's part is a quarter, of which a full month saves half
    parts = {"machine": {"name": "n1", "per_hour": 1.0}, "gpu": {"name": "v100", "per_hour": 1.5}, "count": 2}
    sustained = {"tiers": [[1.0, 0.5]], "applies_to": "machine"}
    prices = price_list({"instance": "x", "compose": parts, "sustained": sustained})
    month = 30.5 * 24
    _, bills = priced(prices, [cell("x")], work={"kind": "runs", "runs": 1, "hours": month})
    lines = bills.set_index("line")["usd"].to_dict()
    assert lines == pytest.approx({"use": 4 * month, "rounding and discounts": -0.5 * month})


def test_a_discount_on_all_of_a_composition_halves_all_of_it():
    parts = {"machine": {"name": "n1", "per_hour": 1.0}, "gpu": {"name": "v100", "per_hour": 1.5}, "count": 2}
    sustained = {"tiers": [[1.0, 0.5]], "applies_to": "all"}
    prices, month = price_list({"instance": "x", "compose": parts, "sustained": sustained}), 30.5 * 24
    _, bills = priced(prices, [cell("x")], work={"kind": "runs", "runs": 1, "hours": month})
    assert bills["usd"].sum() == pytest.approx(4 * month / 2)


def test_fees_by_start_hour_and_month_and_each_line_of_a_bill():
    fees = [
        {"name": "rules", "per_start": 0.5, "count": 3.0},
        {"name": "licence", "per_hour": 0.25},
        {"name": "licence", "per_month": 7.0},
    ]
    billing = {"setup": 11.0, "monthly": 13.0, "storage": {"gb": 100.0, "per_gb_month": 0.02}, "fees": fees}
    billing |= {"egress": {"gb": 50.0, "per_gb": 0.1}, "granularity": "hour", "monthly_minimum": 40.0}
    prices = price_list({"instance": "x", "per_hour": 2.0, "billing": billing})
    # four runs of 1.5 h, billed as 2 h each, spread over two months: 8 h cost 16, the minimum of two months is 80
    work = {"kind": "runs", "runs": 4, "hours": 1.5, "months": 2.0}
    costs, bills = priced(prices, [cell("x")], work=work)
    expected = {
        "use": 12, "rounding and discounts": 4, "monthly minimum": 64, "setup": 11, "monthly fee": 26, "storage": 4,
        "egress": 5, "fee: rules": 4 * 1.5, "fee: licence": 8 * 0.25 + 2 * 7,
    }  # fmt: skip
    assert bills.set_index("line")["usd"].to_dict() == pytest.approx(expected)
    assert only(costs)["usd"] == pytest.approx(sum(expected.values()))
    assert (only(costs)["hours"], only(costs)["machine_hours"]) == (6, 6)
    offer = offers(prices).loc["x"]
    assert (offer["per_start_usd"], offer["fees_usd_per_hour"], offer["fees_usd_per_month"]) == (1.5, 0.25, 7.0)
    assert (offer["storage_usd_per_month"], offer["egress_usd"], offer["monthly_minimum_usd"]) == (2, 5, 40)


def test_a_fee_is_due_for_its_own_offer_only():
    # one machine in two ways and another: 3 h at 1 USD, and 0.25 more an hour where the licence is
    fee = {"fees": [{"name": "licence", "per_hour": 0.25}]}
    reserved = {"instance": "x", "purchase": "reserved", "per_hour": 1.0}
    prices = price_list(
        {"instance": "x", "per_hour": 1.0, "billing": fee}, reserved, {"instance": "y", "per_hour": 1.0}
    )
    work = {"kind": "runs", "runs": 1, "hours": 3.0}
    costs, _ = priced(prices, [cell("x"), cell("y")], work=work)
    found = {(row.instance, row.purchase): row.usd for row in costs.itertuples()}
    assert found == {("x", "on_demand"): 3.75, ("x", "reserved"): 3.0, ("y", "on_demand"): 3.0}


def test_without_a_spread_a_month_is_what_the_hours_take():
    prices = price_list({"instance": "x", "per_hour": 1.0, "billing": {"monthly": 30.5}})
    _, bills = priced(prices, [cell("x")], work={"kind": "runs", "runs": 3, "hours": 8.0})
    # 24 of the month's 732 hours
    assert bills.set_index("line")["usd"].to_dict() == pytest.approx({"use": 24, "monthly fee": 30.5 / 30.5})


def test_every_end_of_a_composition_is_the_machines_and_its_devices():
    machine = {"name": "n1", "per_hour": {"value": 1.0, "low": 0.9, "high": 1.2}}
    device = {"name": "v100", "per_hour": {"value": 2.0, "low": 1.5, "high": 3.0}}
    prices = price_list({"instance": "x", "compose": {"machine": machine, "gpu": device, "count": 3}})
    row = offers(prices).loc["x"]
    found = (row["usd_per_hour"], row["usd_per_hour_low"], row["usd_per_hour_high"])
    assert found == pytest.approx((1 + 6, 0.9 + 4.5, 1.2 + 9))


def test_an_equal_price_is_that_on_demand_of_the_other_machine():
    prices = price_list(
        {"instance": "y", "purchase": "spot", "per_hour": 1.0},
        {"instance": "z", "per_hour": 9.0},
        {"instance": "y", "per_hour": 3.0},
        {"instance": "x", "same_price_as": "y"},
    )
    table = offers(prices)
    assert table.loc["x", "usd_per_hour"] == 3.0
    spot = table[table["purchase"] == "spot"].loc["y"]
    assert spot["on_demand_usd_per_hour"] == 3.0  # of the same machine, not of the first in the list


def test_tax_and_exchange_multiply_every_sum():
    rates = [{"currency": "EUR", "usd": 1.2, "as_of": "2018-06-01", "source": "bank"}]
    billing = {"setup": 10.0, "fees": [{"name": "f", "per_start": 1.0}]}

    def usd(**vat):
        prices = price_list({"instance": "x", "per_hour": 1.0, "vat": {"rate": 0.25, **vat}, "billing": billing},
                            currency="EUR", rates=rates)  # fmt: skip
        row = offers(prices).loc["x"]
        assert row["setup_usd"] == pytest.approx(10 * row["usd_per_hour"])
        assert row["per_start_usd"] == pytest.approx(row["usd_per_hour"])
        assert row["source"] == "this test ; 1 EUR = 1.2 USD on 2018-06-01: bank"
        return row["usd_per_hour"]

    assert usd(included=True, reclaimed=True) == pytest.approx(1.2 / 1.25)
    assert usd(included=True, reclaimed=False) == pytest.approx(1.2)
    assert usd(included=False, reclaimed=True) == pytest.approx(1.2)
    assert usd(included=False, reclaimed=False) == pytest.approx(1.5)


def test_spot_that_costs_as_much_as_on_demand_does_not_beat_it():
    never = {**TAKEN, "per_hour": 0.0}  # and yet a checkpoint every hour
    for price, beats in ((1.0, False), (0.99, True)):
        spot = {"instance": "x", "purchase": "spot", "per_hour": price, "interruptions": never}
        table = offers(price_list(spot, {"instance": "x", "per_hour": 1.0}))
        assert bool(table[table["purchase"] == "spot"]["spot_beats_on_demand"].iloc[0]) == beats


@pytest.mark.parametrize(("printed", "told"), [(48.0, False), (48.04, False), (48.06, True), (47.95, True)])
def test_a_day_printed_in_euro_is_held_against_the_hour_in_euro(printed, told):
    # 24 x 2 EUR; a thousandth of it, 0.048, is rounding
    rates = [{"currency": "EUR", "usd": 1.2, "as_of": "2018-06-01", "source": "bank"}]
    prices = price_list(
        {"instance": "x", "per_hour": 2.0, "printed": {"per_day": printed}}, currency="EUR", rates=rates
    )
    assert any("day" in finding.message for finding in findings(prices, machines(prices))) == told
