"""The page's controls of the plan of months, in headless Chromium, against the workflow at other figures."""

import pytest
from month_tables import LabOfFive
from report_tables import make_report, opened, small_tables

OF_A_PLAN = ("mixes", "sources", "load", "jobs", "deadlines", "tornado", "turning_points",
             "break_even", "worth_knowing", "plan_figures")  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The small page with the plan of the lab of five, of which every month is the central one."""
    found = LabOfFive(tmp_path_factory.mktemp("lab")).certain().tables(2)
    tables = small_tables() | {name: found[name] for name in OF_A_PLAN}
    return make_report(tmp_path_factory.mktemp("browser"), tables) / "evidence.html"


def scaled(name, factor):
    """An edit of the files that is the same as a control at a factor: file, change."""

    def prices(content):
        for offer in content["offers"]:
            if "own" in offer and name in offer["own"]:
                offer["own"][name] *= factor
            elif name == "per_hour":
                offer["per_hour"] *= factor

    def jobs(content):
        work = content["lab"]["jobs"][0]
        work["per_month"] = (work["per_month"] - work["urgent_per_month"]) * factor + work["urgent_per_month"]

    if name == "jobs":
        return "workloads.yaml", jobs
    return ("prices/rent.yaml" if name == "per_hour" else "prices/ours.yaml"), prices


def move(tab, name, value):
    tab.eval_on_selector(
        f'#plan-sliders input[name="{name}"]',
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input')) }",
        str(value),
    )


# Ends and middles of the controls: prices by the hour, price of the box, months, ResNet-50 (58 beside 2 urgent ones).
SETTINGS = [
    ("plan_rent", 0, "per_hour", 1.0),
    ("plan_rent", -80, "per_hour", 0.2),
    ("plan_rent", 200, "per_hour", 3.0),
    ("plan_price", 20, "capex", 0.2),
    ("plan_price", 300, "capex", 3.0),
    ("plan_months", 50, "months", 0.5),
    ("plan_months", 300, "months", 3.0),
    ("plan_jobs_0", 29, "jobs", 0.5),
    ("plan_jobs_0", 174, "jobs", 3.0),
]


@pytest.mark.parametrize(("control", "value", "name", "factor"), SETTINGS)
def test_a_control_and_an_edit_of_the_files_give_the_same(page, tmp_path, control, value, name, factor):
    edited = LabOfFive(tmp_path).certain().edit(*scaled(name, factor))
    best = edited.tables(2)["mixes"].iloc[0]
    with opened(page) as (tab, noise):
        move(tab, control, value)
        says = tab.locator("#plan-whatif-says")
        assert float(says.get_attribute("data-usd")) == pytest.approx(best["usd_per_month_central"], rel=1e-6)
        assert sum(map(int, says.get_attribute("data-counts").split(","))) - 1 == best["boxes"]
        hours = tab.eval_on_selector_all("#plan-outcome tr", "rows => rows.map(row => Number(row.dataset.hours))")
        assert sum(hours) == pytest.approx(best["work_device_hours"], rel=1e-6)
        assert noise == []


def test_the_address_keeps_the_controls_beside_those_of_the_one_job(page):
    with opened(page) as (tab, _):
        tab.evaluate("location.hash = 'days_per_month=20'")
        move(tab, "plan_rent", 50)
        assert tab.evaluate("location.hash") == "#days_per_month=20&plan_rent=50"
        usd = tab.get_attribute("#plan-whatif-says", "data-usd")
        tab.evaluate("location.hash = 'plan_rent=0'")
        tab.wait_for_function(f"document.getElementById('plan-whatif-says').dataset.usd !== '{usd}'")
        assert float(tab.input_value('#plan-sliders input[name="plan_rent"]')) == 0
        # What is no number, and what is beyond the ends, does no harm.
        tab.evaluate("location.hash = 'plan_rent=900&plan_price=x'")
        tab.wait_for_function("document.querySelector('#plan-sliders input[name=plan_rent]').value === '200'")
        assert float(tab.input_value('#plan-sliders input[name="plan_price"]')) == 100


def test_a_study_without_a_plan_has_no_such_controls(tmp_path):
    tables = {name: table for name, table in small_tables().items() if name not in OF_A_PLAN}
    with opened(make_report(tmp_path, tables) / "evidence.html") as (tab, noise):
        assert tab.locator("#plan-sliders").count() == 0
        assert noise == []
