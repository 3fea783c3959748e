"""The page in a browser: its budgets at two widths on every study, and accessibility."""

import pytest
from decision_tables import study
from report_tables import one_job, opened, small_tables
from study_tables import STUDIES
from sweetspot.report.answer_file import answer_of
from sweetspot.report.page import page_of

pytestmark = pytest.mark.browser
NAMES = sorted(file.parent.name for file in STUDIES.glob("*/study.yaml"))
HEIGHT = {1280: 3000, 390: 4500}  # px


def written(folder, tables, of):
    """The page of those tables as a file."""
    (folder / "index.html").write_text(page_of(answer_of(tables, of)), encoding="utf-8")
    return folder / "index.html"


def measured(tab):
    return {
        "words": tab.evaluate("document.body.innerText.match(/[A-Za-z][\\w'’-]*/g).length"),
        "height": tab.evaluate("document.documentElement.scrollHeight"),
        "wide": tab.evaluate("document.documentElement.scrollWidth"),
        "nodes": tab.evaluate("document.querySelectorAll('*').length"),
        "folds": tab.evaluate("document.querySelectorAll('details').length"),
        "charts": tab.evaluate("document.querySelectorAll('figure').length"),
        "tables": tab.evaluate("document.querySelectorAll('table').length"),
    }


def assert_within(found, size, width):
    assert found["words"] <= 450 and found["folds"] <= 8 and found["charts"] <= 6 and found["tables"] <= 2
    assert found["height"] <= HEIGHT[width] and found["wide"] <= width and found["nodes"] <= 3000
    assert size <= 250_000


@pytest.mark.parametrize("name", NAMES)
def test_the_budgets_of_every_page(name, study_results):
    file = study_results(name) / "report" / "index.html"
    with opened(file) as (tab, noise):
        for width in HEIGHT:
            tab.set_viewport_size({"width": width, "height": 900})
            assert_within(measured(tab), file.stat().st_size, width)
        assert not noise


@pytest.mark.parametrize(("tables", "width", "scheme"), [(small_tables, 390, "dark"), (one_job, 1280, "light")])
def test_accessibility_rules_hold_on_the_first_page(tables, width, scheme, tmp_path):
    """axe-core's rules with every fold open; those of evidence.html: test_browser.py, tests/report."""
    from axe_playwright_python.sync_playwright import Axe

    file = written(tmp_path, tables(), study())
    with opened(file, width, scheme=scheme) as (tab, _):
        tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = Axe().run(tab).response
    assert [(broken["id"], broken["nodes"][0]["html"]) for broken in found["violations"]] == []
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}  # it did look
