"""Plans on the page: which leads, who does the work, what it hangs on, and what has no speed."""

import re

import pytest
from phase_plans import beside
from phase_study import one_job, with_phases
from phase_tables import hanging_tables
from report_tables import evidence, month_tables
from sweetspot.report.evidence_text import plan_worth_in_words
from sweetspot.report.tables import shown_in
from sweetspot.wording import Money


def test_money_of_the_plan_is_shown_in_the_currency_of_the_study():
    """1.25 USD a euro: 0.63 USD an hour are 0.504 EUR; numbers of jobs stay."""
    tables = shown_in(month_tables(), Money("EUR", 1.25))
    assert tables["turning_points"]["turning_value"].tolist() == pytest.approx([0.504, 51.0])
    assert tables["turning_points"]["unit"].tolist() == ["EUR/hour", "jobs/month"]
    assert tables["tornado"]["flips"].tolist() == [True, False]
    assert tables["worth_knowing"]["evppi_usd"].tolist() == [320.0]


@pytest.fixture(scope="module")
def alone():
    return one_job()


def test_the_page_has_the_plan_before_the_one_job_with_figures_of_its_own(alone):
    html = evidence(with_phases(alone))
    body = html[html.index("<main>") :]
    of_plan, of_job = body[: body.index('id="answer"')], body[body.index('id="answer"') :]
    assert "What to take for the project" in of_plan
    assert 'id="t-choices"' in of_plan and 'id="t-mix_jobs"' not in html
    assert of_job.index('<details id="one-job">') < of_job.index('id="what-if"') < of_job.index('id="money"')


def test_what_the_plan_hangs_on_stands_above_the_one_job(alone):
    tables = beside(with_phases(alone), hanging_tables())
    assert "price of Cloud with 1 V100" in plan_worth_in_words(tables)[0]
    html = evidence(tables)
    of_plan = html[html.index('id="plan"') : html.index('id="answer"')]
    for name in ("plan-worth", "t-plan_tornado", "t-plan_break_even",
                 "t-plan_turning_points", "t-plan_worth_knowing"):  # fmt: skip
        assert f'id="{name}"' in of_plan
    assert "mix" not in re.sub("<[^>]*>", " ", of_plan)  # a word of the work of months
