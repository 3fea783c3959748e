"""Weight and first paint of the pages that were made here: `python research/performance/pages.py [results]`.

A figure of this machine: nothing here is a test. Goals: 3 MB a page of a shipped study, first paint under 0.5 s.
"""

import shutil
import statistics
import sys
from pathlib import Path

ROUNDS = 5
MEGABYTES, SECONDS = 3, 0.5


def first_paint(page: Path, rounds: int = ROUNDS) -> float | None:
    """Seconds until headless Chromium paints anything of a page, median of `rounds`; None without a Chromium."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(rounds):
            tab = browser.new_page()
            tab.goto(page.absolute().as_uri())
            tab.wait_for_timeout(500)
            times.append(tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            tab.close()
        browser.close()
    return statistics.median(times) / 1000


def main(results: Path) -> None:
    """Print a row a page."""
    print(f"| study | MB (goal {MEGABYTES}) | first paint, s (goal {SECONDS}) |\n|---|---|---|")
    for page in sorted(results.glob("*/report/*.html")):
        painted = first_paint(page)
        told = "no Chromium" if painted is None else f"{painted:.2f}"
        print(f"| {page.parts[-3]} | {page.stat().st_size / 1e6:.2f} | {told} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
