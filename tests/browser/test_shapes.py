"""The page in its widths, in light and dark, on paper, in another browser: of a plan, with claims, with long names."""

import pandas as pd
import pytest
from firefox import firefox
from report_tables import CLAIM, make_report, opened, small_tables
from sweetspot.report.charts import CHARTS

pytestmark = pytest.mark.browser
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
    return make_report(tmp_path_factory.mktemp("shapes"), tables, figures=tuple(CHARTS)) / "evidence.html"


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


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_firefox_shows_the_same_page(page, tmp_path, scheme):
    """From disk without a request, nothing outside the page, charts drawn by script."""
    with firefox(tmp_path / "profile", scheme) as tab:
        for wide in (500, 1280):  # the narrowest that its window can be, and a desk's
            tab.open(page, wide)
            assert tab.run("return document.documentElement.scrollWidth") <= wide
            assert tab.run(f"return {OUTSIDE}") == []
        assert tab.run("return performance.getEntriesByType('resource').map(one => one.name)") == []
        tab.run("document.querySelector('#fig-throughput').scrollIntoView()")
        drawn = "return document.querySelectorAll('.chart.drawn svg').length"
        assert any(tab.run(drawn) for _ in range(2000))
        assert tab.run(f"return {PAINT}") == {"dark": rgb(INK), "light": "rgb(0, 0, 0)"}[scheme]


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
