"""Which rows the charts behind the first draw, and at which places: tables of a few rows, what is drawn by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from sweetspot.report import first_sections as sections
from sweetspot.report.first_charts import Point, Series
from sweetspot.report.first_sections import (
    _by_days,
    _faster,
    _none_turns_it,
    _of_option,
    _over_time,
    _threshold,
    _titled,
    _turns_to_the_rival,
    _what_if,
    _what_turns_it,
    _when_buying_pays,
    _who_does_it,
)
from sweetspot.report.outcome import Named
from sweetspot.wording import Money

EUR = Money("EUR", 1.25)
NONE = float("nan")


def near(points, expected):
    return np.asarray(points, float) == approx(np.asarray(expected, float))


@pytest.fixture
def drawn(monkeypatch):
    """Each chart is what it was asked to draw."""
    names = ("dots_chart", "lines_chart", "points_chart", "areas_chart")
    monkeypatch.setattr(sections, "charts", SimpleNamespace(**dict.fromkeys(names, lambda *asked: asked)))
    monkeypatch.setattr(sections, "tornado_chart", lambda *asked: asked)


def found(**changes):
    told = {"workload": "w", "work_factor": None, "usd": 3600.0, "usd_per_month": 100.0, "level": "commit"}
    return SimpleNamespace(**told | {"best": Named(choice="a", title="A")} | changes)


def choice(name, kind, commitment, usd, **more):
    """A row of the choices, from 0.9 to 1.2 times its cost."""
    row = {"workload": "w", "choice": name, "title": name.capitalize(), "kind": kind,
           "commitment": commitment, "usd": usd,
           "usd_low": 0.9 * usd, "usd_high": 1.2 * usd, "why_not": None, "hours": 80.0, "purchase": "on_demand",
           "instance": name, "counts": 1.0, "box_title": None}  # fmt: skip
    return row | more


def scenarios(count, **columns):
    rows = [{"scenario": f"s{n}" if n else "", "kind": "rent", "title": f"T{n}", "usd": 3600.0, "usd_per_month": 100.0,
             "same_answer": True, "usd_outcomes": [4500.0, 9000.0]} for n in range(count)]  # fmt: skip
    return pd.DataFrame(rows).assign(**columns)


def test_of_many_scenarios_those_with_another_answer_are_kept(drawn):
    table = scenarios(10, usd=[*[3600.0] * 4, NONE, *[3600.0] * 5], same_answer=[*[True] * 8, False, False])
    made = _what_if({"scenarios": table}, EUR)
    rows, code = made.chart
    # The plan and s8, s9, then the others until eight: s1, s2, s3, s5, s6, as nothing is priced in s4.
    assert [row.choice for row in rows] == ["", "s1", "s2", "s3", "s5", "s6", "s8", "s9"]
    assert (code, made.title) == ("EUR a month", "What if, in EUR a month")
    # 3,600 over 36 months; outcomes come in USD: 4,500 / 1.25 / 36
    assert (rows[0].value, rows[0].outcomes, rows[0].strong, rows[0].group) == (
        100.0,
        [100.0, 200.0],
        True,
        "Rent by the hour",
    )
    assert not rows[1].strong
    (first, _), code = _what_if({"scenarios": scenarios(2, usd_per_month=[100.0, NONE])}, EUR).chart
    assert (code, first.value) == ("EUR", 100.0)
    assert _what_if({"scenarios": scenarios(2, usd=[3600.0, NONE])}, EUR) is None
    assert _what_if({}, EUR) is None


TWO = pd.DataFrame([
    choice("dear", "rent", "nothing", 1.0, why_not="too late"), choice("cloud", "rent", "nothing", 800.0),
    choice("box", "buy", "buy", 1050.0, purchase="own"), choice("next", "buy", "buy", 1060.0, purchase="own"),
])  # fmt: skip


def phases(**changes):
    """The box is 1,000 USD and at work 80 of its 100 hours; the work takes 50 USD of power, or 800 of rent."""
    rows = [
        ("box", "own", 1000.0, 50.0, 100.0), ("gone", "own", 1.0, 1.0, 100.0), ("cloud", "on_demand", 0.0, 800.0, 0.0),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["option", "purchase", "ownership_usd", "usd", "room_hours"])
    return {"case_figures": table.assign(workload="w", cost="rounds", machines=1.0, **changes)}


@pytest.mark.parametrize(("factor", "last", "mark"), [
    (None, 2.0, None), (0.5, 2.0, "pays from 50 %"), (1.05, 2.0, None),  # 1.4 times it, 2 at least and 5 at most
    (2.0, 2.8, "pays from 2.0 times"), (3.6, 5.0, "pays from 3.6 times"), (5.0, 5.0, None), (0.0, 2.0, None),
])  # fmt: skip
def test_buying_and_renting_by_the_work_of_a_plan_of_phases(drawn, factor, last, mark):
    made = _when_buying_pays(phases(), TWO, found(work_factor=factor), EUR)
    (buy, rent), across, up, title, marks = made.chart
    assert (across, up, title) == ("times the planned work", "EUR", "Cost by work, bought and rented")
    assert (buy.name, buy.kind, rent.name) == ("buy", "buy", "rent")
    bought, rented = dict(buy.points), dict(rent.points)
    assert max(bought) == max(rented) == last and bought.keys() == rented.keys()
    # 0.96 of a box at 1.2 times the work; 1.12 at 1.4: a second one.
    assert [bought[at] for at in (0.0, 1.0, 1.2, 1.4)] == approx([1000, 1050, 1060, 2070])
    assert [rented[at] for at in (0.0, 1.0, 2.0)] == [0, 800, 1600]
    assert buy.band[5] == approx((1.0, 945, 1260))
    assert marks == [(1.0, "plan"), *([(factor, mark)] if mark else [])]


def test_a_plan_of_phases_costs_whole_machines_as_its_hours_need():
    """Two machines for 1,000 USD, each at work 80 of 100 hours: of half the work one does all, twice takes four."""
    rows = pd.DataFrame({"ownership_usd": [1000.0], "usd": [50.0], "machines": [2.0], "room_hours": [100.0]})
    cost = _of_option(rows, 80.0)
    # 500 + 25; 2 x 500 + 50; 3.2 machines are four: 2,000 + 100
    assert [cost(factor) for factor in (0.5, 1.0, 2.0)] == [525.0, 1050.0, 2100.0]
    assert _of_option(rows.assign(room_hours=0.0), 80.0)(2.0) == 1100.0  # of those by the hour there are as many


def jobs(**changes):
    row = {"workload": "w", "model": None, "quantity": "jobs", "low": 0.5, "high": 2.0, "usd_low": 500.0,
           "usd": 1000.0, "usd_high": 1900.0, "margin_low": 1.2, "margin": 1.1, "margin_high": 1.05}  # fmt: skip
    price = row | {"quantity": "usd_per_hour", "usd_low": 1.0}
    return {"tornado": pd.DataFrame([price, row | changes, row | {"usd_low": 2.0}])}


def test_of_work_of_months_the_lines_are_as_long_as_its_range(drawn):
    (first, second), _, _, _, marks = _when_buying_pays(jobs(), TWO, found(), EUR).chart
    # The cheaper of the two, rented, is the best; the other is 1.2, 1.1 and 1.05 times as dear.
    assert first == Series("rent", "rent", [(0.5, 500), (1.0, 1000), (2.0, 1900)],
                           first.band)  # fmt: skip
    assert near(first.band, [(0.5, 450, 600), (1.0, 900, 1200), (2.0, 1710, 2280)])  # fmt: skip
    assert second.name == "buy" and near(second.points, [(0.5, 600), (1.0, 1100), (2.0, 1995)])
    assert marks == [(1.0, "plan")]


@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("value", [NONE, float("inf")])
def test_without_both_ends_nothing_is_drawn(drawn, end, value):
    assert _when_buying_pays(jobs(**{f"margin_{end}": value}), TWO, found(), EUR) is None


@pytest.mark.parametrize("kept", [TWO["commitment"] == "buy", TWO["commitment"] == "nothing", TWO["why_not"].notna()])
def test_nothing_is_drawn_where_one_side_is_missing(drawn, kept):
    assert _when_buying_pays(phases(), TWO[kept], found(), EUR) is None


OF_A_MONTH = {
    "options": pd.DataFrame([{"workload": "w", "option": "box", "model": "m", "fixed_usd_per_month": 300.0,
                              "variable_usd_per_hour": 0.5, "days_per_month": 20.0}]),
    "utilisation": pd.DataFrame([
        {"option": "cloud", "model": model, "reference": "box", "days": days, "gain": gain[0], "gain_low": gain[1],
         "gain_high": gain[2]}
        for model, days, *gain in (("n", 2.0, 9, 9, 9), ("m", 1.0, 0.1, 0.05, 0.2), ("m", 10.0, 2.0, 1.5, 2.5))
    ]),
}  # fmt: skip


def test_of_a_single_work_a_month_bought_and_rented_by_its_days(drawn):
    (buy, rent), across, up, _, marks = _when_buying_pays(OF_A_MONTH, TWO, found(work_factor=0.5), EUR).chart
    assert (across, up, marks) == ("days of use a month", "EUR a month", [(20.0, "planned")])
    assert buy == Series("buy", "buy", [(1.0, 312.0), (10.0, 420.0)])  # 300 + 24 x 0.5 a day
    assert near(rent.points, [(1.0, 31.2), (10.0, 840.0)])  # what renting costs is the gain times that
    assert near(rent.band, [(1.0, 15.6, 62.4), (10.0, 630.0, 1050.0)])
    other = {"utilisation": OF_A_MONTH["utilisation"].assign(reference="another"), "options": OF_A_MONTH["options"]}
    buy, rent = (choice(name, "buy", "buy", 1.0) for name in ("box", "cloud"))
    assert _by_days(other, found(), buy, rent) == ([], [])
    assert _by_days(OF_A_MONTH, found(), rent, rent) == ([], [])  # of which the options say nothing
    assert _by_days(OF_A_MONTH, found(), buy, buy) == ([], [])


def assumption(name, low, high, **changes):
    row = {"workload": "w", "model": None, "assumption": name, "margin_low": low, "margin_high": high, "best": "cloud",
           "rival": "box", "flip_value": 5.0, "flip_factor": 1.5, "unit": "USD/hour", "winner_low": "Cloud",
           "winner_high": "Box", "margin": 1.1, "low": 0.5, "high": 5.0}  # fmt: skip
    return row | changes


def test_the_five_that_move_most_are_drawn_with_where_they_turn_it(drawn):
    rows = [assumption(f"a{n}", 0.8, 1.5 - n / 10) for n in range(7)]
    rows[1] |= {"margin_low": NONE}
    rows[2] |= {"flip_value": None}
    rows.append(assumption("other", 0.1, 9.0, workload="x"))
    made = _what_turns_it({"tornado": pd.DataFrame(rows)}, TWO, found())
    bars, best, rival, planned, note = made.chart
    assert [bar.assumption for bar in bars] == ["a0", "a2", "a3", "a4", "a5"]
    assert (bars[0].ratio_low, bars[0].ratio_high) == (0.8, 1.5) and "5 USD an hour" in bars[0].threshold
    assert bars[0].range_text == "0.5 to 5 USD/hour" and bars[1].threshold == ""
    assert (best, rival, planned, note) == ("Cloud", "Box", 1.1, "")


def test_of_a_single_work_the_assumptions_of_its_model_are_drawn(drawn):
    rows = pd.DataFrame([assumption("x", 0.8, 1.2, workload="other", model=name) for name in ("n", "m")])
    options = OF_A_MONTH["options"]
    bars, *_ = _what_turns_it(
        {"tornado": rows.assign(assumption=rows["model"]), "options": options}, TWO, found()
    ).chart
    assert [bar.assumption for bar in bars] == ["m"]
    assert _what_turns_it({"tornado": rows}, TWO, found()) is None  # no option says of which model it is
    assert _what_turns_it({}, TWO, found()) is None


@pytest.mark.parametrize(
    ("rival", "level", "alike"), [("dear", "commit", True), ("box", "commit", False), ("dear", "machine", False)]
)
def test_two_that_bind_to_the_same_are_alike(drawn, rival, level, alike):
    made = _what_turns_it({"tornado": pd.DataFrame([assumption("a", 0.8, 1.2, rival=rival)])}, TWO, found(level=level))
    assert ("differ in the machine" in made.chart[4]) == alike
    # of what is in no choice nothing is known
    made = _what_turns_it({"tornado": pd.DataFrame([assumption("a", 0.8, 1.2, best="?", rival="?")])}, TWO, found())
    assert "differ in the machine" not in made.chart[4]


@pytest.mark.parametrize(("rows", "level", "alike", "none", "same"), [
    ([(1.0, 1.3), (1.1, 1.2)], "commit", False, True, True),  # as cheap as the other is not dearer
    ([(1.0, 1.3), (1.1, 0.99)], "commit", False, False, True),  # the box wins there
    ([(1.0, 1.3)], "machine", False, False, False),
    ([(1.0, 1.3)], "commit", True, False, False),
    ([(0.9, 0.8)], "commit", True, False, True),
])  # fmt: skip
def test_nothing_turns_it_where_the_best_stays_the_cheapest(rows, level, alike, none, same):
    """`same`: where whoever else wins binds to the same, which changes the machine, not the verdict."""
    told, best = [assumption("a", low, high) for low, high in rows], Named(choice="cloud", title="Cloud")
    assert _none_turns_it(told, TWO, found(level=level, best=best), alike) == none
    told = [row | {"winner_high": "Dear"} for row in told]
    assert _none_turns_it(told, TWO, found(level=level, best=best), alike) == same


def test_a_choice_of_one_machine_has_its_name():
    mine = pd.DataFrame([choice("box", "buy", "buy", 1.0, box_title="office box of 4"),
                         choice("two", "buy", "buy", 1.0, box_title="office box of 4", counts=2.0),
                         choice("deal", "contract", "contract", 1.0, box_title="cluster of 4")])  # fmt: skip
    row = {
        "best": "box",
        "rival": "two",
        "third": "deal",
        "fourth": "?",
        "fourth_title": "small box of 1",
        "fifth": "?",
    }
    said = [_titled(row, name, mine) for name in ("best", "rival", "third", "fourth", "fifth")]
    assert said == ["the office box of 4", "Two", "Deal", "the small box of 1", "another choice"]


@pytest.mark.parametrize(("changes", "said"), [
    ({}, "changes at 5 USD an hour"), ({"flip_value": NONE}, ""),
    ({"unit": "times the plan"}, "changes if 50 % higher than planned"),
])  # fmt: skip
def test_where_an_assumption_turns_it_is_said_in_its_unit(changes, said):
    assert _threshold(assumption("price", 1.0, 1.0, **changes)) == said


@pytest.mark.parametrize(("two", "flip", "said"), [
    (("nothing", "buy"), 10.0, True),  # from 10 on buying is the cheaper, and the rival is bought
    (("buy", "nothing"), 10.0, False),  # another purchase
    (("buy", "nothing"), 20.0, True),
    (("nothing", "buy"), 20.0, False),
    (("nothing", "buy"), None, True),  # the first
    (("buy", "nothing"), 15.0, True),  # no point there
    (("buy", "buy"), 10.0, True),
])  # fmt: skip
def test_only_a_turn_to_what_binds_as_the_rival_is_told(two, flip, said):
    points = pd.DataFrame({"turning_value": [10.0, 20.0, 10.0], "boxes": [1, 0, 0]})
    points = points.assign(workload="w", assumption=["price", "price", "speed"])
    row = {"assumption": "price", "flip_value": flip}
    assert _turns_to_the_rival(row, {"turning_points": points}, two, found()) == said
    assert _turns_to_the_rival(row, {"turning_points": points.drop(columns="boxes")}, two, found())


def test_of_a_long_front_the_cheapest_and_the_fastest_are_drawn(drawn):
    rows = [choice(f"M{n}", "rent", "nothing", 10.0 + n, hours=100.0 - n) for n in range(50)]
    rows += [choice("Slow", "rent", "nothing", 20.0, hours=200.0), choice("None", "rent", "nothing", 1.0, hours=NONE),
             choice("Late", "rent", "nothing", 5.0, hours=1.0, why_not="too late")]  # fmt: skip
    points, across, up, _ = _faster({}, pd.DataFrame(rows), found(), EUR).chart
    # five of 50: every 13th, as 49 / 4 is 12.25, and the last
    assert [point.name for point in points] == ["M0", "M13", "M26", "M39", "M49"]
    assert points[1] == Point("M13", "rent", 87.0, 23.0, 1.0) and (across, up) == ("hours", "EUR")
    few = _faster({}, pd.DataFrame(rows[:5]), found(), EUR).chart[0]
    assert [point.name for point in few] == [f"M{n}" for n in range(5)]
    six = _faster({}, pd.DataFrame(rows[:6]), found(), EUR).chart[0]
    assert [point.name for point in six] == ["M0", "M2", "M4", "M5"]  # every second, and the last


def test_a_thousandth_faster_is_not_faster_and_what_is_seldom_free_is_said(drawn):
    rows = [choice("a", "rent", "nothing", 1.0, hours=100.0), choice("b", "rent", "nothing", 2.0, hours=99.95),
            choice("c", "rent", "nothing", 3.0, hours=50.0)]  # fmt: skip
    options = pd.DataFrame({"option": ["c"], "p_stock": [0.25], "p_stock_all": [NONE], "workload": ["w"]})
    points, across, *_ = _faster({"options": options}, pd.DataFrame(rows), found(), EUR).chart
    assert [(point.name, point.had) for point in points] == [("A", 1.0), ("C, 25 %", 0.25)]
    assert across == "hours, and % of attempts in which one is to be had"
    assert _faster({}, pd.DataFrame(rows[:2]), found(), EUR) is None


@pytest.mark.parametrize(("wait", "across"), [(2.0, "hours, waiting included"), (0.0, "hours")])
def test_of_months_one_job_of_the_first_class_by_where_it_runs(drawn, wait, across):
    named = ((None, "z"), ("runs", "a"), ("runs", "a"), ("runs", "b"), ("other", "c"))
    rows = [{"class": cls, "option": name, "title": name.upper()} for cls, name in named]
    table = pd.DataFrame(rows).assign(workload="w", hours=3.0, wait_hours=0.0, usd=7.0)
    table.loc[1, "wait_hours"] = wait
    sources = pd.DataFrame({"option": ["a", "a"], "kind": ["there", "rented"]})
    made = _faster({"deadlines": table, "sources": sources}, TWO.head(0), found(), EUR)
    points, told, up, title = made.chart
    assert points == [Point("A", "keep", 3.0 + wait, 7.0, 1.0), Point("B", "rent", 3.0, 7.0, 1.0)]
    assert (told, up) == (across, "EUR")
    assert title == made.title == "One job (runs): hours and cost by where it runs"
    many = pd.concat([table.tail(1).assign(option=str(n)) for n in range(7)])
    assert len(_faster({"deadlines": many}, TWO.head(0), found(), EUR).chart[0]) == 5
    assert _faster({"deadlines": table.head(1)}, TWO.head(0), found(), EUR) is None


def test_money_by_the_month_with_the_price_at_once_and_the_resale_at_the_end(drawn):
    deal = choice("deal", "contract", "contract", 7200.0)
    box, cloud = choice("box", "buy", "buy", 5000.0, counts=2.0), choice("cloud", "rent", "nothing", 3600.0)
    mine = pd.DataFrame([box, deal, cloud])
    offers = pd.DataFrame({"instance": ["box", "box", "deal"], "purchase": ["on_demand", "own", "own"],
                           "capex_usd": [1.0, 1000.0, 9.0], "residual_usd": [1.0, 200.0, 9.0]})  # fmt: skip
    (box, deal, cloud), across, up, _ = _over_time({"offers": offers}, mine, found(), EUR).chart
    # Two boxes: 2,000 at once, 3,400 over 36 months, and 400 back: 5,000 in all.
    assert near(box.points, [(0.0, 2000.0), (36.0, 5400.0), (36.0, 5000.0)])
    assert near(deal.points, [(0, 0), (36, 7200)]) and near(cloud.points, [(0, 0), (36, 3600)])
    assert (across, up) == ("months", "EUR")
    kept, _ = _over_time(
        {"offers": offers.assign(residual_usd=NONE)}, mine.assign(counts=NONE).iloc[[0, 2]], found(), EUR
    ).chart[0]
    assert near(kept.points, [(0, 1000), (36, 5000)])  # one box, and nothing back
    assert _over_time({"offers": offers}, mine.head(1), found(), EUR) is None
    for months in (3600.0, None, 0.0):  # a month at most, or none known
        assert _over_time({"offers": offers}, mine, found(usd_per_month=months), EUR) is None


def test_what_is_rented_is_one_layer_of_the_load(drawn):
    named = (("mine", "there", 8.0), ("A", "rented", 2.0), ("B", "rented", 1.0))
    rows = [(title, kind, share, hours) for title, kind, hours in named for share in (0.0, 0.25)]
    table = pd.DataFrame(rows, columns=["title", "kind", "share_of_months", "device_hours"]).assign(workload="w")
    layers, across, up, _ = _who_does_it({"load": table}, found()).chart
    assert layers == [("mine", "keep", [(0.0, 8.0), (25.0, 8.0)]),
                      ("rented by the hour", "rent", [(0.0, 3.0), (25.0, 3.0)])]  # fmt: skip
    assert (across, up) == ("% of months, busiest first", "device-hours")
    assert _who_does_it({"load": table.assign(workload="x")}, found()) is None
