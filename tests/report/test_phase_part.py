"""A plan of phases leads: on the page, in answer.json, summary, sheet, card and index; one job stands below."""

import json
import re

import jsonschema
import pytest
from decision_tables import study
from phase_plans import beside
from phase_study import one_job, reference, with_phases
from phase_tables import CLOUDS, box, plan_options
from project_copy import ROOT
from report_tables import month_tables, small_tables
from sweetspot.decision.counted import Money
from sweetspot.report.answer_file import answer_of
from sweetspot.report.charts import CHARTS
from sweetspot.report.evidence_page import Drawn, render_evidence
from sweetspot.report.in_currency import shown_in
from sweetspot.report.phase_part import phase_parts, roles
from sweetspot.report.plan_part import MONTHS, PHASES, leading
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
    assert leading(beside(with_phases(alone), month_tables())) == MONTHS
    assert leading(alone | {"plan_options": plan_options(box()).head(0)}) is None


def test_answer_json_has_the_multiple_of_the_plan_beside_that_of_one_job(alone):
    """32,000 / 8,000; one job: 6.1 times, tests/report/test_answer_file.py."""
    found = answer_of(with_phases(alone), study())
    jsonschema.validate(json.loads(found.model_dump_json()), SCHEMA)
    two = found.plan_multiple
    assert (two.workload, two.cheaper, two.dearer) == ("project", reference(alone), "cloud")
    assert (two.cheaper_title, two.dearer_title) == ("office box", "Cloud with 1 V100")
    assert (two.times.value, two.times.low, two.times.high) == pytest.approx((4.0, 2.4, 6.0))
    assert two.p_cheaper == pytest.approx(0.97)
    assert found.multiple.times.value == pytest.approx(6.14, rel=1e-3)  # of one job, as it was


def test_a_study_without_a_plan_has_no_multiple_of_one_and_is_as_it_was(alone):
    found = answer_of(alone, study())
    assert found.plan_multiple is None


def test_a_plan_of_months_has_its_multiple_too():
    """1,000 against 900 USD a month: tests/support/report_tables.py."""
    two = answer_of(small_tables(), study()).plan_multiple
    assert (two.workload, two.cheaper, two.dearer) == ("lab", "best", "cloud")
    assert two.times.value == pytest.approx(10 / 9) and two.p_cheaper == pytest.approx(0.9)


def test_the_page_has_the_plan_before_the_one_job_with_figures_of_its_own(alone):
    html = render_evidence(with_phases(alone), study(), Drawn(BLANK))
    body = html[html.index("<main>") :]
    of_plan, of_job = body[: body.index('id="answer"')], body[body.index('id="answer"') :]
    assert "What to take for the project" in of_plan
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
    assert "<h2>One job alone</h2>" in of_job
    assert "what is there counts" not in of_job  # said of the work of months


def test_a_page_without_a_plan_speaks_of_none(alone):
    html = render_evidence(alone, study(), Drawn(BLANK))
    assert not re.search(r'id="plan"|One job alone|plan_options', html)


def test_with_both_kinds_the_months_lead_and_the_phases_stand_beside(alone):
    both = beside(with_phases(alone), month_tables())
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
    shown = shown_in(with_phases(alone), Money("EUR", 1.25))
    row = phase_parts(Sections(shown, study(), Provenance()))["plan_options"].rows[0]
    assert [re.sub("<[^>]*>", "", cell) for cell in (row[3], row[5])] == ["6,400◌", "1.00◌"]


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
