"""A plan of phases leads: on the page, in answer.json, summary, sheet, card and index; one job stands below."""

import json
import re

import jsonschema
import pandas as pd
import pytest
from decision_tables import BOX, RENTED, study
from phase_tables import BOX as BOX_
from phase_tables import CLOUDS, box, hanging_tables, option, phase_tables, plan_options
from project_copy import ROOT
from report_tables import make_report, month_tables, small_tables
from sweetspot.decision.counted import Money
from sweetspot.report.answer_file import answer_of
from sweetspot.report.card import render_card
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.charts.plan_tornado import draw
from sweetspot.report.in_currency import shown_in
from sweetspot.report.index_page import write_index
from sweetspot.report.job_beside_plan import SHARED, job_beside_plan
from sweetspot.report.page import Drawn, render_page
from sweetspot.report.phase_part import phase_parts, roles
from sweetspot.report.plan_part import MONTHS, PHASES, leading, plan_in_words, plan_outcome
from sweetspot.report.plan_turning import paying_in_words, plan_worth_in_words, turning_in_words
from sweetspot.report.provenance import Provenance
from sweetspot.report.sections import Sections
from sweetspot.report.sheet import of_plan, render_sheet
from sweetspot.report.summary import render_summary

SCHEMA = json.loads((ROOT / "config" / "schemas" / "answer.schema.json").read_text())
BLANK = dict.fromkeys(CHARTS, "<svg></svg>")
TIE = "too close to call"
MONTHLY = tuple(month_tables())


def one_job():
    """The small study without any plan."""
    return {name: table for name, table in small_tables().items() if name not in MONTHLY and name != "plan_options"}


@pytest.fixture(scope="module")
def alone():
    return one_job()


def reference(tables):
    return tables["headline"]["reference"].iloc[0]


def with_phases(tables, *rows, **sure):
    """The small study with a project; its box is the option that the study judges."""
    own = box(option=reference(tables), title="office box")
    return tables | phase_tables(*(rows or (own, *CLOUDS)), **sure)


def test_the_kind_of_plan_that_leads(alone):
    assert leading(alone) is None
    assert leading(with_phases(alone)) == PHASES
    assert leading(with_phases(alone) | month_tables()) == MONTHS
    assert leading(alone | {"plan_options": plan_options(box()).head(0)}) is None


@pytest.mark.parametrize(
    ("rows", "sure", "expected"),
    [
        ({}, {}, ("reference", "clear")),
        ({"option": "another"}, {}, ("rival", "clear")),
        ({"usd": 90_000.0}, {"confidence": "likely"}, ("rival", "likely")),
        ({}, {"confidence": TIE}, ("too_close", TIE)),
    ],
)
def test_the_outcome_is_the_plans(alone, rows, sure, expected):
    own = box(**{"option": reference(alone)} | rows)
    assert plan_outcome(with_phases(alone, own, *CLOUDS, **sure), reference(alone)) == expected


def test_one_option_alone_and_none(alone):
    assert plan_outcome(with_phases(alone, box()), "x") == ("only_one", None)
    nobody = {"plan_options": plan_options(box()).assign(is_best=False)}
    assert plan_outcome(alone | nobody, "x") == ("none", None)


def test_answer_json_says_the_plan_and_how_one_job_differs(alone):
    """32,000 / 8,000; one job: 6.1 times, tests/report/test_answer_file.py."""
    found = answer_of(with_phases(alone), study())
    jsonschema.validate(json.loads(found.model_dump_json()), SCHEMA)
    assert found.sentences == found.plan
    assert found.sentences[0].startswith(
        "Take the office box: 4.0 times cheaper than Cloud with 1 V100 over 30 months ("
    )
    assert (found.outcome, found.confidence) == ("reference", "clear")
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
    assert found.sentences[0].startswith(f"Take {BOX}: ")


def test_a_plan_of_months_has_its_multiple_too():
    """1,000 against 900 USD a month: tests/support/report_tables.py."""
    two = answer_of(small_tables(), study()).plan_multiple
    assert (two.workload, two.cheaper, two.dearer) == ("lab", "best", "cloud")
    assert two.times.value == pytest.approx(10 / 9) and two.probability == 0.9


def test_the_page_has_the_plan_before_the_one_job_with_figures_of_its_own(alone):
    html = render_page(with_phases(alone), study(), Drawn(BLANK))
    body = html[html.index("<main>") :]
    of_plan, of_job = body[: body.index('id="answer"')], body[body.index('id="answer"') :]
    assert "<strong>Take the office box: 4.0 times cheaper" in of_plan and "What to take for the project" in of_plan
    tiles = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", of_plan)
    assert [re.sub("<[^>]*>", "", value) for _, value in tiles] == ["4.00 ×2.40 to 6.00 (90 %)", "97 %",
                                                                   "8,0006,400 to 10,000 (90 %)"]  # fmt: skip
    assert tiles[2][0] == "USD for the project of 30 months, with the office box"
    named = re.search(r'<table id="t-plan-named">.*?</table>', of_plan, re.DOTALL)[0]
    assert named.count("<tr>") == 5  # a head; the box, its rival, the fastest, the one that is taken away
    assert "the answer, what the question is about" in named
    assert 'id="t-plan_options"' in of_plan and 'id="t-mixes"' not in html and 'id="t-mix_jobs"' not in html
    assert "<h2>One job alone</h2>" in of_job and "For one job alone it is the same" in of_job
    assert "counts what is there" not in of_job  # said of the work of months


def test_a_page_without_a_plan_speaks_of_none(alone):
    html = render_page(alone, study(), Drawn(BLANK))
    assert not re.search(r'id="plan"|One job alone|For one job|plan_options', html)


def test_with_both_kinds_the_months_lead_and_the_phases_stand_beside(alone):
    both = with_phases(alone) | month_tables()
    said = plan_in_words(both)
    assert said[0].startswith("Take the office box: 1.1 times cheaper than RunPod")
    assert any(one.startswith("Project: Take the office box: 4.0 times cheaper") for one in said)
    html = render_page(both, study(), Drawn(BLANK))
    assert "What to have, and what to rent" in html and 'id="t-plan-named"' not in html
    assert 'id="t-mixes"' in html and 'id="t-plan_options"' in html
    assert answer_of(both, study()).plan_multiple.cheaper == "best"


def test_summary_sheet_card_and_index_have_the_plan_first(alone, tmp_path):
    tables = with_phases(alone)
    summary = render_summary(tables, study())
    marks = ["Take the office box: 4.0", "| office box | 8,000", "One job alone:", "For one job alone", f"Take {BOX}"]
    assert [summary.index(mark) for mark in marks] == sorted(summary.index(mark) for mark in marks)
    sheet = render_sheet(tables, study())
    assert "<strong>Take the office box: 4.0 times cheaper" in sheet
    assert "<td>8,000 (6,400 to 10,000)</td><td>1.00 (0.600 to 1.50)</td><td>7,000</td>" in sheet
    card = " ".join(re.findall(r">([^<>]+)</text>", render_card(tables, study())))
    for words in ("4.00 ×", "97 %", "8,000 USD", "for the project of 30 months"):
        assert words in card
    report = make_report(tmp_path / "results" / "paper", tables)
    write_index(tmp_path / "results", tmp_path / "index.html")
    page = (tmp_path / "index.html").read_text()
    assert report.exists() and "Take the office box: 4.0 times cheaper" in page
    assert "The project costs 8,000 USD with it" in page


def test_the_sheet_lists_who_competes_and_one_that_can_be_taken_away(alone):
    """Six that stay and two spot machines: four and the cheaper spot one, in the order of their money."""
    stay = [option(f"s{n}", 10_000.0 + n, 100.0) for n in range(6)]
    spot = [option(f"t{n}", 5000.0 + n, 100.0, persistent=False) for n in range(2)]
    listed = of_plan(with_phases(alone, *stay, *spot))
    assert [row[0] for row in listed.rows] == ["t0", "s0", "s1", "s2", "s3"]
    assert "can be taken away" in listed.note
    assert [row[0] for row in of_plan(with_phases(alone, *stay)).rows] == ["s0", "s1", "s2", "s3", "s4"]


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


def test_what_the_plan_hangs_on_stands_in_the_answer_and_above_the_one_job(alone):
    tables = with_phases(alone) | hanging_tables()
    tables["plan_break_even"] = tables["plan_break_even"].assign(option=reference(alone))
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
    html = render_page(tables, study(), Drawn(BLANK))
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
    tornado = hanging_tables()["plan_tornado"].head(1).assign(**moved)
    said = plan_in_words(with_phases(alone, box(), *CLOUDS) | {"plan_tornado": tornado})[0]
    assert said.endswith(f"Most hangs on {words}.")


def test_what_was_not_looked_for_is_not_said_to_be_none(alone):
    """Without a tornado nobody looked for turning points; with one and no point there is none."""
    tables = with_phases(alone) | {"plan_turning_points": pd.DataFrame(columns=["workload"])}
    assert turning_in_words(tables) == ""
    tables |= {"plan_tornado": hanging_tables()["plan_tornado"]}
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
    pays = hanging_tables()["plan_break_even"].assign(option=reference(alone), factor=factor)
    said = plan_in_words(with_phases(alone, own, *CLOUDS[1:]) | {"plan_break_even": pays}, "USD", reference(alone))
    assert said[0].endswith(words or ").") and (" pay" in said[0]) == bool(words)


def test_where_no_machine_ever_pays_the_answer_alone_says_so(alone):
    pays = hanging_tables()["plan_break_even"].assign(pays_from=None, pays_from_low=None, factor=None)
    assert paying_in_words(with_phases(alone) | {"plan_break_even": pays}) == []


def test_a_plan_of_months_has_tiles_of_its_own():
    """1,000 against 900 USD a month (800 to 1,000), 1.00 to 1.3 times: tests/support/report_tables.py."""
    html = render_page(small_tables(), study(), Drawn(BLANK))
    of_plan = html[html.index('id="plan"') : html.index('id="answer"')]
    tiles = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", of_plan)
    plain = [re.sub("<[^>]*>", "", value) for _, value in tiles]
    assert plain == ["1.11 ×1.00 to 1.30 (90 %)", "90 %", "900800 to 1,000 (90 %)"]
    assert tiles[2][0] == "USD a month, with 1 × office box, the rest on RunPod"
    assert 'id="t-plan-named"' not in of_plan


def test_without_a_rival_a_plan_has_one_tile(alone):
    html = render_page(with_phases(alone, box()), study(), Drawn(BLANK))
    of_plan = html[html.index('id="plan"') : html.index('id="answer"')]
    assert len(re.findall("<dt>", of_plan)) == 1
