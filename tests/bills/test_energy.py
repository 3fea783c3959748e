"""Energy and carbon of a training by hand: of machines owned and rented, and what is left out where a fact is missing.

Throughout 100 images/s and 720,000 images: 2 hours.
"""

import pandas as pd
import pytest
from price_lists import cell, machines, powered, price_list
from sweetspot.study.base import validated
from sweetspot.study.energy_facts import Energy

WORK = {"work": {"kind": "training", "model": "vgg16", "samples": 720_000}}


def fact(value, low=None, high=None, source="a sheet"):
    return {"value": value, "low": low, "high": high, "as_of": "2025", "source": source}


def declared(**changes):
    """500 W a device, as much again by half for the host, 80 % drawn; PUE 1.25 and 400 g a kWh at the cloud's."""
    facts = {
        "utilisation": fact(0.8, 0.5, 1.0, "a meter elsewhere"),
        "host_share": fact(0.5, 0.2, 0.6, "a chassis"),
        "devices": [{"gpu": "a card", "watts": fact(500, 400, 600)}],
        "sites": [{"provider": "cloud", "pue": fact(1.25, 1.0, 1.5, "a report"), "g_per_kwh": fact(400, 100, 500)}],
    }
    return validated(Energy, facts | changes, "study.yaml")


def owned(**more):
    own = {"capex": 1000, "months": 10, "kw": 2.0, "per_kwh": 0.2, "days_per_month": 10} | more
    return {"instance": "box", "purchase": "own", "own": own}


def test_an_owned_machine_takes_what_its_electricity_is_paid_for():
    # 2 kW x 0.5 x PUE 1.5 = 1.5 kWh an hour: 3 kWh in 2 hours, 0.60 USD at 0.20, 1.2 kg at 400 g
    prices = price_list(owned(load_share=0.5, pue=1.5))
    offers, costs, bills = powered(prices, [cell("box")], declared(), **WORK)
    assert offers.loc["box", "kwh_per_hour"] == pytest.approx(1.5)
    assert costs.loc[0, ["kwh", "kg_co2e"]].tolist() == pytest.approx([3.0, 1.2])
    assert bills.set_index("line").loc["electricity", "usd"] == pytest.approx(0.60)
    assert costs.loc[0, "power_basis"] == "declared"
    prices = price_list(owned(kw_basis="measured", kw={"value": 2, "low": 0, "high": 3}))
    offers, costs, _ = powered(prices, [cell("box")], declared(), **WORK)
    assert costs.loc[0, "power_basis"] == "measured"  # at the plug
    assert "2 kW, measured in the price list" in offers.loc["box", "power_source"]


def test_each_end_of_an_owned_machine_takes_the_low_and_the_high_of_every_factor():
    # 1 x 1.2 = 1.2 and 3 x 2 = 6 kWh an hour; 720,000 images at 125 and 80 a second: 1.6 and 2.5 hours; 100 and 500 g
    prices = price_list(owned(kw={"value": 2, "low": 1, "high": 3}, pue={"value": 1.5, "low": 1.2, "high": 2}))
    figure = cell("box", images_per_s_low=80.0, images_per_s_high=125.0)
    _, costs, _ = powered(prices, [figure], declared(), **WORK)
    row = costs.loc[0]
    assert row[["kwh_low", "kwh", "kwh_high"]].tolist() == pytest.approx([1.2 * 1.6, 6.0, 6 * 2.5])
    assert row[["kg_co2e_low", "kg_co2e", "kg_co2e_high"]].tolist() == pytest.approx([0.192, 2.4, 7.5])


def test_a_rented_machine_is_estimated_from_data_sheets_and_may_have_a_host_share_of_its_own():
    # 4 x 500 W x 1.5 x 0.8 = 2.4 kW, x 1.25 = 3 kWh an hour: 6 kWh and 2.4 kg; low 4 x 400 x 1.2 x 0.5 = 0.96 kW,
    # x 1.0 = 0.96: 1.92 kWh, 0.192 kg; high 4 x 600 x 1.6 x 1 = 3.84 kW, x 1.5 = 5.76: 11.52 kWh, 5.76 kg
    prices = price_list({"instance": "x", "per_hour": 2})
    known = machines(prices, x={"gpus": 4})
    offers, costs, _ = powered(prices, [cell("x", gpus=4)], declared(), known, **WORK)
    row = costs.loc[0]
    assert row[["kwh_low", "kwh", "kwh_high"]].tolist() == pytest.approx([1.92, 6.0, 11.52])
    assert row[["kg_co2e_low", "kg_co2e", "kg_co2e_high"]].tolist() == pytest.approx([0.192, 2.4, 5.76])
    assert row["power_basis"] == "estimated"
    source = offers.loc["x", "power_source"]
    assert source.startswith("estimated: 4 x 500 W x (1 + 0.5) x 0.8 = 2.4 kW, x PUE 1.25; ")
    for origin in ("a sheet (2025)", "a chassis (2025)", "a meter elsewhere (2025)", "a report (2025)"):
        assert origin in source
    assert offers.loc["x", "grid_source"] == "400 g CO2e/kWh: a sheet (2025)"
    assert offers.loc["x", "energy_usd_per_hour"] == 0  # the price of renting holds its electricity
    # 500 W x (1 + 0.1) x 0.8 x 1.25 = 0.55 kWh an hour
    device = {"gpu": "a card", "watts": fact(500), "host_share": fact(0.1)}
    offers, _, _ = powered(price_list({"instance": "x", "per_hour": 2}), [], declared(devices=[device]), **WORK)
    assert offers.loc["x", "kwh_per_hour"] == pytest.approx(0.55)


def test_machine_hours_count_and_neither_waiting_nor_least_bills():
    # 500 W x 1.5 x 0.8 x 1.25 = 0.75 kWh an hour; two minutes of which an hour is billed: 0.025 kWh
    terms = {"per_hour": 0.05, "checkpoint_s": 60, "restore_s": 60, "wait_s": 36_000, "source": "this test"}
    prices = price_list(
        {"instance": "x", "per_hour": 2, "billing": {"minimum_s": 3600}},
        {"instance": "y", "purchase": "spot", "per_hour": 1, "interruptions": terms},
    )
    short = {"short": {"kind": "training", "model": "vgg16", "samples": 12_000}}
    _, costs, _ = powered(prices, [cell("x"), cell("y")], declared(), **short, **WORK)
    rows = costs.set_index(["instance", "workload"])
    assert rows.loc[("x", "short"), "kwh"] == pytest.approx(0.025)
    spot = rows.loc[("y", "work")]
    assert spot["kwh"] == pytest.approx(0.75 * spot["machine_hours"])
    assert 2.0 < spot["machine_hours"] < 2.5 < spot["hours"]  # half an hour each hour in the mean is spent waiting


@pytest.mark.parametrize(
    ("changes", "lacks"),
    [
        ({"devices": []}, "W of a card"),
        ({"host_share": None}, "host share"),
        ({"sites": []}, "PUE of cloud, grid intensity of cloud"),
        ({"sites": [{"provider": "cloud", "g_per_kwh": fact(400)}]}, "PUE of cloud"),
    ],
)
def test_what_is_not_declared_is_named_and_nothing_is_guessed(changes, lacks):
    prices = price_list({"instance": "x", "per_hour": 2})
    offers, costs, _ = powered(prices, [cell("x")], declared(**changes), **WORK)
    assert offers.loc["x", "energy_lacks"] == lacks
    assert costs[["kwh", "kg_co2e", "power_basis"]].isna().all(axis=None)
    assert costs.loc[0, "usd"] == pytest.approx(4.0)


def test_without_a_grid_energy_stands_without_carbon():
    site = {"provider": "cloud", "pue": fact(1.25)}
    prices = price_list({"instance": "x", "per_hour": 2})
    offers, costs, _ = powered(prices, [cell("x")], declared(sites=[site]), **WORK)
    assert costs.loc[0, "kwh"] == pytest.approx(1.5)
    assert pd.isna(costs.loc[0, "kg_co2e"])
    assert offers.loc["x", "energy_lacks"] == "grid intensity of cloud"


def test_a_study_that_declares_nothing_knows_the_energy_of_its_owned_machines_alone():
    prices = price_list(owned(), {"instance": "x", "per_hour": 2})
    _, costs, _ = powered(prices, [cell("box"), cell("x")], None, **WORK)
    rows = costs.set_index("instance")
    assert rows.loc["box", "kwh"] == pytest.approx(4.0)
    assert rows.loc["x", ["kwh", "kg_co2e"]].isna().all()
    assert pd.isna(rows.loc["box", "kg_co2e"])
    # power that a price list writes as nought is not known
    offers, costs, _ = powered(price_list(owned(kw=0)), [cell("box")], declared(), **WORK)
    assert pd.isna(costs.loc[0, "kwh"]) and offers.loc["box", "energy_lacks"] == "kW of the price list"
