"""A plan of phases leads: on the page, in answer.json, summary, sheet, card and index; one job stands below."""

import json
import re

import jsonschema
import pandas as pd
import pytest
from decision_tables import BOX, RENTED, study
from phase_study import one_job, reference, with_phases
from phase_tables import CLOUDS, box, plan_options
from project_copy import ROOT
from report_tables import month_tables, small_tables
from sweetspot.decision.counted import Money
from sweetspot.report.answer_file import answer_of
from sweetspot.report.charts import CHARTS
from sweetspot.report.evidence_page import Drawn, render_evidence
from sweetspot.report.in_currency import shown_in
from sweetspot.report.job_beside_plan import SHARED, job_beside_plan
from sweetspot.report.phase_part import phase_parts, roles
from sweetspot.report.plan_part import MONTHS, PHASES, leading, plan_in_words
from sweetspot.report.provenance import Provenance
from sweetspot.report.sections import Sections

SCHEMA = json.loads((ROOT / "config" / "schemas" / "answer.schema.json").read_text())
BLANK = dict.fromkeys(CHARTS, "<svg></svg>")
TIE = "too close to call"


@pytest.fixture(scope="module")
def alone():
    return one_job()


def test_the_kind_of_plan_that_leads(alone):
    assert leading(alone) is None
    assert leading(with_phases(alone)) == PHASES
    assert leading(with_phases(alone) | month_tables()) == MONTHS
    assert leading(alone | {"plan_options": plan_options(box()).head(0)}) is None


def test_answer_json_says_the_plan_and_how_one_job_differs(alone):
    """32,000 / 8,000; one job: 6.1 times, tests/report/test_answer_file.py."""
    found = answer_of(with_phases(alone), study())
    jsonschema.validate(json.loads(found.model_dump_json()), SCHEMA)
    assert found.plan[0].startswith("Take the office box: 4.0 times cheaper than Cloud with 1 V100 over 30 months (")
    two = found.plan_multiple
    assert (two.workload, two.cheaper, two.dearer) == ("project", reference(alone), "cloud")
    assert (two.cheaper_title, two.dearer_title) == ("office box", "Cloud with 1 V100")
    assert (two.times.value, two.times.low, two.times.high) == pytest.approx((4.0, 2.4, 6.0))
    assert two.probability == 0.97
    assert found.multiple.times.value == pytest.approx(6.14, rel=1e-3)  # of one job, as it was
    assert found.one_job[0] == f"For one job alone it is the same: 6.1 times cheaper than {RENTED}."


def test_a_study_without_a_plan_has_no_multiple_of_one_and_is_as_it_was(alone):
    found = answer_of(alone, study())
    assert found.plan == found.one_job == [] and found.plan_multiple is None


def test_a_plan_of_months_has_its_multiple_too():
    """1,000 against 900 USD a month: tests/support/report_tables.py."""
    two = answer_of(small_tables(), study()).plan_multiple
    assert (two.workload, two.cheaper, two.dearer) == ("lab", "best", "cloud")
    assert two.times.value == pytest.approx(10 / 9) and two.probability == 0.9


def test_the_page_has_the_plan_before_the_one_job_with_figures_of_its_own(alone):
    html = render_evidence(with_phases(alone), study(), Drawn(BLANK))
    body = html[html.index("<main>") :]
    of_plan, of_job = body[: body.index('id="answer"')], body[body.index('id="answer"') :]
    assert "<strong>Take the office box: 4.0 times cheaper" in of_plan and "What to take for the project" in of_plan
    tiles = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", of_plan)
    # The box's speed is a prediction, and so is what rests on it; the cloud's is published.
    assert [re.sub("<[^>]*>", "", value) for _, value in tiles] == [
        "4.00 ×◌2.40 to 6.00 (90 %)", "97 %◌", "8,000◌6,400 to 10,000 (90 %)",
    ]  # fmt: skip
    assert tiles[2][0] == "USD for the project of 30 months, with the office box"
    named = re.search(r'<table id="t-plan-named">.*?</table>', of_plan, re.DOTALL)[0]
    assert re.sub("<[^>]*>", " ", named).count("◆") == 6  # money and hours of the three that are rented
    assert named.count("<tr>") == 5  # a head; the box, its rival, the fastest, the one that is taken away
    assert "the answer, what the question is about" in named
    assert 'id="t-plan_options"' in of_plan and 'id="t-mixes"' not in html and 'id="t-mix_jobs"' not in html
    assert "<h2>One job alone</h2>" in of_job and "For one job alone it is the same" in of_job
    assert "counts what is there" not in of_job  # said of the work of months


def test_a_page_without_a_plan_speaks_of_none(alone):
    html = render_evidence(alone, study(), Drawn(BLANK))
    assert not re.search(r'id="plan"|One job alone|For one job|plan_options', html)


def test_with_both_kinds_the_months_lead_and_the_phases_stand_beside(alone):
    both = with_phases(alone) | month_tables()
    said = plan_in_words(both)
    assert said[0].startswith("Take the office box: 1.1 times cheaper than RunPod")
    assert any(one.startswith("Project: Take the office box: 4.0 times cheaper") for one in said)
    html = render_evidence(both, study(), Drawn(BLANK))
    assert "What to have, and what to rent" in html and 'id="t-plan-named"' not in html
    assert 'id="t-mixes"' in html and 'id="t-plan_options"' in html
    assert answer_of(both, study()).plan_multiple.cheaper == "best"


def test_what_each_option_is_here(alone):
    told = roles(with_phases(alone, *CLOUDS, box(option="judged")), "judged")
    assert told == {
        "judged": ["the answer", "what the question is about"], "cloud": ["the next"], "quick": ["fastest"],
        "cloud (spot)": ["cheapest that can be taken away"],
    }  # fmt: skip
    assert roles(alone, "judged") == {}


def test_the_table_of_all_options_has_a_row_each_and_marks_the_answer(alone):
    part = phase_parts(Sections(with_phases(alone), study(), Provenance()))["plan_options"]
    assert [row[1] for row in part.rows] == [
        "office box", "Cloud with 1 V100 (spot)", "Cloud with 1 V100", "Cloud with 8 V100",
    ]  # fmt: skip
    assert part.classes == ["good", "interruptible", "", ""]
    assert [row[2] for row in part.rows] == ["1.00", "", "", ""]


def test_money_is_that_of_the_study(alone):
    """1.25 USD a euro: 8,000 USD are 6,400 EUR; the multiple is none of money."""
    said = plan_in_words(shown_in(with_phases(alone), Money("EUR", 1.25)), "EUR")
    assert "The project costs 6,400 EUR with it (5,120 to 8,000)." in said
    assert said[0].startswith("Take the office box: 4.0 times cheaper")


def test_another_answer_for_one_job_is_said_with_its_reason(alone):
    """The box works 3,000 of 7,200 planned hours, so the plan rents; one job counts them all as used and buys."""
    idle = box(option=reference(alone), title="office box", usd=90_000.0, hours=3000.0)
    said = job_beside_plan(with_phases(alone, idle, *CLOUDS))
    assert said[0] == f"For one job alone it is another: {BOX}, 6.1 times cheaper than {RENTED}."
    assert said[1:] == [
        "One job counts all planned hours as used.",
        "In the plan the office box works 3,000 of its 7,200 planned hours.",
    ]


def test_a_rival_of_one_job_that_takes_no_part_in_the_plan_is_named(alone):
    """The plan is on another network, on which only the box has a speed."""
    other = alone["options"][alone["options"]["option"] == reference(alone)].assign(model="m2", model_title="M-2")
    tables = with_phases(alone) | {"options": pd.concat([alone["options"], other], ignore_index=True)}
    tables["plan_options"] = tables["plan_options"].assign(model="m2")
    said = job_beside_plan(tables)
    assert said[1:] == [
        f"The plan's hours are of M-2, one job is of {alone['headline']['model_title'].iloc[0]}.",
        f"{RENTED} has no speed on M-2.",
    ]
    assert job_beside_plan(alone) == []


def test_without_another_reason_the_shared_months_are_told(alone):
    same = with_phases(alone)
    same["plan_options"] = same["plan_options"].assign(model=alone["headline"]["model"].iloc[0])
    assert job_beside_plan(same)[1:] == [SHARED]


def test_two_ties_are_not_told_as_a_difference(alone):
    tables = with_phases(alone, confidence=TIE)
    tables["headline"] = tables["headline"].assign(confidence=TIE)
    assert job_beside_plan(tables)[0].endswith(", also too close to call.")
    sure = with_phases(alone, confidence=TIE)
    assert job_beside_plan(sure)[0].endswith(f"{RENTED}, almost certain (over 99 %).")
    clear = with_phases(alone)
    clear["headline"] = tables["headline"]
    assert job_beside_plan(clear)[0].endswith(f"{RENTED}, too close to call.")


def test_a_plan_of_months_has_tiles_of_its_own():
    """1,000 against 900 USD a month (800 to 1,000), 1.00 to 1.3 times: tests/support/report_tables.py."""
    html = render_evidence(small_tables(), study(), Drawn(BLANK))
    of_plan = html[html.index('id="plan"') : html.index('id="answer"')]
    tiles = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", of_plan)
    plain = [re.sub("<[^>]*>", "", value) for _, value in tiles]
    assert plain == ["1.11 ×1.00 to 1.30 (90 %)", "90 %", "900800 to 1,000 (90 %)"]
    assert tiles[2][0] == "USD a month, with 1 × office box, the rest on RunPod"
    assert 'id="t-plan-named"' not in of_plan


def test_without_a_rival_a_plan_has_one_tile(alone):
    html = render_evidence(with_phases(alone, box()), study(), Drawn(BLANK))
    of_plan = html[html.index('id="plan"') : html.index('id="answer"')]
    assert len(re.findall("<dt>", of_plan)) == 1
