"""Buying later on the page, in the summary and in the answer file; nothing where no plan asks."""

import json
import re

import numpy as np
import pandas as pd
from decision_tables import study
from phase_plans import compared, hourly, own
from report_tables import small_tables
from sweetspot.report.answer_file import answer_json
from sweetspot.report.charts import CHARTS
from sweetspot.report.cited import Provenance
from sweetspot.report.evidence_page import Drawn, render_evidence
from sweetspot.report.plan_turning import later_in_words
from sweetspot.report.sections import Sections
from sweetspot.report.sheet import render_summary

BOX = {"workload": "work", "box": "b", "box_title": "the <box>", "until": None, "until_title": None, "months": 36.0}
RENT = BOX | {"until": "r", "until_title": "Rent & Co"}
NOTHING = {name: np.nan for name in ("box_usd", "saved_usd", "saved_usd_low", "saved_usd_high", "p_saves")}
TABLE = pd.DataFrame([
    BOX | NOTHING | {"after_months": 0.0, "title": "the <box>", "box_usd": 900.0, "rent_usd": 0.0, "usd": 1000.0},
    RENT | {"after_months": 6.0, "title": "later", "box_usd": 850.0, "rent_usd": 75.0, "usd": 940.0, "saved_usd": 60.0,
            "saved_usd_low": -10.0, "saved_usd_high": 130.0, "p_saves": 0.9},
    RENT | NOTHING | {"after_months": 36.0, "title": "Rent & Co", "box": None, "box_title": None, "rent_usd": 980.0,
                      "usd": 980.0},
    BOX | NOTHING | {"after_months": 0.0, "title": "old", "box_title": "old", "usd": np.nan, "rent_usd": 0.0},
]).assign(usd_low=500.0, usd_high=2000.0, box_usd_low=np.nan, box_usd_high=np.nan, p_cheapest=[0.1, 0.7, 0.2, np.nan],
          status=["ok", "ok", "ok", "is used for 48 months, the plan has 36"])  # fmt: skip
SAID = "Bought in 6 months, renting Rent & Co until then: 940 USD, 60.0 less (−10.0 to 130), 90 % likely."


def plain(cell):
    return re.sub("<[^>]*>", "", str(cell))


def test_the_table_has_a_row_a_way_and_shades_the_cheapest():
    part = Sections({"later": TABLE}, study(), Provenance()).later()
    assert [row[1] for row in part.rows] == ["the <box>, at once", "the <box>, in 6 months", "never", "old, at once"]
    assert [row[2] for row in part.rows] == ["", "Rent & Co", "Rent & Co", "is used for 48 months, the plan has 36"]
    assert part.classes == ["", "good", "", "failed"]
    assert [plain(cell) for cell in part.rows[1][3:]] == ["850", "75.0", "940", "60.0", "90 %"]


def page(tables):
    drawn = {name: "{}" for name in CHARTS}
    return render_evidence(tables, study(), Drawn(drawn))


def test_page_summary_and_answer_say_it_and_escape_it():
    tables = small_tables() | {"later": TABLE}
    text = page(tables)
    assert 'id="buying-later"' in text
    assert "renting Rent &amp; Co until then: 940 USD, 60.0 less" in text
    assert "<box>" not in text
    assert SAID in json.loads(answer_json(tables, study()))["buying_later"]
    assert "Never buying costs 980 USD" in render_summary(tables, study())


def test_without_such_a_plan_the_page_has_no_such_section():
    tables = small_tables()
    assert 'id="buying-later"' not in page(tables)
    assert json.loads(answer_json(tables, study()))["buying_later"] == []


def test_the_sentences_say_what_waiting_costs_and_what_is_cheapest():
    found = compared(own(), hourly())["later"]
    assert later_in_words(found) == [
        "box, bought at once: 39,240 USD over 36 months.",
        "Bought in 6 months, renting rented until then: 45,900 USD, 6,660 more (6,660 to 6,660), over 99 % likely.",
        "Bought in 12 months, renting rented until then: 52,560 USD, 13,320 more (13,320 to 13,320), over 99 % likely.",
        "Buying box at once is the cheapest, over 99 % likely.",
        "Never buying costs 43,200 USD.",
    ]


def test_a_saving_and_never_buying_in_words():
    falling = compared(own(capex_change_per_year={"value": -0.6}), hourly(2.0))["later"]
    # 6 months: 2,400 + 36,000 x 0.4^0.5 + 30 x 90 = 27,868; 12 months: 21,360
    first, half, year, least = later_in_words(falling, "EUR")
    assert first == "box, bought at once: 39,240 EUR over 36 months."
    assert half.startswith("Bought in 6 months, renting rented until then: 27,868 EUR, 11,372 less (")
    assert year.startswith("Bought in 12 months, renting rented until then: 21,360 EUR, 17,880 less (")
    assert least == "Never buying is the cheapest: rented for all 36 months, 14,400 EUR, over 99 % likely."


def test_without_such_a_plan_nothing_is_said():
    assert later_in_words(pd.DataFrame()) == []
