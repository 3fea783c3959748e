"""The page in a browser: its budgets at two widths on every study, and accessibility."""

import pytest
from decision_tables import study
from report_tables import one_job, opened, small_tables
from study_tables import STUDIES, study_tables
from sweetspot.report.page import render_page
from sweetspot.study.study import load_study

pytestmark = pytest.mark.browser
NAMES = sorted(file.parent.name for file in STUDIES.glob("*/study.yaml"))
# Words and numbers that a reader sees: names of machines and axes are not text, nor is the 8 of lora-8b a number.
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
  return [text.match(/[A-Za-z][\\w'’-]*/g)?.length ?? 0, text.match(/(?<![\\w.,]|\\w-)\\d[\\d.,]*/g)?.length ?? 0];
}"""
HEIGHT = {1280: 3000, 390: 4500}  # px


def written(folder, tables, of):
    """The page of those tables as a file."""
    file = folder / "index.html"
    file.write_text(render_page(tables, of), encoding="utf-8")
    return file


def of_study(folder, name):
    """The page of a study that is shipped, its tables, and the study."""
    made, of = study_tables(name, whole=True), load_study(STUDIES / name)
    tables = made.comparison | {"offers": made.offers, "throughput": made.throughput}
    return written(folder, tables, of), tables, of


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
    file, _, _ = of_study(tmp_path, name)
    with opened(file, width) as (tab, noise):
        assert_within(measured(tab), file.stat().st_size, width)
        assert not noise


@pytest.mark.parametrize(("tables", "width", "scheme"), [(small_tables, 390, "dark"), (one_job, 1280, "light")])
def test_accessibility_rules_hold_on_the_first_page(tables, width, scheme, tmp_path):
    """axe-core's rules with every fold open; those of evidence.html: test_shapes.py, tests/report."""
    from axe_playwright_python.sync_playwright import Axe

    file = written(tmp_path, tables(), study())
    with opened(file, width, scheme=scheme) as (tab, _):
        tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = Axe().run(tab).response
    assert [(broken["id"], broken["nodes"][0]["html"]) for broken in found["violations"]] == []
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}  # it did look
