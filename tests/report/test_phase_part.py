"""A plan of phases leads: on the page, and its choices in a table; one job stands below."""

import json
import re

import pytest
from decision_tables import study
from phase_plans import beside
from phase_study import one_job, with_phases
from phase_tables import box, phase_tables
from project_copy import ROOT
from report_tables import month_tables, small_tables
from sweetspot.report.charts import CHARTS
from sweetspot.report.cited import Provenance
from sweetspot.report.evidence_page import Drawn, render_evidence
from sweetspot.report.in_currency import shown_in
from sweetspot.report.plan_turning import plan_is_done
from sweetspot.report.sections import Sections
from sweetspot.report.tables import leading
from sweetspot.wording import DISPATCH, ROUNDS, Money

SCHEMA = json.loads((ROOT / "config" / "schemas" / "answer.schema.json").read_text())
BLANK = dict.fromkeys(CHARTS, "{}")
TIE = "too close to call"


@pytest.fixture(scope="module")
def alone():
    return one_job()


def test_the_kind_of_plan_that_leads(alone):
    assert leading(alone) is None
    assert leading(with_phases(alone)) == ROUNDS
    assert leading(beside(with_phases(alone), month_tables())) == DISPATCH
    assert leading({}) is None and not plan_is_done(alone) and plan_is_done(with_phases(alone))


def test_the_page_has_the_plan_before_the_one_job_with_figures_of_its_own(alone):
    html = render_evidence(with_phases(alone), study(), Drawn(BLANK))
    body = html[html.index("<main>") :]
    of_plan, of_job = body[: body.index('id="answer"')], body[body.index('id="answer"') :]
    assert "What to take for the project" in of_plan
    assert 'id="t-choices"' in of_plan and 'id="t-mix_jobs"' not in html
    assert "<h2>One job alone</h2>" in of_job
    assert "what you have counts" not in of_job  # said of the work of months


def test_a_page_without_a_plan_speaks_of_none(alone):
    html = render_evidence(alone, study(), Drawn(BLANK))
    assert not re.search(r'id="plan"|One job alone|t-choices', html)


def test_with_both_kinds_the_months_lead_and_the_phases_stand_beside(alone):
    both = beside(with_phases(alone), month_tables())
    html = render_evidence(both, study(), Drawn(BLANK))
    assert "What to have, and what to rent" in html and 'id="t-choices"' in html


def test_the_table_of_all_choices_has_a_row_each_and_marks_the_answer(alone):
    part = Sections(with_phases(alone), study(), Provenance()).choices()
    assert [row[1] for row in part.rows] == [
        "office box", "Cloud with 1 V100 (spot)", "Cloud with 1 V100", "Cloud with 8 V100",
    ]  # fmt: skip
    assert part.classes == ["good", "interruptible", "", ""]
    assert [row[-1] for row in part.rows] == ["", "it can be interrupted", "", ""]


def test_money_is_that_of_the_study(alone):
    """1.25 USD a euro: 8,000 USD are 6,400 EUR; the multiple is none of money."""
    shown = shown_in(with_phases(alone), Money("EUR", 1.25))
    row = Sections(shown, study(), Provenance()).choices().rows[0]
    # Of the box's 8,000 USD over 30 months; its speed is a prediction, and so is what rests on it.
    assert [re.sub("<[^>]*>", "", cell) for cell in row[2:5]] == ["6,400◌", "213◌", "1.00◌"]


def test_the_rows_of_the_work_of_months_are_choices_too():
    part = Sections(small_tables(), study(), Provenance()).choices()
    assert [row[1] for row in part.rows] == ["1 × office box, the rest on RunPod", "RunPod beside your RTX 4090"]
    assert phase_tables(box())["choices"]["is_rival"].sum() == 0
