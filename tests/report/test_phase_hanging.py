"""What a plan of phases hangs on: in the answer, above the one job, in a chart."""

import json
import re

import pandas as pd
import pytest
from decision_tables import study
from phase_study import one_job, reference, with_phases
from phase_tables import BOX as BOX_
from phase_tables import CLOUDS, box, hanging_tables
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.charts.plan_tornado import draw
from sweetspot.report.evidence_page import Drawn, render_evidence
from sweetspot.report.plan_part import plan_in_words
from sweetspot.report.plan_turning import paying_in_words, plan_worth_in_words, turning_in_words

BLANK = dict.fromkeys(CHARTS, "<svg></svg>")


@pytest.fixture(scope="module")
def alone():
    return one_job()


def test_what_the_plan_hangs_on_stands_in_the_answer_and_above_the_one_job(alone):
    tables = with_phases(alone) | hanging_tables()
    tables["break_even"] = tables["break_even"].assign(option=reference(alone))
    said = plan_in_words(tables)
    assert said[0].endswith("(97 %). It pays from 24 % of that work on. Most hangs on the other's price.")
    assert turning_in_words(tables) == (
        "What would change it, the nearest first: price of Cloud with 1 V100 below 0.72 USD/hour. Or work of the plan "
        "80 % below today's. Then Cloud with 1 V100 is the cheapest."
    )
    assert paying_in_words(tables) == [
        "The office box with 4 GTX pays against renting from 1,700 hours of work on (under 1,400 to never), of 7,000. "
        "Below 2.5 days of use a month, of 10, it does not: the work then takes more machines."
    ]
    assert plan_worth_in_words(tables)[0] == "Find out the price of Cloud with 1 V100 first."
    html = render_evidence(tables, study(), Drawn(BLANK))
    of_plan = html[html.index('id="plan"') : html.index('id="answer"')]
    for name in ("plan-turning", "plan-paying", "plan-worth", "fig-plan_tornado", "t-plan_tornado", "t-plan_break_even",
                 "t-plan_turning_points", "t-plan_worth_knowing"):  # fmt: skip
        assert f'id="{name}"' in of_plan
    assert "mix" not in re.sub("<[^>]*>", " ", of_plan)  # a word of the work of months


@pytest.mark.parametrize(
    ("moved", "words"),
    [
        ({"subject": BOX_, "quantity": "capex_usd"}, "its price"),
        ({"subject": "cloud", "quantity": "usd_per_hour"}, "the other's price"),
        ({"subject": "quick", "quantity": "usd_per_hour", "assumption": "price of Q"}, "the price of Q"),
        ({"subject": None, "quantity": "rents"}, "rental prices"),
        ({"subject": None, "quantity": "jobs"}, "how much work there is"),
        ({"subject": "images_per_s|x", "quantity": "speed", "assumption": "speed of V100"}, "the speed of V100"),
    ],
)
def test_whose_figure_it_hangs_on(alone, moved, words):
    """A figure of a third machine is never called the other's."""
    tornado = hanging_tables()["tornado"].head(1).assign(**moved)
    said = plan_in_words(with_phases(alone, box(), *CLOUDS) | {"tornado": tornado})[0]
    assert said.endswith(f"Most hangs on {words}.")


def test_what_was_not_looked_for_is_not_said_to_be_none(alone):
    """Without a tornado nobody looked for turning points; with one and no point there is none."""
    tables = with_phases(alone) | {"turning_points": pd.DataFrame(columns=["workload"])}
    assert turning_in_words(tables) == ""
    tables |= {"tornado": hanging_tables()["tornado"]}
    assert turning_in_words(tables) == "No single figure, changed by a factor of 5, would change it."


def test_the_chart_of_assumptions_speaks_of_options(alone):
    drawn = draw(ChartData(with_phases(alone) | hanging_tables(), None))
    assert "mix" not in json.dumps(drawn.chart.to_dict(validate=False))
    assert drawn.data["rows"]["assumption"].tolist() == ["price of Cloud with 1 V100", "work of the plan"]


@pytest.mark.parametrize(
    ("best", "factor", "words"),
    [
        ("box", 0.31, "It pays from 31 % of that work on."),
        ("box", 0.0, "It pays from less than 20 % of that work on."),
        ("box", None, ""),
        ("cloud", 2.4, "Buying pays only from 2.4 times that work on."),
        ("cloud", None, "Even five times the work would not make buying pay."),
        ("cloud", 0.7, ""),  # it pays, and something else is cheaper still
    ],
)
def test_from_how_much_work_on_a_purchase_pays(alone, best, factor, words):
    own = box(option=reference(alone), title="office box", usd=8000.0 if best == "box" else 90_000.0)
    pays = hanging_tables()["break_even"].assign(option=reference(alone), factor=factor)
    said = plan_in_words(with_phases(alone, own, *CLOUDS[1:]) | {"break_even": pays}, "USD", reference(alone))
    assert said[0].endswith(words or ").") and (" pay" in said[0]) == bool(words)


def test_up_to_how_much_work_a_purchase_pays(alone):
    """8,050 of 7,000 hours of work: 115 %; beyond it a second box is needed."""
    own = box(option=reference(alone), title="office box")
    pays = hanging_tables()["break_even"].assign(option=reference(alone), pays_until=8050.0)
    tables = with_phases(alone, own, *CLOUDS) | {"break_even": pays}
    assert "It pays from 24 % to 115 % of that work." in plan_in_words(tables, "USD", reference(alone))[0]
    assert "Beyond 8,050 it does not: that takes one machine more." in paying_in_words(tables)[0]


def test_where_no_machine_ever_pays_the_answer_alone_says_so(alone):
    pays = hanging_tables()["break_even"].assign(pays_from=None, pays_from_low=None, factor=None)
    assert paying_in_words(with_phases(alone) | {"break_even": pays}) == []
