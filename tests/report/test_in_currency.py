"""A study in another currency: all that people read is USD / rate, all that is written to files stays USD."""

import re
from dataclasses import replace
from datetime import date

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, settings
from report_tables import CLAIM, make_report, small_tables
from sweetspot.decision.compare import compare
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.decision_text import with_text
from sweetspot.report.tables import in_words, shown_in
from sweetspot.wording import Money

RATE = 1.25
EUR = Money("EUR", RATE)
SAID = {"currency": "EUR", "usd_per_unit": RATE}
SAYS = {"code": "EUR", "usd_per_unit": RATE, "as_of": date(2018, 6, 29), "source": "ECB"}


@pytest.fixture(scope="module")
def tables():
    """The small study, its sentences in EUR, with a claim about USD as printed."""
    made = small_tables(currency="EUR", usd_per_unit=RATE)
    made["verdict"] = made["verdict"].assign(counts="train", **SAID)  # as `compare` adds to that of the work of months
    return made | {"claims": pd.DataFrame([CLAIM | {"lead": False, "relation": None}])}


@pytest.fixture(scope="module")
def pages(tables, tmp_path_factory):
    """The page in EUR and in USD."""
    own = make_report(tmp_path_factory.mktemp("eur"), tables, currency=SAYS)
    return [(folder / "evidence.html").read_text() for folder in (own, make_report(tmp_path_factory.mktemp("usd")))]


def test_the_sentences_of_the_decision_by_hand():
    found = compare(inputs(1.53), replace(settings(), currency="EUR", usd_per_unit=RATE, deadlines_hours=(1.0, 60.0)))
    # The box: 52.834 h x 1.102778 USD = 58.265 USD; p3.2xlarge as spot: 116.94 h x 1.11 = 129.80 USD, 103.8 EUR.
    told = with_text(found)["deadlines"].set_index("within_hours")
    assert (
        told.loc[1.0, "cheapest"]
        == "none can: the fastest, office-4x1080ti, takes 52.8 h for 46.6 EUR once it is bought for 5,200 EUR"
    )
    # 178.91 USD / 58.265 = 3.07: its hour may fall from 1.53 to 0.4983 USD until the box is no cheaper.
    turns = found["tornado"].set_index("assumption")["flip_value"]
    assert turns["price of p3.2xlarge"] == pytest.approx(0.4983, rel=1e-3)


def test_figures_of_the_tables_stay_in_usd():
    own, dollars = (compare(inputs(), replace(settings(), **money)) for money in ({}, SAID))
    for name, table in own.items():
        numbers = [column for column in table.select_dtypes("number").columns if column != "usd_per_unit"]
        pd.testing.assert_frame_equal(table[numbers], dollars[name][numbers])
    assert own["tornado"]["unit"].tolist() == dollars["tornado"]["unit"].tolist()


def test_nothing_on_the_page_is_mixed(pages):
    own, dollars = pages
    assert '<p class="note" id="currency">Money in EUR at 1.25 USD, ECB 2018-06-29.</p>' in own
    assert 'id="currency"' not in dollars
    text = re.sub(r"<script>.*?</script>", "", own, flags=re.DOTALL)  # the code; its data stay
    text = re.sub(r'<section id="claims">.*?</section>', "", text, flags=re.DOTALL)  # as printed there
    text = text.replace("EUR at 1.25 USD, ECB 2018-06-29", "")
    assert not re.findall(r".{30}\bUSD\b.{30}", text)
    assert "Bill in EUR" in text or "EUR/hour" in text
    assert "USD/month" in own  # the claim's


def test_no_chart_says_or_shows_another(tables):
    """Also one that a later author adds: each label is gone through, each figure follows from the tables."""
    shown = ChartData(shown_in(tables, EUR), BOX)
    assert not [name for name, chart in CHARTS.items() if "USD" in in_words(chart.title + chart.caption, EUR)]
    rows = CHARTS["front"].draw(shown).data["rows"].set_index("option")["usd"]
    # 94.72 million images: 52.83 h of the box at 1.102778 USD, 116.94 h of p3.2xlarge at 3.06 USD
    assert rows[BOX] == pytest.approx(94.72e6 / 498 / 3600 * 1.102778 / RATE, rel=1e-4)
    assert rows[RENTED] == pytest.approx(94.72e6 / 225 / 3600 * 3.06 / RATE, rel=1e-4)
