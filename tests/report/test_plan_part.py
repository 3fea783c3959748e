"""The page's part of the work of months, and the red line of what has no speed."""

import pandas as pd
import pytest
from decision_tables import study
from report_tables import month_tables, one_job, small_tables
from sweetspot.decision.options import titled
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.evidence_page import Drawn, render_evidence
from sweetspot.report.phrases import without_speed
from sweetspot.report.tables import works
from sweetspot.study.titles import class_title
from sweetspot.study.workloads import load_titles

BLANK = dict.fromkeys(CHARTS, "{}")


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
    html = render_evidence(tables, study(), Drawn(BLANK), {"aws-p5": "AWS p5.48xlarge"})
    body = html[html.index("<main>") :]
    assert body.index("Priced, but no speed: AWS p5.48xlarge.") < body.index('id="plan"') < body.index('id="answer"')


def test_a_study_without_such_work_says_nothing_of_it():
    tables = one_job()
    html = render_evidence(tables, study(), Drawn({name: svg for name, svg in BLANK.items() if name != "mix_load"}))
    assert 'id="plan"' not in html


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
