"""What a plan of phases hangs on: above the one job, and in a chart."""

import json
import re

import pandas as pd
import pytest
from decision_tables import study
from phase_plans import beside
from phase_study import one_job, reference, with_phases
from phase_tables import CLOUDS, box, hanging_tables
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.evidence_page import Drawn, render_evidence
from sweetspot.report.plan_turning import paying_in_words, plan_worth_in_words, turning_in_words

BLANK = dict.fromkeys(CHARTS, "{}")


@pytest.fixture(scope="module")
def alone():
    return one_job()


def test_what_the_plan_hangs_on_stands_above_the_one_job(alone):
    tables = beside(with_phases(alone), hanging_tables())
    assert turning_in_words(tables) == (
        "What would change it, the nearest first: price of Cloud with 1 V100 below 0.72 USD an hour. Or amount of "
        "work 80 % lower than planned. Then Cloud with 1 V100 is the cheapest."
    )
    assert paying_in_words(tables) == [
        "The office box with 4 GTX pays from 1,700 hours of work (under 1,400 to never); you plan 7,000. "
        "Below 2.5 days of use a month it does not pay: the work then takes more machines. You plan 10 days."
    ]
    assert plan_worth_in_words(tables)[0] == "Find out the price of Cloud with 1 V100 first."
    html = render_evidence(tables, study(), Drawn(BLANK))
    of_plan = html[html.index('id="plan"') : html.index('id="answer"')]
    for name in ("plan-turning", "plan-paying", "plan-worth", "fig-plan_tornado", "t-plan_tornado", "t-plan_break_even",
                 "t-plan_turning_points", "t-plan_worth_knowing"):  # fmt: skip
        assert f'id="{name}"' in of_plan
    assert "mix" not in re.sub("<[^>]*>", " ", of_plan)  # a word of the work of months


def test_what_was_not_looked_for_is_not_said_to_be_none(alone):
    """Without a tornado nobody looked for turning points; with one and no point there is none."""
    tables = with_phases(alone) | {"turning_points": pd.DataFrame(columns=["workload", "model"])}
    assert turning_in_words(tables) == ""
    tables = beside(tables, {"tornado": hanging_tables()["tornado"]})
    assert turning_in_words(tables) == "No single figure, changed by a factor of 5, would change it."


def test_the_chart_of_assumptions_speaks_of_options(alone):
    drawn = CHARTS["plan_tornado"].draw(ChartData(beside(with_phases(alone), hanging_tables()), None))
    assert "mix" not in json.dumps(drawn.chart.to_dict(validate=False))
    assert drawn.data["rows"]["assumption"].tolist() == ["price of Cloud with 1 V100", "amount of work"]


def test_up_to_how_much_work_a_purchase_pays(alone):
    """8,050 of 7,000 hours of work; beyond it a second box is needed."""
    own = box(choice=reference(alone), title="office box")
    pays = hanging_tables()["break_even"].assign(pays_until=8050.0)
    tables = with_phases(alone, own, *CLOUDS) | {"break_even": pays}
    assert "Beyond 8,050 it does not pay: that takes one machine more." in paying_in_words(tables)[0]


def test_where_no_machine_ever_pays_nothing_is_said(alone):
    pays = hanging_tables()["break_even"].assign(pays_from=None, pays_from_low=None, factor=None)
    assert paying_in_words(with_phases(alone) | {"break_even": pays}) == []
