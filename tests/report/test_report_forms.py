"""The finished study's page as others take it: by assistive technology, on paper, within Snakemake's own report."""

import json
import re
import zipfile

import pytest
from project_copy import run_snakemake
from report_tables import CHROMIUM, opened
from sweetspot.report.charts import CHARTS

pytestmark = pytest.mark.slow
PAGE = "results/parkopedia-2018/report/evidence.html"
# Of 1,300 rows the first of each kind (elements and classes), since all would take half a minute; how many kinds.
ONE_ROW_A_KIND = """() => {
  const kinds = new Set();
  for (const row of document.querySelectorAll('tbody tr')) {
    const kind = [row, ...row.querySelectorAll('*')].map(one => one.tagName + '.' + one.className).join();
    if (kinds.has(kind)) row.remove();
    kinds.add(kind);
  }
  return kinds.size;
}"""


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_accessibility_rules_hold_with_every_fold_open(finished_project, width, scheme):
    """axe-core's rules: WCAG A and AA with colour contrast, and its best practices; phases, claims, warnings."""
    from axe_playwright_python.sync_playwright import Axe

    with opened(finished_project / PAGE, width, scheme=scheme) as (tab, _):
        tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert tab.evaluate(ONE_ROW_A_KIND) > 20
        found = Axe().run(tab).response
    assert [(broken["id"], broken["nodes"][0]["html"]) for broken in found["violations"]] == []
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}  # it did look


@pytest.mark.browser
def test_the_page_is_printed_by_its_own_rule(project):
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    done = run_snakemake(project, "print_report")
    assert done.returncode == 0, done.stdout[-3000:]
    paper = (project / PAGE).with_name("index.pdf").read_bytes()
    assert paper.startswith(b"%PDF-")
    # The answer and its charts; the evidence stays on the screen.
    assert 1 <= max(map(int, re.findall(rb"/Count (\d+)", paper))) <= 4


def test_printing_without_a_browser_says_what_is_missing(tmp_path, monkeypatch):
    import sweetspot.report.finished as paper
    from sweetspot.errors import UserError

    monkeypatch.setattr(paper.shutil, "which", lambda name: None)
    with pytest.raises(UserError, match=r"index\.pdf: no Chromium found .* expected one of chromium"):
        paper.print_pdf(tmp_path / "index.html", tmp_path / "index.pdf")
    assert list(tmp_path.iterdir()) == []


def test_snakemakes_own_report_has_every_figure_with_caption_and_category(project):
    """As a page, and as an archive with the files themselves."""
    for words in ((), ("--report", "own.html"), ("--report", "own.zip")):
        done = run_snakemake(project, "report", "figures", *words)
        assert done.returncode == 0, done.stdout[-3000:]
    text = (project / "own.html").read_text(encoding="utf-8")
    figures = sorted((project / "results/parkopedia-2018/report/figures").glob("*.svg"))
    assert {file.stem for file in figures} == set(CHARTS)
    for file in figures:
        caption = CHARTS[file.stem].caption.format(units="images", Units="Images", models=12)
        entry = text[text.index(f'"name": "{file.name}"') :][:3000]
        assert json.dumps(caption[-20:])[1:-1] in entry, file.name
    for category in ("Answer", "Costs", "Decision", "Speed"):
        assert f'"{category}": {{' in text
    with zipfile.ZipFile(project / "own.zip") as archive:
        held = {file.rpartition("/")[2]: archive.read(file) for file in archive.namelist()}
    for file in (project / PAGE, *figures):
        assert held[file.name] == file.read_bytes(), file.name
