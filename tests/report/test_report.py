"""The report as files: self-contained, traceable, safe, small; what it says first, whoever wins."""

import re
import struct
from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, figure, inputs, study
from markupsafe import Markup
from report_tables import CLAIM, FIGURES, draw_pictures, evidence, make_report, one_job, small_tables
from sweetspot.report.answer_file import answer_of
from sweetspot.report.cited import Provenance
from sweetspot.report.evidence_tables import EvidenceTables
from sweetspot.report.page import summary_of
from sweetspot.warnings import warning


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return make_report(tmp_path_factory.mktemp("report"), figures=FIGURES)


def test_every_figure_links_to_a_row_that_exists(report):
    page = (report / "evidence.html").read_text()
    cited = set(re.findall(r'href="#(p\d+)"', page))
    assert cited
    assert cited <= set(re.findall(r'<tr id="(p\d+)"', page))


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


def test_an_interval_that_says_nothing_stands_beside_its_reason():
    tables = small_tables()
    reason = "the figure is known within a factor 163 only: runs spread by 76%"
    wide = {"images_per_s": 3.76, "images_per_s_low": 3.76 / 163, "images_per_s_high": 3.76 * 163}
    told = {"warnings": [[warning("wide_interval", reason)]] * len(tables["throughput"])}
    tables["throughput"] = tables["throughput"].assign(**wide, **told)
    page = evidence(tables)
    rows = [row for row in page.split("<tr") if "0.0231 to 613 (95 %)" in row]
    assert len(rows) == len(tables["throughput"])
    assert all(f"wide interval: {reason}" in row for row in rows)


def test_a_study_without_any_price_still_gets_a_page():
    tables = {name: table.head(0) for name, table in small_tables().items()}
    assert "No answer yet" in evidence(tables)
    assert "No answer yet: nothing here has a price." in summary_of(answer_of(tables, study()))


def test_failed_cells_are_marked():
    tables = small_tables()
    failed = figure("workstation", float("nan"), 1, status="oom", basis="measured", unit="images", as_of="2018-07-01")
    tables["throughput"] = pd.concat([tables["throughput"], pd.DataFrame([failed])], ignore_index=True)
    page = evidence(tables)
    assert re.search(r'<tr class="failed">.{0,400}oom', page, re.DOTALL)


@pytest.mark.slow
def test_ten_thousand_cells_stay_below_five_megabytes(tmp_path):
    tables = small_tables()
    cells = [figure(f"machine-{n}", 100.0 + n, 1, unit="images", as_of="2018-07-01") for n in range(10_000)]
    tables["throughput"] = pd.DataFrame(cells)
    folder = make_report(tmp_path, tables, FIGURES)
    assert (folder / "evidence.html").stat().st_size < 5e6
    assert "40 of 10000 rows" in (folder / "evidence.html").read_text()
    assert len(pd.read_parquet(folder / "tables" / "throughput.parquet")) == 10_000


def tiles(page):
    """What the evidence says of each single job: work, then take, the next, ratio, probability, sentence."""
    table = page[page.index('id="t-verdict"') :].split("</table>")[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in re.findall(r"<tr.*?</tr>", table, re.S)]
    plain = [[re.sub(r"<i.*?</i>|<.*?>", "", cell) for cell in row] for row in rows if row]
    return {row[0]: row[1:] for row in plain}


def test_a_reference_that_loses_is_not_a_fraction_of_a_time_cheaper():
    # At 0.10 USD an hour the rented card costs 0.10 / 225, the box 264.667 / 240 / 498: 4.98 times as much an image.
    shown = tiles(evidence(one_job(inputs(price_p3=0.10))))
    gain = (264.6666667 / 240 / 498) / (0.10 / 225)
    assert shown["VGG-16"][:2] == [RENTED, BOX]
    assert shown["VGG-16"][2].startswith(f"{gain:.2f} ×") and shown["VGG-16"][3] == "over 99 %"


def test_a_page_of_very_many_models_says_that_its_charts_show_few():
    tables = small_tables()
    assert "a chart shows at most" not in evidence(tables)
    rows = tables["throughput"]
    more = [rows.head(1).assign(model=f"m{n}") for n in range(20)]
    tables["throughput"] = pd.concat([rows, *more], ignore_index=True)
    count = rows["model"].nunique() + 20
    page = evidence(tables)
    assert f"a chart shows at most 12 of the {count} models" in page


def test_a_study_that_owns_nothing_has_no_section_on_owning():
    page = evidence(small_tables(), reference=RENTED)
    assert "How much use makes owning pay" in page  # the tables speak of a box, whatever the study's reference
    rented = small_tables()
    for name in ("break_even", "tornado"):
        rented[name] = rented[name].head(0)
    page = evidence(rented, reference=RENTED)
    assert "How much use makes owning pay" not in page
    assert 'id="t-tornado"' not in page


def test_samples_are_not_called_images():
    tables = small_tables()
    tables["throughput"] = tables["throughput"].assign(unit="samples")
    page = evidence(tables)
    assert '<th scope="col">samples per USD</th>' in page
    assert "images per USD" not in page
    assert "Samples per second by machine" in page


def test_the_prediction_used_for_the_answer_stands_first():
    tables = small_tables()
    rows = tables["extrapolation"]
    tables["extrapolation"] = rows.iloc[[0, 0]].assign(method=["other", "used"], headline=[False, True])
    page = evidence(tables)
    methods = re.findall(r"<td>(other|used)</td>", page)
    assert methods[:2] == ["used", "other"]


def test_claims_that_lead_stand_before_the_answer():
    tables = small_tables()
    tables["claims"] = pd.DataFrame([CLAIM])
    for shown in (evidence(tables), summary_of(answer_of(tables, study()))):
        assert shown.index("0.76 USD a month printed") > 0 and "Buy. Renting probably costs 1.1 times as much." in shown


def test_a_bill_of_a_month_has_no_word_of_training_speed_or_usd_an_image():
    # a fee of 50 USD on a rented job of 358 USD: bills are no longer in proportion to USD an image
    market = inputs()
    rented = market.costs["purchase"] != "own"
    costs = market.costs.assign(usd=market.costs["usd"] + 50.0 * rented, hours=6.0)
    tables = small_tables(replace(market, costs=costs), counts="month")
    page = re.sub(r"<(style|script|svg).*?</\1>", "", evidence(tables), flags=re.S)
    first_screen = page[page.index('id="answer"') : page.index('id="money"')]
    assert "USD a month" in page
    for word in ("train", "images per USD", "hours", "in speed"):
        assert word not in first_screen
    assert "images per USD" not in page[page.index('id="t-ranks"') :].split("</table>")[0]
    assert 'id="fig-front"' not in page
    assert "images per USD" not in summary_of(answer_of(tables, study()))


def test_only_warnings_that_could_change_the_answer_stand_on_the_page():
    tables = small_tables()
    told = [
        ("throughput", "a", "m", 64, "drift", "decisive words", True),
        *[("price", "b", None, 1, "odd", "others", False)] * 2,
    ]
    names = ["scope", "instance", "model", "batch_size", "rule", "message", "decisive"]
    tables["warnings"] = pd.DataFrame(told, columns=names)
    page = evidence(tables)
    part = page[page.index('id="warnings"') : page.index('id="origins"')]
    assert "decisive words" in part and "others" not in part
    assert "1 of 3 could change the answer" in part and 'href="tables/warnings.csv"' in part
    assert "1 warning could change the answer" in summary_of(answer_of(tables, study()))


def test_machines_have_their_titles_on_the_first_screen():
    titles = {BOX: "The box under the desk", RENTED: "A rented card"}
    tables = one_job(titles=titles)
    page = evidence(tables)
    first_screen = page[page.index('id="answer"') : page.index('id="what-if"')]
    assert "The box under the desk" in first_screen
    assert BOX not in first_screen and RENTED not in first_screen


def test_a_bound_is_not_shown_as_a_printed_number():
    """ "Over an order of magnitude" prints no 10; a figure that is printed stands alone."""
    more = CLAIM | {"id": "more", "text": "Over an order of magnitude", "printed": 10.0, "relation": "at_least"}
    less = CLAIM | {"id": "less", "text": "Less than half", "printed": 0.5, "relation": "at_most"}
    exact = CLAIM | {"id": "exact", "text": "Exactly", "relation": "equals"}
    tables = small_tables() | {"claims": pd.DataFrame([more, less, exact])}
    table = EvidenceTables(tables, study(), Provenance()).build("claims")
    rows = {str(row[0]): Markup(row[1]).striptags() for row in table.rows}
    assert rows["Over an order of magnitude"].startswith("at least 10")
    assert rows["Less than half"].startswith("at most 0.5")
    assert rows["Exactly"].startswith("0.76")


def test_prices_and_predictions_name_machines_by_their_titles():
    made = EvidenceTables(small_tables(), study(), Provenance(), {BOX: "box under the desk"})
    assert {row[0] for row in made.build("extrapolation").rows} == {"box under the desk"}
    assert {"box under the desk", RENTED} <= {row[0] for row in made.build("offers").rows}
