"""The first page's figures, and the answer beside it on a sheet to sign."""

import re

import pandas as pd
import pytest
from decision_tables import study
from report_tables import CHROMIUM, browser, make_report, one_job, small_tables
from sweetspot.report.finished import print_pdf
from sweetspot.report.outcome import Figure, Named, Outcome, key_figures
from sweetspot.report.sheet import clauses, render_sheet, short
from sweetspot.wording import Money

NONE = Figure(value=None, low=None, high=None)
RENT = {
    "level": "commit", "kind": "rent", "rival_kind": "buy", "confidence": "clear", "p_cheaper": 0.97,
    "best": Named(choice="a", title="Nebius"), "rival": Named(choice="b", title="the box"),
    "ratio": Figure(value=2.5, low=1.7, high=4.4), "work_factor": 3.6, "buy_below_usd": None,
    "machine_title": "Nebius with 8 B300 SXM",
}  # fmt: skip


def third(chance: Figure, **other):
    found = Outcome.model_construct(**RENT | {"p_stock": chance} | other)
    sure, dearer, last = key_figures(found, Money())
    assert (sure.value, dearer.value) == ("97 %", "2.5 ×")
    return last.value, last.label, last.span


def test_how_often_the_machine_is_free_stands_third():
    told = third(Figure(value=0.13, low=0.02, high=0.13))
    assert told == ("13 %", "of attempts find Nebius with 8 B300 SXM free", "2 % to 13 %")


@pytest.mark.parametrize("chance", [NONE, Figure(value=1.0, low=1.0, high=1.0)], ids=["not known", "always there"])
def test_where_it_is_not_known_or_always_there_the_work_from_which_buying_pays_does(chance):
    assert third(chance) == ("3.6 ×", "as much work before buying pays", "")


HOSTILE = '<script>alert(1)</script> & "quoted" ]]> \x07\x1b[31m <b>'
ENDLESS = "Pneumonoultramicroscopicsilicovolcanoconiosis" * 5


def test_what_a_study_says_is_escaped_on_the_sheet_and_cut():
    html = render_sheet(one_job(), study(title=HOSTILE, question=ENDLESS * 9))
    assert "<script>alert" not in html
    assert ENDLESS * 3 not in html
    assert "http" not in html  # it loads nothing


def test_a_study_without_an_answer_has_a_sheet_without_a_table():
    html = render_sheet({}, study())
    assert "No answer yet" in html
    assert "<table" not in html


def test_texts_are_cut_between_words():
    assert short("one two three", 9) == "one two …"
    assert short("one two", 9) == "one two"


def test_a_sentence_is_cut_behind_a_clause_and_never_within_brackets():
    told = "Times (v6: A; v5: B) are compared; one became twice as fast, and so much is drawn"
    assert clauses(told, 99) == told
    assert clauses(told, 70) == "Times (v6: A; v5: B) are compared; one became twice as fast"
    assert clauses(told, 50) == "Times (v6: A; v5: B) are compared"
    assert clauses(told, 30) == "Times (v6: A; v5: B) are …"  # no clause ends before


@pytest.mark.parametrize(("rule", "message", "said"), [
    ("no_interval", "a factor of 1.60 is assumed for what is stand_in",
     "Speeds without an interval: a factor of 1.60 is assumed for what is stand_in"),
    ("text_against_table", "box: the text says 1.3 per hour",
     "Prices on which text and table of the source disagree: the office box: the text says 1.3 per hour"),
    ("specified_only", "X1 is known by its specifications only", "X1 is known by its specifications only"),
])  # fmt: skip
def test_a_warning_of_the_sheet_says_what_it_is_about(rule, message, said):
    tables = one_job()
    warned = {"instance": "box", "model": None, "rule": rule, "message": message, "decisive": True}
    tables["warnings"] = pd.DataFrame([warned])
    tables["options"] = tables["options"].assign(instance="box", title="office box")
    assert f"<li>{said}</li>" in render_sheet(tables, study())


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("words", ["as it is", "of the longest"])
def test_the_sheet_is_one_page_of_a4_with_room_to_sign(tmp_path, words):
    """Whatever a study says: printed, all that it holds stands on it."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    more = {} if words == "as it is" else {"title": "Long title " * 40, "question": "Why so long, and for whom? " * 40}
    tables = small_tables()
    if more:
        long = "a machine of a name that is long " * 6
        tables["choices"] = pd.concat([tables["choices"].assign(title=long)] * 4, ignore_index=True)
    page = tmp_path / "decision.html"
    page.write_text(render_sheet(tables, study(**more)), encoding="utf-8")
    print_pdf(page, tmp_path / "decision.pdf")
    paper = (tmp_path / "decision.pdf").read_bytes()
    assert re.findall(rb"/Type\s*/Page\b", paper) == [b"/Type /Page"]
    with browser().new_context(
        viewport={"width": 680, "height": 1028}
    ) as context:  # A4 less its margins, in CSS pixels
        tab = context.new_page()
        tab.emulate_media(media="print")
        tab.goto(page.as_uri())
        hidden = "document.querySelector('main').scrollHeight - document.querySelector('main').clientHeight"
        assert tab.evaluate(hidden) <= 1


def test_the_sheet_lies_beside_the_page(tmp_path):
    report = make_report(tmp_path)
    assert {"index.html", "evidence.html", "answer.json", "summary.md", "decision.html"} <= {
        f.name for f in report.iterdir()
    }
