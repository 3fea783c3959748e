"""The report as files: self-contained, traceable, safe, small; without a browser."""

import json
import re
import struct

import pandas as pd
import pytest
from decision_tables import figure, inputs
from report_tables import CLAIM, FIGURES, draw_pictures, files_of, make_report, small_tables
from sweetspot.report.case import script_json
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts.owning import cash_lines
from sweetspot.report.cited import Provenance
from sweetspot.report.marks import INTERRUPTIBLE, PERSISTENT
from sweetspot.report.notation import interval_text, number
from sweetspot.report.phrases import claims_in_words
from sweetspot.report.tables import read_tables, write_tables
from sweetspot.warnings import pairs, warning


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return make_report(tmp_path_factory.mktemp("report"), figures=FIGURES)


@pytest.mark.parametrize(
    ("value", "text"),
    [(264.6667, "265"), (1.1028, "1.10"), (94_720_000.0, "94,720,000"), (0.00012, "0.000120"), (None, "–"), (0.0, "0")],
)
def test_numbers_have_three_digits_and_no_exponent(value, text):
    assert number(value) == text


def test_an_open_upper_end_is_never():
    assert interval_text(4.6, float("nan")) == "4.60 to never"
    assert interval_text(None, None) == ""


def test_every_figure_links_to_a_row_that_exists(report):
    page = (report / "evidence.html").read_text()
    cited = set(re.findall(r'href="#(p\d+)"', page))
    assert cited
    assert cited <= set(re.findall(r'<tr id="(p\d+)"', page))


def test_same_origin_is_one_row_with_its_count():
    origin = Provenance()
    origin.cite(1.0, "published", "table 1", "2018-07-01")
    text = origin.cite(2.0, "published", "table 1", "2018-07-01", 1.5, 2.5)
    assert origin.table() == [{"row": 1, "basis": "published", "source": "table 1", "date": "2018-07-01", "shown": 2}]
    assert "1.50 to 2.50" in text


def test_nothing_is_loaded_from_elsewhere(report):
    page = (report / "evidence.html").read_text()
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    assert not re.findall(r"url\((?!#)|@import", page)


def test_ids_are_unique(report):
    found = re.findall(r'\bid="([^"]+)"', (report / "evidence.html").read_text())
    assert len(found) == len(set(found))


def test_each_figure_is_svg_and_png(report):
    draw_pictures(report)
    for name in FIGURES:
        assert (report / "figures" / f"{name}.svg").read_text().lstrip().startswith("<svg")
        head = (report / "figures" / f"{name}.png").read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        assert min(struct.unpack(">II", head[16:24])) > 100


def test_each_table_is_csv_and_parquet_with_the_same_rows(report):
    for name, table in small_tables().items():
        assert len(pd.read_parquet(report / "tables" / f"{name}.parquet")) == len(table), name
        assert (report / "tables" / f"{name}.csv").is_file()


def test_a_table_that_two_inputs_name_is_read_once(tmp_path):
    table = pd.DataFrame({"model": ["vgg16", None], "efficiency": [0.8, 0.9]})
    files = files_of({"efficiency": table}, tmp_path)["others"]
    read = read_tables({"speed": files, "scaling": files})["efficiency"]
    assert read["efficiency"].tolist() == [0.8, 0.9]


def test_tables_of_all_price_lists_stand_below_each_other(tmp_path):
    """An empty list has no types; one without a column leaves it empty."""
    lists = {
        "a": pd.DataFrame({"price_list": ["a"], "usd": [1], "warnings": [[warning("stale_price", "of 2016")]]}),
        "b": pd.DataFrame({"price_list": ["b"], "usd": [2.5]}),
        "none": pd.DataFrame({"price_list": pd.Series([], dtype=object)}),
    }
    files = {"costs": files_of(lists, tmp_path)["others"]}
    read = read_tables(files)["costs"]
    assert read["usd"].tolist() == [1.0, 2.5]
    assert [pairs(value) for value in read["warnings"]] == [[("stale_price", "of 2016")], []]
    write_tables(files, tmp_path / "tables")
    assert (tmp_path / "tables" / "costs.csv").read_text().splitlines()[1:] == [
        '"a",1,"stale_price: of 2016"',
        '"b",2.5,""',
    ]


def test_hostile_text_is_text(tmp_path):
    tables = small_tables()
    hostile = '</script><script>alert(1)</script><img src=x onerror="alert(2)">'
    told = [[warning(hostile, hostile)]] * len(tables["throughput"])
    tables["throughput"] = tables["throughput"].assign(source=hostile, warnings=told)
    told = pd.DataFrame([("throughput", hostile, hostile, hostile)], columns=["scope", "instance", "rule", "message"])
    tables["warnings"] = told.assign(decisive=True)
    tables["claims"] = pd.DataFrame([dict.fromkeys(CLAIM, hostile) | {"printed": 1.0, "computed": 2.0, "lead": True}])
    folder = make_report(tmp_path, tables, FIGURES, title=hostile, question=hostile)
    page = (folder / "evidence.html").read_text()
    assert "<img" not in page
    assert "<script>alert" not in page
    assert "&lt;img src=x" in page
    assert "<script" not in (folder / "summary.md").read_text()


def test_an_interval_that_says_nothing_stands_beside_its_reason(tmp_path):
    tables = small_tables()
    reason = "the figure is known within a factor 163 only: runs spread by 76%"
    wide = {"images_per_s": 3.76, "images_per_s_low": 3.76 / 163, "images_per_s_high": 3.76 * 163}
    told = {"warnings": [[warning("wide_interval", reason)]] * len(tables["throughput"])}
    tables["throughput"] = tables["throughput"].assign(**wide, **told)
    page = (make_report(tmp_path, tables, FIGURES) / "evidence.html").read_text()
    rows = [row for row in page.split("<tr") if "0.0231 to 613 (95 %)" in row]
    assert len(rows) == len(tables["throughput"])
    assert all(f"wide interval: {reason}" in row for row in rows)


def test_json_in_the_page_cannot_end_its_element():
    text = str(script_json({"name": "</script><!--&"}))
    assert "<" not in text
    assert ">" not in text
    assert json.loads(text) == {"name": "</script><!--&"}


def test_a_study_without_any_price_still_gets_a_page(tmp_path):
    tables = {name: table.head(0) for name, table in small_tables().items()}
    folder = make_report(tmp_path, tables, FIGURES)
    assert "No answer yet" in (folder / "evidence.html").read_text()
    assert "No answer yet: nothing here has a price." in (folder / "summary.md").read_text()


def test_failed_cells_are_marked(tmp_path):
    tables = small_tables()
    failed = figure("workstation", float("nan"), 1, status="oom", basis="measured", unit="images", as_of="2018-07-01")
    tables["throughput"] = pd.concat([tables["throughput"], pd.DataFrame([failed])], ignore_index=True)
    page = (make_report(tmp_path, tables) / "evidence.html").read_text()
    assert re.search(r'<tr class="failed">.{0,400}oom', page, re.DOTALL)


@pytest.mark.slow
def test_ten_thousand_cells_stay_below_five_megabytes(tmp_path):
    tables = small_tables()
    cells = [figure(f"machine-{n}", 100.0 + n, 1, unit="images", as_of="2018-07-01") for n in range(10_000)]
    tables["throughput"] = pd.DataFrame(cells)
    folder = make_report(tmp_path, tables, FIGURES)
    assert (folder / "evidence.html").stat().st_size < 5e6
    assert "9600 more rows" in (folder / "evidence.html").read_text()
    assert len(pd.read_parquet(folder / "tables" / "throughput.parquet")) == 10_000


def test_money_of_rivals_is_what_the_work_of_the_box_costs_them():
    # 10 days: 240 h x 3600 s x 498 images/s = 430,272,000 images a month; at 264,706 images per USD: 1,625.47 USD
    ranks = pd.DataFrame(
        {
            "option": ["box", "p3.2xlarge", "another box"],
            "instance": ["box", "p3.2xlarge", "another box"],
            "price_list": ["office", "aws", "office"],
            "model": "vgg16",
            "purchase": ["own", "on_demand", "own"],
            "persistent": True,
            "in_answer": True,
            "images_per_s": [498.0, 225.0, 300.0],
            "images_per_usd": [1_625_713.0, 225 * 3600 / 3.06, 1_000_000.0],
        }
    )
    flow = pd.DataFrame(
        {
            "instance": "box",
            "price_list": ["office"] * 3 + ["another"],  # which the answer leaves out
            "month": [0, 1, 2, 2],
            "cumulative_usd": [6500.0, 6548.0, 6596.0, 7000.0],
            "days_per_month": 10.0,
        }
    )
    lines = cash_lines(flow, ranks, "box", "vgg16").set_index(["option", "month"])["cumulative_usd"]
    assert lines["box", 2] == 6596.0
    assert "another box" not in lines.index.get_level_values("option")  # it does not pay by the month
    assert lines["p3.2xlarge", 1] == pytest.approx(1625.47, abs=0.01)
    assert lines["p3.2xlarge", 2] == pytest.approx(2 * 1625.47, abs=0.02)


def test_the_summary_holds_the_answer():
    from decision_tables import study
    from sweetspot.report.sheet import render_summary

    tables = small_tables(inputs())
    text = render_summary(tables, study())
    assert "RunPod beside your RTX 4090" in text
    assert "| what to do |" in text


def test_claims_that_do_not_recompute_are_said_plainly():
    """Apart by a factor: 1.9 against 13.1 is 6.9, 1.3 against 1.1028 is 1.18; but only the latter is contradicted."""
    claims = pd.DataFrame(
        [("a", "An hour costs 1.3", 1.3, 1.1028, "USD/hour", "contradicted"),
         ("b", "Nine dollars", 9.0, 9.0, "USD", "holds"),
         ("c", "1.9 times GCE_8xK80", 1.9, 13.1, "x", "differs"),
         ("d", "Unknown", None, 2.0, "x", "cannot be checked"),
         ("e", "Never said", None, 3.0, "x", "not printed")],
        columns=["id", "text", "printed", "computed", "unit", "verdict"],
    )  # fmt: skip
    tally, worst = claims_in_words(claims)
    apart = "different with stand-ins or other publications' figures: 1; not to be checked: 1."
    assert tally == f"Of 4 claims 1 hold; contradicted by the source's own figures: 1; {apart}"
    assert worst == "Farthest off: “An hour costs 1.3”: printed 1.30, recomputed 1.10 (USD/hour)."
    _, differing = claims_in_words(claims[claims["verdict"] != "contradicted"])
    assert differing == "Farthest off: “1.9 times GCE_8xK80”: printed 1.90, recomputed 13.1 (x)."
    assert claims_in_words(claims[claims["verdict"] == "holds"]) == ("Of 1 claims 1 hold.", "")
    assert claims_in_words(claims.iloc[:0]) is None


def test_the_reference_has_its_own_kind_in_the_charts():
    # A study that accepts interruptions counts all as persistent; a spot machine can be taken away all the same.
    rows = pd.DataFrame({"option": ["box", "cloud", "cheap"], "persistent": True})
    rented = rows.assign(kind=[PERSISTENT, PERSISTENT, INTERRUPTIBLE])
    data = ChartData({"ranks": rows.assign(purchase=["own", "on_demand", "spot"], title=rows["option"])}, "box")
    assert data.kinds(rows).tolist() == ["box", PERSISTENT, INTERRUPTIBLE]
    assert data.kind_names(rows.assign(kind=data.kinds(rows))) == [PERSISTENT, INTERRUPTIBLE, "box"]
    assert ChartData({}, None).kind_names(rented) == [PERSISTENT, INTERRUPTIBLE]
    assert ChartData({}, None).kind_names(rented.head(2)) == [PERSISTENT]
