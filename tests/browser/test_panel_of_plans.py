"""The panel on the page of evidence, of plans: one of the works that it moves, held to the files edited alike."""

import pytest
from month_tables import LabOfFive
from phase_plans import compared, hourly, own, priced_plan
from report_tables import opened
from sweetspot.report.charts import CHARTS
from sweetspot.report.evidence_page import Drawn, render_evidence
from sweetspot.study.study import load_study


def written(folder, tables, study):
    """The page of evidence with empty pictures."""
    file = folder / "evidence.html"
    file.write_text(render_evidence(tables, study, Drawn(dict.fromkeys(CHARTS, "{}"))), encoding="utf-8")
    return file


def move(tab, name, value):
    tab.eval_on_selector(
        f'#case input[name="{name}"]',
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input')) }",
        str(value),
    )


def rows(tab):
    """USD, hours and machines by option, as the table has them."""
    found = tab.eval_on_selector_all("#outcome tbody tr", "rows => rows.map(row => ({...row.dataset}))")
    return {row["option"]: tuple(float(row[name]) for name in ("usd", "hours", "machines")) for row in found}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The lab of five, of which every month is the central one."""
    made = LabOfFive(tmp_path_factory.mktemp("lab")).certain()
    return written(tmp_path_factory.mktemp("page"), made.tables(2), load_study(made.folder))


def test_the_address_has_the_work_and_what_its_controls_say(lab):
    with opened(lab) as (tab, noise):
        assert tab.locator("select[name=work] option").count() == 3
        tab.select_option("select[name=work]", label="lab")
        move(tab, "hourly", 1)
        tab.eval_on_selector('#case input[name="hourly"]', "one => one.dispatchEvent(new Event('change'))")
        assert tab.evaluate("location.hash") == "#work=lab&hourly=1"
        usd = tab.get_attribute("#case-says", "data-usd")
        # What is no number, and what is beyond the ends, does no harm.
        tab.evaluate("location.hash = 'work=lab&hourly=900&price=x'")
        tab.wait_for_function(f"document.getElementById('case-says').dataset.usd !== '{usd}'")
        assert float(tab.input_value('#case input[name="hourly"]')) == pytest.approx(2.07, rel=0.02)
        assert float(tab.input_value('#case input[name="price"]')) == pytest.approx(14_900 * 1.1378, rel=0.01)
        # One job alone is another work, with what both have.
        tab.evaluate("location.hash = 'days=20&work=lab.bert'")
        tab.wait_for_function("document.querySelector('select[name=work]').value === '0'")
        assert tab.input_value('#case input[name="days"]') == "20" and tab.locator('[name="jobs:bert"]').count() == 0
        assert noise == []


OTHER = {"two": {"gpus": 2}}
# Two phases: 3,600 jobs of two hours on one device each, then 20 of 30 on all devices.
PHASES = [
    {"name": "small", "jobs": 3600, "hours": 2.0, "gpus_per_job": "one"},
    {"name": "large", "jobs": 20, "hours": 30.0},
]
OWNED = {"capex": 36000.0, "per_kwh": 0.2, "days_per_month": 12.0}


def market(rent=1.0, **terms):
    """Offers with figures at factors of what the page was made of; rents by the hour, a contract stays."""
    owned = {name: value * terms.get(name, 1.0) for name, value in OWNED.items()}
    deal = {"term_months": 12, "per_month": 300, "per_hour": 0.05, "charged": "used"}
    contract = {"instance": "contract", "purchase": "reserved", "commitment": deal}
    return own(**owned), hourly(0.5 * rent), hourly(0.9 * rent) | {"instance": "two"}, contract


def replanned(work=1.0, **factors):
    """The tables of the workflow at those figures."""
    phases = [phase | {"hours": phase["hours"] * work} for phase in PHASES]
    said = {"work": {"phases": phases, "parallel": 3}, "facts": OTHER}
    tables, _ = priced_plan(*market(**factors), **said)
    return compared(*market(**factors), **said, buying={}, draws=20) | {"offers": tables.offers}


# Control, its value over what is planned, the same in the files.
EDITS = [
    ("jobs", 1.0, {}), ("jobs", 0.1, {"work": 0.1}), ("jobs", 1.3, {"work": 1.3}), ("jobs", 3.0, {"work": 3.0}),
    ("hourly", 0.2, {"rent": 0.2}), ("hourly", 3.0, {"rent": 3.0}), ("price", 0.2, {"capex": 0.2}),
    ("price", 3.0, {"capex": 3.0}), ("kwh", 0.0, {"per_kwh": 0.0}), ("kwh", 3.0, {"per_kwh": 3.0}),
    ("days", 0.25, {"days_per_month": 0.25}), ("days", 1.5, {"days_per_month": 1.5}),
]  # fmt: skip
VALUES = {"jobs": 3620 / 36, "hourly": 0.5, "price": 36000.0, "kwh": 0.2, "days": 12.0}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    from decision_tables import study

    return written(tmp_path_factory.mktemp("planned"), replanned(), study(reference="box"))


def of_plan(tables):
    """The choices of the plan of phases."""
    return tables["choices"][tables["choices"]["cost"] == "rounds"]


@pytest.mark.parametrize(("control", "factor", "edit"), EDITS)
def test_of_phases_a_control_and_an_edit_of_the_files_give_the_same(project, control, factor, edit):
    table = of_plan(replanned(**edit)).set_index("choice")
    with opened(project) as (tab, noise):
        tab.goto(f"{project.as_uri()}#work=work&{control}={VALUES[control] * factor:.9f}")
        tab.reload()
        found = rows(tab)
        assert set(found) == set(table.index)
        for option, (usd, hours, machines) in found.items():
            row = table.loc[option]
            assert (usd, hours) == pytest.approx((row["usd"], row["hours"]), rel=1e-6), option
            assert machines == row["counts"]
        assert noise == []
