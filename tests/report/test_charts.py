"""Charts describe themselves: rules, page and captions take each from its own module, and none is left out."""

import json
import re
import subprocess
import sys

import pytest
from project_copy import ROOT, environment
from report_tables import pictures, small_tables
from sweetspot.cells import BASES
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.draw import specification
from sweetspot.report.marks import empty
from sweetspot.report.notation import BASIS_FACTS, BASIS_SIGNS
from sweetspot.wording import Money


def test_words_of_a_chart_and_signs_of_a_basis_are_complete():
    for chart in (chart.worded("tokens", Money("EUR", 1.25)) for chart in CHARTS.values()):
        for words in (chart.title, chart.caption):
            assert words
            assert "{" not in words
            assert "image" not in words.lower() and "USD" not in words  # the unit and the currency are the study's
    assert set(BASIS_FACTS) == set(BASES)
    assert len(set(BASIS_SIGNS.values())) == len(BASIS_SIGNS)


def test_rule_files_learn_of_charts_without_pandas():
    """Every cluster job parses the rules again."""
    code = "import sys, sweetspot.report.charts as c; print(len(c.CHARTS), *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(ROOT), capture_output=True, text=True, check=True
    )
    count, *modules = done.stdout.split()
    assert int(count) == len(CHARTS)
    assert not {"pandas", "numpy", "pyarrow", "altair", "vl_convert", "jinja2", "pydantic"} & set(modules)


@pytest.mark.parametrize("tables", [small_tables(), {}], ids=["a study", "nothing at all"])
def test_every_chart_is_drawn_whatever_the_tables_hold(tables):
    data = ChartData(tables, "office-4x1080ti")
    svgs = pictures({name: specification(chart.draw(data)) for name, chart in CHARTS.items()})
    assert set(svgs) == set(CHARTS)
    assert all((svg.startswith("<svg") and "<path" in svg) or "<text" in svg for svg in svgs.values())


@pytest.mark.parametrize("tables", [small_tables(), {}], ids=["a study", "nothing at all"])
@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_every_chart_is_what_vega_lites_schema_allows(chart, tables):
    """A study's own charts are not checked whole: that takes twice the time of making them."""
    drawing = chart.draw(ChartData(tables, "office-4x1080ti"))
    drawing.chart.to_dict(validate=True)
    assert set(re.findall(r'"data": {"name": "(\w+)"}', json.dumps(specification(drawing)))) == set(drawing.data)


def test_specifications_carry_only_the_columns_they_draw():
    drawing = empty("nothing")
    wide = drawing._replace(data={"rows": drawing.data["rows"].assign(secret="unused")})
    assert json.loads(json.dumps(specification(wide)))["datasets"] == {"rows": [{"text": "nothing"}]}
