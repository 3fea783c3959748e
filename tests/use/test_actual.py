"""The plan against the bill: nothing where it is the plan's own; causes that add up, by hand; what is in no bill."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plan_by_hand import MACHINES, tables, written
from sweetspot.commands.actual import write_page
from sweetspot.errors import UserError
from sweetspot.study.instances import Instance
from sweetspot.study.yamlfile import load_yaml
from sweetspot.use.compared import Compared, compared, explained, known_now, shapley
from sweetspot.use.focus import FOCUS_COLUMNS, machines_of, read_focus
from sweetspot.use.month_sums import job_months
from sweetspot.use.plain import read_jobs
from sweetspot.use.plan_months import plan_of
from sweetspot.wording import Money

PLAN = plan_of(tables(), "mine")  # 850 device-hours: 800 of the box, 10 and 40 rented; 380 USD, 300 of them having
MONTH = pd.Timestamp("2026-12-01", tz="UTC")


def charges(*rows: tuple[str, float, float], month: pd.Timestamp = MONTH, category: str = "Usage") -> pd.DataFrame:
    """Lines of a bill read: machine ('' for none), USD, device-hours."""
    told = [dict(zip(("machine", "effective_cost", "device_hours"), row, strict=True)) for row in rows]
    made = pd.DataFrame(told).assign(month=month, currency="USD", device="", category=category, correction=False)
    return made.assign(billed_cost=made["effective_cost"], hours=0.0, charges=1.0)[list(FOCUS_COLUMNS)]


def jobs_of(hours: float, number: float, month: pd.Timestamp = MONTH) -> pd.DataFrame:
    return pd.DataFrame({"month": [month], "used_device_hours": hours, "jobs": number, "wait_hours": 1.5})


AS_PLANNED = charges(("x-1", 25, 10), ("x-8", 15, 40))


def test_a_plan_and_its_own_bill_differ_by_nothing(tmp_path: Path) -> None:
    bill = read_focus(written(tmp_path), MACHINES)
    found = compared(PLAN, bill, None, 20.0)
    assert len(found.months) == 3 and found.months["within"].all()
    assert found.difference == pytest.approx(0, abs=1e-9)
    assert list(found.explained.values()) == pytest.approx([0] * len(found.explained), abs=1e-9)
    assert found.work_ratio == pytest.approx(1, rel=1e-12)
    assert list(found.price_ratios.values()) == pytest.approx([1, 1], rel=1e-12)
    scenario = known_now(found, {})
    assert scenario.times_work is None and scenario.prices == {}


def test_a_bill_without_the_box_has_it_as_planned() -> None:
    found = compared(PLAN, AS_PLANNED, None, None)
    assert found.months[["billed_usd", "as_planned_usd", "usd", "device_hours"]].iloc[0].tolist() == [40, 340, 380, 850]
    assert found.difference == 0


def test_the_causes_by_hand() -> None:
    """Beside 300 for having: 80 USD for 850 h. Paid 25 more for as many hours: price. Then twice the hours."""
    dearer = compared(PLAN, charges(("x-1", 50, 10), ("x-8", 15, 40)), None, None)
    assert dearer.explained == pytest.approx({"price": 25, "hours": 0})
    # 80 -> 160 USD, 850 -> 1,700 h at one price: the rented 50 h become 900 h, 120 USD.
    more = compared(PLAN, charges(("x-8", 120, 900)), None, None)
    assert more.explained == pytest.approx({"price": 0, "hours": 80})


def test_what_is_paid_without_hours_is_price() -> None:
    mean = {"plan_device_hours": 100.0, "device_hours": 0.0, "plan_usd": 80.0, "usd": 50.0, "jobs": np.nan}
    assert explained(pd.DataFrame([mean]), 10.0, None) == {"price": -30.0}


def test_jobs_speed_and_waiting_by_hand() -> None:
    """Planned 17 jobs of 50 h. Two factors that double and halve leave nothing, but each has its part of 80 USD."""
    found = compared(PLAN, AS_PLANNED, jobs_of(850, 34), 17.0)
    # speed halves, jobs double: orders (80 -> 40 -> 80), (80 -> 160 -> 80): means of -40 and -80, of 40 and 80
    assert found.explained == pytest.approx({"price": 0, "speed": -60, "jobs": 60, "waiting": 0})
    assert compared(PLAN, AS_PLANNED, jobs_of(850, 1), 0.5).explained == pytest.approx(found.explained)  # of 1,700 h
    waits = compared(PLAN, AS_PLANNED, jobs_of(425, 8.5), 17.0)
    assert waits.explained == pytest.approx({"price": 0, "speed": 0, "jobs": -60, "waiting": 60})
    assert waits.work_ratio == pytest.approx(0.5)
    assert waits.months["wait_hours"].iloc[0] == 1.5


def test_a_record_of_jobs_alone_is_priced_as_planned() -> None:
    found = compared(PLAN, None, jobs_of(1700, 34), 17.0)
    assert found.months["usd"].iloc[0] == pytest.approx(300 + 160)
    assert found.explained == pytest.approx({"price": 0, "speed": 0, "jobs": 80, "waiting": 0})


@pytest.mark.parametrize("seed", range(20))
def test_the_causes_add_up_to_the_difference(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = [(name, draw.uniform(0, 900), draw.uniform(0, 900)) for name in draw.choice(["x-1", "x-8", "box", "x-9"], 2)]
    bill = pd.concat([charges(*rows), charges(("x-1", 70, 20), month=MONTH + pd.DateOffset(months=1))])
    used = pd.concat([jobs_of(draw.uniform(0, 2000), draw.integers(0, 90)), jobs_of(5, 2, bill["month"].max())])
    for jobs in (None, used):
        found = compared(PLAN, bill, jobs, 17.0)
        assert sum(found.explained.values()) == pytest.approx(found.difference, abs=1e-9)


NOTHING = [
    charges(("x-1", 0, 0)), charges(("x-1", 90, 0)), charges(("x-1", -5, 0)), charges(("", 4, 0)),
    charges(("x-1", 0, 9)),
]  # fmt: skip


@pytest.mark.parametrize("bill", NOTHING)
def test_no_hours_and_no_money_add_up_too(bill: pd.DataFrame) -> None:
    found = compared(PLAN, bill, jobs_of(0, 0), 17.0)
    assert sum(found.explained.values()) == pytest.approx(found.difference, abs=1e-9)


def test_two_factors_share_what_they_do_together() -> None:
    """2 x 3 becomes 4 x 6: 18 more; alone 6 and 6, after the other 12 and 12."""
    assert shapley({"a": (2.0, 4.0), "b": (3.0, 6.0)}) == {"a": 9.0, "b": 9.0}
    assert shapley({"a": (2.0, 0.0), "b": (3.0, 5.0)}) == {"a": -8.0, "b": 2.0}


def test_taxes_credits_and_the_rest_of_a_bill_stand_beside() -> None:
    beside = [charges(("", 7, 0)), charges(("x-1", 4, 0), category="Tax"), charges(("", -3, 0), category="Credit")]
    row = compared(PLAN, pd.concat([AS_PLANNED, *beside]), None, None).months.iloc[0]
    assert row[["usd", "tax_usd", "credit_usd", "other_usd"]].tolist() == [380, 4, -3, 7]


def test_a_month_outside_of_the_interval() -> None:
    later = MONTH + pd.DateOffset(months=1)
    bill = pd.concat([AS_PLANNED, charges(("x-1", 500, 10), month=later)])
    assert compared(PLAN, bill, None, None).months["within"].tolist() == [True, False]


def test_bill_and_record_of_other_months() -> None:
    with pytest.raises(UserError, match="bill and record of jobs share no month"):
        compared(PLAN, AS_PLANNED, jobs_of(1, 1, MONTH + pd.DateOffset(months=1)), None)


def test_what_is_known_now_moves_rates_and_work(tmp_path: Path) -> None:
    """x-1 cost 5 USD instead of 2.50, of x-8 nothing was billed; 170 h more than planned of 850."""
    file = tmp_path / "rent.yaml"
    file.write_text("offers:\n- {instance: x-1, per_hour: {value: 2.5, low: 2, high: 3}}\n"
                    "- {instance: x-8, per_hour: 3.0, purchase: spot}\n")  # fmt: skip
    found = compared(PLAN, charges(("x-1", 1100, 220)), None, None)
    scenario = known_now(found, {"rent": file})
    assert scenario.times_work == pytest.approx(1020 / 850)
    assert scenario.prices == {"rent": {"offers": [{"instance": "x-1", "per_hour": {"value": 5, "low": 4, "high": 6}}]}}
    ratios = {("rent", "x-8", "spot"): 0.5, ("none", "x", "spot"): 2.0, ("rent", "x-1", "on_demand"): 1.0}
    both = Compared(found.months, {}, ratios, 1.0)  # x-1 cost what was planned
    assert known_now(both, {"rent": file}).prices["rent"]["offers"] == [
        {"instance": "x-8", "purchase": "spot", "per_hour": 1.5}
    ]
    assert load_yaml(file)["offers"][0]["per_hour"]["value"] == 2.5


def test_months_of_a_record_of_jobs() -> None:
    """Three days across the end of January on two devices: 48 + 96 device-hours; it began in January."""
    lines = ["start,end,devices,submit", "2026-01-01T00:00:00,2026-01-01T01:00:00,1,2025-12-31T23:00:00",
             "2026-01-31T00:00:00,2026-02-03T00:00:00,2,2026-01-30T21:00:00",
             "2026-02-27T00:00:00,2026-02-28T23:00:00,1,"]  # fmt: skip
    found = job_months(read_jobs(lines, "UTC"), "jobs.csv")
    assert found["used_device_hours"].tolist() == [1 + 48, 96 + 47]
    assert found["jobs"].tolist() == [2, 1]
    assert found["wait_hours"].iloc[0] == 2 and np.isnan(found["wait_hours"].iloc[1])


def test_records_that_cannot_stand_beside_a_plan() -> None:
    short = read_jobs(["start,end,devices", "2026-01-10T00:00:00,2026-01-20T00:00:00,1"], "UTC")
    with pytest.raises(UserError, match=r"jobs\.csv: covers no whole month"):
        job_months(short, "jobs.csv")
    with pytest.raises(UserError, match="no job in it held a device"):
        job_months(read_jobs(["start,end,devices", "2026-01-10T00:00:00,2026-01-20T00:00:00,0"], "UTC"), "jobs.csv")


def test_names_that_a_bill_gives_the_machines_of_a_study() -> None:
    p5 = Instance(title="P5", provider="aws", gpu="H100 SXM", gpus=8)
    instances = {"aws-p5.48xlarge": p5}
    told = [(one.pattern.pattern, one.name, one.devices) for one in machines_of(instances, ["p5 any*=aws-p5.48xlarge"])]
    assert [name for _, name, _ in told] == ["aws-p5.48xlarge"] * 3  # the rule, its own name, the catalogue's
    for wrong, words in (("p5", "expected PATTERN=INSTANCE"), ("*=aws-p5.48xlarge", "expected PATTERN=INSTANCE"),
                         ("p5=aws-p5.48xlarg", "did you mean 'aws-p5.48xlarge'")):  # fmt: skip
        with pytest.raises(UserError, match=words):
            machines_of(instances, [wrong])


def test_the_page_shows_markup_as_it_is(tmp_path: Path) -> None:
    hostile = "</pre></title><script>alert(1)</script>"
    months = compared(PLAN, AS_PLANNED, None, None).months
    write_page(months, hostile, hostile, Money("EUR", 1.14), tmp_path / "actual.html")
    page = (tmp_path / "actual.html").read_text(encoding="utf-8")
    assert "alert(1)" in page and "<script>alert" not in page and page.count("<pre>&lt;/pre&gt;") == 1
