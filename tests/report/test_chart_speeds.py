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


@pytest.mark.parametrize(("names", "said"), [
    (["a" * 28, "b" * 27], f"{'a' * 28} and {'b' * 27}"), (["a" * 28, "b" * 28], f"{'a' * 28} and 1 other"),
    (["a", "b", "c"], "a and 2 others"), (["a" * 99], "a" * 99),
])  # fmt: skip
def test_machines_alike_are_named_within_sixty_characters(names, said):
    assert speed_charts._join_names(names) == said


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
    assert speed_charts._interval_key(frame("images_per_s_low images_per_s_high basis", *rows)) == said


def seen(*rows) -> pd.DataFrame:
    made = frame("base_instance instance model gpus efficiency", *rows)
    return made.assign(batch_size=8, basis="published", source="paper", as_of="2018")


def curve(*rows) -> pd.DataFrame:
    made = frame("instance model gpus efficiency high", *rows)
    return made.assign(batch_size=8, basis="", low=0.5)


def test_efficiency_is_a_line_a_family_and_a_band_where_it_is_predicted():
    table_ = seen(("a", "a8", "m", 2, 0.95), ("a", "a8", "m", 8, 0.9))
    guess = curve(("box", "m", 4, 0.6, 1.2), ("c", "m", 4, 0.5, 0.9))
    drawing = CHARTS["efficiency"].draw(ChartData(answered(efficiency=table_, curve=guess), "box"))
    rows = drawing.data["rows"].sort_values(["family", "gpus"])
    assert table(rows, "family gpus efficiency fitted") == [
        ["a", 1, 1, False], ["a", 2, 0.95, False], ["a", 8, 0.9, False],
        ["box (predicted)", 1, 1, True], ["box (predicted)", 4, 0.6, True],
    ]  # fmt: skip
    assert table(rows[rows["gpus"] == 1], "low high") == [[1, 1], [1, 1]]
    assert drawing.says == "8 devices do 90 % of 8 times the work of one"
    assert drawing.key.replace("\u00a0", " ") == "◆ published   dashed: predicted, with its 90 % band"
    spec = spec_of(drawing)
    band, fitted, _, dots, *_ = marks_of(spec)
    assert band["mark"] == {"type": "area", "opacity": 0.18} and fitted["mark"]["strokeDash"] == [5, 3]
    x, y = (fitted["encoding"][axis] for axis in "xy")
    assert x["scale"] == {"type": "log", "base": 2, "nice": False} and x["axis"]["values"] == [1, 2, 4, 8]
    assert y["scale"] == {"domain": [0, 1.2], "nice": False} and y["axis"] == {"format": "%", "tickCount": 4}
    assert dots["transform"][0] == {"filter": "!datum.fitted"} and dots["transform"][1] == {"filter": "datum.gpus > 1"}
    assert fitted["encoding"]["color"]["scale"]["domain"] == ["a", "box (predicted)"]


def test_without_a_reference_the_first_two_predictions_are_drawn_and_seven_families():
    known = seen(*((f"f{n}", f"f{n}", "m", 4, 0.9) for n in range(6)))
    guess = curve(*((name, "m", 4, 0.6, 0.7) for name in ("f0", "x", "y", "z")))
    drawing = CHARTS["efficiency"].draw(ChartData(answered(efficiency=known, curve=guess), "gone"))
    assert set(drawing.data["rows"]["family"]) == {*(f"f{n}" for n in range(6)), "x (predicted)"}
    spec = spec_of(drawing)["spec"]
    assert marks_of(spec)[1]["encoding"]["y"]["scale"]["domain"] == [0, 1.05]
    two = CHARTS["efficiency"].draw(ChartData(answered(efficiency=known.head(1), curve=guess), "gone"))
    assert set(two.data["rows"]["family"]) == {"f0", "x (predicted)", "y (predicted)"}
    alone = CHARTS["efficiency"].draw(ChartData(answered(efficiency=known), "gone"))
    assert "predicted" not in alone.key and set(alone.data["rows"]["fitted"]) == {False}
    assert scaling._finding(pd.DataFrame({"gpus": [1], "efficiency": [1.0]})) == ""
    nothing = CHARTS["efficiency"].draw(ChartData({}, None)).data["rows"]["text"].tolist()
    assert nothing == ["No scaling efficiency in this study."]
