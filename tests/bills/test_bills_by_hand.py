"""Bills and prices of rented machines, worked out on paper or against the figure that their source prints."""

import numpy as np
import pytest
from price_lists import cell, list_tables, machines, offers, price_list, priced
from sweetspot.bills.renting import billed_months, billed_seconds
from sweetspot.bills.schemas import bounds

MONTH = 30.5 * 24
EURO = {"currency": "XTS", "as_of": "2018-06-01", "source": "bank"}
# 1 for the machine and 2 x 1.5 for devices
PARTS = {"machine": {"name": "n1", "per_hour": 1.0}, "gpu": {"name": "v100", "per_hour": 1.5}, "count": 2}


def runs(hours, number=1, **other):
    return {"kind": "runs", "runs": number, "hours": hours} | other


def bill(work, **offer):
    """The cost of a work on one machine, and its lines."""
    costs, bills = priced(price_list({"instance": "x"} | offer), [cell("x")], work=work)
    (row,) = costs.to_dict("records")
    return row, bills.set_index("line")["usd"].to_dict()


@pytest.mark.parametrize(
    ("work", "offer", "usd"),
    [
        # RaRe 2018, table 1: training hours and cost; Softlayer's costs fit whole hours only (11.2 = 4 x 2.8).
        (runs(3.62), {"per_hour": 0.9, "billing": {"granularity": "second"}}, (3.3, 0.05)),
        (runs(1.09), {"per_hour": 2.3, "billing": {"granularity": "millisecond"}}, (2.5, 0.05)),
        (runs(3.16), {"per_hour": 2.8, "billing": {"granularity": "hour"}}, (11.2, 0.05)),
        (runs(3.16), {"per_hour": 2.8, "billing": {"granularity": "second"}}, (8.85, 0.01)),
        (runs(0.5 / 3600), {"per_hour": 3600.0, "billing": {"granularity": "second"}}, 1.0),
        (runs(5e-4 / 3600), {"per_hour": 3600.0, "billing": {"granularity": "millisecond"}}, 0.001),
        (runs(2.27), {"per_month": 120.0, "billing": {"granularity": "month"}}, 120),
        # a minimum of ten minutes, setup and a monthly fee; 1000 h are 1.37 months: two of them
        *((work, {"per_hour": 6.0, "billing": {
            "granularity": "minute", "minimum_s": 600, "setup": 50, "monthly": 5, "prorated": False}}, usd)
          for work, usd in ((runs(0.01, 3), 3 * 600 / 3600 * 6 + 50 + 5), (runs(1000), 1000 * 6 + 50 + 2 * 5))),
        (runs(MONTH), {"compose": PARTS}, 4 * MONTH),
    ],
)  # fmt: skip
def test_what_a_work_costs(work, offer, usd):
    value, error = usd if isinstance(usd, tuple) else (usd, 1e-6 * usd)
    assert bill(work, **offer)[0]["usd"] == pytest.approx(value, abs=error)


@pytest.mark.parametrize(
    ("work", "offer", "lines"),
    [
        (runs(8), {"per_hour": 1.0, "billing": {"monthly_minimum": 20, "prorated": False}},
         {"use": 8, "monthly minimum": 12}),
        # without a spread a month is what the hours take: 24 of the month's 732 hours
        (runs(8.0, 3), {"per_hour": 1.0, "billing": {"monthly": 30.5}}, {"use": 24, "monthly fee": 1}),
    ],
)  # fmt: skip
def test_the_lines_of_a_bill(work, offer, lines):
    assert bill(work, **offer)[1] == pytest.approx(lines)


def test_bill_line_by_line_of_the_cheap_cron():
    fees = [{"name": "scheduler rules", "per_month": 0.10, "count": 2},
            {"name": "functions", "per_start": 0.000000463 * 10 * 60, "count": 2}]  # fmt: skip
    billing = {"granularity": "second", "storage": {"gb": 10, "per_gb_month": 0.04}, "fees": fees}
    vm = {"instance": "vm", "purchase": "preemptible", "per_hour": 0.01, "billing": billing}
    costs, bills = priced(price_list(vm), [cell("vm")], cron=runs(2 / 60, 180, months=1))
    lines = bills.set_index("line")["usd"].round(2).to_dict()
    assert lines == {"use": 0.06, "storage": 0.40, "fee: scheduler rules": 0.20, "fee: functions": 0.10}
    assert costs["usd"].item() == pytest.approx(0.76, abs=0.005)


def test_fees_by_start_hour_and_month_and_each_line_of_a_bill():
    fees = [{"name": "rules", "per_start": 0.5, "count": 3.0}, {"name": "licence", "per_hour": 0.25},
            {"name": "licence", "per_month": 7.0}]  # fmt: skip
    billing = {"setup": 11.0, "monthly": 13.0, "storage": {"gb": 100.0, "per_gb_month": 0.02}, "fees": fees,
               "egress": {"gb": 50.0, "per_gb": 0.1}, "granularity": "hour", "monthly_minimum": 40.0}  # fmt: skip
    # four runs of 1.5 h, billed as 2 h each, spread over two months: 8 h cost 16, the minimum of two months is 80
    row, lines = bill(runs(1.5, 4, months=2.0), per_hour=2.0, billing=billing)
    expected = {
        "use": 12, "rounding and discounts": 4, "monthly minimum": 64, "setup": 11, "monthly fee": 26, "storage": 4,
        "egress": 5, "fee: rules": 4 * 1.5, "fee: licence": 8 * 0.25 + 2 * 7,
    }  # fmt: skip
    assert lines == pytest.approx(expected)
    assert (row["usd"], row["hours"], row["machine_hours"]) == pytest.approx((sum(expected.values()), 6, 6))


def test_a_fee_is_due_for_its_own_offer_only():
    # one machine in two ways and another: 3 h at 1 USD, and 0.25 more an hour where the licence is
    fee = {"fees": [{"name": "licence", "per_hour": 0.25}]}
    prices = price_list({"instance": "x", "per_hour": 1.0, "billing": fee},
                        {"instance": "x", "purchase": "reserved", "per_hour": 1.0},
                        {"instance": "y", "per_hour": 1.0})  # fmt: skip
    costs, _ = priced(prices, [cell("x"), cell("y")], work=runs(3.0))
    found = {(row.instance, row.purchase): row.usd for row in costs.itertuples()}
    assert found == {("x", "on_demand"): 3.75, ("x", "reserved"): 3.0, ("y", "on_demand"): 3.0}


def test_seconds_and_months_are_rounded_up_but_not_for_rounding():
    found = billed_seconds([0.0, 0.1, 60.0, 60.001, 200.0], [60.0] * 5, [0.0, 0.0, 0.0, 0.0, 300.0])
    assert found.tolist() == [0, 60, 60, 120, 300]
    assert billed_seconds([0.1 + 0.2], [0.1], [0.0]).tolist() == pytest.approx([0.3])  # 3 units and a last digit
    assert billed_seconds([1.5], [0.0], [0.0]).tolist() == [1.5]
    assert billed_seconds([1.4, 1.4], [1.0, 0.5], [0.0, 0.0]).tolist() == [2.0, 1.5]
    hours = np.array([0.0, 1.0, MONTH, 1.5 * MONTH, MONTH * (1 + 1e-12), MONTH * (1 + 1e-6)])
    assert billed_months(hours, 30.5, False).tolist() == [0, 1, 1, 2, 1, 2]
    assert billed_months(hours[:4], 30.5, True).tolist() == pytest.approx([0, 1 / MONTH, 1, 1.5])


def ends(row, name):
    return [row[f"{name}{end}"] for end in ("_low", "", "_high")]


def test_rates_of_every_unit_are_the_same_hour_converted_with_its_dated_rate_and_tax():
    units = {"per_minute": 0.06, "per_hour": 3.6, "per_month": 3.6 * MONTH}
    prices = price_list(*({"instance": unit.replace("_", "-"), unit: value} for unit, value in units.items()))
    assert offers(prices)["usd_per_hour"].tolist() == pytest.approx([3.6] * 3)
    assert bounds(None).tolist() == [0.0, 0.0, 0.0]  # no amount is nothing at all ends
    rate = EURO | {"usd": {"value": 1.2, "low": 1.1, "high": 1.3}}
    tax = {"rate": 0.2, "included": True}
    row = offers(price_list({"instance": "x", "per_minute": 0.02}, currency="XTS", rates=[rate], vat=tax)).loc["x"]
    assert ends(row, "usd_per_hour") == pytest.approx([0.02 * 60 * usd / 1.2 for usd in (1.1, 1.2, 1.3)])


@pytest.mark.parametrize(
    ("included", "reclaimed", "usd"),
    [(True, True, 1.2 / 1.25), (True, False, 1.2), (False, True, 1.2), (False, False, 1.5)],
)
def test_tax_and_exchange_multiply_every_sum(included, reclaimed, usd):
    billing = {"setup": 10.0, "fees": [{"name": "f", "per_start": 1.0}]}
    vat = {"rate": 0.25, "included": included, "reclaimed": reclaimed}
    prices = price_list({"instance": "x", "per_hour": 1.0, "vat": vat, "billing": billing}, currency="XTS",
                        rates=[EURO | {"usd": 1.2}])  # fmt: skip
    row = offers(prices).loc["x"]
    assert [row["usd_per_hour"], row["setup_usd"]] == pytest.approx([usd, 10 * usd])
    assert list_tables(prices, machines(prices))[1]["usd"].tolist() == pytest.approx([usd])
    assert row["source"] == "this test ; 1 XTS = 1.2 USD on 2018-06-01: bank"


def test_every_sum_of_the_terms_is_in_dollars():
    # 2 USD for a euro; the ends of that rate are the ends of prices only
    terms = {"setup": 3.0, "monthly": 5.0, "monthly_minimum": 7.0, "storage": {"gb": 10.0, "per_gb_month": 0.11},
             "egress": {"gb": 10.0, "per_gb": 0.13}, "fees": [{"name": "f", "per_hour": 0.17, "count": 2.0},
             {"name": "g", "per_month": 0.19}]}  # fmt: skip
    deal = {"purchase": "reserved", "commitment": {"term_months": 12, "upfront": 120.0, "per_month": 7.0}}
    listed = {"instance": "x", "per_month": 19.0, "billing": terms}, {"instance": "y"} | deal
    rates = [EURO | {"usd": {"value": 2.0, "low": 1.5, "high": 3.0}}]
    prices = price_list(*listed, currency="XTS", title="In euro", rates=rates)
    row = offers(prices).loc["x"]
    assert row["price_list_title"] == "In euro" and offers(prices).loc["y", "fixed_usd_per_month"] == 2 * (10 + 7)
    names = ("setup_usd", "monthly_usd", "monthly_minimum_usd", "storage_usd_per_month", "egress_usd", "month_usd")
    assert [row[name] for name in names] == pytest.approx([6, 10, 14, 2.2, 2.6, 38])
    assert list_tables(prices, machines(prices))[1]["usd"].tolist() == pytest.approx([0.68, 0.38])


def test_every_end_of_a_composition_is_the_machines_and_its_devices():
    machine = {"name": "n1", "per_hour": {"value": 1.0, "low": 0.9, "high": 1.2}}
    device = {"name": "v100", "per_hour": {"value": 2.0, "low": 1.5, "high": 3.0}}
    row = offers(price_list({"instance": "x", "compose": {"machine": machine, "gpu": device, "count": 3}})).loc["x"]
    assert ends(row, "usd_per_hour") == pytest.approx([0.9 + 4.5, 1 + 6, 1.2 + 9])


def test_spot_is_held_against_the_price_on_demand_of_the_same_machine():
    table = offers(price_list(
        {"instance": "y", "purchase": "spot", "per_hour": 1.0}, {"instance": "z", "per_hour": 9.0},
        {"instance": "y", "per_hour": 3.0}))  # fmt: skip
    spot = table[table["purchase"] == "spot"].loc["y"]
    assert spot["on_demand_usd_per_hour"] == 3.0  # of the same machine, not of the first in the list


def test_intervals_of_price_and_throughput_reach_the_cost():
    prices = price_list({"instance": "x", "per_hour": {"value": 2, "low": 1, "high": 3}})
    cells = [cell("x", 100, images_per_s_low=80.0, images_per_s_high=125.0)]
    row = priced(prices, cells, job={"kind": "training", "model": "vgg16", "samples": 36e6})[0].iloc[0]
    assert ends(row, "hours") == pytest.approx([80, 100, 125])
    assert ends(row, "usd") == pytest.approx([80, 200, 375])
    assert ends(row, "images_per_usd") == pytest.approx([80 * 1200, 100 * 1800, 125 * 3600])


@pytest.mark.parametrize(("number", "status"), [(974, "ok"), (975, "never finishes")])
def test_runs_one_after_the_other_that_take_a_century_never_finish(number, status):
    # 974 x 900 h are 876,600 h, a hundred years
    assert bill(runs(900.0, number), per_hour=1.0)[0]["status"] == status


def test_a_cell_that_failed_keeps_its_row_and_has_no_price_at_all():
    costs, _ = priced(price_list({"instance": "x", "per_hour": 1.0}), [cell("x", status="oom")], work=runs(10.0))
    assert costs["status"].tolist() == ["oom"]
    assert costs[["hours", "usd", "machine_hours", "images_per_usd"]].isna().all(axis=None)
    # what costs nothing by the hour has no images per dollar
    free = {"capex": 0.0, "months": 36.0, "kw": 0.0, "per_kwh": 0.2, "days_per_month": 10.0}
    assert np.isnan(bill(runs(10.0), purchase="own", own=free)[0]["images_per_usd"])
