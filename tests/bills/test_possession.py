"""Machines owned, terms committed to, and projects planned on them: by hand calculation."""

import pandas as pd
import pytest
from price_lists import cell, machines, offers, planned, price_list, spent
from sweetspot.bills.owning import usd_per_hour_of_use
from sweetspot.study.instances import Instance


def test_commitment_is_paid_whether_used_or_not():
    # 1200 upfront for 12 months and 0.1 an hour always: (100 + 0.1 x 732)/240 at ten days of use
    deal = {"term_months": 12, "upfront": 1200, "per_hour": 0.1}
    prices = price_list(
        {"instance": "x", "per_hour": 0.9},
        {"instance": "x", "purchase": "reserved", "commitment": deal},
        days_per_month=10,
    )
    row = offers(prices)[lambda table: table["purchase"] == "reserved"].iloc[0]
    assert row["usd_per_hour"] == pytest.approx(173.2 / 240)
    assert row["fixed_usd_per_month"] == pytest.approx(173.2)
    assert row["variable_usd_per_hour"] == 0
    assert row["earning_days_per_month"] == pytest.approx(173.2 / (24 * 0.9))  # 8.0185
    flow = spent(prices)
    assert flow["usd"].tolist() == pytest.approx([1200, *[73.2] * 12])  # 0.1 an hour, all 732 hours of the month
    assert flow["cumulative_usd"].iloc[-1] == pytest.approx(12 * 173.2)


def test_commitment_charged_for_hours_used_leaves_them_out_of_the_month():
    # 600 upfront for 12 months and 5 a month: 55; 0.1 for each hour of the ten days: 24 more, 79 / 240 an hour
    deal = {"term_months": 12, "upfront": 600, "per_month": 5, "per_hour": 0.1, "charged": "used"}
    prices = price_list({"instance": "x", "purchase": "committed", "commitment": deal}, days_per_month=10)
    row = offers(prices).loc["x"]
    assert row[["fixed_usd_per_month", "variable_usd_per_hour"]].tolist() == pytest.approx([55, 0.1])
    assert row["usd_per_hour"] == pytest.approx(79 / 240)
    assert spent(prices)["usd"].tolist() == pytest.approx([600, *[29] * 12])


def test_commitment_that_no_month_of_use_earns_has_no_earning_days():
    # (12000 / 12 + 0.1 x 732) / (24 x 0.9) are 49.7 days
    deal = {"term_months": 12, "upfront": 12000, "per_hour": 0.1}
    listed = {"instance": "x", "per_hour": 0.9}, {"instance": "x", "purchase": "reserved", "commitment": deal}
    assert pd.isna(offers(price_list(*listed, days_per_month=10))["earning_days_per_month"].iloc[1])


def test_ends_of_a_commitment_take_the_cheap_and_the_dear_end_of_every_term():
    deal = {
        "term_months": {"value": 12, "low": 10, "high": 15},
        "upfront": {"value": 1200, "low": 900, "high": 1500},
        "per_hour": {"value": 0.1, "low": 0.05, "high": 0.2},
        "charged": "used",
    }
    days = {"value": 10, "low": 5, "high": 20}
    row = offers(price_list({"instance": "x", "purchase": "reserved", "commitment": deal, "days_per_month": days})).loc[
        "x"
    ]
    assert row[["fixed_usd_per_month_low", "fixed_usd_per_month_high"]].tolist() == pytest.approx([900 / 15, 1500 / 10])
    assert row[["variable_usd_per_hour_low", "variable_usd_per_hour_high"]].tolist() == pytest.approx([0.05, 0.2])
    assert row["usd_per_hour_low"] == pytest.approx(60 / 480 + 0.05)
    assert row["usd_per_hour_high"] == pytest.approx(150 / 120 + 0.2)


def test_a_rented_machine_costs_nothing_by_the_month():
    row = offers(price_list({"instance": "x", "per_hour": {"value": 2, "low": 1, "high": 3}})).loc["x"]
    for end, hour in (("", 2), ("_low", 1), ("_high", 3)):
        assert row[f"fixed_usd_per_month{end}"] == 0
        assert row[f"energy_usd_per_hour{end}"] == 0
        assert row[f"variable_usd_per_hour{end}"] == hour


def test_present_value_of_owning():
    bought = {"capex": 1000, "months": 12, "residual": 110, "maintenance_per_month": 10, "kw": 0, "per_kwh": 0,
              "days_per_month": 10, "discount_rate": 0.1, "boxes": 2}  # fmt: skip
    flow = spent(price_list({"instance": "x", "purchase": "own", "own": bought}))
    assert flow["usd"].tolist() == pytest.approx([2000, *[20] * 11, 20 - 220])
    assert flow["npv_usd"].iloc[-1] == pytest.approx(2000 + sum(20 / 1.1 ** (m / 12) for m in range(1, 13)) - 220 / 1.1)


def test_downtime_shortens_the_days_and_draws_no_power():
    # 6000/30 = 200 a month; 10 days less a fifth are 192 hours; 0.5 kW x 1.2 x 0.2 = 0.12 an hour
    own = {
        "capex": 6000,
        "months": 30,
        "kw": 0.5,
        "pue": 1.2,
        "per_kwh": 0.2,
        "days_per_month": 10,
        "downtime_share": 0.2,
    }
    prices = price_list({"instance": "x", "purchase": "own", "own": own})
    row = offers(prices).loc["x"]
    parts = ["fixed_usd_per_month", "variable_usd_per_hour", "energy_usd_per_hour"]
    assert row[parts].tolist() == pytest.approx([200, 0.12, 0.12])
    assert row["usd_per_hour"] == pytest.approx(200 / 192 + 0.12)
    assert usd_per_hour_of_use(200, 0.12, 10, 0.2) == pytest.approx(200 / 192 + 0.12)
    assert spent(prices)["usd"].iloc[1] == pytest.approx(192 * 0.12)


def test_ends_of_owning_take_the_cheap_and_the_dear_end_of_every_amount():
    own = {
        "capex": {"value": 6000, "low": 5000, "high": 8000},
        "months": {"value": 30, "low": 20, "high": 40},
        "kw": {"value": 0.5, "low": 0.4, "high": 1.0},
        "per_kwh": {"value": 0.2, "low": 0.1, "high": 0.3},
        "days_per_month": {"value": 10, "low": 5, "high": 20},
    }
    row = offers(price_list({"instance": "x", "purchase": "own", "own": own})).loc["x"]
    assert row[["fixed_usd_per_month_low", "fixed_usd_per_month_high"]].tolist() == pytest.approx([125, 400])
    assert row[["energy_usd_per_hour_low", "energy_usd_per_hour_high"]].tolist() == pytest.approx([0.04, 0.3])
    assert row["usd_per_hour_low"] == pytest.approx(125 / 480 + 0.04)
    assert row["usd_per_hour_high"] == pytest.approx(400 / 120 + 0.3)


def test_what_is_shown_of_owning_is_the_middle_of_every_range():
    def around(value):
        return {"value": value, "low": value / 2, "high": value * 1.5}

    own = {"capex": around(6500.0), "months": around(30.0), "residual": around(400.0), "kw": around(1.0),
           "maintenance_per_month": around(10.0), "staff_hours_per_month": around(2.0), "per_kwh": around(0.2),
           "staff_per_hour": around(30.0), "days_per_month": around(10.0),
           "pue": {"value": 1.5, "low": 1.1, "high": 2}}  # fmt: skip
    rates = [{"currency": "XTS", "usd": around(2.0), "as_of": "2018-06-01", "source": "bank"}]
    row = offers(price_list({"instance": "x", "purchase": "own", "own": own}, currency="XTS", rates=rates)).loc["x"]
    names = ("capex_usd", "months", "residual_usd", "maintenance_usd_per_month", "staff_usd_per_month", "kw", "pue",
             "usd_per_kwh", "days_per_month", "energy_usd_per_hour", "fixed_usd_per_month")  # fmt: skip
    fixed = 12_200 / 30 + 20 + 120
    assert [row[name] for name in names] == pytest.approx([13_000, 30, 800, 20, 120, 1, 1.5, 0.4, 10, 0.6, fixed])
    # dear: 50 % more of everything at 50 % more USD, fewer months and days, less back
    dear = (6500 * 1.5 - 200) * 3 / 15 + 15 * 3 + 3 * 45 * 3
    assert row["fixed_usd_per_month_high"] == pytest.approx(dear)
    assert row["energy_usd_per_hour_high"] == pytest.approx(1.5 * 2 * 0.3 * 3)
    assert row["usd_per_hour_high"] == pytest.approx(dear / 120 + 2.7)


def test_three_jobs_of_a_device_each_fit_on_one_machine_of_four():
    known = {
        name: Instance(title=name, provider="cloud", gpu="a card", gpus=gpus) for name, gpus in (("x", 1), ("y", 4))
    }
    phases = [{"name": "search", "jobs": 3, "hours": 2.0, "gpus_per_job": "one"}]
    plan = {"kind": "plan", "model": "vgg16", "instance": "x", "parallel": 2, "phases": phases}
    rows = planned(price_list({"instance": "y", "per_hour": 1.0}), [cell("x"), cell("y", 400.0, gpus=4)], known, p=plan)
    search = rows[rows["phase"] == "search"].iloc[0]
    assert (search["machines"], search["at_once"], search["hours"], search["usd"]) == (1, 3, 2, 2)


def test_a_search_on_ten_rented_machines_and_in_a_queue_on_four_cards():
    own = {"capex": 6500, "months": 30, "kw": 1.0, "per_kwh": 0.2, "days_per_month": 10}
    prices = price_list({"instance": "cloud", "per_hour": 2.0}, {"instance": "box", "purchase": "own", "own": own})
    phases = [
        {"name": "search", "jobs": 10, "hours": 24, "gpus_per_job": "one"},
        {"name": "training", "jobs": 1, "hours": 100, "gpus_per_job": "all"},
    ]
    plan = {"kind": "plan", "model": "vgg16", "instance": "desk", "parallel": 10, "months": 30, "phases": phases}
    known = machines(prices, box={"gpus": 4, "base_instance": "desk"}) | {
        "desk": Instance(title="desk", provider="own", gpu="a card", gpus=1)
    }
    cells = [cell("desk", 150), cell("cloud", 300), cell("box", 500, gpus=4)]
    rows = planned(prices, cells, known, project=plan).set_index(["instance", "phase"])
    assert rows.loc[("cloud", "search"), ["machines", "hours", "usd"]].tolist() == pytest.approx(
        [10, 12, 10 * 12 * 2.0]
    )
    # Four cards, each as fast as the desk's: three rounds of a day; 2 x 3 and 2 x 2 jobs on the one box, switched on
    assert rows.loc[("box", "search"), ["machines", "hours", "usd"]].tolist() == pytest.approx([1, 72, 72 * 0.2])
    assert rows.loc[("box", "training"), "hours"] == pytest.approx(100 * 150 / 500)
    assert rows.loc[("box", "possession"), "usd"] == pytest.approx(6500)
    assert rows.loc[("box", "total"), ["hours", "usd"]].tolist() == pytest.approx([102, 6500 + 102 * 0.2])
    assert rows.loc[("cloud", "total"), "usd"] == pytest.approx(240 + 50 * 2.0)


def test_a_commitment_is_possessed_for_its_whole_term_whatever_the_project_uses():
    # 1200 + 12 x 10 for the term; 5 hours of work at 0.1 each
    deal = {"term_months": 12, "upfront": 1200, "per_month": 10, "per_hour": 0.1, "charged": "used"}
    prices = price_list({"instance": "x", "purchase": "committed", "commitment": deal}, days_per_month=10)
    phases = [{"name": "training", "jobs": 1, "hours": 5}]
    plan = {"kind": "plan", "model": "vgg16", "instance": "x", "parallel": 4, "months": 20, "phases": phases}
    usd = planned(prices, [cell("x")], machines(prices), project=plan).set_index("phase")["usd"]
    assert usd.to_dict() == pytest.approx({"training": 0.5, "possession": 1320, "total": 1320.5})
    always = price_list({"instance": "x", "purchase": "committed", "commitment": deal | {"charged": "always"}})
    usd = planned(always, [cell("x")], machines(always), project=plan).set_index("phase")["usd"]
    assert usd.to_dict() == pytest.approx({"training": 0, "possession": 1320 + 12 * 73.2, "total": 1320 + 12 * 73.2})


def test_a_commitment_is_renewed_to_the_end_of_a_project_whose_jobs_arrive_over_its_months():
    # 20 months take two terms of 12: 2 x (1200 + 12 x 10); 5 hours of work at 0.1 each
    deal = {"term_months": 12, "upfront": 1200, "per_month": 10, "per_hour": 0.1, "charged": "used"}
    prices = price_list({"instance": "x", "purchase": "committed", "commitment": deal}, days_per_month=10)
    phases = [{"name": "training", "jobs": 1, "hours": 5}]
    plan = {"kind": "plan", "model": "vgg16", "instance": "x", "parallel": 4, "months": 20, "phases": phases}
    usd = planned(prices, [cell("x")], machines(prices), project=plan | {"renewed": True}).set_index("phase")["usd"]
    assert usd.to_dict() == pytest.approx({"training": 0.5, "possession": 2640, "total": 2640.5})


def test_a_plan_with_a_phase_that_never_finishes_says_so_in_its_total():
    terms = {"per_hour": 10.0, "checkpoint_s": 60, "restore_s": 1800, "source": "-"}  # e^5 for each restore
    prices = price_list({"instance": "x", "purchase": "spot", "per_hour": 1.0}, interruptions=terms)
    phases = [{"name": "short", "jobs": 1, "hours": 0.01}, {"name": "long", "jobs": 1, "hours": 30000}]
    plan = {"kind": "plan", "model": "vgg16", "instance": "x", "parallel": 1, "phases": phases}
    plans = planned(prices, [cell("x")], machines(prices), project=plan).set_index("phase")
    assert plans["status"].to_dict() == {"short": "ok", "long": "never finishes", "total": "never finishes"}
    assert plans.loc[["long", "total"], ["hours", "usd"]].isna().all(axis=None)
