"""The first page's figures, and the answer beside it."""

import pytest
from report_tables import make_report
from sweetspot.report.outcome import Figure, Named, Outcome, key_figures
from sweetspot.report.summary import short
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


def test_texts_are_cut_between_words():
    assert short("one two three", 9) == "one two …"
    assert short("one two", 9) == "one two"


def test_the_answer_lies_beside_the_page_in_two_more_forms(tmp_path):
    names = {file.name for file in make_report(tmp_path).iterdir()}
    assert {"index.html", "evidence.html", "answer.json", "summary.md"} <= names
