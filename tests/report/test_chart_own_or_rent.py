"""The chart of owning against renting, of a few rows by hand."""

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
