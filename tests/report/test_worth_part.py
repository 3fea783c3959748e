"""What to find out first and what does not fit, on the page and in the summary."""

from dataclasses import replace

from decision_tables import BOX, RENTED, inputs, settings, study
from report_tables import one_job, small_tables
from sweetspot.decision.compare import compare
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.cited import Provenance
from sweetspot.report.sections import Sections
from sweetspot.report.sheet import render_summary
from sweetspot.study.memory import Needs
from sweetspot.study.needs import Need

# A box as dear as the rented machine for its work: every figure of either could change the choice.
CLOSE = inputs(price_p3=0.5, box=(498.0, 300.0, 800.0))


def test_the_table_of_the_page_has_what_is_worth_anything_and_counts_the_rest():
    tables = one_job(CLOSE)
    worth = tables["worth_knowing"]
    part = Sections(tables, study(), Provenance()).worth_knowing()
    told = worth[(worth["evppi_usd_low"] > 0) & (worth["evppi_usd"] >= 0.001 * worth["project_usd"])]
    assert len(told) > 0
    assert [row[1] for row in part.rows] == list(told["figure"])
    assert part.left_out == len(worth) - len(told)
    assert all(len(row) == len(part.head) for row in part.rows)
    # Of a project of 1e9 USD such figures are worth nothing to anybody; within its Monte Carlo error nothing is.
    for name, value in (("project_usd", 1e9), ("evppi_usd_low", 0.0)):
        tables["worth_knowing"] = worth.assign(**{name: value})
        assert Sections(tables, study(), Provenance()).worth_knowing().rows == []


def test_the_summary_says_what_to_find_out_first():
    of_one_job = one_job(CLOSE)
    text = render_summary(of_one_job, study())
    assert f"Find out first: speed of {BOX}" in text or f"Find out first: speed of {RENTED}" in text


def test_the_summary_names_what_does_not_fit():
    tables = small_tables(CLOSE)
    needs = {"imagenet": Need(Needs(gpu_memory_gib=12.0))}
    asked = replace(settings(reference=None), gpu_memory_gib={BOX: 11.0, RENTED: 16.0})
    text = render_summary(tables | compare(CLOSE, asked, draws=500, needs=needs), study())
    assert "Does not fit, and takes no part: imagenet needs 12 GiB on each device of " + BOX in text
    assert "fits" not in render_summary(tables, study())


def test_the_chart_of_use_is_empty_where_the_answer_s_model_has_no_owned_machine():
    # another model's box takes part; that of the answer's does not fit
    tables = small_tables(CLOSE)
    tables["break_even"] = tables["break_even"].assign(model="other")
    drawing = CHARTS["utilisation"].draw(ChartData(tables, None))
    assert "No owned machine takes part for vgg16" in " ".join(drawing.data["rows"]["text"])
