"""The page as a person uses it, in headless Chromium: opens from disk, readable, printable."""

import re

import pytest
from report_tables import make_report, opened
from sweetspot.report.charts import CHARTS

WITHOUT_CHARTS = "The charts need JavaScript, in a browser of 2023 or later."


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    report = make_report(tmp_path_factory.mktemp("browser"), figures=tuple(CHARTS))
    return report / "evidence.html"


def test_opens_from_disk_without_network_or_complaint(page):
    with opened(page) as (tab, noise):
        assert tab.inner_text("h1") == "A box or a rented card"
        tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert noise == []


def all_drawn(tab):
    """Wait until every chart of the page is drawn."""
    tab.wait_for_function("[...document.querySelectorAll('.chart')].every(one => one.matches('.drawn'))")


def test_every_chart_is_drawn_with_its_name_and_its_tooltips(page):
    with opened(page) as (tab, noise):
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


def test_a_chart_is_saved_as_a_picture(page):
    with opened(page) as (tab, noise):
        all_drawn(tab)
        tab.locator("#one-job > summary").click()
        with tab.expect_download() as saved:
            tab.locator("#fig-front button").click()
        assert saved.value.suggested_filename == "front.svg"
        assert saved.value.path().read_text(encoding="utf-8").startswith("<svg")
        assert noise == []


def test_reads_without_javascript(page):
    with opened(page, javascript=False) as (tab, _):
        assert "Renting probably costs" in tab.inner_text(".answer")
        assert tab.locator("#t-ranks tbody tr").count() == 3
        assert WITHOUT_CHARTS in tab.inner_text("header")


def test_a_browser_that_cannot_unpack_the_charts_says_so(page):
    with opened(page) as (tab, noise):
        all_drawn(tab)
        assert WITHOUT_CHARTS not in tab.inner_text("body")
        tab.add_init_script("delete window.DecompressionStream")
        tab.reload()
        assert WITHOUT_CHARTS in tab.inner_text("header") and tab.locator("figure svg").count() == 0
        tab.locator("#one-job > summary").click()
        assert tab.locator("#fig-front").bounding_box()["height"] < 200  # its caption alone: a frame has 260
        assert noise == []


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
