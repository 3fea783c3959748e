"""The page's controls of a plan of phases, in headless Chromium: sums on paper, and the workflow at other figures."""

import pytest
from phase_tables import figure_tables
from report_tables import make_report, month_tables, opened, small_tables


def page_of(folder, tables):
    """The small page without the work of months, with these tables of a project."""
    of_months = {*month_tables()}
    alone = {name: table for name, table in small_tables().items() if name not in of_months}
    return make_report(folder, alone | tables) / "index.html"


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


def test_what_no_number_of_machines_does_is_not_offered(tmp_path):
    """One job of 2,000 h in each phase cannot be shared: at 50 % of the days a box has 3,600 h, less than 4,000."""
    tables = figure_tables()
    tables["phase_figures"] = tables["phase_figures"].assign(jobs=1, slots=1.0, job_hours=2000.0)
    with opened(page_of(tmp_path, tables)) as (tab, noise):
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


def test_where_nothing_is_owned_only_work_and_rents_move(tmp_path):
    tables = figure_tables()
    tables["phase_figures"] = tables["phase_figures"][tables["phase_figures"]["option"] == CLOUD]
    with opened(page_of(tmp_path, tables)) as (tab, noise):
        names = tab.eval_on_selector_all("#plan-sliders input", "all => all.map(one => one.name)")
        assert names == ["plan_work", "plan_rent"]
        assert noise == []
