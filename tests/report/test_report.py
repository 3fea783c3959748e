"""The report as files: self-contained, traceable, safe, small; what it says first, whoever wins."""

import re
import struct

import pandas as pd
import pytest
from decision_tables import figure, study
from report_tables import CLAIM, FIGURES, draw_pictures, evidence, make_report, small_tables
from sweetspot.report.answer_file import answer_of
from sweetspot.report.page import summary_of
from sweetspot.warnings import warning


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return make_report(tmp_path_factory.mktemp("report"), figures=FIGURES)


def test_the_page_loads_nothing_and_every_figure_links_to_a_row_of_its_own(report):
    page = (report / "evidence.html").read_text()
    cited = set(re.findall(r'href="#(p\d+)"', page))
    assert cited
    assert cited <= set(re.findall(r'<tr id="(p\d+)"', page))
    page = (report / "evidence.html").read_text()
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    assert not re.findall(r"url\((?!#)|@import", page)
    found = re.findall(r'\bid="([^"]+)"', (report / "evidence.html").read_text())
    assert len(found) == len(set(found))


def test_figures_are_svg_and_png_and_tables_csv_and_parquet(report):
    draw_pictures(report)
    for name in FIGURES:
        assert (report / "figures" / f"{name}.svg").read_text().lstrip().startswith("<svg")
        head = (report / "figures" / f"{name}.png").read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        assert min(struct.unpack(">II", head[16:24])) > 100
    for name, table in small_tables().items():
        assert len(pd.read_parquet(report / "tables" / f"{name}.parquet")) == len(table), name
        assert (report / "tables" / f"{name}.csv").is_file()


def test_hostile_text_is_text():
    tables = small_tables()
    hostile = '</script><script>alert(1)</script><img src=x onerror="alert(2)">'
    told = [[warning(hostile, hostile)]] * len(tables["throughput"])
    tables["throughput"] = tables["throughput"].assign(source=hostile, warnings=told)
    told = pd.DataFrame([("throughput", hostile, hostile, hostile)], columns=["scope", "instance", "rule", "message"])
    tables["warnings"] = told.assign(decisive=True)
    tables["claims"] = pd.DataFrame([dict.fromkeys(CLAIM, hostile) | {"printed": 1.0, "computed": 2.0, "lead": True}])
    page = evidence(tables, title=hostile, question=hostile)
    assert "<img" not in page
    assert "<script>alert" not in page
    assert "&lt;img src=x" in page
    assert "<script" not in summary_of(answer_of(tables, study(title=hostile, question=hostile)))


@pytest.mark.slow
def test_ten_thousand_cells_stay_below_five_megabytes(tmp_path):
    tables = small_tables()
    cells = [figure(f"machine-{n}", 100.0 + n, 1, unit="images", as_of="2018-07-01") for n in range(10_000)]
    tables["throughput"] = pd.DataFrame(cells)
    folder = make_report(tmp_path, tables, FIGURES)
    assert (folder / "evidence.html").stat().st_size < 5e6
    assert "40 of 10000 rows" in (folder / "evidence.html").read_text()
    assert len(pd.read_parquet(folder / "tables" / "throughput.parquet")) == 10_000
