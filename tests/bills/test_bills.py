"""The bill of renting and owning against the 2018 study's printed figures and hand calculation."""

from datetime import date
from pathlib import Path

import pandas as pd
import pytest
from price_lists import cell, price_study
from project_copy import ROOT

STUDY = ROOT / "config" / "studies" / "parkopedia-2018"


def priced(price_list: str, table: pd.DataFrame, folder: Path = STUDY) -> dict[str, pd.DataFrame]:
    files = (folder / "prices" / f"{price_list}.yaml", folder / "workloads.yaml", [folder / "instances.yaml"])
    return price_study(table, None, *files, price_list, 30.5, date(2018, 7, 1), linted=True)


def test_the_office_box_in_every_table():
    """216.67 + 48.00 = 264.67 USD a month of 240 hours, as the study prints; at 498 images/s in 52.83 hours."""
    tables = priced("office-box", pd.DataFrame([cell("office-4x1080ti", 498.0, runs=1, logical=False)]))
    box, costs, hours = tables["offers"].iloc[0], tables["costs"].iloc[0], 94_720_000 / 498 / 3600
    assert box["fixed_usd_per_month"] == pytest.approx(216.67, abs=0.005)
    assert box["energy_usd_per_hour"] * 240 == pytest.approx(48.00, abs=0.005)
    assert box["variable_usd_per_hour"] == box["energy_usd_per_hour"]
    assert box["usd_per_hour"] == pytest.approx(1.1028, abs=0.00005)  # 264.67 / 240
    bill = tables["bills"].query("workload == 'imagenet-vgg16'").set_index("line")["usd"]
    assert bill.to_dict() == pytest.approx({"electricity": hours * 0.2, "possession": hours * 216.6667 / 240}, rel=1e-6)
    assert costs["hours"] == pytest.approx(hours)
    assert costs["usd"] == pytest.approx(hours * 264.6667 / 240, rel=1e-6)
    assert costs["images_per_usd"] == pytest.approx(498 * 3600 / (264.6667 / 240), rel=1e-6)
    assert tables["price_lint"]["rule"].tolist() == ["text_against_table"]
