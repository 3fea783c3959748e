"""Plans on the page: which leads, who does the work, what it hangs on, and what has no speed."""

import re

import pandas as pd
import pytest
from phase_plans import beside
from phase_study import one_job, with_phases
from phase_tables import hanging_tables
from report_tables import evidence, month_tables, small_tables
from sweetspot.decision.options import titled
from sweetspot.report.evidence_text import plan_worth_in_words
from sweetspot.report.tables import shown_in, works
from sweetspot.study.workloads import load_titles
from sweetspot.titles import class_title
from sweetspot.wording import Money

LACKING = {"rule": "no_figure", "instance": "aws-p5", "model": None, "message": "it is offered", "decisive": True,
           "scope": "comparison"}  # fmt: skip


def test_the_page_says_the_red_line_before_anything_else():
    tables = small_tables() | {"warnings": pd.DataFrame([LACKING])}
    html = evidence(tables, {"aws-p5": "AWS p5.48xlarge"})
    body = html[html.index("<main>") :]
    assert body.index("Priced, but no speed: AWS p5.48xlarge.") < body.index('id="plan"') < body.index('id="answer"')


def test_classes_are_called_by_their_networks():
    assert [class_title(name) for name in ("resnet50 (urgent)", "nightly runs")] == [
        "ResNet-50 (urgent)",
        "nightly runs",
    ]


def test_workloads_are_called_by_the_titles_of_their_file(tmp_path):
    """A job of a class by that of its class, and by its name where it has none; what has none at all is left out."""
    file = tmp_path / "workloads.yaml"
    job = "{name: %s, model: m, samples: 1.0, per_month: 2, devices_per_job: 1, source: x%s}"
    jobs = f"[{job % ('bert', ', title: Search of 27')}, {job % ('nightly', '')}]"
    file.write_text(
        f"lab: {{kind: monthly, title: A month, months: 3, jobs: {jobs}, source: x}}\n"
        "alone: {kind: training, model: m, samples: 1.0, source: x}\n"
    )
    titles = load_titles(file)
    assert titles == {"lab": "A month", "lab.bert": "Search of 27", "lab.nightly": "nightly"}
    options = pd.DataFrame({"workload": ["lab.bert", "alone"]})
    named = titled(options, pd.DataFrame({"unit": ["images", "tokens"]}), titles)
    assert works({"options": named}) == {"lab.bert": "Search of 27", "alone": "alone"}
    assert set(named["unit"]) == {"samples"}  # of two kinds neither is said
    assert works({"options": options}) == {} == load_titles(tmp_path / "none.yaml")


def test_money_of_the_plan_is_shown_in_the_currency_of_the_study():
    """1.25 USD a euro: 0.63 USD an hour are 0.504 EUR; numbers of jobs stay."""
    tables = shown_in(month_tables(), Money("EUR", 1.25))
    assert tables["turning_points"]["turning_value"].tolist() == pytest.approx([0.504, 51.0])
    assert tables["turning_points"]["unit"].tolist() == ["EUR/hour", "jobs/month"]
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


def test_a_page_without_a_plan_speaks_of_none(alone):
    html = evidence(alone)
    assert not re.search(r'id="plan"|id="one-job"|t-choices', html)


def test_with_both_kinds_the_months_lead_and_the_phases_stand_beside(alone):
    both = beside(with_phases(alone), month_tables())
    html = evidence(both)
    assert "What to have, and what to rent" in html and 'id="t-choices"' in html


def test_what_the_plan_hangs_on_stands_above_the_one_job(alone):
    tables = beside(with_phases(alone), hanging_tables())
    assert "price of Cloud with 1 V100" in plan_worth_in_words(tables)[0]
    html = evidence(tables)
    of_plan = html[html.index('id="plan"') : html.index('id="answer"')]
    for name in ("plan-worth", "t-plan_tornado", "t-plan_break_even",
                 "t-plan_turning_points", "t-plan_worth_knowing"):  # fmt: skip
        assert f'id="{name}"' in of_plan
    assert "mix" not in re.sub("<[^>]*>", " ", of_plan)  # a word of the work of months
