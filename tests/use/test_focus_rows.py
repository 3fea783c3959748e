"""The plan's months as FOCUS rows: against the columns and rules of the specification's 1.4, and against the plan."""

from pathlib import Path

import pandas as pd
import pytest
from focus_model import against_the_specification
from plan_by_hand import MACHINES, tables, written
from sweetspot.errors import UserError
from sweetspot.use.focus import read_focus
from sweetspot.use.plan_months import plan_of, write_focus


def test_every_row_keeps_the_rules_of_1_4(tmp_path: Path) -> None:
    rows = against_the_specification(written(tmp_path).read_text(encoding="utf-8"))
    assert len(rows) == 3 * 4  # having the box, its work, and two rented ones; what does nothing has no row
    assert [row["ServiceProviderName"] for row in rows[:4]] == ["Own machines", "Own machines", "Nebius", "mine"]
    assert [row["PricingCategory"] for row in rows[:4]] == ["Standard", "Standard", "Standard", "Dynamic"]


def test_the_months_cost_what_the_plan_says(tmp_path: Path) -> None:
    rows = against_the_specification(written(tmp_path).read_text(encoding="utf-8"))
    by_month: dict[str, float] = {}
    for row in rows:
        by_month[row["BillingPeriodStart"]] = by_month.get(row["BillingPeriodStart"], 0) + float(row["EffectiveCost"])
    assert by_month == {f"{month}-01T00:00:00Z": 380.0 for month in ("2026-12", "2027-01", "2027-02")}


def test_a_last_part_of_a_month_has_its_share(tmp_path: Path) -> None:
    rows = against_the_specification(written(tmp_path, 1.25).read_text(encoding="utf-8"))
    assert sum(float(row["EffectiveCost"]) for row in rows) == pytest.approx(380 * 1.25)


def test_our_own_reader_reads_it_back(tmp_path: Path) -> None:
    """800 hours of four devices are 200 of the box."""
    found = read_focus(written(tmp_path), MACHINES)
    hours = found[found["category"] == "Usage"].groupby("machine")[["hours", "device_hours"]].sum()
    assert hours.loc["box"].tolist() == [600, 2400]
    assert hours.loc["x-8"].tolist() == [15, 120]
    assert found["effective_cost"].sum() == pytest.approx(1140)


def test_a_plan_on_one_machine(tmp_path: Path) -> None:
    """36 months, 3,600 h of eight: 100 h a month; 7,200 USD for having, 1,800 for using it."""
    made = tables(36.0)
    made["choices"] = pd.DataFrame([{
        "workload": "work", "choice": "best", "cost": "rounds", "months": 36.0, "instance": "x-8", "purchase": "spot",
        "price_list": "rent", "title": "X with 8", "device_hours": 28800.0, "usd_possession": 7200.0, "usd": 9000.0,
        "usd_per_month": 250.0, "usd_per_month_low": 200.0, "usd_per_month_high": 300.0,
    }])  # fmt: skip
    part = plan_of(made, "mine").parts.iloc[0]
    assert part[["hours", "device_hours", "usd_having", "usd_using"]].tolist() == [100, 800, 200, 50]


def test_an_answer_for_one_job_has_no_months(tmp_path: Path) -> None:
    made = tables()
    made["verdict"] = made["verdict"].assign(months=float("nan"))
    with pytest.raises(UserError, match="study mine answers for one job; expected a workload of months"):
        plan_of(made, "mine")
    made["verdict"] = made["verdict"].head(0)
    with pytest.raises(UserError, match="study mine has no answer"):
        plan_of(made, "mine")
    for name, table in made.items():
        table.to_parquet(tmp_path / f"{name}.parquet")
    write_focus(tmp_path, "mine", "Mine", "2026-11-20")
    assert not (tmp_path / "focus.csv").exists()
