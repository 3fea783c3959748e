"""Charts describe themselves: rules, page and captions take each from its own module, and none is left out."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import altair as alt
import pandas as pd
import pytest
from decision_tables import study
from project_copy import ROOT, environment
from report_tables import evidence, files_of, pictures, small_tables, write_study
from sweetspot.cells import BASES
from sweetspot.errors import UserError
from sweetspot.report import evidence_page
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.draw import CHART_STYLE, draw_figures, drawing_engine, specification
from sweetspot.report.marks import empty
from sweetspot.report.notation import BASIS_FACTS, BASIS_SIGNS
from sweetspot.wording import Money

BLANK = dict.fromkeys(CHARTS, "{}")


def test_each_chart_stands_on_the_page_once_in_the_order_of_its_section():
    html = evidence()
    shown = re.findall(r'<figure id="fig-(\w+)"', html)
    silent = {"efficiency", "bill"}  # no rows in these tables
    assert [name for name in shown if "tornado" not in name] == [name for name in CHARTS if name not in silent]


def test_words_of_a_chart_are_complete():
    for chart in (chart.worded("tokens", Money("EUR", 1.25)) for chart in CHARTS.values()):
        for words in (chart.title, chart.caption):
            assert words
            assert "{" not in words
            assert "image" not in words.lower() and "USD" not in words  # the unit and the currency are the study's


def test_a_chart_that_was_not_drawn_is_no_gap_on_the_page():
    with pytest.raises(ValueError, match=r"chart front: figures/front\.vl\.json is missing"):
        specs = {name: svg for name, svg in BLANK.items() if name != "front"}
        evidence_page.render_evidence(small_tables(), study(), specs)


def test_rule_files_learn_of_charts_without_pandas():
    """Every cluster job parses the rules again."""
    code = "import sys, sweetspot.report.charts as c; print(len(c.CHARTS), *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(ROOT), capture_output=True, text=True, check=True
    )
    count, *modules = done.stdout.split()
    assert int(count) == len(CHARTS)
    assert not {"pandas", "numpy", "pyarrow", "altair", "vl_convert", "jinja2", "pydantic"} & set(modules)


def test_each_basis_has_a_shape_a_sign_and_a_meaning():
    assert set(BASIS_FACTS) == set(BASES)
    assert len(set(BASIS_SIGNS.values())) == len(BASIS_SIGNS)


@pytest.mark.parametrize("tables", [small_tables(), {}], ids=["a study", "nothing at all"])
def test_every_chart_is_drawn_whatever_the_tables_hold(tables):
    data = ChartData(tables, "office-4x1080ti")
    svgs = pictures({name: specification(chart.draw(data)) for name, chart in CHARTS.items()})
    assert set(svgs) == set(CHARTS)
    assert all((svg.startswith("<svg") and "<path" in svg) or "<text" in svg for svg in svgs.values())


@pytest.mark.slow
def test_charts_show_titles_where_machines_have_them():
    titles = {"office-4x1080ti": "box under the desk, with a name of two lines", "p3.2xlarge": "AWS p3.2xlarge"}
    data = ChartData(small_tables(titles=titles), "office-4x1080ti", titles)
    svgs = pictures({name: specification(chart.draw(data)) for name, chart in CHARTS.items()})
    shown = {name: re.findall(r">([^<]+)<", svg) for name, svg in svgs.items()}
    assert not [name for name, words in shown.items() if "office-4x1080ti" in " ".join(words)]
    assert not [name for name, words in shown.items() if "p3.2xlarge" in words]
    assert "box under the desk, with a name of two lines" in " ".join(shown["throughput"])  # on two lines


@pytest.mark.parametrize("tables", [small_tables(), {}], ids=["a study", "nothing at all"])
@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_every_chart_is_what_vega_lites_schema_allows(chart, tables):
    """A study's own charts are not checked whole: that takes twice the time of making them."""
    drawing = chart.draw(ChartData(tables, "office-4x1080ti"))
    drawing.chart.to_dict(validate=True)
    assert set(re.findall(r'"data": {"name": "(\w+)"}', json.dumps(specification(drawing)))) == set(drawing.data)


@pytest.mark.slow
def test_charts_drawn_in_threads_are_those_drawn_alone():
    """Both drawing rules may run at once, in threads of Snakemake's process."""
    data = ChartData(small_tables(), "office-4x1080ti")
    alone = {name: specification(chart.draw(data)) for name, chart in CHARTS.items()}
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda name: (name, specification(CHARTS[name].draw(data))), [*CHARTS] * 4))
    assert len(found) == 4 * len(CHARTS)
    assert all(spec == alone[name] for name, spec in found)


def test_a_theme_of_somebody_elses_changes_no_chart():
    """Altair's themes are one for the whole process, and a plug-in may bring its own."""
    with alt.theme.enable("dark"):
        assert specification(empty("nothing"))["config"] == CHART_STYLE


def test_charts_are_drawn_by_the_vega_lite_of_altairs_schema(monkeypatch):
    monkeypatch.setattr(alt, "SCHEMA_VERSION", "v2.6.0")
    with pytest.raises(RuntimeError, match=r"Vega-Lite version string 2\.6"):
        pictures({"old": specification(empty("nothing"))})
    with pytest.raises(UserError, match=r"the engine that draws needs memory.*: it ended with code 1"):
        drawing_engine()


def test_captions_speak_of_the_studys_unit(tmp_path):
    tables = small_tables()
    tables["throughput"] = tables["throughput"].assign(unit="tokens")
    draw_figures(files_of(tables, tmp_path / "made"), write_study(tmp_path), [], [tmp_path / "throughput.rst"])
    assert (tmp_path / "throughput.rst").read_text().startswith("Tokens per second by machine, model and batch.")


def test_type_is_of_12_pixels_and_lines_have_room():
    parts = [CHART_STYLE[name] for name in ("axis", "legend", "header", "text")]
    assert {size for part in parts for name, size in part.items() if name.lower().endswith("fontsize")} == {12}
    title = specification(empty("nothing")._replace(says="a %" + " b" * 60, key="k " * 60))["title"]
    # 62 letters a line of the title, 76 of the key; a number stays with its sign
    assert title["text"] == ["a\u00a0%" + " b" * 29, "b" + " b" * 30] and len(title["subtitle"][0]) == 75
    assert "title" not in specification(empty("nothing")._replace(key="k"))


def test_a_tooltip_has_the_beginning_of_a_source():
    rows = pd.DataFrame({"text": ["x"], "source": ["s" * 161], "price_source": ["log ; " + "p" * 161]})
    drawing = empty("x")._replace(data={"rows": rows})
    told = {name: alt.Tooltip(f"{name}:N") for name in ("source", "price_source")}
    drawing = drawing._replace(chart=drawing.chart.encode(tooltip=[*told.values()]))
    assert specification(drawing)["datasets"]["rows"] == [
        {"text": "x", "source": "s" * 160, "price_source": "p" * 160}
    ]  # fmt: skip


def test_specifications_carry_only_the_columns_they_draw():
    drawing = empty("nothing")
    wide = drawing._replace(data={"rows": drawing.data["rows"].assign(secret="unused")})
    assert json.loads(json.dumps(specification(wide)))["datasets"] == {"rows": [{"text": "nothing"}]}


def test_titles_are_escaped_on_the_page(monkeypatch):
    hostile = replace(CHARTS["front"], title="<b>bold</b>")
    monkeypatch.setattr(evidence_page, "CHARTS", CHARTS | {"front": hostile})
    assert "<b>bold</b>" not in evidence()


def test_charts_without_rows_or_a_difference_to_show_are_left_out():
    bills, speeds = {"bills": pd.DataFrame({"usd": [1.0]})}, {"throughput": pd.DataFrame({"images_per_s": [1.0]})}
    assert CHARTS["bill"].has_content(bills) and not CHARTS["bill"].has_content({})
    ranks = pd.DataFrame({"workload": ["task", "task"], "hours": [2.0, 2.0]})
    assert not CHARTS["throughput"].has_content(speeds | {"ranks": ranks})
    assert CHARTS["throughput"].has_content(speeds | {"ranks": ranks.assign(hours=[1.0, 2.0])})
