"""The page in a browser: its budgets at two widths on every study, and the panel "your case" held to the library."""

import json

import numpy as np
import pytest
from decision_tables import study
from phase_plans import compared, given, hourly, own
from report_tables import one_job, opened, small_tables
from study_tables import STUDIES, study_tables
from sweetspot.report.page import render_page
from sweetspot.study.study import load_study

pytestmark = pytest.mark.browser
NAMES = sorted(file.parent.name for file in STUDIES.glob("*/study.yaml"))
# Words and numbers that a reader sees: names of machines and axes are not read as text.
MEASURE = """top => {
  const skip = '.who, .axis, svg, script, style';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let text = '';
  while (walker.nextNode()) {
    const node = walker.currentNode, range = document.createRange();
    if (node.parentElement.closest(skip) || !node.parentElement.checkVisibility()) continue;
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.height && box.top < top) text += ' ' + node.textContent;
  }
  return [text.match(/[A-Za-z][\\w'’-]*/g)?.length ?? 0, text.match(/(?<![\\w.,])\\d[\\d.,]*/g)?.length ?? 0];
}"""
DATA = "document.getElementById('case-data').textContent"
HEIGHT = {1280: 3000, 390: 4500}  # px


def measured(tab):
    return {
        "words": tab.evaluate("document.body.innerText.match(/[A-Za-z][\\w'’-]*/g).length"),
        "height": tab.evaluate("document.documentElement.scrollHeight"),
        "wide": tab.evaluate("document.documentElement.scrollWidth"),
        "nodes": tab.evaluate("document.querySelectorAll('*').length"),
        "folds": tab.evaluate("document.querySelectorAll('details').length"),
        "charts": tab.evaluate("document.querySelectorAll('figure, .dots').length"),
        "tables": tab.evaluate("document.querySelectorAll('table').length"),
        "first": tab.evaluate(MEASURE, 800),
    }


def assert_within(found, size, width):
    assert found["words"] <= 600 and found["folds"] <= 8 and found["charts"] <= 6 and found["tables"] <= 2
    assert found["height"] <= HEIGHT[width] and found["wide"] <= width and found["nodes"] <= 3000
    assert size <= 700_000
    assert found["first"][0] <= 120 and found["first"][1] <= 25, found["first"]


@pytest.mark.slow
@pytest.mark.parametrize("width", HEIGHT)
@pytest.mark.parametrize("name", NAMES)
def test_the_budgets_of_every_page(name, width, tmp_path):
    made, file = study_tables(name, whole=True), tmp_path / "index.html"
    tables = made.comparison | {"offers": made.offers, "throughput": made.throughput}
    file.write_text(render_page(tables, load_study(STUDIES / name)), encoding="utf-8")
    with opened(file, width) as (tab, noise):
        assert_within(measured(tab), file.stat().st_size, width)
        assert not noise


@pytest.mark.parametrize("tables", [small_tables, one_job])
def test_the_budgets_of_small_pages(tables, tmp_path):
    file = tmp_path / "index.html"
    file.write_text(render_page(tables(), study()), encoding="utf-8")
    for width in HEIGHT:
        with opened(file, width) as (tab, noise):
            assert_within(measured(tab), file.stat().st_size, width)
            assert not noise


def test_a_page_without_an_answer_says_why(tmp_path):
    file = tmp_path / "index.html"
    file.write_text(render_page({}, study()), encoding="utf-8")
    with opened(file) as (tab, noise):
        assert tab.inner_text("h1") == "No answer yet: nothing here has a price." and not noise


def moved(tab, **values):
    """The panel at these values; what it finds the cheapest, and the verdict."""
    tab.goto(tab.url.split("#")[0] + "#" + "&".join(f"{name}={value}" for name, value in values.items()))
    tab.reload()
    found = tab.evaluate("({...document.getElementById('case').dataset})")
    return found, tab.inner_text("#verdict"), tab.inner_text("#tiles>div:nth-child(2) dd")


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    file = tmp_path_factory.mktemp("case") / "index.html"
    file.write_text(render_page(one_job(), study()), encoding="utf-8")
    return file


def test_the_panel_moves_verdict_tiles_and_chart_together(case):
    """The box costs 58.3 USD a training, 52.83 h: 216.67 / 240 + 0.20 an hour; the rented machine 357.8 at 3.06.

    At half an hour's price it is 178.9: 3.07 times. At 40,000 USD the box costs 52.834 x (1333.3 / 240 + 0.2) = 304.1.
    """
    with opened(case) as (tab, noise):
        asked = json.loads(
            tab.inner_text("#case-data") or tab.evaluate("document.getElementById('case-data').textContent")
        )
        assert asked["box"].startswith("office") and asked["jobs"] is None
        before = tab.inner_text("#verdict")
        found, said, tile = moved(tab, hourly=1.53)
        assert float(found["ratio"]) == pytest.approx(178.9 / 58.27, rel=2e-3)
        assert said == "Buy. Renting costs 3.1 times as much." and tile == "3.1 ×"
        found, said, _ = moved(tab, price=40_000)
        assert float(found["usd"]) == pytest.approx(52.834 * (40_000 / 30 / 240 + 0.2), rel=2e-3)
        assert said == "Buy. Renting costs 1.2 times as much."
        middle = tab.evaluate("document.querySelector('.row.k-buy em').textContent")
        assert middle == "304"
        tab.click("text=Back to the study")
        assert tab.inner_text("#verdict") == before and "#" not in tab.url.rstrip("#")
        assert not noise


def test_a_plan_of_phases_moves_by_whole_machines(tmp_path):
    """Each choice costs on the page what the library says, in whole rounds on whole machines."""
    tables = compared(own(), hourly()) | {"offers": given(own(), hourly())[1]}
    file = tmp_path / "index.html"
    file.write_text(render_page(tables, study()), encoding="utf-8")
    chosen = tables["choices"][tables["choices"]["workload"] == "work"].set_index("choice")
    with opened(file) as (tab, noise):
        data = json.loads(tab.evaluate(DATA))
        usd = tab.evaluate(
            "data => data.choices.filter(one => one.rounds).map(one => [one.choice, roundsCost(one.rounds,"
            " {plan_work: 100, plan_rent: 0, plan_price: 100, plan_days: 100, plan_power: 100}).usd])",
            data,
        )
        for name, value in usd:
            assert value == pytest.approx(chosen.loc[name, "usd"], rel=1e-9)
        assert np.isfinite(data["jobs"]) and not noise
