"""The evidence page as a person uses it, in headless Chromium: from disk, at every width, in the dark, on paper."""

import re

import pandas as pd
import pytest
from report_tables import CLAIM, make_report, opened, small_tables
from sweetspot.report.charts import CHARTS

pytestmark = pytest.mark.browser
WITHOUT_CHARTS = "The charts need JavaScript, in a browser of 2023 or later."
PAPER, INK = "#15181c", "#ffffff"  # of the style sheets
WIDTHS = (320, 390, 768, 1280, 1600)
LONG = {
    "office-4x1080ti": "a home-built office box with four GTX 1080 Ti and a long name",
    "p3.2xlarge": "AWS p3.2xlarge",
}
# What leaves the page at its sides, but for what scrolls within itself and what is folded away.
OUTSIDE = """(() => {
  const wide = document.documentElement.clientWidth;
  return [...document.querySelectorAll('header *, main *')].filter(one => {
    const box = one.getBoundingClientRect();
    let apart = one.closest('details:not([open])');
    for (let up = one.parentElement; up && !apart; up = up.parentElement)
      apart = getComputedStyle(up).overflowX === 'auto';
    return !apart && box.width && (box.right > wide + 1 || box.left < -1);
  }).map(one => `${one.tagName} ${one.textContent.slice(0, 40)}`);
})()"""
PAINT = "getComputedStyle(document.querySelector('.chart svg text')).fill"
TONE = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    tables = small_tables(titles=LONG)
    tables["claims"] = pd.DataFrame([CLAIM, CLAIM | {"id": "b", "verdict": "contradicted", "lead": False}])
    return make_report(tmp_path_factory.mktemp("browser"), tables, figures=tuple(CHARTS)) / "evidence.html"


def all_drawn(tab):
    """Wait until every chart of the page is drawn."""
    tab.wait_for_function("[...document.querySelectorAll('.chart')].every(one => one.matches('.drawn'))")


def test_it_opens_without_network_and_every_chart_is_drawn_with_its_name_and_its_tooltips(page):
    with opened(page) as (tab, noise):
        assert tab.inner_text("h1") == "A box or a rented card"
        tab.locator("#one-job > summary").click()
        tab.locator("#fig-front").scroll_into_view_if_needed()
        tab.wait_for_selector("#fig-front .chart.drawn")
        frame = tab.locator("#fig-front .chart")
        assert frame.locator("svg").get_attribute("aria-label") == CHARTS["front"].title
        assert frame.locator("[role]").count() == 1
        frame.locator(".mark-symbol path").first.hover(force=True)
        told = tab.inner_text("#vg-tooltip-element")
        # 94.72 million samples at 225 or 498 a second: 116.9 or 52.83 hours
        assert re.search(r"hours\s+(116\.9|52\.83)", told) and "basis" in told and "paper" in told
        all_drawn(tab)
        # One model on one device has no efficiency, and these tables no bill.
        assert tab.locator("figure svg").count() == len(CHARTS) - 2
        tab.emulate_media(media="print")
        assert all(one.is_visible() for one in tab.locator("figure svg").all())
        assert noise == []


def test_reads_without_javascript(page):
    with opened(page, javascript=False) as (tab, _):
        assert "Renting probably costs" in tab.inner_text(".answer")
        assert tab.locator("#t-ranks tbody tr").count() == 3
        assert WITHOUT_CHARTS in tab.inner_text("header")


def test_links_lead_somewhere_and_folds_open(page):
    with opened(page) as (tab, _):
        links = tab.eval_on_selector_all("a[href]", "all => all.map(one => one.getAttribute('href'))")
        for link in sorted(set(links)):
            if link.startswith("#"):
                assert tab.locator(link).count() == 1, link
            else:
                assert (page.parent / link).is_file(), link
        fold = tab.query_selector("#money details:not([open]) summary")
        fold.focus()  # by the keyboard: a chart that is drawn meanwhile moves what a mouse aims at
        tab.keyboard.press("Enter")
        assert fold.evaluate("one => one.parentElement.open")


def rgb(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgb({red}, {green}, {blue})"


def test_nothing_leaves_the_page_at_any_width(page):
    with opened(page) as (tab, _):
        for wide in WIDTHS:
            tab.set_viewport_size({"width": wide, "height": 900})
            assert tab.evaluate("document.documentElement.scrollWidth") <= wide
            assert tab.evaluate(OUTSIDE) == [], wide


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (1280, "dark")])
def test_accessibility_rules_hold_for_a_plan_and_in_the_dark(page, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    with opened(page, width, scheme=scheme) as (tab, _):
        tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = Axe().run(tab).response
    assert [(broken["id"], broken["nodes"][0]["html"]) for broken in found["violations"]] == []
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}


def test_charts_are_dark_with_the_page_and_light_on_paper(page):
    with opened(page, scheme="dark") as (tab, noise):
        tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        tab.wait_for_selector(".drawn svg text")
        assert (tab.evaluate(TONE), tab.evaluate(PAINT)) == (rgb(PAPER), rgb(INK))
        # white words on white paper: the paper must be the page's
        assert (
            tab.evaluate("getComputedStyle(document.querySelector('.chart svg')).backgroundColor") == "rgba(0, 0, 0, 0)"
        )
        tab.emulate_media(media="print", color_scheme="dark")
        assert (tab.evaluate(TONE), tab.evaluate(PAINT)) == ("rgb(255, 255, 255)", "rgb(0, 0, 0)")
        assert noise == []


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_shows_no_word_of_a_chart_smaller_than_nine_pixels(page, width):
    """A chart that had to shrink further is scrolled within its frame, which keys reach; the page stays still."""
    smallest = """[...document.querySelectorAll('.chart svg')].filter(one => one.clientWidth).map(one => {
      const shrunk = one.getBoundingClientRect().width / one.viewBox.baseVal.width;
      const sizes = [...one.querySelectorAll('text')].map(word => parseFloat(getComputedStyle(word).fontSize));
      return Math.min(...sizes) * shrunk;
    })"""
    with opened(page, width) as (tab, _):
        tab.locator("#fig-throughput").scroll_into_view_if_needed()
        tab.wait_for_selector("#fig-throughput .drawn svg text")
        assert min(tab.evaluate(smallest)) >= 8.99
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        frame = "document.querySelector('#fig-throughput .chart')"
        assert tab.evaluate(f"{frame}.scrollWidth > {frame}.clientWidth + 1") == (
            tab.evaluate(f"{frame}.tabIndex") == 0
        )
