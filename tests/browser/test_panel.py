"""The control panel against the library: every control at both ends and in the middle, by price lists edited alike."""

import math

import pandas as pd
import pytest
import yaml
from panel_study import LISTS, answered, edited, study, tables
from report_tables import files_of, opened
from sweetspot.report.charts import CHARTS
from sweetspot.report.draw import draw_figures
from sweetspot.report.page import write_report
from sweetspot.report.tables import read_tables, write_tables


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The page of the study with all its charts, and its tables."""
    folder = tmp_path_factory.mktemp("panel")
    found = tables(folder / "config")
    files, study_file = files_of(found, folder / "made"), folder / "panel" / "study.yaml"
    study_file.parent.mkdir()
    study_file.write_text(yaml.safe_dump(study().model_dump(mode="json", exclude_none=True)))
    report = folder / "report"
    specs, engine = [report / "figures" / f"{name}.vl.json" for name in CHARTS], report / "figures" / "vega.txt"
    draw_figures(files, study_file, specs, [], engine=engine)
    write_tables(files, report / "tables")
    write_report(read_tables(files), study_file, report, specs, engine=engine)
    return report / "evidence.html", found


@pytest.fixture(scope="module")
def tab(made):
    with opened(made[0]) as (page, noise):
        yield page
        assert noise == []


def at(tab, address):
    """The page at that address, as from a link."""
    tab.evaluate("address => { location.hash = address }", address)
    tab.wait_for_function("address => location.hash === address", arg=address)
    tab.wait_for_timeout(20)


def said(tab):
    return tab.evaluate("({...document.getElementById('case-says').dataset})")


def shown(tab):
    """The rows of the ranking by option: USD, hours, days."""
    return {
        row["option"]: row
        for row in tab.evaluate("[...document.querySelectorAll('#outcome tbody tr')].map(r => ({...r.dataset}))")
    }


def number(text):
    return {"null": None, "Infinity": math.inf}.get(text, text) if text in ("null", "Infinity") else float(text)


def agrees(tab, library, work, model):
    """Every figure of the panel is the library's."""
    options = library["options"]
    options = options[options["workload"] == work].set_index("option")
    days = library["break_even"]
    days = days[days["model"] == model].set_index("option")["days"]
    rows = shown(tab)
    assert set(rows) == set(options.index)
    for option, row in options.iterrows():
        assert number(rows[option]["usd"]) == pytest.approx(row["usd"], rel=1e-9), option
        assert number(rows[option]["hours"]) == pytest.approx(row["hours"], rel=1e-9), option
        if option in days.index:
            expected = math.inf if pd.isna(days[option]) else days[option]
            assert number(rows[option]["days"]) == pytest.approx(expected, rel=1e-9), option
    answer, told = library["contenders"][model], said(tab)
    winner = answer.reference if answer.gain >= 1 else answer.alternative
    named = tuple(row["option"] for row in (answer.reference, answer.alternative, winner))
    assert (told["judged"], told["rival"], told["winner"]) == named
    assert number(told["gain"]) == pytest.approx(answer.gain, rel=1e-9)
    # From a use on owning pays or not: where the alternative is owned too, against what is rented.
    rented = [row["option"] for row in answer.every if row["purchase"] != "own" and row["persistent"]]
    crossed = days[answer.alternative["option"] if answer.alternative["purchase"] != "own" else rented[0]]
    assert number(told["days"]) == pytest.approx(math.inf if pd.isna(crossed) else crossed, rel=1e-9)


@pytest.mark.parametrize(
    ("control", "value"),
    [
        *(("days", value) for value in (1, 14.5, 30.5)),
        *(("months", value) for value in (3, 37, 72)),
        *(("kwh", value) for value in (0, 0.5, 1)),
        *(("price", value) for value in (1800, 14400, 27000)),  # 0.2, 1.6 and 3 times its 9000 USD
        *(("rent", value) for value in (-60, 0, 60)),
    ],
)
def test_every_figure_of_a_control_is_the_library_s(tab, tmp_path, control, value):
    at(tab, f"#{control}={value}&work=b-long")
    assert number(tab.input_value(f'input[name="{control}"]')) == pytest.approx(value, rel=0.01)
    agrees(tab, answered(tmp_path, edited(**{control: value})), "b-long", "vgg16")


@pytest.mark.parametrize(("work", "model"), [("a-other", "resnet50"), ("b-long", "vgg16"), ("c-short", "vgg16")])
@pytest.mark.parametrize("allowed", [0, 1])
def test_each_work_with_and_without_interruptible_machines(tab, tmp_path, work, model, allowed):
    at(tab, f"#work={work}&interruptible={allowed}")
    agrees(tab, answered(tmp_path, LISTS, accepts_interruptions=bool(allowed)), work, model)


@pytest.mark.parametrize(
    ("within", "spend"),
    [(10, None), (60, None), (500, None), (None, 50), (None, 150), (None, 9999), (60, 300), (40, 100)],
)
def test_the_limits_leave_the_cheapest_that_keeps_them(tab, tmp_path, within, spend):
    """By hand from the library's options: persistent ones, in time and within the sum, the cheapest first."""
    limits = {"within": within, "spend": spend}
    at(tab, "#work=b-long&" + "&".join(f"{name}={value}" for name, value in limits.items() if value))
    options = answered(tmp_path, LISTS)["options"]
    kept = options[(options["workload"] == "b-long") & options["persistent"]]
    kept = kept[(kept["hours"] <= (within or math.inf)) & (kept["usd"] <= (spend or math.inf))]
    expected = kept.sort_values("usd")["option"].iloc[0] if len(kept) else ""
    assert said(tab)["take"] == expected
    places = tab.evaluate(
        "[...document.querySelectorAll('#outcome tbody tr')].map(r => [r.dataset.option, r.cells[0].textContent])"
    )
    assert [option for option, place in places if place != "–"] == list(kept.sort_values("usd")["option"])
    words = tab.inner_text("#case-says")
    title = {
        "small-box": "the small box",
        "box": "the box under the desk",
        "cloud-4": "Cloud of four",
        "cloud-1": "Cloud of one",
    }
    assert f"take {title[expected]}:" in words if expected else words.startswith("Nothing is done")


def test_the_address_keeps_the_view_and_the_back_button_leads_back(tab):
    at(tab, "#plan_months=5&days=7")
    tab.select_option("select[name=work]", label="VGG-16: b-long")
    assert tab.evaluate("location.hash") == "#plan_months=5&work=b-long&days=7"
    tab.fill("input[name=within]", "48")
    tab.press("input[name=within]", "Enter")
    assert tab.evaluate("location.hash") == "#plan_months=5&work=b-long&within=48&days=7"
    tab.go_back()
    tab.wait_for_function("!location.hash.includes('within')")
    assert tab.input_value("input[name=within]") == "" and tab.input_value("input[name=days]") == "7"
    # a link within the page leaves the figures alone
    tab.evaluate("location.hash = '#money'")
    tab.wait_for_timeout(50)
    assert tab.input_value("input[name=days]") == "7"
    at(tab, "#plan_months=5&days=7")
    tab.click("text=Back to the study")
    assert tab.evaluate("location.hash") == "#plan_months=5"
    assert tab.input_value("input[name=days]") == "12"


@pytest.mark.parametrize(
    ("address", "control", "value"),
    [
        ("#days=1e9", "days", "12"), ("#days=999", "days", "30.5"), ("#days=-4", "days", "1"),
        ("#days=NaN", "days", "12"), ("#months=0x20", "months", "30"), ("#within=-1", "within", ""),
        ("#months=%3Cscript%3Ealert(1)%3C/script%3E", "months", "30"), ("#within=%E0%A4%A", "within", ""),
        ("#kwh=Infinity", "kwh", "0.25"), ("#work=__proto__", "work", "0"),
        ("#work=7", "work", "0"), ("#interruptible=yes", "interruptible", "on"),
        ("#__proto__=1&constructor=2&days=5", "days", "5"), ("#=&&==&days", "days", "12"),
    ],
)  # fmt: skip
def test_a_hostile_address_is_ignored_or_held_within_range(tab, address, control, value):
    at(tab, "#days=3")
    at(tab, address)
    assert tab.input_value(f'[name="{control}"]') == value
    assert not tab.is_checked("input[name=interruptible]")
    assert math.isfinite(number(said(tab)["gain"])) and tab.locator("#what-if script").count() == 1


def test_keys_alone_move_a_slider_and_the_answer_is_announced(tab):
    at(tab, "#days=12")
    tab.focus('input[name="days"]')
    before = tab.inner_text("#case-says")
    for _ in range(12):
        tab.keyboard.press("ArrowLeft")
    assert tab.input_value('input[name="days"]') == "6" and "days=6" in tab.evaluate("location.hash")
    assert tab.inner_text("#case-says") != before
    assert tab.get_attribute("#case-says", "aria-live") == "polite"
    assert tab.get_attribute('input[name="days"]', "aria-valuetext") == "6.00"
    tab.focus("#panel-fold summary")
    tab.keyboard.press("Enter")
    assert not tab.locator("#case").is_visible() and tab.locator("#case-says").is_visible()
    tab.keyboard.press("Enter")


def test_the_panel_stays_in_view_and_is_folded_on_a_phone(made):
    with opened(made[0]) as (tab, _):
        tab.wait_for_function("[...document.querySelectorAll('.chart')].every(one => one.matches('.drawn'))")
        tab.evaluate("document.getElementById('fig-front').scrollIntoView({block: 'start', behavior: 'instant'})")
        tab.mouse.wheel(0, 100)
        tab.wait_for_timeout(200)
        assert tab.locator("#fig-front").bounding_box()["y"] < 0
        assert 0 <= tab.locator("#case-says").bounding_box()["y"] < 60
        assert tab.evaluate("getComputedStyle(document.getElementById('panel')).position") == "sticky"
    with opened(made[0], width=390) as (tab, _):
        assert not tab.locator("#case").is_visible()
        tab.locator("#fig-utilisation").scroll_into_view_if_needed()
        box = tab.locator("#case-says").bounding_box()
        assert 0 <= box["y"] < 450
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
