"""The page in a browser: its budgets at two widths on every study, and the panel "your case" held to the library."""

import json

import pytest
from decision_tables import inputs, study
from month_tables import LabOfFive
from phase_plans import WORK, compared, given, hourly, own
from report_tables import one_job, opened, small_tables
from study_tables import STUDIES, study_tables
from sweetspot.report.page import render_page
from sweetspot.study.study import load_study

pytestmark = pytest.mark.browser
NAMES = sorted(file.parent.name for file in STUDIES.glob("*/study.yaml"))
# Words and numbers that a reader sees: names of machines and axes are not text, nor is the 8 of lora-8b a number.
MEASURE = """top => {
  const skip = '.who, .axis, svg, script, style';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let text = '';
  while (walker.nextNode()) {
    const node = walker.currentNode, range = document.createRange();
    if (node.parentElement.closest(skip) || !node.parentElement.checkVisibility()) continue;
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.height && box.top < top) text += ' ' + node.textContent;
  }
  return [text.match(/[A-Za-z][\\w'’-]*/g)?.length ?? 0, text.match(/(?<![\\w.,]|\\w-)\\d[\\d.,]*/g)?.length ?? 0];
}"""
DATA = "document.getElementById('case-data').textContent"
EUR = 1.1378  # USD, as the price list of the lab has it
NOTE = "getComputedStyle(document.querySelector('figure:not(.follows) figcaption'), '::after').content"
HEIGHT = {1280: 3000, 390: 4500}  # px


def written(folder, tables, of):
    """The page of those tables as a file."""
    file = folder / "index.html"
    file.write_text(render_page(tables, of), encoding="utf-8")
    return file


def of_study(folder, name):
    """The page of a study that is shipped, its tables, and the study."""
    made, of = study_tables(name, whole=True), load_study(STUDIES / name)
    tables = made.comparison | {"offers": made.offers, "throughput": made.throughput}
    return written(folder, tables, of), tables, of


def measured(tab):
    return {
        "words": tab.evaluate("document.body.innerText.match(/[A-Za-z][\\w'’-]*/g).length"),
        "height": tab.evaluate("document.documentElement.scrollHeight"),
        "wide": tab.evaluate("document.documentElement.scrollWidth"),
        "nodes": tab.evaluate("document.querySelectorAll('*').length"),
        "folds": tab.evaluate("document.querySelectorAll('details').length"),
        "charts": tab.evaluate("document.querySelectorAll('figure, .dots').length"),
        "tables": tab.evaluate("document.querySelectorAll('table').length"),
        "first": tab.evaluate(MEASURE, 800),
    }


def assert_within(found, size, width):
    assert found["words"] <= 600 and found["folds"] <= 8 and found["charts"] <= 6 and found["tables"] <= 2
    assert found["height"] <= HEIGHT[width] and found["wide"] <= width and found["nodes"] <= 3000
    assert size <= 700_000
    assert found["first"][0] <= 120 and found["first"][1] <= 25, found["first"]


@pytest.mark.slow
@pytest.mark.parametrize("width", HEIGHT)
@pytest.mark.parametrize("name", NAMES)
def test_the_budgets_of_every_page(name, width, tmp_path):
    file, _, _ = of_study(tmp_path, name)
    with opened(file, width) as (tab, noise):
        assert_within(measured(tab), file.stat().st_size, width)
        assert not noise


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_study_costs_on_the_page_what_its_tables_say(name, tmp_path):
    """Each choice of the answer's work, as planned; of months at central figures, pure choices as they are held.

    Where the middle of all figures needs fewer machines than their whole range does, the page takes those, for less.
    """
    file, tables, study = of_study(tmp_path, name)
    with opened(file) as (tab, noise):
        if tab.locator("#case-data").count() == 0:
            assert tables["verdict"]["level"].iloc[0] == "machine"
            return
        found = tab.evaluate(
            f"(() => {{ const data = model.unpack(JSON.parse({DATA})), of = model.choices(data, data.works[0], {{}});"
            " return Object.fromEntries(Object.entries(of).map(([key, one]) => [key, [one.usd, one.counts]])); })()"
        )
        choices = tables["choices"]
        rate = 1.0 if study.currency is None else study.currency.usd_per_unit
        mine = choices[choices["workload"] == tables["verdict"]["workload"].iloc[0]].set_index("choice")
        mine = mine["usd"].where(mine["cost"] != "dispatch", mine["usd_per_month_central"])
        assert len(found) > 1 and not noise
        held = (
            tables["sources"].set_index("mix")["machines"].fillna(0).groupby("mix").sum()
            if len(tables["sources"])
            else {}
        )
        for choice, (usd, counts) in found.items():
            if counts is not None and sum(counts) < held[choice]:
                assert usd * rate < mine[choice], choice
            else:
                assert usd * rate == pytest.approx(mine[choice], rel=1e-6), choice


@pytest.mark.parametrize(("tables", "width", "scheme"), [(small_tables, 390, "dark"), (one_job, 1280, "light")])
def test_accessibility_rules_hold_on_the_first_page(tables, width, scheme, tmp_path):
    """axe-core's rules with every fold open; those of evidence.html: test_shapes.py, tests/report."""
    from axe_playwright_python.sync_playwright import Axe

    file = written(tmp_path, tables(), study())
    with opened(file, width, scheme=scheme) as (tab, _):
        tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = Axe().run(tab).response
    assert [(broken["id"], broken["nodes"][0]["html"]) for broken in found["violations"]] == []
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}  # it did look


def moved(tab, **values):
    """The panel at these values; what it finds the cheapest, and the verdict."""
    tab.goto(tab.url.split("#")[0] + "#" + "&".join(f"{name}={value}" for name, value in values.items()))
    tab.reload()
    found = tab.evaluate("({...document.getElementById('case').dataset})")
    return found, tab.inner_text("#verdict"), tab.inner_text("#tiles>div:nth-child(2) dd")


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    return written(tmp_path_factory.mktemp("case"), one_job(), study())


def test_the_panel_moves_verdict_tiles_and_chart_together(case):
    """The box costs 58.3 USD a training, 52.83 h: 216.67 / 240 + 0.20 an hour; the rented machine 357.8 at 3.06.

    At half an hour's price it is 178.9: 3.07 times. At 19,500 USD the box costs 52.834 x (650 / 240 + 0.2) = 153.7.
    """
    with opened(case) as (tab, noise):
        asked = json.loads(tab.evaluate(DATA))
        box = asked["offers"][asked["works"][0]["box"]]["option"]
        assert box.startswith("office") and asked["works"][0]["cost"] == "share"
        before = tab.inner_text("#verdict")
        found, said, tile = moved(tab, hourly=1.53)
        assert float(found["ratio"]) == pytest.approx(178.9 / 58.27, rel=2e-3)
        assert said == "Buy. Renting costs 3.1 times as much." and tile == "3.1 ×"
        found, said, _ = moved(tab, price=19_500)
        assert float(found["usd"]) == pytest.approx(52.834 * (19_500 / 30 / 240 + 0.2), rel=2e-3)
        assert said == "Buy. Renting costs 2.3 times as much."
        middle = tab.evaluate("document.querySelector('.row.k-buy em').textContent")
        assert middle == "154"
        # What does not follow says so.
        assert "As the study has it" in tab.evaluate(NOTE)
        tab.click("text=Back to the study")
        assert tab.inner_text("#verdict") == before and "#" not in tab.url.rstrip("#")
        assert tab.evaluate(NOTE) == "none"
        assert not noise


LEFT, BOTTOM = 52.0, 216.0  # px of a chart's origin


def line_of(tab, figure, kind):
    """Ends of a line of a chart, in pixels from its origin."""
    path = tab.get_attribute(f"#{figure} .line.k-{kind}", "d").removeprefix("M")
    (x0, y0), *_, (x1, y1) = (map(float, pair.split()) for pair in path.split("L"))
    return x0 - LEFT, BOTTOM - y0, x1 - LEFT, BOTTOM - y1


@pytest.mark.parametrize(("price", "hourly"), [(13_000, 2.0), (3250, 1.5), (6500, 4.5)])
def test_when_buying_pays_by_days_is_what_the_library_says_at_these_prices(case, price, hourly):
    """At each number of days the rented line is as many times the bought one as the library finds."""
    made = one_job(inputs(price_p3=hourly, box_more={"capex_usd": float(price)}))
    gains = made["utilisation"][made["utilisation"]["option"] == "p3.2xlarge"].set_index("days")["gain"]
    turns = made["break_even"].set_index("option").loc["p3.2xlarge", "days"]
    with opened(case) as (tab, noise):
        moved(tab, price=price, hourly=hourly)
        tab.wait_for_selector("#pays.follows")
        bought, rented = line_of(tab, "pays", "buy"), line_of(tab, "pays", "rent")
        for days in (5.0, 12.0, 25.0):
            at = days / 30.5
            usd = [y0 + (y1 - y0) * at for _, y0, _, y1 in (bought, rented)]
            assert usd[1] / usd[0] == pytest.approx(gains[days], rel=0.01), days
        words = tab.eval_on_selector_all("#pays text.soft", "all => all.map(one => one.textContent)")
        assert words[0] == "your case"
        said = float(words[1].removeprefix("buying pays from ").removesuffix(" days"))
        assert said == pytest.approx(turns, rel=0.01)
        assert not noise


def test_a_plan_of_phases_moves_by_whole_machines(tmp_path):
    """Each choice costs on the page what the library says, in whole rounds on whole machines."""
    tables = compared(own(), hourly()) | {"offers": given(own(), hourly())[1]}
    file = written(tmp_path, tables, study())
    chosen = tables["choices"][tables["choices"]["workload"] == "work"].set_index("choice")
    with opened(file) as (tab, noise):
        usd = tab.evaluate(
            f"(() => {{ const data = model.unpack(JSON.parse({DATA}));"
            " return Object.entries(model.choices(data, data.works[0], {})).map(([key, one]) => [key, one.usd]); })()"
        )
        assert len(usd) == 2
        for name, value in usd:
            assert value == pytest.approx(chosen.loc[name, "usd"], rel=1e-9)
        # Twice the jobs take a second box: 2 x (36,000 USD and 36 months' care of 50), 36 x 400 h at 0.2 USD; rented 6.
        found, _, _ = moved(tab, jobs=200)
        assert (float(found["usd"]), found["best"]) == (pytest.approx(2 * 37_800 + 2880), "box")
        assert float(found["ratio"]) == pytest.approx(36 * 400 * 6 / 78_480)
        # So do half the days of use a month; then renting is the cheaper.
        found, _, _ = moved(tab, days=5)
        assert (float(found["usd"]), found["best"]) == (pytest.approx(36 * 200 * 6), "rented")
        assert float(found["ratio"]) == pytest.approx((2 * 37_800 + 1440) / 43_200)
        # Nothing is done in an hour.
        assert moved(tab, within=1)[1] == "Nothing here does this work in time."
        assert not noise


@pytest.mark.parametrize("at", [{"jobs": 115}, {"price": 20_000, "hourly": 24.0}, {"jobs": 60, "hourly": 45.0}])
def test_what_finishing_earlier_costs_is_what_the_library_says_at_these_figures(tmp_path, at):
    """The box, and a rented machine twice as fast: hours and USD of either, by the files edited alike."""
    speeds = {"rented": (200.0, 200.0, 200.0)}
    tables = compared(own(), hourly(30.0), speeds=speeds)
    file = written(tmp_path, tables | {"offers": given(own(), hourly(30.0), speeds=speeds)[1]}, study())
    edited = {"phases": [WORK["phases"][0] | {"jobs": 36 * at.get("jobs", 100)}]}
    rows = compared(
        own(capex=float(at.get("price", 36_000))), hourly(at.get("hourly", 30.0)), speeds=speeds, work=edited
    )["choices"]
    of = rows[rows["workload"] == "work"].set_index("choice")
    assert of.loc["rented", "hours"] < of.loc["box", "hours"] and of.loc["rented", "usd"] > of.loc["box", "usd"]
    with opened(file) as (tab, noise):
        moved(tab, **at)
        tab.wait_for_selector("#faster.follows")
        point = {
            kind: [
                float(tab.get_attribute(f"#faster circle.k-{kind}", "cx")) - LEFT,
                BOTTOM - float(tab.get_attribute(f"#faster circle.k-{kind}", "cy")),
            ]
            for kind in ("rent", "buy")
        }
        for place, name in enumerate(("hours", "usd")):
            asked = of.loc["rented", name] / of.loc["box", name]
            assert point["rent"][place] / point["buy"][place] == pytest.approx(asked, rel=1e-3), name
        # The later point is at ten elevenths of the width, which is 374 px for 1.1 times its hours.
        assert point["buy"][0] == pytest.approx(374 / 1.1, rel=1e-3)
        assert not noise


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The page of the lab of five, in which each month is the middle one, and its tables."""
    made = LabOfFive(tmp_path_factory.mktemp("lab")).certain()
    return written(tmp_path_factory.mktemp("page"), made.tables(4), load_study(made.folder))


def edit_lab(made, at):
    """The files of the lab with what the controls say written into them."""

    def prices(content):
        for one in content["offers"]:
            if one["instance"] == "box-4":
                if "price" in at:
                    one["own"]["capex"] = at["price"] / EUR
                one["own"]["months"] = at.get("months", 36)
            if "own" in one and "days" in at:
                one["own"]["days_per_month"] = at["days"]

    def rents(content):
        for one in content["offers"]:
            one["per_hour"] *= at.get("times", 1.0)

    def jobs(content):
        first = content["lab"]["jobs"][0]
        first["per_month"] = at.get("jobs:resnet50", 58) + at.get("jobs:resnet50 (urgent)", 2)
        first["urgent_per_month"] = at.get("jobs:resnet50 (urgent)", 2)
        first["within_hours"] = at.get("deadline", 24)

    return made.edit("prices/ours.yaml", prices).edit("prices/rent.yaml", rents).edit("workloads.yaml", jobs)


@pytest.mark.parametrize(
    "at",
    [{"price": 9000.0}, {"months": 60.0}, {"days": 20.0}, {"times": 1.5}, {"times": 0.5}, {"deadline": 15.0},
     {"deadline": 12.0}, {"jobs:resnet50": 120.0}, {"jobs:resnet50 (urgent)": 5.0},
     {"jobs:resnet50": 30.0, "price": 20_000.0, "months": 24.0, "times": 1.2, "deadline": 18.0}],
)  # fmt: skip
def test_the_panel_of_a_plan_of_months_says_what_the_files_would(lab, tmp_path, at):
    """Jobs a month, months, days, price of the box, rents and the deadline of urgent jobs."""
    mixes = edit_lab(LabOfFive(tmp_path).certain(), at).tables(2)["choices"].set_index("choice")
    usd = mixes["usd_per_month_central"]
    rented = usd[mixes["counts"].eq(0) & mixes["why_not"].isna()].min()
    with opened(lab) as (tab, noise):
        hour = json.loads(tab.evaluate(DATA))["offers"][2]["usd_per_hour"]
        said = {name: value for name, value in at.items() if name != "times"}
        said |= {"hourly": round(at["times"] * hour, 8)} if "times" in at else {}
        found, verdict, _ = moved(tab, **said)
        assert verdict.split()[0] in ("Buy.", "Buy", "Rent")
        if mixes.loc["best", "counts"]:  # else no number of boxes is worth it, and of one the table says nothing
            assert float(found["usd"]) / 36 == pytest.approx(usd["best"], rel=1e-6)
            assert float(found["ratio"]) == pytest.approx(rented / usd["best"], rel=1e-6)
        else:
            assert float(found["usd"]) / 36 == pytest.approx(rented, rel=1e-6)
        assert not noise


def test_the_page_of_a_plan_of_months_has_its_controls_and_moves_as_one(lab):
    with opened(lab) as (tab, noise):
        names = tab.eval_on_selector_all("#case input[type=range]", "all => all.map(one => one.name)")
        assert names[:2] == ["jobs:resnet50", "jobs:bert"]
        assert {"jobs:resnet50 (urgent)", "deadline", "days", "months", "price", "hourly"} <= {*names}
        before = tab.inner_text("#verdict")
        found, said, tile = moved(tab, price=40_000)
        assert said.startswith("Rent by the hour. Buying costs ")
        # The figure keeps what it is of: "as much for renting as for buying".
        assert "as much for renting as for buying" in tab.inner_text("#tiles>div:nth-child(2)")
        assert float(tile.removesuffix(" ×")) == pytest.approx(1 / float(found["ratio"]), abs=0.006)
        tab.click("text=Back to the study")
        assert tab.inner_text("#verdict") == before and not noise
