"""Weight of a page, first paint, time of its panel: `python research/performance/panel.py [PAGE ...]`.

Without a page it makes one: the default study with a matrix of 10,000 cells, a run file each (load_projects.py), which
takes minutes. Figures of this machine in headless Chromium; nothing here is a test. A row a page: MB; ms to the first
paint, median of five openings; ms of a slider's answer (from the event to the sentence and the order changed, median
and longest of 60 moves); ms until the charts have moved too.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from load import PAGE, SNAKEMAKE, cost
from load_projects import big_project, fake_runs
from report_tables import CHROMIUM, FLAGS

MOVES = """
async () => {
  const fold = document.getElementById("panel-fold"), slow = [], drawn = [];
  fold.open = true;
  for (const figure of document.querySelectorAll(".moving figure")) {
    figure.scrollIntoView({ behavior: "instant" });
    for (let turn = 0; turn < 100 && !figure.querySelector(".drawn"); turn += 1)
      await new Promise((done) => setTimeout(done, 50));
  }
  const inputs = [...document.querySelectorAll("#case input[type=range]")];
  for (let turn = 0; turn < 60; turn += 1) {
    const one = inputs[turn % inputs.length], low = Number(one.min), high = Number(one.max);
    const start = performance.now();
    one.value = low + ((high - low) * ((turn * 7) % 20)) / 20;
    one.dispatchEvent(new Event("input"));
    slow.push(performance.now() - start);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    await Promise.all(Object.values(liveCharts).map((view) => view.runAsync()));
    drawn.push(performance.now() - start);
  }
  return { slow, drawn };
}
"""


def measured(browser: Any, page: Path) -> str:
    """A row of the table, in Markdown."""
    paints = []
    for _ in range(5):
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(page.as_uri())
        tab.wait_for_timeout(800)
        paints.append(tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        moves = tab.evaluate(MOVES) if len(paints) == 5 else {}
        tab.close()
    slow, drawn = (statistics.median(moves[name]) for name in ("slow", "drawn"))
    size = page.stat().st_size / 1e6
    return (
        f"| {page.parent.parent.name} | {size:.2f} | {statistics.median(paints):.0f} | {slow:.1f} "
        f"| {max(moves['slow']):.1f} | {drawn:.0f} |"
    )


def large_page(folder: Path) -> Path:
    """The page of the default study with 10,000 cells in its matrix."""
    project = big_project(folder, 10_000)
    fake_runs(project, 10_000, 50)
    cost([*SNAKEMAKE, "--", PAGE], project)
    return project / PAGE


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path, help="evidence.html files; none: a page of 10,000 cells is made")
    asked = parser.parse_args()
    if CHROMIUM is None:
        sys.exit("no Chromium on this machine: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    print(
        "| page | MB | first paint, ms | answer, ms | longest | with charts, ms |\n|---|---|---|---|---|---|",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="sweetspot-panel-") as folder, sync_playwright() as driver:
        pages = [page.absolute() for page in asked.pages] or [large_page(Path(folder))]
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for page in pages:
            print(measured(browser, page), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
