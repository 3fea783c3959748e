"""The page as a person uses it, in headless Chromium: opens from disk, sliders count right, readable, printable."""

import datetime
import re

import pytest
from decision_tables import BOX
from report_tables import make_report, opened, small_tables
from sweetspot.report.charts import CHARTS

WITHOUT_CHARTS = "The charts need JavaScript, in a browser of 2023 or later."
SAMPLES = 94_720_000
# d* = (capex/months) / (24 (p_c R_o/R_c - kW p_kWh)); the box 498 images/s, the rival 225 at 3.06 USD an hour
BREAK_EVEN = 6500 / 30 / (24 * (3.06 * 498 / 225 - 0.20))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    report = make_report(tmp_path_factory.mktemp("browser"), figures=tuple(CHARTS))
    return report / "evidence.html"


def move(tab, name, value):
    """Set a slider as a hand would: the value, then the event."""
    tab.eval_on_selector(
        f'input[name="{name}"]',
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input')) }",
        str(value),
    )


def said(tab, name):
    return float(tab.get_attribute("#case-says", f"data-{name}"))


def row(tab, option, name):
    return float(tab.get_attribute(f'#outcome tr[data-option="{option}"]', f"data-{name}"))


def test_opens_from_disk_without_network_or_complaint(page):
    with opened(page) as (tab, noise):
        assert tab.inner_text("h1") == "A box or a rented card"
        tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert noise == []


def test_the_sliders_of_a_study_in_euros_are_in_euros(tmp_path):
    money = {"code": "EUR", "usd_per_unit": 1.25, "as_of": datetime.date(2018, 6, 29), "source": "ECB"}
    report = make_report(tmp_path, small_tables(currency="EUR", usd_per_unit=1.25), currency=money)
    with opened(report / "evidence.html") as (tab, noise):
        labels = " ".join(tab.locator("#case label").all_inner_texts())
        assert "electricity, EUR/kWh" in labels and f"price of {BOX}, EUR" in labels and "USD" not in labels
        # 6500 USD are 5200 EUR; 52.834 h x (5200 / 30 / 240 + 0.16) = 46.612 EUR
        assert float(tab.input_value('input[name="price"]')) == pytest.approx(5200, rel=0.01)
        assert row(tab, "office-4x1080ti", "usd") == pytest.approx(52.834 * (5200 / 30 / 240 + 0.16), rel=1e-4)
        assert said(tab, "days") == pytest.approx(BREAK_EVEN, rel=1e-9)  # days are days in any money
        # At 0.40 EUR/kWh and 1.0 kW an hour costs 0.24 EUR more.
        move(tab, "kwh", 0.40)
        assert row(tab, "office-4x1080ti", "usd") == pytest.approx(52.834 * (5200 / 30 / 240 + 0.40), rel=1e-4)
        assert tab.inner_text("#outcome thead").split("\t")[2] == "EUR"
        assert noise == []


def test_rents_that_fall_are_the_mean_of_the_project_s_months(page):
    with opened(page) as (tab, _):
        move(tab, "rent", -30)
        # 30 months of 0.7^(t/12): (1 - 0.7^2.5) / (30 (1 - 0.7^(1/12))) = 0.590037 / 0.878608 = 0.671559 of 3.06 USD
        by_hand = 6500 / 30 / (24 * (0.671559 * 3.06 * 498 / 225 - 0.20))
        assert said(tab, "days") == pytest.approx(by_hand, rel=1e-4)
        move(tab, "months", 12)
        # 12 months: 0.3 / (12 x 0.029287) = 0.853621
        assert said(tab, "days") == pytest.approx(6500 / 12 / (24 * (0.853621 * 3.06 * 498 / 225 - 0.20)), rel=1e-4)


def test_spot_prices_and_providers_multiply(page):
    with opened(page) as (tab, _):
        move(tab, "spot-price", 2)
        assert row(tab, "p3.2xlarge (spot)", "usd") == pytest.approx(SAMPLES / 225 / 3600 * 1.11 * 2, rel=1e-9)
        assert row(tab, "p3.2xlarge", "usd") == pytest.approx(SAMPLES / 225 / 3600 * 3.06, rel=1e-9)
        move(tab, "provider:aws", 0.5)
        assert row(tab, "p3.2xlarge", "usd") == pytest.approx(SAMPLES / 225 / 3600 * 1.53, rel=1e-9)


def all_drawn(tab):
    """Wait until every chart of the page is drawn."""
    tab.wait_for_function("[...document.querySelectorAll('.chart')].every(one => one.matches('.drawn'))")


def test_every_chart_is_drawn_with_its_name_and_its_tooltips(page):
    with opened(page) as (tab, noise):
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
        # One model on one device has no efficiency, and nothing is validated.
        assert tab.locator("figure svg").count() == len(CHARTS) - 2
        tab.emulate_media(media="print")
        assert all(one.is_visible() for one in tab.locator("figure svg").all())
        assert noise == []


def test_a_chart_is_saved_as_a_picture(page):
    with opened(page) as (tab, noise):
        all_drawn(tab)
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
        assert not tab.locator("#panel").is_visible() and not tab.locator("#outcome-fold").is_visible()


def test_a_browser_that_cannot_unpack_the_charts_says_so(page):
    with opened(page) as (tab, noise):
        all_drawn(tab)
        assert WITHOUT_CHARTS not in tab.inner_text("body")
        tab.add_init_script("delete window.DecompressionStream")
        tab.reload()
        assert WITHOUT_CHARTS in tab.inner_text("header") and tab.locator("figure svg").count() == 0
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
