"""Plans on the page: which leads, who does the work, what it hangs on, buying later, and what has no speed."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from decision_tables import study
from phase_plans import beside, compared, hourly, own
from phase_study import one_job, reference, with_phases
from phase_tables import CLOUDS, box, hanging_tables, phase_tables
from project_copy import ROOT
from report_tables import evidence, month_tables, small_tables
from sweetspot.decision.options import titled
from sweetspot.report.answer_file import answer_json
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.cited import Provenance
from sweetspot.report.phrases import without_speed
from sweetspot.report.plan_turning import (
    later_in_words,
    paying_in_words,
    plan_is_done,
    plan_worth_in_words,
    turning_in_words,
)
from sweetspot.report.sections import Sections
from sweetspot.report.sheet import render_summary
from sweetspot.report.tables import leading, shown_in, works
from sweetspot.study.titles import class_title
from sweetspot.study.workloads import load_titles
from sweetspot.wording import DISPATCH, ROUNDS, Money


def told(*rows):
    """A warning table of (rule, instance, model, message)."""
    columns = ["rule", "instance", "model", "message"]
    return {"warnings": pd.DataFrame([dict(zip(columns, row, strict=True)) for row in rows], columns=columns)}


def test_what_has_no_speed_is_named_at_the_top():
    tables = told(
        ("no_figure", "aws-p5", None, "it is offered"),
        ("no_speed", "aws-p5", "bert", "said once already"),
        ("no_speed", "l40s", "bert", "priced, but no speed for runs"),
        ("no_speed", None, "gpt", "lab.gpt: no machine has a speed"),
        ("stale_price", "old", None, "of 2016"),
    )
    said = without_speed(tables, {"aws-p5": "AWS p5.48xlarge", "l40s": "one L40S"}, str.upper)
    assert said == (
        "Priced, but no speed: AWS p5.48xlarge. Priced, but no speed for BERT: one L40S. "
        "Lab.gpt: no machine has a speed."
    )


def test_of_many_machines_twelve_are_named():
    said = without_speed(told(*(("no_figure", f"m{number}", None, "x") for number in range(15))), {}, str)
    assert said.endswith("m11 and 3 more.")


@pytest.mark.parametrize("tables", [{}, told(("stale_price", "old", None, "of 2016"))])
def test_where_all_have_a_speed_nothing_is_said(tables):
    assert without_speed(tables, {}, str) == ""


def test_the_page_says_the_red_line_before_anything_else():
    tables = small_tables() | told(("no_figure", "aws-p5", None, "it is offered"))
    tables["warnings"]["decisive"] = True
    tables["warnings"]["scope"] = "comparison"
    html = evidence(tables, {"aws-p5": "AWS p5.48xlarge"})
    body = html[html.index("<main>") :]
    assert body.index("Priced, but no speed: AWS p5.48xlarge.") < body.index('id="plan"') < body.index('id="answer"')


def test_the_chart_stacks_what_is_there_first():
    rows = CHARTS["mix_load"].draw(ChartData(month_tables(), None)).data["rows"]
    assert list(dict.fromkeys(rows["title"])) == ["RTX 4090", "office box", "RunPod"]
    busiest = rows[rows["percent"] == 0].set_index("title")["device_hours"]
    assert busiest.to_dict() == {"RTX 4090": 1200.0, "office box": 600.0, "RunPod": 200.0}


def test_the_chart_says_who_does_the_base_and_who_the_rest():
    """1,200 in every month is the base; of the rest the box does 600 of 800 in the busiest month."""
    load = month_tables()["load"]
    steady = load.assign(device_hours=load.groupby("option")["device_hours"].transform("max"))
    says = CHARTS["mix_load"].draw(ChartData({"load": steady}, None)).says
    assert says == "RTX 4090 does the base, the office box most of the rest"
    alone = steady[steady["title"] == "RunPod"]
    assert CHARTS["mix_load"].draw(ChartData({"load": alone}, None)).says == "RunPod does all of the work"


@pytest.mark.parametrize(
    ("lengths", "said"),
    [((100.0, 80.0), "B does most of the work, A the rest"), ((100.0, 95.0), "A does the base, B the rest")],
)
def test_what_does_less_in_quiet_months_does_no_base(lengths, said):
    """A does 180 of 580 hours where it does 80 in the quiet month, 20 % less; 5 % less is still the base."""
    rows = [
        {"workload": "w", "option": title, "title": title, "share_of_months": float(place), "device_hours": hours}
        for title, loads in (("A", lengths), ("B", (300.0, 100.0)))
        for place, hours in enumerate(loads)
    ]
    assert CHARTS["mix_load"].draw(ChartData({"load": pd.DataFrame(rows)}, None)).says == said


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


SCHEMA = json.loads((ROOT / "config" / "schemas" / "answer.schema.json").read_text())
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
    html = evidence(with_phases(alone))
    body = html[html.index("<main>") :]
    of_plan, of_job = body[: body.index('id="answer"')], body[body.index('id="answer"') :]
    assert "What to take for the project" in of_plan
    assert 'id="t-choices"' in of_plan and 'id="t-mix_jobs"' not in html
    assert "<h2>One job alone</h2>" in of_job
    assert "what you have counts" not in of_job  # said of the work of months


def test_a_page_without_a_plan_speaks_of_none(alone):
    html = evidence(alone)
    assert not re.search(r'id="plan"|One job alone|t-choices', html)


def test_with_both_kinds_the_months_lead_and_the_phases_stand_beside(alone):
    both = beside(with_phases(alone), month_tables())
    html = evidence(both)
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
    html = evidence(tables)
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


AT_ONCE = {"workload": "work", "box": "b", "box_title": "the <box>", "until": None, "until_title": None, "months": 36.0}
RENT = AT_ONCE | {"until": "r", "until_title": "Rent & Co"}
NOTHING = {name: np.nan for name in ("box_usd", "saved_usd", "saved_usd_low", "saved_usd_high", "p_saves")}
TABLE = pd.DataFrame([
    AT_ONCE | NOTHING | {"after_months": 0.0, "title": "the <box>", "box_usd": 900.0, "rent_usd": 0.0, "usd": 1000.0},
    RENT | {"after_months": 6.0, "title": "later", "box_usd": 850.0, "rent_usd": 75.0, "usd": 940.0, "saved_usd": 60.0,
            "saved_usd_low": -10.0, "saved_usd_high": 130.0, "p_saves": 0.9},
    RENT | NOTHING | {"after_months": 36.0, "title": "Rent & Co", "box": None, "box_title": None, "rent_usd": 980.0,
                      "usd": 980.0},
    AT_ONCE | NOTHING | {"after_months": 0.0, "title": "old", "box_title": "old", "usd": np.nan, "rent_usd": 0.0},
]).assign(usd_low=500.0, usd_high=2000.0, box_usd_low=np.nan, box_usd_high=np.nan, p_cheapest=[0.1, 0.7, 0.2, np.nan],
          status=["ok", "ok", "ok", "is used for 48 months, the plan has 36"])  # fmt: skip
SAID = "Bought in 6 months, renting Rent & Co until then: 940 USD, 60.0 less (−10.0 to 130), 90 % likely."


def plain(cell):
    return re.sub("<[^>]*>", "", str(cell))


def test_the_table_has_a_row_a_way_and_shades_the_cheapest():
    part = Sections({"later": TABLE}, study(), Provenance()).later()
    assert [row[1] for row in part.rows] == ["the <box>, at once", "the <box>, in 6 months", "never", "old, at once"]
    assert [row[2] for row in part.rows] == ["", "Rent & Co", "Rent & Co", "is used for 48 months, the plan has 36"]
    assert part.classes == ["", "good", "", "failed"]
    assert [plain(cell) for cell in part.rows[1][3:]] == ["850", "75.0", "940", "60.0", "90 %"]


def test_page_summary_and_answer_say_it_and_escape_it():
    tables = small_tables() | {"later": TABLE}
    text = evidence(tables)
    assert 'id="buying-later"' in text
    assert "renting Rent &amp; Co until then: 940 USD, 60.0 less" in text
    assert "<box>" not in text
    assert SAID in json.loads(answer_json(tables, study()))["buying_later"]
    assert "Never buying costs 980 USD" in render_summary(tables, study())


def test_without_such_a_plan_the_page_has_no_such_section():
    tables = small_tables()
    assert 'id="buying-later"' not in evidence(tables)
    assert json.loads(answer_json(tables, study()))["buying_later"] == []


def test_the_sentences_say_what_waiting_costs_and_what_is_cheapest():
    found = compared(own(), hourly())["later"]
    assert later_in_words(found) == [
        "box, bought at once: 39,240 USD over 36 months.",
        "Bought in 6 months, renting rented until then: 45,900 USD, 6,660 more (6,660 to 6,660), over 99 % likely.",
        "Bought in 12 months, renting rented until then: 52,560 USD, 13,320 more (13,320 to 13,320), over 99 % likely.",
        "Buying box at once is the cheapest, over 99 % likely.",
        "Never buying costs 43,200 USD.",
    ]


def test_a_saving_and_never_buying_in_words():
    falling = compared(own(capex_change_per_year={"value": -0.6}), hourly(2.0))["later"]
    # 6 months: 2,400 + 36,000 x 0.4^0.5 + 30 x 90 = 27,868; 12 months: 21,360
    first, half, year, least = later_in_words(falling, "EUR")
    assert first == "box, bought at once: 39,240 EUR over 36 months."
    assert half.startswith("Bought in 6 months, renting rented until then: 27,868 EUR, 11,372 less (")
    assert year.startswith("Bought in 12 months, renting rented until then: 21,360 EUR, 17,880 less (")
    assert least == "Never buying is the cheapest: rented for all 36 months, 14,400 EUR, over 99 % likely."


def test_without_such_a_plan_nothing_is_said():
    assert later_in_words(pd.DataFrame()) == []
