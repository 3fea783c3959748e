"""The page's controls of a plan of phases, in headless Chromium: sums on paper, and the workflow at other figures."""

import json
import re

import pytest
from phase_plans import compared, hourly, own
from phase_tables import figure_tables
from report_tables import make_report, month_tables, opened, small_tables


def page_of(folder, tables):
    """The small page without the work of months, with these tables of a project."""
    of_months = {*month_tables()}
    alone = {name: table for name, table in small_tables().items() if name not in of_months}
    return make_report(folder, alone | tables) / "evidence.html"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return page_of(tmp_path_factory.mktemp("phases"), figure_tables())


def move(tab, name, value):
    tab.eval_on_selector(
        f'#plan-sliders input[name="{name}"]',
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input')) }",
        str(value),
    )


def rows(tab):
    """USD, hours and machines by option, as the table has them."""
    found = tab.eval_on_selector_all("#plan-outcome tbody tr", "rows => rows.map(row => ({...row.dataset}))")
    return {row["option"]: tuple(float(row[name]) for name in ("usd", "hours", "machines")) for row in found}


BOX, CLOUD = "box (own)", "cloud"
# 4,000 h of 7,200 on the box: 6,500 by the month (6,000 of it the price), 800 by use; the cloud 32,000 for 1,300 h.
SETTINGS = [
    ({}, (7300, 4000, 1), (32_000, 1300)),
    ({"plan_work": 150}, (6500 + 1200, 6000, 1), (48_000, 1950)),
    # 8,000 h: two boxes, each 5 rounds of the first phase and 300 of the second at twice the hours
    ({"plan_work": 200}, (13_000 + 1600, 5 * 200 + 300 * 10, 2), (64_000, 2600)),
    ({"plan_days": 50}, (13_000 + 800, 5 * 100 + 300 * 5, 2), (32_000, 1300)),
    ({"plan_price": 300}, (500 + 18_000 + 800, 4000, 1), (32_000, 1300)),
    ({"plan_price": 20}, (500 + 1200 + 800, 4000, 1), (32_000, 1300)),
    ({"plan_power": 0}, (6500, 4000, 1), (32_000, 1300)),
    ({"plan_power": 300}, (6500 + 2400, 4000, 1), (32_000, 1300)),
    ({"plan_rent": -80}, (7300, 4000, 1), (6400, 1300)),
    ({"plan_rent": 200}, (7300, 4000, 1), (96_000, 1300)),
]


@pytest.mark.parametrize(("controls", "box", "cloud"), SETTINGS)
def test_the_controls_by_hand(page, controls, box, cloud):
    with opened(page) as (tab, noise):
        for name, value in controls.items():
            move(tab, name, value)
        found = rows(tab)
        assert found[BOX] == pytest.approx(box)
        assert found[CLOUD] == pytest.approx((*cloud, 1))
        says = tab.locator("#plan-whatif-says")
        best, other = sorted((box[0], cloud[0]))
        assert float(says.get_attribute("data-usd")) == pytest.approx(best)
        assert float(says.get_attribute("data-times")) == pytest.approx(other / best)
        assert says.get_attribute("data-option") == (BOX if box[0] < cloud[0] else CLOUD)
        assert noise == []


def changed(page, folder, change):
    """A copy of the page whose controls calculate with other figures."""
    head, data, rest = re.split(r'(?<=id="phase-whatif-data">)(.*?)(?=</script>)', page.read_text(), maxsplit=1)
    figures = json.loads(data)
    change(figures)
    (folder / "evidence.html").write_text(head + json.dumps(figures) + rest)
    return folder / "evidence.html"


def test_what_no_number_of_machines_does_is_not_offered(page, tmp_path):
    """One job of 2,000 h in each phase cannot be shared: at 50 % of the days a box has 3,600 h, less than 4,000."""

    def long(figures):
        for phase in (phase for one in figures["options"] for phase in one["phases"]):
            phase.update(jobs=1, slots=1, hours=2000)

    with opened(changed(page, tmp_path, long)) as (tab, noise):
        assert set(rows(tab)) == {BOX, CLOUD}
        move(tab, "plan_days", 50)
        assert set(rows(tab)) == {CLOUD}
        assert tab.inner_text("#plan-whatif-says") == "Cheapest is Cloud with 1 V100: 32,000 USD."
        assert noise == []


def test_the_address_keeps_the_controls_beside_those_of_the_one_job(page):
    with opened(page) as (tab, _):
        tab.evaluate("location.hash = 'days_per_month=20'")
        move(tab, "plan_rent", 50)
        assert tab.evaluate("location.hash") == "#days_per_month=20&plan_rent=50"
        usd = tab.get_attribute("#plan-whatif-says", "data-times")
        tab.evaluate("location.hash = 'plan_rent=900&plan_price=x'")
        tab.wait_for_function(f"document.getElementById('plan-whatif-says').dataset.times !== '{usd}'")
        assert tab.input_value('#plan-sliders input[name="plan_rent"]') == "200"
        assert tab.input_value('#plan-sliders input[name="plan_price"]') == "100"


def test_where_nothing_is_owned_only_work_and_rents_move(page, tmp_path):
    def rented(figures):
        figures["options"] = [one for one in figures["options"] if not one["own"]]

    with opened(changed(page, tmp_path, rented)) as (tab, noise):
        names = tab.eval_on_selector_all("#plan-sliders input", "all => all.map(one => one.name)")
        assert names == ["plan_work", "plan_rent"]
        assert noise == []


OTHER = {"two": {"gpus": 2}}
# Two phases: 3,600 jobs of two hours on one device each, then 20 of 30 on all devices.
PHASES = [
    {"name": "small", "jobs": 3600, "hours": 2.0, "gpus_per_job": "one"},
    {"name": "large", "jobs": 20, "hours": 30.0},
]


def replanned(work=1.0, rent=1.0, **terms):
    """The tables of the workflow with figures at factors of what the page was made of."""
    phases = [phase | {"hours": phase["hours"] * work} for phase in PHASES]
    owned = {name: value * terms.get(name, 1.0) for name, value in OWNED.items()}
    deal = {"term_months": 12, "per_month": 300 * rent, "per_hour": 0.05 * rent, "charged": "used"}
    contract = {"instance": "contract", "purchase": "reserved", "commitment": deal}
    return compared(
        own(**owned), hourly(0.5 * rent), hourly(0.9 * rent) | {"instance": "two"}, contract,
        work={"phases": phases, "parallel": 3}, facts=OTHER, buying={}, draws=20,
    )  # fmt: skip


OWNED = {"capex": 36000.0, "per_kwh": 0.2, "days_per_month": 12.0}
EDITS = [
    ("plan_work", 100, {}), ("plan_work", 10, {"work": 0.1}), ("plan_work", 130, {"work": 1.3}),
    ("plan_work", 300, {"work": 3.0}), ("plan_rent", -80, {"rent": 0.2}), ("plan_rent", 200, {"rent": 3.0}),
    ("plan_price", 20, {"capex": 0.2}), ("plan_price", 300, {"capex": 3.0}), ("plan_power", 0, {"per_kwh": 0.0}),
    ("plan_power", 300, {"per_kwh": 3.0}), ("plan_days", 20, {"days_per_month": 0.2}),
    ("plan_days", 150, {"days_per_month": 1.5}),
]  # fmt: skip


@pytest.fixture(scope="module")
def planned_page(tmp_path_factory):
    found = replanned()
    return page_of(
        tmp_path_factory.mktemp("planned"), {name: found[name] for name in ("plan_options", "phase_figures")}
    )


@pytest.mark.parametrize(("control", "value", "edit"), EDITS)
def test_a_control_and_an_edit_of_the_files_give_the_same(planned_page, control, value, edit):
    table = replanned(**edit)["plan_options"].set_index("option")
    with opened(planned_page) as (tab, noise):
        move(tab, control, value)
        found = rows(tab)
        assert set(found) == set(table.index)
        for option, (usd, hours, machines) in found.items():
            row = table.loc[option]
            assert (usd, hours) == pytest.approx((row["usd"], row["hours"]), rel=1e-9), option
            assert machines == (row["machines"] if row["machines"] == row["machines"] else 1)
        assert noise == []
