"""Charts of speeds, predictions, efficiency and validation, of a few rows by hand."""

import pandas as pd
import pytest
from chart_pieces import answered, frame, marks_of, spec_of, table
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS, scaling
from sweetspot.report.charts import speeds as speed_charts
from sweetspot.report.marks import COLOURS

SPEED = "instance model batch_size images_per_s images_per_s_low images_per_s_high basis source as_of"


def speeds(*rows) -> pd.DataFrame:
    """Of (instance, model, batch, images/s, low, high, basis) or only its beginning."""
    rest = (None, None, "published")
    return frame(SPEED, *((*row, *rest[len(row) - 4 :], "paper", "2018") for row in rows))


def fastest(*rows, **more) -> dict:
    drawing = CHARTS["throughput"].draw(ChartData(answered(throughput=speeds(*rows), **more), "box"))
    return drawing.data["rows"]


def test_a_scale_is_as_long_as_points_and_intervals_need():
    rows = pd.DataFrame({"r": [2.0, 40.0], "r_low": [1.0, 35.0], "r_high": [3.0, 50.0]})
    axis = speed_charts.rate_axis(rows, "r", "images/s").to_dict()
    assert axis["scale"] == {"type": "log", "nice": False, "padding": 10} and axis["title"] == "images/s (log scale)"
    assert [tick for tick in axis["axis"]["values"] if 1 <= tick <= 50] == [1, 3, 10, 30]  # of 1 to 50, not of 2 to 40
    # where it is asked for, logarithmic only from 20 times on
    plain = speed_charts.rate_axis(rows, "r", "images/s", log=False).to_dict()
    assert plain["scale"] == {"zero": False, "padding": 8} and plain["title"] == "images/s" and "axis" not in plain
    assert speed_charts.rate_axis(rows.assign(r=[1.95, 40.0]), "r", "x", log=False).to_dict()["scale"]["type"] == "log"
    assert speed_charts.rate_axis(rows.assign(r=[0.5, 40.0]), "r", "x", log=False).to_dict()["scale"]["type"] == "log"
    assert "type" not in speed_charts.rate_axis(rows.assign(r=[0.0, 40.0]), "r", "x", log=False).to_dict()["scale"]


@pytest.mark.parametrize(("names", "said"), [
    (["a" * 28, "b" * 27], f"{'a' * 28} and {'b' * 27}"), (["a" * 28, "b" * 28], f"{'a' * 28} and 1 other"),
    (["a", "b", "c"], "a and 2 others"), (["a" * 99], "a" * 99),
])  # fmt: skip
def test_machines_alike_are_named_within_sixty_characters(names, said):
    assert speed_charts._all_of(names) == said


def test_the_fastest_figures_of_each_model_are_drawn():
    """Twelve of one model, all that were measured here and the reference; of nine models four, but six at least."""
    many = [(f"g{n}", "m", 1, 100.0 + n) for n in range(14)]
    rows = fastest(*many, ("slow", "m", 1, 2.0, None, None, "measured"), ("box", "m", 1, 1.0), ("none", "m", 1, 0.0))
    assert set(rows["instance"]) == {*(f"g{n}" for n in range(2, 14)), "slow", "box"}
    for models, shown in ((4, 9), (9, 6)):  # 36 in all
        rows = fastest(*((f"g{n}", f"m{m}", 1, 100.0 + n) for n in range(14) for m in range(models)))
        assert rows["model"].value_counts().tolist() == [shown] * models


def test_of_a_cell_the_fastest_figure_is_drawn_and_the_headline_of_predictions():
    guess = speeds(("box", "m", 1, 7.0, 5.0, 9.0, "extrapolated"), ("box", "m", 1, 8.0, 5.0, 9.0, "extrapolated"))
    own = [("a", "m", 1, 3.0), ("a", "m", 1, 4.0), ("a", "m", 2, 5.0)]
    rows = fastest(*own, extrapolation=guess.assign(headline=[True, False]))
    assert table(rows, "instance batch images_per_s title") == [
        ["a", "1", 4, "a"], ["a", "2", 5, "a"], ["box", "1", 7, "box"]
    ]  # fmt: skip
    assert fastest(extrapolation=guess.assign(headline=True))["images_per_s"].tolist() == [8.0]


def test_speeds_are_points_on_their_intervals_one_panel_a_model():
    rows = [("a", "m", 1, 3.0, 2.0, 4.0), ("a", "m", 2, 5.0), ("b", "n", 1, 6.0, 5.0, 7.0)]
    drawing = CHARTS["throughput"].draw(ChartData(answered(throughput=speeds(*rows)), "box"))
    assert drawing.says == "Fastest on 1 of 2 models: a"
    assert drawing.key.replace("\u00a0", " ").split("   ") == ["◆ published", "line: 95 % interval"]
    spec = spec_of(drawing)
    assert spec["facet"]["row"] == {"field": "model", "type": "nominal", "title": None, "sort": ["m", "n"]}
    assert spec["resolve"] == {"scale": {"y": "independent"}} and spec["data"] == {"name": "rows"}
    assert (spec["spec"]["width"], spec["spec"]["height"]) == (255, {"step": 18})
    line, filled, *_ = marks_of(spec)
    assert line["mark"] == {"type": "rule", "strokeWidth": 1.5}
    assert line["transform"] == [{"filter": "isValid(datum.images_per_s_low)"}]
    assert line["encoding"]["x"]["title"] == filled["encoding"]["x"]["title"] == "images/s (log scale)"
    assert line["encoding"]["x2"]["field"] == "images_per_s_high"
    assert filled["encoding"]["y"]["sort"] == {"field": "images_per_s", "op": "max", "order": "descending"}
    tint = filled["encoding"]["color"]
    assert tint["scale"] == {"domain": ["1", "2"], "range": COLOURS[:2]} and tint["legend"]["values"] == ["1", "2"]
    alone = CHARTS["throughput"].draw(ChartData({"throughput": speeds(rows[0])}, None))
    assert marks_of(spec_of(alone))[1]["encoding"]["color"]["legend"] is None
    # of more batches than colours each has its name beside the axis
    for count, title in ((7, "a"), (8, "a, batch 1")):
        of_all = speeds(*(("a", "m", n, 1.0 * n) for n in range(1, count + 1)))
        many = CHARTS["throughput"].draw(ChartData({"throughput": of_all}, None))
        assert many.data["rows"]["title"].iloc[0] == title
    assert marks_of(spec_of(many))[1]["encoding"]["color"] == {"value": COLOURS[0]}
    for none in (pd.DataFrame(), speeds(("a", "m", 1, 0.0))):
        said = CHARTS["throughput"].draw(ChartData({"throughput": none}, None)).data["rows"]["text"].tolist()
        assert said == ["No speed measured or published in this study."]


@pytest.mark.parametrize(("rows", "said"), [
    ([(100.0, 102.0, "published")], []), ([(100.0, 102.1, "published")], ["line: 95 % interval"]),
    ([(100.0, 110.0, "extrapolated")], ["line: 90 % interval"]), ([(None, None, "published")], []),
    ([(1.0, 2.0, "published"), (1.0, 2.0, "extrapolated")], ["line: 95 % interval, predicted 90 %"]),
    ([(1.0, 2.0, "published"), (1.0, 1.0, "extrapolated")], ["line: 95 % interval"]),
])  # fmt: skip
def test_what_a_line_is_is_said_where_one_is_longer_than_its_point(rows, said):
    assert speed_charts._level(frame("images_per_s_low images_per_s_high basis", *rows)) == said


def predicted(*rows, seen=None, reference="box"):
    """The chart of (instance, model, batch, images/s, low, high, method, headline)."""
    made = frame("instance model batch_size images_per_s images_per_s_low images_per_s_high method headline", *rows)
    tables = answered(extrapolation=made.assign(efficiency=0.8), throughput=pd.DataFrame() if seen is None else seen)
    return CHARTS["extrapolation"].draw(ChartData(tables, reference))


def test_the_ways_to_predict_stand_beside_each_other():
    rows = [
        ("box", "m", 1, 100.0, 80.0, 110.0, "usl", False),
        ("box", "m", 1, 125.0, 90.0, 150.0, "sum_of_parts", True),
    ]
    drawing = predicted(*rows)
    assert drawing.says == "2 ways to predict are at most 25 % apart on box"
    assert table(drawing.data["rows"], "cell title") == [["m, batch 1", "box"]] * 2
    assert drawing.key.replace("\u00a0", " ").split("   ") == ["◌ predicted", "line: 90 % interval"]
    spec = spec_of(drawing)
    filled = marks_of(spec)[1]
    names = ["sum of parts (learned)", "universal scaling law"]  # that of the answer first
    assert filled["encoding"]["color"]["scale"]["domain"] == names == filled["encoding"]["yOffset"]["sort"]
    assert filled["encoding"]["color"]["legend"]["labelLimit"] == 251
    assert spec["spec"]["height"] == {"step": 10} and filled["encoding"]["y"]["sort"] is None
    assert "resolve" not in spec and spec["facet"]["row"]["field"] == "title"
    assert filled["encoding"]["x"]["scale"] == {"zero": False, "padding": 8}
    one = predicted(rows[1])
    assert one.says == "box on m, batch 1: 125 images/s" and "by\u00a0sum\u00a0of\u00a0parts\u00a0(learned)" in one.key
    assert spec_of(one)["spec"]["height"] == {"step": 18} and "yOffset" not in marks_of(spec_of(one))[1]["encoding"]
    assert marks_of(spec_of(one))[1]["encoding"]["color"]["legend"] is None
    apart = predicted(*rows, *(("other", *row[1:]) for row in rows))
    assert apart.says == "2 ways to predict are at most 25 % apart"
    lots = predicted(*(("box", "m", 1, 1.0 + n, None, None, f"way{n}", n == 8) for n in range(9)))
    assert lots.data["rows"]["method"].tolist() == [*(f"way{n}" for n in range(6)), "way8"]
    assert spec_of(lots)["spec"]["height"] == {"step": 7}  # at least; 20 pixels for two and a half
    assert predicted().data["rows"]["text"].tolist() == ["Nothing is extrapolated in this study."]


def test_of_more_than_three_machines_the_fastest_predictions_that_nobody_measured_are_drawn():
    rows = [(f"g{n}", "m", 1, 100.0 + n, 90.0 + n, 120.0 + n, "usl", True) for n in range(18)]
    rows += [("box", "m", 1, 50.0, 40.0, 60.0, "usl", True), ("g17", "m", 1, 500.0, 1.0, 900.0, "sum_of_parts", False)]
    seen = speeds(("g16", "m", 1, 99.0), ("g15", "m", 2, 99.0))
    drawing = predicted(*rows, seen=seen)
    assert set(drawing.data["rows"]["instance"]) == {*(f"g{n}" for n in (*range(2, 16), 17)), "box"}  # fifteen
    assert drawing.says == "box may be from 20 % below to 20 % above what is predicted"
    assert spec_of(drawing)["resolve"] == {"scale": {"y": "independent"}}
    nobody = predicted(*rows, seen=seen, reference=None)
    assert nobody.says == "Fastest on m of the machines that nobody has measured: g17"
    known = predicted(*rows[:4], seen=speeds(*((f"g{n}", "m", 1, 1.0) for n in range(4))))
    assert (
        len(known.data["rows"]) == 4 and spec_of(known)["facet"]["row"]["field"] == "model"
    )  # all were: all are drawn
    for others in (rows[:3], [(*row[:-1], False) for row in rows[:4]]):  # few, or none that leads
        assert spec_of(predicted(*others))["facet"]["row"]["field"] == "title"


def options(*rows) -> ChartData:
    made = frame("option images_per_usd images_per_usd_low images_per_usd_high model", *rows)
    made = made.assign(title=made["option"], basis="published", purchase="on_demand", workload="w1")
    return ChartData(answered(ranks=made), "box")


def test_images_per_usd_are_told_of_the_best_two():
    three = [("A", 200.0, 100.0, 300.0, "m"), ("box", 50.0, 40.0, 60.0, "m"), ("B", 900.0, 1.0, 2.0, "n")]
    drawing = CHARTS["images_per_usd"].draw(options(*three))
    assert drawing.says == "Most images per USD on m: A, 4.0 times as many as box"
    assert drawing.key.replace("\u00a0", " ") == "◆ published   line: 90 % interval"
    spec = spec_of(drawing)
    assert spec["resolve"] == {"scale": {"y": "independent"}} and spec["facet"]["row"]["sort"] == ["m", "n"]
    tint = marks_of(spec)[1]["encoding"]["color"]
    assert tint["scale"]["domain"] == ["cannot be taken away", "box"] and tint["legend"]["labelLimit"] == 251
    assert CHARTS["images_per_usd"].draw(options(("A", 2.0, 1.0, 3.0, "m"))).says == "Most images per USD on m: A"
    assert CHARTS["images_per_usd"].draw(options(("A", 2.0, 1.0, 3.0, "n"))).says == ""
    nothing = CHARTS["images_per_usd"].draw(ChartData({}, None)).data["rows"]["text"].tolist()
    assert nothing == ["No priced option in this study."]


def seen(*rows) -> pd.DataFrame:
    made = frame("base_instance instance model gpus efficiency", *rows)
    return made.assign(batch_size=8, basis="published", source="paper", as_of="2018")


def curve(*rows) -> pd.DataFrame:
    made = frame("instance model gpus efficiency high", *rows)
    return made.assign(batch_size=8, basis="", low=0.5)


def test_efficiency_is_a_line_a_family_and_a_band_where_it_is_predicted():
    """Up to 1.2, of 120 pixels: 0.9 is at 30, 0.6 at 60; a name of one line takes 13 and 4 pixels."""
    table_ = seen(("a", "a8", "m", 2, 0.95), ("a", "a8", "m", 8, 0.9))
    guess = curve(("box", "m", 4, 0.6, 1.2), ("c", "m", 4, 0.5, 0.9))
    drawing = CHARTS["efficiency"].draw(ChartData(answered(efficiency=table_, curve=guess), "box"))
    rows = drawing.data["rows"].sort_values(["family", "gpus"])
    assert table(rows, "family gpus efficiency fitted") == [
        ["a", 1, 1, False], ["a", 2, 0.95, False], ["a", 8, 0.9, False],
        ["box (predicted)", 1, 1, True], ["box (predicted)", 4, 0.6, True],
    ]  # fmt: skip
    assert rows["name_y"].dropna().tolist() == pytest.approx([30, 60]) and set(rows["name_height"]) == {17}
    assert table(rows[rows["gpus"] == 1], "low high") == [[1, 1], [1, 1]]
    assert drawing.says == "8 devices do 90 % of 8 times the work of one"
    assert drawing.key.replace("\u00a0", " ") == "◆ published   dashed: predicted, with its 90 % band"
    spec = spec_of(drawing)
    assert (spec["spec"]["width"], spec["spec"]["height"]) == (259, 120)  # 470 - 60 - 16 - 135
    band, fitted, _, dots, _, _, piece, name = marks_of(spec)
    assert band["mark"] == {"type": "area", "opacity": 0.18} and fitted["mark"] == {"type": "line", "strokeWidth": 2.5}
    x, y = (fitted["encoding"][axis] for axis in "xy")
    assert x["scale"] == {"type": "log", "base": 2, "nice": False} and x["axis"]["values"] == [1, 2, 4, 8]
    assert y["scale"] == {"domain": [0, 1.2], "nice": False} and y["axis"] == {"format": "%", "tickCount": 4}
    dash = fitted["encoding"]["strokeDash"]
    assert dash["scale"] == {"domain": [False, True], "range": [[1, 0], [5, 3]]} and dash["legend"] is None
    assert dots["transform"][0] == {"filter": "!datum.fitted"} and dots["transform"][1] == {"filter": "datum.gpus > 1"}
    assert piece["encoding"]["x"] == {"value": 265} and name["encoding"]["x"] == {"value": 285}
    assert fitted["encoding"]["color"]["scale"]["domain"] == ["a", "box (predicted)"]
    assert fitted["encoding"]["color"]["legend"] is None


def test_without_a_reference_the_first_two_predictions_are_drawn_and_seven_families():
    known = seen(*((f"f{n}", f"f{n}", "m", 4, 0.9) for n in range(6)))
    guess = curve(*((name, "m", 4, 0.6, 0.7) for name in ("f0", "x", "y", "z")))
    drawing = CHARTS["efficiency"].draw(ChartData(answered(efficiency=known, curve=guess), "gone"))
    assert set(drawing.data["rows"]["family"]) == {*(f"f{n}" for n in range(6)), "x (predicted)"}
    spec = spec_of(drawing)["spec"]
    assert spec["height"] == 120 and marks_of(spec)[1]["encoding"]["y"]["scale"]["domain"] == [0, 1.05]
    two = CHARTS["efficiency"].draw(ChartData(answered(efficiency=known.head(1), curve=guess), "gone"))
    assert set(two.data["rows"]["family"]) == {"f0", "x (predicted)", "y (predicted)"}
    # names of seven families, two lines each, take 7 x 30 pixels
    long = {f"f{n}": f"a long name of a machine of family {n}" for n in range(6)} | {"x": "b" * 12}
    high = spec_of(CHARTS["efficiency"].draw(ChartData(answered(efficiency=known, curve=guess), "gone", long)))
    assert high["spec"]["height"] == 7 * 30
    alone = CHARTS["efficiency"].draw(ChartData(answered(efficiency=known), "gone"))
    assert "predicted" not in alone.key and set(alone.data["rows"]["fitted"]) == {False}
    assert scaling._efficiency_says(pd.DataFrame({"gpus": [1], "efficiency": [1.0]})) == ""
    nothing = CHARTS["efficiency"].draw(ChartData({}, None)).data["rows"]["text"].tolist()
    assert nothing == ["No scaling efficiency in this study."]


def test_how_wrong_each_method_was_on_what_it_had_not_seen():
    rows = frame("slice method median_abs_error p90_abs_error rows",
                 ("all", "usl", 0.05, 0.123, 9), ("all", "sum_of_parts", 0.04, 0.2, 9), ("gpus=8", "usl", 0.1, 0.2, 3),
                 ("gpus=16", "usl", 0.1, 0.2, 3), ("study_models", "usl", 0.1, 0.2, 3),
                 ("links", "usl", 0.1, 0.2, 1))  # fmt: skip
    guess = frame("method headline", ("sum_of_parts", False), ("usl", True))
    drawing = CHARTS["validation"].draw(ChartData({"validation": rows, "extrapolation": guess}, None))
    assert table(drawing.data["rows"], "part method") == [
        ["all figures held out", "universal scaling law"], ["all figures held out", "sum of parts (learned)"],
        ["on 8 devices", "universal scaling law"], ["models of this study", "universal scaling law"],
    ]  # fmt: skip
    said = "half of its predictions were less than 5 % off, nine in ten less than 12 %"
    assert drawing.says == f"Universal scaling law: {said}"
    assert drawing.key.replace("\u00a0", " ") == "point: median   line: up to 90 % of rows"
    spec = spec_of(drawing)
    line, point = marks_of(spec)
    assert line["mark"] == {"type": "rule", "strokeWidth": 1.5}
    assert point["mark"] == {"type": "point", "filled": True, "color": "#0072B2"}
    assert point["encoding"]["y"]["sort"] == ["sum of parts (learned)", "universal scaling law"]  # the best first
    assert spec["facet"]["row"]["sort"] == ["all figures held out", "on 8 devices", "models of this study"]
    assert (spec["spec"]["width"], spec["spec"]["height"]) == (255, {"step": 18})
    assert spec["resolve"] == {"scale": {"y": "independent"}}
    best = CHARTS["validation"].draw(ChartData({"validation": rows}, None))
    assert best.says.startswith("Sum of parts (learned): half of its predictions were less than 4 % off")
    none = CHARTS["validation"].draw(ChartData({"validation": rows[rows["slice"] != "all"]}, None))
    assert none.says == "" and CHARTS["validation"].fits({"validation": rows}) and not CHARTS["validation"].fits({})
    nothing = CHARTS["validation"].draw(ChartData({}, None)).data["rows"]["text"].tolist()
    assert nothing == ["No method was validated for this study."]
