"""The answer for programs: its figures by hand, its schema, every outcome; and the page over all studies."""

import json
import os

import jsonschema
import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, study
from phase_plans import beside
from project_copy import ROOT
from report_tables import make_report, month_tables, one_job
from sweetspot.report.answer_file import Answer, answer_json, answer_of
from sweetspot.report.finished import write_index
from sweetspot.report.page import page_of, render_page

SCHEMA = json.loads((ROOT / "config" / "schemas" / "answer.schema.json").read_text())
DEAR, CHEAP = 264.6666667 / 240 / 498, 3.06 / 225  # USD an hour over images a second: the box's, the rented one's


def written(folder, tables=None, **changes):
    """answer.json of the small study, held against its schema."""
    made = json.loads((make_report(folder, tables, **changes) / "answer.json").read_text())
    jsonschema.validate(made, SCHEMA)
    return made


def test_a_reference_that_wins(tmp_path):
    answer = written(tmp_path, one_job())
    assert answer["outcome"] == "reference" and answer["reference"].startswith(BOX)
    verdict = answer["verdict"]
    assert verdict["best"]["choice"] == answer["reference"] and verdict["rival"]["choice"].startswith(RENTED)
    assert verdict["ratio"]["value"] == pytest.approx(CHEAP / DEAR, rel=1e-3)  # 6.14
    assert verdict["ratio"]["low"] < verdict["ratio"]["value"] < verdict["ratio"]["high"]
    # 216.667 a month against 3.06 / 225 x 498 - 0.20 = 6.573 an hour: 216.667 / (24 x 6.573) = 1.373 days
    assert "from 1.4 days of use a month" in verdict["do_this"]
    assert answer["inputs"] == {"days_per_month": 10, "months": 30, "usd_per_kwh": 0.2, "capex_usd": 6500}
    box = next(one for one in answer["choices"] if one["choice"] == answer["reference"])
    assert box["usd"]["value"] == pytest.approx(94_720_000 / 498 / 3600 * 264.6666667 / 240)


def test_a_reference_that_loses_is_the_dearer_one(tmp_path):
    answer = written(tmp_path, one_job(inputs(price_p3=0.10)))
    assert answer["outcome"] == "rival"
    assert answer["verdict"]["rival"]["choice"] == answer["reference"]
    assert answer["verdict"]["ratio"]["value"] == pytest.approx(DEAR / (0.10 / 225), rel=1e-3)  # 4.98
    assert answer["verdict"]["p_cheaper"] > 0.99


def test_a_tie(tmp_path):
    answer = written(tmp_path, one_job(inputs(price_p3=DEAR * 225)))
    assert answer["outcome"] == "too_close"
    # 6,500 USD without a range is a firm offer, and the box the cheaper by a hair.
    assert answer["verdict"]["kind"] == "buy" and answer["verdict"]["start_with"] == answer["verdict"]["best"]


def test_the_work_of_months_is_the_answer_where_a_study_has_it(tmp_path):
    """27,000 against 30,000 USD in nine draws of ten: tests/support/report_tables.py."""
    alone = written(tmp_path / "alone", one_job())
    assert alone["verdict"]["workload"] == "imagenet"
    both = written(tmp_path / "both", beside(one_job(), month_tables()))
    assert both["verdict"]["workload"] == "lab" and both["verdict"]["p_cheaper"] == 0.9
    assert both["verdict"]["ratio"]["value"] == pytest.approx(10 / 9)
    # The best mix holds an office box that is no option of this study: its reference is not what is bought.
    assert (both["outcome"], both["confidence"]) == ("rival", "likely")
    assert both["worth_knowing"][0].startswith("Find out the price of RunPod first")


NAN = float("nan")
OWNED = {"workload": "lab.runs", "model": "m", "option": "box", "purchase": "own", "is_reference": True, "usd": 1.0,
         "days_per_month": 10.0, "months": 30.0, "usd_per_kwh": NAN, "capex_usd": 6500.0}  # fmt: skip


def months(*options, **tables):
    """The answer on the work of months, with these options; its best mix holds own-1, a box, and c."""
    return answer_of(month_tables() | {"options": pd.DataFrame(options)} | tables, study())


@pytest.mark.parametrize(("judged", "outcome"), [("box", "reference"), ("best", "reference"), ("cloud", "rival"),
                                                 ("elsewhere", "rival"), ("not best", "rival")])  # fmt: skip
def test_the_reference_wins_where_it_is_the_best_or_a_machine_of_the_best_mix(judged, outcome):
    other = [
        {"workload": "else", "mix": "best", "option": "elsewhere"},
        {"workload": "lab", "mix": "cloud", "option": "not best"},
    ]
    sources = pd.concat([month_tables()["sources"], pd.DataFrame(other)])
    found = months(OWNED | {"option": judged}, sources=sources)
    assert (found.outcome, found.reference, found.model) == (outcome, judged, "m")
    assert found.verdict.best.choice == "best"


def test_what_an_owned_reference_rests_on_are_the_facts_of_its_first_row():
    other, later = OWNED | {"option": "b", "is_reference": False, "months": 99.0}, OWNED | {"months": 48.0}
    assert months(other, OWNED, later).inputs == {"days_per_month": 10.0, "months": 30.0, "capex_usd": 6500.0}
    assert months(other, OWNED | {"purchase": "on_demand"}).inputs == {}
    bare = months(sources=pd.DataFrame())
    assert (bare.inputs, bare.reference, bare.model, bare.outcome) == ({}, None, None, "rival")


def test_classes_stand_in_their_order_warnings_that_decide_by_rule_and_reasons_with_their_choice():
    due, choices = month_tables()["deadlines"], month_tables()["choices"]
    told = [("note", "b", "m2", True), ("note", "b", "m1", True), ("note", "b", "m1", True), ("note", None, None, True),
            ("old", "c", "m", False)]  # fmt: skip
    found = months(
        deadlines=pd.concat([due.assign(**{"class": name, "p_in_time": NAN}) for name in ("z", "a")]),
        warnings=pd.DataFrame(told, columns=["rule", "message", "instance", "decisive"]),
        choices=choices.assign(why_not=[None, "no"]),
    )
    assert [(one.job, one.steps[0].within_hours, one.steps[0].p_in_time) for one in found.deadlines] == [
        ("z", 24.0, None), ("a", 24.0, None)
    ]  # fmt: skip
    assert [(one.message, one.instances) for one in found.warnings] == [("b", ["m1", "m2"]), ("", [])]
    assert [one.why_not for one in found.choices] == [None, "no"]


def test_what_to_find_out_is_the_plan_s_and_else_the_job_s():
    assert months().worth_knowing[0] == "Find out the price of RunPod first."
    worth = pd.DataFrame([{"model": "m", "evppi_usd": 0.0, "evppi_usd_low": 0.0, "cost_to_learn_usd": 1.0}])
    (said,) = months(OWNED, worth_knowing=worth, ranks=pd.DataFrame([OWNED | {"title": "Box"}])).worth_knowing
    assert said == "No single uncertain figure, known exactly, would change the choice."


def test_the_file_is_indented_by_one_and_ends_in_a_line_break():
    written = answer_json(month_tables(), study())
    assert written.startswith('{\n "schema_version": 3,\n "study": {\n  "name": "paper",') and written.endswith("}\n")


def test_the_page_follows_from_the_file_alone():
    tables = beside(one_job(), month_tables())
    read = Answer.model_validate_json(answer_json(tables, study()))
    assert page_of(read) == render_page(tables, study())


def test_one_choice_alone_and_none(tmp_path):
    tables = one_job()
    tables["verdict"] = tables["verdict"].assign(rival=None, rival_title=None, rival_kind=None, ratio=None)
    answer = written(tmp_path / "one", tables)
    assert answer["outcome"] == "only_one" and answer["verdict"]["rival"] is None
    for name in ("options", "ranks", "worth_knowing", "offers", "verdict", "choices"):
        tables[name] = tables[name].head(0)
    answer = written(tmp_path / "none", tables)
    assert answer["outcome"] == "none" and answer["choices"] == [] and answer["verdict"] is None
    assert answer["sentences"] == ["No answer yet: nothing here has a price."]


def test_the_index_has_every_study_newest_first_and_survives_a_broken_one(tmp_path):
    results = tmp_path / "results"
    files = {name: results / name / "report" / "answer.json" for name in ("old", "new", "broken")}
    for age, (name, file) in enumerate(files.items()):
        file.parent.mkdir(parents=True)
        study = {"title": f"<b>{name}</b>", "as_of": "2018-07-01"}
        sentences = ["A claim holds.", f"{name} wins.", "More.", "Not shown."]
        file.write_text(json.dumps({"study": study, "sentences": sentences, "claims": sentences[:1]}))
        os.utime(file, (1e9 + age, 1e9 + age))
    files["broken"].write_text("{")
    os.utime(files["broken"], (1, 1))
    write_index(results, results / "index.html")
    page = (results / "index.html").read_text()
    assert [page.index(f'href="{name}/report/index.html"') for name in ("new", "old", "broken")] == sorted(
        page.index(f'href="{name}/report/index.html"') for name in files
    )
    assert "&lt;b&gt;new&lt;/b&gt;" in page and "<b>new" not in page
    assert '<p class="answer">new wins.</p>' in page and "Not shown." not in page
    assert page.index("new wins.") < page.index('<p class="note">A claim holds.</p>')  # the answer first, in large type
    assert "report/answer.json cannot be read (JSONDecodeError); make the study again." in page
    assert "written 2001-09-09 01:46 UTC" in page  # 10^9 seconds after 1970


def test_the_index_of_nothing_says_how_to_begin(tmp_path):
    write_index(tmp_path, tmp_path / "index.html")
    assert "make report" in (tmp_path / "index.html").read_text()
