"""Charts of owning against renting and of what turns the answer, of a few rows by hand."""

import pandas as pd
import pytest
from chart_pieces import answered, frame, marks_of, spec_of, table
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS, own_or_rent

# The box: 240 USD a month and 0.5 an hour. Planned on 10 days of 24 hours an hour costs 1.5, its work of 100 hours 150.
BOX = pd.Series({"fixed_usd_per_month": 240.0, "variable_usd_per_hour": 0.5, "downtime_share": 0.0,
                 "days_per_month": 10.0, "usd": 150.0})  # fmt: skip


def owned(**changed) -> ChartData:
    """The box against four machines on demand and two spot ones, most of them with a day from which it pays."""
    days = frame("option purchase persistent gain_at_use days", ("box", "own", True, 1.0, 1.0),
                 ("C", "on_demand", True, 1.3, 8.0), ("A", "on_demand", True, 1.1, 5.0),
                 ("B", "on_demand", True, 1.2, None),
                 ("D", "on_demand", True, 1.4, 9.0), ("S", "spot", False, 0.6, 15.0),
                 ("T", "spot", False, 0.7, 20.0))  # fmt: skip
    ranks = frame("option instance purchase usd workload", ("old", "old", "own", 1.0, "w1"),
                  ("box", "box", "own", 150.0, "w1"), ("A", "a", "on_demand", 200.0, "w1"),
                  ("B", "b", "on_demand", 100.0, "w1"),
                  ("C", "c", "on_demand", 160.0, "w1"), ("D", "d", "on_demand", 170.0, "w1"),
                  ("S", "s", "spot", 70.0, "w1"), ("T", "t", "spot", 80.0, "w1"),
                  ("A", "a", "on_demand", 9.0, "w2"))  # fmt: skip
    use = frame("option days gain_low gain_high", ("A", 10.0, 0.8, 1.6), ("A", 31.0, 0.1, 2.0), ("B", 31.0, 1.0, 1.0))
    tables = {"break_even": days, "ranks": ranks.assign(price_list="l", title=ranks["option"]), "utilisation": use}
    tables = {name: rows.assign(model="m") for name, rows in tables.items()}
    offer = BOX.to_dict() | {"price_list": "l", "instance": "box", "purchase": "own", "downtime_share": None}
    tables["offers"] = pd.DataFrame([offer | {"instance": "old"}, offer])
    return ChartData(answered(**tables | changed), "box")


def test_the_box_costs_its_share_of_the_month_and_a_rival_the_same_on_any_day():
    """On 20 days an hour costs 240 / 480 + 0.5 = 1.0, so 100 hours 100 USD; on half a day 20.5, so 2,050."""
    assert [own_or_rent.cost_at(BOX, days) for days in (10.0, 20.0, 0.5)] == pytest.approx([150.0, 100.0, 2050.0])
    lines = own_or_rent.cost_lines(BOX, [120.0, 80.0], 30.0)
    assert table(lines.tail(4), "slot days usd") == [[1, 0, 120], [1, 30, 120], [2, 0, 80], [2, 30, 80]]
    own = lines[lines["slot"] == 0]
    assert len(own) == 60 and table(own.iloc[[0, 39]], "days usd") == [
        pytest.approx([0.5, 2050]),
        pytest.approx([20, 100]),
    ]


def test_the_box_is_drawn_against_the_closest_rivals():
    """Up to 1.6 times the dearest, 200 USD; what is beyond twice that, 640, is cut there."""
    drawing = CHARTS["utilisation"].draw(owned())
    data = drawing.data
    assert data["keys"]["told"].tolist() == [
        "box: 150 USD on 10 days", "A: 200 USD; the box pays from 5.0 d", "B: 100 USD; cheaper at any use",
        "C: 160 USD; the box pays from 8.0 d", "S: 70.0 USD; the box pays from 15 d",
    ]  # fmt: skip
    assert table(data["keys"], "slot line") == [[n, n] for n in range(5)]
    # 240 / (24 x 5) + 0.5 = 2.5 an hour, 1.75 on 8 days, 1.1667 on 15
    assert table(data["marks"], "slot days") == [[1, 5], [3, 8], [4, 15]]
    assert data["marks"]["usd"].tolist() == pytest.approx([250.0, 175.0, 116.6667])
    rows = data["rows"]
    assert rows["usd"].max() == 640 and rows[rows["slot"] == 1]["usd"].tolist() == [200.0, 200.0]
    assert list(rows["title"].unique()) == ["box", "A", "B", "C", "S"] and data["planned"]["days"].tolist() == [10.0]
    # 200 / 1.6, 200 / 0.8; 200 / 2, 200 / 0.1 cut
    assert table(data["band"], "days low high") == [[10, 125, 250], [31, 100, 640]]
    assert drawing.says == "Against A owning pays from 5.0 days of use a month"
    spec = spec_of(drawing)
    assert (spec["vconcat"][0]["width"], spec["vconcat"][0]["height"]) == (400, 230)
    assert len(marks_of(spec)) == 7 and spec["vconcat"][1]["height"] == 17 * 5
    band, planned, words, lines, dots, *_ = marks_of(spec)
    assert band["mark"] == {"type": "area", "opacity": 0.12, "color": "#000", "clip": True}
    assert planned["mark"] == {"type": "rule", "color": "#444", "strokeDash": [2, 3]}
    assert words["encoding"]["y"] == {"value": -8} and words["encoding"]["text"] == {"value": "as planned"}
    scales = [lines["encoding"][name]["scale"] for name in "xy"]
    assert scales == [{"domain": [0, 31], "nice": False}, {"domain": [0, 320], "nice": False}]
    assert lines["mark"] == {"type": "line", "clip": True} and dots["mark"] == {"type": "point", "filled": True}


def test_a_box_dearer_than_all_rivals_has_room_too():
    data = owned()
    data.tables["ranks"].loc[lambda rows: rows["option"] == "box", "usd"] = 300.0
    spec = spec_of(CHARTS["utilisation"].draw(data))
    assert marks_of(spec)[3]["encoding"]["y"]["scale"]["domain"] == [0, 480]  # 1.6 x 300


def test_without_an_owned_machine_or_a_rival_there_is_no_break_even():
    def said(**changed):
        return CHARTS["utilisation"].draw(owned(**changed)).data["rows"]["text"].tolist()

    none = ["No owned machine takes part for m: no break-even."]
    assert said(break_even=pd.DataFrame()) == ["Nothing to own in this study: no break-even."]
    days, ranks = (owned().tables[name] for name in ("break_even", "ranks"))
    assert said(break_even=days.head(1)) == none  # the box alone
    assert said(ranks=ranks.assign(purchase="on_demand")) == none


def test_rivals_pay_each_month_for_what_the_boxes_make():
    """24 x 10 x (1 - 0.25) x 2 hours x 3,600 x 2 are 2,592,000 images a month; at 25,920 for a USD they cost 100."""
    flow = frame("instance price_list month cumulative_usd days_per_month downtime_share boxes",
                 *(("box", "own", at, paid, 10.0 + at, 0.25, 2.0) for at, paid in enumerate((900.0, 950.0, 400.0))),
                 ("other", "own", 0, 1.0, 10.0, 0.0, 1.0), ("box", "else", 0, 5.0, 10.0, 0.0, 1.0))  # fmt: skip
    columns = (
        "option instance price_list purchase images_per_s images_per_usd persistent in_answer trend_kind trend_change"
    )
    rent = {"A": 25_920.0, "B": 12_960.0, "C": 51_840.0, "D": 6480.0}
    ranks = frame(columns, ("box", "box", "own", "own", 2.0, 1.0, True, True, None, None),
                  *((name, name, "l", "on_demand", 9.0, per_usd, True, True, "drift" if name == "B" else None, -0.5)
                    for name, per_usd in rent.items()),
                  ("spot", "s", "l", "spot", 9.0, 1e9, False, True, None, None),
                  ("left", "x", "l", "on_demand", 9.0, 1e9, True, False, None, None),
                  ("bought", "y", "l", "own", 9.0, 1e9, True, True, None, None)).assign(model="m")  # fmt: skip
    ranks = pd.concat([ranks, ranks.assign(model="n")])
    found = own_or_rent.cash_lines(flow, ranks, "box", "m")
    paid = {name: rows["cumulative_usd"].tolist() for name, rows in found.groupby("option", sort=False)}
    assert list(paid) == ["box", "C", "A", "B"]  # the three that ask least
    assert paid["box"] == [900.0, 950.0, 400.0] and paid["A"] == pytest.approx([0.0, 100.0, 200.0])
    # of B 400 USD in two months, the second month 2^(-1/12) = 0.9439 times the first: 400 / 1.9439 = 205.8 in that
    assert paid["B"] == pytest.approx([0.0, 400 / (1 + 2 ** (-1 / 12)), 400.0])
    plain = flow.drop(columns=["downtime_share", "boxes"])  # 24 x 10 hours of one box: two thirds of it
    assert own_or_rent.cash_lines(plain, ranks, "box", "m").iloc[-4]["cumulative_usd"] == pytest.approx(200 / 1.5)
    for nothing in ((flow.head(0), ranks, "box"), (flow, ranks.head(0), "box"), (flow, ranks, "gone")):
        none = own_or_rent.cash_lines(*nothing, "m")
        assert none.empty and list(none.columns) == ["option", "month", "cumulative_usd"]


def test_money_paid_by_month_is_a_line_an_option():
    flow = frame(
        "instance price_list purchase month cumulative_usd",
        ("box", "l", "own", 0, 900.0),
        ("box", "l", "own", 12, 1000.0),
    )
    ranks = owned().tables["ranks"].query("option in ['box', 'A']")
    ranks = ranks.assign(images_per_s=2.0, images_per_usd=17_280.0, persistent=True, in_answer=True)
    offers = pd.DataFrame([{"price_list": "l", "instance": name, "purchase": how, "days_per_month": 10.0,
                            "trend_kind": None, "trend_change": None}
                           for name, how in (("box", "own"), ("a", "on_demand"))])  # fmt: skip
    drawing = CHARTS["cash_flow"].draw(owned(cash_flow=flow, ranks=ranks, offers=offers))
    # 24 x 10 x 3,600 x 2 / 17,280 = 100 USD a month
    assert drawing.data["keys"]["told"].tolist() == ["box: 1,000 USD in 12 months", "A: 1,200 USD in 12 months"]
    assert table(drawing.data["keys"], "slot line") == [[0, 0], [1, 1]]
    assert table(drawing.data["rows"], "title slot month cumulative_usd") == [
        ["box", 0, 0, 900], ["box", 0, 12, 1000], ["A", 1, 0, 0], ["A", 1, 12, 1200]
    ]  # fmt: skip
    assert drawing.says == "From month 12 on box has cost less than A"
    plot, key = spec_of(drawing)["vconcat"]
    assert (plot["width"], plot["height"], key["height"]) == (400, 230, 17 * 4)
    x, y = (plot["layer"][0]["encoding"][name] for name in "xy")
    assert x["axis"] == {"values": [0, 3, 6, 9, 12]} and x["scale"] == {"nice": False}
    assert y["axis"] == {"labelExpr": "format(datum.value, '~s')"} and plot["layer"][0]["mark"] == {"type": "line"}
    empty = CHARTS["cash_flow"].draw(owned(cash_flow=pd.DataFrame()))
    assert empty.data["rows"]["text"].tolist() == ["Nothing to own in this study: no cash flow to compare."]


def test_the_surface_is_a_line_a_tariff_with_the_plan_above():
    """Plots of 310 x 200 pixels up to 31 days: 10 days are 135.5 from the top, 20 days 71."""
    rows = frame("months usd_per_kwh break_even_days", (24, 0.3, 25.0), (12, 0.3, None), (24, 0.1, 20.0),
                 (48, 0.1, 10.0), (48, 0.3, 20.0), (24, 0.1, 20.0)).assign(model="m")  # fmt: skip
    offers = frame("instance purchase months days_per_month usd_per_kwh", ("box", "on_demand", 1.0, 1.0, 9.0),
                   ("other", "own", 1.0, 1.0, 9.0), ("box", "own", 36.0, 10.0, 0.12),
                   ("box", "own", 24.0, 9.0, 0.3))  # fmt: skip
    other = rows.assign(model="n", break_even_days=5.0)
    drawing = CHARTS["surface"].draw(owned(surface=pd.concat([other, rows]), offers=offers))
    drawn = drawing.data["rows"]
    assert table(drawn, "tariff months break_even_days") == [
        ["0.10 USD/kWh", 24, 20], ["0.10 USD/kWh", 48, 10], ["0.30 USD/kWh", 24, 25], ["0.30 USD/kWh", 48, 20]
    ]  # fmt: skip
    named = drawn.dropna(subset=["name"])
    assert named["name_y"].tolist() == pytest.approx([135.48, 70.97], abs=0.01)  # 200 (1 - 10 / 31), (1 - 20 / 31)
    assert drawing.data["plan"]["label"].tolist() == ["as planned: 36 months, 10 days"]
    assert drawing.says == "A project of 24 months pays from 20 days of use a month, one of 48 from 10"
    spec = spec_of(drawing)
    assert (spec["width"], spec["height"]) == (310, 200)
    rule, mark, words, lines, piece, name = marks_of(spec)
    assert rule["mark"]["strokeDash"] == [2, 3] and words["encoding"]["y"] == {"value": -8}
    assert mark["mark"] == {"type": "point", "shape": "triangle-down", "size": 90, "filled": True, "color": "#000"}
    x, y = (lines["encoding"][axis] for axis in "xy")
    assert x["axis"] == {"values": list(range(0, 49, 6))} and x["scale"] == {"nice": False}
    assert y["scale"] == {"domain": [0, 31], "nice": False} and lines["encoding"]["color"]["legend"] is None
    assert piece["encoding"]["x"] == {"value": 316} and name["encoding"]["x"] == {"value": 336}
    nothing = CHARTS["surface"].draw(owned()).data["rows"]["text"].tolist()
    assert nothing == ["Nothing to own in this study: no break-even."]


def ends_of_tariffs(planned: float, **ends: float) -> list[str]:
    """Which of the tariffs are drawn that end at these days."""
    rows = pd.DataFrame([(48, float(kwh[1:]) / 10, days, kwh) for kwh, days in ends.items()],
                        columns=["months", "usd_per_kwh", "break_even_days", "tariff"])  # fmt: skip
    return own_or_rent._told_apart(rows, planned)["tariff"].tolist()


def test_lines_that_end_within_seven_pixels_are_not_told_apart():
    """Of 200 / 31 = 6.45 pixels a day: 7 are 1.085 days. First that of the plan, then the dearest and the cheapest."""
    assert ends_of_tariffs(0.2, t1=10.0, t2=11.08, t3=12.1) == ["t2", "t3"]
    assert ends_of_tariffs(0.2, t1=10.0, t2=11.09, t3=12.2) == ["t1", "t2", "t3"]
    assert ends_of_tariffs(0.0, t1=10.0, t2=10.1) == ["t1", "t2"]  # two are drawn in any case
    assert ends_of_tariffs(0.3, t1=10.0, t2=10.5, t3=11.0) == ["t1", "t3"]
    far = {f"t{n}": 2.0 * n for n in range(1, 10)}
    assert ends_of_tariffs(0.5, **far) == ["t1", "t2", "t3", "t4", "t5", "t9"]  # six have colours of their own
