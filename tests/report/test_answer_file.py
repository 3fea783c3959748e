"""The answer for programs: its figures by hand, its schema, the first month; the page over all studies."""

import json
import os

import jsonschema
import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, study
from phase_plans import beside
from project_copy import ROOT
from report_tables import make_report, month_tables, one_job
from sweetspot.report.answer_file import Answer, answer_of, first_month_usd, to_json
from sweetspot.report.finished import write_index, write_shared
from sweetspot.report.page import page_of

SCHEMA = json.loads((ROOT / "config" / "schemas" / "answer.schema.json").read_text())
BOX_RATE, RENTED_RATE = 264.6666667 / 240 / 498, 3.06 / 225  # USD an hour over images a second
NONE = float("nan")


def written(folder, tables=None, **changes):
    """answer.json of the small study, held against its schema."""
    answer = json.loads((make_report(folder, tables, **changes) / "answer.json").read_text())
    jsonschema.validate(answer, SCHEMA)
    return answer


def test_a_box_wins_loses_or_ties(tmp_path):
    answer = written(tmp_path, one_job())
    verdict = answer["verdict"]
    assert verdict["best"]["choice"].startswith(BOX) and verdict["rival"]["choice"].startswith(RENTED)
    assert verdict["ratio"]["value"] == pytest.approx(RENTED_RATE / BOX_RATE, rel=1e-3)  # 6.14
    assert verdict["ratio"]["low"] < verdict["ratio"]["value"] < verdict["ratio"]["high"]
    # 216.667 a month against 3.06 / 225 x 498 - 0.20 = 6.573 an hour: 216.667 / (24 x 6.573) = 1.373 days
    assert "from 1.4 days of use a month" in verdict["do_this"]
    box = next(row for row in answer["choices"] if row["choice"] == verdict["best"]["choice"])
    assert box["usd"]["value"] == pytest.approx(94_720_000 / 498 / 3600 * 264.6666667 / 240)
    verdict = written(tmp_path, one_job(inputs(price_p3=0.10)))["verdict"]
    assert verdict["rival"]["choice"].startswith(BOX)
    assert verdict["ratio"]["value"] == pytest.approx(BOX_RATE / (0.10 / 225), rel=1e-3)  # 4.98
    assert verdict["p_cheaper"] > 0.99
    verdict = written(tmp_path, one_job(inputs(price_p3=BOX_RATE * 225)))["verdict"]
    assert verdict["confidence"] == "too close to call"
    # 6,500 USD without a range is a firm offer, and the box the cheaper by a hair.
    assert verdict["kind"] == "buy" and verdict["start_with"] == verdict["best"]


def test_the_work_of_months_is_the_answer_where_a_study_has_it(tmp_path):
    """27,000 against 30,000 USD in nine samples of ten: tests/support/report_tables.py."""
    verdict = written(tmp_path, beside(one_job(), month_tables()))["verdict"]
    assert verdict["workload"] == "lab" and verdict["p_cheaper"] == 0.9
    assert verdict["ratio"]["value"] == pytest.approx(10 / 9)
    assert verdict["confidence"] == "likely"


def test_warnings_that_decide_stand_once_and_reasons_with_their_choice():
    rows = [("note", "b", "m2", True), ("note", "b", "m1", True), ("note", None, None, True), ("old", "c", "m", False)]
    warnings = pd.DataFrame(rows, columns=["rule", "message", "instance", "decisive"])
    choices = month_tables()["choices"].assign(why_not=[None, "no"])
    answer = answer_of(month_tables() | {"warnings": warnings, "choices": choices}, study())
    assert [(row.message, row.instance) for row in answer.warnings] == [("b", "m2"), ("", None)]
    assert [row.why_not for row in answer.choices] == [None, "no"]


def test_the_page_follows_from_the_file_alone():
    tables = beside(one_job(), month_tables())
    text = to_json(answer_of(tables, study()))
    assert text.startswith('{\n "schema_version": 3,\n "study": {\n  "name": "paper",') and text.endswith("}\n")
    assert page_of(Answer.model_validate_json(text)) == page_of(answer_of(tables, study()))


def test_one_choice_alone_and_none(tmp_path):
    tables = one_job()
    tables["verdict"] = tables["verdict"].assign(rival=None, level="machine", take_rival=None)
    assert written(tmp_path / "one", tables)["verdict"]["rival"] is None
    for name in ("options", "ranks", "worth_knowing", "offers", "verdict", "choices"):
        tables[name] = tables[name].head(0)
    answer = written(tmp_path / "none", tables)
    assert answer["choices"] == [] and answer["verdict"] is None
    assert answer["sentences"] == ["No answer yet: nothing here has a price."]


OFFERS = [
    {"price_list": "p", "instance": "box", "purchase": "own", "capex_usd": 14_500.0, "fixed_usd_per_month": 420.0,
     "maintenance_usd_per_month": 20.0, "staff_usd_per_month": NONE, "upfront_usd": NONE, "term_months": NONE},
    {"price_list": "p", "instance": "year", "purchase": "reserved", "upfront_usd": 120.0, "term_months": 12.0}
]  # fmt: skip
OPTIONS = [{"option": row["instance"], **row} for row in OFFERS]
CHOICE = {"workload": "w", "choice": "box", "kind": "buy", "counts": 2.0, "usd_per_month": 900.0}
MACHINES = {"box": ("bought", 1.0), "year": ("bought", 1.0), "own": ("there", 2.0), "cloud": ("rented", NONE)}
MIX = [
    {"workload": "w", "mix": "mix", "option": name, "kind": kind, "machines": count}
    for name, (kind, count) in MACHINES.items()
]


@pytest.mark.parametrize(("changes", "usd"), [
    # Two boxes at 14,500 and their care of 20, instead of the 420 a month that the project bears of each.
    ({}, 900 + 2 * (14_500 + 20 - 420)),
    # Of one job: the price and the care of both boxes.
    ({"choice": "cloud", "kind": "rent"}, 900.0), ({"usd_per_month": NONE}, 2 * 14_520.0),
    # One box, and a contract's 120 at once, of which a month bears a twelfth.
    ({"choice": "mix", "kind": "mix"}, 900 + 14_100 + 110)
])  # fmt: skip
def test_the_first_month_costs_the_price_and_a_month(changes, usd):
    tables = {"offers": pd.DataFrame(OFFERS), "options": pd.DataFrame(OPTIONS), "sources": pd.DataFrame(MIX)}
    assert first_month_usd(CHOICE | changes, tables) == usd
    if usd and usd > 900:
        assert first_month_usd(CHOICE | changes, tables | {"offers": pd.DataFrame()}) is None


def test_the_index_has_every_study_newest_first_and_survives_a_broken_one(tmp_path):
    results = tmp_path / "results"
    files = {name: results / name / "report" / "answer.json" for name in ("old", "new", "broken")}
    for age, (name, file) in enumerate(files.items()):
        file.parent.mkdir(parents=True)
        facts = {"title": f"<b>{name}</b>", "as_of": "2026-09-19" if name == "new" else "2018-07-01"}
        sentences = ["A claim holds.", f"{name} wins.", "More.", "Not shown."]
        file.write_text(json.dumps({"study": facts, "sentences": sentences, "claims": sentences[:1]}))
        os.utime(file, (1e9 - age, 1e9 - age))  # made in the order of their names, as `for` in a shell does
    files["broken"].write_text("{")
    write_index(results, results / "index.html")
    page = (results / "index.html").read_text()
    places = [page.index(f'href="{name}/report/index.html"') for name in ("new", "old", "broken")]
    assert places == sorted(places)
    assert "&lt;b&gt;new&lt;/b&gt;" in page and "<b>new" not in page
    assert "new wins." in page and "Not shown." not in page
    assert "report/answer.json cannot be read (JSONDecodeError); make the study again." in page
    assert "written 2001-09-09 01:46 UTC" in page  # 10^9 seconds after 1970


def test_one_file_holds_the_page_and_its_evidence_and_links_to_no_other(tmp_path):
    page, evidence = tmp_path / "index.html", tmp_path / "evidence.html"
    page.write_text('<main><a href="evidence.html#money">All</a> <a href="answer.json">data</a></main>')
    evidence.write_text('<p id="money"><a class="n" href="#p1">1 "USD"</a> <a href="tables/x.csv">rows</a></p>')
    write_shared(page, evidence, tmp_path / "shared.html")
    assert (tmp_path / "shared.html").read_text() == (
        '<main><a href="#evidence">All</a> data<iframe id="evidence" title="Evidence" srcdoc="&lt;p id=&#34;money&#34;'
        "&gt;&lt;a class=&#34;n&#34; href=&#34;#p1&#34;&gt;1 &#34;USD&#34;&lt;/a&gt; rows&lt;/p&gt;"
        '"></iframe></main>'
    )
