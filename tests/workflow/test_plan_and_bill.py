"""A study's plan as a bill, and back: it differs by nothing, twice the work is the scenario of twice the work."""

import csv
import json
import subprocess
import sys

import pandas as pd
import pytest
from focus_model import against_the_specification
from project_copy import copy_project, run_snakemake

pytestmark = pytest.mark.slow
STUDY = "start-up-2026"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with one scenario of the study, its plan written as FOCUS rows."""
    made = copy_project(tmp_path_factory.mktemp("bill") / "project")
    for file in (made / "config/studies" / STUDY / "scenarios").glob("*.yaml"):
        if file.stem != "twice-the-work":
            file.unlink()
    done = run_snakemake(
        made, f"results/{STUDY}/report/tables", "scenarios", "--config", f"study={STUDY}", "measure_on=[]"
    )
    assert done.returncode == 0, done.stdout
    return made


def actual(project, *arguments):
    command = [sys.executable, "-m", "sweetspot", "actual", STUDY, *map(str, arguments)]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


def bill_of(project, change, name="bill.csv"):
    """The first three months of the plan's own rows, each as `change` makes it (None: left out)."""
    rows = list(csv.DictReader((project / "results" / STUDY / "report/tables/focus.csv").open(encoding="utf-8")))
    first = sorted({row["BillingPeriodStart"] for row in rows})[:3]
    kept = [change(dict(row)) for row in rows if row["BillingPeriodStart"] in first]
    with (project / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row for row in kept if row is not None)
    return project / name


def test_the_rows_keep_the_specification_and_cost_what_the_plan_costs(project):
    rows = against_the_specification(
        (project / "results" / STUDY / "report/tables/focus.csv").read_text(encoding="utf-8")
    )
    choices = pd.read_parquet(project / f"results/{STUDY}/comparison/choices.parquet")
    planned = choices.loc[choices["is_best"], "usd_per_month"].item()
    months = {}
    for row in rows:
        months.setdefault(row["ChargePeriodStart"], []).append(float(row["EffectiveCost"]))
    assert len(months) == 36 and min(months) == "2026-10-01T00:00:00Z"  # the study is of 2026-09-28
    assert [sum(costs) for costs in months.values()] == pytest.approx([planned] * 36, rel=1e-12)


def test_the_plan_and_its_own_bill_differ_by_nothing(project):
    done = actual(project, bill_of(project, lambda row: row), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["difference_usd_per_month"] == pytest.approx(0, abs=1e-9)
    assert list(found["explained_usd_per_month"].values()) == pytest.approx([0, 0], abs=1e-9)
    assert found["answer_now"]["same_answer"] is True and found["answer_now"]["changes"] == []
    page = (project / found["chart"]).read_text(encoding="utf-8")
    assert "what was paid, by month" in page and "https://cdn" not in page
    told = actual(project, bill_of(project, lambda row: row)).stdout
    assert "Paid as planned: nothing to explain." in told and "The answer stays" in told


def test_twice_the_hours_are_the_scenario_of_twice_the_work(project):
    def twice(row):
        return row | {name: str(2 * float(row[name])) for name in ("EffectiveCost", "BilledCost", "ConsumedQuantity")}

    found = json.loads(actual(project, bill_of(project, twice), "--json").stdout)
    table = pd.read_parquet(project / f"results/{STUDY}/comparison/scenarios.parquet").set_index("scenario")
    now = found["answer_now"]
    assert now["changes"] == ["2 times the jobs"]
    assert now["usd_per_month"] == pytest.approx(table.loc["twice-the-work", "usd_per_month"], rel=1e-9)
    assert found["explained_usd_per_month"]["hours"] == pytest.approx(found["difference_usd_per_month"])


def test_a_record_of_jobs_beside_the_bill_tells_four_causes(project):
    """31 jobs of 20 hours in each of the three months; the study plans 25 and 6 jobs a month."""
    starts = [f"2026-{month}-{day + 1:02}T00:00:00" for month in (10, 11, 12) for day in range(30)]
    lines = [f"{start},{start[:11]}20:00:00,1" for start in (*starts, *starts[::30])]
    (project / "jobs.csv").write_text(
        "\n".join(["start,end,devices", *lines, "2026-12-31T20:00:00,2027-01-01T00:00:00,0"])
    )
    done = actual(project, bill_of(project, lambda row: row), "--jobs", "jobs.csv", "--jobs-format", "jobs", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(month["jobs"], month["used_device_hours"]) for month in found["months"]] == [(31, 620)] * 3
    causes = found["explained_usd_per_month"]
    assert list(causes) == ["price", "speed", "jobs", "waiting"] and causes["jobs"] == pytest.approx(0, abs=1e-9)
    assert causes["speed"] == pytest.approx(-causes["waiting"]) and causes["waiting"] > 0
    assert sum(causes.values()) == pytest.approx(found["difference_usd_per_month"], abs=1e-9)


def test_a_bill_of_the_cloud_alone_in_euros_and_what_it_does_not_say(project):
    def in_euros(row):
        if row["ServiceProviderName"] == "Own machines":
            return None
        return row | {"BillingCurrency": "EUR", "EffectiveCost": str(float(row["EffectiveCost"]) / 1.1378)}

    bill = bill_of(project, in_euros, "euros.csv")
    found = json.loads(actual(project, bill, "--json").stdout)
    assert found["difference_usd_per_month"] == pytest.approx(0, abs=1e-9)
    assert found["months"][0]["as_planned_usd"] > 100  # the workstations' current
    bill.write_text(bill.read_text().replace("EUR", "CHF"))
    assert "is in CHF too; expected --rate CHF=USD" in actual(project, bill).stderr
    assert actual(project, bill, "--rate", "CHF=1.1378").returncode == 0
    for arguments, told in (
        ((bill, "--rate", "CHF=much"), "expected CURRENCY=USD"), ((bill, "--format", "jobs"), "line 1"),
        ((bill, "--format", "jobs", "--jobs", bill), "--jobs stands beside a bill"),
        ((project / "none.csv",), "the file is needed"), ((bill, "--resource", "x"), "expected PATTERN=INSTANCE"),
    ):  # fmt: skip
        done = actual(project, *arguments)
        assert (done.returncode, done.stdout) == (2, "") and told in done.stderr and done.stderr.count("\n") == 1, told
