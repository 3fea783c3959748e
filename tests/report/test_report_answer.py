"""What the page says first, whoever wins, and what it leaves out where there is nothing to say."""

import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, study
from markupsafe import Markup
from report_tables import CLAIM, make_report, one_job, small_tables
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.charts.fronts import numbered
from sweetspot.report.cited import Provenance
from sweetspot.report.marks import INTERRUPTIBLE, PERSISTENT
from sweetspot.report.phrases import lead
from sweetspot.report.sections import Sections
from sweetspot.wording import percent


def tiles(folder):
    """What the evidence says of each single job: work, then take, the next, ratio, probability, sentence."""
    page = (folder / "evidence.html").read_text()
    table = page[page.index('id="t-verdict"') :].split("</table>")[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in re.findall(r"<tr.*?</tr>", table, re.S)]
    plain = [[re.sub(r"<i.*?</i>|<.*?>", "", cell) for cell in row] for row in rows if row]
    return {row[0]: row[1:] for row in plain}


def test_a_reference_that_loses_is_not_a_fraction_of_a_time_cheaper(tmp_path):
    # At 0.10 USD an hour the rented card costs 0.10 / 225, the box 264.667 / 240 / 498: 4.98 times as much an image.
    shown = tiles(make_report(tmp_path, one_job(inputs(price_p3=0.10))))
    gain = (264.6666667 / 240 / 498) / (0.10 / 225)
    assert shown["VGG-16"][:2] == [RENTED, BOX]
    assert shown["VGG-16"][2].startswith(f"{gain:.2f} ×") and shown["VGG-16"][3] == "over 99 %"


def test_a_reference_that_wins_is_named_as_the_cheaper_one(tmp_path):
    shown = tiles(make_report(tmp_path, one_job()))
    assert shown["VGG-16"][:2] == [BOX, RENTED]
    assert shown["VGG-16"][2].startswith("6.14 ×")  # 3.06 / 225 over 1.1028 / 498


@pytest.mark.parametrize(
    ("share", "text"), [(0.8558, "86 %"), (1.0, "over 99 %"), (0.0, "under 1 %"), (0.99, "99 %"), (0.055, "6 %")]
)
def test_a_simulated_probability_is_never_certain(share, text):
    assert percent(share) == text


def test_a_chart_of_very_many_models_keeps_the_answers_and_published_ones():
    rows = pd.DataFrame({"model": [f"m{n}" for n in range(500)], "basis": "measured"})
    rows.loc[[300, 400], "basis"] = ["published", "extrapolated"]
    kept = ChartData.few_models(pd.concat([rows, rows]), "m450")
    assert set(kept["model"]) == {"m450", "m300", "m400", *(f"m{n}" for n in range(9))}
    assert len(kept) == 24


def test_a_page_of_very_many_models_says_that_its_charts_show_few(tmp_path):
    tables = small_tables()
    assert "a chart shows at most" not in (make_report(tmp_path / "few", tables) / "evidence.html").read_text()
    rows = tables["throughput"]
    more = [rows.head(1).assign(model=f"m{n}") for n in range(20)]
    tables["throughput"] = pd.concat([rows, *more], ignore_index=True)
    count = rows["model"].nunique() + 20
    page = (make_report(tmp_path / "many", tables) / "evidence.html").read_text()
    assert f"a chart shows at most 12 of the {count} models" in page


def test_a_study_that_owns_nothing_has_no_section_on_owning(tmp_path):
    page = (make_report(tmp_path, small_tables(), reference=RENTED) / "evidence.html").read_text()
    assert "How much use makes owning pay" in page  # the tables speak of a box, whatever the study's reference
    rented = small_tables()
    for name in ("break_even", "utilisation", "surface", "tornado"):
        rented[name] = rented[name].head(0)
    page = (make_report(tmp_path / "rented", rented, reference=RENTED) / "evidence.html").read_text()
    assert "How much use makes owning pay" not in page
    assert 'id="fig-tornado"' not in page


def test_samples_are_not_called_images(tmp_path):
    tables = small_tables()
    tables["throughput"] = tables["throughput"].assign(unit="samples")
    page = (make_report(tmp_path, tables) / "evidence.html").read_text()
    assert '<th scope="col">samples per USD</th>' in page
    assert "images per USD" not in page
    assert "Samples per second by machine" in page


def test_the_prediction_used_for_the_answer_stands_first(tmp_path):
    tables = small_tables()
    rows = tables["extrapolation"]
    tables["extrapolation"] = rows.iloc[[0, 0]].assign(method=["other", "used"], headline=[False, True])
    page = (make_report(tmp_path, tables) / "evidence.html").read_text()
    methods = re.findall(r"<td>(other|used)</td>", page)
    assert methods[:2] == ["used", "other"]


def test_a_preemptible_twin_of_the_reference_is_interruptible():
    tables = small_tables()
    tables["options"] = tables["options"].assign(is_reference=tables["options"]["option"] == RENTED)
    rows = tables["ranks"].drop_duplicates("option").set_index("option", drop=False)
    kinds = ChartData(tables, RENTED).kinds(rows)
    assert dict(kinds) == {BOX: PERSISTENT, RENTED: RENTED, f"{RENTED} (spot)": INTERRUPTIBLE}


def front(*points):
    """Rows (name, hours, USD) of one model, all on the front."""
    rows = pd.DataFrame(points, columns=["option", "hours", "usd"])
    return rows.assign(model="vgg16", label=rows["option"], on_front=True)


def test_the_key_of_a_front_names_what_has_a_number_fastest_first():
    rows = pd.concat(
        [front(("slow", 10.0, 1.0), ("fast", 1.0, 10.0)), front(("beaten", 9.0, 9.0)).assign(on_front=False)]
    )
    key = numbered(rows, "slow")
    assert list(key["told"]) == ["1  fast: 1.00 h, 10.0 USD", "2  slow: 10.0 h, 1.00 USD"]
    assert list(key["mark"]) == ["1", "2"]
    # what is judged has its number though it is beaten
    assert list(numbered(rows, "beaten")["told"])[1] == "2  beaten: 9.00 h, 9.00 USD"


def test_numbers_of_points_that_touch_stand_at_the_first_of_them():
    # The chart is 400 wide, of which 18 at each end stay free: 364 pixels for the factor 10 of the hours, and
    # 230 - 36 = 194 for that of USD. 10 % more hours are 364 x log10(1.1) = 15.07 pixels: just apart; 9 % are 13.6.
    apart = front(("a", 1.0, 10.0), ("b", 1.1, 10.0), ("c", 10.0, 1.0))
    assert list(numbered(apart, "")["mark"]) == ["1", "2", "3"]
    touching = front(("a", 1.0, 10.0), ("b", 1.09, 10.0), ("c", 10.0, 1.0))
    assert list(numbered(touching, "")["mark"]) == ["1, 2", "", "3"]
    three = front(("a", 1.0, 10.0), ("b", 1.01, 10.0), ("c", 1.02, 10.0), ("d", 10.0, 1.0))
    assert list(numbered(three, "")["mark"]) == ["1 to 3", "", "", "4"]


def test_what_costs_more_than_twenty_times_the_cheapest_is_left_to_the_table():
    tables = small_tables()
    front_rows = tables["frontier"]
    cheapest = front_rows["usd"].min()
    extra = front_rows.head(1).assign(option="dear", on_front=False, persistent=True)
    tables["frontier"] = pd.concat([front_rows, extra.assign(usd=20.1 * cheapest), extra.assign(usd=19.9 * cheapest)])
    tables["choices"] = tables["choices"].assign(model="another")  # whose front has a chart of its own
    drawn = CHARTS["time_cost"].draw(ChartData(tables, BOX)).data["rows"]
    dear = drawn[drawn["option"] == "dear"]["usd"] / cheapest
    assert list(dear) == [pytest.approx(19.9)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "The task costs 0.76 USD a month: 0.76 USD a month printed, 0.76 recomputed."),
        (
            {"computed": 0.71, "verdict": "contradicted"},
            "The task costs 0.76 USD a month: 0.76 USD a month printed, 0.71 recomputed (contradicted).",
        ),
        (
            {"printed": None, "verdict": "not printed"},
            "The task costs 0.76 USD a month: not printed, 0.76 recomputed.",
        ),
        (
            {"computed": None, "verdict": "cannot be checked"},
            "The task costs 0.76 USD a month: 0.76 USD a month printed, cannot be checked.",
        ),
    ],
)
def test_a_claim_that_leads_stands_printed_beside_recomputed(more, said):
    other = CLAIM | {"id": "other", "text": "Another", "lead": False}
    assert lead(pd.DataFrame([other, CLAIM | more])) == [said]


def test_no_claim_leads_unless_it_says_so():
    assert lead(pd.DataFrame()) == [] == lead(pd.DataFrame([CLAIM]).drop(columns="lead"))


def test_claims_that_lead_stand_before_the_answer(tmp_path):
    tables = small_tables()
    tables["claims"] = pd.DataFrame([CLAIM])
    folder = make_report(tmp_path, tables)
    for file in ("evidence.html", "summary.md"):
        shown = (folder / file).read_text()
        assert shown.index("0.76 USD a month printed") > 0 and "Buy. Renting probably costs 1.1 times as much." in shown


def test_a_bill_of_a_month_has_no_word_of_training_speed_or_usd_an_image(tmp_path):
    # a fee of 50 USD on a rented job of 358 USD: bills are no longer in proportion to USD an image
    market = inputs()
    rented = market.costs["purchase"] != "own"
    costs = market.costs.assign(usd=market.costs["usd"] + 50.0 * rented, hours=6.0)
    tables = small_tables(replace(market, costs=costs), counts="month")
    folder = make_report(tmp_path, tables, figures=("utilisation",))
    page = re.sub(r"<(style|script|svg).*?</\1>", "", (folder / "evidence.html").read_text(), flags=re.S)
    first_screen = page[page.index('id="answer"') : page.index('id="what-if"')]
    assert "USD a month" in page
    for word in ("train", "images per USD", "hours", "in speed"):
        assert word not in first_screen
    assert "images per USD" not in page[page.index('id="t-ranks"') :].split("</table>")[0]
    assert 'id="fig-images_per_usd"' not in page and 'id="fig-time_cost"' not in page
    assert "images per USD" not in (folder / "summary.md").read_text()


def test_only_warnings_that_could_change_the_answer_stand_on_the_page(tmp_path):
    tables = small_tables()
    told = [
        ("throughput", "a", "m", 64, "drift", "decisive words", True),
        *[("price", "b", None, 1, "odd", "others", False)] * 2,
    ]
    names = ["scope", "instance", "model", "batch_size", "rule", "message", "decisive"]
    tables["warnings"] = pd.DataFrame(told, columns=names)
    folder = make_report(tmp_path, tables)
    page = (folder / "evidence.html").read_text()
    part = page[page.index('id="warnings"') : page.index('id="origins"')]
    assert "decisive words" in part and "others" not in part
    assert '2 more stand beside other figures, in the <a href="tables/warnings.csv">' in part
    assert "others" in (folder / "tables" / "warnings.csv").read_text()
    assert "1 of 3 warnings could change the answer" in (folder / "summary.md").read_text()


def test_machines_have_their_titles_on_the_first_screen(tmp_path):
    titles = {BOX: "The box under the desk", RENTED: "A rented card"}
    tables = one_job(titles=titles)
    page = (make_report(tmp_path, tables) / "evidence.html").read_text()
    first_screen = page[page.index('id="answer"') : page.index('id="what-if"')]
    assert "The box under the desk" in first_screen
    assert BOX not in first_screen and RENTED not in first_screen
    moved = json.loads(page.split('id="case-data">')[1].split("</script>")[0])
    assert {one["title"] for one in moved["offers"]} >= set(titles.values())


def test_a_bound_is_not_shown_as_a_printed_number():
    """ "Over an order of magnitude" prints no 10; a figure that is printed stands alone."""
    more = CLAIM | {"id": "more", "text": "Over an order of magnitude", "printed": 10.0, "relation": "at_least"}
    less = CLAIM | {"id": "less", "text": "Less than half", "printed": 0.5, "relation": "at_most"}
    exact = CLAIM | {"id": "exact", "text": "Exactly", "relation": "equals"}
    tables = small_tables() | {"claims": pd.DataFrame([more, less, exact])}
    rows = {str(row[0]): Markup(row[1]).striptags() for row in Sections(tables, study(), Provenance()).claims().rows}
    assert rows["Over an order of magnitude"].startswith("at least 10")
    assert rows["Less than half"].startswith("at most 0.5")
    assert rows["Exactly"].startswith("0.76")


def test_prices_and_predictions_name_machines_by_their_titles():
    made = Sections(small_tables(), study(), Provenance(), {BOX: "box under the desk"})
    assert {row[0] for row in made.extrapolation().rows} == {"box under the desk"}
    assert {"box under the desk", RENTED} <= {row[0] for row in made.offers().rows}
