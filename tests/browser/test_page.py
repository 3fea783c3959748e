"""The page in a browser: its budgets at two widths on every study, and accessibility."""

import json
import re

import pytest
from decision_tables import study
from report_tables import one_job, opened, small_tables
from study_tables import STUDIES
from sweetspot.report.answer_file import answer_of
from sweetspot.report.page import page_of

pytestmark = pytest.mark.browser
NAMES = sorted(file.parent.name for file in STUDIES.glob("*/study.yaml"))
HEIGHT = {1280: 3000, 390: 4500}  # px
NUMBER = re.compile(r"(?<![\w#])\d[\d,]*(?:\.\d+)?")
# Neither figures: style, scripts, examples of commands, positions in tags; nor of the answer: what an axis counts in.
NOT_WORDS = re.compile(r"<(style|script|svg|code).*?</\1>|<div class=\"axis\".*?</div>|\"x\": [\d.]+|<[^>]+>", re.S)
FIXED = [90, 99, 1]  # 90 % of outcomes, over 99 %, under 1 %


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


def figures_of(node):
    """Numbers of a part of answer.json, those of its sentences and the lengths of its lists included."""
    if isinstance(node, dict | list):
        parts = node.values() if isinstance(node, dict) else node
        return [len(node)] + [figure for part in parts for figure in figures_of(part)]
    if isinstance(node, str):
        return [float(word.replace(",", "")) for word in NUMBER.findall(node)]
    return [float(node)] if node is not None else []


def unexplained(page: str, answer: dict) -> list[str]:
    """Numbers of a page that no figure rounds to: itself, in money, per cent, minutes, days, or off the plan."""
    rate, figures = answer["study"]["usd_per_unit"], [*figures_of(answer), *FIXED]
    figures += [form for n in figures for form in (n / rate, 100 * n, abs(100 * (n - 1)), 60 * n, n / 24)]
    words = NUMBER.findall(NOT_WORDS.sub(" ", page))
    # Half of the last digit shown, which is not a nought of an amount in thousands.
    digits = {w: len(w.partition(".")[2]) or len(w.rstrip("0,")) - len(w.rstrip(",")) for w in words}
    off = {w: 0.51 * 10.0 ** -digits[w] for w in words}
    return [w for w in off if all(abs(float(w.replace(",", "")) - n) > off[w] for n in figures)]


@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_a_page_is_a_figure_of_its_answer(name, study_results):
    folder = study_results(name) / "report"
    page, answer = (folder / "index.html").read_text(), json.loads((folder / "answer.json").read_text())
    head, _, panel = page.partition('<details id="what-if">')  # the panel alone has the sweeps
    sweeps = answer.pop("sweeps")
    shown = [sweep["buying_pays_from"] for sweep in sweeps]
    panel, _, tail = panel.partition("</script></details>")
    assert unexplained(head + tail, answer | {"shown": shown}) == []
    assert unexplained(panel, answer | {"sweeps": sweeps}) == []
    assert unexplained(head.replace("</h1>", " 98765.4 </h1>"), answer | {"shown": shown}) == ["98765.4"]
