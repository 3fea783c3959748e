"""Terms of payment: each checked by hand calculation or against the figure that its source prints."""

import pandas as pd
import pytest
import yaml
from price_lists import STUDY_DATE, cell, offers, price_list, priced
from project_copy import ROOT
from sweetspot.bills.renting import sustained_fraction
from sweetspot.errors import UserError
from sweetspot.study.base import validated
from sweetspot.study.price_list import PriceList

# Google's tiers of 2018: each quarter of the month pays less.
GOOGLE = [(0.25, 1.0), (0.5, 0.8), (0.75, 0.6), (1.0, 0.4)]


def hours_of(hours: float, runs: int = 1, **other) -> dict:
    return {"kind": "runs", "runs": runs, "hours": hours} | other


@pytest.mark.parametrize(
    ("printed", "hours", "per_hour", "granularity"),
    [
        # RaRe 2018, table 1: training hours and cost; Softlayer's costs fit whole hours only (11.2 = 4 x 2.8).
        (3.3, 3.62, 0.9, "second"),
        (2.5, 1.09, 2.3, "millisecond"),
        (11.2, 3.16, 2.8, "hour"),
    ],
)
def test_granularity_gives_the_costs_that_rare_prints(printed, hours, per_hour, granularity):
    prices = price_list({"instance": "x", "per_hour": per_hour, "billing": {"granularity": granularity}})
    costs, _ = priced(prices, [cell("x")], job=hours_of(hours))
    assert costs["usd"].item() == pytest.approx(printed, abs=0.05)


def test_softlayer_by_the_second_would_not_be_what_is_printed():
    prices = price_list({"instance": "x", "per_hour": 2.8, "billing": {"granularity": "second"}})
    costs, _ = priced(prices, [cell("x")], job=hours_of(3.16))
    assert costs["usd"].item() == pytest.approx(8.85, abs=0.01)


def test_the_list_shown_in_the_manual_is_valid():
    manual = (ROOT / "docs" / "prices.md").read_text()
    shown = yaml.safe_load(manual.split("```yaml")[1].split("```")[0])
    assert validated(PriceList, shown, "docs/prices.md").offers[0].per_hour.value == 0.9


def test_rates_of_every_unit_are_the_same_hour():
    units = {"per_second": 0.001, "per_minute": 0.06, "per_hour": 3.6, "per_day": 86.4, "per_week": 604.8}
    units["per_month"] = 3.6 * 24 * 30.5
    prices = price_list(*({"instance": unit.replace("_", "-"), unit: value} for unit, value in units.items()))
    assert offers(prices)["usd_per_hour"].tolist() == pytest.approx([3.6] * 6)


def test_euro_a_minute_is_converted_with_its_dated_rate_and_tax():
    rate = {"currency": "EUR", "usd": {"value": 1.2, "low": 1.1, "high": 1.3}, "as_of": STUDY_DATE, "source": "a bank"}
    tax = {"rate": 0.2, "included": True}
    prices = price_list({"instance": "x", "per_minute": 0.02}, currency="EUR", rates=[rate], vat=tax)
    row = offers(prices).loc["x"]
    assert row["usd_per_hour"] == pytest.approx(0.02 * 60 * 1.2 / 1.2)
    assert row["usd_per_hour_high"] == pytest.approx(0.02 * 60 * 1.3 / 1.2)
    assert "a bank" in row["source"]
    borne = price_list({"instance": "x", "per_hour": 1.0}, vat={"rate": 0.2, "included": False, "reclaimed": False})
    assert offers(borne).loc["x", "usd_per_hour"] == pytest.approx(1.2)


def test_bill_line_by_line_of_the_cheap_cron():
    billing = {
        "granularity": "second",
        "storage": {"gb": 10, "per_gb_month": 0.04},
        "fees": [
            {"name": "scheduler rules", "per_month": 0.10, "count": 2},
            {"name": "functions", "per_start": 0.000000463 * 10 * 60, "count": 2},
        ],
    }
    prices = price_list(
        {"instance": "vm", "purchase": "preemptible", "per_hour": 0.01, "billing": billing}, month_days=30
    )
    costs, bills = priced(prices, [cell("other")], cron=hours_of(2 / 60, 180, months=1))
    lines = bills.set_index("line")["usd"].round(2).to_dict()
    assert lines == {"use": 0.06, "storage": 0.40, "fee: scheduler rules": 0.20, "fee: functions": 0.10}
    assert costs["usd"].item() == pytest.approx(0.76, abs=0.005)
    assert pd.isna(costs["images_per_usd"].item())


def test_minimum_charge_setup_and_monthly_fee():
    billing = {"granularity": "minute", "minimum_s": 600, "setup": 50, "monthly": 5, "prorated": False}
    prices = price_list({"instance": "x", "per_hour": 6.0, "billing": billing})
    costs, _ = priced(prices, [cell("x")], short=hours_of(0.01, runs=3), long=hours_of(1000))
    usd = costs.set_index("workload")["usd"]
    assert usd["short"] == pytest.approx(3 * 600 / 3600 * 6 + 50 + 5)
    assert usd["long"] == pytest.approx(1000 * 6 + 50 + 2 * 5)  # 1000 h are 1.37 months: two of them


def test_monthly_minimum_and_whole_month_rental():
    floor = price_list({"instance": "x", "per_hour": 1.0, "billing": {"monthly_minimum": 20, "prorated": False}})
    costs, bills = priced(floor, [cell("x")], job=hours_of(8))
    assert costs["usd"].item() == pytest.approx(20)
    assert bills.set_index("line")["usd"]["monthly minimum"] == pytest.approx(12)
    month = price_list({"instance": "x", "per_month": 120.0, "billing": {"granularity": "month"}})
    costs, _ = priced(month, [cell("x")], job=hours_of(2.27))
    assert costs["usd"].item() == pytest.approx(120)


def test_sustained_use_earns_thirty_per_cent_over_a_whole_month():
    assert float(sustained_fraction(1.0, GOOGLE)) == pytest.approx(0.7)  # Google's own figure for a whole month
    assert float(sustained_fraction(0.25, GOOGLE)) == pytest.approx(1.0)
    prices = price_list({"instance": "x", "per_hour": 1.0, "sustained": {"tiers": [list(tier) for tier in GOOGLE]}})
    costs, _ = priced(prices, [cell("x")], job=hours_of(732.0))
    assert costs["usd"].item() == pytest.approx(732 * 0.7)


def test_an_interrupted_job_that_never_ends_says_so():
    often = {"per_hour": 10.0, "checkpoint_s": 60, "restore_s": 7200, "wait_s": 600, "every_s": 3600, "source": "-"}
    prices = price_list({"instance": "x", "purchase": "spot", "per_hour": 1.0}, interruptions=often)
    costs, bills = priced(prices, [cell("x")], job=hours_of(300))
    assert costs["status"].item() == "never finishes"
    assert costs[["hours", "usd", "hours_high", "usd_high", "images_per_usd"]].isna().all(axis=None)
    assert bills.empty


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"rates": [{"currency": "EUR", "usd": -1, "as_of": STUDY_DATE, "source": "-"}]}, ["rates[0].usd", "-1"]),
        ({"as_of": "soon"}, ["as_of", "'soon'"]),
        ({"currency": "dollars"}, ["currency", "'dollars'"]),
    ],
)
def test_a_faulty_list_is_one_sentence(keys, words):
    with pytest.raises(UserError) as error:
        price_list({"instance": "x", "purchase": "spot", "per_hour": 1.0}, **keys)
    for word in ["list.yaml", *words]:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("offer", "words"),
    [
        ({"per_hour": {"value": 2, "low": 3}}, ["offers[0].per_hour", "low <= value"]),
        ({"per_hour": True}, ["offers[0].per_hour"]),
        ({"per_hour": float("nan")}, ["offers[0].per_hour"]),
    ],
)
def test_a_faulty_offer_is_one_sentence(offer, words):
    with pytest.raises(UserError) as error:
        price_list({"instance": "x"} | offer)
    for word in words:
        assert word in str(error.value)


def test_hours_on_a_named_machine_scale_with_throughput():
    prices = price_list({"instance": "fast", "per_hour": 1.0}, {"instance": "slow", "per_hour": 1.0})
    cells = [cell("fast", 200), cell("slow", 50)]
    costs, _ = priced(prices, cells, search=hours_of(24, runs=10, instance="slow", model="vgg16"))
    assert costs.set_index("instance")["hours"].to_dict() == pytest.approx({"fast": 60, "slow": 240})


def test_intervals_of_price_and_throughput_reach_the_cost():
    prices = price_list({"instance": "x", "per_hour": {"value": 2, "low": 1, "high": 3}})
    cells = [cell("x", 100, images_per_s_low=80.0, images_per_s_high=125.0)]
    row = priced(prices, cells, job={"kind": "training", "model": "vgg16", "samples": 36e6})[0].iloc[0]
    assert [row["hours_low"], row["hours"], row["hours_high"]] == pytest.approx([80, 100, 125])
    assert [row["usd_low"], row["usd"], row["usd_high"]] == pytest.approx([80, 200, 375])
    assert [row["images_per_usd_low"], row["images_per_usd_high"]] == pytest.approx([80 * 1200, 125 * 3600])


def test_a_failed_cell_keeps_its_row_and_says_so():
    prices = price_list({"instance": "x", "per_hour": 1.0})
    failed = cell("x", float("nan"), status="oom")
    row = priced(prices, [failed], job={"kind": "training", "model": "vgg16", "samples": 1e6})[0].iloc[0]
    assert row["status"] == "oom"
    assert pd.isna(row["usd"])
