"""Charts of fronts, bills and loads, and what all charts know of a study, of a few rows by hand."""

import pandas as pd
import pytest
from chart_pieces import answered, frame, marks_of, spec_of, table
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS, fronts, stacks

COLUMNS = "option model workload hours usd persistent in_answer purchase basis source as_of title"


def ranks(*rows, model="m", work="w1") -> pd.DataFrame:
    """Of (option, hours, USD, purchase) or only its beginning."""
    made = [(*row, "on_demand")[:4] for row in rows]
    return frame(COLUMNS, *((name, model, work, hours, usd, how != "spot", True, how, "published", "paper", "2018",
                             f"{name} [l]") for name, hours, usd, how in made))  # fmt: skip


def shown(*rows, option="box", **more):
    found = fronts.front_rows(ChartData(answered(option, ranks=ranks(*rows), **more), "box"))
    return {row["option"]: row["on_front"] for row in found.to_dict("records")}


def test_on_a_front_is_what_nothing_beats_in_time_or_money():
    """B is beaten by A (same hours), C by A (same money), D by both; E costs more than A and is faster."""
    assert shown(("A", 10.0, 50.0), ("A2", 10.0, 50.0), ("B", 10.0, 60.0), ("C", 20.0, 50.0), ("D", 20.0, 60.0),
                 ("E", 5.0, 90.0)) == dict.fromkeys("BCD", False) | dict.fromkeys(("A", "A2", "E"), True)  # fmt: skip


def test_what_is_taken_away_is_on_no_front_unless_all_are():
    rows = [("A", 10.0, 50.0), ("S", 5.0, 20.0, "spot"), ("T", 30.0, 70.0, "spot")]
    assert shown(*rows) == {"S": False, "A": True}  # T is beaten by A as well
    assert shown(*rows[1:]) == {"S": True}  # all that there is


def test_what_costs_more_than_twenty_times_the_cheapest_is_not_drawn():
    """Of those that stay: 50. What is on the front or judged is."""
    rows = [
        ("A", 10.0, 50.0),
        ("S", 20.0, 1.0, "spot"),
        ("in", 11.0, 1000.0),
        ("out", 11.0, 1001.0),
        ("fast", 5.0, 2000.0),
    ]
    assert shown(*rows, ("box", 40.0, 9000.0)) == {"S": False, "A": True, "in": False, "fast": True, "box": False}


def test_nothing_without_hours_or_money_nor_of_other_work_is_on_the_front():
    rows = ranks(
        ("A", 10.0, 50.0), ("none", 0.0, 50.0), ("free", 9.0, 0.0), ("box", 12.0, 60.0), ("S", 1.0, 55.0, "spot")
    )
    left = ranks(("left", 1.0, 1.0)).assign(in_answer=False)
    others = [ranks(("other", 1.0, 1.0), model="n"), ranks(("later", 1.0, 1.0), work="w2"), left]
    found = fronts.front_rows(ChartData(answered(ranks=pd.concat([rows, *others])), "box"))
    assert table(found, "option label kind fits on_front") == [
        ["A", "A", "cannot be taken away", True, True], ["S", "S", "can be taken away", False, False],
        ["box", "box", "box [l]", True, False],
    ]  # fmt: skip
    nobody = fronts.front_rows(ChartData(answered(ranks=rows), None))
    assert nobody["kind"].iloc[-1] == "cannot be taken away"  # no machine is judged: none has a kind of its own
    assert fronts.front_rows(ChartData({}, None)).empty


def test_the_front_is_numbered_fastest_first():
    """Of 400 x 230 pixels with 18 around: 1, 10 and 100 hours are at 18, 200 and 382; 3 and 4 are told as one."""
    rows = ranks(("D", 100.0, 1.0), ("A", 1.0, 100.0), ("C", 98.0, 1.02), ("B", 10.0, 10.0), ("B", 10.0, 10.0),
                 ("beaten", 50.0, 60.0), ("box", 60.0, 50.0))  # fmt: skip
    rows = rows.assign(label=rows["option"], on_front=~rows["option"].isin(["beaten", "box"]))
    keys = fronts.number_points(rows, "box")
    assert keys["text"].tolist() == [
        "1  A: 1.00 h, 100 USD", "2  B: 10.0 h, 10.0 USD", "3  box: 60.0 h, 50.0 USD", "4  C: 98.0 h, 1.02 USD",
        "5  D: 100 h, 1.00 USD",
    ]  # fmt: skip
    assert keys["mark"].tolist() == ["1", "2", "3", "4, 5", ""] and keys["line"].tolist() == [0, 1, 2, 3, 4]
    assert "box" not in " ".join(fronts.number_points(rows, "")["text"])
    logs = pd.Series([1.0, 10.0, 100.0])
    assert fronts._pixels(logs, logs, 400) == pytest.approx([18, 200, 382])
    assert fronts._pixels(logs[:1], logs[:1], 400) == [18]


@pytest.mark.parametrize(("spots", "marks"), [
    ([(0.0, 0.0), (15.0, 0.0)], ["1", "2"]), ([(0.0, 0.0), (9.0, 12.0)], ["1", "2"]),  # 15 pixels apart
    ([(0.0, 0.0), (14.9, 0.0)], ["1, 2", ""]), ([(20.0, 5.0), (11.0, 16.0)], ["1, 2", ""]),
    ([(0.0, 0.0), (10.0, 0.0), (20.0, 0.0)], ["1, 2", "", "3"]),  # near to one that is told elsewhere
    ([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)], ["1 to 3", "", ""]),
    ([(0.0, 0.0), (1.0, 0.0), (99.0, 0.0), (0.0, 1.0)], ["1, 2, 4", "", "3", ""]),
    ([(0.0, 0.0), (20.0, 0.0), (10.0, 0.0)], ["1, 3", "2", ""]),  # near to both: told at the first
])  # fmt: skip
def test_points_nearer_than_fifteen_pixels_are_told_together(spots, marks):
    assert fronts._group_numbers(spots) == marks


def test_the_front_of_the_answer_is_drawn_with_room_around_its_points():
    """From 10 to 1000 hours the 18 pixels of 400 are 100^(18 / 364) = 1.2557 times; 50 USD alone: half to twice."""
    rows = [("A", 10.0, 50.0), ("box", 1000.0, 50.0)]
    drawing = CHARTS["front"].draw(ChartData(answered(ranks=ranks(*rows)), "box"))
    assert drawing.says == "m: one option is both the fastest and the cheapest" and "published" in drawing.key
    assert drawing.data["keys"]["text"].tolist() == ["1  A: 10.0 h, 50.0 USD", "2  box: 1,000 h, 50.0 USD"]
    spec = spec_of(drawing)
    plot, key = spec["vconcat"]
    assert (plot["width"], plot["height"], key["height"]) == (400, 230, 17 * 7)
    line, filled, weak, guess, rim, number, told = marks_of(spec)
    x, y = (filled["encoding"][name] for name in "xy")
    assert x["scale"]["domain"] == pytest.approx([7.9634, 1255.75], rel=1e-4) and not x["scale"]["nice"]
    assert y["scale"]["domain"] == pytest.approx([25.0, 100.0]) and (x["title"], y["title"]) == (
        "hours (log)",
        "USD (log)",
    )
    assert [tick for tick in x["axis"]["values"] if 7.9 < tick < 1256] == [10, 30, 100, 300, 1000]
    assert line["mark"] == {
        "type": "line",
        "color": "#444",
        "strokeDash": [4, 3],
        "interpolate": "step-after",
        "clip": True,
    }
    assert line["transform"] == [{"filter": "datum.on_front"}]
    assert weak["transform"][0] == {"as": "shown", "calculate": "datum.fits ? 1 : 0.25"}
    assert guess["encoding"]["opacity"] == {"field": "shown", "type": "quantitative", "scale": None}
    bold = {"type": "text", "dy": -12, "fontWeight": "bold", "clip": True}
    assert rim["mark"] == bold | {"stroke": "white", "strokeWidth": 4} and number["mark"] == bold | {"color": "#111"}
    assert told["encoding"]["x"] == {"value": 0} and filled["encoding"]["color"]["scale"]["domain"] == [
        "cannot be taken away",
        "box [l]",
    ]
    nobody = CHARTS["front"].draw(ChartData(answered("A", ranks=ranks(*rows, ("S", 1.0, 1.0, "spot"))), None))
    legend = marks_of(spec_of(nobody))[1]["encoding"]["color"]
    assert legend["scale"]["domain"] == legend["legend"]["values"] == ["cannot be taken away", "can be taken away"]
    assert len(nobody.data["keys"]) == 1 and nobody.says.startswith("m: one option")
    many = [(f"o{n}", 10.0 + n, 50.0 - n) for n in range(9)]
    front = CHARTS["front"].draw(ChartData(answered("o0", ranks=ranks(*many)), "o0"))
    assert len(front.data["keys"]) == 7 and front.says == "m: 9 options are the best trade-offs of time and money"
    assert CHARTS["front"].draw(ChartData({}, None)).data["rows"]["text"].tolist() == [
        "No workload with a model to train in this study."
    ]


def bills() -> dict[str, pd.DataFrame]:
    """The box at 100 USD (its bill prints 50), A at 120, spot at 60, and a line of 1 % of the dearest."""
    key = dict.fromkeys(stacks.KEY, "x") | {"model": "m", "workload": "w1"}
    lines = [
        ("box", "possession", 36.0),
        ("box", "electricity", 14.0),
        ("A", "use", 117.0),
        ("A", "traffic", 1.8),
        ("A", "storage", 1.2),
        ("S", "use", 60.0),
    ]
    rows = pd.DataFrame([key | {"instance": name, "line": line, "usd": usd} for name, line, usd in lines])
    totals = {"box": 100.0, "A": 120.0, "S": 60.0}
    each = [key | {"instance": name, "option": name, "title": name, "usd": usd} for name, usd in totals.items()]
    known = pd.DataFrame(each).assign(persistent=[True, True, False], as_of="2018")
    other = {"model": "n", "workload": "w2"}  # alone in its work too
    return answered(
        ranks=pd.concat([known, known.assign(**other)]), bills=pd.concat([rows, rows.tail(1), rows.assign(**other)])
    )


def test_bills_are_stacked_from_their_lines_at_the_price_of_the_answer():
    drawing = CHARTS["bill"].draw(ChartData(bills(), "box"))
    assert table(drawing.data["rows"], "title line usd total") == [
        ["box", "owning it, used or not", 72, 100], ["box", "electricity", 28, 100], ["A", "machine time", 117, 120],
        ["A", "traffic", 1.8, 120],
    ]  # fmt: skip
    assert drawing.says == "box costs 100 USD: 72 % of it owning it, used or not"
    spec = spec_of(drawing)
    (bar,) = marks_of(spec)
    assert bar["mark"] == {"type": "bar", "stroke": "white", "strokeWidth": 0.5}
    assert (spec["width"], spec["height"]) == (255, {"step": 24}) and bar["encoding"]["x"]["axis"]["tickCount"] == 5
    names = ["owning it, used or not", "electricity", "machine time", "traffic"]
    assert (
        bar["encoding"]["color"]["legend"]["values"] == names
        and bar["encoding"]["color"]["legend"]["labelLimit"] == 251
    )
    assert [one["title"] for one in bar["encoding"]["tooltip"]] == [
        "option", "line", "USD", "USD of the whole bill", "date"
    ]  # fmt: skip
    judged = ChartData(bills() | {"ranks": bills()["ranks"].assign(persistent=False)}, "box")
    assert set(CHARTS["bill"].draw(judged).data["rows"]["option"]) == {"box"}  # the reference, whatever it is
    for lines, entries in ((["use"], None), (["use", "traffic"], ["machine time", "traffic"])):
        few = bills()
        few["bills"] = few["bills"][few["bills"]["line"].isin(lines)]
        legend = marks_of(spec_of(CHARTS["bill"].draw(ChartData(few, "box"))))[0]["encoding"]["color"]["legend"]
        assert legend == entries or legend["values"] == entries


def test_the_eight_cheapest_bills_are_drawn_and_none_is_said():
    tables = bills()
    more = pd.concat(
        [tables["ranks"].query("option == 'A'").assign(option=f"A{n}", instance=f"A{n}") for n in range(9)]
    )
    lines = pd.concat([tables["bills"].query("instance == 'A'").assign(instance=f"A{n}") for n in range(9)])
    drawn = CHARTS["bill"].draw(ChartData(tables | {"ranks": more, "bills": lines}, "box")).data["rows"]
    assert drawn["option"].nunique() == 8
    for changed, said in (({"bills": pd.DataFrame()}, "No bill in this study."),
                          ({"ranks": pd.DataFrame()}, "No bill in this study."),
                          ({"bills": lines.assign(instance="?")}, "No bill for the model of the answer.")):  # fmt: skip
        assert CHARTS["bill"].draw(ChartData(tables | changed, "box")).data["rows"]["text"].tolist() == [said]


@pytest.mark.parametrize(("line", "usd", "said"), [
    ({"a_b": 99.4, "c": 0.6}, 100.0, "x costs 100 USD: 99 % of it a b"),
    ({"a": 99.6, "c": 0.4}, 100.0, "x costs 100 USD: all of it a"), ({"a": 0.5}, 0.5, "x costs 0.50 USD: all of it a"),
    ({"a": 0.0}, 0.0, ""), ({"a": -1.0}, -1.0, ""),
])  # fmt: skip
def test_the_largest_line_of_the_cheapest_bill_is_told(line, usd, said):
    rows = frame("option line usd total", ("y", "a", 500.0, 500.0), *(("x", *part, usd) for part in line.items()))
    assert stacks._bill_finding(ChartData(answered(), "box"), rows) == said


def test_bills_of_one_line_each_are_the_costs_once_more():
    fits = CHARTS["bill"].has_content
    assert fits({"bills": frame("line usd", ("use", 1.0), ("storage", 2.0))}) and fits({})
    assert not fits({"bills": frame("line usd", ("use", 1.0), ("use", 2.0), ("storage", 0.0))})


def test_the_load_is_stacked_in_the_order_of_its_sources():
    load = frame("workload title share_of_months device_hours", ("w", "there", 0.0, 0.6), ("v", "x", 0.0, 1.0),
                 ("w", "there", 0.5, 0.6), ("w", "bought", 0.0, 0.3), ("w", "bought", 0.5, 0.1),
                 ("w", "none", 0.0, 0.0))  # fmt: skip
    drawing = CHARTS["mix_load"].draw(ChartData({"load": load}, None))
    # of 1.6 hours 1.2 and 0.4
    assert table(drawing.data["rows"], "title percent device_hours part most order") == [
        pytest.approx(["there", 0, 0.6, 75, 0.6, 0]), pytest.approx(["there", 50, 0.6, 75, 0.6, 0]),
        pytest.approx(["bought", 0, 0.3, 25, 0.3, 1]), pytest.approx(["bought", 50, 0.1, 25, 0.3, 1]),
    ]  # fmt: skip
    assert drawing.says == "there does the base, bought the rest"
    spec = spec_of(drawing)
    (area,) = marks_of(spec)
    assert (spec["width"], spec["height"]) == (400, 230) and area["mark"] == {"type": "area", "opacity": 0.85}
    assert (
        area["encoding"]["x"]["scale"] == {"domain": [0, 100], "nice": False}
        and area["encoding"]["y"]["stack"] == "zero"
    )
    nothing = CHARTS["mix_load"].draw(ChartData({}, None)).data["rows"]["text"].tolist()
    assert nothing == ["No work of months in this study: no mix of machines."]


@pytest.mark.parametrize(("hours", "said"), [
    ({"A": (9.0, 10.0)}, "A does all of the work"),
    ({"A": (9.0, 10.0), "B": (0.0, 30.0)}, "A does the base, B the rest"),
    ({"A": (8.9, 10.0), "B": (0.0, 30.0)}, "B does most of the work, A the rest"),
    ({"A": (0.0, 5.0), "B": (0.0, 4.0), "C": (0.0, 1.0)}, "A does the largest part of the work, B most of the rest"),
    ({"A": (0.0, 6.0), "B": (0.0, 2.0), "C": (0.0, 2.0)}, "A does most of the work, B the largest part of the rest"),
    ({"A": (9.0, 9.0), "B": (3.0, 0.0), "C": (0.0, 2.0), "D": (0.0, 2.0)},
     "A does the base, B the largest part of the rest"),
])  # fmt: skip
def test_who_does_the_work_of_the_months(hours, said):
    """The base: at least 0.9 of the busiest month in every month. Most: more than half."""
    rows = frame("title device_hours", *((name, ends[at]) for at in (0, 1) for name, ends in hours.items()))
    assert stacks._load_finding(rows) == said


def test_of_many_models_those_are_drawn_that_have_a_published_figure():
    rows = frame(
        "model basis", *((f"m{n}", "measured") for n in range(12)), ("late", "published"), ("answer", "measured")
    )
    found = ChartData.few_models(rows, "answer")["model"].tolist()
    assert found == [*(f"m{n}" for n in range(10)), "late", "answer"]
    assert len(ChartData.few_models(rows[["model"]])) == 12
    assert "answer" in set(ChartData.few_models(rows.assign(basis="published"), "answer")["model"])


def test_a_model_is_trained_in_the_first_work_that_is_its_own():
    rows = frame("workload model", ("w1", "m"), ("w1", "n"), ("w3", "n"), ("w2", "n"), ("w4", "m"))
    assert sorted(ChartData({"ranks": rows.assign(option="x", title="x")}, None).training()) == ["w2", "w4"]
    both = pd.concat([rows.head(2), rows.head(2).assign(workload="w5")]).assign(option="x", title="x")
    assert ChartData({"ranks": both}, None).training() == ["w1"]  # none of its own


def test_what_a_machine_is_to_a_buyer_and_what_it_is_called():
    tables = answered(ranks=ranks(("A", 1.0, 1.0), ("S", 1.0, 1.0, "spot"), ("box", 1.0, 1.0)))
    data = ChartData(tables, "box", {"a1": "Machine A"})
    assert data.is_interruptible(tables["ranks"]).tolist() == [False, True, False]
    assert data.machines(pd.Series(["a1", "b1"])).tolist() == ["Machine A", "b1"]
    assert data.answer_first(pd.Series(["z", "m", "a", "z"])) == ["m", "a", "z"]
    assert [ChartData(one, "box").option for one in (answered("A"), {})] == ["A", "box"]
    assert data.title("?") == "?"
