"""What the page says of the figures that a plan of months hangs on, and the plan's outcome for programs."""

import pytest
from decision_tables import study
from report_tables import month_tables, small_tables
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.evidence_page import Drawn, render_evidence
from sweetspot.report.in_currency import shown_in
from sweetspot.report.plan_turning import paying_in_words, plan_worth_in_words, turning_in_words
from sweetspot.wording import Money

BLANK = dict.fromkeys(CHARTS, "{}")


def test_the_sentences():
    tables = month_tables()
    assert turning_in_words(tables) == (
        "What would change it, the nearest first: price of RunPod below 0.63 USD an hour. Or runs a month below "
        "51 jobs. Then: nothing bought, RunPod beside your RTX 4090."
    )
    assert paying_in_words(tables) == [
        "The office box pays from 850 device-hours a month (700 to 1,100, 90 %); you plan 1,000. It pays if you use it "
        "for 24 months or more; you plan 30."
    ]
    assert plan_worth_in_words(tables) == [
        "Find out the price of RunPod first.",
        "Knowing that is worth up to 400 USD (300 to 500) over the project.",
        "The cheapest changes at 0.63 USD an hour.",
        "No speed is worth timing: none, known exactly, would save more than the timing costs.",
    ]


def test_what_never_pays_and_what_nothing_changes():
    tables = month_tables()
    tables["break_even"].loc[0, ["pays_from", "pays_from_high"]] = None
    tables["break_even"] = tables["break_even"].head(1)
    assert paying_in_words(tables) == ["The office box does not pay with five times the 1,000 device-hours a month."]
    tables["turning_points"] = tables["turning_points"].head(0)
    assert turning_in_words(tables) == "No single figure, changed by a factor of 5, would change it."
    assert turning_in_words({}) == ""
    assert plan_worth_in_words({}) == paying_in_words({}) == []


def test_where_no_mix_does_the_work_nothing_would_change_it():
    tables = month_tables()
    tables["choices"] = tables["choices"].assign(is_best=False)
    assert turning_in_words(tables) == ""


def test_the_page_says_it_of_the_plan_before_the_one_job():
    html = render_evidence(small_tables(), study(), Drawn(BLANK))
    of_plan, of_job = html[html.index('id="plan"') : html.index('id="answer"')], html[html.index('id="answer"') :]
    for name in ("plan-turning", "plan-paying", "plan-worth", "fig-plan_tornado", "t-plan_tornado", "t-plan_break_even",
                 "t-plan_turning_points", "t-plan_worth_knowing"):  # fmt: skip
        assert f'id="{name}"' in of_plan
    assert 'id="t-tornado"' in of_job and 'id="t-tornado"' not in of_plan
    assert "One job alone" in of_job


def test_the_chart_has_the_wide_ones_first_and_leaves_out_what_moves_nothing():
    tables = month_tables()
    tables["tornado"].loc[1, "swing"] = 0.001
    drawn = CHARTS["plan_tornado"].draw(ChartData(tables, None))
    assert drawn.data["rows"]["assumption"].tolist() == ["price of RunPod"]
    assert drawn.says == "What moves the plan most: price of RunPod; 1 of 2 assumptions changes which is cheapest"


def test_money_of_the_plan_is_shown_in_the_currency_of_the_study():
    """1.25 USD a euro: 0.63 USD an hour are 0.504 EUR; numbers of jobs stay."""
    tables = shown_in(month_tables(), Money("EUR", 1.25))
    assert tables["turning_points"]["turning_value"].tolist() == pytest.approx([0.504, 51.0])
    assert tables["turning_points"]["unit"].tolist() == ["EUR/hour", "jobs/month"]
    assert tables["tornado"]["flips"].tolist() == [True, False]
    assert tables["worth_knowing"]["evppi_usd"].tolist() == [320.0]
